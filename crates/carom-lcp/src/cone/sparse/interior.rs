//! Primal-dual interior-point method with Nesterov-Todd scaling.
//!
//! With $x = (\mu\lambda_n, \lambda_t)$ and $z = (u_n/\mu + \lVert u_t\rVert, u_t)$ the problem is
//! $x \circ z = 0$ with $x$ and $z$ in the second-order cone. The derivative includes the term
//! $\lVert u_t\rVert$. A floor $p$ adds the half-line $\lambda_n - p \ge 0$ with its own dual variable. A
//! contact without friction has only that half-line.

use super::linear::{Linear, Space};
use super::natural::Point;
use super::newton::{Best, Steps};
use super::soc::{self, Scaling};
use super::system::{System, Triple};
use super::tolerances::{
    INTERIOR_STEPS, LEAST_INSIDE, NEAR, NEAR_STEPS, NEARER, PATIENT_SHORT_STEP, PATIENT_STEPS,
    PATIENT_TO_BOUNDARY, PUSH, SHORT_STEP, TO_BOUNDARY,
};
use crate::cone::problem::WIDTH;
use carom_numeric::block_lu::block::{Block, apply, zero};
use carom_numeric::kernel::norm;

/// State of a contact in the interior-point method.
#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    friction: f64,
    has_cone: bool,
    has_line: bool,
    x: Triple,
    z: Triple,
    /// Normal impulse minus the floor, and its dual variable.
    y: f64,
    a: f64,
    scaling: Option<Scaling>,
    /// Scaled point $Wx = W^{-1}z$, with $W$ the Nesterov-Todd scaling.
    scaled: Triple,
    /// Right-hand sides of the complementarity equations of cone and half-line, divided by the scaled point or
    /// `y`.
    cone_right: Triple,
    line_right: f64,
    dx: Triple,
    dz: Triple,
    dy: f64,
    da: f64,
}

/// Limits of one attempt of the interior-point method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Largest number of steps.
    n_steps: usize,
    /// Fraction of the way to the boundary of the cones.
    to_boundary: f64,
    /// A step shorter than this is followed by a push into the cones.
    short_step: f64,
}

impl Pace {
    /// Few long steps: an attempt that does not converge ends soon.
    pub(super) const QUICK: Self = Self {
        n_steps: INTERIOR_STEPS,
        to_boundary: TO_BOUNDARY,
        short_step: SHORT_STEP,
    };

    /// Many shorter steps with rare pushes into the cones.
    pub(super) const PATIENT: Self = Self {
        n_steps: PATIENT_STEPS,
        to_boundary: PATIENT_TO_BOUNDARY,
        short_step: PATIENT_SHORT_STEP,
    };
}

/// Interior-point method with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Interior {
    contacts: Vec<Inside>,
    a: Vec<Block<WIDTH>>,
    b: Vec<Block<WIDTH>>,
    members: Vec<bool>,
    missed: Vec<Triple>,
    right: Vec<Triple>,
    step: Vec<Triple>,
    point: Point,
    trial: Point,
    /// Number of steps since the start of the solve.
    pub(super) n_steps: usize,
}

impl Interior {
    /// Runs the interior-point method for the contact problem from the impulses `start`, and stores the best impulses
    /// in `best`. The starting point is first moved inside the cones, to the distance `depth` from the boundary of the
    /// cones; `depth` is a fraction of the size of the starting point. `tolerance` is the residual to be reached, and
    /// `pace` limits the number and length of the steps. Near a solution Newton's method (`steps`) takes over. Returns
    /// true if the residual of the best impulses is at most `tolerance`.
    pub(super) fn run(
        &mut self,
        system: &mut System,
        linear: &mut Linear,
        steps: &mut Steps,
        best: &mut Best,
        (start, depth, tolerance, pace): (&[Triple], f64, f64, Pace),
    ) -> bool {
        self.enter(system, start, depth);
        let mut tried = NEAR / NEARER;
        for _ in 0..pace.n_steps {
            self.n_steps += 1;
            let Some(length) = self.advance(system, linear, pace.to_boundary) else {
                break;
            };
            self.leave(system);
            if !self.point.residual.is_finite() {
                break;
            }
            best.take(&self.point);
            let residual = self.point.residual;
            if residual < NEAR && residual < NEARER * tried {
                tried = residual;
                self.trial.impulse.clear();
                self.trial.impulse.extend_from_slice(&self.point.impulse);
                let limits = (tolerance, NEAR_STEPS);
                if steps.run(system, linear, &mut self.trial, best, limits) {
                    return true;
                }
            }
            if best.residual <= tolerance {
                return true;
            }
            if length < pace.short_step {
                let depth = PUSH * self.complementarity().sqrt();
                self.push(depth);
            }
        }
        best.residual <= tolerance
    }

    /// Sets the starting point of the interior-point method: the impulses `start` and their velocities, moved
    /// strictly inside the cones. `depth` is the distance from the boundary of the cones, as a fraction of the
    /// largest impulse or velocity.
    fn enter(&mut self, system: &mut System, start: &[Triple], depth: f64) {
        self.point.impulse.clear();
        self.point.impulse.extend_from_slice(start);
        self.point.evaluate(system);
        self.members.clear();
        self.members.resize(system.m, true);
        let sizes = self.point.impulse.iter().chain(&system.velocity);
        let size = sizes.fold(LEAST_INSIDE, |a, x| f64::max(a, norm(x)));
        let depth = depth.max(LEAST_INSIDE) * size;
        self.contacts.clear();
        for i in 0..system.m {
            let (l, u) = (self.point.impulse[i], self.point.velocity[i]);
            let (friction, floor) = (system.friction[i], system.floors[i]);
            let has_cone = friction > 0.0;
            let has_line = !has_cone || floor > 0.0;
            let slide = norm(&u[1..]);
            let push = norm(&l[1..]);
            let mut contact = Inside {
                friction,
                has_cone,
                has_line,
                ..Inside::default()
            };
            let mut normal = l[0];
            if has_cone {
                let edge = depth * friction.min(1.0);
                contact.x = [(friction * normal).max(push + edge), l[1], l[2]];
                contact.x[0] = contact.x[0].max(friction * floor + edge);
                normal = contact.x[0] / friction;
                let dual = depth * friction.recip().max(1.0);
                contact.z = [(u[0] / friction).max(dual) + slide, u[1], u[2]];
            } else {
                normal = normal.max(floor + depth);
            }
            contact.y = normal - floor;
            contact.a = u[0].max(depth);
            self.contacts.push(contact);
        }
    }

    /// Writes the impulses of the current interior point into `self.point`, and computes their velocities and
    /// residual.
    fn leave(&mut self, system: &mut System) {
        self.point.impulse.clear();
        for (contact, floor) in self.contacts.iter().zip(&system.floors) {
            self.point.impulse.push(contact.impulse(*floor));
        }
        self.point.evaluate(system);
    }

    /// Returns the mean of the scalar products of primal and dual variables at the current point, which is zero at a
    /// solution. The mean runs over all friction cones and half-lines; a half-line is the condition that a normal
    /// impulse is not below its floor.
    fn complementarity(&self) -> f64 {
        self.complementarity_after(0.0)
    }

    /// Returns the mean of the scalar products of primal and dual variables after a step of the given length along
    /// the current direction (1 is a full step). The mean runs over all friction cones and half-lines; a half-line
    /// is the condition that a normal impulse is not below its floor.
    fn complementarity_after(&self, length: f64) -> f64 {
        let (mut sum, mut count) = (0.0, 0);
        for c in &self.contacts {
            if c.has_cone {
                let x: Triple = std::array::from_fn(|k| c.x[k] + length * c.dx[k]);
                let z: Triple = std::array::from_fn(|k| c.z[k] + length * c.dz[k]);
                sum += soc::dot(&x, &z);
                count += 1;
            }
            if c.has_line {
                sum += (c.y + length * c.dy) * (c.a + length * c.da);
                count += 1;
            }
        }
        sum / count as f64
    }

    /// Moves the primal and dual variables of all contacts away from the boundary of their cones, by adding `depth`
    /// to their first components.
    fn push(&mut self, depth: f64) {
        for c in &mut self.contacts {
            if c.has_cone {
                c.x[0] += depth;
                c.z[0] += depth;
                c.y += depth / c.friction;
            } else {
                c.y += depth;
            }
            c.a += depth;
        }
    }

    /// Makes one predictor-corrector step of the interior-point method. The step covers at most the fraction
    /// `to_boundary` of the way to the boundary of the cones. Returns the length of the step (1 is a full step), or
    /// `None` if the linear system cannot be solved.
    fn advance(
        &mut self,
        system: &mut System,
        linear: &mut Linear,
        to_boundary: f64,
    ) -> Option<f64> {
        self.leave(system);
        self.linearize();
        let space = if system.has_bodies {
            Space::Velocities
        } else {
            Space::Impulses
        };
        if !linear.factor(system, space, &self.a, &self.b, &self.members) {
            return None;
        }
        for c in &mut self.contacts {
            c.cone_right = c.scaled.map(|x| -x);
            c.line_right = -c.a;
        }
        self.solve(system, linear)?;
        let before = self.complementarity_after(0.0);
        let length = self.length().min(1.0);
        let after = self.complementarity_after(length);
        let centering = carom_numeric::power((after / before).clamp(0.0, 1.0), 3) * before;
        for c in &mut self.contacts {
            if let (true, Some(scaling)) = (c.has_cone, &c.scaling) {
                let first = scaling.apply(&c.dx);
                let second = scaling.apply_inverse(&c.dz);
                let mut right = soc::jordan(&c.scaled, &c.scaled);
                let cross = soc::jordan(&first, &second);
                for (r, cross) in right.iter_mut().zip(cross) {
                    *r = -*r - cross;
                }
                right[0] += centering;
                c.cone_right = soc::divide(&c.scaled, &right);
            }
            if c.has_line {
                c.line_right = -c.a + (centering - c.dy * c.da) / c.y;
            }
        }
        self.solve(system, linear)?;
        let length = (to_boundary * self.length()).min(1.0);
        for c in &mut self.contacts {
            for k in 0..WIDTH {
                c.x[k] += length * c.dx[k];
                c.z[k] += length * c.dz[k];
            }
            c.y += length * c.dy;
            c.a += length * c.da;
        }
        Some(length)
    }

    /// Linearizes the equations of the interior-point method at the current point: computes the Nesterov-Todd
    /// scalings of the cones, the blocks of the linear system, and the errors of the velocity equations.
    fn linearize(&mut self) {
        self.a.clear();
        self.b.clear();
        self.missed.clear();
        for (c, u) in self.contacts.iter_mut().zip(&self.point.velocity) {
            let mut u = *u;
            let (mut a, mut b) = (zero(), zero());
            if c.has_cone {
                let slide = norm(&c.z[1..]);
                u[0] += c.friction * slide - c.friction * c.z[0];
                u[1] -= c.z[1];
                u[2] -= c.z[2];
                let scaling = Scaling::new(&c.x, &c.z);
                c.scaled = scaling.apply(&c.x);
                a = scaling.squared();
                for k in 0..WIDTH {
                    a[0][k] *= c.friction;
                    a[k][0] *= c.friction;
                    b[k][k] = 1.0;
                }
                if slide > 0.0 {
                    b[0][1] = c.friction * c.z[1] / slide;
                    b[0][2] = c.friction * c.z[2] / slide;
                }
                c.scaling = Some(scaling);
            } else {
                (a[1][1], a[2][2], b[0][0]) = (1.0, 1.0, 1.0);
                (u[1], u[2]) = (0.0, 0.0);
            }
            if c.has_line {
                a[0][0] += c.a / c.y;
                u[0] -= c.a;
            }
            self.a.push(a);
            self.b.push(b);
            self.missed.push(u);
        }
    }

    /// Solves the linear system for the step of all primal and dual variables, with the factors computed before.
    /// `None` if a result is not finite.
    fn solve(&mut self, system: &System, linear: &mut Linear) -> Option<()> {
        self.right.clear();
        for ((c, b), missed) in self.contacts.iter().zip(&self.b).zip(&self.missed) {
            let missed = apply(b, missed);
            let mut right = [0.0; WIDTH];
            if let (true, Some(scaling)) = (c.has_cone, &c.scaling) {
                right = scaling.apply(&c.cone_right);
                right[0] *= c.friction;
            }
            if c.has_line {
                right[0] += c.line_right;
            }
            for (r, missed) in right.iter_mut().zip(missed) {
                *r -= missed;
            }
            self.right.push(right);
        }
        linear.solve(system, &self.b, &self.right, &mut self.step);
        if !self.step.as_flattened().iter().all(|x| x.is_finite()) {
            return None;
        }
        for (c, l) in self.contacts.iter_mut().zip(&self.step) {
            if let (true, Some(scaling)) = (c.has_cone, &c.scaling) {
                c.dx = [c.friction * l[0], l[1], l[2]];
                let right = scaling.apply(&c.cone_right);
                let change = apply(&scaling.squared(), &c.dx);
                c.dz = std::array::from_fn(|k| right[k] - change[k]);
            }
            c.dy = l[0];
            if c.has_line {
                c.da = c.line_right - c.a / c.y * l[0];
            }
        }
        Some(())
    }

    /// Returns the largest multiple of the current step for which all primal and dual variables stay inside their
    /// cones; infinity if there is no limit.
    fn length(&self) -> f64 {
        let mut length = f64::INFINITY;
        for c in &self.contacts {
            if c.has_cone {
                length = length.min(soc::step(&c.x, &c.dx));
                length = length.min(soc::step(&c.z, &c.dz));
            }
            if c.has_line {
                for (value, change) in [(c.y, c.dy), (c.a, c.da)] {
                    if change < 0.0 {
                        length = length.min(-value / change);
                    }
                }
            }
        }
        length
    }
}

impl Inside {
    /// Returns the impulse of the contact at the current interior point: normal and two tangents. `floor` is its
    /// least normal impulse.
    fn impulse(&self, floor: f64) -> Triple {
        if self.has_cone {
            [self.x[0] / self.friction, self.x[1], self.x[2]]
        } else {
            [floor + self.y, 0.0, 0.0]
        }
    }
}
