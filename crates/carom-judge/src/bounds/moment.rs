//! Theorem 2: bounds for planar contacts from a quadratic function that no step increases.

use super::OuterBounds;
use super::affine::Affine;
use super::bounded::{BoundedSet, is_signed, pushed};
use super::budget::Budget;
use super::given::{Definite, Given, GivenContact};
use super::interval::{Interval, dot, exact, up};
use super::program::{ConicProgram, Whitened, place, symmetric};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use std::ops::Add;

/// Largest number of rounds in which cuts approximate the semidefinite constraint.
const MAX_ROUNDS: usize = 40;

/// A matrix counts as semidefinite if no eigenvalue is below minus this value; the remaining violation is added to the
/// bound.
const SEMIDEFINITE: f64 = 1e-7;

/// Smallest eigenvalue of a matrix that must be positive definite, in whitened coordinates: far above the rounding of the
/// check, far below values that would change a bound.
const MARGIN: f64 = 1e-9;

/// Largest absolute value of every unknown of the conic program.
const LARGEST: f64 = 1e3;

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

/// Conic program for the best proof, in whitened coordinates.
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

    /// Returns the work (about multiply-adds) of building the first conic program. The program has a 2 × 2 condition for
    /// each pair of axes, and each condition consists of three linear forms in all unknowns.
    fn setup(&self) -> u64 {
        let (axes, unknowns) = (self.n as u64 + 1, self.at_tau() as u64 + 2);
        let entries = axes.saturating_mul(axes);
        entries.saturating_mul(entries.saturating_add(unknowns).saturating_mul(4))
    }

    /// Returns the work (about multiply-adds) of adding one round of cuts, conditions that exclude the last solution.
    /// There are three linear forms for each eigenvector except the first.
    fn cuts(&self) -> u64 {
        let (axes, unknowns) = (self.n as u64 + 1, self.at_tau() as u64 + 2);
        let entries = axes.saturating_mul(axes);
        entries.saturating_mul(axes).saturating_mul(3 * unknowns)
    }

    fn zero(&self) -> Affine {
        Affine {
            terms: vec![0.0; self.at_tau() + 2],
            constant: 0.0,
        }
    }

    fn unknown(&self, k: usize) -> Affine {
        let mut unknown = self.zero();
        unknown.terms[k] = 1.0;
        unknown
    }

    /// Builds the matrix $\begin{pmatrix} t & r^T \\\\ r & Q\end{pmatrix}$, each entry an affine function of the
    /// unknowns of the program. If the matrix is positive semidefinite, $t$ is an upper bound of the term $r^TQ^{-1}r$
    /// of the bound along `direction` (whitened, unit length).
    fn matrix(&self, direction: &DVector<f64>) -> Vec<Vec<Affine>> {
        let normals = &self.whitened.normals;
        let mut matrix = vec![vec![self.zero(); self.n + 1]; self.n + 1];
        matrix[0][0] = self.unknown(self.at_tau() + 1);
        for k in 0..self.n {
            let mut r = self.zero();
            r.constant = direction[k];
            r.terms[self.at_a() + k] = -1.0;
            for (i, normal) in normals.iter().enumerate() {
                r.terms[self.at_nu() + i] = normal[k];
            }
            matrix[0][k + 1] = r.clone();
            matrix[k + 1][0] = r;
            for l in 0..self.n {
                let q = &mut matrix[k + 1][l + 1];
                q.terms[place(self.n, k, l)] = 1.0;
                if k == l {
                    q.terms[self.at_tau()] = 1.0;
                }
                for i in 0..self.m {
                    for j in i..self.m {
                        let (u, w) = (&normals[i], &normals[j]);
                        q.terms[self.at_eta() + place(self.m, i, j)] =
                            -0.5 * (u[k] * w[l] + w[k] * u[l]);
                    }
                }
            }
        }
        matrix
    }

    /// Builds the conic program with the constraints of every round: signs, sizes, and no growth of the quadratic
    /// function at any contact. Contact `last` pushes in the last step, so that its multipliers may have any sign.
    fn constraints(&self, last: usize) -> ConicProgram {
        let mut program = ConicProgram::default();
        let Whitened {
            normals, slides, ..
        } = self.whitened;
        for (i, (normal, slides)) in normals.iter().zip(slides).enumerate() {
            let n_directions = if slides.is_empty() { 1 } else { 2 };
            for (s, sigma) in [1.0, -1.0].into_iter().enumerate().take(n_directions) {
                let mut f = normal.clone();
                for slide in slides {
                    f -= slide * sigma;
                }
                let mut head = self.zero();
                for (k, f) in f.iter().enumerate() {
                    head.terms[self.at_a() + k] = -f;
                }
                let mut rows = vec![head.row()];
                for k in 0..self.n {
                    let mut entry = self.zero();
                    for (l, f) in f.iter().enumerate() {
                        entry.terms[place(self.n, k, l)] += f;
                    }
                    entry.terms[self.at_alpha() + 2 * i + s] = -normal[k];
                    for slide in slides {
                        entry.terms[self.at_alpha() + 2 * self.m + 2 * i + s] = sigma * slide[k];
                    }
                    rows.push(entry.row());
                }
                program.norm_below(rows);
            }
        }
        for k in 0..4 * self.m {
            program.nonnegative(vec![(self.at_alpha() + k, 1.0)], 0.0);
        }
        for i in 0..self.m {
            if i != last {
                program.nonnegative(vec![(self.at_nu() + i, 1.0)], 0.0);
            }
            for j in i..self.m {
                if i != last && j != last {
                    program.nonnegative(vec![(self.at_eta() + place(self.m, i, j), 1.0)], 0.0);
                }
            }
        }
        program.nonnegative(vec![(self.at_tau(), 1.0)], 0.0);
        for k in 0..self.at_tau() + 2 {
            program.nonnegative(vec![(k, -1.0)], LARGEST);
            program.nonnegative(vec![(k, 1.0)], LARGEST);
        }
        program
    }

    fn cost(&self) -> Vec<f64> {
        let p = &self.whitened.momentum;
        let mut cost = vec![0.0; self.at_tau() + 2];
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

    /// Builds the matrix $P$ of the quadratic function $W(v) = \tfrac12v^TPv + a\cdot v$, each entry an affine function
    /// of the unknowns of the program.
    fn curvature(&self) -> Vec<Vec<Affine>> {
        let entry = |k: usize, l: usize| self.unknown(place(self.n, k, l));
        (0..self.n)
            .map(|k| (0..self.n).map(|l| entry(k, l)).collect())
            .collect()
    }

    /// Finds the best certified upper bounds of the velocity along `direction` (whitened, unit length) if contact
    /// `last` pushes in the last step. Returns two proofs: for finite impulse steps, then for paths of infinitesimal
    /// steps; `None` where no proof was found.
    ///
    /// The condition of a positive semidefinite matrix is replaced by conditions on 2 × 2 sections of this matrix. The
    /// first sections lie along the axes, further ones along eigenvectors for which a solution violates the condition.
    /// A larger multiplier $\tau$ of the kinetic energy repairs the remaining violation, so that the solution of every
    /// round gives a proof. The program for paths has fewer constraints; its sections belong to the program for steps
    /// as well.
    ///
    /// When the budget is used up, the best proof so far is returned. The search for paths may take half of the budget.
    pub(super) fn best(
        &self,
        direction: &DVector<f64>,
        last: usize,
        budget: &mut Budget,
    ) -> [Option<Found>; 2] {
        if budget.times(self.setup(), 1).is_none() {
            return [None, None];
        }
        budget.spend(self.setup());
        let matrix = self.matrix(direction);
        let mut program = self.constraints(last);
        self.add_sections(&mut program, &matrix);
        let mut search = Search {
            unknowns: self,
            last,
            program,
            best: [None, None],
        };
        let is_convex = budget.share(1, |half| search.run(&[&matrix], &matrix, half));
        if !is_convex {
            let curvature = self.curvature();
            self.add_sections(&mut search.program, &curvature);
            search.run(&[&matrix, &curvature], &matrix, budget);
        }
        search.best.map(|found| found.map(|(_, found)| found))
    }

    /// Adds the conditions that all 2 × 2 sections of a matrix, one for each pair of axes, are positive semidefinite.
    /// The entries of `form` are affine functions of the unknowns of the program.
    fn add_sections(&self, program: &mut ConicProgram, form: &[Vec<Affine>]) {
        let axes = DMatrix::identity(form.len(), form.len());
        for k in 1..form.len() {
            for l in 0..k {
                let (u, w) = (axes.column(k).into_owned(), axes.column(l).into_owned());
                section(program, self, form, &u, &w);
            }
        }
    }

    /// Adds conditions (cuts) that exclude the solution `x` if the symmetric matrix `form` is not positive
    /// semidefinite there. The entries of `form` are affine functions of the unknowns of the program. Returns true if
    /// cuts were added.
    fn cut(&self, program: &mut ConicProgram, form: &[Vec<Affine>], x: &[f64]) -> bool {
        let size = form.len();
        let eigen = SymmetricEigen::new(DMatrix::from_fn(size, size, |i, j| form[i][j].at(x)));
        let mut order: Vec<usize> = (0..size).collect();
        order.sort_by(|i, j| eigen.eigenvalues[*i].total_cmp(&eigen.eigenvalues[*j]));
        if eigen.eigenvalues[order[0]] >= -SEMIDEFINITE {
            return false;
        }
        let vector = |k: usize| eigen.eigenvectors.column(order[k]).into_owned();
        for k in 1..size {
            section(program, self, form, &vector(0), &vector(k));
        }
        // A 1 × 1 matrix has no 2 × 2 sections.
        if size == 1 {
            program.nonnegative(form[0][0].row().0, form[0][0].constant);
        }
        true
    }

    /// Returns the smallest eigenvalue of the matrix $P$ of the quadratic function at the solution `x` of the program.
    fn least_curvature(&self, x: &[f64]) -> f64 {
        symmetric(self.n, x).symmetric_eigenvalues().min()
    }

    /// Computes the smallest bound that a solution `x` of the program gives if only the multiplier $\tau$ of the kinetic
    /// energy may change. Returns the bound and $\tau$. `matrix` is the matrix that must be positive semidefinite, with
    /// affine functions of the unknowns as entries. `set` tells if finite steps or paths are bounded.
    fn repaired(&self, matrix: &[Vec<Affine>], x: &[f64], set: BoundedSet) -> Option<(f64, f64)> {
        let given = x[self.at_tau()];
        let q = DMatrix::from_fn(self.n, self.n, |i, j| matrix[i + 1][j + 1].at(x));
        let r = DVector::from_fn(self.n, |i, _| matrix[0][i + 1].at(x));
        let eigen = SymmetricEigen::new(q);
        let parts = eigen.eigenvectors.tr_mul(&r);
        // Eigenvalues of Q without the term τ M.
        let rest: Vec<f64> = eigen.eigenvalues.iter().map(|q| q - given).collect();
        let mut least = rest.iter().fold(0.0, |a, q| f64::max(a, -q)) + MARGIN;
        if set == BoundedSet::Steps {
            least = least.max(MARGIN - self.least_curvature(x));
        }
        let slope = |tau: f64| -> f64 {
            let terms = rest.iter().zip(parts.iter());
            1.0 - terms
                .map(|(q, r)| carom_numeric::power(r / (q + tau), 2))
                .sum::<f64>()
        };
        let (mut low, mut high) = (least, least + parts.norm() + 1.0);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if slope(middle) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let tau = high;
        let inverse: f64 = rest
            .iter()
            .zip(parts.iter())
            .map(|(q, r)| r * r / (q + tau))
            .sum();
        let cost = self.cost();
        let linear: f64 = cost[..self.at_alpha()]
            .iter()
            .zip(x)
            .map(|(c, x)| c * x)
            .sum();
        let value = linear + 0.5 * tau + 0.5 * inverse;
        value.is_finite().then_some((value, tau))
    }
}

/// Rounds of cuts for one direction and one last contact.
struct Search<'s, 'a> {
    unknowns: &'s MomentProgram<'a>,
    last: usize,
    program: ConicProgram,
    /// Best bounds with their proofs, for steps and for paths.
    best: [Option<(f64, Found)>; 2],
}

impl Search<'_, '_> {
    /// Solves the program, adds cuts (conditions that exclude the last solution), and repeats this until all matrices in
    /// `definite` are positive semidefinite or the budget ends. Stores the best proofs. Returns true if the last solution
    /// proves one bound for both steps and paths, because its matrix $P$ is positive semidefinite. `matrix` is the matrix
    /// whose semidefiniteness proves the bound. The entries of all matrices are affine functions of the unknowns.
    fn run(
        &mut self,
        definite: &[&Vec<Vec<Affine>>],
        matrix: &[Vec<Affine>],
        budget: &mut Budget,
    ) -> bool {
        let unknowns = self.unknowns;
        let cost = unknowns.cost();
        let mut is_convex = false;
        for _ in 0..MAX_ROUNDS {
            let Some(x) = self.program.minimize(&cost, budget) else {
                break;
            };
            self.offer(matrix, &x);
            is_convex = unknowns.least_curvature(&x) >= -SEMIDEFINITE;
            let mut is_cut = false;
            budget.spend(unknowns.cuts().saturating_mul(definite.len() as u64));
            for form in definite {
                is_cut |= unknowns.cut(&mut self.program, form, &x);
            }
            if !is_cut {
                break;
            }
        }
        is_convex
    }

    /// Stores the proof that the solution `x` of the program gives if its bound is smaller than the best one so far,
    /// separately for finite steps and for paths. `matrix` is the matrix whose semidefiniteness proves the bound, with
    /// affine functions of the unknowns as entries.
    fn offer(&mut self, matrix: &[Vec<Affine>], x: &[f64]) {
        for (set, best) in [BoundedSet::Steps, BoundedSet::Paths]
            .into_iter()
            .zip(&mut self.best)
        {
            if let Some((value, tau)) = self.unknowns.repaired(matrix, x, set)
                && best.as_ref().is_none_or(|(b, _)| value < *b)
            {
                let found = Found {
                    set,
                    n: self.unknowns.n,
                    m: self.unknowns.m,
                    last: self.last,
                    x: x.to_vec(),
                    tau,
                };
                *best = Some((value, found));
            }
        }
    }
}

/// Adds the condition that a symmetric matrix is positive semidefinite in the plane of two vectors `u` and `w`. The
/// entries of `matrix` are affine functions of the unknowns of the program.
fn section(
    program: &mut ConicProgram,
    unknowns: &MomentProgram<'_>,
    matrix: &[Vec<Affine>],
    u: &DVector<f64>,
    w: &DVector<f64>,
) {
    let form = |a: &DVector<f64>, b: &DVector<f64>| {
        let mut sum = unknowns.zero();
        for (row, a) in matrix.iter().zip(a.iter()) {
            for (entry, b) in row.iter().zip(b.iter()) {
                if a * b != 0.0 {
                    sum.add(entry, a * b);
                }
            }
        }
        sum
    };
    let (uu, uw, ww) = (form(u, u), form(u, w), form(w, w));
    let (mut sum, mut difference, mut cross) = (uu.clone(), uu, unknowns.zero());
    sum.add(&ww, 1.0);
    difference.add(&ww, -1.0);
    cross.add(&uw, 2.0);
    program.norm_below(vec![sum.row(), difference.row(), cross.row()]);
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
