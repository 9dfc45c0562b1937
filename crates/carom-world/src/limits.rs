//! Checks of the names, pairs and numbers of a world, and of the limits and sample times of its runs.

use crate::MotionError;
use crate::surface::Surface;
use carom_motion::hybrid::Limits;
use carom_variational::load::Loads;
use carom_variational::spring::Spring;
use nalgebra::Vector3;
use std::collections::{BTreeMap, BTreeSet};

/// Returns an error unless a number is finite and `good`.
pub(crate) fn check_value(
    what: &str,
    value: f64,
    good: bool,
    allowed: &'static str,
) -> Result<(), MotionError> {
    if good && value.is_finite() {
        return Ok(());
    }
    Err(MotionError::InvalidValue {
        what: what.to_owned(),
        value,
        allowed,
    })
}

/// Returns an error if the time step (s) of a world is not positive, or its gravity (m/s²) not finite.
pub(crate) fn check_step(time_step: f64, gravity: &Vector3<f64>) -> Result<(), MotionError> {
    check_value(
        "time step",
        time_step,
        time_step > 0.0,
        "positive and finite",
    )?;
    let mut numbers = gravity.iter();
    numbers.try_for_each(|g| check_value("gravity", *g, true, "finite"))
}

/// Returns an error if friction or restitution of a surface is out of range.
pub(crate) fn check_surface(surface: &Surface) -> Result<(), MotionError> {
    let (friction, restitution) = (surface.friction, surface.restitution);
    check_value(
        "friction",
        friction,
        friction >= 0.0,
        "at least 0 and finite",
    )?;
    let inside = (0.0..=1.0).contains(&restitution);
    check_value("restitution", restitution, inside, "in [0, 1]")
}

/// Returns an error if the position (m), the velocity (m/s) or the angular velocity (rad/s) of a body at the start is not finite.
pub(crate) fn check_start(name: &str, start: [&Vector3<f64>; 3]) -> Result<(), MotionError> {
    let named = ["position", "velocity", "angular velocity"]
        .into_iter()
        .zip(start);
    let mut numbers = named.flat_map(|(what, vector)| vector.iter().map(move |x| (what, *x)));
    match numbers.find(|(_, x)| !x.is_finite()) {
        Some((what, x)) => check_value(&format!("{what} of `{name}`"), x, true, "finite"),
        None => Ok(()),
    }
}

/// Returns an error if the velocity with which a surface runs (m/s) is not finite, or if it is not zero and `is_refused`: by a
/// mobile body, and by a plane along its normal.
pub(crate) fn check_running(
    name: &str,
    velocity: &Vector3<f64>,
    is_refused: bool,
) -> Result<(), MotionError> {
    let what = format!("surface velocity of `{name}`");
    let speed = velocity.norm();
    let allowed = "tangential to a plane, zero on a body that moves, and finite";
    check_value(&what, speed, !is_refused || speed == 0.0, allowed)
}

/// Returns an error for a body with mass that `is_told` its motion.
pub(crate) fn check_told(name: &str, is_told: bool) -> Result<(), MotionError> {
    let what = format!("mass of `{name}`, whose motion is told");
    check_value(&what, 0.0, !is_told, "left out")
}

/// Returns an error for a number of the loads of a body that is out of its range.
pub(crate) fn check_loads(name: &str, loads: &Loads) -> Result<(), MotionError> {
    loads
        .out_of_range()
        .map_or(Ok(()), |(what, value, allowed)| {
            Err(MotionError::InvalidValue {
                what: format!("{what} of a load of `{name}`"),
                value,
                allowed,
            })
        })
}

/// Returns an error for a spring with a number out of its range or an end at no body, and for one that joins a body to itself or no
/// body that moves.
pub(crate) fn check_spring(
    spring: &Spring,
    bodies: usize,
    moves: impl Fn(usize) -> bool,
) -> Result<(), MotionError> {
    let [first, second] = spring.between;
    let name = &spring.name;
    let unknown = spring.between.into_iter().flatten().find(|i| *i >= bodies);
    let (what, value, allowed) = match (spring.out_of_range(), unknown) {
        (Some(fault), _) => fault,
        (None, Some(body)) => ("body", body as f64, "the index of a body"),
        (None, None) if first == second => {
            let body = first.map_or(0.0, |body| body as f64);
            ("end", body, "at another body than the other end")
        }
        (None, None) if !spring.between.into_iter().flatten().any(moves) => {
            ("number of bodies that move", 0.0, "1 or 2")
        }
        _ => return Ok(()),
    };
    Err(MotionError::InvalidValue {
        what: format!("{what} of spring `{name}`"),
        value,
        allowed,
    })
}

/// Things that contacts join.
pub(crate) const THINGS: &str = "bodies and planes";

/// Returns an error if two of the bodies and planes, or of the joints, have one name.
pub(crate) fn check_names<'n>(
    among: &'static str,
    names: impl Iterator<Item = &'n str>,
) -> Result<(), MotionError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(MotionError::DuplicateName {
                name: name.to_owned(),
                among,
            });
        }
    }
    Ok(())
}

/// Returns an error if a pair names a body or plane that none of the `things` is, or one of them twice, or if a pair is listed
/// twice with different surfaces, in any order; and for a surface that is out of range.
pub(crate) fn check_pairs(
    pairs: &[([usize; 2], Surface)],
    things: usize,
) -> Result<(), MotionError> {
    let mut seen = BTreeMap::new();
    for (pair, surface) in pairs {
        let [i, j] = *pair;
        check_surface(surface)?;
        let is_known = i.max(j) < things && i != j;
        let first = seen.entry((i.min(j), i.max(j))).or_insert(surface);
        let allowed = if !is_known {
            format!("two different indices of bodies and planes, below {things}")
        } else if *first != surface {
            "listed once, or with one surface".to_owned()
        } else {
            continue;
        };
        let pair = *pair;
        return Err(MotionError::InvalidPair { pair, allowed });
    }
    Ok(())
}

/// Returns an error if the duration of a run is negative or NaN, or if its sample times (s) are negative, not finite or not
/// ascending. An infinite duration is allowed: the run then ends for another reason.
pub(crate) fn check(
    limits: &Limits,
    samples: impl Iterator<Item = f64>,
) -> Result<(), MotionError> {
    let invalid = |what: &str, value, allowed| {
        Err(MotionError::InvalidValue {
            what: what.to_owned(),
            value,
            allowed,
        })
    };
    if !(limits.duration >= 0.0) {
        return invalid("duration", limits.duration, "at least 0");
    }
    let mut last = 0.0;
    for sample in samples {
        if !(sample >= last && sample.is_finite()) {
            return invalid("sample time", sample, "finite, at least 0 and ascending");
        }
        last = sample;
    }
    Ok(())
}
