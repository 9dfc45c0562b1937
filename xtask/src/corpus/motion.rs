//! Distance of velocities after an impact, over the motion that contacts see.

use super::scene::Scene;
use nalgebra::{DMatrix, DVector};

/// Length of a unit row, orthogonal to the rows before it, below which it depends on them.
const DEPENDENT: f64 = 1e-12;

/// Part of a velocity that rounding of the data may hide: 1.4e-14. Approaches below 1e-14 graze.
const ROUNDING: f64 = 1.0 / (1u64 << 46) as f64;

/// Part of each entry of a velocity that its rounding to a double may change.
const WRITTEN: f64 = f64::EPSILON;

/// Measures velocities of a problem in the kinetic norm, part by part: coordinates that no contact, no constraint and no entry of
/// the mass matrix connects are parts of their own.
pub(crate) struct Ruler {
    lower: DMatrix<f64>,
    parts: Vec<Part>,
    rank: usize,
}

struct Part {
    coordinates: Vec<usize>,
    /// Kinetic norm of the motion along the rows of contacts and constraints.
    seen: f64,
    /// Kinetic norm below which a difference is rounding.
    hidden: f64,
}

impl Ruler {
    /// Creates the ruler of a problem. `after` is a velocity after the impact, whose motion counts if that before it is zero.
    /// Returns `None` if the mass matrix has no Cholesky factor.
    pub(crate) fn new(scene: &Scene, after: &DVector<f64>) -> Option<Self> {
        let (lower, pivots) = factors(&scene.mass)?;
        let lower = lower * DMatrix::from_diagonal(&pivots.map(f64::sqrt));
        let rows: Vec<&DVector<f64>> = scene
            .contacts
            .iter()
            .flat_map(|contact| &contact.rows)
            .chain(&scene.constraints)
            .collect();
        let (mut parts, mut rank) = (Vec::new(), 0);
        for coordinates in connected(scene, &rows) {
            let mut basis: Vec<DVector<f64>> = Vec::new();
            for row in &rows {
                let is_here = coordinates.iter().any(|&k| row[k] != 0.0);
                if let Some(unit) = whitened(&lower, row).filter(|_| is_here) {
                    let rest = orthogonal(&basis, &orthogonal(&basis, &unit));
                    if rest.norm() > DEPENDENT {
                        basis.push(rest.normalize());
                    }
                }
            }
            rank += basis.len();
            let motion = |velocity: &DVector<f64>| {
                let momentum = lower.tr_mul(velocity);
                let along = basis.iter().map(|e| e.dot(&momentum));
                along.fold(0.0f64, f64::hypot)
            };
            let whole = |velocity: &DVector<f64>| length(&lower.tr_mul(velocity), &coordinates);
            let size = whole(&scene.velocity).max(whole(after));
            let entries = lower.abs().tr_mul(&scene.velocity.abs().sup(&after.abs()));
            let seen = [motion(&scene.velocity), motion(after), size];
            parts.push(Part {
                seen: seen.into_iter().find(|x| *x > 0.0).unwrap_or(1.0),
                hidden: (ROUNDING * size).max(WRITTEN * length(&entries, &coordinates)),
                coordinates,
            });
        }
        Some(Self { lower, parts, rank })
    }

    /// Returns the number of rows of contacts and constraints that do not depend on others. Rows depend if they do so within 1e-12.
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the largest kinetic distance of `a` and `b` in a part, over the motion that contacts see there. What rounding
    /// hides is subtracted. Velocities of different lengths, or with numbers that are not finite, are infinitely far.
    pub(crate) fn distance(&self, a: &DVector<f64>, b: &DVector<f64>) -> f64 {
        if a.len() != self.lower.nrows() || b.len() != a.len() {
            return f64::INFINITY;
        }
        let change = self.lower.tr_mul(&(a - b));
        let far = self.parts.iter().map(|part| {
            let off = length(&change, &part.coordinates) - part.hidden;
            let off = if off.is_finite() { off } else { f64::INFINITY };
            off.max(0.0) / part.seen
        });
        far.fold(0.0, f64::max)
    }
}

/// Returns the unit lower triangular matrix $L$ and the diagonal of $D$ with $M = LDL^T$, or `None` if $M$ is not positive
/// definite. Of a product of small whole numbers and powers of two these factors are exact, however near to singular it is.
pub(crate) fn factors(mass: &DMatrix<f64>) -> Option<(DMatrix<f64>, DVector<f64>)> {
    let n = mass.nrows();
    let mut lower = DMatrix::identity(n, n);
    let mut pivots = DVector::zeros(n);
    for j in 0..n {
        for i in j..n {
            let terms = (0..j).map(|k| lower[(i, k)] * lower[(j, k)] * pivots[k]);
            let rest = terms.fold(mass[(i, j)], |rest, term| rest - term);
            if i == j {
                pivots[j] = rest;
            } else {
                lower[(i, j)] = rest / pivots[j];
            }
        }
        if !(pivots[j] > 0.0) {
            return None;
        }
    }
    Some((lower, pivots))
}

fn length(momentum: &DVector<f64>, coordinates: &[usize]) -> f64 {
    let entries = coordinates.iter().map(|&k| momentum[k]);
    entries.fold(0.0f64, f64::hypot)
}

/// Returns a row in coordinates in which the mass matrix is the identity, with unit length; `None` for a row of zeros.
fn whitened(lower: &DMatrix<f64>, row: &DVector<f64>) -> Option<DVector<f64>> {
    let size = row.amax();
    if !(size > 0.0) {
        return None;
    }
    let whitened = lower.solve_lower_triangular(&(row / size))?;
    let whitened = &whitened / whitened.amax();
    Some(whitened.normalize())
}

fn orthogonal(basis: &[DVector<f64>], row: &DVector<f64>) -> DVector<f64> {
    let mut rest = row.clone();
    for e in basis {
        let along = e.dot(&rest);
        rest -= e * along;
    }
    rest
}

/// Returns the sets of coordinates that the mass matrix and the rows connect.
fn connected(scene: &Scene, rows: &[&DVector<f64>]) -> Vec<Vec<usize>> {
    let n = scene.dim();
    let mut part: Vec<usize> = (0..n).collect();
    let mut join = |i: usize, j: usize| {
        let (from, into) = (part[j].max(part[i]), part[j].min(part[i]));
        for p in &mut part {
            if *p == from {
                *p = into;
            }
        }
    };
    for i in 0..n {
        for j in (0..i).filter(|&j| scene.mass[(i, j)] != 0.0) {
            join(i, j);
        }
    }
    for row in rows {
        let touched: Vec<usize> = (0..n).filter(|&k| row[k] != 0.0).collect();
        for pair in touched.windows(2) {
            join(pair[0], pair[1]);
        }
    }
    let members = |p: usize| (0..n).filter(|&k| part[k] == p).collect::<Vec<_>>();
    (0..n).map(members).filter(|m| !m.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::scene::Touch;
    use super::*;
    use nalgebra::dvector;

    /// A ball over the floor of a fast train, which no contact sees, and a body of its own that flies by.
    #[test]
    fn distances_count_in_the_motion_of_their_part_that_contacts_see() {
        let scene = Scene {
            mass: DMatrix::from_diagonal(&dvector![1.0, 4.0, 1.0]),
            velocity: dvector![30.0, -0.5, 1e6],
            contacts: vec![Touch {
                rows: vec![dvector![0.0, 1.0, 0.0]],
                friction: 0.0,
                restitution: 0.0,
            }],
            constraints: Vec::new(),
        };
        let after = dvector![30.0, 0.0, 1e6];
        let ruler = Ruler::new(&scene, &after).unwrap();
        let moved = dvector![30.0, 1e-3, 1e6];
        assert!((ruler.distance(&after, &moved) - 2e-3).abs() < 1e-12);
        assert_eq!(
            ruler.distance(&after, &dvector![30.0, 0.0, 1e6 + 1e-10]),
            0.0
        );
        assert_eq!(
            ruler.distance(&after, &dvector![30.0, f64::NAN, 1e6]),
            f64::INFINITY
        );
        assert_eq!(ruler.distance(&after, &dvector![30.0]), f64::INFINITY);
    }
}
