//! Derivatives of laws that strike one contact after the other: propagative and nonholonomic.

use super::branch::{DECAYED, LONG, Test, Walk};
use super::frame::Frame;
use super::mode::{Mode, Rebound};
use super::stage::Stage;
use crate::tolerances::NEGLIGIBLE;
use carom_contact::internal::{GRAZING_TOLERANCE, dot_and_size};
use carom_contact::{ContactSet, ImpactError, RowIndex, UnitRow};
use carom_impact::internal::{
    IMPACTS_OF_PATIENCE, SEQUENCE_LIMIT, by_priority, least_approaching, most_approaching,
};
use carom_impact::{Restitution, Selection};
use carom_metric::{kernel, nonnegative_least_squares};
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::sync::Arc;

/// Reason why a chain is not followed.
pub(super) const TOO_LONG: &str = "its chain has more than 10000 impacts; `plastic` has none";

/// Rule by which a chain selects the next distinct normal to strike.
#[derive(Clone, Debug)]
pub(super) enum Rule {
    Most,
    Least,
    /// Distinct normals in order of priority.
    Order(Vec<UnitRow>),
    Random(u64),
    /// These, whatever the others do: an order that was found among all.
    Given(Vec<UnitRow>),
}

impl Rule {
    pub(super) fn new(selection: &Selection, contacts: &ContactSet) -> Result<Self, ImpactError> {
        Ok(match selection {
            Selection::MostApproaching => Self::Most,
            Selection::LeastApproaching => Self::Least,
            Selection::Priority(order) => Self::Order(by_priority(order, contacts)),
            Selection::Random(seed) => Self::Random(*seed),
            _ => {
                return Err(ImpactError::NotDifferentiated {
                    reason: "the derivative of this selection is not known",
                });
            }
        })
    }
}

/// Properties of a strike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strike {
    pub(super) rebound: Rebound,
    /// True if the constraints act only after the contact has acted.
    pub(super) is_projected: bool,
    /// True if the impact consists of one strike.
    pub(super) is_single: bool,
}

impl Strike {
    /// Creates the properties of the elementary impacts (strikes) of a nonholonomic law from its kind of
    /// `restitution`. `n_distinct` is the number of distinct contact normals; if there is only one normal, the impact
    /// consists of one strike.
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

    /// True if a strike is the projection of the velocity onto those at which the contact is closed.
    fn is_inelastic(self, frame: &Frame<'_>) -> bool {
        let basis = frame.problem.contacts().constraint_basis();
        let acts_alone = self.is_projected && basis.is_some_and(|basis| basis.ncols() > 0);
        self.rebound.value() == 0.0 && !self.is_single && !acts_alone
    }

    /// Strike of the propagative law: elastic, with the constraints acting together with the contact.
    pub(super) const ELASTIC: Self = Self {
        rebound: Rebound::Fixed(1.0),
        is_projected: false,
        is_single: false,
    };
}

/// Position in a chain: number of strikes, and the normal that was struck last.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    strikes: usize,
    last: Option<UnitRow>,
    /// Contacts that would be struck in turn for ever were closed after these strikes.
    is_closed: bool,
}

/// Computes the derivatives along a sequence of elementary impacts (strikes), in which `rule` selects the next contact
/// normal. `strike` holds the restitution of each strike and the treatment of constraints. `tolerance` is the relative tolerance
/// of ties.
pub(super) fn follow(
    frame: &Frame<'_>,
    rule: &Rule,
    strike: Strike,
    tolerance: f64,
) -> Result<Walk, ImpactError> {
    let contacts = frame.problem.contacts();
    let mut walk = Walk::new(frame);
    let mut place = Place::default();
    let advance = |walk: &mut Walk, mode: Mode| {
        let stage = Stage::from(frame, mode, &walk.velocity);
        walk.advance(frame, stage, &[], false, tolerance);
    };
    loop {
        if place.strikes as u64 > SEQUENCE_LIMIT {
            return Err(ImpactError::NotDifferentiated { reason: TOO_LONG });
        }
        let velocities: SmallVec<[f64; 8]> = contacts
            .unit_rows()
            .map(|j| kernel::dot(contacts.unit(j), walk.velocity.as_slice()))
            .collect();
        let grazing = thresholds(frame, &walk, &velocities);
        if !strike.is_single && !place.is_closed {
            let may_cut = strike.is_inelastic(frame);
            let closing = closing(frame, &walk, &place, may_cut, &velocities, &grazing)?;
            if let Some(stage) = closing {
                walk.advance(frame, stage, &[], false, tolerance);
                place.is_closed = true;
                place.last = None;
                continue;
            }
        }
        if strike.is_single && place.strikes > 0 {
            return Ok(walk);
        }
        let pick = Pick {
            contacts,
            place,
            b: &velocities,
            grazing: &grazing,
        };
        let (struck, tests) = pick.by(rule);
        walk.test(frame, tests, tolerance);
        let Some(j) = struck else {
            return Ok(walk);
        };
        let mut mode = Mode::default();
        mode.stop(contacts.row(contacts.contact_at(j)), strike.rebound);
        if !strike.is_projected {
            mode.hold(frame);
        }
        advance(&mut walk, mode);
        if strike.is_projected {
            let mut mode = Mode::default();
            mode.hold(frame);
            advance(&mut walk, mode);
        }
        place = Place {
            strikes: place.strikes + 1,
            last: Some(j),
            is_closed: false,
        };
    }
}

/// Returns the speeds below which velocities along the distinct normals count as zero at the end of the branch `walk`. `velocities`
/// are the present ones. Rounding is relative to the largest terms of these velocities in the first and the present stages, and
/// contacts that act on each other share the largest of their thresholds, as in the laws.
fn thresholds<'f>(frame: &'f Frame<'_>, walk: &Walk, velocities: &[f64]) -> Cow<'f, [f64]> {
    let given = frame.problem.grazing();
    let Some(j) = most_approaching(velocities, given) else {
        return Cow::Borrowed(given);
    };
    // No sum of terms exceeds the speed.
    if -velocities[j.index()] > GRAZING_TOLERANCE * frame.speed || walk.stages.is_empty() {
        return Cow::Borrowed(given);
    }
    let contacts = frame.problem.contacts();
    let own = contacts.unit_rows().zip(given).map(|(j, given)| {
        let sizes = walk.stages.iter().take(LONG).chain(walk.stages.last());
        let sizes = sizes.map(|stage| dot_and_size(contacts.unit(j), stage.after()).1);
        sizes.fold(*given, |most, size| {
            f64::max(most, GRAZING_TOLERANCE * size)
        })
    });
    let own: Vec<f64> = own.collect();
    let group = |j: UnitRow| frame.scales().group(contacts.row(contacts.contact_at(j)));
    let shared = contacts.unit_rows().map(|j| {
        let others = contacts.unit_rows().zip(&own);
        let others = others.filter(|(k, _)| group(*k) == group(j));
        others.fold(0.0, |most, (_, own)| f64::max(most, *own))
    });
    Cow::Owned(shared.collect())
}

/// Returns the stage that closes contacts which stop each other from closing, the limit of strikes on them in turn: where the
/// law closes them after many strikes (only if `may_cut` is true), and at the end of a chain whose last velocities are rounding.
/// `velocities` are those along the distinct normals, and `grazing` the speeds below which these count as zero. `None` if no
/// contacts are closed so.
///
/// Every strike pushes along the row of its contact. The limit is the velocity that such pushes reach and at which all of these
/// contacts are closed; without restitution, strikes are projections (von Neumann). The derivatives of the cut chain are those of
/// the limit only up to the part of a velocity that the cut leaves.
fn closing(
    frame: &Frame<'_>,
    walk: &Walk,
    place: &Place,
    may_cut: bool,
    velocities: &[f64],
    grazing: &[f64],
) -> Result<Option<Arc<Stage>>, ImpactError> {
    let contacts = frame.problem.contacts();
    let row = |j: UnitRow| contacts.row(contacts.contact_at(j));
    let is_cut = may_cut && place.strikes > 0 && place.strikes.is_multiple_of(IMPACTS_OF_PATIENCE);
    if !is_cut && (place.strikes < LONG || most_approaching(velocities, grazing).is_some()) {
        return Ok(None);
    }
    let recent = walk.stages.iter().rev().take(IMPACTS_OF_PATIENCE / 2);
    let mut struck: Vec<UnitRow> = contacts.unit_rows().collect();
    struck.retain(|j| recent.clone().any(|stage| stage.strikes(row(*j))));
    if is_cut {
        let n = frame.dim();
        let normals = DMatrix::from_fn(n, struck.len(), |k, j| contacts.unit(struck[j])[k]);
        let pushes = nonnegative_least_squares(&normals, &walk.velocity, GRAZING_TOLERANCE)?;
        let pushes = pushes.iter().map(|push| *push > 0.0).collect::<Vec<_>>();
        let mut pushes = pushes.into_iter();
        struck.retain(|_| pushes.next().unwrap_or(false));
    } else {
        let slope = |j: UnitRow| {
            let unit = DVector::from_column_slice(contacts.unit(j));
            walk.jacobian.tr_mul(&unit).norm()
        };
        let is_closed = |j: UnitRow| {
            let nothing = frame.scales().of_row(row(j), NEGLIGIBLE);
            velocities[j.index()].abs() <= nothing + 2.0 * grazing[j.index()]
        };
        struck.retain(|j| is_closed(*j) && slope(*j) <= DECAYED);
    }
    if struck.len() < 2 {
        return Ok(None);
    }
    let mut mode = Mode::default();
    for j in struck {
        mode.stop(row(j), Rebound::Fixed(0.0));
    }
    mode.hold(frame);
    Ok(Some(Stage::limit(frame, mode, &walk.velocity)))
}

/// State in which a rule selects the next strike.
struct Pick<'a> {
    contacts: &'a ContactSet,
    place: Place,
    /// Velocities along the distinct unit normals.
    b: &'a [f64],
    /// Speeds below which these count as zero.
    grazing: &'a [f64],
}

impl Pick<'_> {
    fn all(&self) -> impl Iterator<Item = UnitRow> + Clone + use<> {
        UnitRow::all(self.b.len())
    }

    fn row(&self, j: UnitRow) -> RowIndex {
        self.contacts.row(self.contacts.contact_at(j))
    }

    fn is_approaching(&self, j: UnitRow) -> bool {
        self.b[j.index()] < -self.grazing[j.index()]
    }

    /// Returns the contact normal of the next elementary impact by `rule`, and the decisions that lead to it. `None` as normal means
    /// that the sequence of impacts ends: then all normals separate. The normal of the last impact separates in any case and
    /// is not tested.
    fn by(&self, rule: &Rule) -> (Option<UnitRow>, Vec<Test>) {
        let row = |j: UnitRow| self.row(j);
        let (struck, tests): (_, Vec<Test>) = match rule {
            Rule::Given(order) => match order.get(self.place.strikes) {
                Some(j) => (Some(*j), vec![Test::Approaches(row(*j))]),
                None => (None, Vec::new()),
            },
            Rule::Most => match most_approaching(self.b, self.grazing) {
                Some(i) => {
                    let others = self.all().filter(|j| *j != i);
                    let others = others.map(|j| Test::Exceeds(row(j), row(i)));
                    let first = std::iter::once(Test::Approaches(row(i)));
                    (Some(i), first.chain(others).collect())
                }
                None => (None, Vec::new()),
            },
            Rule::Order(order) => match order.iter().find(|j| self.is_approaching(**j)) {
                Some(i) => {
                    let before = order.iter().take_while(|j| *j != i);
                    let before = before.map(|j| Test::Separates(row(*j)));
                    (
                        Some(*i),
                        before.chain([Test::Approaches(row(*i))]).collect(),
                    )
                }
                None => (None, Vec::new()),
            },
            Rule::Least | Rule::Random(_) => return self.of_pattern(rule),
        };
        if struck.is_some() {
            return (struck, tests);
        }
        let others = self.all().filter(|j| Some(*j) != self.place.last);
        (None, others.map(|j| Test::Separates(row(j))).collect())
    }

    /// Returns the next strike by a rule that asks which contact normals approach, and the decisions that lead to it.
    fn of_pattern(&self, rule: &Rule) -> (Option<UnitRow>, Vec<Test>) {
        let row = |j: UnitRow| self.row(j);
        let signs = self
            .all()
            .filter(|j| self.is_approaching(*j) || Some(*j) != self.place.last)
            .map(|j| Test::that(row(j), self.is_approaching(j)));
        let mut tests: Vec<Test> = signs.collect();
        let approaching = self.all().filter(|j| self.is_approaching(*j));
        let approaching: SmallVec<[UnitRow; 8]> = approaching.collect();
        if let Rule::Random(seed) = rule {
            // Random stream of the law: one number for each strike.
            let mut stream = CounterRng::new(*seed, 0, 0);
            let mut bits = stream.next_bits();
            for _ in 0..self.place.strikes {
                bits = stream.next_bits();
            }
            let pick = (u128::from(bits) * approaching.len() as u128) >> 64;
            return (approaching.get(pick as usize).copied(), tests);
        }
        let own = least_approaching(self.b, self.grazing).or(approaching.first().copied());
        if let Some(i) = own {
            let others = approaching.iter().filter(|j| **j != i);
            tests.extend(others.map(|j| Test::Exceeds(row(i), row(*j))));
        }
        (own, tests)
    }
}
