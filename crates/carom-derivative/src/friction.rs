//! Modes of contacts with friction in a stage, determined from impulses and velocities.
//!
//! The complementarity variables of friction are degenerate in every sticking mode although the velocity after the impact
//! is smooth. So they are not used.

use super::branch::{CONSTANT, Ties};
use super::form::Form;
use super::frame::Frame;
use super::mode::{Mode, Rebound};
use super::orientation::Orientation;
use super::reading::{Cones, Grip, NOTHING, Near, Reading, Side};
use super::stage::Stage;
use carom_contact::{ContactIndex, ImpactError, RowIndex};
use carom_lcp::friction_directions;
use nalgebra::{DMatrix, DVector};
use std::cell::OnceCell;
use std::sync::Arc;

/// Largest number of combinations of modes that are examined if several contacts are tied.
const MAX_COMBINATIONS: usize = 4096;

/// Factor by which the conditions of a mode may be missed, relative to the tolerance of a tied decision. The tests of the
/// mode then decide.
const GENEROUS: f64 = 4.0;

/// Relative distance from the friction at which a single contact begins to have several answers, below which rounding leaves in
/// doubt that it has only one.
const DOUBTFUL: f64 = 1e-9;

/// Returns the combination of contact modes with the number `code`: one mode for each contact. `lists` holds the possible
/// modes of each contact. The number is read as a mixed-radix number whose digits select an entry of each list.
pub(super) fn combination(lists: &[Vec<Grip>], mut code: usize) -> Vec<Grip> {
    let mut one = |grips: &Vec<Grip>| {
        let grip = grips[code % grips.len()];
        code /= grips.len();
        grip
    };
    lists.iter().map(&mut one).collect()
}

/// Velocities and impulses of a stage of contacts with friction.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) before: DVector<f64>,
    pub(super) after: DVector<f64>,
    pub(super) impulse: DVector<f64>,
    /// Caps of the normal impulses, in the coordinates of the frame; empty: no caps.
    pub(super) caps: Vec<f64>,
}

/// Contacts with friction that act simultaneously.
pub(super) struct Contacts<'f> {
    pub(super) frame: &'f Frame<'f>,
    /// Indices of the contacts that take part.
    members: Vec<ContactIndex>,
    tangents: Vec<Vec<RowIndex>>,
    directions: Vec<Vec<[f64; 2]>>,
    /// True if contacts have Newton's restitution.
    rebounds: bool,
    /// True if the contacts are closed even if their impulses are rounding.
    are_struck: bool,
    /// Orientation of the modes of each group of interacting contacts, computed on first use.
    pub(super) orientations: OnceCell<Vec<Option<Orientation>>>,
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
            tangents,
            directions,
            rebounds,
            are_struck: false,
            orientations: OnceCell::new(),
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
        let contacts = self.frame.problem.contacts();
        let mut members = self.members.iter().zip(&self.tangents);
        members.any(|(i, tangents)| !tangents.is_empty() && contacts.contact(*i).friction > 0.0)
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

    /// True if the set is one contact in the plane whose friction is so small that every velocity has exactly one answer:
    /// a normal impulse increases the normal velocity in both directions of sliding.
    pub(super) fn have_one_answer(&self) -> bool {
        let ([i], [tangents]) = (self.members.as_slice(), self.tangents.as_slice()) else {
            return false;
        };
        let [tangent] = tangents.as_slice() else {
            return false;
        };
        let contacts = self.frame.problem.contacts();
        let friction = contacts.contact(*i).friction * self.frame.friction_factor(*i);
        let admitted = |row: RowIndex| self.frame.admit(&self.frame.row(row).into_owned());
        let (normal, tangent) = (admitted(contacts.row(*i)), admitted(*tangent));
        let (square, product) = (normal.norm_squared(), normal.dot(&tangent).abs());
        friction * product < (1.0 - DOUBTFUL) * square
            && product * product < (1.0 - DOUBTFUL) * square * tangent.norm_squared()
    }

    /// True if a step of these contacts was found to have one answer to each velocity.
    pub(super) fn are_unique(&self) -> bool {
        let is_unique = |of: &Option<Orientation>| of.as_ref().is_some_and(|of| of.is_unique);
        self.orientations
            .get()
            .is_some_and(|all| all.iter().all(is_unique))
    }

    pub(super) fn readings(&self, event: &Event) -> Vec<Reading<'_>> {
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
            let at_rest = frame.scales().of_row(normal, NOTHING);
            let mut sides = [
                Side {
                    sign: 1.0,
                    rebound: Rebound::Fixed(0.0),
                },
                Side {
                    sign: -1.0,
                    rebound: Rebound::Contact(*i, given.restitution),
                },
            ];
            if before < -at_rest {
                sides.reverse();
            }
            let has_sides = self.rebounds && given.restitution > 0.0;
            let rebound = if self.rebounds {
                sides[0].rebound
            } else {
                Rebound::Fixed(0.0)
            };
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
                sides: has_sides.then_some(sides),
                keeps_side: has_friction.get(frame.scales().group(normal)) == Some(&true),
                is_between: has_sides && before.abs() <= at_rest,
                before,
                cap: event.caps.get(i.index()).copied(),
                directions: &self.directions[k],
                push: event.impulse[normal.index()],
                gap: frame.rate(normal, &event.after) + rebound.value() * before,
                drag,
                slip,
                frame,
            }
        };
        self.members.iter().enumerate().map(read).collect()
    }

    /// Returns the stages (impact steps with fixed contact modes) that explain the velocities and impulses of `event`,
    /// and for each stage the linear forms that must be positive for its modes. The first stage has the modes that fit
    /// best. If a decision `is_tied`, stages with other modes that nearly fit, by the rules `ties`, follow. `before` is the
    /// Jacobian of the velocity before the stage. The second result is true if the list is complete.
    #[allow(clippy::type_complexity)] // Read once, where it is called.
    pub(super) fn stages(
        &self,
        event: &Event,
        before: &DMatrix<f64>,
        ties: Ties,
        is_tied: bool,
    ) -> (Vec<(Arc<Stage>, Vec<Form>)>, bool) {
        let readings = self.readings(event);
        let own = |reading: &Reading<'_>| match reading.own() {
            Grip::Open if self.are_struck => Grip::Closed(reading.own_tangential()),
            grip => grip,
        };
        let mut own: Vec<Grip> = readings.iter().map(own).collect();
        let mut first = self.stage(event, &readings, &own, &[]);
        let mut idle = Vec::new();
        if !ties.may_shift {
            idle = self.without_effect(&readings, &own, &first.0, before, ties.tolerance);
            if idle.contains(&true) {
                first = self.stage(event, &readings, &own, &idle);
            }
        } else if self.close_idle(&readings, &first.0, before, &mut own) {
            first = self.stage(event, &readings, &own, &[]);
        }
        let mut out = vec![first];
        let mut is_complete = true;
        if !is_tied {
            return (out, is_complete);
        }
        let near = self.near(&readings, &out[0].0, before, ties.tolerance);
        let mut fitting = Vec::with_capacity(readings.len());
        let mut count = 1usize;
        for (k, (reading, near)) in readings.iter().zip(&near).enumerate() {
            let first = own[k];
            if idle.get(k) == Some(&true) {
                fitting.push(vec![first]);
                continue;
            }
            let (mut grips, all) = reading.fitting(near);
            is_complete &=
                all || !ties.may_shift && self.cannot_slide(k, event, &readings, &own, before);
            grips.retain(|grip| *grip != first);
            grips.insert(0, first);
            count = count.saturating_mul(grips.len());
            fitting.push(grips);
        }
        if count > MAX_COMBINATIONS {
            is_complete = false;
            count = MAX_COMBINATIONS;
        }
        for code in 1..count {
            let grips = combination(&fitting, code);
            out.push(self.stage(event, &readings, &grips, &idle));
        }
        (out, is_complete)
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
            if *grip != Grip::Open
                || !(reading.is_nothing(reading.gap.abs())
                    && reading.is_nothing(reading.push.abs()))
            {
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
            if slope.norm() <= CONSTANT.max(stage.rounding()) {
                *grip = Grip::Closed(reading.own_tangential());
                is_any = true;
            }
        }
        is_any
    }

    /// Returns for each contact the thresholds up to which its impulses and velocities count as zero when modes are
    /// compared. The thresholds include all modes that a relative change of the velocity before the impact by
    /// `tolerance` can reach. `readings` holds the impulses and velocities of the contacts; `before` is the Jacobian of
    /// the velocity before the `stage` (part of an impact with fixed contact modes).
    pub(super) fn near(
        &self,
        readings: &[Reading<'_>],
        stage: &Stage,
        before: &DMatrix<f64>,
        tolerance: f64,
    ) -> Vec<Near> {
        let frame = self.frame;
        let mut after = before.clone();
        let mut impulses = DMatrix::zeros(frame.n_rows(), frame.dim());
        stage.advance(&mut after, &mut impulses);
        let rate = |row: RowIndex, of: &DMatrix<f64>| of.tr_mul(&frame.row(row)).norm();
        let of = |reading: &Reading<'_>| {
            let zero = |tolerance| frame.scales().of_row(reading.normal, tolerance);
            let tied = GENEROUS * zero(tolerance);
            let near = |slope: f64| tied * slope + zero(NOTHING);
            let tangents = reading.tangents.iter();
            let push = impulses.row(reading.normal.index()).norm();
            let drag: f64 = tangents
                .clone()
                .map(|row| impulses.row(row.index()).norm())
                .sum();
            let slip: f64 = tangents.map(|row| rate(*row, &after)).sum();
            let gap = rate(reading.normal, &after)
                + reading.rebound.value() * rate(reading.normal, before);
            Near {
                push: near(push),
                gap: near(gap),
                before: near(rate(reading.normal, before)),
                drag: near(drag + reading.friction * push),
                slip: near(slip),
            }
        };
        readings.iter().map(of).collect()
    }

    /// Returns the unknowns and equations of all contacts in the modes `grips`, and the linear forms that must not be negative.
    /// Contacts for which `without_effect` is true have no such forms.
    pub(super) fn mode<'r>(
        &self,
        readings: impl IntoIterator<Item = &'r Reading<'r>>,
        grips: &[Grip],
        without_effect: &[bool],
    ) -> (Mode, Vec<Form>) {
        let mut mode = Mode::default();
        let mut forms = Vec::new();
        for (k, (reading, grip)) in readings.into_iter().zip(grips).enumerate() {
            reading.add_unknowns(*grip, &mut mode);
            if without_effect.get(k) != Some(&true) {
                reading.add_forms(*grip, &mut forms);
            }
            forms.extend(reading.form_of_side(*grip));
        }
        mode.hold(self.frame);
        (mode, forms)
    }

    pub(super) fn stage(
        &self,
        event: &Event,
        readings: &[Reading<'_>],
        grips: &[Grip],
        without_effect: &[bool],
    ) -> (Arc<Stage>, Vec<Form>) {
        let (mode, forms) = self.mode(readings, grips, without_effect);
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
