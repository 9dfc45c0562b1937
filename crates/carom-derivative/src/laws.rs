//! Stages and decisions of each law, from which its derivative is assembled.

use super::alternatives::Modes;
use super::assemble::are_same;
use super::blend::Blend;
use super::branch::{Choices, Found, Test, Ties, Walk};
use super::chain::{self, Rule, Strike};
use super::form::Form;
use super::frame::Frame;
use super::friction::{Contacts, Event};
use super::mode::{Mode, Rebound, of_row};
use super::reading::Cones;
use super::stage::Stage;
use super::ways::{AtOnce, simultaneous};
use super::{Answers, Branches, DifferentiableLaw, Map, StepContacts, Steps, ToPlastic, sliding};
use carom_contact::{
    ContactIndex, Diagnostics, ImpactError, ImpactLaw, ImpactOutcome, ImpactProblem, RowIndex,
    UnitRow,
};
use carom_impact::frictional::{AnitescuPotra, MoreauNewton, Poisson, Sampler, SetValued};
use carom_impact::plastic::{PlasticRule, meeting, plastic_change};
use carom_impact::{
    EnergeticRestitution, Law, NonholonomicElastic, NonholonomicNewton, NonholonomicProjected,
    NonholonomicProjectedNewton, Plastic, Propagative, Restitution, Rough, Routh, TwoBody,
};
use carom_metric::kernel;
use nalgebra::DVector;

impl DifferentiableLaw for Propagative {
    fn has_event_restitution(&self) -> bool {
        true
    }

    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
        is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError> {
        let frame = Frame::new(problem)?;
        let ties = Ties::within(tolerance);
        let rule = if is_member {
            let Diagnostics::Propagative(found) = &outcome.diagnostics else {
                return Err(ImpactError::NotDifferentiated {
                    reason: "the outcome is not one of this law",
                });
            };
            let Some(sequence) = &found.sequence else {
                return Err(ImpactError::NotDifferentiated {
                    reason: chain::TOO_LONG,
                });
            };
            let contacts = problem.contacts();
            Rule::Given(
                sequence
                    .iter()
                    .map(|i| contacts.place(ContactIndex::new(*i)))
                    .collect(),
            )
        } else {
            Rule::new(&self.selection, problem.contacts())
        };
        let elastic = chain::follow(&frame, &rule, Strike::ELASTIC, ties)?;
        let is_quiet = elastic.walks.iter().all(|walk| walk.stages.is_empty());
        if is_quiet {
            return Ok(Branches::of_chains(frame, elastic));
        }
        let restitution = self.restitution.value();
        if self.restitution == EnergeticRestitution::ELASTIC {
            let rule = self.plastic;
            return Ok(Branches {
                to_plastic: Some(ToPlastic { rule, ties }),
                ..Branches::of_chains(frame, elastic)
            });
        }
        let plastic = plastic_branches(&frame, self.plastic, ties)?;
        let mut ways = Vec::new();
        let mut is_curved = false;
        for elastic in &elastic.walks {
            for plastic in &plastic.walks {
                if let Some(mut walk) = elastic.meet(plastic)? {
                    let mut blend = Blend::new(&frame, plastic, elastic, restitution, self.plastic);
                    walk.velocity = blend.after();
                    let direction = walk.direction(&frame)?;
                    let limit = blend.towards(&frame, plastic, elastic, self.plastic, &direction);
                    if let Some(limit) = limit {
                        // Every direction into the region has its own limit.
                        is_curved = true;
                        blend = limit;
                    }
                    [walk.jacobian, walk.impulses] = blend.jacobians(plastic, elastic);
                    walk.map = Map::Blend(Box::new(blend));
                    ways.push(walk);
                }
            }
        }
        Ok(Branches {
            is_complete: elastic.is_complete && plastic.is_complete && !is_curved,
            is_amplified: elastic.is_amplified || plastic.is_amplified,
            ..Branches::new(frame, ways)
        })
    }
}

/// Returns the blend of the plastic and the elastic outcome, which gives the derivative with respect to a restitution of
/// one. `elastic` is the branch of the elastic outcome; `to` holds the rule and the tolerance for the plastic outcome.
/// `None` if a decision about the plastic outcome is nearly tied.
pub(super) fn towards_plastic(frame: &Frame<'_>, elastic: &Walk, to: ToPlastic) -> Option<Blend> {
    let plastic = plastic_branches(frame, to.rule, to.ties).ok()?;
    match plastic.walks.as_slice() {
        [plastic] if !plastic.is_tied() => Some(Blend::new(frame, plastic, elastic, 1.0, to.rule)),
        _ => None,
    }
}

/// Finds the branches of the plastic outcome (restitution 0) of an impact. `rule` selects the plastic outcome.
/// Decisions that are nearly tied according to `ties` (a tiny change of the velocity reverses them) are followed on
/// both sides.
fn plastic_branches(
    frame: &Frame<'_>,
    rule: PlasticRule,
    ties: Ties,
) -> Result<Found, ImpactError> {
    let problem = frame.problem;
    if rule != PlasticRule::Cone {
        return stop_all(frame, ties);
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
    };
    // Without friction the velocity is unique.
    let contacts = Contacts::all(frame, Cones::Frictionless, false)?;
    let found = simultaneous(&contacts, &[event], ties)?;
    found.ok_or(ImpactError::NotDifferentiated {
        reason: "contacts that depend on each other leave the plastic outcome undecided by rounding",
    })
}

/// Finds the branches of a plastic rule: as soon as one contact of a group of interacting contacts approaches, the rule
/// stops all contacts of the group. Decisions that are nearly tied according to `ties` (a tiny change of the velocity
/// reverses them) are followed on both sides.
fn stop_all(frame: &Frame<'_>, ties: Ties) -> Result<Found, ImpactError> {
    let contacts = frame.problem.contacts();
    let row = |j: &UnitRow| contacts.row(contacts.contact_at(*j));
    let groups = meeting(contacts).into_iter();
    let groups: Vec<Vec<RowIndex>> = groups
        .map(|group| group.iter().map(row).collect())
        .collect();
    let approaching: Vec<RowIndex> = contacts
        .indices()
        .filter(|i| frame.problem.approaches(*i))
        .map(|i| contacts.row(contacts.contact_at(contacts.place(i))))
        .collect();
    ties.follow(frame, 0, |walk, group: &usize, all, out| {
        let Some(rows) = groups.get(*group) else {
            out.add([], None, None);
            return Ok(());
        };
        let next = Some(group + 1);
        let stop = |row: RowIndex, out: &mut Choices<usize>| {
            let mut mode = Mode::default();
            for row in rows {
                mode.stop(*row, Rebound::Fixed(0.0));
            }
            mode.hold(frame);
            let stage = Stage::from(frame, mode, &walk.velocity);
            out.add([Test::Approaches(row)], Some((stage, Vec::new())), next);
        };
        let rest = |out: &mut Choices<usize>| {
            out.add(rows.iter().copied().map(Test::Separates), None, next);
        };
        let rate = |row: &RowIndex| frame.row(*row).dot(&frame.before);
        let fastest = rows.iter().filter(|row| approaching.contains(row));
        let fastest = fastest.min_by(|a, b| rate(a).total_cmp(&rate(b)));
        match fastest {
            Some(row) => stop(*row, out),
            None => rest(out),
        }
        if all.is_some() {
            let others = rows.iter().filter(|row| Some(*row) != fastest);
            others.for_each(|row| stop(*row, out));
            if fastest.is_some() {
                rest(out);
            }
        }
        Ok(())
    })
}

impl DifferentiableLaw for Plastic {
    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
        _is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError> {
        if self.rule == PlasticRule::Cone {
            let at_once = AtOnce {
                law: self,
                cones: Cones::Frictionless,
                rebounds: false,
                tolerance,
            };
            return at_once.branches(problem, outcome);
        }
        let frame = Frame::new(problem)?;
        let found = stop_all(&frame, Ties::within(tolerance))?;
        Ok(Branches::of_chains(frame, found))
    }
}

impl DifferentiableLaw for MoreauNewton {
    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
        _is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError> {
        let at_once = AtOnce {
            law: self,
            cones: self.friction_cone.into(),
            rebounds: true,
            tolerance,
        };
        at_once.branches(problem, outcome)
    }
}

impl DifferentiableLaw for AnitescuPotra {
    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
        _is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError> {
        let at_once = AtOnce {
            law: self,
            cones: self.friction_cone.into(),
            rebounds: false,
            tolerance,
        };
        at_once.branches(problem, outcome)
    }
}

impl DifferentiableLaw for Poisson {
    /// Always returns an error, because Poisson's law has no derivative here: the scale of its expansion depends on
    /// the energy of the whole impact.
    fn branches<'p>(
        &self,
        _problem: &'p ImpactProblem<'p>,
        _outcome: &ImpactOutcome,
        _is_member: bool,
        _tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError> {
        Err(ImpactError::NotDifferentiated {
            reason: "the law poisson has no derivative here; moreau-newton agrees with it where compression closes every \
                     contact, without friction and with one restitution, and has one",
        })
    }
}

impl DifferentiableLaw for SetValued {
    /// Finds the branches near an outcome of the set-valued law, which belongs to one random sample of this law. The
    /// caps (upper bounds) of the normal impulses in the steps of this sample are kept fixed. `tolerance` is the
    /// relative tolerance within which a decision counts as tied.
    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
        _is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError> {
        let frame = Frame::new(problem)?;
        let Diagnostics::SetValued { sample, .. } = outcome.diagnostics else {
            return Err(ImpactError::NotDifferentiated {
                reason: "the outcome is not one of this law",
            });
        };
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
            });
        }
        let cones = self.friction_cone.into();
        let step = |event: &Event| StepContacts {
            members: contacts.indices().collect(),
            caps: event.caps.clone(),
        };
        let steps = Steps::Each(events.iter().map(step).collect());
        let all = Contacts::all(&frame, cones, false)?;
        let modes = Modes {
            cones,
            rebounds: false,
            steps: &steps,
        };
        let found = of_sample(&all, &events, &modes, tolerance)?;
        drop(all);
        let Some(found) = found else {
            return Ok(Branches::family(frame));
        };
        let answers = if problem.is_approaching() {
            Answers::Modes {
                cones,
                rebounds: false,
                steps,
            }
        } else {
            Answers::One
        };
        Ok(Branches {
            // Caps do not grow with the velocity.
            is_homogeneous: false,
            answers,
            ..Branches::of_chains(frame, found)
        })
    }
}

/// Finds the branches of a sample of the set-valued law, given by its steps `events`. `None` if the outcome is a member
/// of a continuum. `modes` holds the complementarity problems of the steps, to search for other answers; `tolerance` is
/// the relative one for tied decisions.
///
/// Impulses may be exchanged between dependent contacts to pass a test, with one exception. If the impulses of the
/// sample are tied, other answers are possible, and another map begins at the tie, the branches have exactly the impulses of
/// the given steps.
fn of_sample(
    contacts: &Contacts<'_>,
    events: &[Event],
    modes: &Modes<'_>,
    tolerance: f64,
) -> Result<Option<Found>, ImpactError> {
    let ties = Ties::within(tolerance);
    let Some(found) = simultaneous(contacts, events, ties)? else {
        return Ok(None);
    };
    let shared = |way: &&Walk| way.stages.iter().any(|stage| stage.is_dependent);
    let Some(way) = found.walks.first().filter(shared) else {
        return Ok(Some(found));
    };
    let without_shifts = Ties {
        may_shift: false,
        ..ties
    };
    let Some(own) = simultaneous(contacts, events, without_shifts)? else {
        return Ok(Some(found));
    };
    let is_tied = own.walks.len() != 1 || own.walks.iter().any(Walk::is_tied);
    // A tie of impulses that contacts only share matters if another map begins there. Contacts that press each other
    // may hold more friction than those of the sample.
    let is_known = |own: &Walk| {
        let mut known = found.walks.iter();
        known.any(|way| are_same(contacts.frame, way, own))
    };
    let set = contacts.frame.problem.contacts();
    let has_effect = !own.walks.iter().all(is_known) || !set.margin()?.jammed().is_empty();
    let is_tied = is_tied && has_effect;
    let near = contacts.frame.scales().whole(tolerance);
    let is_unique = || {
        let other = modes.nearest_other(contacts.frame, way, 2.0 * near, tolerance);
        other.is_some_and(|other| other > 0.0)
    };
    Ok(Some(if is_tied && !is_unique() { own } else { found }))
}

fn nonholonomic<'p>(
    law: &dyn ImpactLaw,
    problem: &'p ImpactProblem<'p>,
    restitution: Restitution,
    tolerance: f64,
) -> Result<Branches<'p>, ImpactError> {
    let frame = Frame::new(problem)?;
    let strike = Strike::of(restitution, problem.contacts().n_distinct());
    let found = chain::follow(&frame, &Rule::Most, strike, Ties::within(tolerance))?;
    Branches::of_chains(frame, found).compared_with(law, tolerance)
}

macro_rules! nonholonomic {
    ($($Type:ident: $law:ident => $restitution:expr),* $(,)?) => {
        $(impl DifferentiableLaw for $Type {
            fn branches<'p>(
                &self,
                problem: &'p ImpactProblem<'p>,
                _outcome: &ImpactOutcome,
                _is_member: bool,
                tolerance: f64,
            ) -> Result<Branches<'p>, ImpactError> {
                let $law = self;
                nonholonomic(self, problem, $restitution, tolerance)
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

    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        _outcome: &ImpactOutcome,
        _is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError> {
        let frame = Frame::new(problem)?;
        let contacts = problem.contacts();
        let rebound = Rebound::Event(self.restitution());
        let found = Ties::within(tolerance).follow(&frame, (), |walk, (), tie, out| {
            let own: Vec<bool> = contacts.indices().map(|i| problem.approaches(i)).collect();
            let mut patterns = vec![own];
            if let Some(tie) = tie {
                let near = |i: &ContactIndex| {
                    let row = contacts.unit_row(contacts.row(*i));
                    let rate = kernel::dot(row, walk.velocity.as_slice());
                    rate.abs() <= tie * (1.0 + 1e-6)
                };
                for i in contacts.indices().filter(near).take(6) {
                    for pattern in patterns.clone() {
                        let mut flipped = pattern;
                        flipped[i.index()] = !flipped[i.index()];
                        patterns.push(flipped);
                    }
                }
            }
            for pattern in patterns {
                let tests = contacts.indices().zip(&pattern);
                let tests = tests.map(|(i, approaches)| Test::that(contacts.row(i), *approaches));
                let mut mode = Mode::default();
                for i in contacts.indices().filter(|i| pattern[i.index()]) {
                    for row in contacts.rows_at(i) {
                        mode.stop(row, rebound);
                    }
                }
                // If these tests fail, the law has no answer.
                let form = |i: ContactIndex| {
                    if pattern[i.index()] {
                        Form {
                            impulses: of_row(contacts.row(i)),
                            ..Form::default()
                        }
                    } else {
                        Form {
                            after: of_row(contacts.row(i)),
                            ..Form::default()
                        }
                    }
                };
                let stage = pattern.contains(&true).then(|| {
                    mode.hold(&frame);
                    let stage = Stage::from(&frame, mode, &walk.velocity);
                    (stage, contacts.indices().map(form).collect())
                });
                out.add(tests, stage, None);
            }
            Ok(())
        })?;
        Ok(Branches::of_chains(frame, found))
    }
}

macro_rules! sliding {
    ($($Type:ident),*) => {
        $(impl DifferentiableLaw for $Type {
            fn branches<'p>(
                &self,
                problem: &'p ImpactProblem<'p>,
                outcome: &ImpactOutcome,
                _is_member: bool,
                tolerance: f64,
            ) -> Result<Branches<'p>, ImpactError> {
                sliding::branches(problem, outcome, &self.options, tolerance)
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
    fn branches<'p>(
        &self,
        problem: &'p ImpactProblem<'p>,
        outcome: &ImpactOutcome,
        is_member: bool,
        tolerance: f64,
    ) -> Result<Branches<'p>, ImpactError> {
        of_variant(self).branches(problem, outcome, is_member, tolerance)
    }

    fn has_event_restitution(&self) -> bool {
        of_variant(self).has_event_restitution()
    }
}
