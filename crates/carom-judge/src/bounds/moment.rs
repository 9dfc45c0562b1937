//! Theorem 2: bounds for planar contacts from a quadratic function that no step increases.

use super::OuterBounds;
use super::barrier::{AffineCone, AffineMatrix, Barrier};
use super::bounded::{BoundedSet, is_signed, pushed};
use super::given::{Definite, Given, GivenContact};
use super::interval::{Interval, dot, exact, up};
use super::program::LARGEST;
use super::program::{Whitened, place, symmetric};
use carom_numeric::decisions::Budget;
use nalgebra::{DMatrix, DVector};
use std::ops::Add;

/// Distance of a bound from the best one, in units of the speed before the impact, at which the search ends.
const GAP: f64 = 1e-6;

/// Proof of an upper bound of $c\cdot v^+$ for planar contacts, by a quadratic function of the velocity that no step
/// increases (Theorem 2), $W(v) = \tfrac12v^TPv + a\cdot v$. Here $c$ is the direction of the bound, $v^\pm$ are the
/// velocities after and before the impact, $M$ is the mass matrix, and $J_{n,i}$, $J_{t,i}$, $\mu_i$ are normal row, tangent
/// row and friction coefficient of contact $i$.
///
/// With $f_{i\sigma} = M^{-1}(J_{n,i} - \mu_i\sigma J_{t,i})^T$, the velocity change by a unit normal impulse of a contact that
/// slides in direction $\sigma = \pm1$, and $\alpha, \beta \ge 0$,
///
/// $$ \lVert Pf_{i\sigma} - \alpha_{i\sigma}J_{n,i}^T + \sigma\beta_{i\sigma}J_{t,i}^T
/// \rVert_{M^{-1}} \lVert v^-\rVert_M \le -a\cdot f_{i\sigma} $$
///
/// gives $\nabla W(v')\cdot f_{i\sigma} \le 0$ at the end $v'$ of a step in which the contact pushes, because
/// there $J_{n,i}v' \le 0$, $\sigma J_{t,i}v' \ge 0$ and $\lVert v'\rVert_M \le \lVert v^-\rVert_M$. With
/// $D = v' - v$, a sum of such pushes,
///
/// $$ W(v') - W(v) = \nabla W(v')\cdot D - \tfrac12 D^TPD, $$
///
/// so that no step increases $W$ if $P$ is positive semidefinite. On a path of the inclusion the steps are
/// infinitesimal and the last term vanishes, so that $P$ may be any symmetric matrix. The bound has further
/// multipliers $\tau \ge 0$, $\nu_i \ge 0$ and $\eta_{ij} \ge 0$; a $\nu_i$ or $\eta_{ij}$ that belongs to the contact
/// pushing in the last step may have any sign. With
/// $Q = P - \sum\eta_{ij}(J_{n,i}^TJ_{n,j} + J_{n,j}^TJ_{n,i})/2 + \tau M$ positive definite and
/// $r = c - a + J_n^T\nu$,
///
/// $$ c\cdot v^+ \le W(v^-) + \tfrac\tau2\lVert v^-\rVert_M^2 + \tfrac12r^TQ^{-1}r. $$
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Contact $j$ that pushes in the last step, so that $J_{n,j}v^+ = 0$.
    pub last: usize,
    /// $P$, symmetric (n × n); positive semidefinite in a proof for [`BoundedSet::Steps`].
    pub p: Vec<Vec<f64>>,
    /// $a$ (n entries).
    pub a: Vec<f64>,
    /// $\alpha_{i\sigma}$, two per contact, contact by contact, $\sigma = +1$ first.
    pub alpha: Vec<f64>,
    /// $\beta_{i\sigma}$, two per contact, in the order of $\alpha$.
    pub beta: Vec<f64>,
    /// $\nu$, one per contact.
    pub nu: Vec<f64>,
    /// $\eta_{ij}$, one row and one column per contact, zero below the diagonal.
    pub eta: Vec<Vec<f64>>,
    /// $\tau$.
    pub tau: f64,
}

impl Moment {
    /// Checks this proof, and returns the upper bound (rounded up) of the velocity after the impact along `direction`
    /// (n entries) that it gives. `given` holds the data of the impact problem. The bound is valid for the outcomes in
    /// `set`. `None` if the proof is invalid for this set.
    pub(super) fn bound(&self, given: &Given, direction: &[f64], set: BoundedSet) -> Option<f64> {
        let n = given.velocity.len();
        if !self.is_shaped(given) || !self.never_grows(given) {
            return None;
        }
        if set == BoundedSet::Steps && !self.is_convex() {
            return None;
        }
        let a = exact(&self.a);
        let pushed = pushed(given, direction, &self.nu);
        let r: Vec<Interval> = pushed.iter().zip(&a).map(|(x, a)| *x - *a).collect();
        let (middle, error) = self.quadratic(given);
        // Subtracting a multiple of the identity makes the inverse larger, which keeps the bound valid.
        let largest = middle.diagonal().amax();
        let shift = up(up(2.0 * error) + 4.0 * f64::EPSILON * largest);
        let least = DMatrix::from_fn(n, n, |i, j| {
            middle[(i, j)] - if i == j { shift } else { 0.0 }
        });
        let inverse = Definite::new(&least, 0.0)?.inverse_square(&r);
        let v = exact(&given.velocity);
        let rows: Vec<Interval> = self.p.iter().map(|row| dot(&exact(row), &v)).collect();
        let half = Interval::from(0.5);
        let speed = Interval::from(given.speed);
        let bound = half * dot(&v, &rows)
            + dot(&a, &v)
            + half * Interval::from(self.tau) * speed * speed
            + half * Interval::from(inverse);
        bound.high.is_finite().then_some(bound.high)
    }

    fn is_shaped(&self, given: &Given) -> bool {
        let (n, m) = (given.velocity.len(), given.contacts.len());
        let is_planar = given.contacts.iter().all(|c| c.tangents.len() <= 1);
        let sizes = self.p.len() == n
            && self.p.iter().all(|row| row.len() == n)
            && self.a.len() == n
            && self.alpha.len() == 2 * m
            && self.beta.len() == 2 * m
            && self.eta.len() == m
            && self.eta.iter().all(|row| row.len() == m);
        let is_symmetric = || (0..n).all(|i| (0..i).all(|j| self.p[i][j] == self.p[j][i]));
        let is_free = |i: usize, j: usize| i == self.last || j == self.last;
        let signs = || {
            let mut pairs = (0..m).flat_map(|i| (0..m).map(move |j| (i, j)));
            pairs.all(|(i, j)| self.eta[i][j] >= 0.0 || is_free(i, j))
                && self.alpha.iter().chain(&self.beta).all(|x| *x >= 0.0)
                && self.tau >= 0.0
        };
        is_planar && sizes && is_symmetric() && signs() && is_signed(&self.nu, self.last, given)
    }

    /// True if the matrix $P$ of the quadratic function $W(v) = \tfrac12v^TPv + a\cdot v$ is zero or proven positive
    /// definite.
    fn is_convex(&self) -> bool {
        let n = self.p.len();
        if self.p.iter().flatten().all(|x| *x == 0.0) {
            return true;
        }
        let p = DMatrix::from_fn(n, n, |i, j| self.p[i][j]);
        Definite::new(&p, 0.0).is_some()
    }

    /// True if it is proven that no contact impulse increases the function $W(v) = \tfrac12v^TPv + a\cdot v$ of the
    /// velocity $v$: $\nabla W(v')\cdot f_{i\sigma} \le 0$ at the end $v'$ of every step. Here $f_{i\sigma}$ is the
    /// velocity change by a unit normal impulse of contact $i$ that slides in direction $\sigma = \pm1$, with friction
    /// included. `given` holds the data of the impact problem.
    fn never_grows(&self, given: &Given) -> bool {
        let a = exact(&self.a);
        given.contacts.iter().enumerate().all(|(i, contact)| {
            directions(contact).all(|(s, sigma)| {
                let k = 2 * i + s;
                let f = given.metric.inverse(&row(contact, sigma));
                let mut sum = Vec::with_capacity(f.len());
                for (l, p) in self.p.iter().enumerate() {
                    let mut entry = dot(&exact(p), &f)
                        - Interval::from(self.alpha[k]) * Interval::from(contact.normal[l]);
                    for tangent in &contact.tangents {
                        entry = entry
                            + Interval::from(sigma * self.beta[k]) * Interval::from(tangent[l]);
                    }
                    sum.push(entry);
                }
                up(given.norm_high(&sum) * given.speed) <= -dot(&a, &f).high
            })
        })
    }

    /// Computes the matrix $Q$ of the bound of Theorem 2 (a quadratic function that no step increases): $P + \tau M$
    /// minus the symmetric products of contact normals, weighted by the multipliers $\eta$. $M$ is the mass matrix in
    /// `given`, the data of the impact problem. Returns $Q$ in floating point and a bound on the norm of its rounding
    /// error.
    fn quadratic(&self, given: &Given) -> (DMatrix<f64>, f64) {
        let n = given.velocity.len();
        let mut square = Interval::ZERO;
        let mut middle = DMatrix::zeros(n, n);
        for k in 0..n {
            for l in 0..=k {
                let mut entry = Interval::from(self.p[k][l])
                    + Interval::from(self.tau) * Interval::from(given.mass[(k, l)]);
                for (i, left) in given.contacts.iter().enumerate() {
                    for (j, right) in given.contacts.iter().enumerate() {
                        let product = Interval::from(left.normal[k])
                            * Interval::from(right.normal[l])
                            + Interval::from(right.normal[k]) * Interval::from(left.normal[l]);
                        entry = entry - Interval::from(0.5 * self.eta[i][j]) * product;
                    }
                }
                let x = entry.middle();
                let radius = Interval::from(entry.radius(x));
                let times = if k == l { 1.0 } else { 2.0 };
                square = square + Interval::from(times) * radius * radius;
                middle[(k, l)] = x;
                middle[(l, k)] = x;
            }
        }
        (middle, square.root_high())
    }
}

/// Iterates over the sliding directions $\sigma = 1$ and $\sigma = -1$ of a planar contact, each with its index 0 or 1.
/// Only the first is given for a contact without friction.
fn directions(contact: &GivenContact) -> impl Iterator<Item = (usize, f64)> {
    let n = if contact.tangents.is_empty() { 1 } else { 2 };
    [(0, 1.0), (1, -1.0)].into_iter().take(n)
}

/// Computes, with outward rounding, the row $J_n - \mu\sigma J_t$ of the impulse of a planar contact that slides.
/// Here $J_n$ and $J_t$ are the normal and the tangent row of the contact, $\mu$ is the friction coefficient, and
/// $\sigma$ = `sigma` is the direction of sliding, 1 or -1.
fn row(contact: &GivenContact, sigma: f64) -> Vec<Interval> {
    let factor = Interval::from(sigma * contact.friction);
    (0..contact.normal.len())
        .map(|k| {
            let tangents = contact.tangents.iter();
            tangents
                .map(|tangent| -(factor * Interval::from(tangent[k])))
                .fold(Interval::from(contact.normal[k]), Add::add)
        })
        .collect()
}

/// Program for the best proof, in whitened coordinates.
pub(super) struct MomentProgram<'a> {
    whitened: &'a Whitened,
    n: usize,
    m: usize,
}

/// Proof in whitened coordinates.
pub(super) struct Found {
    pub(super) set: BoundedSet,
    n: usize,
    m: usize,
    last: usize,
    x: Vec<f64>,
    tau: f64,
}

impl<'a> MomentProgram<'a> {
    pub(super) fn new(whitened: &'a Whitened) -> Self {
        let (n, m) = (whitened.dim(), whitened.normals.len());
        Self { whitened, n, m }
    }

    fn at_a(&self) -> usize {
        self.n * (self.n + 1) / 2
    }

    fn at_alpha(&self) -> usize {
        self.at_a() + self.n
    }

    fn at_nu(&self) -> usize {
        self.at_alpha() + 4 * self.m
    }

    fn at_eta(&self) -> usize {
        self.at_nu() + self.m
    }

    /// Returns the index of the multiplier $\tau$ of the kinetic energy among the unknowns of the program. The next
    /// unknown is $t$, an upper bound of the term $r^TQ^{-1}r$.
    fn at_tau(&self) -> usize {
        self.at_eta() + self.m * (self.m + 1) / 2
    }

    /// Returns the number of unknowns of the program.
    fn count(&self) -> usize {
        self.at_tau() + 2
    }

    /// Builds the matrix $\begin{pmatrix} t & r^T \\\\ r & Q\end{pmatrix}$. If it is positive definite, the unknown $t$ is
    /// an upper bound of the term $r^TQ^{-1}r$ of the bound along `direction` (whitened, unit length).
    fn matrix(&self, direction: &DVector<f64>) -> AffineMatrix {
        let n = self.n;
        let normals = &self.whitened.normals;
        let mut matrix = AffineMatrix::zeros(n + 1, self.count());
        for (k, c) in direction.iter().enumerate() {
            matrix.constant[(0, k + 1)] = *c;
            matrix.constant[(k + 1, 0)] = *c;
        }
        let mut set = |unknown: usize, i: usize, j: usize, x: f64| {
            let term = &mut matrix.terms[unknown];
            term[(i, j)] = x;
            term[(j, i)] = x;
        };
        set(self.at_tau() + 1, 0, 0, 1.0);
        for k in 0..n {
            set(self.at_a() + k, 0, k + 1, -1.0);
            set(self.at_tau(), k + 1, k + 1, 1.0);
            for (i, normal) in normals.iter().enumerate() {
                set(self.at_nu() + i, 0, k + 1, normal[k]);
            }
            for l in 0..=k {
                set(place(n, k, l), k + 1, l + 1, 1.0);
                for i in 0..self.m {
                    for j in i..self.m {
                        let (u, w) = (&normals[i], &normals[j]);
                        let product = -0.5 * (u[k] * w[l] + w[k] * u[l]);
                        set(self.at_eta() + place(self.m, i, j), k + 1, l + 1, product);
                    }
                }
            }
        }
        matrix
    }

    /// Builds the matrix $P$ of the quadratic function $W(v) = \tfrac12v^TPv + a\cdot v$.
    fn curvature(&self) -> AffineMatrix {
        let mut matrix = AffineMatrix::zeros(self.n, self.count());
        for k in 0..self.n {
            for l in 0..=k {
                let term = &mut matrix.terms[place(self.n, k, l)];
                term[(k, l)] = 1.0;
                term[(l, k)] = 1.0;
            }
        }
        matrix
    }

    /// Builds the program for paths: signs, sizes, and no growth of the quadratic function at any contact. Contact `last`
    /// pushes in the last step, so that its multipliers may have any sign.
    fn program(&self, direction: &DVector<f64>, last: usize) -> Barrier {
        let (n, m) = (self.n, self.m);
        let mut cones = Vec::new();
        let contacts = self.whitened.normals.iter().zip(&self.whitened.slides);
        for (i, (normal, slides)) in contacts.enumerate() {
            let n_directions = if slides.is_empty() { 1 } else { 2 };
            for (s, sigma) in [1.0, -1.0].into_iter().enumerate().take(n_directions) {
                let mut f = normal.clone();
                for slide in slides {
                    f -= slide * sigma;
                }
                let mut cone = AffineCone::zeros(n + 1, self.count());
                let rows = &mut cone.rows;
                for k in 0..n {
                    rows[(0, self.at_a() + k)] = -f[k];
                    for l in 0..n {
                        rows[(k + 1, place(n, k, l))] += f[l];
                    }
                    rows[(k + 1, self.at_alpha() + 2 * i + s)] = -normal[k];
                    for slide in slides {
                        rows[(k + 1, self.at_alpha() + 2 * m + 2 * i + s)] = sigma * slide[k];
                    }
                }
                cones.push(cone);
            }
        }
        let mut floor = vec![-LARGEST; self.count()];
        floor[self.at_alpha()..self.at_nu()].fill(0.0);
        for i in (0..m).filter(|i| *i != last) {
            floor[self.at_nu() + i] = 0.0;
            for j in (i..m).filter(|j| *j != last) {
                floor[self.at_eta() + place(m, i, j)] = 0.0;
            }
        }
        floor[self.at_tau()] = 0.0;
        Barrier {
            cost: self.cost(),
            gap: GAP,
            definite: vec![self.matrix(direction)],
            cones,
            floor,
            largest: LARGEST,
        }
    }

    fn cost(&self) -> DVector<f64> {
        let p = &self.whitened.momentum;
        let mut cost = DVector::zeros(self.count());
        for k in 0..self.n {
            for l in 0..self.n {
                cost[place(self.n, k, l)] += 0.5 * p[k] * p[l];
            }
            cost[self.at_a() + k] = p[k];
        }
        cost[self.at_tau()] = 0.5;
        cost[self.at_tau() + 1] = 0.5;
        cost
    }

    /// Returns unknowns that satisfy all conditions strictly: with $P = 1$, $\alpha = \beta = 1$ no impulse changes
    /// $\tfrac12v^TPv$ at the end of a step, and $a\cdot v$ falls along all of them. `interior` is a whitened velocity
    /// along which every admissible impulse does positive work.
    fn start(&self, interior: &DVector<f64>) -> DVector<f64> {
        let mut x = DVector::zeros(self.count());
        for k in 0..self.n {
            x[place(self.n, k, k)] = 1.0;
            x[self.at_a() + k] = -interior[k];
        }
        let small = 0.1 / (self.m * self.m) as f64;
        x.rows_mut(self.at_alpha(), 4 * self.m).fill(1.0);
        x.rows_mut(self.at_nu(), self.at_tau() - self.at_nu())
            .fill(small);
        x[self.at_tau()] = 1.0;
        // Q is at least one, and |r| at most 1 + 1 + 0.1.
        x[self.at_tau() + 1] = 10.0;
        x
    }

    /// Finds the best upper bounds of the velocity along `direction` (whitened, unit length) if contact `last` pushes in
    /// the last step. Returns two proofs: for finite impulse steps, then for paths of infinitesimal steps; `None` where no
    /// proof was found. `interior` is a whitened velocity along which every admissible impulse does positive work.
    ///
    /// When the budget is used up, the best proof so far is returned. The search for paths may take half of the budget.
    pub(super) fn best(
        &self,
        direction: &DVector<f64>,
        last: usize,
        interior: &DVector<f64>,
        budget: &mut Budget,
    ) -> [Option<Found>; 2] {
        let mut program = self.program(direction, last);
        if !program.is_affordable(budget) {
            return [None, None];
        }
        let found = |set: BoundedSet, x: DVector<f64>| Found {
            set,
            n: self.n,
            m: self.m,
            last,
            tau: x[self.at_tau()],
            x: x.as_slice().to_vec(),
        };
        let start = self.start(interior);
        let paths = budget.share(1, |half| program.minimize(start.clone(), half));
        let is_convex = symmetric(self.n, paths.as_slice()).cholesky().is_some();
        let steps = if is_convex {
            paths.clone()
        } else {
            program.definite.push(self.curvature());
            program.minimize(start, budget)
        };
        [(BoundedSet::Steps, steps), (BoundedSet::Paths, paths)].map(|(set, x)| Some(found(set, x)))
    }
}

impl Found {
    /// Converts a proof from whitened coordinates and a unit direction to the given contact rows, coordinates and
    /// direction. `bounds` holds the problem with its contact rows, and `length` is the whitened length of the given
    /// direction. The conditions must hold in spite of rounding: so `shift` is subtracted from the linear part $a$, and
    /// for steps `lift` times the mass matrix is added to the matrix $P$. `None` if the solution has too few entries.
    pub(super) fn on_rows(
        &self,
        bounds: &OuterBounds,
        shift: &DVector<f64>,
        lift: f64,
        length: f64,
    ) -> Option<Moment> {
        let (n, m) = (self.n, self.m);
        let lower = &bounds.lower;
        let speed = bounds.given.speed;
        let n_p = n * (n + 1) / 2;
        // For steps τM becomes part of P. α and β, which grow by τ, keep the conditions valid, and the bound stays equal.
        let (folded, tau) = match self.set {
            BoundedSet::Steps => (self.tau + lift, 0.0),
            BoundedSet::Paths => (0.0, self.tau),
        };
        let p = symmetric(n, self.x.get(..n_p)?) + DMatrix::identity(n, n) * folded;
        let p = lower * p * lower.transpose() * (length / speed);
        let a = DVector::from_column_slice(self.x.get(n_p..n_p + n)?) - shift;
        let a = lower * a * length;
        let at_nu = n_p + n + 4 * m;
        let norms: Vec<f64> = bounds
            .given
            .contacts
            .iter()
            .map(|c| bounds.whiten(&c.normal).map_or(1.0, |u| u.norm()))
            .collect();
        let clip = |x: f64, is_free: bool| if is_free { x } else { x.max(0.0) };
        let per_mode = |first: usize, beta: bool| -> Vec<f64> {
            let modes = self.x[first..first + 2 * m].iter().enumerate();
            modes
                .map(|(k, x)| {
                    let friction = bounds.given.contacts[k / 2].friction;
                    let factor = if beta { friction } else { 1.0 };
                    (clip(*x, false) + folded) * factor * length / speed
                })
                .collect()
        };
        let eta = |i: usize, j: usize| {
            if j < i {
                return 0.0;
            }
            let x = self.x[at_nu + m + place(m, i, j)];
            clip(x, i == self.last || j == self.last) * length / (speed * norms[i] * norms[j])
        };
        Some(Moment {
            last: self.last,
            p: (0..n)
                .map(|i| (0..n).map(|j| p[(i.max(j), i.min(j))]).collect())
                .collect(),
            a: a.as_slice().to_vec(),
            alpha: per_mode(n_p + n, false),
            beta: per_mode(n_p + n + 2 * m, true),
            nu: bounds.on_rows(&self.x[at_nu..at_nu + m], self.last, length),
            eta: (0..m)
                .map(|i| (0..m).map(|j| eta(i, j)).collect())
                .collect(),
            tau: tau * length / speed,
        })
    }
}
