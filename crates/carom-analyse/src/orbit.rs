//! Periodic orbits by Newton's method.

use crate::carried::Carried;
use crate::flow::Flow;
use crate::motion::{Motion, Section, Segment};
use crate::multipliers::{Multiplier, multipliers};
use crate::shooting::{Margin, MarginKind, Sequence, Values};
use crate::{AnalyseError, EventKind, Settings};
use nalgebra::{DMatrix, DVector};

/// Event of an orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct OrbitEvent {
    /// Time since the section (s).
    pub time: f64,
    /// Kind.
    pub kind: EventKind,
    /// Index of the contact.
    pub contact: usize,
    /// Normal speed before an impact or a closing (m/s or rad/s).
    pub speed: Option<f64>,
}

/// Periodic orbit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Orbit {
    /// State just after the section.
    pub state: DVector<f64>,
    /// Estimated error of the state (largest over its entries).
    pub state_error: f64,
    /// Time after which the orbit closes (s).
    pub period: f64,
    /// Least divisor of the returns after which it closes.
    pub least_returns: usize,
    /// Largest residual of the equations, relative to the sizes of the unknowns.
    pub residual: f64,
    /// Steps of Newton's method.
    pub newton_steps: usize,
    /// Reason why the return map has no derivative; `None` if it has one.
    pub not_differentiable: Option<String>,
    /// Multipliers by falling modulus; empty without a derivative.
    pub multipliers: Vec<Multiplier>,
    /// Number of multipliers that free coordinates and conserved quantities keep at 1.
    pub neutral: usize,
    /// True if all other multipliers are below 1 in modulus; `None` where errors leave it open.
    pub stable: Option<bool>,
    /// Events between two passages of the section.
    pub events: Vec<OrbitEvent>,
}

/// Converged solution of the equations of a sequence.
#[derive(Clone)]
pub(crate) struct Solution {
    pub(crate) z: DVector<f64>,
    pub(crate) steps: usize,
    /// Last correction by Newton's method, in the units of the unknowns.
    pub(crate) correction: DVector<f64>,
    /// Directions that the equations leave undetermined.
    pub(crate) nullity: usize,
}

/// Finds the periodic orbit near a motion: `start` is a state on the section, which the motion passes again `returns` times.
/// `carried` maps the end of the orbit to its start; `None` for the identity.
///
/// # Errors
///
/// [`AnalyseError::NoOrbit`] if Newton's method does not converge, [`AnalyseError::Virtual`] if its solution is no motion, and
/// errors of the motion.
pub fn find(
    flow: &dyn Flow,
    section: &Section,
    start: Motion,
    returns: usize,
    carried: Option<&Carried>,
    settings: &Settings,
) -> Result<Orbit, AnalyseError> {
    let identity = Carried::default();
    let carried = carried.unwrap_or(&identity);
    let (sequence, solution) = search(flow, section, start, returns, carried, settings)?;
    describe(&sequence, &solution, returns, settings)
}

/// Searches for a solution that is a motion, with the sequences of events that motions from earlier solutions make.
pub(crate) fn search<'f>(
    flow: &'f dyn Flow,
    section: &'f Section,
    start: Motion,
    returns: usize,
    carried: &'f Carried,
    settings: &Settings,
) -> Result<(Sequence<'f>, Solution), AnalyseError> {
    let mut from = start;
    let mut last = AnalyseError::NoOrbit {
        reason: "no sequence of events was tried".to_owned(),
    };
    for _ in 0..=settings.restarts {
        let segments = from.clone().returns(flow, section, returns, settings)?;
        let sequence = Sequence {
            flow,
            section,
            carried,
            time: from.time,
            segments,
        };
        let guess = sequence.guess(&from.state);
        let solution = solve(&sequence, guess, settings)?;
        let n = flow.dimension();
        let next = Motion {
            time: from.time,
            state: solution.z.rows(0, n).into_owned(),
            mode: from.mode.clone(),
        };
        let followed = next.clone().returns(flow, section, returns, settings);
        let values = sequence.evaluate(&solution.z, settings)?;
        let margins = sequence.margins(&solution.z, &values, settings)?;
        let broken = margins
            .iter()
            .find(|m| m.value < 0.0 && -m.value > settings.graze * m.size);
        match followed {
            Ok(segments) => {
                let same = Sequence::label(&segments) == Sequence::label(&sequence.segments);
                match broken {
                    None if same => return Ok((sequence, solution)),
                    _ => {
                        last = AnalyseError::Virtual {
                            reason: differs(&segments, &sequence.segments, broken),
                        }
                    }
                }
            }
            Err(error) => {
                let reason = format!("from it {error}");
                return Err(AnalyseError::Virtual { reason });
            }
        }
        from = next;
    }
    Err(last)
}

/// Words for the difference of a motion from a solution.
fn differs(made: &[Segment], wanted: &[Segment], broken: Option<&Margin>) -> String {
    let told = |segments: &[Segment]| {
        let all = segments.iter().filter_map(|s| s.transition.as_ref());
        let all = all.flat_map(|t| {
            t.happenings
                .iter()
                .map(|h| format!("{} at contact {}", h.kind.name(), h.contact))
        });
        let all: Vec<String> = all.collect();
        if all.is_empty() {
            "no event".to_owned()
        } else {
            all.join(", ")
        }
    };
    let of_margin = broken.map_or(String::new(), |m| {
        format!(
            "; {} at contact {}, by {:e}",
            m.kind.special(),
            m.contact,
            -m.value
        )
    });
    format!(
        "the motion makes {}, the solution {}{of_margin}",
        told(made),
        told(wanted)
    )
}

/// Scales of the unknowns: sizes of the states, and the period.
pub(crate) fn scales(sequence: &Sequence<'_>, z: &DVector<f64>, values: &Values) -> DVector<f64> {
    let n = sequence.flow.dimension();
    let largest = values
        .sizes
        .iter()
        .fold(f64::MIN_POSITIVE, |a: f64, b| a.max(*b));
    let period = z.rows(n, z.len() - n).sum().abs().max(f64::MIN_POSITIVE);
    let states = values.sizes.iter().map(|s| s.max(largest * 1e-6));
    let all = states.chain(std::iter::repeat_n(period, z.len() - n));
    DVector::from_iterator(z.len(), all)
}

/// Equations and their derivative in units of the scales. Rows of guards have the largest entry 1; a closure may be independent of
/// all unknowns, and has the unit of its state.
pub(crate) fn scaled(values: &Values, scales: &DVector<f64>) -> (DVector<f64>, DMatrix<f64>) {
    let mut jacobian = values.jacobian.clone();
    let mut residual = values.residual.clone();
    for (mut column, scale) in jacobian.column_iter_mut().zip(scales.iter()) {
        column *= *scale;
    }
    let guards = jacobian.nrows() - values.kept.len();
    for (i, mut row) in jacobian.row_iter_mut().enumerate() {
        let size = match i.checked_sub(guards) {
            Some(closure) => scales[values.kept[closure]],
            None => row.amax(),
        };
        if size > 0.0 {
            row /= size;
            residual[i] /= size;
        }
    }
    (residual, jacobian)
}

/// Solution of least norm of `matrix * x = right`, and the number of directions that it leaves undetermined.
pub(crate) fn least_norm(
    matrix: &DMatrix<f64>,
    right: &DVector<f64>,
    rank: f64,
) -> Option<(DVector<f64>, usize)> {
    let svd = matrix.clone().svd(true, true);
    let limit = rank * svd.singular_values.max();
    let solution = svd.solve(right, limit).ok()?;
    let kept = svd.singular_values.iter().filter(|s| **s > limit).count();
    Some((solution, matrix.ncols() - kept))
}

/// Solves the equations of a sequence by Newton's method with steps of least norm.
pub(crate) fn solve(
    sequence: &Sequence<'_>,
    guess: DVector<f64>,
    settings: &Settings,
) -> Result<Solution, AnalyseError> {
    let fails = |reason: String| AnalyseError::NoOrbit { reason };
    let mut z = guess;
    let mut values = sequence.evaluate(&z, settings)?;
    for steps in 0..settings.newton_steps {
        let scales = scales(sequence, &z, &values);
        let (residual, jacobian) = scaled(&values, &scales);
        let size = residual.amax();
        let step = least_norm(&jacobian, &residual, settings.rank);
        let (step, nullity) =
            step.ok_or_else(|| fails("the equations of the orbit are not finite".to_owned()))?;
        let moved = step.amax();
        let correction = -step.component_mul(&scales);
        if size <= settings.residual && moved <= settings.residual {
            // One more step takes the rest to rounding.
            let polished = &z + &correction;
            let again = sequence.evaluate(&polished, settings)?;
            let better = scaled(&again, &scales).0.amax() < size;
            return Ok(Solution {
                z: if better { polished } else { z },
                steps,
                correction,
                nullity,
            });
        }
        let mut share = 1.0;
        loop {
            let next = &z + &correction * share;
            // Durations that vanish or turn around belong to other sequences.
            let n = sequence.flow.dimension();
            let keeps = (n..z.len()).all(|k| next[k] > 0.0);
            let tried = if keeps {
                sequence.evaluate(&next, settings).ok()
            } else {
                None
            };
            if let Some(tried) = tried
                && (scaled(&tried, &scales).0.amax() < size || moved * share <= settings.residual)
            {
                (z, values) = (next, tried);
                break;
            }
            share *= 0.5;
            if share < settings.graze {
                let reason = format!(
                    "Newton's method stalls after {steps} steps at the residual {size:.1e}"
                );
                return Err(fails(reason));
            }
        }
    }
    Err(fails(format!(
        "Newton's method does not converge in {} steps",
        settings.newton_steps
    )))
}

/// Describes a solution: events, multipliers, stability.
pub(crate) fn describe(
    sequence: &Sequence<'_>,
    solution: &Solution,
    returns: usize,
    settings: &Settings,
) -> Result<Orbit, AnalyseError> {
    let n = sequence.flow.dimension();
    let z = &solution.z;
    let values = sequence.evaluate(z, settings)?;
    let rough = settings.with_tolerance(settings.tolerance * 1e2);
    let roughly = sequence.evaluate(z, &rough)?;
    let margins = sequence.margins(z, &values, settings)?;
    let not_differentiable = undifferentiable(sequence, z, &margins, settings);
    let scales = scales(sequence, z, &values);
    let (residual, jacobian) = scaled(&values, &scales);
    let shifted = least_norm(&jacobian, &scaled(&roughly, &scales).0, settings.rank);
    let shift = shifted.map_or(f64::NAN, |(shift, _)| {
        shift.component_mul(&scales).rows(0, n).amax()
    });
    let mut multipliers_of = Vec::new();
    if not_differentiable.is_none() {
        let maps = (sequence.return_map(&values), sequence.return_map(&roughly));
        let (Some(map), Some(rough)) = maps else {
            let reason = "an event of the orbit is not crossed".to_owned();
            return Err(AnalyseError::NotDifferentiable { reason });
        };
        multipliers_of = multipliers(&map, &(&map - rough), settings)?;
        if !matches!(sequence.section, Section::Every { .. }) {
            // The direction of the motion, which the section removes: a zero that rounding may hide.
            let hidden = |m: &Multiplier| m.modulus() <= m.error.max(settings.rank);
            let place = multipliers_of
                .iter()
                .position(hidden)
                .unwrap_or(multipliers_of.len() - 1);
            multipliers_of.remove(place);
        }
    }
    let neutral = neutral(solution.nullity, &multipliers_of);
    Ok(Orbit {
        state: z.rows(0, n).into_owned(),
        state_error: solution.correction.rows(0, n).amax().max(shift),
        period: z.rows(n, z.len() - n).sum(),
        least_returns: least_returns(sequence, z, &values, returns),
        residual: residual.amax(),
        newton_steps: solution.steps,
        stable: if not_differentiable.is_some() {
            None
        } else {
            stable(&multipliers_of, neutral)
        },
        not_differentiable,
        multipliers: multipliers_of,
        neutral,
        events: events(sequence, z, &values)?,
    })
}

/// Returns the number of multipliers at 1 if some directions are undetermined.
pub(crate) fn neutral(nullity: usize, multipliers: &[Multiplier]) -> usize {
    if nullity == 0 {
        return 0;
    }
    let near = f64::EPSILON.sqrt() * 10.0;
    let found = multipliers
        .iter()
        .filter(|m| m.off_one() <= m.error.max(near))
        .count();
    found.max(nullity.min(multipliers.len()))
}

/// Returns the multipliers without the neutral ones, which are nearest to 1.
pub(crate) fn moving(multipliers: &[Multiplier], neutral: usize) -> Vec<Multiplier> {
    let mut order: Vec<usize> = (0..multipliers.len()).collect();
    order.sort_by(|a, b| {
        multipliers[*a]
            .off_one()
            .total_cmp(&multipliers[*b].off_one())
    });
    let left_out: Vec<usize> = order.into_iter().take(neutral).collect();
    let rest = multipliers
        .iter()
        .enumerate()
        .filter(|(i, _)| !left_out.contains(i));
    rest.map(|(_, m)| *m).collect()
}

fn stable(multipliers: &[Multiplier], neutral: usize) -> Option<bool> {
    let rest = moving(multipliers, neutral);
    if rest.iter().any(|m| m.modulus() - m.error > 1.0) {
        return Some(false);
    }
    rest.iter()
        .all(|m| m.modulus() + m.error < 1.0)
        .then_some(true)
}

/// Returns the reason why the return map has no derivative.
fn undifferentiable(
    sequence: &Sequence<'_>,
    z: &DVector<f64>,
    margins: &[Margin],
    settings: &Settings,
) -> Option<String> {
    let period = z
        .rows(sequence.flow.dimension(), sequence.segments.len())
        .sum();
    for margin in margins {
        let near = match margin.kind {
            MarginKind::Duration(k) => {
                // Two events of contacts that influence each other; a strobe commutes with all.
                let others = [
                    k.checked_sub(1).and_then(|k| sequence.segments.get(k)),
                    sequence.segments.get(k),
                ];
                let named = others.map(|s| {
                    s.and_then(|s| s.transition.as_ref())
                        .and_then(|t| t.happenings.last())
                });
                let [Some(one), Some(other)] = named else {
                    continue;
                };
                sequence.flow.influences(one.contact, other.contact)
                    && margin.value < settings.graze * period
            }
            _ => margin.value < settings.graze * margin.size,
        };
        if near {
            let kind = margin.kind.special();
            return Some(format!(
                "{kind} at contact {}: {:e}",
                margin.contact, margin.value
            ));
        }
    }
    let decisions = sequence
        .segments
        .iter()
        .filter_map(|s| s.transition.as_ref());
    let tied = decisions.flat_map(|t| t.happenings.first().map(|h| (h.contact, t.margin)));
    let mut tied = tied.filter(|(_, margin)| *margin < settings.graze);
    let (contact, _) = tied.next()?;
    Some(format!(
        "a decision of the impact law at contact {contact} is tied"
    ))
}

/// Returns the events of an orbit with the times and speeds of its solution.
fn events(
    sequence: &Sequence<'_>,
    z: &DVector<f64>,
    values: &Values,
) -> Result<Vec<OrbitEvent>, AnalyseError> {
    let n = sequence.flow.dimension();
    let mut time = 0.0;
    let mut out = Vec::new();
    for (k, segment) in sequence.segments.iter().enumerate() {
        time += z[n + k];
        let Some(transition) = &segment.transition else {
            continue;
        };
        let speed = sequence.approach(segment, sequence.time + time, &values.before[k])?;
        for happening in &transition.happenings {
            let own = match segment.end {
                crate::motion::End::Guard(guard) => {
                    sequence.flow.contact_of(&segment.mode, guard) == happening.contact
                }
                _ => false,
            };
            out.push(OrbitEvent {
                time,
                kind: happening.kind,
                contact: happening.contact,
                speed: happening.speed.map(|noted| if own { speed } else { noted }),
            });
        }
    }
    Ok(out)
}

/// Returns the least divisor of the returns after which the orbit closes.
fn least_returns(
    sequence: &Sequence<'_>,
    z: &DVector<f64>,
    values: &Values,
    returns: usize,
) -> usize {
    let n = sequence.flow.dimension();
    let compared = sequence.carried.compared(n);
    let ends = sequence
        .segments
        .iter()
        .zip(&values.after)
        .filter(|(s, _)| s.returns);
    let states: Vec<&DVector<f64>> = ends.map(|(_, state)| state).collect();
    let largest = values
        .sizes
        .iter()
        .fold(f64::MIN_POSITIVE, |a: f64, b| a.max(*b));
    let closes = |d: &usize| {
        let Some(state) = states.get(d - 1) else {
            return false;
        };
        let end = sequence.carried.apply(state);
        compared.iter().all(|&i| {
            (end[i] - z[i]).abs() <= f64::EPSILON.sqrt() * values.sizes[i].max(largest * 1e-6)
        })
    };
    (1..returns)
        .filter(|d| returns.is_multiple_of(*d))
        .find(closes)
        .unwrap_or(returns)
}
