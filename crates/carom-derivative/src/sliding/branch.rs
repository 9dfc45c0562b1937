//! Branch of the impact of one contact: the decisions in the course of the impact, and those that are tied.

use super::Sliding;
use crate::branch::{Tied, Walk};
use crate::decision::Decision as Decided;
use crate::frame::Frame;
use crate::sides::STEP;
use crate::tolerances::VANISHING;
use crate::{Answers, Branch, Map, Query, TieKind};
use carom_contact::{Contact, ImpactError, ImpactStatus, RowIndex};
use carom_impact::internal::contact_space;
use carom_two_body::{
    ContactInertia, Event, FinalMode, ImpactOptions, PARAMETERS, RestitutionLaw, VariedImpact,
    vary_impact,
};
use nalgebra::{DVector, Matrix3, Vector2, Vector3};

/// Value and slope of a decision as a function of the contact velocity.
struct Decision {
    value: f64,
    slope: Vector3<f64>,
    kind: TieKind,
}

fn decisions(
    varied: &VariedImpact,
    w: &Matrix3<f64>,
    velocity: &Vector3<f64>,
    law: RestitutionLaw,
) -> Vec<Decision> {
    let impact = &varied.impact;
    let mut out = vec![Decision {
        value: -velocity.z,
        slope: Vector3::new(0.0, 0.0, -1.0),
        kind: TieKind::Touching,
    }];
    let of = |derivatives: &[f64; PARAMETERS]| {
        Vector3::new(derivatives[6], derivatives[7], derivatives[8])
    };
    let impulse: Matrix3<f64> = varied.impulse.fixed_columns::<3>(6).into_owned();
    let last = impulse.row(2).transpose();
    let rest = impact.events.first(Event::SlipZero);
    if let (Some(rest), Some(at_rest)) = (rest, &varied.at_rest)
        && law == RestitutionLaw::Poisson
        && rest.impulse[2] > 0.0
    {
        let value = impact.compression_impulse - rest.impulse[2];
        let slope = of(&varied.at_compression) - of(at_rest);
        out.push(Decision {
            value: value.abs(),
            slope: if value < 0.0 { -slope } else { slope },
            kind: TieKind::Sticking,
        });
    }
    if impact.mode == FinalMode::Stick {
        if let (Some(rest), Some(at_rest)) = (rest, &varied.at_rest) {
            out.push(Decision {
                value: impact.impulse.z - rest.impulse[2],
                slope: last - of(at_rest),
                kind: TieKind::Sticking,
            });
        }
    } else {
        let slip = impact.velocity_plus.xy();
        // Sliding that stops exactly at the end of the impact has no direction.
        let [x, y] = varied.last_direction;
        let s = if x == 0.0 && y == 0.0 {
            slip.try_normalize(0.0)
        } else {
            Some(Vector2::new(x, y))
        };
        if let Some(s) = s {
            let slopes = Matrix3::identity() + w * impulse;
            out.push(Decision {
                value: slip.dot(&s),
                slope: slopes.tr_mul(&s.push(0.0)),
                kind: TieKind::Sticking,
            });
        }
    }
    out
}

/// Impact of one contact whose branches are sought.
struct OneContact<'p, 'o> {
    frame: Frame<'p>,
    contact: &'p Contact,
    options: &'o ImpactOptions,
    inertia: ContactInertia,
    /// Inverse inertia matrix at the contact, zero along missing tangents.
    w: Matrix3<f64>,
    /// Velocity of the contact before the impact (m/s): two tangents, then the normal.
    velocity: Vector3<f64>,
    /// Rows of the Jacobian along these axes; `None` for a missing tangent.
    axes: [Option<RowIndex>; 3],
    /// Whitened velocity after the impact.
    after: DVector<f64>,
    /// Relative tolerance of ties.
    tolerance: f64,
}

/// Decisions in the course of an impact near which the law decides otherwise.
struct Ties {
    /// Slopes of the tied decisions, each pointing to the side of the outcome, and the distances and kinds of the decisions.
    tied: Vec<(Vector3<f64>, f64, TieKind)>,
    /// Smallest change of the velocity (kinetic norm) that changes a decision that is not tied.
    margin: f64,
    /// True if the normal velocity touches zero at a turning point, where a new compression begins.
    is_touched: bool,
}

/// Motion of a contact at the start of its impact.
struct Start {
    /// True if the contact does not slide, up to the tolerance of ties.
    is_at_rest: bool,
    /// True if the contact is at rest and begins to slide.
    begins_to_slide: bool,
    /// True if the contact is at rest and sticks from the start. It might slide to the end in any direction.
    holds: bool,
}

/// Finds the branch of the contact to its outcome, and the decisions near which the law decides otherwise.
pub(crate) fn branch<'p>(
    query: Query<'_, 'p>,
    options: &ImpactOptions,
) -> Result<Branch<'p>, ImpactError> {
    let contact = OneContact::new(query, options)?;
    let status = query.outcome.status;
    if status == ImpactStatus::Jammed {
        return Err(ImpactError::NotDifferentiated {
            reason: "the contact is jammed: friction lets it neither slide nor stick; with less \
                     friction it has a derivative",
        });
    }
    let varied = match status {
        ImpactStatus::Resolved => contact.vary(&contact.velocity)?,
        _ => None,
    };
    contact.branch(varied.as_ref())
}

impl<'p, 'o> OneContact<'p, 'o> {
    fn new(query: Query<'_, 'p>, options: &'o ImpactOptions) -> Result<Self, ImpactError> {
        let frame = Frame::new(query.problem)?;
        let (inertia, velocity) = contact_space(query.problem)?;
        let contact = &query.problem.contacts().contacts()[0];
        let tangents = contact.tangents.len();
        let mut w = inertia.matrix();
        if tangents < 2 {
            w[(1, 1)] = 0.0;
        }
        if tangents < 1 {
            w[(0, 0)] = 0.0;
        }
        Ok(Self {
            after: frame.of_outcome(query.outcome).0,
            axes: [
                (tangents > 0).then_some(RowIndex::new(1)),
                (tangents > 1).then_some(RowIndex::new(2)),
                Some(RowIndex::new(0)),
            ],
            frame,
            contact,
            options,
            inertia,
            w,
            velocity,
            tolerance: query.tolerance,
        })
    }

    fn is_planar(&self) -> bool {
        self.contact.tangents.len() < 2
    }

    fn has_friction(&self) -> bool {
        self.contact.friction > 0.0 && !self.contact.tangents.is_empty()
    }

    /// Computes the impact of the contact and its derivatives for another velocity before it (m/s). `None` if the contact does
    /// not approach.
    fn vary(&self, velocity: &Vector3<f64>) -> Result<Option<VariedImpact>, ImpactError> {
        let (friction, restitution) = (self.contact.friction, self.contact.restitution);
        let is_planar = self.is_planar();
        Ok(vary_impact(
            &self.inertia,
            velocity,
            friction,
            restitution,
            self.options,
            is_planar,
        )?)
    }

    fn sliding(&self, varied: &VariedImpact) -> Sliding {
        Sliding {
            axes: self.axes,
            impulse: varied.impact.impulse,
            by: varied.impulse,
            after: self.after.clone(),
        }
    }

    /// Returns the fraction `part` of the motion before the impact that the contact sees (kinetic norm), in the caller's units.
    fn seen(&self, part: f64) -> f64 {
        let scales = self.frame.scales();
        scales.of_row(RowIndex::new(0), part) / self.frame.problem.scale()
    }

    /// True if a contact velocity of magnitude `size` (m/s) counts as zero. `inertia` is the inverse inertia along its direction.
    fn is_slow(&self, size: f64, inertia: f64) -> bool {
        size <= self.seen(self.tolerance) * inertia.max(0.0).sqrt()
    }

    /// Returns the change of the velocity (kinetic norm) at which a decision changes. `None` if no velocity changes it.
    fn distance(&self, decision: &Decision) -> Option<f64> {
        let size = decision.slope.dot(&(self.w * decision.slope));
        let size = size.max(0.0).sqrt();
        let is_one = size > VANISHING * self.w.amax().sqrt() * decision.slope.amax();
        is_one.then(|| decision.value / size)
    }

    /// Determines how the contact moves at the start. `varied` is its impact, `None` if the contact does not approach.
    fn start(&self, varied: Option<&VariedImpact>) -> Start {
        let slip = self.velocity.xy().norm();
        let mobility = self.w[(0, 0)].max(self.w[(1, 1)]);
        let is_at_rest = self.has_friction() && self.is_slow(slip, mobility);
        let is_struck = varied.is_some() && is_at_rest;
        let begins_to_slide = is_struck && self.inertia.stick_demand() > self.contact.friction;
        Start {
            is_at_rest,
            begins_to_slide,
            holds: is_struck && !begins_to_slide,
        }
    }

    /// Lists the decisions in the course of the impact.
    fn decisions(
        &self,
        varied: Option<&VariedImpact>,
        start: &Start,
    ) -> Result<Vec<Decision>, ImpactError> {
        let law = self.options.restitution_law;
        let Some(varied) = varied else {
            return Ok(vec![Decision {
                value: self.velocity.z.max(0.0),
                slope: Vector3::z(),
                kind: TieKind::Touching,
            }]);
        };
        let mut found = decisions(varied, &self.w, &self.velocity, law);
        if start.holds {
            found.truncate(1);
            let slip = STEP * self.seen(1.0) * self.w[(0, 0)].max(0.0).sqrt();
            for slip in [slip, -slip].into_iter().filter(|_| self.is_planar()) {
                let aside = Vector3::new(slip, 0.0, self.velocity.z);
                if let Some(varied) = self.vary(&aside)? {
                    let all = decisions(&varied, &self.w, &aside, law);
                    found.extend(all.into_iter().skip(1));
                }
            }
        }
        Ok(found)
    }

    /// Separates the decisions that are tied from the others.
    fn ties(&self, varied: Option<&VariedImpact>, start: &Start) -> Result<Ties, ImpactError> {
        let tied_speed = self.seen(self.tolerance);
        let mut margin = f64::INFINITY;
        let mut tied = Vec::new();
        for decision in self.decisions(varied, start)? {
            let Some(distance) = self.distance(&decision) else {
                continue;
            };
            if distance <= tied_speed {
                tied.push((decision.slope, distance, decision.kind));
            } else {
                margin = margin.min(distance);
            }
        }
        let mut is_touched = false;
        for (value, by) in varied.iter().flat_map(|varied| &varied.turns) {
            let turn = Decision {
                value: *value,
                slope: Vector3::new(by[6], by[7], by[8]),
                kind: TieKind::Closing,
            };
            let distance = self.distance(&turn);
            if let Some(distance) = distance.filter(|distance| distance.abs() <= tied_speed) {
                is_touched = true;
                let sign = if turn.value < 0.0 { -1.0 } else { 1.0 };
                tied.push((turn.slope * sign, distance.abs(), turn.kind));
            }
        }
        Ok(Ties {
            tied,
            margin: margin * self.frame.problem.scale(),
            is_touched,
        })
    }

    fn branch(self, varied: Option<&VariedImpact>) -> Result<Branch<'p>, ImpactError> {
        let start = self.start(varied);
        let mut ties = self.ties(varied, &start)?;
        let demand = self.inertia.stick_demand();
        let friction = self.contact.friction;
        let at_limit = varied.is_some_and(|varied| {
            varied.at_rest.is_some()
                && self.has_friction()
                && (demand - friction).abs() <= self.tolerance * friction
        });
        let is_repelled = varied.is_some_and(|varied| varied.is_repelled);
        let is_kink = start.begins_to_slide || at_limit || is_repelled || ties.is_touched;
        if start.begins_to_slide {
            ties.tied.push((Vector3::x(), 0.0, TieKind::Sticking));
        }
        if is_kink && ties.tied.is_empty() {
            ties.tied.push((Vector3::z(), 0.0, TieKind::Direction));
        }
        // A contact without velocity has a separate limit in every direction.
        let is_still = start.is_at_rest && self.is_slow(self.velocity.z.abs(), self.w[(2, 2)]);
        let mut is_complete = !(is_repelled || at_limit || ties.is_touched || is_still);
        is_complete &= !start.begins_to_slide || self.is_planar();
        let mut walk = Walk::new(&self.frame);
        walk.velocity.clone_from(&self.after);
        walk.margin = ties.margin;
        if let Some(varied) = varied {
            let sliding = self.sliding(varied);
            [walk.jacobian, walk.impulses] = sliding.jacobians(&self.frame);
            walk.map = Map::Sliding(Box::new(sliding));
        }
        let scale = self.frame.problem.scale();
        for (slope, distance, kind) in ties.tied {
            let axis = match kind {
                TieKind::Sticking | TieKind::Direction => self.axes[0],
                _ => None,
            };
            let row = axis.unwrap_or(RowIndex::new(0));
            let decision = Decided::new(row, kind);
            let covector = self.covector(&slope).try_normalize(0.0);
            walk.tied.extend(covector.map(|row| Tied {
                row,
                distance: distance * scale,
                decision,
            }));
        }
        walk.is_curved = varied.is_some();
        // At a tie derivatives are limits from one side.
        walk.is_pinched = walk.is_tied();
        let answers = if start.holds && !self.is_planar() {
            Answers::OneSomewhere
        } else {
            Answers::One
        };
        Ok(Branch {
            is_complete,
            is_kink,
            answers,
            ..Branch::new(self.frame, walk)
        })
    }

    /// Returns the whitened covector of a form of the contact velocity.
    fn covector(&self, form: &Vector3<f64>) -> DVector<f64> {
        let frame = &self.frame;
        let mut out = DVector::zeros(frame.dim());
        for (row, c) in self.axes.iter().zip(form.iter()) {
            if let Some(row) = *row {
                out.axpy(*c, &frame.admit(&frame.given_row(row)), 1.0);
            }
        }
        out
    }
}
