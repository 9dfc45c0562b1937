//! Sequential law: impacts at one contact at a time.

use super::cone_shape::ConeShape;
use super::cones::{Bounds, Cones};
use super::end_mode::end_modes;
use super::space::{ContactSpace, Slot};
use super::stepper::{StepProblem, StepWorkspace};
use crate::laws::BuiltIn;
use crate::tolerances::EQUAL;
use carom_contact::internal::{GRAZING_TOLERANCE, ROUNDING, divisor, separating, worst};
use carom_contact::{
    ContactIndex, Diagnostics, FrictionCone, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem,
    ImpactStatus, Limit, Numbers, Unsolved,
};
use carom_lcp::contact_problem::Member;
use nalgebra::DVector;

/// Number of cycles of impacts after which all contacts that have pushed may be closed simultaneously.
pub const PATIENCE: u64 = 1000;

/// Change of the friction of a contact from one impact to the next, relative to it, from which the impact counts as another
/// than the last. Impacts that converge have friction that turns ever less.
const TURNED: f64 = 1e-3;

/// Number of cycles in which friction turns in almost every sequence, so that it says nothing about the sequence.
const FIRST_CYCLES: u64 = 8;

/// Number of later impacts of one contact with other friction than its last, above which a sequence is repeated from a velocity
/// nearby. Friction of impacts that converge turns in few of them; the repetition takes as long as the sequence.
const MANY_TURNED: u64 = 64;

/// Change of the velocity before the impacts for the repetition, relative to each of its whitened components: a hundred times
/// their rounding.
const NEARBY: f64 = 1e-14;

/// Frictional impact law that resolves the contacts one at a time, in a fixed cycle and without restitution (`sequential`).
///
/// Each single impact is that of [`AnitescuPotra`](super::AnitescuPotra) with this contact alone; a contact that does not
/// approach is skipped. The impact ends when no contact approaches.
///
/// If closing one contact makes another approach, infinitely many impacts of decreasing size may be needed. So after every
/// thousand cycles all contacts that have pushed are closed simultaneously, by [`AnitescuPotra`](super::AnitescuPotra)
/// applied to these contacts alone. Without friction the result is the limit of the sequence: alternating projections onto
/// walls converge to the projection onto the intersection of the walls (von Neumann), which is the impact that closes all
/// these contacts together. With friction the result is the limit if each contact sticks, or keeps sliding in one direction;
/// then it is the same when the contacts are closed five hundred cycles earlier. Otherwise impacts continue one at a time, and
/// an impact that does not end within `max_impacts` has no answer. The diagnostics name the contacts that are closed together.
///
/// A sequence whose contacts do not settle is repeated from a velocity nearby. If that ends elsewhere, the outcome has the
/// warning [`SensitiveToRounding`](carom_contact::Warning::SensitiveToRounding); if it does not end, the impact is not solved.
///
/// Ivanov 1995; Halm & Posa, Section 1.1.
///
/// # Examples
///
/// ```
/// use carom_impact::{Contact, ContactSet, ImpactLaw, ImpactProblem, frictional::Sequential};
/// use carom_metric::{Covector, KineticMetric, Tangent};
/// use nalgebra::DMatrix;
/// let metric = KineticMetric::new(DMatrix::identity(2, 2))?;
/// let floor = Contact::new(Covector::from_slice(&[0.0, 1.0]))
///     .with_tangents(vec![Covector::from_slice(&[1.0, 0.0])])
///     .with_friction(0.5)
///     .with_restitution(0.5);
/// let contacts = ContactSet::new(&metric, vec![floor])?;
/// let problem = ImpactProblem::new(&contacts, Tangent::from_slice(&[3.0, -2.0]))?;
/// let law = Sequential::default().with_order(vec![0]);
/// let outcome = law.resolve(&problem)?;
/// assert!((&outcome.velocity_plus.0 - nalgebra::dvector![2.0, 0.0]).amax() < 1e-14);
/// # Ok::<(), carom_impact::ImpactError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[non_exhaustive]
pub struct Sequential {
    /// Order in which contacts are resolved, as a cycle. Contacts that are not listed come last, by index; an empty list means
    /// the order of the contact set.
    pub order: Vec<usize>,
    /// Shape of the friction cones of spatial contacts.
    pub friction_cone: FrictionCone,
    /// Largest number of single impacts.
    pub max_impacts: u64,
}

carom_numeric::setters!(Sequential {
    /// Sets the order in which contacts are resolved.
    with_order: order, Vec<usize>;
    /// Sets the shape of the friction cones of spatial contacts.
    with_friction_cone: friction_cone, FrictionCone;
    /// Sets the largest number of single impacts.
    with_max_impacts: max_impacts, u64;
});

impl Default for Sequential {
    fn default() -> Self {
        Self {
            order: Vec::new(),
            friction_cone: FrictionCone::Round,
            max_impacts: 10_000,
        }
    }
}

impl Sequential {
    /// Returns the order in which the law visits `n_contacts` contacts in each cycle: first the contacts listed in `order`,
    /// then the others by index. An error if `order` is not valid for that number of contacts.
    pub fn cycle(&self, n_contacts: usize) -> Result<Vec<ContactIndex>, ImpactError> {
        if let Some(&contact) = self.order.iter().find(|contact| **contact >= n_contacts) {
            return Err(ImpactError::InvalidContact {
                what: "order",
                contact,
                contacts: n_contacts,
            });
        }
        let left_out = (0..n_contacts).filter(|contact| !self.order.contains(contact));
        let cycle = self.order.iter().copied().chain(left_out);
        Ok(cycle.map(ContactIndex::new).collect())
    }
}

/// Solver of the impact of some contacts, as if all others were open.
struct Closing {
    slots: Vec<Slot>,
    law: ClosingLaw,
}

enum ClosingLaw {
    Round(Cones),
    /// Polygon problem, space of these contacts alone, and their round cones if they have two tangents.
    Polygon(Box<(StepProblem, ContactSpace, Option<Cones>)>),
}

impl Closing {
    fn new(
        space: &ContactSpace,
        contacts: &[ContactIndex],
        shape: ConeShape,
    ) -> Result<Self, ImpactError> {
        let part = space.part(contacts);
        Ok(Self {
            slots: space.slots_of(contacts),
            law: match shape {
                ConeShape::Round => ClosingLaw::Round(Cones::new(&part)),
                ConeShape::Polygon(k) => {
                    let round = (part.n_tangents > 1).then(|| Cones::new(&part));
                    ClosingLaw::Polygon(Box::new((StepProblem::new(&part, k, false)?, part, round)))
                }
            },
        })
    }

    /// Solves the simultaneous impact of the contacts in this group and leaves the impulses in the workspace. `velocity`:
    /// velocities of the normalized contact rows. Returns the residual of the impulses for round friction cones; 0 in the
    /// plane.
    fn solve(&self, velocity: &[f64], workspace: &mut StepWorkspace) -> Result<f64, ImpactError> {
        workspace.set_cover(0, None);
        match &self.law {
            ClosingLaw::Polygon(polygon) => {
                let (lcp, space, round) = &**polygon;
                lcp.solve(space, velocity, &[], workspace)?;
                match round {
                    Some(round) => round.residual(velocity, &workspace.impulse),
                    None => Ok(0.0),
                }
            }
            ClosingLaw::Round(round) => {
                workspace.solve_cones(round, velocity, Bounds::default(), &[], Member::Any)?;
                Ok(workspace.residual)
            }
        }
    }
}

impl ImpactLaw for Sequential {
    fn name(&self) -> &'static str {
        Self::INFO.name
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<ImpactOutcome, ImpactError> {
        let cycle = self.cycle(problem.contacts().len())?;
        let problem = problem.event();
        let singles = SingleImpacts::new(problem, self.friction_cone)?;
        let diagnostics = |found: &InOrder| Diagnostics::Sequential {
            sequence: found.sequence.clone(),
            closed_at_once: found.closed_at_once.clone(),
            nearby_effect: found.nearby_effect,
            pivots: found.pivots,
            velocity_residual: found.velocity_residual,
            cone: (singles.space.n_tangents > 1).then_some(self.friction_cone),
            cone_residual: found.cone_residual,
            modes: end_modes(
                &singles.space,
                singles.space.velocity_before(problem).as_slice(),
                &singles.sizes(problem.momentum()),
                &found.impulse,
            ),
        };
        if !problem.is_approaching() {
            return separating(problem, diagnostics(&InOrder::default()));
        }
        let mut left = u64::MAX;
        let mut found = singles.run(&cycle, self.max_impacts, &mut left)?;
        if found.n_turned > MANY_TURNED {
            found.nearby_effect = singles.nearby_effect(&cycle, self.max_impacts, &found)?;
        }
        let diagnostics = diagnostics(&found);
        singles
            .space
            .outcome(problem, &found.impulse, ImpactStatus::Resolved, diagnostics)
    }
}

/// Solvers of the impact at a single contact, one solver per contact of a problem. The impacts can be applied in any order.
pub struct SingleImpacts<'p> {
    problem: &'p ImpactProblem,
    /// Contact rows normalized for the solvers.
    pub space: ContactSpace,
    shape: ConeShape,
    singles: Vec<Closing>,
    /// Kinetic norm of the motion around each contact, before the impacts.
    norms: Vec<f64>,
}

/// Result of a sequence of single-contact impacts: the total impulses and the order of the impacts.
#[derive(Default)]
pub struct InOrder {
    /// Scaled impulses on the slots, summed over the sequence.
    pub impulse: Vec<f64>,
    /// Contacts in the order of their impacts.
    pub sequence: Vec<usize>,
    closed_at_once: Vec<usize>,
    /// Effect of a velocity nearby, if it is large.
    nearby_effect: Option<f64>,
    pivots: usize,
    velocity_residual: f64,
    cone_residual: f64,
    /// Number of impacts after the first cycles with other friction than the last one at the same contact: that of the contact
    /// with most of them.
    n_turned: u64,
    /// Scaled velocities of the slots after the impacts.
    after: Vec<f64>,
}

impl<'p> SingleImpacts<'p> {
    /// Prepares a solver of the single-contact impact for every contact of a problem.
    ///
    /// # Errors
    ///
    /// [`ImpactError::MissingTangents`], and [`ImpactError::InvalidOption`] for a friction cone that the contacts do
    /// not support.
    pub fn new(
        problem: &'p ImpactProblem,
        friction_cone: FrictionCone,
    ) -> Result<Self, ImpactError> {
        problem.contacts().require_tangents()?;
        let space = ContactSpace::new(problem.contacts());
        let shape = ConeShape::of(friction_cone, space.n_tangents)?;
        let mut singles = Vec::with_capacity(space.n_contacts);
        for contact in ContactIndex::all(space.n_contacts) {
            singles.push(Closing::new(&space, &[contact], shape)?);
        }
        let norms = space.norms_near(problem.momentum());
        Ok(Self {
            problem,
            space,
            shape,
            singles,
            norms,
        })
    }

    /// Resolves the impact of the contact with index `contact` alone, from the scaled whitened momentum `momentum` (n
    /// entries). Returns the impulses on all of the caller's contact rows (N·s), and the change of the scaled whitened
    /// momentum. `workspace` holds work buffers; the result does not depend on their contents.
    ///
    /// # Errors
    ///
    /// Returns the errors of the solver of one contact.
    pub fn strike(
        &self,
        contact: ContactIndex,
        momentum: &[f64],
        workspace: &mut StepWorkspace,
    ) -> Result<(DVector<f64>, Numbers), ImpactError> {
        let (space, contacts) = (&self.space, self.problem.contacts());
        let first = space.normal_slot(contact).index();
        let slots = first..first + space.width();
        let velocity = space.velocity(momentum);
        workspace.made.clear();
        workspace
            .made
            .extend_from_slice(&self.sizes(momentum)[slots.clone()]);
        self.singles[contact.index()].solve(&velocity.as_slice()[slots.clone()], workspace)?;
        let mut impulse = vec![0.0; space.n_slots()];
        impulse[slots].copy_from_slice(&workspace.impulse);
        let given = space.on_rows(&impulse, self.problem.scale(), contacts);
        Ok((given, space.change(&impulse)))
    }

    /// Returns for each normalized contact row (slot) the size of the terms of its velocity, to which rounding errors
    /// are relative. `momentum` is the scaled whitened momentum. What is below the rounding of the motion around a contact is
    /// no error of a single impact, because the velocity before the impact is not known to it.
    fn sizes(&self, momentum: &[f64]) -> Vec<f64> {
        let width = self.space.width();
        let least = self.norms.iter().flat_map(|norm| {
            let least = ROUNDING / GRAZING_TOLERANCE * norm;
            std::iter::repeat_n(least, width)
        });
        let sizes = self.space.sizes(momentum).into_iter().zip(least);
        sizes.map(|(size, least)| f64::max(size, least)).collect()
    }

    /// Returns the velocities below which contacts count as grazing, one per contact: thresholds for the scaled normal
    /// velocity before the impact.
    pub fn grazing(&self) -> Vec<f64> {
        self.space.grazing(self.problem)
    }

    /// Resolves single-contact impacts one after the other, in the order of `cycle`, until no contact approaches; at most
    /// `max_impacts`. `left` is the remaining budget of units of work (about a multiply-add each): it is reduced by the work
    /// done, and the impacts fail when it is used up.
    pub fn run(
        &self,
        cycle: &[ContactIndex],
        max_impacts: u64,
        left: &mut u64,
    ) -> Result<InOrder, ImpactError> {
        let before = self.space.velocity_before(self.problem);
        self.run_from(before, cycle, max_impacts, left)
    }

    /// Resolves the impacts of [`run`](Self::run) from the given scaled velocities of the slots.
    fn run_from(
        &self,
        before: DVector<f64>,
        cycle: &[ContactIndex],
        max_impacts: u64,
        left: &mut u64,
    ) -> Result<InOrder, ImpactError> {
        let mut event = Event::new(self, before);
        let found = self.strike_in_turn(&mut event, cycle, max_impacts, *left);
        *left = left.saturating_sub(event.workspace.work());
        found?;
        event.found.after = event.velocity.as_slice().to_vec();
        Ok(event.found)
    }

    /// Repeats the impacts of `found` from a velocity nearby. Returns the largest change of the velocity of a contact after them,
    /// relative to the motion around the contact, if they end elsewhere; then rounding decides where. An error if they do not
    /// end.
    fn nearby_effect(
        &self,
        cycle: &[ContactIndex],
        max_impacts: u64,
        found: &InOrder,
    ) -> Result<Option<f64>, ImpactError> {
        let mut momentum = self.problem.momentum().to_vec();
        for (k, p) in momentum.iter_mut().enumerate() {
            *p *= if k % 2 == 0 {
                1.0 + NEARBY
            } else {
                1.0 - NEARBY
            };
        }
        let mut unlimited = u64::MAX;
        let nearby = self.space.velocity(&momentum);
        let nearby = self.run_from(nearby, cycle, max_impacts, &mut unlimited);
        let does_not_end = Unsolved::Sequence {
            impacts: found.sequence.len(),
            change: NEARBY,
        };
        let nearby = nearby.map_err(|_| ImpactError::NotSolved(does_not_end))?;
        let slots = found.after.iter().zip(&nearby.after).enumerate();
        let norm = |slot: usize| divisor(self.norms[slot / self.space.width()]);
        let effect = worst(slots.map(|(slot, (a, b))| (a - b).abs() / norm(slot)));
        Ok((!(effect <= EQUAL)).then_some(effect))
    }

    /// Makes the impacts in turn, beginning in the state `event`.
    fn strike_in_turn(
        &self,
        event: &mut Event<'_>,
        cycle: &[ContactIndex],
        max_impacts: u64,
        max_work: u64,
    ) -> Result<(), ImpactError> {
        let mut pushed = Vec::new();
        let mut earlier = None;
        for round in 1u64.. {
            let so_far = event.found.sequence.len();
            for &contact in cycle {
                if !event.approaches(contact) {
                    continue;
                }
                let impacts = event.found.sequence.len() as u64;
                if impacts >= max_impacts {
                    return Err(ImpactError::too_many_impacts(impacts));
                }
                if event.workspace.work() >= max_work {
                    return Err(ImpactError::Limit {
                        limit: Limit::Work,
                        at: max_work,
                        raise: Some("max_work"),
                    });
                }
                event.close(&self.singles[contact.index()])?;
                if round > FIRST_CYCLES {
                    event.note_impact(contact);
                }
                event.found.sequence.push(contact.index());
                if !pushed.contains(&contact) {
                    pushed.push(contact);
                }
            }
            if event.found.sequence.len() == so_far {
                break;
            }
            if round % (PATIENCE / 2) == 0 {
                pushed.sort_unstable();
                let together = Closing::new(&self.space, &pushed, self.shape)?;
                let end = event.end(&together);
                if round % PATIENCE == 0 && event.is_limit(earlier.as_ref(), end.as_ref()) {
                    event.close(&together)?;
                    event.found.closed_at_once = pushed.iter().map(|i| i.index()).collect();
                    event.keep_closed(&pushed);
                }
                earlier = end;
            }
        }
        Ok(())
    }
}

/// State of a sequence of impacts.
struct Event<'e> {
    space: &'e ContactSpace,
    /// Scaled velocities of the slots, and the sizes of the terms of these sums.
    velocity: DVector<f64>,
    made: Vec<f64>,
    /// Velocities of the slots of the contacts that are closed, before their impact.
    before: Vec<f64>,
    /// Thresholds of the normal velocities: a slower approach counts as zero.
    grazing: Vec<f64>,
    /// Velocities that count as zero when ends of the impacts are compared, one per contact.
    limits: Vec<f64>,
    workspace: StepWorkspace,
    /// Last impact at each contact.
    last: Vec<Option<LastImpact>>,
    found: InOrder,
}

/// The last impact at a contact alone.
#[derive(Clone, Copy)]
struct LastImpact {
    /// Impulse along the tangents, over that along the normal.
    friction: [f64; 2],
    /// True if the contact sticks after the impact.
    sticks: bool,
    /// Number of impacts at this contact with other friction than the last.
    n_turned: u64,
}

impl<'e> Event<'e> {
    /// The state before the impacts, from the scaled velocities of the slots.
    fn new(impacts: &'e SingleImpacts<'_>, velocity: DVector<f64>) -> Self {
        let (problem, space) = (impacts.problem, &impacts.space);
        Self {
            velocity,
            made: impacts.sizes(problem.momentum()),
            before: Vec::with_capacity(space.width()),
            grazing: space.grazing(problem),
            limits: (impacts.norms.iter()).map(|norm| EQUAL * norm).collect(),
            workspace: StepWorkspace::new(),
            last: vec![None; space.n_contacts],
            found: InOrder {
                impulse: vec![0.0; space.n_slots()],
                ..InOrder::default()
            },
            space,
        }
    }

    fn approaches(&self, contact: ContactIndex) -> bool {
        let normal = self.space.normal_slot(contact);
        !(self.velocity[normal.index()] >= -self.grazing[contact.index()])
    }

    /// Raises the approach thresholds of contacts that have just been closed together to the approach speeds that remain.
    /// These speeds are rounding errors of the solution. With lower thresholds, opposed contacts would collide alternately
    /// without end.
    fn keep_closed(&mut self, contacts: &[ContactIndex]) {
        for contact in contacts {
            let left = -self.velocity[self.space.normal_slot(*contact).index()];
            let grazing = &mut self.grazing[contact.index()];
            *grazing = f64::max(*grazing, left);
        }
    }

    /// Solves the impact of the contacts of `closing`, as if all others were open, and leaves the impulses in the workspace.
    /// Returns the residual of the impulses for round friction cones.
    fn solve(&mut self, closing: &Closing) -> Result<f64, ImpactError> {
        let Self {
            velocity,
            made,
            before,
            workspace,
            ..
        } = self;
        let slots = closing.slots.iter();
        before.clear();
        before.extend(slots.clone().map(|slot| velocity[slot.index()]));
        workspace.made.clear();
        workspace.made.extend(slots.map(|slot| made[slot.index()]));
        closing.solve(before, workspace)
    }

    fn close(&mut self, closing: &Closing) -> Result<(), ImpactError> {
        let residual = self.solve(closing)?;
        let Self {
            space,
            velocity,
            made,
            grazing,
            workspace,
            found,
            ..
        } = self;
        let width = space.width();
        for (slot, l) in closing.slots.iter().zip(&workspace.impulse) {
            let column = space.gram.column(slot.index());
            found.impulse[slot.index()] += l;
            velocity.axpy(*l, &column, 1.0);
            for (made, g) in made.iter_mut().zip(&column) {
                *made += (l * g).abs();
            }
            for (i, grazing) in grazing.iter_mut().enumerate() {
                let made = l * column[i * width];
                *grazing = f64::max(*grazing, GRAZING_TOLERANCE * made.abs());
            }
        }
        found.cone_residual = f64::max(found.cone_residual, residual);
        found.velocity_residual = f64::max(found.velocity_residual, workspace.residual);
        found.pivots += workspace.n_pivots;
        Ok(())
    }

    /// Velocities of the slots after the impact of `closing`, which is not made. `None` if it is not found.
    fn end(&mut self, closing: &Closing) -> Option<DVector<f64>> {
        self.solve(closing).ok()?;
        let impulses = closing.slots.iter().zip(&self.workspace.impulse);
        Some(impulses.fold(self.velocity.clone(), |mut end, (slot, l)| {
            end.axpy(*l, &self.space.gram.column(slot.index()), 1.0);
            end
        }))
    }

    /// True if `end`, to which closing contacts together leads, is the limit of their impacts in turn, as far as it can be seen:
    /// it did not change since an `earlier` attempt.
    fn is_limit(&self, earlier: Option<&DVector<f64>>, end: Option<&DVector<f64>>) -> bool {
        let (Some(earlier), Some(end)) = (earlier, end) else {
            return false;
        };
        let width = self.space.width();
        let allowed = |slot: usize| self.limits[slot / width] + self.grazing[slot / width];
        let ends = earlier.iter().zip(end).enumerate();
        ends.into_iter()
            .all(|(slot, (one, other))| (one - other).abs() <= allowed(slot))
    }

    /// Notes how the contact, which has just been closed alone, sticks or slides.
    fn note_impact(&mut self, contact: ContactIndex) {
        let impulse = &self.workspace.impulse;
        let made = impulse.iter().fold(0.0, |sum, l| sum + l.abs());
        let first = self.space.normal_slot(contact).index() + 1;
        let after = &self.velocity.as_slice()[first..][..self.space.n_tangents];
        let mut friction = [0.0; 2];
        for (ratio, l) in friction.iter_mut().zip(&impulse[1..]) {
            *ratio = l / impulse[0];
        }
        let is_pulled = friction.iter().any(|ratio| *ratio != 0.0);
        let sticks = is_pulled && after.iter().all(|slip| slip.abs() <= EQUAL * made);
        let last = self.last[contact.index()];
        let is_other = last.is_some_and(|last| {
            let [own, turned] = [[0.0; 2], last.friction]
                .map(|from| (friction[0] - from[0]).abs() + (friction[1] - from[1]).abs());
            sticks != last.sticks || !sticks && turned > TURNED * own
        });
        let n_turned = last.map_or(0, |last| last.n_turned) + u64::from(is_other);
        self.found.n_turned = self.found.n_turned.max(n_turned);
        self.last[contact.index()] = Some(LastImpact {
            friction,
            sticks,
            n_turned,
        });
    }
}
