//! Motions under velocity constraints: a rolling disk, a sleigh, a snakeboard, a car with a trailer.

use super::playback::LOOKS;
use super::{Played, setup};
use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::Input;
use carom_motion::generalized::Trajectory;
use carom_report::record::{Quantity, Record};
use serde_json::Value;

/// Computed value and exact value of a fact about a run, from the parameters of the configuration.
type Fact = fn(&Value, &Played<'_>) -> Option<[f64; 2]>;

/// Coin on an incline: from the heading $\varphi$, the rate of rolling is
/// $\Omega_0+\tfrac{mgsR}{(I+mR^2)\omega}(\cos\varphi-\cos\varphi_0)$ until the first impact, with the sine $s$ of the slope.
pub(crate) fn rolling_disk(input: &Input<'_>) -> Result<Record, ScenarioError> {
    run(
        input,
        ("rolling_rate_at_first_impact_rad_s", "rad/s"),
        "mgsR(cos φ - cos φ0)/((I + mR²)ω) since the start",
        |parameters, played| {
            let of = |name: &str| {
                parameters
                    .pointer(&format!("/system/parameters/{name}"))?
                    .as_f64()
            };
            let (q, v) = played.before_first_impact()?;
            let (start, rates) = (&played.setup.position, &played.setup.velocity);
            let radius = of("R")?;
            let inertia = of("I")? + of("m")? * radius * radius;
            let pull = of("m")? * of("g")? * of("slope")? * radius / (inertia * rates.get(3)?);
            let turned = libm::cos(*q.get(3)?) - libm::cos(*start.get(3)?);
            Some([*v.get(2)?, rates.get(2)? + pull * turned])
        },
    )
}

/// Sleigh with the center of mass the length $a$ ahead of its blade: speed along the blade and turning rate are $V\sin\gamma$ and
/// $\tfrac Vk\cos\gamma$, with $\gamma=\gamma_0+\tfrac ak(\varphi-\varphi_0)$, $k^2=a^2+J/m$, until the first impact.
pub(crate) fn sleigh(input: &Input<'_>) -> Result<Record, ScenarioError> {
    run(
        input,
        ("speed_at_first_impact_m_s", "m/s"),
        "V sin(γ0 + (a/k)(φ - φ0)), the path of Chaplygin's sleigh",
        |parameters, played| {
            let of = |name: &str| parameters.pointer(&format!("/links/0/{name}"))?.as_f64();
            let (q, v) = played.before_first_impact()?;
            let (start, rates) = (&played.setup.position, &played.setup.velocity);
            let along = |q: &[f64], v: &[f64]| {
                let angle = q.get(2)?;
                Some(v.first()? * libm::cos(*angle) + v.get(1)? * libm::sin(*angle))
            };
            let offset = of("center/0")?;
            let k = libm::sqrt(offset * offset + of("inertia")? / of("mass")?);
            let (speed, turning) = (along(start, rates)?, k * rates.get(2)?);
            let angle = libm::atan2(speed, turning) + offset / k * (q.get(2)? - start.get(2)?);
            let whole = libm::hypot(speed, turning);
            Some([along(&q, &v)?, whole * libm::sin(angle)])
        },
    )
}

/// Snakeboard: neither the ground nor a wall acts on the rotor's coordinate, so its momentum is the angular impulse of the rider.
pub(crate) fn snakeboard(input: &Input<'_>) -> Result<Record, ScenarioError> {
    run(
        input,
        ("rotor_momentum_kg_m2_s", "kg m^2/s"),
        "the angular impulse turn/w sin wT of the rider, through all impacts",
        |parameters, played| {
            let of = |name: &str| {
                parameters
                    .pointer(&format!("/system/parameters/{name}"))?
                    .as_f64()
            };
            let end = &played.trajectory.end.state;
            let phase = libm::sin(of("w")? * end.time);
            Some([*end.momentum.0.get(3)?, of("turn")? / of("w")? * phase])
        },
    )
}

/// Car with a trailer: the kinetic energy is kept, in elastic impacts, too.
pub(crate) fn trailer(input: &Input<'_>) -> Result<Record, ScenarioError> {
    run(
        input,
        ("final_energy_j", "J"),
        "the energy at the start: no force does work, and impacts are elastic",
        |_, played| {
            let states = &played.trajectory.states;
            let energy = |state| Some(played.integrator.energies(state).ok()?.0);
            let (first, last) = (states.first()?, states.last()?);
            Some([energy(last)?, energy(first)?])
        },
    )
}

/// Runs a mechanism under velocity constraints with three steps, each half of the one before. Adds the order that they show, a fact
/// in closed form extrapolated from the first two, and the path.
fn run(
    input: &Input<'_>,
    (name, unit): (&str, &str),
    source: &str,
    fact: Fact,
) -> Result<Record, ScenarioError> {
    let (mut setup, mut record) = setup(input)?;
    let is_own = input.is_given("system.coordinates") || input.is_given("links");
    let (mut ends, mut facts) = (Vec::new(), Vec::new());
    for k in 0..3 {
        let played = Played::new(input, &setup)?;
        if k == 0 {
            played.report(&mut record)?;
            path(&played.trajectory).draw(&mut record)?;
        }
        facts.extend(fact(&record.parameters, &played));
        ends.push(played.trajectory.end.state.configuration);
        setup.time_step *= 0.5;
    }
    let change = |a: usize| Some((ends.get(a)? - ends.get(a + 1)?).norm());
    if let (Some(first), Some(second)) = (change(0), change(1))
        && second > 0.0
    {
        let ratio = Quantity::new("halving_ratio", first / second, "");
        let note = "change of the final configuration when the step is halved, over that of the next halving: 4 for order two";
        record.quantities.push(ratio.note(note));
    }
    if let ([[a, exact_a], [b, exact_b], ..], false) = (facts.as_slice(), is_own) {
        let extrapolated = |coarse: &f64, fine: &f64| (4.0 * fine - coarse) / 3.0;
        let value = Quantity::new(name, extrapolated(a, b), unit);
        let exact = extrapolated(exact_a, exact_b);
        record.quantities.push(value.closed_form(exact, source));
    }
    Ok(record)
}

fn path(run: &Trajectory) -> Plot {
    let stride = run.states.len().div_ceil(LOOKS).max(1);
    let states = run.states.iter().step_by(stride);
    let places = states.filter_map(|state| {
        let q = &state.configuration;
        Some([*q.get(0)?, *q.get(1)?])
    });
    Plot::new("constrained/path").through("path", places)
}
