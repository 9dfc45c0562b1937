//! Laws that strike one contact after the other: propagative, nonholonomic.

use super::branch::{Choice, Form, Found, Test, Ties, Walk};
use super::frame::Frame;
use super::stage::{Mode, Rebound, Stage, of_row};
use crate::propagative::{SEQUENCE_LIMIT, by_priority};
use crate::{ContactSet, ImpactError, Restitution, Selection};
use carom_metric::kernel;
use carom_numeric::random::CounterRng;
use nalgebra::DVector;
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Why a chain is not followed.
pub(super) const TOO_LONG: &str = "its chain has more than 10000 impacts; `plastic` has none";

/// How a chain picks the next of the distinct normals.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    Most,
    Least,
    /// Distinct normals in order of priority.
    Order(Vec<usize>),
    Random(u64),
    /// These, whatever the others do: an order that was found among all.
    Given(Vec<usize>),
}

impl Rule {
    pub(super) fn new(selection: &Selection, contacts: &ContactSet<'_>) -> Self {
        match selection {
            Selection::MostApproaching => Self::Most,
            Selection::LeastApproaching => Self::Least,
            Selection::Priority(order) => Self::Order(by_priority(order, contacts)),
            Selection::Random(seed) => Self::Random(*seed),
        }
    }
}

/// What a strike does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strike {
    pub(super) rebound: Rebound,
    /// Whether the constraints act only after the contact has.
    pub(super) is_projected: bool,
    /// Whether one strike is all.
    pub(super) is_single: bool,
}

impl Strike {
    /// Of a nonholonomic law on so many distinct normals.
    pub(super) fn of(restitution: Restitution, n_distinct: usize) -> Self {
        let (rebound, is_projected) = match restitution {
            Restitution::Elastic => (Rebound::Fixed(1.0), false),
            Restitution::Projected => (Rebound::Fixed(1.0), true),
            Restitution::Newton(e) => (Rebound::Event(e), false),
            Restitution::ProjectedNewton(e) => (Rebound::Event(e), true),
        };
        Self {
            rebound,
            is_projected,
            is_single: n_distinct == 1,
        }
    }

    /// Of the propagative law.
    pub(super) const ELASTIC: Self = Self {
        rebound: Rebound::Fixed(1.0),
        is_projected: false,
        is_single: false,
    };
}

/// Where a chain is: how many strikes it has made, the last of them, and whether that was all.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    strikes: usize,
    last: Option<usize>,
    /// The constraints have yet to act on what was struck.
    is_loose: bool,
}

/// A linear form of the velocities of the distinct unit normals.
type Combination = SmallVec<[(usize, f64); 2]>;

/// What decides for a strike, or for none.
struct Pick {
    strike: Option<usize>,
    tests: SmallVec<[Combination; 4]>,
}

/// The ways on; the rule's own alone needs no memory of its own.
type Picks = SmallVec<[Pick; 1]>;

/// Follows a chain of strikes, and where its decisions are nearly tied all of them.
pub(super) fn follow(
    frame: &Frame<'_>,
    rule: &Rule,
    strike: Strike,
    ties: Ties,
) -> Result<Found, ImpactError> {
    let contacts = frame.problem.contacts();
    let mut row = DVector::zeros(frame.dim());
    ties.follow(frame, Place::default(), |walk, place, all| {
        if place.is_loose {
            let mut mode = Mode::default();
            mode.hold(frame.constraint_rows());
            let stage = Stage::from(frame, mode, walk.velocity.clone());
            let next = Place {
                is_loose: false,
                ..*place
            };
            return Ok(vec![Choice {
                tests: Vec::new(),
                stage: Some((stage, Vec::new())),
                next: Some(next),
            }]);
        }
        if place.strikes as u64 > SEQUENCE_LIMIT {
            return Err(ImpactError::NotDifferentiated { reason: TOO_LONG });
        }
        let velocities: SmallVec<[f64; 8]> = (0..contacts.n_distinct())
            .map(|j| kernel::dot(contacts.unit(j), walk.velocity.as_slice()))
            .collect();
        let picks = picks(frame, rule, strike, *place, &velocities, all.is_some());
        Ok(picks
            .into_iter()
            .map(|pick| {
                let tests = pick
                    .tests
                    .iter()
                    .map(|combination| test(walk, contacts, combination, &mut row))
                    .collect();
                let stage = pick.strike.map(|j| stage(frame, strike, walk, j));
                let next = pick.strike.map(|j| Place {
                    strikes: place.strikes + 1,
                    last: Some(j),
                    is_loose: strike.is_projected,
                });
                Choice {
                    tests,
                    stage: stage.map(|stage| (stage, Vec::<Form>::new())),
                    next,
                }
            })
            .collect())
    })
}

fn test(
    walk: &Walk,
    contacts: &ContactSet<'_>,
    combination: &Combination,
    row: &mut DVector<f64>,
) -> Test {
    row.fill(0.0);
    for (j, c) in combination {
        kernel::add_scaled(row.as_mut_slice(), *c, contacts.unit(*j));
    }
    walk.velocity_test(row)
}

fn stage(frame: &Frame<'_>, strike: Strike, walk: &Walk, j: usize) -> Arc<Stage> {
    let contacts = frame.problem.contacts();
    let row = contacts.row(contacts.contact_at(j));
    let mut mode = Mode::default();
    mode.push(of_row(row), of_row(row), strike.rebound);
    if !strike.is_projected {
        mode.hold(frame.constraint_rows());
    }
    Stage::from(frame, mode, walk.velocity.clone())
}

/// The ways on from contact velocities, the rule's own first; others only if `all` are wanted.
fn picks(
    frame: &Frame<'_>,
    rule: &Rule,
    strike: Strike,
    place: Place,
    b: &[f64],
    all: bool,
) -> Picks {
    let grazing = frame.problem.grazing();
    let approaches = |j: usize| b[j] < -grazing[j];
    let end = || Pick {
        strike: None,
        tests: (0..b.len())
            .filter(|j| Some(*j) != place.last)
            .map(|j| smallvec![(j, 1.0)])
            .collect(),
    };
    if strike.is_single && place.strikes > 0 {
        return smallvec![Pick {
            strike: None,
            tests: SmallVec::new(),
        }];
    }
    match rule {
        Rule::Given(order) => match order.get(place.strikes) {
            Some(j) => smallvec![Pick {
                strike: Some(*j),
                tests: smallvec![smallvec![(*j, -1.0)]],
            }],
            None => smallvec![end()],
        },
        Rule::Most => {
            let pick = |i: usize| Pick {
                strike: Some(i),
                tests: std::iter::once(smallvec![(i, -1.0)])
                    .chain(
                        (0..b.len())
                            .filter(|j| *j != i)
                            .map(|j| smallvec![(j, 1.0), (i, -1.0)]),
                    )
                    .collect(),
            };
            let own = first_of_ties(b, grazing, |a, most| a < most);
            let mut out: Picks = smallvec![own.map_or_else(end, pick)];
            if all {
                let others = (0..b.len()).filter(|i| Some(*i) != own);
                out.extend(others.map(pick));
                if own.is_some() {
                    out.push(end());
                }
            }
            out
        }
        Rule::Order(order) => {
            let pick = |at: usize| Pick {
                strike: Some(order[at]),
                tests: order[..at]
                    .iter()
                    .map(|j| smallvec![(*j, 1.0)])
                    .chain([smallvec![(order[at], -1.0)]])
                    .collect(),
            };
            let own = order.iter().position(|j| approaches(*j));
            let mut out: Picks = smallvec![own.map_or_else(end, pick)];
            if all {
                let others = (0..order.len()).filter(|at| Some(*at) != own);
                out.extend(others.map(pick));
                if own.is_some() {
                    out.push(end());
                }
            }
            out
        }
        Rule::Least | Rule::Random(_) => {
            let own: Vec<bool> = (0..b.len()).map(approaches).collect();
            let mut patterns = vec![own.clone()];
            if all {
                // Which of the velocities that are all but zero approach, in every way.
                let near = |j: &usize| b[*j].abs() <= 1e-6 * frame.speed;
                for j in (0..b.len()).filter(near).take(6) {
                    for pattern in patterns.clone() {
                        let mut flipped = pattern;
                        flipped[j] = !flipped[j];
                        patterns.push(flipped);
                    }
                }
            }
            let mut out = Picks::new();
            for pattern in patterns {
                of_pattern(rule, place, b, grazing, &pattern, all, &mut out);
            }
            out
        }
    }
}

/// The first of the contacts whose velocities tie for the one that is sought.
fn first_of_ties(
    b: &[f64],
    grazing: &[f64],
    is_better: impl Fn(f64, f64) -> bool,
) -> Option<usize> {
    let approaching = (0..b.len()).filter(|j| b[*j] < -grazing[*j]);
    let sought = approaching
        .clone()
        .map(|j| b[j])
        .reduce(|a, x| if is_better(x, a) { x } else { a })?;
    let tie = |j: usize| 1e-9 * sought.abs() + grazing[j];
    approaching
        .clone()
        .find(|j| (b[*j] - sought).abs() <= tie(*j))
}

/// The ways on if just these contacts approach.
fn of_pattern(
    rule: &Rule,
    place: Place,
    b: &[f64],
    grazing: &[f64],
    pattern: &[bool],
    all: bool,
    out: &mut Picks,
) {
    let signs = || {
        (0..b.len())
            .filter(|j| pattern[*j] || Some(*j) != place.last)
            .map(|j| smallvec![(j, if pattern[j] { -1.0 } else { 1.0 })])
    };
    let approaching: Vec<usize> = (0..b.len()).filter(|j| pattern[*j]).collect();
    if approaching.is_empty() {
        out.push(Pick {
            strike: None,
            tests: signs().collect(),
        });
        return;
    }
    if let Rule::Random(seed) = rule {
        // The stream of the law: one number for each strike.
        let mut stream = CounterRng::new(*seed, 0, 0);
        let mut bits = stream.next_bits();
        for _ in 0..place.strikes {
            bits = stream.next_bits();
        }
        let pick = (u128::from(bits) * approaching.len() as u128) >> 64;
        out.push(Pick {
            strike: approaching.get(pick as usize).copied(),
            tests: signs().collect(),
        });
        return;
    }
    let pick = |i: usize| Pick {
        strike: Some(i),
        tests: signs()
            .chain(
                approaching
                    .iter()
                    .filter(|j| **j != i)
                    .map(|j| smallvec![(i, 1.0), (*j, -1.0)]),
            )
            .collect(),
    };
    let of_all = |grazing: &[f64]| {
        let hidden: Vec<f64> = (0..b.len())
            .map(|j| if pattern[j] { b[j] } else { f64::INFINITY })
            .collect();
        first_of_ties(&hidden, grazing, |a, least| a > least)
    };
    let own = of_all(grazing).unwrap_or(approaching[0]);
    out.push(pick(own));
    if all {
        out.extend(approaching.iter().filter(|i| **i != own).map(|i| pick(*i)));
    }
}
