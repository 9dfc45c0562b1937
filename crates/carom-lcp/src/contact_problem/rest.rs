//! Rest: do impulses inside the friction cones balance the momentum?
//!
//! The impulses that minimize the kinetic energy afterwards, $\lambda = P_K(\lambda - u)$ with the Euclidean projection onto
//! the cones, leave the projection of the velocity on the cone of all $v$ with $J_iv \in K_i^\ast$. It vanishes if and only if some
//! impulses in the cones balance the momentum, and these impulses satisfy the law of friction, too. Rest is declared by a
//! balance of impulses, never by a small velocity.

use super::checks::WIDTH;
use super::law::{Law, Triple};
use super::linear::Linear;
use super::newton::{ATTEMPTS, Limits, Newton, Point};
use super::problem::Kind;
use super::proximal::Proximal;
use super::solution::NO_IMPULSE;
use super::system::{Springs, System};
use carom_numeric::kernel::{larger, norm};

/// Largest number of steps of one attempt.
const STEPS: usize = 25;

/// Residual at which an attempt ends: the least energy is found, whether it is zero or not.
const FOUND: f64 = 1e-13;

/// Largest number of proximal points, and the first compliance.
const PROXIMAL: (usize, f64) = (25, 0.01);

/// Residual at which a balance is tried first, and its fall from one trial to the next.
const NEAR: [f64; 2] = [1e-5, 0.01];

/// Distance from the cones up to which impulses of a balance count as inside, relative to the momentum of the lighter body.
const INSIDE: f64 = 1e-9;

/// Error of a balance, relative to the momentum.
const BALANCED: f64 = 1e-11;

/// Regularizations of a balance, one after the other. Rounding errors divided by the first move impulses that share a load by
/// 1e-12; the second serves ill-conditioned matrices, on which corrections with the first gain too little.
const LEAST_NORM: [f64; 2] = [1e-4, 1e-8];

/// Distance from the cones, relative to the largest impulse, from which on a correction ends: others would not lead back. Where
/// they would, since rows are ill-conditioned, the search that follows finds the balance.
const FAR: f64 = 0.1;

/// Least pivot of a matrix that is regular in spite of its regularization: the only impulses of a balance are known then.
const REGULAR: f64 = 0.01;

/// An approximate proof that rest is impossible holds for all impulses up to this many times the present ones.
const LARGEST: f64 = 100.0;

/// Kinetic energy below which nothing is proven, relative to that before: the square of the velocity from which on a problem
/// counts as close to its threshold.
const LEAST_ENERGY: f64 = 1e-14;

/// Search for rest with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    /// Springs without effect.
    rigid: Springs,
    trial: Point,
    a: Vec<[[f64; WIDTH]; WIDTH]>,
    b: Vec<[[f64; WIDTH]; WIDTH]>,
    soft: Vec<f64>,
    step: Vec<Triple>,
    /// True if the impulses have the least $\sum\operatorname{tr}(G_{ii})|\lambda_i|^2$ of all that balance.
    pub(super) is_least: bool,
    /// Contacts that take no part in a balance, or empty.
    idle: Vec<bool>,
    /// True if the search found rest.
    rests: bool,
    /// Residual below which the next balance is tried.
    next: f64,
    mobility: f64,
}

impl Rest {
    /// Searches for impulses in the cones that balance the momentum, from zero. Returns true if they are found: `point` then
    /// holds them. Otherwise it holds the best impulses of the search.
    pub(super) fn find(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        (newton, proximal): (&mut Newton, &mut Proximal),
        point: &mut Point,
    ) -> bool {
        let n = system.len();
        self.rests = false;
        self.mobility = system.largest_mobility();
        self.remove_springs(n);
        point.clear(n);
        point.residual = f64::INFINITY;
        self.is_least = true;
        if self.balance((system, linear), point, INSIDE) {
            return true;
        }
        self.is_least = false;
        point.clear(n);
        if linear.least_pivot > REGULAR {
            return false;
        }
        let rigid = std::mem::take(&mut self.rigid);
        let found = self.search((system, linear), (newton, proximal), point, &rigid);
        self.rigid = rigid;
        found
    }

    /// Changes the impulses of `point` by the least ones that balance the momentum. Returns true if they do and lie in the cones;
    /// otherwise `point` stays as it is.
    pub(super) fn keep(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        point: &mut Point,
    ) -> bool {
        system.velocity_after(&point.impulse, &mut point.velocity);
        point.residual = 0.0;
        self.balance((system, linear), point, INSIDE)
    }

    /// Makes all contacts rigid.
    fn remove_springs(&mut self, n: usize) {
        self.rigid.compliance.clear();
        self.rigid.compliance.resize(n, 0.0);
        self.rigid.preload.clear();
        self.rigid.preload.resize(n, [0.0; WIDTH]);
    }

    /// Corrects impulses near a balance, if possible by the least change. Returns true if they end in the cones.
    pub(super) fn end(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        newton: &mut Newton,
        point: &mut Point,
    ) -> bool {
        if self.balance_pressed((system, linear), point)
            || self.balance((system, linear), point, 10.0 * FOUND)
        {
            return true;
        }
        let limits = Limits {
            tolerance: FOUND,
            steps: STEPS,
            polish: None,
            first: linear.first_attempt(),
        };
        self.remove_springs(system.len());
        newton.run((system, linear), (Law::Cone, &self.rigid), point, limits);
        self.balance((system, linear), point, FOUND)
            || self.balance((system, linear), point, INSIDE)
    }

    fn search(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        (newton, proximal): (&mut Newton, &mut Proximal),
        point: &mut Point,
        rigid: &Springs,
    ) -> bool {
        let (mut is_over, mut is_found) = (false, true);
        // The first attempt can end at impulses so large that rounding errors hide a balance.
        for first in linear.first_attempt()..ATTEMPTS.len() {
            if is_over || !is_found {
                break;
            }
            let limits = Limits {
                tolerance: FOUND,
                steps: STEPS,
                polish: None,
                first,
            };
            point.clear(system.len());
            self.next = NEAR[0];
            is_found = newton.run_until(
                (system, linear),
                (Law::Cone, rigid),
                point,
                limits,
                |system, linear, point| {
                    is_over = self.is_decided((system, linear), point);
                    is_over
                },
            );
            if !is_over && is_found && self.balance((system, linear), point, INSIDE) {
                return true;
            }
        }
        if !is_over && !is_found {
            let limits = (PROXIMAL.0, PROXIMAL.1, FOUND);
            proximal.attempt(
                (system, linear),
                newton,
                (Law::Cone, rigid),
                point,
                limits,
                |system, linear, point| {
                    is_over = self.is_decided((system, linear), point);
                    is_over
                },
            );
        }
        self.rests || (!is_over && self.balance((system, linear), point, INSIDE))
    }

    /// True if the impulses prove rest (`point` then holds them), or if they prove that it is impossible.
    fn is_decided(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        point: &mut Point,
    ) -> bool {
        if self.is_impossible(system, point) {
            return true;
        }
        if point.residual > self.next {
            return false;
        }
        self.next = NEAR[1] * point.residual;
        self.rests = self.balance((system, linear), point, FOUND);
        self.rests
    }

    /// True if the velocities $u$ after the impulses prove that no impulses balance the momentum.
    ///
    /// Velocities $z$ with $J_iz \in K_i^\ast$ give $0 \le \lambda\cdot Jz = -z\cdot Mv^-$ for all impulses of a balance, so that
    /// $z\cdot Mv^- > 0$ is a proof. The velocities $z = v^- + M^{-1}J^T\lambda$ have
    /// $z\cdot Mv^- = |z|_M^2 - u\cdot\lambda \ge |u|^2/\gamma - u\cdot\lambda$ with the largest eigenvalue $\gamma$ of $G$.
    /// If $u$ lies outside $K^\ast$ by $\nu_i$, the proof holds for all impulses up to the excess divided by $\sum\nu_i$.
    fn is_impossible(&self, system: &System, point: &Point) -> bool {
        let (mut square, mut power, mut terms) = (0.0, 0.0, 0.0);
        let (mut outside, mut largest) = (0.0, system.speed);
        for ((contact, u), l) in system
            .contacts
            .iter()
            .zip(&point.velocity)
            .zip(&point.impulse)
        {
            let u = match contact.friction {
                0.0 => [u[0], 0.0, 0.0],
                _ => *u,
            };
            square += u.iter().map(|x| x * x).sum::<f64>();
            for (u, l) in u.iter().zip(l) {
                power += u * l;
                terms += (u * l).abs();
            }
            match contact.kind {
                Kind::Box(limit) => power += limit * u[0].abs(),
                _ => outside += (contact.friction * norm(&u[1..]) - u[0]).max(0.0),
            }
            largest = largest.max(norm(l));
        }
        let excess = square / self.mobility - power;
        let rounding = f64::EPSILON * system.len() as f64 * terms;
        excess > LEAST_ENERGY * system.speed * system.speed
            && excess > LARGEST * (largest * outside + rounding)
    }

    /// Balances by the contacts alone that press: impulses that are rounding errors become zero. Returns true if they end in the
    /// cones; otherwise `point` stays as it is.
    fn balance_pressed(&mut self, parts: (&mut System, &mut Linear), point: &mut Point) -> bool {
        let sizes = point.impulse.iter().map(|l| norm(l));
        let nothing = NO_IMPULSE * sizes.fold(0.0, f64::max);
        let pressed = |l: &Triple| l[0].abs() > nothing;
        if point.impulse.iter().all(pressed) {
            return false;
        }
        self.idle.extend(point.impulse.iter().map(|l| !pressed(l)));
        let is_balanced = self.balance(parts, point, 10.0 * FOUND);
        self.idle.clear();
        is_balanced
    }

    /// Corrects the impulses by the least ones that balance the momentum, $u = 0$. Returns true if they do and lie in the
    /// cones; otherwise `point` stays as it is.
    fn balance(
        &mut self,
        (system, linear): (&mut System, &mut Linear),
        point: &mut Point,
        inside: f64,
    ) -> bool {
        self.trial.set(&point.impulse);
        for (l, _) in { self.trial.impulse.iter_mut() }
            .zip(&self.idle)
            .filter(|(_, is_idle)| **is_idle)
        {
            *l = [0.0; WIDTH];
        }
        self.pose(system, 0.0);
        self.trial.velocity.clone_from(&point.velocity);
        let mut error = if point.residual <= FOUND {
            self.imbalance(system)
        } else {
            f64::INFINITY
        };
        for least in LEAST_NORM {
            if error <= BALANCED * system.speed {
                break;
            }
            error = self.correct((system, linear), least);
            if error == f64::INFINITY {
                return false;
            }
        }
        if !(error <= BALANCED * system.speed) {
            return false;
        }
        if self.outside(system) > inside * system.speed {
            return false;
        }
        std::mem::swap(&mut point.impulse, &mut self.trial.impulse);
        std::mem::swap(&mut point.velocity, &mut self.trial.velocity);
        true
    }

    /// Returns the largest distance of the trial impulses from the cones.
    fn outside(&self, system: &System) -> f64 {
        let distance = |(i, l): (usize, &Triple)| {
            let (p, _) = system.contacts[i].project(Law::Cone, l);
            norm(&[l[0] - p[0], l[1] - p[1], l[2] - p[2]])
        };
        let all = self.trial.impulse.iter().enumerate();
        all.map(distance).fold(0.0, f64::max)
    }

    /// Corrects the trial impulses until corrections no longer halve the velocities that they leave, and returns the largest
    /// one; zero if it is a rounding error at every contact. Infinity if the balance lies outside the cones: for sure if the
    /// matrix is regular, by far otherwise.
    fn correct(&mut self, (system, linear): (&mut System, &mut Linear), least: f64) -> f64 {
        self.pose(system, least.max(linear.least_softness()));
        system.velocity_after(&self.trial.impulse, &mut self.trial.velocity);
        let mut error = self.imbalance(system);
        if error == 0.0 || !linear.factor(system, &self.a, &self.b, &self.soft) {
            return error;
        }
        loop {
            // The last correction, of velocities that are rounding errors, serves the impulses.
            let is_last = error == 0.0;
            self.step.clear();
            for (b, u) in self.b.iter().zip(&self.trial.velocity) {
                self.step.push(std::array::from_fn(|k| -b[k][k] * u[k]));
            }
            linear.solve(system, &mut self.step);
            for (l, d) in self.trial.impulse.iter_mut().zip(&self.step) {
                *l = super::system::add(*l, d);
            }
            let unknown = if linear.least_pivot > REGULAR {
                10.0 * least / linear.least_pivot
            } else {
                FAR
            };
            let sizes = self.trial.impulse.iter().map(|l| norm(l));
            if self.outside(system) > unknown * sizes.fold(0.0, f64::max) {
                return f64::INFINITY;
            }
            system.velocity_after(&self.trial.impulse, &mut self.trial.velocity);
            let before = error;
            error = self.imbalance(system);
            if is_last || !(error < 0.5 * before) {
                return error;
            }
        }
    }

    /// Fills the blocks of the system for a balance: rows with friction are brought to rest, rows without it are not pushed.
    fn pose(&mut self, system: &System, least: f64) {
        self.a.clear();
        self.b.clear();
        self.soft.clear();
        for (i, contact) in system.contacts.iter().enumerate() {
            let width = match contact.friction {
                _ if self.idle.get(i).is_some_and(|is_idle| *is_idle) => 0,
                0.0 => 1,
                _ => contact.kind.width(),
            };
            let unit = |i, j, is_in: bool| f64::from(u8::from(i == j && is_in));
            let block = |is_b: bool| {
                std::array::from_fn(|i| std::array::from_fn(|j| unit(i, j, (i < width) == is_b)))
            };
            self.a.push(block(false));
            self.b.push(block(true));
            self.soft.push(least * system.mobility(i));
        }
    }

    /// Returns the largest velocity that is left of a balance; zero if it is a rounding error at every contact.
    fn imbalance(&self, system: &System) -> f64 {
        let mut worst = 0.0f64;
        for (i, (b, u)) in self.b.iter().zip(&self.trial.velocity).enumerate() {
            let size = norm(&[b[0][0] * u[0], b[1][1] * u[1], b[2][2] * u[2]]);
            if !(size <= system.rounding(i, &self.trial.impulse)) {
                worst = larger(worst, size);
            }
        }
        worst
    }
}
