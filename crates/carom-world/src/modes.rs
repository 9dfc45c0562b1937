//! Direct solution in given modes of friction: the modes tell which contacts press, stick and slide, and all rows whose velocity
//! must vanish are solved together.
//!
//! With the unknown impulses $x$ of the modes the rows are $Ax = r$, where $r$ are the missing velocities. Contacts that share a
//! load make $A$ singular; of all solutions the one nearest to the initial impulses is wanted. It is computed by orthogonal
//! factors, or by the iteration
//!
//! $$ x_{k+1} - x_k = (A + \varepsilon I)^{-1}A(A + \varepsilon I)^{-1}(r - Ax_k), $$
//!
//! which converges in a few iterations and whose factors cost a tenth. The factor $A$ in the middle removes the part of $r$ that
//! no impulse changes; otherwise that part would be divided by $\varepsilon$. Factors are kept for all kicks with an equal
//! mobility.

use super::kick::{ACCURACY, Friction, Kick, SOFT};
use carom_numeric::dense::{lu, lu_solve};
use carom_numeric::kernel;
use carom_numeric::orthogonal::Orthogonal;
use nalgebra::{Vector2, Vector3};

/// A column of the contacts' mobility is dependent if less than this fraction of the longest column remains after
/// orthogonalization against the others: the corners of a face share one load.
const DEPENDENT: f64 = 1e-11;

/// Regularization $\varepsilon$ of the equations, as a fraction of the largest entry: below the independent part of most nearly
/// dependent rows, and so far above rounding that the impulses of contacts that share a load have nine digits.
const YIELDING: f64 = 1e-7;

/// Largest number of iterations of the regularized equations. Each reduces the error by the factor [`YIELDING`] over the smallest
/// mobility.
const TURNS: usize = 8;

/// Largest number of rounds, each with the modes of the solution before. Most kicks need fewer than ten; where a load can be
/// shared in several ways, modes can alternate without end.
const ROUNDS: usize = 12;

/// Largest number of alternations between rounds of modes and sweeps when there are many contacts. For a hundred contacts each
/// costs a tenth of the other methods.
pub(super) const RESTARTS: usize = 16;

/// Number of alternations after which a velocity error of [`SOFT`] is accepted: more alternations seldom improve it.
const EXACT: usize = 3;

/// Unknown impulses of given modes, and the rows whose velocity vanishes in these modes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Unknowns {
    /// Contact and direction (normal, tangents) of each unknown impulse.
    columns: Vec<(usize, Vector3<f64>)>,
    rows: Vec<usize>,
}

impl Unknowns {
    /// Determines the mode of each contact (open, sticking, sliding) from its impulse, and lists the unknown impulses and the
    /// contact rows whose velocity vanishes in these modes. `friction`: friction coefficient and friction law of each contact.
    fn of(friction: &[(f64, Friction)], impulses: &[f64]) -> Self {
        let mut unknowns = Self::default();
        for (c, (mu, friction)) in friction.iter().enumerate() {
            let (n, t) = (
                impulses[3 * c],
                Vector2::new(impulses[3 * c + 1], impulses[3 * c + 2]),
            );
            if n <= 0.0 {
                continue;
            }
            let slides = match friction {
                Friction::Frictionless => Some(Vector2::zeros()),
                Friction::Against(slip) => Some(*slip),
                Friction::Coulomb if t.norm() >= mu * n * (1.0 - 1e-12) && *mu > 0.0 => {
                    Some(-t / (mu * n))
                }
                Friction::Coulomb if *mu == 0.0 => Some(Vector2::zeros()),
                Friction::Coulomb => None,
            };
            unknowns.rows.push(3 * c);
            match slides {
                Some(slip) => {
                    let along = Vector3::new(1.0, -mu * slip.x, -mu * slip.y);
                    unknowns.columns.push((c, along));
                }
                None => {
                    unknowns.rows.extend([3 * c + 1, 3 * c + 2]);
                    let all = (0..3).map(|k| (c, Vector3::ith(k, 1.0)));
                    unknowns.columns.extend(all);
                }
            }
        }
        unknowns
    }
}

/// Equations of the modes that were used last, with their factors, for kicks with an equal mobility.
#[derive(Clone, Debug, Default)]
pub(crate) struct Factors {
    unknowns: Unknowns,
    /// Matrix $A$ of the equations, column-major.
    matrix: Vec<f64>,
    orthogonal: Option<Orthogonal>,
    yielding: Option<Yielding>,
}

/// Factors of $A + \varepsilon I$; `None` if it is singular.
#[derive(Clone, Debug)]
struct Yielding(Option<(Vec<f64>, Vec<usize>)>);

impl Factors {
    /// Sets up the equations for the modes (open, sticking, sliding) that the contacts have in `impulses`; equations of unchanged
    /// modes are kept. Returns false if all contacts are open.
    fn set(&mut self, kick: &Kick<'_>, impulses: &[f64]) -> bool {
        let unknowns = Unknowns::of(kick.friction, impulses);
        if unknowns == self.unknowns {
            return !unknowns.rows.is_empty();
        }
        (self.orthogonal, self.yielding) = (None, None);
        self.matrix.clear();
        for (c, x) in &unknowns.columns {
            let entry = |row: &usize| (0..3).map(|k| kick.entry(*row, 3 * c + k) * x[k]).sum();
            self.matrix
                .extend(unknowns.rows.iter().map(entry).collect::<Vec<f64>>());
        }
        self.unknowns = unknowns;
        !self.unknowns.rows.is_empty()
    }

    fn orthogonal(&mut self) -> &Orthogonal {
        let (matrix, rows) = (&self.matrix, self.unknowns.rows.len());
        self.orthogonal
            .get_or_insert_with(|| Orthogonal::new(matrix, rows, DEPENDENT))
    }

    fn yielding(&mut self) -> Option<&(Vec<f64>, Vec<usize>)> {
        let (matrix, n) = (&self.matrix, self.unknowns.rows.len());
        let made = self.yielding.get_or_insert_with(|| {
            let largest = matrix.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let (mut factors, mut pivots) = (matrix.clone(), vec![0; n]);
            for i in 0..n {
                factors[i * n + i] += YIELDING * largest;
            }
            Yielding(lu(&mut factors, n, &mut pivots).then_some((factors, pivots)))
        });
        made.0.as_ref()
    }

    /// Adds a change of the unknowns to the impulses. `change` has one entry per unknown of the present modes.
    fn add(&self, change: &[f64], impulses: &mut [f64]) {
        for ((c, x), change) in self.unknowns.columns.iter().zip(change) {
            for k in 0..3 {
                impulses[3 * c + k] += x[k] * change;
            }
        }
    }
}

impl Kick<'_> {
    /// Returns the velocity error (m/s) up to which the contact conditions count as fulfilled. `scale`: largest contact velocity
    /// (m/s).
    fn least(&self, scale: f64) -> f64 {
        100.0 * ACCURACY * scale + self.noise
    }

    /// Returns the velocity changes (m/s) that are still needed to bring the contact rows `rows` to rest, after `impulses` have
    /// acted.
    fn missing(&self, rows: &[usize], impulses: &[f64]) -> Vec<f64> {
        let contacts = self.friction.len();
        let all: Vec<Vector3<f64>> = (0..contacts)
            .map(|c| self.velocity_of(c, impulses))
            .collect();
        rows.iter().map(|r| -all[r / 3][r % 3]).collect()
    }

    /// Solves for all contacts together, in the modes (open, sticking, sliding) that they have in `impulses`. Of several
    /// solutions the one nearest to `impulses` is taken. Returns true if the solution is consistent with these modes. `scale`:
    /// largest contact velocity (m/s).
    pub(super) fn finish(&self, impulses: &mut [f64], scale: f64, factors: &mut Factors) -> bool {
        if !factors.set(self, impulses) {
            return false;
        }
        let n = factors.unknowns.rows.len();
        if factors.orthogonal.is_none() {
            self.work.add(2 * n * n * n);
        }
        for _ in 0..2 {
            let missing = self.missing(&factors.unknowns.rows, impulses);
            let change = factors.orthogonal().least_norm(&missing);
            factors.add(&change, impulses);
        }
        self.is_consistent(impulses, scale)
    }

    /// Solves for all contacts together like [`finish`](Self::finish), but by regularized equations, which cost less. Returns
    /// true if the solution is consistent with the modes (open, sticking, sliding) of the initial `impulses`; `None` if the modes
    /// have no solution. `scale`: largest contact velocity (m/s).
    pub(super) fn nearest(
        &self,
        impulses: &mut [f64],
        scale: f64,
        factors: &mut Factors,
    ) -> Option<bool> {
        if !factors.set(self, impulses) {
            return Some(self.is_consistent(impulses, scale));
        }
        let mut missing = self.missing(&factors.unknowns.rows, impulses);
        let n = missing.len();
        let mut whole = vec![0.0; n];
        if factors.yielding.is_none() {
            self.work.add(n * n * n);
        }
        factors.yielding()?;
        let Some(Yielding(Some((lower_upper, pivots)))) = &factors.yielding else {
            return None;
        };
        let mut last = f64::INFINITY;
        for _ in 0..TURNS {
            let most = missing.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            if most <= ACCURACY * scale || !(most < last) {
                break;
            }
            last = most;
            let mut inner = missing.clone();
            lu_solve(lower_upper, pivots, &mut inner);
            let mut change = vec![0.0; n];
            for (column, inner) in factors.matrix.chunks_exact(n).zip(&inner) {
                kernel::add_scaled(&mut change, *inner, column);
            }
            lu_solve(lower_upper, pivots, &mut change);
            kernel::add_scaled(&mut whole, 1.0, &change);
            for (column, change) in factors.matrix.chunks_exact(n).zip(&change) {
                kernel::add_scaled(&mut missing, -change, column);
            }
        }
        factors.add(&whole, impulses);
        let most = missing.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        // Written in this order so that NaN fails.
        let solved = most <= self.least(scale);
        solved.then(|| self.is_consistent(impulses, scale))
    }

    /// Solves the contact problem by repeated direct solutions, each in the modes (open, sticking, sliding) that the previous
    /// solution suggests. The first modes are those of the initial `impulses`; without impulses, those of each contact alone. If
    /// the modes alternate, Gauss–Seidel sweeps follow, and the procedure restarts, up to `restarts` times. Returns false if no
    /// solution was found. `scale`: largest contact velocity (m/s).
    pub(super) fn by_modes(
        &self,
        impulses: &mut [f64],
        scale: f64,
        restarts: usize,
        factors: &mut Factors,
    ) -> bool {
        let mut found = impulses.to_vec();
        for restart in 0..restarts {
            if self.work.is_spent() {
                return false;
            }
            let mut is_found = false;
            for _ in 0..ROUNDS {
                self.project(&mut found);
                match self.nearest(&mut found, scale, factors) {
                    Some(consistent) => is_found = consistent,
                    None => break,
                }
                if is_found {
                    break;
                }
            }
            if !is_found {
                self.project(&mut found);
                is_found = self.by_sweeps(&mut found, scale, 1, factors);
            }
            let is_soft = || self.residual(&found) <= SOFT * scale + self.noise;
            if is_found || (restart >= EXACT && is_soft()) {
                impulses.copy_from_slice(&found);
                return true;
            }
        }
        false
    }

    /// Takes one projected step at every contact: subtracts the contact velocity divided by the mobility from the impulse, then
    /// projects the impulse onto the friction cone.
    fn project(&self, impulses: &mut [f64]) {
        let contacts = self.friction.len();
        let velocities: Vec<Vector3<f64>> = (0..contacts)
            .map(|c| self.velocity_of(c, impulses))
            .collect();
        for (c, ((mu, friction), w)) in self.friction.iter().zip(&velocities).enumerate() {
            let mobility = (3 * c..3 * c + 3).map(|row| self.entry(row, row));
            let mobility = mobility.fold(f64::MIN_POSITIVE, f64::max);
            let n = (impulses[3 * c] - w.x / mobility).max(0.0);
            let t = Vector2::new(impulses[3 * c + 1], impulses[3 * c + 2])
                - Vector2::new(w.y, w.z) / mobility;
            let t = match friction {
                Friction::Frictionless => Vector2::zeros(),
                Friction::Against(slip) => -slip * (mu * n),
                Friction::Coulomb if t.norm() > mu * n => t * (mu * n / t.norm()),
                Friction::Coulomb => t,
            };
            impulses[3 * c..3 * c + 3].copy_from_slice(&[n, t.x, t.y]);
        }
    }

    /// Returns true if the impulses fulfill all contact conditions up to rounding. `scale`: largest contact velocity (m/s).
    fn is_consistent(&self, impulses: &[f64], scale: f64) -> bool {
        let least = self.least(scale);
        self.friction.iter().enumerate().all(|(c, (mu, friction))| {
            let small = least + self.rounding_of(c, impulses);
            let w = self.velocity_of(c, impulses);
            let (n, t) = (
                impulses[3 * c],
                Vector2::new(impulses[3 * c + 1], impulses[3 * c + 2]),
            );
            let slip = Vector2::new(w.y, w.z);
            if n == 0.0 {
                return w.x >= -small;
            }
            let normal = n >= 0.0 && w.x.abs() <= small;
            let tangential = match friction {
                Friction::Frictionless => true,
                Friction::Against(u) => (t + u * (mu * n)).norm() <= 1e-9 * mu * n,
                Friction::Coulomb => {
                    let inside = t.norm() <= mu * n * (1.0 + 1e-12);
                    let opposed = (t * slip.norm() + slip * (mu * n)).norm()
                        <= 1e-10 * mu * n * slip.norm() + mu * n * small;
                    inside && (slip.norm() <= small || opposed)
                }
            };
            normal && tangential
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::kick::Work;
    use super::*;

    const CORNERS: usize = 4;

    /// Returns the mobility matrix of the contact rows at the corners of a plate of unit mass with the half lengths 1 and 0.5.
    /// Its rank is six.
    fn plate() -> Vec<f64> {
        let corners = [(1.0, 0.5), (1.0, -0.5), (-1.0, 0.5), (-1.0, -0.5)];
        let height = 0.1;
        let row = |i: usize| {
            let (x, y) = corners[i / 3];
            match i % 3 {
                0 => [0.0, 0.0, 1.0, y, -x, 0.0],
                1 => [1.0, 0.0, 0.0, 0.0, -height, -y],
                _ => [0.0, 1.0, 0.0, height, 0.0, x],
            }
        };
        let n = 3 * CORNERS;
        let weight = [1.0, 1.0, 1.0, 12.0, 3.0, 2.4];
        (0..n * n)
            .map(|at| {
                let (a, b) = (row(at / n), row(at % n));
                (0..6).map(|k| a[k] * weight[k] * b[k]).sum()
            })
            .collect()
    }

    /// Returns the velocities of all contact rows of the plate after impulses on its rows; `momentum` contains one impulse per
    /// row.
    fn moving(mobility: &[f64], momentum: &[f64]) -> Vec<f64> {
        let rows = mobility.chunks_exact(3 * CORNERS);
        rows.map(|row| kernel::dot(row, momentum)).collect()
    }

    fn kick<'a>(
        mobility: &'a [f64],
        velocity: &'a [f64],
        friction: &'a [(f64, Friction)],
        work: &'a Work,
    ) -> Kick<'a> {
        Kick {
            mobility,
            velocity,
            friction,
            noise: 0.0,
            work,
        }
    }

    #[test]
    fn impulses_that_yield_are_those_of_orthogonal_factors() {
        let mobility = plate();
        let velocity = moving(
            &mobility,
            &[
                -0.2, 0.03, 0.01, -0.3, 0.0, 0.02, -0.1, 0.0, 0.0, -0.2, 0.0, 0.0,
            ],
        );
        let friction = [(5.0, Friction::Coulomb); CORNERS];
        let work = Work::default();
        let kick = kick(&mobility, &velocity, &friction, &work);
        let start: Vec<f64> = (0..3 * CORNERS)
            .map(|i| if i % 3 == 0 { 0.2 } else { 0.01 * i as f64 })
            .collect();
        let (mut nearest, mut finished) = (start.clone(), start);
        let found = kick.nearest(&mut nearest, 1.0, &mut Factors::default());
        assert_eq!(found, Some(true));
        assert!(kick.finish(&mut finished, 1.0, &mut Factors::default()));
        // Rounding divided by the compliance appears only in the impulses of corners against each other.
        for (a, b) in nearest.iter().zip(&finished) {
            assert!((a - b).abs() <= 1e-9, "{nearest:?} {finished:?}");
        }
        for c in 0..CORNERS {
            assert!(kick.velocity_of(c, &nearest).norm() <= 1e-14);
        }
    }

    /// The corners of one plate can have only the velocities of a rigid motion. Rounding errors that no rigid motion explains
    /// cause no impulses of the corners against each other.
    #[test]
    fn rounding_between_contacts_that_share_a_load_does_not_grow() {
        let mobility = plate();
        let load = [0.2, 0.0, 0.0, 0.2, 0.0, 0.0, 0.2, 0.0, 0.0, 0.2, 0.0, 0.0];
        let mut velocity = moving(&mobility, &load.map(|x| -x));
        let friction = [(2.0, Friction::Coulomb); CORNERS];
        let solve = |velocity: &[f64]| {
            let mut impulses = load.to_vec();
            let work = Work::default();
            let kick = kick(&mobility, velocity, &friction, &work);
            kick.nearest(&mut impulses, 1.0, &mut Factors::default())
                .unwrap();
            impulses
        };
        let clean = solve(&velocity);
        // Two opposite corners rise and the two others sink: no rigid motion does this.
        for (c, sign) in [1.0, -1.0, -1.0, 1.0].into_iter().enumerate() {
            velocity[3 * c] += sign * 1e-13;
        }
        for (a, b) in clean.iter().zip(solve(&velocity)) {
            assert!((a - b).abs() <= 1e-12, "{a} {b}");
        }
    }

    #[test]
    fn a_plate_that_is_struck_on_one_side_tips_and_slides() {
        let mobility = plate();
        // Pushed down at one end, up at the other, and along.
        let velocity = moving(
            &mobility,
            &[-0.5, 0.1, 0.0, -0.5, 0.1, 0.0, 0.3, 0.1, 0.0, 0.3, 0.1, 0.0],
        );
        let friction = [(0.05, Friction::Coulomb); CORNERS];
        let work = Work::default();
        let kick = kick(&mobility, &velocity, &friction, &work);
        let mut impulses = vec![0.0; 3 * CORNERS];
        assert!(kick.by_modes(&mut impulses, 1.0, 1, &mut Factors::default()));
        for c in 0..CORNERS {
            let w = kick.velocity_of(c, &impulses);
            let [n, s, t] = [0, 1, 2].map(|k| impulses[3 * c + k]);
            assert!(n >= 0.0 && w.x >= -1e-12 && n * w.x <= 1e-12);
            assert!(s.hypot(t) <= 0.05 * n + 1e-13);
            if n > 0.0 && w.y.hypot(w.z) > 1e-9 {
                // Friction has its maximum and opposes the slip.
                assert!((s * w.y + t * w.z + 0.05 * n * w.y.hypot(w.z)).abs() <= 1e-11);
            }
        }
        assert!(impulses[0] > 0.0 && impulses[6] == 0.0, "{impulses:?}");
    }
}
