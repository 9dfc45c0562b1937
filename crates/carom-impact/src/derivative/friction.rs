//! What contacts with friction do in a stage, read off impulses and velocities.
//!
//! The complementarity variables of friction are degenerate in every sticking mode while the
//! velocity after is smooth, so that they are not looked at.

use super::branch::{CONSTANT, Form, Walk};
use super::frame::Frame;
use super::stage::{Equation, Load, Mode, Rebound, Stage, Terms, of_row};
use crate::ImpactError;
use crate::frictional::FrictionCone;
use carom_lcp::friction_directions;
use nalgebra::{DMatrix, DVector};
use smallvec::smallvec;
use std::f64::consts::PI;
use std::sync::Arc;

/// Combinations of modes that are looked at where several contacts are tied.
const MAX_COMBINATIONS: usize = 4096;

/// Modes, each of them to be solved, that are looked at to tell whether an answer is unique: those of four
/// contacts in the plane.
const MAX_MODES: usize = 256;

/// Velocities and impulses below this fraction of the velocity are none where modes are compared.
const NOTHING: f64 = 1e-11;

/// Impulses below this fraction of the velocity are rounding.
const ROUNDING: f64 = 1e-14;

/// What a mode asks for may be missed by so many times what a tied decision may miss: the tests of the mode
/// then decide.
const GENEROUS: f64 = 4.0;

/// The mode beyond the nearest decision fails by just the margin; this part of it tells it from one that answers within.
const INSIDE: f64 = 1.0 - 1e-6;

/// What counts as none of the quantities of a contact where its modes are compared.
#[derive(Clone, Copy, Debug)]
struct Near {
    push: f64,
    gap: f64,
    drag: f64,
    slip: f64,
}

/// The friction cones of contacts in space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cones {
    /// Friction and tangents do not count.
    Frictionless,
    Round,
    Polygon(usize),
}

impl From<FrictionCone> for Cones {
    fn from(cone: FrictionCone) -> Self {
        match cone {
            FrictionCone::Round => Self::Round,
            FrictionCone::Polygon(k) => Self::Polygon(k),
        }
    }
}

/// What the tangents of a pushing contact do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tangential {
    /// There is no friction.
    Free,
    Stick,
    /// Slides with friction along a direction of the polygon.
    Vertex(usize),
    /// Slides with friction between a direction and the next one.
    Edge(usize),
    /// Slides with friction against a unit direction.
    Round([f64; 2]),
}

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Grip {
    Open,
    Closed(Tangential),
    /// Its normal impulse is at its cap.
    Saturated(Tangential),
}

/// A contact in a stage, in the coordinates of the frame.
struct Reading<'f> {
    contact: usize,
    normal: usize,
    /// Rows of the tangents.
    tangents: &'f [usize],
    friction: f64,
    friction_factor: f64,
    rebound: Rebound,
    cap: Option<f64>,
    /// Directions of the polygon; empty for round cones.
    directions: &'f [[f64; 2]],
    /// Normal impulse, and velocity over what is asked for.
    push: f64,
    gap: f64,
    /// Impulses and velocities after of the tangents.
    drag: [f64; 2],
    slip: [f64; 2],
    speed: f64,
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

fn norm(a: [f64; 2]) -> f64 {
    a[0].hypot(a[1])
}

impl Reading<'_> {
    fn form(&self, coefficients: [f64; 2]) -> Terms {
        let terms = self.tangents.iter().zip(coefficients);
        terms.map(|(row, c)| (*row, c)).collect()
    }

    fn limit(&self) -> f64 {
        self.friction * self.push.max(0.0)
    }

    fn next(&self, j: usize) -> usize {
        (j + 1) % self.directions.len()
    }

    fn neighbors(&self, j: usize) -> [usize; 2] {
        let k = self.directions.len();
        [(j + k - 1) % k, (j + 1) % k]
    }

    fn side(&self, j: usize) -> [f64; 2] {
        minus(self.directions[self.next(j)], self.directions[j])
    }

    /// How far the drag is inside the cone.
    fn slack(&self) -> f64 {
        if self.directions.is_empty() {
            return self.limit() - norm(self.drag);
        }
        let sides = (0..self.directions.len()).map(|j| self.slack_to(j));
        sides.fold(f64::INFINITY, f64::min)
    }

    /// How far the drag is inside a side of the polygon.
    fn slack_to(&self, j: usize) -> f64 {
        let (normal, reach) = self.facet(j);
        self.limit() * reach - dot(normal, self.drag)
    }

    /// Outward normal of a side of the unit polygon, and its distance from the middle.
    fn facet(&self, j: usize) -> ([f64; 2], f64) {
        let k = self.directions.len();
        if k == 2 {
            return (self.directions[j], 1.0);
        }
        let (a, b) = (self.directions[j], self.directions[self.next(j)]);
        let sum = [a[0] + b[0], a[1] + b[1]];
        let length = norm(sum);
        ([sum[0] / length, sum[1] / length], (PI / k as f64).cos())
    }

    /// Friction without friction coefficient: the direction in which it would act.
    fn against_slip(&self) -> Option<[f64; 2]> {
        let speed = norm(self.slip);
        if self.tangents.is_empty() || !(speed > NOTHING * self.speed) {
            return None;
        }
        if self.directions.is_empty() {
            return Some([-self.slip[0] / speed, -self.slip[1] / speed]);
        }
        let along = |j: &usize| dot(self.directions[*j], self.slip);
        let most = (0..self.directions.len()).min_by(|a, b| along(a).total_cmp(&along(b)))?;
        self.directions.get(most).copied()
    }

    fn has_friction(&self) -> bool {
        self.friction > 0.0 && !self.tangents.is_empty()
    }

    /// The share of the next direction in friction along a side of the polygon.
    fn share(&self, j: usize) -> f64 {
        let side = self.side(j);
        let first = self.directions[j];
        let rest = minus(
            self.drag,
            [self.limit() * first[0], self.limit() * first[1]],
        );
        dot(side, rest) / dot(side, side)
    }

    /// The mode that fits best.
    fn own(&self) -> Grip {
        if let Some(cap) = self.cap
            && cap - self.push < -self.gap
        {
            return Grip::Saturated(self.own_tangential());
        }
        if self.push > self.gap.max(ROUNDING * self.speed) {
            Grip::Closed(self.own_tangential())
        } else {
            Grip::Open
        }
    }

    fn own_tangential(&self) -> Tangential {
        if !self.has_friction() {
            return Tangential::Free;
        }
        if norm(self.slip) <= self.slack().max(NOTHING * self.speed) {
            return Tangential::Stick;
        }
        if self.directions.is_empty() {
            let speed = norm(self.slip);
            return Tangential::Round([self.slip[0] / speed, self.slip[1] / speed]);
        }
        let along = |j: usize| dot(self.directions[j], self.slip);
        let k = self.directions.len();
        let most = (0..k).fold(0, |a, b| if along(b) < along(a) { b } else { a });
        if k == 2 {
            return Tangential::Vertex(most);
        }
        let [before, after] = self.neighbors(most);
        let (other, edge) = if along(before) < along(after) {
            (before, before)
        } else {
            (after, most)
        };
        let left = along(other) - along(most);
        let share = self.share(edge);
        let inside = share.min(self.limit() - share);
        if inside > left {
            return Tangential::Edge(edge);
        }
        // Where sliding leaves two directions alike, friction acts along the one that its impulse shows.
        let is_next = match self.limit() {
            limit if limit > NOTHING * self.speed => share > 0.5 * limit,
            _ => most != edge,
        };
        Tangential::Vertex(if is_next { self.next(edge) } else { edge })
    }

    /// Every mode without a cap; `None` if there is a continuum of them.
    fn all(&self) -> Option<Vec<Grip>> {
        let closed: Vec<Tangential> = if !self.has_friction() {
            vec![Tangential::Free]
        } else if self.directions.is_empty() {
            return None;
        } else {
            let k = self.directions.len();
            let edges = (0..k).filter(|_| k > 2).map(Tangential::Edge);
            let slides = (0..k).map(Tangential::Vertex).chain(edges);
            std::iter::once(Tangential::Stick).chain(slides).collect()
        };
        let closed = closed.into_iter().map(Grip::Closed);
        Some(std::iter::once(Grip::Open).chain(closed).collect())
    }

    /// Every mode that fits up to what is near, and whether these are all.
    fn fitting(&self, near: &Near) -> (Vec<Grip>, bool) {
        let mut grips = vec![self.own()];
        let mut add = |grip: Grip| {
            if !grips.contains(&grip) {
                grips.push(grip);
            }
        };
        let (tangential, is_complete) = self.fitting_tangential(near);
        let is_light = self.push.abs() <= near.push && norm(self.drag) <= near.drag;
        if is_light && self.gap >= -near.gap {
            add(Grip::Open);
        }
        if self.gap.abs() <= near.gap {
            tangential.iter().for_each(|t| add(Grip::Closed(*t)));
        }
        if let Some(cap) = self.cap
            && (cap - self.push).abs() <= near.push
            && self.gap <= near.gap
        {
            tangential.iter().for_each(|t| add(Grip::Saturated(*t)));
        }
        (grips, is_complete)
    }

    fn fitting_tangential(&self, near: &Near) -> (Vec<Tangential>, bool) {
        if !self.has_friction() {
            return (vec![Tangential::Free], true);
        }
        let mut out = Vec::new();
        let (speed, limit) = (norm(self.slip), self.limit());
        if speed <= near.slip && self.slack() >= -near.drag {
            out.push(Tangential::Stick);
        }
        if self.directions.is_empty() {
            let drag = norm(self.drag);
            let against = |s: [f64; 2]| {
                norm([self.drag[0] + limit * s[0], self.drag[1] + limit * s[1]]) <= near.drag
            };
            if speed > near.slip {
                let s = [self.slip[0] / speed, self.slip[1] / speed];
                if against(s) {
                    out.push(Tangential::Round(s));
                }
            } else if drag > near.drag {
                let s = [-self.drag[0] / drag, -self.drag[1] / drag];
                if against(s) {
                    out.push(Tangential::Round(s));
                }
            } else {
                // It may begin to slide in any direction.
                return (out, false);
            }
            return (out, true);
        }
        let k = self.directions.len();
        for j in 0..k {
            let d = self.directions[j];
            let is_there = norm(minus(self.drag, [limit * d[0], limit * d[1]])) <= near.drag;
            let along = dot(d, self.slip);
            let sides = self.neighbors(j);
            let is_least = sides
                .iter()
                .all(|i| dot(self.directions[*i], self.slip) - along >= -near.slip);
            if is_there && is_least && along <= near.slip {
                out.push(Tangential::Vertex(j));
            }
            if k > 2 {
                let (share, side) = (self.share(j), self.side(j));
                let at = [
                    limit * d[0] + share * side[0],
                    limit * d[1] + share * side[1],
                ];
                let fits = norm(minus(self.drag, at)) <= near.drag
                    && share >= -near.drag
                    && limit - share >= -near.drag
                    && dot(side, self.slip).abs() <= near.slip
                    && along <= near.slip;
                if fits {
                    out.push(Tangential::Edge(j));
                }
            }
        }
        (out, true)
    }

    /// The columns of a mode.
    fn add(&self, grip: Grip, mode: &mut Mode) {
        let (tangential, is_free) = match grip {
            Grip::Open => return,
            Grip::Closed(tangential) => (tangential, true),
            Grip::Saturated(tangential) => (tangential, false),
        };
        mode.acts = true;
        let load = |direction: [f64; 2], mode: &mut Mode| {
            for (row, d) in self.tangents.iter().zip(direction) {
                mode.loads.push(Load {
                    contact: self.contact,
                    row: *row,
                    factor: self.push * self.friction_factor * d,
                });
            }
        };
        let normal = of_row(self.normal);
        let first = mode.unknowns.len();
        self.add_tangential(tangential, is_free, normal, load, mode);
        if is_free {
            for limit in mode.limits.iter_mut().skip(first + 1) {
                *limit = Some((first, self.friction));
            }
        }
    }

    /// The same for a contact that pushes.
    fn add_tangential(
        &self,
        tangential: Tangential,
        is_free: bool,
        normal: Terms,
        load: impl Fn([f64; 2], &mut Mode),
        mode: &mut Mode,
    ) {
        match tangential {
            Tangential::Free => {
                if is_free {
                    mode.push(normal.clone(), normal, self.rebound);
                }
                if let Some(direction) = self.against_slip() {
                    load(direction, mode);
                }
            }
            Tangential::Stick => {
                if is_free {
                    mode.push(normal.clone(), normal, self.rebound);
                }
                for row in self.tangents {
                    mode.stop(*row, Rebound::Fixed(0.0));
                }
            }
            Tangential::Vertex(j) | Tangential::Edge(j) => {
                let direction = self.directions[j];
                if is_free {
                    let mut along = self.form(direction.map(|d| d * self.friction));
                    along.push((self.normal, 1.0));
                    mode.push(along, normal, self.rebound);
                }
                load(direction, mode);
                if let Tangential::Edge(_) = tangential {
                    let side = self.form(self.side(j));
                    mode.push(side.clone(), side, Rebound::Fixed(0.0));
                }
            }
            Tangential::Round(s) => self.add_round(s, is_free, mode),
        }
    }

    /// Friction against the sliding direction, which turns:
    /// $dl_t + \mu s dl_n + d\mu l_ns + \kappa(I - ss^T) d(J_tv') = 0$, $\kappa = \mu l_n/|u_t|$.
    fn add_round(&self, s: [f64; 2], is_free: bool, mode: &mut Mode) {
        let normal = of_row(self.normal);
        if is_free {
            mode.push(normal.clone(), normal, self.rebound);
        }
        let (speed, limit) = (dot(s, self.slip).max(0.0), self.limit());
        let across = [-s[1], s[0]];
        let mut along = self.form(s);
        if is_free {
            along.push((self.normal, self.friction));
        }
        let (by_velocity, by_impulse) = if limit >= speed {
            (1.0, if limit > 0.0 { speed / limit } else { 0.0 })
        } else {
            (limit / speed, 1.0)
        };
        let equations = [
            Equation {
                velocities: Terms::new(),
                rebound: Rebound::Fixed(0.0),
                impulses: along,
                by_friction: Some((self.contact, self.push * self.friction_factor)),
            },
            Equation {
                velocities: self.form(across.map(|c| c * by_velocity)),
                rebound: Rebound::Fixed(0.0),
                impulses: self.form(across.map(|c| c * by_impulse)),
                by_friction: None,
            },
        ];
        for (row, equation) in self.tangents.iter().zip(equations) {
            mode.limits.push(None);
            mode.unknowns.push(of_row(*row));
            mode.equations.push(equation);
        }
    }

    /// What decides for a mode.
    fn forms(&self, grip: Grip, out: &mut Vec<Form>) {
        let e = self.rebound.value();
        let normal = |c: f64| -> Terms { smallvec![(self.normal, c)] };
        let tangential = match grip {
            Grip::Open => {
                out.push(Form {
                    after: normal(1.0),
                    before: normal(e),
                    ..Form::default()
                });
                return;
            }
            Grip::Closed(tangential) => {
                out.push(Form {
                    impulses: normal(1.0),
                    ..Form::default()
                });
                if let Some(cap) = self.cap {
                    out.push(Form {
                        impulses: normal(-1.0),
                        constant: cap,
                        ..Form::default()
                    });
                }
                tangential
            }
            Grip::Saturated(tangential) => {
                out.push(Form {
                    after: normal(-1.0),
                    ..Form::default()
                });
                tangential
            }
        };
        let slip = |c: [f64; 2]| Form {
            after: self.form(c),
            ..Form::default()
        };
        let drag = |push: f64, c: [f64; 2]| {
            let mut impulses = self.form(c);
            impulses.push((self.normal, push));
            Form {
                impulses,
                ..Form::default()
            }
        };
        let k = self.directions.len();
        match tangential {
            Tangential::Free => {}
            Tangential::Stick if k == 0 => {
                let size = norm(self.drag);
                let along = if size > 0.0 {
                    self.drag.map(|l| -l / size)
                } else {
                    [0.0; 2]
                };
                out.push(drag(self.friction, along));
            }
            Tangential::Stick => {
                for j in 0..k {
                    let (outward, reach) = self.facet(j);
                    out.push(drag(self.friction * reach, outward.map(|c| -c)));
                }
            }
            Tangential::Vertex(j) if k == 2 => {
                out.push(slip(self.directions[j].map(|d| -d)));
            }
            Tangential::Vertex(j) => {
                for i in self.neighbors(j) {
                    out.push(slip(minus(self.directions[i], self.directions[j])));
                }
            }
            Tangential::Edge(j) => {
                let (side, first) = (self.side(j), self.directions[j]);
                let square = dot(side, side);
                let along = side.map(|x| x / square);
                let own = self.friction * dot(along, first);
                out.push(drag(-own, along));
                out.push(drag(self.friction + own, along.map(|x| -x)));
                out.push(slip(first.map(|d| -d)));
            }
            Tangential::Round(s) => out.push(slip(s)),
        }
    }
}

/// One of each list, by the number of the combination.
fn combination(lists: &[Vec<Grip>], mut code: usize) -> Vec<Grip> {
    let mut one = |grips: &Vec<Grip>| {
        let grip = grips[code % grips.len()];
        code /= grips.len();
        grip
    };
    lists.iter().map(&mut one).collect()
}

/// What is known of a stage of contacts with friction.
#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) before: DVector<f64>,
    pub(super) after: DVector<f64>,
    pub(super) impulse: DVector<f64>,
    /// Caps on the impulses on the normals, in the coordinates of the frame; empty for none.
    pub(super) caps: Vec<f64>,
}

/// Contacts with friction that act at once.
pub(super) struct Contacts<'f> {
    frame: &'f Frame<'f>,
    /// The contacts that take part.
    members: Vec<usize>,
    tangents: Vec<Vec<usize>>,
    directions: Vec<Vec<[f64; 2]>>,
    /// Whether contacts ask for Newton's restitution.
    rebounds: bool,
}

impl<'f> Contacts<'f> {
    pub(super) fn new(
        frame: &'f Frame<'f>,
        members: Vec<usize>,
        cones: Cones,
        rebounds: bool,
    ) -> Result<Self, ImpactError> {
        let set = frame.problem.contacts();
        let mut tangents = Vec::with_capacity(members.len());
        let mut directions = Vec::with_capacity(members.len());
        for i in &members {
            let rows = (set.row(*i) + 1..set.row(*i + 1))
                .filter(|row| frame.row(*row).iter().any(|x| *x != 0.0));
            let rows: Vec<usize> = rows.collect();
            let given = match cones {
                Cones::Frictionless => 0,
                _ => set.contacts()[*i].tangents.len(),
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
        })
    }

    fn readings(&self, event: &Event) -> Vec<Reading<'_>> {
        let frame = self.frame;
        let set = frame.problem.contacts();
        let read = |(k, i): (usize, &usize)| {
            let normal = set.row(*i);
            let given = &set.contacts()[*i];
            let tangents = &self.tangents[k];
            // Restitution acts where a contact approached; at rest before is a kink.
            let approached = frame.rate(normal, &event.before) < 0.0;
            let rebound = if self.rebounds && approached {
                Rebound::Contact(*i, given.restitution)
            } else {
                Rebound::Fixed(0.0)
            };
            let mut drag = [0.0; 2];
            let mut slip = [0.0; 2];
            for (t, row) in tangents.iter().enumerate().take(2) {
                drag[t] = event.impulse[*row];
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
                cap: event.caps.get(*i).copied(),
                directions: &self.directions[k],
                push: event.impulse[normal],
                gap: frame.rate(normal, &event.after)
                    + rebound.value() * frame.rate(normal, &event.before),
                drag,
                slip,
                speed: frame.speed,
            }
        };
        self.members.iter().enumerate().map(read).collect()
    }

    /// The stage of an event in the mode that fits best, given the derivatives of the velocity before it;
    /// with a tolerance in all modes that are that near, the best first; what decides for each;
    /// whether these are all modes.
    #[allow(clippy::type_complexity)] // Read once, where it is called.
    pub(super) fn stages(
        &self,
        event: &Event,
        before: &DMatrix<f64>,
        tolerance: Option<f64>,
    ) -> (Vec<(Arc<Stage>, Vec<Form>)>, bool) {
        let readings = self.readings(event);
        let mut own: Vec<Grip> = readings.iter().map(Reading::own).collect();
        let mut first = self.stage(event, &readings, &own);
        if self.close_idle(&readings, &first.0, before, &mut own) {
            first = self.stage(event, &readings, &own);
        }
        let mut out = vec![first];
        let mut is_complete = true;
        let Some(tolerance) = tolerance else {
            return (out, is_complete);
        };
        let near = self.near(&readings, &out[0].0, before, tolerance);
        let mut fitting = Vec::with_capacity(readings.len());
        let mut count = 1usize;
        for (reading, near) in readings.iter().zip(&near) {
            let (mut grips, all) = reading.fitting(near);
            is_complete &= all;
            let first = own[fitting.len()];
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
            out.push(self.stage(event, &readings, &grips));
        }
        (out, is_complete)
    }

    /// Closes the open contacts that neither push nor can open, because others keep them at rest; says
    /// whether there are any. Impulses can be shifted onto them.
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
            let none = NOTHING * reading.speed;
            if *grip != Grip::Open || reading.gap.abs() > none || reading.push.abs() > none {
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
            if slope.norm() <= CONSTANT {
                *grip = Grip::Closed(reading.own_tangential());
                is_any = true;
            }
        }
        is_any
    }

    /// What is near for each contact: what changes by as little as the tolerance says of the velocity before
    /// can change it to.
    fn near(
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
        let rate = |row: usize, of: &DMatrix<f64>| of.tr_mul(&frame.row(row)).norm();
        let near = |slope: f64| (GENEROUS * tolerance * slope + NOTHING) * frame.speed;
        let of = |reading: &Reading<'_>| {
            let tangents = reading.tangents.iter();
            let push = impulses.row(reading.normal).norm();
            let drag: f64 = tangents.clone().map(|row| impulses.row(*row).norm()).sum();
            let slip: f64 = tangents.map(|row| rate(*row, &after)).sum();
            let gap = rate(reading.normal, &after)
                + reading.rebound.value() * rate(reading.normal, before);
            Near {
                push: near(push),
                gap: near(gap),
                drag: near(drag + reading.friction * push),
                slip: near(slip),
            }
        };
        readings.iter().map(of).collect()
    }

    fn mode(&self, readings: &[Reading<'_>], grips: &[Grip]) -> (Mode, Vec<Form>) {
        let mut mode = Mode::default();
        let mut forms = Vec::new();
        for (reading, grip) in readings.iter().zip(grips) {
            reading.add(*grip, &mut mode);
            reading.forms(*grip, &mut forms);
        }
        mode.hold(self.frame.constraint_rows());
        (mode, forms)
    }

    /// Whether no other mode can answer for a velocity within the margin, as part of the velocity
    /// before, of a way: in each some test fails by more. `None` where modes are not linear or too many.
    pub(super) fn is_unique(&self, way: &Walk, margin: f64) -> Option<bool> {
        let frame = self.frame;
        let nothing = Event {
            before: frame.before.clone(),
            after: DVector::zeros(frame.dim()),
            impulse: DVector::zeros(frame.n_rows()),
            caps: Vec::new(),
        };
        let readings = self.readings(&nothing);
        if !readings.iter().any(Reading::has_friction) {
            return Some(true);
        }
        let all = readings
            .iter()
            .map(Reading::all)
            .collect::<Option<Vec<_>>>()?;
        let count = all
            .iter()
            .map(Vec::len)
            .try_fold(1usize, usize::checked_mul)?;
        if count > MAX_MODES {
            return None;
        }
        let mut answers = (0..count).map(|code| {
            let (mode, forms) = self.mode(&readings, &combination(&all, code));
            let stage = Stage::from(frame, mode, &frame.before);
            if !stage.has_room(&frame.admissible()) {
                return false;
            }
            let Ok((other, least)) = Walk::of_stage(frame, stage, &forms) else {
                return true;
            };
            least > -INSIDE * margin && !other.moves_as(way)
        });
        Some(!answers.any(|answers| answers))
    }

    fn stage(
        &self,
        event: &Event,
        readings: &[Reading<'_>],
        grips: &[Grip],
    ) -> (Arc<Stage>, Vec<Form>) {
        let (mode, forms) = self.mode(readings, grips);
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
