//! Flow of a mechanical system with contacts.
//!
//! The states are coordinates and rates, $x = (q, v)$. With the contacts that last, $M\dot v = h + C^T\lambda$ and
//! $Rv = 0$: rows $R$ of gaps and, where a contact sticks, of slides; $C$ has the rows along which the contacts push, for a sliding
//! contact $n - \sigma\mu t$. The derivatives of $\dot v$ are those of these equations.

use crate::equations::{Equations, Rows};
use crate::flow::{EventKind, Flow, GuardKind, Happening, Jump, Mode, Transition};
use crate::state::{State, lasts};
use crate::{AnalyseError, Settings};
use carom_contact::{Contact, ContactSet, ImpactLaw, ImpactProblem};
use carom_mechanism::MechanicalSystem;
use carom_metric::{Covector, KineticMetric, Tangent};
use nalgebra::{DMatrix, DVector};
use std::fmt;
use std::sync::Arc;

/// Function of the coordinates with its gradient: a contact can close only while it is positive.
pub type Armed = Arc<dyn Fn(&[f64], &mut [f64]) -> f64 + Send + Sync>;

/// Flow of a mechanical system with point contacts and an impact law.
///
/// Contacts with restitution rebound; plastic ones last, stick and slide as Coulomb's law says. The outcome of every impact is
/// that of the law. It must be explained by restitution at contacts that stick, slide or are without friction: other outcomes are
/// refused, for their derivatives are not known here.
pub struct ContactFlow<'s> {
    equations: Equations<'s>,
    law: &'s dyn ImpactLaw,
    armed: Vec<Option<Armed>>,
    settings: Settings,
}

impl fmt::Debug for ContactFlow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContactFlow")
            .field("law", &self.law.name())
            .finish_non_exhaustive()
    }
}

impl<'s> ContactFlow<'s> {
    /// Makes the flow of a system. `armed` has an entry for each contact that can close only at times, else `None`; an empty list
    /// means that all can.
    ///
    /// # Errors
    ///
    /// [`AnalyseError::NoFlow`] for velocity constraints, and gaps without second derivatives.
    pub fn new(
        system: &'s dyn MechanicalSystem,
        law: &'s dyn ImpactLaw,
        armed: Vec<Option<Armed>>,
        settings: &Settings,
    ) -> Result<Self, AnalyseError> {
        let mut armed = armed;
        armed.resize(system.contacts().len(), None);
        Ok(Self {
            equations: Equations::new(system)?,
            law,
            armed,
            settings: *settings,
        })
    }

    fn system(&self) -> &'s dyn MechanicalSystem {
        self.equations.system
    }

    fn split<'x>(&self, x: &'x [f64]) -> (&'x [f64], &'x [f64]) {
        x.split_at(self.equations.n)
    }

    /// Returns the friction of a contact that has a slide coordinate, else 0.
    fn friction(&self, contact: usize) -> f64 {
        let data = self.system().contacts().get(contact);
        data.map_or(0.0, |c| if c.has_slide { c.friction } else { 0.0 })
    }

    /// Returns the rows of the contacts that last in a mode, with the directions of their forces.
    fn rows(&self, mode: &Mode) -> Rows {
        let mut rows = Rows::default();
        for (contact, state) in mode.iter().enumerate().filter(|(_, state)| lasts(**state)) {
            let slope = match State::of(*state) {
                State::SlidesUp => -self.friction(contact),
                State::SlidesDown => self.friction(contact),
                _ => 0.0,
            };
            rows.normal(contact, slope);
            if State::of(*state) == State::Sticks {
                rows.tangent(contact);
            }
        }
        rows
    }

    /// Returns the guards of a mode: contact, kind, and the side of a cone.
    fn list(&self, mode: &Mode) -> Vec<(usize, GuardKind, f64)> {
        let mut out = Vec::new();
        for (contact, state) in mode.iter().enumerate() {
            match State::of(*state) {
                State::Unarmed => out.push((contact, GuardKind::Arming, -1.0)),
                State::Open => {
                    out.push((contact, GuardKind::Gap, 1.0));
                    if self.armed.get(contact).is_some_and(Option::is_some) {
                        out.push((contact, GuardKind::Arming, 1.0));
                    }
                }
                state => {
                    out.push((contact, GuardKind::Force, 1.0));
                    match state {
                        State::Sticks => {
                            out.push((contact, GuardKind::Cone, 1.0));
                            out.push((contact, GuardKind::Cone, -1.0));
                        }
                        State::SlidesUp => out.push((contact, GuardKind::Sliding, 1.0)),
                        State::SlidesDown => out.push((contact, GuardKind::Sliding, -1.0)),
                        _ => (),
                    }
                }
            }
        }
        out
    }

    fn entry(&self, mode: &Mode, guard: usize) -> (usize, GuardKind, f64) {
        self.list(mode)
            .get(guard)
            .copied()
            .unwrap_or((0, GuardKind::Arming, 1.0))
    }

    /// True if a contact may close in a configuration.
    fn is_armed(&self, contact: usize, q: &[f64]) -> bool {
        let mut gradient = vec![0.0; q.len()];
        self.armed
            .get(contact)
            .and_then(Option::as_ref)
            .is_none_or(|armed| armed(q, &mut gradient) > 0.0)
    }

    fn open(&self, contact: usize, q: &[f64]) -> u8 {
        if self.is_armed(contact, q) {
            State::Open as u8
        } else {
            State::Unarmed as u8
        }
    }

    /// Returns kinetic norm of a velocity and of the gradient of a contact's gap.
    fn scale(&self, contact: usize, q: &[f64], v: &[f64]) -> (f64, f64) {
        let mass = self.equations.mass(q);
        let velocity = DVector::from_column_slice(v);
        let size = velocity.dot(&(&mass * &velocity)).max(0.0).sqrt();
        let row = self.equations.gap_row(contact, q);
        let solved = mass.cholesky().map(|c| c.solve(&row));
        (size, solved.map_or(f64::NAN, |s| row.dot(&s)).sqrt())
    }

    /// Finds the contacts that last among `candidates`, which touch without approaching or separating, in a state. The mode's other
    /// contacts stay open.
    fn lasting(
        &self,
        open: &Mode,
        candidates: &[usize],
        time: f64,
        x: &[f64],
    ) -> Result<Mode, AnalyseError> {
        let (q, v) = self.split(x);
        if candidates.len() > self.settings.lasting {
            let reason = format!(
                "{} contacts close at once, more than {}",
                candidates.len(),
                self.settings.lasting
            );
            return Err(AnalyseError::stopped(time, reason));
        }
        let mut sets: Vec<usize> = (0..1_usize << candidates.len()).collect();
        sets.sort_by_key(|set| (std::cmp::Reverse(set.count_ones()), *set));
        for set in sets {
            let mut mode = open.clone();
            for (place, &contact) in candidates.iter().enumerate() {
                let slip = self
                    .equations
                    .slide_row(contact, q)
                    .dot(&DVector::from_column_slice(v));
                let (size, norm) = self.scale(contact, q, v);
                mode[contact] = if set >> place & 1 == 0 {
                    self.open(contact, q)
                } else if self.friction(contact) == 0.0 {
                    State::Closed as u8
                } else if slip.abs() <= self.settings.still * size * norm {
                    State::Sticks as u8
                } else if slip > 0.0 {
                    State::SlidesUp as u8
                } else {
                    State::SlidesDown as u8
                };
            }
            if let Some(mode) = self.pressed(mode, candidates, time, x)? {
                return Ok(mode);
            }
        }
        Err(AnalyseError::stopped(
            time,
            "no combination of the touching contacts lasts",
        ))
    }

    /// Returns a mode if its contacts press and no other candidate would penetrate; contacts whose friction does not hold slide.
    fn pressed(
        &self,
        mut mode: Mode,
        candidates: &[usize],
        time: f64,
        x: &[f64],
    ) -> Result<Option<Mode>, AnalyseError> {
        let (q, v) = self.split(x);
        for _ in 0..=candidates.len() {
            let rows = self.rows(&mode);
            let Some(solved) = self.equations.solve(&rows, time, q, v)? else {
                return Ok(None);
            };
            let force = |contact| solved.normal(&rows, contact);
            if candidates
                .iter()
                .any(|c| lasts(mode[*c]) && force(*c) < 0.0)
            {
                return Ok(None);
            }
            let slips = candidates.iter().find(|c| {
                State::of(mode[**c]) == State::Sticks
                    && solved.tangent(&rows, **c).abs() > self.friction(**c) * force(**c)
            });
            if let Some(&contact) = slips {
                let pulls = solved.tangent(&rows, contact) > 0.0;
                mode[contact] = if pulls {
                    State::SlidesDown as u8
                } else {
                    State::SlidesUp as u8
                };
                continue;
            }
            let free = candidates.iter().filter(|c| !lasts(mode[**c]));
            let sinks = free
                .map(|c| self.equations.gap_acceleration(*c, q, v, &solved))
                .any(|a| a < 0.0);
            return Ok((!sinks).then_some(mode));
        }
        Ok(None)
    }

    /// Poses the impact of the touching contacts to the law.
    fn impact(
        &self,
        mode: &Mode,
        time: f64,
        x: &[f64],
        trigger: usize,
    ) -> Result<Transition, AnalyseError> {
        let (q, v) = self.split(x);
        let told =
            |error: &dyn fmt::Display| AnalyseError::stopped(time, format!("impact: {error}"));
        let touches = |c: &usize| {
            lasts(mode[*c])
                || *c == trigger
                || State::of(mode[*c]) == State::Open
                    && self.system().gap(*c, q).abs() <= self.settings.touch
        };
        let touching: Vec<usize> = (0..mode.len()).filter(touches).collect();
        let metric = KineticMetric::new(self.equations.mass(q)).map_err(|e| told(&e))?;
        let rows = touching.iter().map(|c| {
            let data = &self.system().contacts()[*c];
            let friction = self.friction(*c);
            let tangents = if data.has_slide {
                vec![Covector(self.equations.slide_row(*c, q))]
            } else {
                Vec::new()
            };
            let restitution = if lasts(mode[*c]) {
                0.0
            } else {
                data.restitution
            };
            Contact::new(Covector(self.equations.gap_row(*c, q)))
                .with_tangents(tangents)
                .with_friction(friction)
                .with_restitution(restitution)
        });
        let set =
            ContactSet::new(Arc::new(metric), rows.collect::<Vec<_>>()).map_err(|e| told(&e))?;
        let velocity = Tangent::from_slice(v);
        let problem = ImpactProblem::new(&set, velocity).map_err(|e| told(&e))?;
        let outcome = self.law.resolve(&problem).map_err(|e| told(&e))?;
        let plus = outcome.velocity_plus.0.clone();
        let size = (2.0 * problem.energy_minus_j()).max(0.0).sqrt();
        let mut reset = vec![0; mode.len()];
        let mut margin = f64::INFINITY;
        for (place, &contact) in set.indices().zip(&touching) {
            let range = set.row_range(place);
            let normal = outcome.impulses[range.start] * set.normal_norm(place);
            let friction = self.friction(contact);
            if !(normal > self.settings.still * size) {
                continue;
            }
            if friction == 0.0 {
                reset[contact] = State::Closed as u8;
                continue;
            }
            let slide = self.equations.slide_row(contact, q);
            let (slip, scale) = (slide.dot(&plus), size * self.scale(contact, q, v).1);
            let share =
                outcome.impulses[range.start + 1] / (friction * outcome.impulses[range.start]);
            reset[contact] = if slip.abs() <= self.settings.still * scale {
                margin = margin.min(1.0 - share.abs());
                State::Sticks as u8
            } else if slip > 0.0 {
                State::SlidesUp as u8
            } else {
                State::SlidesDown as u8
            };
        }
        if reset[trigger] == 0 {
            // The law finds no approach: the contact grazes.
            reset[trigger] = State::Closed as u8;
            margin = 0.0;
        }
        let jump = self.jump(mode, &reset, time, x)?;
        let after = jump.state.rows(q.len(), v.len()).into_owned();
        if !((&after - &plus).amax() <= self.settings.explained * (plus.amax() + after.amax())) {
            let what = format!(
                "the outcome of the law `{}` at the impact at time {time} is not that of one restitution per contact, sticking, sliding \
                 or without friction: its derivative is not done yet",
                self.law.name()
            );
            return Err(AnalyseError::NoFlow { what });
        }
        self.after_impact(mode, &reset, &touching, (time, x), &jump.state, margin)
    }

    /// Decides on the mode after an impact, and tells its events.
    fn after_impact(
        &self,
        mode: &Mode,
        reset: &Mode,
        touching: &[usize],
        (time, x): (f64, &[f64]),
        state: &DVector<f64>,
        mut margin: f64,
    ) -> Result<Transition, AnalyseError> {
        let (q, v) = self.split(x);
        let plus = self.split(state.as_slice()).1;
        let mut open = mode.clone();
        let mut candidates = Vec::new();
        for &contact in touching {
            let rate = self
                .equations
                .gap_row(contact, q)
                .dot(&DVector::from_column_slice(plus));
            let (size, norm) = self.scale(contact, q, v);
            open[contact] = self.open(contact, q);
            if rate <= self.settings.still * size * norm {
                candidates.push(contact);
            } else if reset[contact] == 0 {
                // It leaves without an impulse: by how much its speed exceeds that of a contact which is held.
                margin = margin.min(rate / (size * norm));
            }
        }
        let next = self.lasting(&open, &candidates, time, state.as_slice())?;
        let mut happenings = Vec::new();
        for &contact in touching {
            let kind = match (lasts(mode[contact]), lasts(next[contact])) {
                (true, true) => continue,
                (true, false) => EventKind::Opens,
                (false, true) => EventKind::Closes,
                (false, false) if reset[contact] != 0 => EventKind::Impact,
                _ => continue,
            };
            let mut happening = Happening::new(kind, contact);
            if kind != EventKind::Opens {
                let rate = self
                    .equations
                    .gap_row(contact, q)
                    .dot(&DVector::from_column_slice(v));
                happening = happening.with_speed(-rate);
            }
            happenings.push(happening);
        }
        // Openings first, so that the impact is the last of its instant.
        happenings.sort_by_key(|h| (h.kind != EventKind::Opens, h.contact));
        Ok(Transition {
            happenings,
            reset: reset.clone(),
            mode: next,
            margin,
        })
    }

    /// Returns the rows of a reset, and one plus the restitution of each.
    fn reset_rows(&self, mode: &Mode, reset: &Mode) -> (Rows, Vec<f64>) {
        let mut rows = Rows::default();
        let mut factors = Vec::new();
        for (contact, state) in reset.iter().enumerate().filter(|(_, state)| **state != 0) {
            let slope = match State::of(*state) {
                State::SlidesUp => -self.friction(contact),
                State::SlidesDown => self.friction(contact),
                _ => 0.0,
            };
            let held = mode.get(contact).is_some_and(|state| lasts(*state));
            let data = self.system().contacts().get(contact);
            let restitution = if held {
                0.0
            } else {
                data.map_or(0.0, |c| c.restitution)
            };
            rows.normal(contact, slope);
            factors.push(1.0 + restitution);
            if State::of(*state) == State::Sticks {
                rows.tangent(contact);
                factors.push(1.0);
            }
        }
        (rows, factors)
    }
}

impl Flow for ContactFlow<'_> {
    fn dimension(&self) -> usize {
        2 * self.equations.n
    }

    fn rate(&self, mode: &Mode, time: f64, x: &[f64], out: &mut [f64]) -> Result<(), AnalyseError> {
        let (q, v) = self.split(x);
        let solved = self.equations.solve(&self.rows(mode), time, q, v)?;
        let Some(solved) = solved else {
            return Err(AnalyseError::stopped(
                time,
                "the contacts that last depend on each other",
            ));
        };
        let (rates, accelerations) = out.split_at_mut(q.len());
        rates.copy_from_slice(v);
        accelerations.copy_from_slice(solved.acceleration.as_slice());
        Ok(())
    }

    fn rate_by_state(
        &self,
        mode: &Mode,
        time: f64,
        x: &[f64],
        out: &mut DMatrix<f64>,
    ) -> Result<(), AnalyseError> {
        let (q, v) = self.split(x);
        let n = q.len();
        let (acceleration, _) = self.equations.derivative(&self.rows(mode), time, q, v)?;
        for k in 0..n {
            out[(k, n + k)] = 1.0;
        }
        out.view_mut((n, 0), (n, 2 * n)).copy_from(&acceleration);
        Ok(())
    }

    fn guards(&self, mode: &Mode) -> Vec<GuardKind> {
        self.list(mode)
            .into_iter()
            .map(|(_, kind, _)| kind)
            .collect()
    }

    fn guard(&self, mode: &Mode, guard: usize, time: f64, x: &[f64]) -> Result<f64, AnalyseError> {
        let mut gradient = vec![0.0; x.len()];
        let (q, v) = self.split(x);
        let (contact, kind, side) = self.entry(mode, guard);
        Ok(match kind {
            GuardKind::Gap => self.system().gap(contact, q),
            GuardKind::Arming => match self.armed.get(contact).and_then(Option::as_ref) {
                Some(armed) => side * armed(q, &mut gradient),
                None => f64::INFINITY,
            },
            GuardKind::Sliding => {
                side * self
                    .equations
                    .slide_row(contact, q)
                    .dot(&DVector::from_column_slice(v))
            }
            GuardKind::Force | GuardKind::Cone => {
                let rows = self.rows(mode);
                let Some(solved) = self.equations.solve(&rows, time, q, v)? else {
                    return Ok(f64::NAN);
                };
                let normal = solved.normal(&rows, contact);
                if kind == GuardKind::Force {
                    normal
                } else {
                    self.friction(contact) * normal - side * solved.tangent(&rows, contact)
                }
            }
        })
    }

    fn guard_gradient(
        &self,
        mode: &Mode,
        guard: usize,
        time: f64,
        x: &[f64],
        out: &mut [f64],
    ) -> Result<f64, AnalyseError> {
        let (q, v) = self.split(x);
        let (contact, kind, side) = self.entry(mode, guard);
        let n = q.len();
        match kind {
            GuardKind::Gap => {
                out[..n].copy_from_slice(self.equations.gap_row(contact, q).as_slice());
            }
            GuardKind::Arming => {
                if let Some(armed) = self.armed.get(contact).and_then(Option::as_ref) {
                    armed(q, &mut out[..n]);
                    out[..n].iter_mut().for_each(|g| *g *= side);
                }
            }
            GuardKind::Sliding => {
                let by_q = self.equations.slide_hessian(contact, q) * DVector::from_column_slice(v);
                let by_v = self.equations.slide_row(contact, q);
                out[..n].copy_from_slice((by_q * side).as_slice());
                out[n..].copy_from_slice((by_v * side).as_slice());
            }
            GuardKind::Force | GuardKind::Cone => {
                let rows = self.rows(mode);
                let (_, forces) = self.equations.derivative(&rows, time, q, v)?;
                let Some(normal) = rows.place(contact, false) else {
                    return Ok(0.0);
                };
                let by_time = self.equations.forces_by_time(&rows, time, q, v)?;
                let mut gradient = forces.row(normal).into_owned();
                let mut slope = by_time[normal];
                if kind == GuardKind::Cone
                    && let Some(tangent) = rows.place(contact, true)
                {
                    gradient = gradient * self.friction(contact) - forces.row(tangent) * side;
                    slope = slope * self.friction(contact) - by_time[tangent] * side;
                }
                out.iter_mut()
                    .zip(gradient.iter())
                    .for_each(|(o, g)| *o = *g);
                return Ok(slope);
            }
        }
        Ok(0.0)
    }

    fn transition(
        &self,
        mode: &Mode,
        guard: usize,
        time: f64,
        x: &[f64],
    ) -> Result<Transition, AnalyseError> {
        let (q, v) = self.split(x);
        let (contact, kind, side) = self.entry(mode, guard);
        let mut next = mode.clone();
        match kind {
            GuardKind::Gap => return self.impact(mode, time, x, contact),
            GuardKind::Arming if side > 0.0 => {
                next[contact] = State::Unarmed as u8;
                return Ok(Transition::to(next));
            }
            GuardKind::Arming => {
                if self.system().gap(contact, q) < 0.0 {
                    return Err(AnalyseError::ArmedBelow { contact, time });
                }
                next[contact] = State::Open as u8;
                return Ok(Transition::to(next));
            }
            GuardKind::Force => next[contact] = self.open(contact, q),
            GuardKind::Cone => {
                next[contact] = if side > 0.0 {
                    State::SlidesDown as u8
                } else {
                    State::SlidesUp as u8
                }
            }
            GuardKind::Sliding => next[contact] = State::Sticks as u8,
        }
        let mut event = match kind {
            GuardKind::Force => EventKind::Opens,
            GuardKind::Cone => EventKind::Slips,
            _ => EventKind::Sticks,
        };
        if kind == GuardKind::Sliding {
            let rows = self.rows(&next);
            let holds = self.equations.solve(&rows, time, q, v)?.map(|solved| {
                let (force, limit) = (
                    solved.tangent(&rows, contact),
                    self.friction(contact) * solved.normal(&rows, contact),
                );
                (force, limit)
            });
            match holds {
                Some((force, limit)) if force.abs() <= limit => (),
                Some((force, _)) => {
                    next[contact] = if force > 0.0 {
                        State::SlidesDown as u8
                    } else {
                        State::SlidesUp as u8
                    };
                    event = EventKind::Turns;
                }
                None => {
                    return Err(AnalyseError::stopped(
                        time,
                        "the contacts that last depend on each other",
                    ));
                }
            }
        }
        let mut to = Transition::to(next);
        to.happenings.push(Happening::new(event, contact));
        Ok(to)
    }

    /// The outcome of the modes in `reset`: $v^+ = v - M^{-1}C^T(RM^{-1}C^T)^{-1}D R v$ with one plus the restitution of each row in
    /// $D$. It is smooth where the speed of approach vanishes.
    fn jump(&self, mode: &Mode, reset: &Mode, time: f64, x: &[f64]) -> Result<Jump, AnalyseError> {
        let (rows, factors) = self.reset_rows(mode, reset);
        let (q, v) = self.split(x);
        self.equations.jump(&rows, &factors, time, q, v)
    }

    fn start(&self, time: f64, x: &[f64]) -> Result<Mode, AnalyseError> {
        let (q, v) = self.split(x);
        let mut open = Mode::new();
        let mut candidates = Vec::new();
        for contact in 0..self.system().contacts().len() {
            open.push(self.open(contact, q));
            let gap = self.system().gap(contact, q);
            let rate = self
                .equations
                .gap_row(contact, q)
                .dot(&DVector::from_column_slice(v));
            let (size, norm) = self.scale(contact, q, v);
            let still = self.settings.touch.max(self.settings.still) * size * norm;
            let armed = self.is_armed(contact, q);
            if gap.abs() <= self.settings.touch && rate.abs() <= still {
                candidates.push(contact);
            } else if armed
                && (gap < -self.settings.touch || gap <= self.settings.touch && rate < 0.0)
            {
                let reason =
                    format!("contact {contact} starts with the gap {gap:e} and its rate {rate:e}");
                return Err(AnalyseError::stopped(time, reason));
            }
        }
        self.lasting(&open, &candidates, time, x)
    }

    fn influences(&self, one: usize, other: usize) -> bool {
        one != other
    }

    fn counts(&self, mode: &Mode, guard: usize, x: &[f64]) -> bool {
        let (contact, kind, _) = self.entry(mode, guard);
        kind != GuardKind::Gap || self.is_armed(contact, self.split(x).0)
    }

    fn contact_of(&self, mode: &Mode, guard: usize) -> usize {
        self.entry(mode, guard).0
    }
}
