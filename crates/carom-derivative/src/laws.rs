//! Stages and decisions of each law, from which its derivative is assembled.

use super::blend::Blend;
use super::branch::{Test, Walk};
use super::chain::{self, Rule, Strike};
use super::form::Form;
use super::frame::Frame;
use super::friction::{Contacts, Event};
use super::mode::{Mode, Rebound};
use super::reading::Cones;
use super::stage::Stage;
use super::{Answers, Branch, DifferentiableLaw, Map, Query, ToPlastic, sliding};
use carom_contact::{
    ContactIndex, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, ImpactStatus,
    RowIndex, UnitRow,
};
use carom_impact::frictional::{AnitescuPotra, MoreauNewton, Poisson, Sampler, SetValued};
use carom_impact::internal::{Draw, meeting, plastic_change};
use carom_impact::{
    EnergeticRestitution, Law, NonholonomicElastic, NonholonomicNewton, NonholonomicProjected,
    NonholonomicProjectedNewton, Plastic, PlasticRule, Propagative, Restitution, Rough, Routh,
    TwoBody,
};
use nalgebra::DVector;

/// Error for an outcome whose diagnostics are those of another law.
pub(super) const NOT_OF_THIS_LAW: ImpactError = ImpactError::NotDifferentiated {
    reason: "the outcome is not one of this law",
};

/// Finds the branch of an outcome of a law whose contacts act simultaneously, in the contact modes that the law tells. `cones` is
/// the shape of the friction cones, and `rebounds` is true if contacts have Newton's restitution.
fn at_once<'p>(
    query: Query<'_, 'p>,
    cones: Cones,
    rebounds: bool,
) -> Result<Branch<'p>, ImpactError> {
    let outcome = query.outcome;
    let frame = Frame::new(query.problem)?;
    if matches!(&outcome.diagnostics, Diagnostics::Cone(cone) if cone.family > 0) {
        return Ok(Branch::family(frame));
    }
    let (after, impulse) = frame.of_outcome(outcome);
    let event = Event {
        before: frame.before.clone(),
        after,
        impulse,
        caps: Vec::new(),
        modes: outcome.diagnostics.modes(),
    };
    let contacts = Contacts::all(&frame, cones, rebounds)?;
    let walk = contacts.follow(&[event], query.tolerance);
    let has_friction = contacts.have_friction();
    drop(contacts);
    let Some(walk) = walk else {
        return Ok(Branch::family(frame));
    };
    let answers = match outcome.status {
        ImpactStatus::Resolved if has_friction => Answers::Steps {
            cones,
            has_caps: false,
            steps: vec![query.problem.contacts().indices().collect()],
        },
        _ => Answers::One,
    };
    Ok(Branch {
        answers,
        ..Branch::new(frame, walk)
    })
}

impl DifferentiableLaw for Propagative {
    fn has_event_restitution(&self) -> bool {
        true
    }

    fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
        let tolerance = query.tolerance;
        let frame = Frame::new(query.problem)?;
        let contacts = query.problem.contacts();
        let rule = if query.is_member {
            let Diagnostics::Propagative(found) = &query.outcome.diagnostics else {
                return Err(NOT_OF_THIS_LAW);
            };
            let Some(sequence) = &found.sequence else {
                return Err(ImpactError::NotDifferentiated {
                    reason: chain::TOO_LONG,
                });
            };
            Rule::Given(
                sequence
                    .iter()
                    .map(|i| contacts.place(ContactIndex::new(*i)))
                    .collect(),
            )
        } else {
            Rule::new(&self.selection, contacts)?
        };
        let elastic = chain::follow(&frame, &rule, Strike::ELASTIC, tolerance)?;
        if elastic.stages.is_empty() {
            return Ok(Branch::new(frame, elastic));
        }
        let restitution = self.restitution.value();
        let rule = self.plastic;
        if self.restitution == EnergeticRestitution::ELASTIC {
            return Ok(Branch {
                to_plastic: Some(ToPlastic { rule, tolerance }),
                ..Branch::new(frame, elastic)
            });
        }
        let plastic = plastic_branch(&frame, rule, tolerance)?;
        let blend = Blend::new(&frame, &plastic, &elastic, restitution, rule);
        let mut walk = elastic.meet(&plastic);
        walk.velocity = blend.after();
        [walk.jacobian, walk.impulses] = blend.jacobians(&plastic, &elastic);
        walk.map = Map::Blend(Box::new(blend));
        walk.is_curved = true;
        Ok(Branch::new(frame, walk))
    }
}

/// Returns the blend of the plastic and the elastic outcome, which gives the derivative with respect to a restitution of
/// one. `elastic` is the branch of the elastic outcome; `to` holds the rule and the tolerance for the plastic outcome.
/// `None` if a decision about the plastic outcome is nearly tied.
pub(super) fn towards_plastic(frame: &Frame<'_>, elastic: &Walk, to: ToPlastic) -> Option<Blend> {
    let plastic = plastic_branch(frame, to.rule, to.tolerance).ok()?;
    (!plastic.is_tied()).then(|| Blend::new(frame, &plastic, elastic, 1.0, to.rule))
}

/// Finds the branch of the plastic outcome (restitution 0) of an impact. `rule` selects the plastic outcome, and `tolerance` is the
/// relative tolerance of ties.
fn plastic_branch(
    frame: &Frame<'_>,
    rule: PlasticRule,
    tolerance: f64,
) -> Result<Walk, ImpactError> {
    let problem = frame.problem;
    if rule != PlasticRule::Cone {
        return Ok(stop_all(frame, tolerance));
    }
    let contacts = problem.contacts();
    let momentum_change = plastic_change(problem, rule)?;
    let unit = contacts.impulses_on_unit_rows(&momentum_change.impulse);
    let given = contacts
        .all_rows()
        .zip(&unit)
        .map(|(row, l)| l / (contacts.row_norm(row) * problem.scale()));
    let given = DVector::from_iterator(unit.len(), given);
    let change = DVector::from_column_slice(&momentum_change.change);
    let event = Event {
        after: &frame.before + change,
        before: frame.before.clone(),
        impulse: frame.of_impulses(&given),
        caps: Vec::new(),
        modes: &[],
    };
    // Without friction the velocity is unique.
    let contacts = Contacts::all(frame, Cones::Frictionless, false)?;
    let found = contacts.follow(&[event], tolerance);
    found.ok_or(ImpactError::NotDifferentiated {
        reason: "contacts that depend on each other leave the plastic outcome undecided by rounding",
    })
}

/// Finds the branch of a plastic rule: as soon as one contact of a group of interacting contacts approaches, the rule
/// stops all contacts of the group. `tolerance` is the relative tolerance of ties.
fn stop_all(frame: &Frame<'_>, tolerance: f64) -> Walk {
    let contacts = frame.problem.contacts();
    let mut walk = Walk::new(frame);
    for group in meeting(contacts) {
        let row = |j: &UnitRow| contacts.row(contacts.contact_at(*j));
        let rows: Vec<RowIndex> = group.iter().map(row).collect();
        let rate = |row: &RowIndex| frame.row(*row).dot(&frame.before);
        let is_approaching = |row: &&RowIndex| {
            let mut own = contacts.indices().filter(|i| frame.problem.approaches(*i));
            own.any(|i| contacts.row(contacts.contact_at(contacts.place(i))) == **row)
        };
        let fastest = rows.iter().filter(is_approaching);
        let Some(fastest) = fastest.min_by(|a, b| rate(a).total_cmp(&rate(b))) else {
            walk.test(frame, rows.into_iter().map(Test::Separates), tolerance);
            continue;
        };
        walk.test(frame, [Test::Approaches(*fastest)], tolerance);
        let mut mode = Mode::default();
        for row in &rows {
            mode.stop(*row, Rebound::Fixed(0.0));
        }
        mode.hold(frame);
        let stage = Stage::from(frame, mode, &walk.velocity);
        walk.advance(frame, stage, &[], false, tolerance);
    }
    walk
}

impl DifferentiableLaw for Plastic {
    fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
        if self.rule == PlasticRule::Cone {
            return at_once(query, Cones::Frictionless, false);
        }
        let frame = Frame::new(query.problem)?;
        let walk = stop_all(&frame, query.tolerance);
        Ok(Branch::new(frame, walk))
    }
}

impl DifferentiableLaw for MoreauNewton {
    fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
        at_once(query, self.friction_cone.into(), true)
    }
}

impl DifferentiableLaw for AnitescuPotra {
    fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
        at_once(query, self.friction_cone.into(), false)
    }
}

impl DifferentiableLaw for Poisson {
    /// Always returns an error, because Poisson's law has no derivative here: the scale of its expansion depends on
    /// the energy of the whole impact.
    fn branch<'p>(&self, _query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
        Err(ImpactError::NotDifferentiated {
            reason: "the law poisson has no derivative here; moreau-newton agrees with it where compression closes every \
                     contact, without friction and with one restitution, and has one",
        })
    }
}

impl DifferentiableLaw for SetValued {
    /// Finds the branch of an outcome of the set-valued law, which belongs to one random sample of this law. The
    /// caps (upper bounds) of the normal impulses in the steps of this sample are kept fixed.
    fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
        let problem = query.problem;
        let frame = Frame::new(problem)?;
        let sample = sample_of(query.outcome)?;
        let contacts = problem.contacts();
        let mut before = frame.before.clone();
        let mut events = Vec::new();
        if problem.is_approaching() {
            for step in Sampler::new(problem, self)?.steps(sample)? {
                let after = DVector::from_column_slice(&step.momentum);
                let caps = contacts.indices().zip(&step.caps);
                events.push(Event {
                    before,
                    after: after.clone(),
                    impulse: frame.of_impulses(&step.impulses),
                    caps: caps
                        .map(|(i, cap)| frame.of_impulse(contacts.row(i), *cap))
                        .collect(),
                    modes: &[],
                });
                before = after;
            }
        }
        if events.is_empty() {
            events.push(Event {
                after: before.clone(),
                before,
                impulse: DVector::zeros(frame.n_rows()),
                caps: Vec::new(),
                modes: &[],
            });
        }
        let cones = self.friction_cone.into();
        let all = Contacts::all(&frame, cones, false)?;
        let walk = all.follow(&events, query.tolerance);
        drop(all);
        let Some(walk) = walk else {
            return Ok(Branch::family(frame));
        };
        let answers = if problem.is_approaching() {
            Answers::Steps {
                cones,
                has_caps: true,
                steps: vec![contacts.indices().collect()],
            }
        } else {
            Answers::One
        };
        Ok(Branch {
            // Caps do not grow with the velocity.
            is_homogeneous: false,
            answers,
            ..Branch::new(frame, walk)
        })
    }

    /// Draws the sample of an outcome for another velocity, with the caps of the steps of this sample.
    fn near(
        &self,
        query: Query<'_, '_>,
        moved: &ImpactProblem,
    ) -> Result<ImpactOutcome, ImpactError> {
        let given = Sampler::new(query.problem, self)?;
        if !moved.is_approaching() {
            return self.resolve(moved);
        }
        let sampler = Sampler::new(moved, given.options())?;
        let size = given.impulse_step() / sampler.impulse_step();
        let sampler = sampler.resized(size);
        let mut draw = Draw::default();
        sampler.draw(sample_of(query.outcome)?, &mut draw)?;
        sampler.outcome(&draw)
    }
}

/// Returns the number of the sample of the set-valued law that an outcome is.
fn sample_of(outcome: &ImpactOutcome) -> Result<u64, ImpactError> {
    match outcome.diagnostics {
        Diagnostics::SetValued { sample, .. } => Ok(sample),
        _ => Err(NOT_OF_THIS_LAW),
    }
}

fn nonholonomic<'p>(
    query: Query<'_, 'p>,
    restitution: Restitution,
) -> Result<Branch<'p>, ImpactError> {
    let frame = Frame::new(query.problem)?;
    let strike = Strike::of(restitution, query.problem.contacts().n_distinct());
    let walk = chain::follow(&frame, &Rule::Most, strike, query.tolerance)?;
    Ok(Branch::new(frame, walk))
}

macro_rules! nonholonomic {
    ($($Type:ident: $law:ident => $restitution:expr),* $(,)?) => {
        $(impl DifferentiableLaw for $Type {
            fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
                let $law = self;
                nonholonomic(query, $restitution)
            }

            fn has_event_restitution(&self) -> bool {
                let $law = self;
                matches!(
                    $restitution,
                    Restitution::Newton(_) | Restitution::ProjectedNewton(_)
                )
            }
        })*
    };
}

nonholonomic! {
    NonholonomicElastic: _law => Restitution::Elastic,
    NonholonomicProjected: _law => Restitution::Projected,
    NonholonomicNewton: law => Restitution::Newton(law.restitution),
    NonholonomicProjectedNewton: law => Restitution::ProjectedNewton(law.restitution),
}

impl DifferentiableLaw for Rough {
    fn has_event_restitution(&self) -> bool {
        true
    }

    fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
        let (problem, tolerance) = (query.problem, query.tolerance);
        let frame = Frame::new(problem)?;
        let contacts = problem.contacts();
        let rebound = Rebound::Event(self.restitution());
        let mut walk = Walk::new(&frame);
        let tests = contacts.indices();
        let tests = tests.map(|i| Test::that(contacts.row(i), problem.approaches(i)));
        walk.test(&frame, tests, tolerance);
        let mut mode = Mode::default();
        let mut forms = Vec::new();
        for i in contacts.indices() {
            let row = contacts.row(i);
            let is_struck = problem.approaches(i);
            if is_struck {
                for row in contacts.rows_at(i) {
                    mode.stop(row, rebound);
                }
            }
            // If these tests fail, the law has no answer.
            forms.push(Form::of_contact(row, is_struck));
        }
        if mode.acts {
            mode.hold(&frame);
            let stage = Stage::from(&frame, mode, &walk.velocity);
            walk.advance(&frame, stage, &forms, true, tolerance);
        }
        Ok(Branch::new(frame, walk))
    }
}

macro_rules! sliding {
    ($($Type:ident),*) => {
        $(impl DifferentiableLaw for $Type {
            fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
                sliding::branch(query, &self.options)
            }
        })*
    };
}

sliding!(Routh, TwoBody);

/// Returns the law inside a variant of the enum of all laws, as a law that can be differentiated. The match has no
/// default, so that a new variant does not compile until it is listed here.
fn of_variant(law: &Law) -> &dyn DifferentiableLaw {
    match law {
        Law::Propagative(law) => law,
        Law::Plastic(law) => law,
        Law::MoreauNewton(law) => law,
        Law::AnitescuPotra(law) => law,
        Law::Poisson(law) => law,
        Law::Sequential(law) => law,
        Law::SetValued(law) => law,
        Law::Routh(law) => law,
        Law::TwoBody(law) => law,
        Law::NonholonomicElastic(law) => law,
        Law::NonholonomicProjected(law) => law,
        Law::NonholonomicNewton(law) => law,
        Law::NonholonomicProjectedNewton(law) => law,
        Law::NonholonomicRough(law) => law,
    }
}

impl DifferentiableLaw for Law {
    fn branch<'p>(&self, query: Query<'_, 'p>) -> Result<Branch<'p>, ImpactError> {
        of_variant(self).branch(query)
    }

    fn near(
        &self,
        query: Query<'_, '_>,
        moved: &ImpactProblem,
    ) -> Result<ImpactOutcome, ImpactError> {
        of_variant(self).near(query, moved)
    }

    fn has_event_restitution(&self) -> bool {
        of_variant(self).has_event_restitution()
    }
}
