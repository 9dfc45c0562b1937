//! Relations under which no derivative changes: those of `relations`, for class, Jacobian and margin.

use crate::support::problems::{Posed, problem};
use crate::support::random::Random;
use crate::support::transforms::{Retold, back, relations, retold_law};
use carom_derivative::{Differentiability, Wrt, differentiate};
use carom_impact::{Contact, ContactCount, ImpactLaw, Law, LawInfo, Outcomes};
use carom_metric::Covector;
use nalgebra::{DMatrix, DVector};

/// Difference of Jacobians that are equal, over the largest entry or one.
const SAME_JACOBIAN: f64 = 1e-6;

/// Difference of margins that are equal, as speeds, over the motion that rows see.
const SAME_MARGIN: f64 = 1e-5;

/// Distance of answers of which one is another answer of the law, over the velocity.
const OTHER_ANSWER: f64 = 1e-6;

/// Problems; the scheduled job tries many times as many.
const PROBLEMS: u64 = 18;

/// Failures that are printed.
const SHOWN: usize = 40;

/// Class, or the kind of the error, and what is known beside it.
struct Told {
    class: Result<Option<Differentiability>, &'static str>,
    is_unique: Option<bool>,
    /// The margin as a change of the velocity (kinetic norm).
    margin: Option<f64>,
    jacobian: Option<DMatrix<f64>>,
    after: Option<DVector<f64>>,
}

fn told(posed: &Posed, law: &Law) -> Told {
    let speed = posed.whiten(&posed.velocity).norm();
    let found = posed.pose(|problem| {
        let (outcome, found) = differentiate(law, problem, &Wrt::ALL, 1e-9)?;
        Ok(Told {
            class: Ok(found.class()),
            is_unique: found.is_unique(),
            margin: found.margin().map(|margin| margin * speed),
            jacobian: found.dv_dv().cloned(),
            after: Some(outcome.velocity_plus.0),
        })
    });
    found.unwrap_or_else(|error| Told {
        class: Err(error.kind()),
        is_unique: None,
        margin: None,
        jacobian: None,
        after: None,
    })
}

impl Told {
    /// True if the law has another answer to the velocity itself: rounding may choose among them.
    fn has_others(&self) -> bool {
        self.is_unique == Some(false) && self.margin.is_none()
    }
}

/// True if a relation keeps the answer of a law: a sample's random numbers go to the contacts in their order.
fn is_kept_by(info: &LawInfo, retold: &Retold, posed: &Posed) -> bool {
    let adds_contact = retold.contact.len() > posed.contacts.len();
    let is_sampled = info.outcomes == Outcomes::Many;
    let reorders = adds_contact || retold.name == "order";
    !(adds_contact && info.contacts == ContactCount::One || is_sampled && reorders)
}

/// The difference between a derivative and that of the first problem, in words.
fn difference(
    posed: &Posed,
    info: &LawInfo,
    first: &Told,
    retold: &Retold,
    other: &Told,
) -> Option<String> {
    if let (Some(a), Some(b)) = (&first.after, &other.after) {
        let moved = back(&retold.velocity, &(b - &retold.offset)) - a;
        // Another answer of the law is for `relations` to find.
        if !(posed.whiten(&moved).norm() <= OTHER_ANSWER * posed.whiten(&posed.velocity).norm()) {
            return None;
        }
    }
    if first.has_others() || other.has_others() {
        return None;
    }
    if first.class != other.class || first.is_unique != other.is_unique {
        let words = |told: &Told| format!("{:?} (unique: {:?})", told.class, told.is_unique);
        return Some(format!("{} became {}", words(first), words(other)));
    }
    // Units of mass, length and time have changed, and with them those of a speed.
    let sum = DVector::repeat(posed.dim(), 1.0);
    let unit = retold.posed.whiten(&(&retold.velocity * &sum)).norm() / posed.whiten(&sum).norm();
    let rho = posed
        .span(|_| true)
        .tr_mul(&posed.whiten(&posed.velocity))
        .norm();
    // A far body that leaves might not: its own contact is decided, too.
    let far = retold.contact.iter().position(|of| *of == usize::MAX);
    let far = far.map_or(f64::INFINITY, |k| {
        let normal = &retold.posed.contacts[k].normal.0;
        normal.dot(&retold.posed.velocity) / retold.posed.whiten_covector(normal).norm()
    });
    let expected = first.margin.map(|margin| margin.min(far));
    match (expected, other.margin.map(|margin| margin / unit)) {
        (None, None) => {}
        (None, Some(_)) if far.is_finite() => {}
        // Steps of a sample may share impulses of dependent contacts otherwise in other coordinates.
        (Some(_), Some(_)) if info.outcomes == Outcomes::Many => {}
        (Some(a), Some(b)) if (b - a).abs() <= SAME_MARGIN * a.max(rho) => {}
        (a, b) => return Some(format!("margin {a:?} became {b:?} of {rho:e}")),
    }
    let (a, b) = (first.jacobian.as_ref()?, other.jacobian.as_ref()?);
    let missed = a.column_iter().enumerate().map(|(k, column)| {
        let along = b * retold.velocity.column(k);
        (back(&retold.velocity, &along) - column).amax()
    });
    let missed = missed.fold(0.0, |m, x| if x <= m { m } else { x });
    (!(missed <= SAME_JACOBIAN * a.amax().max(1.0))).then(|| format!("Jacobian {missed:e} off"))
}

/// Two contacts of small whole numbers: many decisions are tied.
fn whole(random: &mut Random) -> Posed {
    let n = 2 + random.below(3);
    let mut row = || loop {
        let row = DVector::from_fn(n, |_, _| random.below(5) as f64 - 2.0);
        if row.amax() > 0.0 {
            return row;
        }
    };
    let velocity = row();
    let contacts = (0..2).map(|_| Contact {
        normal: Covector(row()),
        tangents: vec![Covector(row())],
        friction: 0.5,
        restitution: 0.5,
    });
    Posed {
        mass: DMatrix::identity(n, n) * 2.0,
        contacts: contacts.collect(),
        constraints: Vec::new(),
        velocity,
    }
}

fn check(seed: u64, count: u64) {
    let mut failures = Vec::new();
    for k in 0..count {
        let mut random = Random(seed << 32 | k);
        let is_whole = k % 3 == 2;
        let posed = match is_whole {
            true => whole(&mut random),
            false => problem(&mut random),
        };
        let retold = relations(&posed, &mut random);
        for law in Law::all() {
            let info = law.info();
            // A tie with a random cap is of no mechanics.
            if is_whole && info.outcomes == Outcomes::Many {
                continue;
            }
            let first = told(&posed, &law);
            for other in retold
                .iter()
                .filter(|other| is_kept_by(&info, other, &posed))
            {
                let found = told(&other.posed, &retold_law(&law, &other.contact));
                if let Some(what) = difference(&posed, &info, &first, other, &found) {
                    failures.push(format!("{k}, {}, {}: {what}", law.name(), other.name));
                }
            }
        }
    }
    failures.iter().take(SHOWN).for_each(|f| println!("{f}"));
    assert!(
        failures.is_empty(),
        "{} derivatives changed",
        failures.len()
    );
}

#[test]
fn no_derivative_depends_on_how_an_impact_is_told() {
    check(1, PROBLEMS);
}

/// A thousand problems, or `COUNT` of them, from `SEED`.
#[test]
#[ignore = "minutes: the scheduled job runs it"]
fn no_derivative_depends_on_how_a_thousand_impacts_are_told() {
    let number = |name, default| {
        let given = std::env::var(name);
        given.map_or(default, |text| text.parse().unwrap())
    };
    check(number("SEED", 2), number("COUNT", 1000));
}
