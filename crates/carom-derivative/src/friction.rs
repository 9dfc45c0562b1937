//! Contacts with friction in a stage, in the modes that the law tells or that fit impulses and velocities.
//!
//! The complementarity variables of friction are degenerate in every sticking mode although the velocity after the impact
//! is smooth. So they are not used.

use super::branch::Walk;
use super::form::Form;
use super::frame::Frame;
use super::mode::{Mode, Rebound};
use super::orientation::have_one_answer;
use super::reading::{Cones, Grip, Reading};
use super::stage::Stage;
use crate::tolerances::GRAZING;
use crate::tolerances::NEGLIGIBLE;
use carom_contact::{ContactIndex, ImpactError, RowIndex};
use carom_lcp::contact_problem::ContactMode;
use carom_lcp::friction_directions;
use carom_numeric::decisions::Sum;
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Velocities and impulses of a stage of contacts with friction.
#[derive(Clone, Debug)]
pub(super) struct Event<'m> {
    pub(super) before: DVector<f64>,
    pub(super) after: DVector<f64>,
    pub(super) impulse: DVector<f64>,
    /// Caps of the normal impulses, in the coordinates of the frame; empty: no caps.
    pub(super) caps: Vec<f64>,
    /// Modes that the law tells, one per contact of the problem; empty for steps and single impacts, of which laws tell none.
    pub(super) modes: &'m [ContactMode],
}

/// Contacts with friction that act simultaneously.
pub(super) struct Contacts<'f> {
    pub(super) frame: &'f Frame<'f>,
    /// Indices of the contacts that take part.
    members: Vec<ContactIndex>,
    cones: Cones,
    tangents: Vec<Vec<RowIndex>>,
    directions: Vec<Vec<[f64; 2]>>,
    /// True if contacts have Newton's restitution.
    rebounds: bool,
    /// True if the contacts are closed even if their impulses are rounding.
    are_struck: bool,
}

impl<'f> Contacts<'f> {
    /// Creates the set of all contacts of a problem. `cones` is the shape of the friction cones, and `rebounds` is
    /// true if contacts have Newton's restitution.
    pub(super) fn all(
        frame: &'f Frame<'f>,
        cones: Cones,
        rebounds: bool,
    ) -> Result<Self, ImpactError> {
        let members = frame.problem.contacts().indices().collect();
        Self::new(frame, members, cones, rebounds)
    }

    pub(super) fn new(
        frame: &'f Frame<'f>,
        members: Vec<ContactIndex>,
        cones: Cones,
        rebounds: bool,
    ) -> Result<Self, ImpactError> {
        let set = frame.problem.contacts();
        let mut tangents = Vec::with_capacity(members.len());
        let mut directions = Vec::with_capacity(members.len());
        for i in &members {
            let is_given = |row: &RowIndex| frame.row(*row).iter().any(|x| *x != 0.0);
            let rows: Vec<RowIndex> = set.tangents_at(*i).filter(is_given).collect();
            let given = match cones {
                Cones::Frictionless => 0,
                _ => set.contact(*i).tangents.len(),
            };
            let rows = if given == 0 { Vec::new() } else { rows };
            let polygon = match (cones, given) {
                (_, 0) | (Cones::Frictionless, _) | (Cones::Round, 2..) => Vec::new(),
                (_, 1) => friction_directions(1, 2)?,
                (Cones::Polygon(k), _) => friction_directions(2, k)?,
            };
            if given == 2 && rows.len() == 1 {
                return Err(ImpactError::NotDifferentiated {
                    reason: "a contact with one tangent that is zero; leave it out",
                });
            }
            let pair = |d: Vec<f64>| [d[0], d.get(1).copied().unwrap_or(0.0)];
            directions.push(polygon.into_iter().map(pair).collect());
            tangents.push(rows);
        }
        Ok(Self {
            frame,
            members,
            cones,
            tangents,
            directions,
            rebounds,
            are_struck: false,
        })
    }

    /// Creates the set of one contact without restitution that is struck because it approaches: it is closed, however small
    /// its impulse is.
    pub(super) fn struck(
        frame: &'f Frame<'f>,
        contact: ContactIndex,
        cones: Cones,
    ) -> Result<Self, ImpactError> {
        let alone = Self::new(frame, vec![contact], cones, false)?;
        Ok(Self {
            are_struck: true,
            ..alone
        })
    }

    /// True if any contact of the set has a positive friction coefficient and tangents.
    pub(super) fn have_friction(&self) -> bool {
        self.groups_with_friction().contains(&true)
    }

    /// Returns for each group of interacting contacts whether a contact of this set in the group has friction.
    fn groups_with_friction(&self) -> Vec<bool> {
        let (scales, set) = (self.frame.scales(), self.frame.problem.contacts());
        let mut out = vec![false; scales.count()];
        for (i, tangents) in self.members.iter().zip(&self.tangents) {
            let has_friction = !tangents.is_empty() && set.contact(*i).friction > 0.0;
            if let Some(out) = out.get_mut(scales.group(set.row(*i))) {
                *out |= has_friction;
            }
        }
        out
    }

    pub(super) fn readings(&self, event: &Event<'_>) -> Vec<Reading<'_>> {
        let frame = self.frame;
        let set = frame.problem.contacts();
        let has_friction = self.groups_with_friction();
        let read = |(k, i): (usize, &ContactIndex)| {
            let normal = set.row(*i);
            let given = set.contact(*i);
            let tangents = &self.tangents[k];
            // Restitution acts at a contact that approached. A contact at rest is at a kink, and rounding must not choose
            // the side.
            let before = frame.rate(normal, &event.before);
            let after = frame.rate(normal, &event.after);
            let at_rest = frame.scales().of_row(normal, GRAZING);
            let newton = Rebound::Contact(*i, given.restitution);
            let has_sides = self.rebounds && given.restitution > 0.0;
            let (rebound, beyond) = match (self.rebounds, before < -at_rest) {
                (false, _) => (Rebound::Fixed(0.0), Rebound::Fixed(0.0)),
                (true, true) => (newton, Rebound::Fixed(0.0)),
                (true, false) => (Rebound::Fixed(0.0), newton),
            };
            let sign = if before < -at_rest { -1.0 } else { 1.0 };
            let mut drag = [0.0; 2];
            let mut slip = [0.0; 2];
            for (t, row) in tangents.iter().enumerate().take(2) {
                drag[t] = event.impulse[row.index()];
                slip[t] = frame.rate(*row, &event.after);
            }
            let friction_factor = frame.friction_factor(*i);
            Reading {
                contact: *i,
                normal,
                tangents,
                friction: given.friction * friction_factor,
                friction_factor,
                rebound,
                side: has_sides.then_some(sign),
                beyond,
                keeps_side: has_friction.get(frame.scales().group(normal)) == Some(&true),
                is_unchanged: (after - before).abs() <= at_rest,
                cap: event.caps.get(i.index()).copied(),
                told: event.modes.get(i.index()).copied(),
                directions: &self.directions[k],
                push: event.impulse[normal.index()],
                gap: after + rebound.value() * before,
                drag,
                slip,
                frame,
            }
        };
        self.members.iter().enumerate().map(read).collect()
    }

    /// Returns the branch of a sequence of impact steps `events`, in each of which these contacts act simultaneously in the modes
    /// that fit their impulses and velocities best. `tolerance` is the relative tolerance of ties. `None` if the steps lead to a
    /// member of a continuum of outcomes.
    ///
    /// Dependent contacts may exchange impulses to make a decision if the velocity is unique. Otherwise the impulses of the law
    /// itself decide.
    pub(super) fn follow(&self, events: &[Event<'_>], tolerance: f64) -> Option<Walk> {
        let mut walk = Walk::new(self.frame);
        let mut is_unique = None;
        for event in events {
            let readings = self.readings(event);
            let mut grips: Vec<Grip> = readings.iter().map(|r| self.own(r)).collect();
            let (mut stage, mut forms) = self.stage(event, &readings, &grips);
            if self.close_idle(&readings, &stage, &walk.jacobian, &mut grips) {
                (stage, forms) = self.stage(event, &readings, &grips);
            }
            if stage.is_loose() {
                return None;
            }
            let mut one_answer = || {
                let has_caps = !event.caps.is_empty();
                have_one_answer(self.frame, &self.members, self.cones, has_caps)
            };
            let shares = stage.is_dependent && *is_unique.get_or_insert_with(&mut one_answer);
            walk.advance(self.frame, stage, &forms, shares, tolerance);
        }
        Some(walk)
    }

    /// Returns the stage of a single impact of these contacts, and the linear forms of the decisions for its modes.
    pub(super) fn step(&self, event: &Event<'_>) -> (Arc<Stage>, Vec<Form>) {
        let readings = self.readings(event);
        let grips: Vec<Grip> = readings.iter().map(|r| self.own(r)).collect();
        self.stage(event, &readings, &grips)
    }

    fn own(&self, reading: &Reading<'_>) -> Grip {
        match reading.own() {
            Grip::Open if self.are_struck => Grip::Closed(reading.own_tangential()),
            grip => grip,
        }
    }

    /// Changes the mode of idle contacts in `grips` from open to closed. A contact is idle if it has no impulse but
    /// cannot open, because other contacts keep it at rest. Impulses of these other contacts could be shifted onto the
    /// idle contact. `before` is the Jacobian of the velocity before the `stage` (part of an impact with fixed contact
    /// modes). `readings` holds the impulses and velocities of the contacts. Returns true if a mode was changed.
    fn close_idle(
        &self,
        readings: &[Reading<'_>],
        stage: &Stage,
        before: &DMatrix<f64>,
        grips: &mut [Grip],
    ) -> bool {
        let mut after: Option<DMatrix<f64>> = None;
        let mut is_any = false;
        for (reading, grip) in readings.iter().zip(grips) {
            if *grip != Grip::Open || !reading.is_nothing(reading.push.abs()) {
                continue;
            }
            // Beside large impulses only their rounding is left of the velocity.
            let made: f64 = stage.impulse().iter().map(|l| l.abs()).sum();
            let gap = reading.gap.abs();
            if !(reading.is_nothing(gap) || gap <= Sum::ROUNDING * made) {
                continue;
            }
            let after = after.get_or_insert_with(|| {
                let mut after = before.clone();
                let mut impulses = DMatrix::zeros(self.frame.n_rows(), self.frame.dim());
                stage.advance(&mut after, &mut impulses);
                after
            });
            let normal = self.frame.row(reading.normal);
            let mut slope = after.tr_mul(&normal);
            slope.gemv_tr(reading.rebound.value(), before, &normal, 1.0);
            if slope.norm() <= NEGLIGIBLE.max(stage.rounding()) {
                *grip = Grip::Closed(reading.own_tangential());
                is_any = true;
            }
        }
        is_any
    }

    /// Returns the stage of all contacts in the modes `grips`, and the linear forms that must not be negative.
    fn stage(
        &self,
        event: &Event<'_>,
        readings: &[Reading<'_>],
        grips: &[Grip],
    ) -> (Arc<Stage>, Vec<Form>) {
        let mut mode = Mode::default();
        let mut forms = Vec::new();
        for (reading, grip) in readings.iter().zip(grips) {
            reading.add_unknowns(*grip, &mut mode);
            reading.add_forms(*grip, &mut forms);
        }
        mode.hold(self.frame);
        let stage = Stage::new(
            self.frame,
            mode,
            event.before.as_slice(),
            event.after.as_slice(),
            event.impulse.as_slice(),
        );
        (Arc::new(stage), forms)
    }
}
