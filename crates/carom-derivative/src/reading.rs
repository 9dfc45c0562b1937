//! Mode of one contact in a stage, as the law tells it, with its equations and decisions.
//!
//! Laws whose contacts act at once tell the modes: open, stick or slide. For single steps and impacts of other laws they are those
//! that fit impulses and velocities. The direction of sliding, and the caps that are reached, are read from the numbers.

use super::TieKind;
use super::decision::Decision;
use super::form::Form;
use super::frame::Frame;
use super::mode::{Equation, Load, Mode, Range, Rebound, Terms, of_row};
use crate::tolerances::GRAZING;
use crate::tolerances::NEGLIGIBLE;
use carom_contact::{ContactIndex, FrictionCone, RowIndex};
use carom_lcp::contact_problem::ContactMode;
use carom_numeric::decisions::Sum;
use smallvec::smallvec;
use std::f64::consts::PI;

/// Friction cones of contacts in space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cones {
    /// No friction: tangents are ignored.
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

/// Tangential mode of a pushing contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Tangential {
    /// The contact has no friction.
    Free,
    Stick,
    /// The contact slides with friction along a direction of the polygon.
    Vertex(usize),
    /// The contact slides with friction between a direction of the polygon and the next one.
    Edge(usize),
    /// The contact slides with friction against a unit direction.
    Round([f64; 2]),
}

/// Mode of a contact in a stage: open, closed, or with its normal impulse at the cap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grip {
    Open,
    Closed(Tangential),
    /// The normal impulse is at its cap.
    Saturated(Tangential),
}

/// Quantities of a contact in a stage from which its mode is determined, in the coordinates of the frame.
pub(super) struct Reading<'f> {
    pub(super) contact: ContactIndex,
    pub(super) normal: RowIndex,
    /// Rows of the tangents.
    pub(super) tangents: &'f [RowIndex],
    pub(super) friction: f64,
    pub(super) friction_factor: f64,
    pub(super) rebound: Rebound,
    /// Sign of the normal velocity before, if restitution acts only on one side of zero.
    pub(super) side: Option<f64>,
    /// Restitution on the other side.
    pub(super) beyond: Rebound,
    /// True if an open contact is followed only on its own side of the velocity before: with friction, a contact may have
    /// other answers beyond it.
    pub(super) keeps_side: bool,
    /// True if the impulses of the stage do not change the normal velocity.
    pub(super) is_unchanged: bool,
    pub(super) cap: Option<f64>,
    /// Mode that the law tells; `None` for a step or a single impact.
    pub(super) told: Option<ContactMode>,
    /// Directions of the polygon; empty for round cones.
    pub(super) directions: &'f [[f64; 2]],
    /// Normal impulse, and normal velocity minus the value that restitution asks for.
    pub(super) push: f64,
    pub(super) gap: f64,
    /// Impulses and velocities after the stage along the tangents.
    pub(super) drag: [f64; 2],
    pub(super) slip: [f64; 2],
    pub(super) frame: &'f Frame<'f>,
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn minus(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0] - b[0], a[1] - b[1]]
}

pub(super) fn norm(a: [f64; 2]) -> f64 {
    libm::hypot(a[0], a[1])
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

    fn edge(&self, j: usize) -> [f64; 2] {
        minus(self.directions[self.next(j)], self.directions[j])
    }

    /// True if `size`, a velocity or impulse of this contact, counts as zero when contact modes are compared.
    pub(super) fn is_nothing(&self, size: f64) -> bool {
        self.is_below(size, GRAZING)
    }

    /// True if `size`, a velocity or impulse, is at most the given fraction of the motion in the span of the
    /// contact's group of interacting rows.
    fn is_below(&self, size: f64, fraction: f64) -> bool {
        let frame = self.frame;
        size <= frame.at_most(fraction) && size <= frame.scales().of_row(self.normal, fraction)
    }

    /// Returns the distance of the friction impulse from the boundary of the friction cone, positive inside the cone.
    pub(super) fn slack(&self) -> f64 {
        if self.directions.is_empty() {
            return self.limit() - norm(self.drag);
        }
        let sides = (0..self.directions.len()).map(|j| self.slack_to(j));
        sides.fold(f64::INFINITY, f64::min)
    }

    /// Returns the distance of the friction impulse from side `j` of the friction polygon, positive inside the
    /// polygon.
    fn slack_to(&self, j: usize) -> f64 {
        let (normal, reach) = self.facet(j);
        self.limit() * reach - dot(normal, self.drag)
    }

    /// Returns the outward unit normal of side `j` of the friction polygon, and the distance of the side from the
    /// center for a friction limit of one.
    fn facet(&self, j: usize) -> ([f64; 2], f64) {
        let k = self.directions.len();
        if k == 2 {
            return (self.directions[j], 1.0);
        }
        let (a, b) = (self.directions[j], self.directions[self.next(j)]);
        let sum = [a[0] + b[0], a[1] + b[1]];
        let length = norm(sum);
        ([sum[0] / length, sum[1] / length], libm::cos(PI / k as f64))
    }

    /// Returns the direction in which friction would act if the friction coefficient of this contact, which is zero, were
    /// positive. `None` if the contact does not slide or has no tangents.
    fn against_slip(&self) -> Option<[f64; 2]> {
        let speed = norm(self.slip);
        if self.tangents.is_empty() || self.is_nothing(speed) {
            return None;
        }
        if self.directions.is_empty() {
            return Some([-self.slip[0] / speed, -self.slip[1] / speed]);
        }
        let along = |j: &usize| dot(self.directions[*j], self.slip);
        let most = (0..self.directions.len()).min_by(|a, b| along(a).total_cmp(&along(b)))?;
        self.directions.get(most).copied()
    }

    pub(super) fn has_friction(&self) -> bool {
        self.friction > 0.0 && !self.tangents.is_empty()
    }

    /// Returns the part of a friction impulse that acts along the second end of side `j` of the friction polygon, if
    /// the impulse lies on this side. This part is between zero and the friction limit; the rest acts along the first
    /// end.
    fn share(&self, j: usize) -> f64 {
        let side = self.edge(j);
        let first = self.directions[j];
        let rest = minus(
            self.drag,
            [self.limit() * first[0], self.limit() * first[1]],
        );
        dot(side, rest) / dot(side, side)
    }

    /// Returns the mode of this contact: open, closed, or normal impulse at its upper bound.
    pub(super) fn own(&self) -> Grip {
        if let Some(cap) = self.cap {
            // A contact that others close may have any impulse up to the cap, also if its own is at the cap.
            let is_at_cap = self.is_below((cap - self.push).abs(), NEGLIGIBLE);
            let is_closed = is_at_cap && self.is_nothing(self.gap.abs());
            if cap - self.push < -self.gap && !is_closed {
                return Grip::Saturated(self.own_tangential());
            }
        }
        let is_closed = match self.told {
            Some(mode) => mode != ContactMode::Open,
            None => self.push > self.gap,
        };
        if is_closed && !self.is_below(self.push, Sum::ROUNDING) {
            Grip::Closed(self.own_tangential())
        } else {
            Grip::Open
        }
    }

    pub(super) fn own_tangential(&self) -> Tangential {
        if !self.has_friction() {
            return Tangential::Free;
        }
        let speed = norm(self.slip);
        let sticks = match self.told {
            Some(ContactMode::Stick) => true,
            Some(ContactMode::Slide) => speed == 0.0,
            _ => speed <= self.slack() || self.is_nothing(speed),
        };
        if sticks {
            return Tangential::Stick;
        }
        if self.directions.is_empty() {
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
        // If sliding does not distinguish two directions, friction acts along the one that its impulse shows.
        let is_next = match self.limit() {
            limit if !self.is_nothing(limit) => share > 0.5 * limit,
            _ => most != edge,
        };
        Tangential::Vertex(if is_next { self.next(edge) } else { edge })
    }

    /// Adds the unknown impulses and equations of this contact to the linear system `mode` of a stage (part of an
    /// impact with fixed contact modes). `grip` is the mode of the contact.
    pub(super) fn add_unknowns(&self, grip: Grip, mode: &mut Mode) {
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
        let first = mode.unknowns.len();
        let rebound = is_free.then_some(self.rebound);
        self.add_tangential(tangential, rebound, load, mode);
        let range = match tangential {
            // The direction of sliding determines friction.
            Tangential::Round(_) => Range::Any,
            _ if is_free => Range::Friction(first, self.friction),
            _ => Range::Any,
        };
        let ranges = mode.ranges.iter_mut().skip(first + usize::from(is_free));
        ranges.for_each(|own| *own = range);
    }

    /// Adds the unknown impulses and equations of a contact that pushes to the linear system `mode` of a stage (part of
    /// an impact with fixed contact modes). `tangential` is the friction mode: no friction, sticking, or sliding along
    /// a direction. `rebound` is the restitution if the normal impulse is unknown, and `None` if the impulse is
    /// prescribed. The closure `load` records a direction in which the friction impulse grows with the friction
    /// coefficient.
    fn add_tangential(
        &self,
        tangential: Tangential,
        rebound: Option<Rebound>,
        load: impl Fn([f64; 2], &mut Mode),
        mode: &mut Mode,
    ) {
        let normal = of_row(self.normal);
        match tangential {
            Tangential::Free => {
                if let Some(rebound) = rebound {
                    mode.push(normal.clone(), normal, rebound);
                }
                if let Some(direction) = self.against_slip() {
                    load(direction, mode);
                }
            }
            Tangential::Stick => {
                if let Some(rebound) = rebound {
                    mode.push(normal.clone(), normal, rebound);
                }
                for row in self.tangents {
                    mode.stop(*row, Rebound::Fixed(0.0));
                }
            }
            Tangential::Vertex(j) | Tangential::Edge(j) => {
                let direction = self.directions[j];
                if let Some(rebound) = rebound {
                    let mut along = self.form(direction.map(|d| d * self.friction));
                    along.push((self.normal, 1.0));
                    mode.push(along, normal, rebound);
                }
                load(direction, mode);
                if let Tangential::Edge(_) = tangential {
                    let side = self.form(self.edge(j));
                    mode.push(side.clone(), side, Rebound::Fixed(0.0));
                }
            }
            Tangential::Round(s) => self.add_round(s, rebound, mode),
        }
    }

    /// Adds the tangential unknowns and equations of a sliding contact with a round friction cone to the linear system
    /// `mode` of a stage (part of an impact with fixed contact modes). The contact slides in the unit direction $s$.
    /// `rebound` is the restitution if the normal impulse is unknown.
    ///
    /// The direction rotates with the velocity: $dl_t + \mu s dl_n + d\mu l_n s + \kappa(I - ss^T) d(J_tv') = 0$,
    /// $\kappa = \mu l_n/|u_t|$. Here $l_t$ and $l_n$ are the tangential and normal impulse, $\mu$ is the friction
    /// coefficient, $J_t$ holds the tangent rows, $v'$ is the velocity after the stage, and $u_t = J_tv'$ is the
    /// sliding velocity.
    fn add_round(&self, s: [f64; 2], rebound: Option<Rebound>, mode: &mut Mode) {
        let normal = of_row(self.normal);
        if let Some(rebound) = rebound {
            mode.push(normal.clone(), normal, rebound);
        }
        let (speed, limit) = (dot(s, self.slip).max(0.0), self.limit());
        let across = [-s[1], s[0]];
        let mut along = self.form(s);
        if rebound.is_some() {
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
            mode.ranges.push(Range::Any);
            mode.unknowns.push(of_row(*row));
            mode.equations.push(equation);
        }
    }

    fn decision(&self, kind: TieKind) -> Decision {
        let row = match kind {
            TieKind::Sticking | TieKind::Direction => self.tangents.first(),
            _ => None,
        };
        Decision {
            row: row.copied().unwrap_or(self.normal),
            kind,
            is_round: row.is_some() && self.directions.is_empty(),
        }
    }

    /// Adds to `out` the linear forms that must be nonnegative if this contact is in the mode `grip`.
    pub(super) fn add_forms(&self, grip: Grip, out: &mut Vec<Form>) {
        let normal = |c: f64| -> Terms { smallvec![(self.normal, c)] };
        let closing = || Form::about(self.decision(TieKind::Closing));
        let touching = || Form::about(self.decision(TieKind::Touching));
        if let Some(sign) = self.side
            && (grip != Grip::Open || self.keeps_side)
        {
            out.push(Form {
                before: normal(sign),
                ..touching()
            });
        }
        let tangential = match grip {
            Grip::Open => {
                // On both sides together, the velocity after is at least what either side asks for.
                let beyond = self.side.filter(|_| !self.keeps_side);
                let rebounds = std::iter::once(self.rebound).chain(beyond.map(|_| self.beyond));
                out.extend(rebounds.map(|rebound| Form {
                    after: normal(1.0),
                    before: normal(rebound.value()),
                    ..if self.is_unchanged {
                        touching()
                    } else {
                        closing()
                    }
                }));
                return;
            }
            Grip::Closed(tangential) => {
                // Friction within its polygon implies that the normal impulse is not negative.
                let is_implied = tangential == Tangential::Stick && !self.directions.is_empty();
                if !is_implied {
                    out.push(Form {
                        impulses: normal(1.0),
                        ..closing()
                    });
                }
                if let Some(cap) = self.cap {
                    out.push(Form {
                        impulses: normal(-1.0),
                        constant: cap,
                        ..closing()
                    });
                }
                tangential
            }
            Grip::Saturated(tangential) => {
                out.push(Form {
                    after: normal(-1.0),
                    ..closing()
                });
                tangential
            }
        };
        self.add_forms_of_friction(tangential, out);
    }

    /// Adds to `out` the linear forms that must be nonnegative if this contact pushes in the tangential mode `tangential`.
    fn add_forms_of_friction(&self, tangential: Tangential, out: &mut Vec<Form>) {
        let slip = |kind: TieKind, c: [f64; 2]| Form {
            after: self.form(c),
            ..Form::about(self.decision(kind))
        };
        let drag = |kind: TieKind, push: f64, c: [f64; 2]| {
            let mut impulses = self.form(c);
            impulses.push((self.normal, push));
            Form {
                impulses,
                ..Form::about(self.decision(kind))
            }
        };
        let (sticking, direction) = (TieKind::Sticking, TieKind::Direction);
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
                out.push(drag(sticking, self.friction, along));
            }
            Tangential::Stick => {
                for j in 0..k {
                    let (outward, reach) = self.facet(j);
                    out.push(drag(sticking, self.friction * reach, outward.map(|c| -c)));
                }
            }
            Tangential::Vertex(j) if k == 2 => {
                out.push(slip(sticking, self.directions[j].map(|d| -d)));
            }
            Tangential::Vertex(j) => {
                for i in self.neighbors(j) {
                    let side = minus(self.directions[i], self.directions[j]);
                    out.push(slip(direction, side));
                }
            }
            Tangential::Edge(j) => {
                let (side, first) = (self.edge(j), self.directions[j]);
                let square = dot(side, side);
                let along = side.map(|x| x / square);
                let own = self.friction * dot(along, first);
                out.push(drag(direction, -own, along));
                out.push(drag(direction, self.friction + own, along.map(|x| -x)));
                out.push(slip(sticking, first.map(|d| -d)));
            }
            Tangential::Round(s) => out.push(slip(sticking, s)),
        }
    }
}
