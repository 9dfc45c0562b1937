//! Convex bodies as lists of constraints: intersections, lowest points and volume integrals.

use crate::mass_properties::Moments;
use crate::tolerances::{
    CENTERED_DECREMENT, EQUAL, FULL_STEP_DECREMENT, LEVEL_ROUNDING, MAX_ITERATIONS, POLISH_REACH,
    ZERO,
};
use crate::{Cuboid, Ellipsoid, Polyhedron};
use carom_numeric::quadrature::Adaptive;
use carom_numeric::roots;
use nalgebra::{Matrix3, Matrix6, Vector3, Vector6};
use std::f64::consts::TAU;

/// Number of sectors of a circle of rays. At their ends the constraint that the ray meets first is determined.
const SECTORS: usize = 48;

/// A constraint is active if its slack at the end of the barrier path is below this; the barrier leaves far
/// less.
const MET: f64 = 1e-6;

/// Constraint on points, with a level below 1 inside and above 1 outside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constraint {
    /// The point lies in the ellipsoid.
    Ellipsoid(Ellipsoid),
    /// The point $\rho$ lies on the inner side of a plane: the level is $1 + n\cdot\rho - b \le 1$, with $n$ =
    /// `normal` (its length is an inverse size) and $b$ = `offset`.
    Plane { normal: Vector3<f64>, offset: f64 },
}

impl Constraint {
    fn level(&self, point: &Vector3<f64>) -> f64 {
        match self {
            Self::Ellipsoid(ellipsoid) => ellipsoid.level(point),
            Self::Plane { normal, offset } => 1.0 + normal.dot(point) - offset,
        }
    }

    fn gradient(&self, point: &Vector3<f64>) -> Vector3<f64> {
        match self {
            Self::Ellipsoid(e) => {
                let squares = e.semi_axes().component_mul(e.semi_axes());
                (point - e.center()).component_div(&squares) * 2.0
            }
            Self::Plane { normal, .. } => *normal,
        }
    }

    fn hessian(&self) -> Vector3<f64> {
        match self {
            Self::Ellipsoid(e) => e.semi_axes().map(|a| 2.0 / (a * a)),
            Self::Plane { .. } => Vector3::zeros(),
        }
    }

    /// Returns the distance along a ray at which the ray leaves the region that this constraint allows. The ray starts at `from`,
    /// a point inside the region. The distance is in units of the length of `direction`, and infinite if the ray stays inside.
    fn exit(&self, from: &Vector3<f64>, direction: &Vector3<f64>) -> f64 {
        match self {
            Self::Ellipsoid(e) => {
                let p = (from - e.center()).component_div(e.semi_axes());
                let d = direction.component_div(e.semi_axes());
                let (along, room) = (p.dot(&d), (1.0 - p.norm_squared()).max(0.0));
                let root = (along * along + d.norm_squared() * room).sqrt();
                if along > 0.0 {
                    room / (along + root)
                } else {
                    (root - along) / d.norm_squared()
                }
            }
            Self::Plane { normal, offset } => {
                let rate = normal.dot(direction);
                if rate > 0.0 {
                    (offset - normal.dot(from)).max(0.0) / rate
                } else {
                    f64::INFINITY
                }
            }
        }
    }
}

/// Bounded convex body with nonempty interior.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Convex {
    constraints: Vec<Constraint>,
    /// Point well inside the body.
    inner: Vector3<f64>,
}

impl Convex {
    pub(crate) fn ellipsoid(ellipsoid: &Ellipsoid) -> Self {
        Self {
            constraints: vec![Constraint::Ellipsoid(*ellipsoid)],
            inner: *ellipsoid.center(),
        }
    }

    pub(crate) fn cuboid(cuboid: &Cuboid) -> Self {
        let side = |axis: usize, sign: f64| {
            let mut normal = Vector3::zeros();
            normal[axis] = sign / cuboid.half_extents()[axis];
            let offset = normal.dot(cuboid.center()) + 1.0;
            Constraint::Plane { normal, offset }
        };
        Self {
            constraints: (0..6)
                .map(|k| side(k / 2, if k % 2 == 0 { 1.0 } else { -1.0 }))
                .collect(),
            inner: *cuboid.center(),
        }
    }

    /// Creates a convex body from a convex polyhedron, with one plane for each of its faces. The polyhedron is not
    /// checked for convexity.
    pub(crate) fn polyhedron(polyhedron: &Polyhedron) -> Self {
        let mesh = polyhedron.mesh();
        let inner = mesh.middle();
        let size = mesh
            .vertices()
            .iter()
            .fold(0.0, |r, v| f64::max(r, (v - inner).norm()));
        let face = |[a, b, c]: [Vector3<f64>; 3]| {
            let normal = (b - a).cross(&(c - a)).normalize() / size;
            let offset = normal.dot(&a);
            Constraint::Plane { normal, offset }
        };
        let mut constraints: Vec<Constraint> = Vec::new();
        for plane in mesh.corners().map(face) {
            // Triangles of one face give the same plane once.
            if !constraints.iter().any(|other| is_same_plane(other, &plane)) {
                constraints.push(plane);
            }
        }
        Self { constraints, inner }
    }

    /// Returns the intersection of convex bodies; `None` if it has no interior.
    pub(crate) fn common(parts: &[&Self]) -> Option<Self> {
        let constraints: Vec<Constraint> = parts
            .iter()
            .flat_map(|part| part.constraints.iter().copied())
            .collect();
        let count = parts.len() as f64;
        let start = parts.iter().map(|part| part.inner / count).sum();
        let inner = inner_point(&constraints, start)?;
        Some(Self { constraints, inner })
    }

    #[cfg(feature = "serde")]
    pub(crate) fn with_inner(self, inner: Vector3<f64>) -> Self {
        Self { inner, ..self }
    }

    pub(crate) fn inner(&self) -> &Vector3<f64> {
        &self.inner
    }

    pub(crate) fn translated(&self, by: &Vector3<f64>) -> Self {
        let moved = |constraint: &Constraint| match constraint {
            Constraint::Ellipsoid(ellipsoid) => Constraint::Ellipsoid(ellipsoid.translated(by)),
            Constraint::Plane { normal, offset } => Constraint::Plane {
                normal: *normal,
                offset: offset + normal.dot(by),
            },
        };
        Self {
            constraints: self.constraints.iter().map(moved).collect(),
            inner: self.inner + by,
        }
    }

    /// Returns the largest level of all constraints of this body at a point. The level of a constraint is below 1 where the
    /// constraint is satisfied, so that the result is below 1 inside the body and above 1 outside.
    fn level(&self, point: &Vector3<f64>) -> f64 {
        let levels = self.constraints.iter().map(|c| c.level(point));
        levels.fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns the lowest point of the body along a direction: the point $\rho$ with the least $d\cdot\rho$, with $d$ =
    /// `direction` (not zero).
    ///
    /// The method starts from the inner point of the body and follows the minima of a logarithmic barrier function towards the
    /// lowest point. Then it solves the conditions of Karush, Kuhn and Tucker with the constraints that are active near the
    /// lowest point.
    pub(crate) fn lowest(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        let count = self.constraints.len() as f64;
        let reach = self.exit(&self.inner, &(-direction / direction.norm())).0;
        // The value at the barrier's minimizer is within count/sharpness of the minimum.
        let mut sharpness = count / (direction.norm() * reach);
        let last = sharpness * 1e11;
        let mut point = self.inner;
        while sharpness < last {
            sharpness *= 16.0;
            point = barrier_center(&self.constraints, point, &(direction * sharpness), 1.0);
        }
        self.polished(point, direction, sharpness).unwrap_or(point)
    }

    /// Refines the lowest point of the body along `direction` by Newton's method. The constraints that are active at the
    /// approximation `start` stay active. `sharpness` is the weight of the direction in the barrier function whose minimum is
    /// `start`. Returns `None` unless the result is inside the body, close to `start` and has nonnegative multipliers.
    fn polished(
        &self,
        start: Vector3<f64>,
        direction: &Vector3<f64>,
        sharpness: f64,
    ) -> Option<Vector3<f64>> {
        let met = self.tightest(&start);
        let met = met.iter().filter_map(|(slack, c)| c.map(|c| (*slack, c)));
        let size = self.exit(&self.inner, &direction.normalize()).0;
        let unit = direction.norm() * size;
        let mut point = start;
        let mut multipliers = [0.0; 3];
        for (multiplier, (slack, _)) in multipliers.iter_mut().zip(met.clone()) {
            *multiplier = 1.0 / (sharpness * slack * unit);
        }
        for _ in 0..8 {
            let mut matrix = Matrix6::identity();
            let mut residual = Vector6::zeros();
            let mut curvature = Vector3::zeros();
            let mut pull = direction * (size / unit);
            for (k, (_, constraint)) in met.clone().enumerate() {
                let gradient = constraint.gradient(&point) * size;
                pull += gradient * multipliers[k];
                curvature += constraint.hessian() * (multipliers[k] * size * size);
                for axis in 0..3 {
                    matrix[(axis, 3 + k)] = gradient[axis];
                    matrix[(3 + k, axis)] = gradient[axis];
                }
                matrix[(3 + k, 3 + k)] = 0.0;
                residual[3 + k] = 1.0 - constraint.level(&point);
            }
            for axis in 0..3 {
                matrix[(axis, axis)] = curvature[axis];
                residual[axis] = -pull[axis];
            }
            let step = matrix.lu().solve(&residual)?;
            point += step.fixed_rows::<3>(0) * size;
            for (multiplier, change) in multipliers.iter_mut().zip(step.iter().skip(3)) {
                *multiplier += change;
            }
            if step.fixed_rows::<3>(0).amax() <= ZERO {
                break;
            }
        }
        let pushes = multipliers.iter().take(met.count()).all(|m| *m >= 0.0);
        let is_sound = pushes
            && self.level(&point) <= 1.0 + LEVEL_ROUNDING
            && (point - start).amax() <= POLISH_REACH * size;
        is_sound.then_some(point)
    }

    /// Returns the constraints that are active at a point, at most three. Each entry contains the slack (1 minus the level of the
    /// constraint, which is 1 on its surface) and the constraint. The smallest slack comes first; unused entries are `None`.
    fn tightest(&self, point: &Vector3<f64>) -> [(f64, Option<&Constraint>); 3] {
        let mut met = [(MET, None); 3];
        for constraint in &self.constraints {
            let mut entry = (1.0 - constraint.level(point), Some(constraint));
            for place in &mut met {
                if entry.0 < place.0 {
                    std::mem::swap(place, &mut entry);
                }
            }
        }
        met
    }

    /// Returns the distance at which a ray leaves the body, in units of the length of `direction`, and the index of the
    /// constraint that is violated beyond this point. The ray starts at `from`, a point inside the body.
    fn exit(&self, from: &Vector3<f64>, direction: &Vector3<f64>) -> (f64, usize) {
        let exits = self.constraints.iter().map(|c| c.exit(from, direction));
        exits
            .enumerate()
            .fold((f64::INFINITY, 0), |best, (index, length)| {
                if length < best.0 {
                    (length, index)
                } else {
                    best
                }
            })
    }

    /// Computes the volume of the body and the integrals of $\rho$ and $\rho\rho^T$ over its points $\rho$, as integrals over the
    /// directions of rays from an inner point.
    ///
    /// The directions of one latitude form a circle. Each circle is divided at the angles where another constraint becomes the
    /// first one that the ray meets. The integral over a circle is a smooth function of the latitude except where the number of
    /// these angles changes; adaptive quadrature isolates such latitudes.
    pub(crate) fn moments(&self) -> Moments {
        // The lengths are scaled by one radius, so that volumes and moments are comparable.
        let size = self.exit(&self.inner, &Vector3::z()).0;
        let quadrature = Adaptive::default();
        let tolerance = EQUAL * largest(&self.latitude(&quadrature, size, 0.3));
        let latitude = |z: f64| self.latitude(&quadrature, size, z);
        let sums = quadrature.integrate(&latitude, [-1.0, 1.0], tolerance);
        let [volume, x, y, z, xx, yy, zz, xy, yz, zx] = sums;
        let (s3, s4, s5) = (
            (size * size * size),
            carom_numeric::power(size, 4),
            carom_numeric::power(size, 5),
        );
        let about_inner = Moments {
            volume: volume * s3,
            first: Vector3::new(x, y, z) * s4,
            second: Matrix3::new(xx, xy, zx, xy, yy, yz, zx, yz, zz) * s5,
        };
        about_inner.moved(&self.inner)
    }

    /// Computes the integrals over a circle of ray directions that contribute to the integrals over the body of 1, x, y, z, xx,
    /// yy, zz, xy, yz and zx. `z` is the sine of the latitude of the circle, and `size` the unit of length of the results.
    fn latitude(&self, quadrature: &Adaptive, size: f64, z: f64) -> [f64; 10] {
        let across = ((1.0 - z) * (1.0 + z)).max(0.0).sqrt();
        let ray = |longitude: f64| {
            let (sin, cos) = libm::sincos(longitude);
            let direction = Vector3::new(across * cos, across * sin, z);
            (direction, self.exit(&self.inner, &direction))
        };
        let integrand = |longitude: f64| {
            let (d, (length, _)) = ray(longitude);
            let r = length / size;
            let (r3, r4, r5) = (
                (r * r * r) / 3.0,
                carom_numeric::power(r, 4) / 4.0,
                carom_numeric::power(r, 5) / 5.0,
            );
            [
                r3,
                r4 * d.x,
                r4 * d.y,
                r4 * d.z,
                r5 * d.x * d.x,
                r5 * d.y * d.y,
                r5 * d.z * d.z,
                r5 * d.x * d.y,
                r5 * d.y * d.z,
                r5 * d.z * d.x,
            ]
        };
        let cuts = seams(|longitude| ray(longitude).1.1);
        let tolerance = 0.01 * EQUAL * largest(&integrand(0.3));
        let mut sums = [0.0; 10];
        for (from, to) in cuts.iter().zip(cuts.iter().skip(1)) {
            let piece = quadrature.integrate(&integrand, [*from, *to], tolerance);
            sums.iter_mut().zip(piece).for_each(|(sum, x)| *sum += x);
        }
        sums
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m, x| f64::max(m, x.abs()))
}

/// Returns the angles between 0 and $2\pi$ at which a function of the angle with integer values changes, and both ends of the
/// interval. Two changes between adjacent samples that cancel are not found; adaptive quadrature must resolve them.
fn seams(function: impl Fn(f64) -> usize) -> Vec<f64> {
    let mut cuts = vec![0.0];
    for sector in 0..SECTORS {
        let at = |k: usize| TAU * k as f64 / SECTORS as f64;
        let (mut from, to) = (at(sector), at(sector + 1));
        let last = function(to);
        let mut present = function(from);
        while present != last && cuts.len() < 8 * SECTORS {
            from = roots::bisect(from, to, |angle| function(angle) == present);
            cuts.push(from);
            present = function(from);
        }
    }
    cuts.push(TAU);
    cuts
}

fn is_same_plane(a: &Constraint, b: &Constraint) -> bool {
    match (a, b) {
        (
            Constraint::Plane { normal, offset },
            Constraint::Plane {
                normal: other,
                offset: far,
            },
        ) => (normal - other).norm() <= EQUAL * normal.norm() && (offset - far).abs() <= EQUAL,
        _ => false,
    }
}

/// Returns a point well inside the region that all constraints allow, searched from the point `start`. Returns `None` if this
/// region has no interior.
///
/// The level of a constraint is a function that is below 1 where the constraint is satisfied. The method moves from one analytic
/// center to the next, and so decreases an upper bound of all levels. The multipliers of the barrier function at a center give a
/// lower bound of the level that can be reached.
fn inner_point(constraints: &[Constraint], start: Vector3<f64>) -> Option<Vector3<f64>> {
    let worst = |point: &Vector3<f64>| {
        let levels = constraints.iter().map(|c| c.level(point));
        levels.fold(f64::NEG_INFINITY, f64::max)
    };
    let mut point = start;
    let mut highest = worst(&point);
    let mut bound = highest + 1.0;
    for _ in 0..200 {
        point = barrier_center(constraints, point, &Vector3::zeros(), bound);
        highest = worst(&point);
        let inverse: f64 = constraints
            .iter()
            .map(|c| 1.0 / (bound - c.level(&point)))
            .sum();
        let least = bound - constraints.len() as f64 / inverse;
        if least >= 1.0 - EQUAL {
            return None;
        }
        // A level at most half way between the best possible level and 1 is well inside.
        if highest < 1.0 && highest - least <= 0.5 * (1.0 - least) {
            return Some(point);
        }
        bound = highest + 0.1 * (bound - highest);
    }
    (highest < 1.0 - EQUAL).then_some(point)
}

/// Minimizes the barrier function $d\cdot\rho - \sum_i\log(t - f_i(\rho))$ over points $\rho$ by damped Newton steps, and returns
/// the minimizer. $d$ is `direction`, $t$ is `level`, and $f_i$ are the levels of the constraints: functions that are below 1
/// where the constraint is satisfied. The starting point `point` must satisfy all $f_i < t$.
fn barrier_center(
    constraints: &[Constraint],
    mut point: Vector3<f64>,
    direction: &Vector3<f64>,
    level: f64,
) -> Vector3<f64> {
    for _ in 0..MAX_ITERATIONS {
        let mut gradient = *direction;
        let mut hessian = Matrix3::zeros();
        for constraint in constraints {
            let slack = level - constraint.level(&point);
            let slope = constraint.gradient(&point) / slack;
            gradient += slope;
            hessian +=
                slope * slope.transpose() + Matrix3::from_diagonal(&constraint.hessian()) / slack;
        }
        let Some(factor) = hessian.cholesky() else {
            break;
        };
        let step = factor.solve(&gradient);
        // Newton's decrement is the distance in the metric of the barrier. The barrier is self-concordant, so
        // that steps of length 1/(1 + decrement) stay inside.
        let decrement = gradient.dot(&step).max(0.0).sqrt();
        let length = if decrement > FULL_STEP_DECREMENT {
            1.0 / (1.0 + decrement)
        } else {
            1.0
        };
        let next = point - step * length;
        if constraints.iter().any(|c| c.level(&next) >= level) {
            break;
        }
        point = next;
        if decrement <= CENTERED_DECREMENT {
            break;
        }
    }
    point
}
