//! Mass, center of mass and inertia.

use crate::tolerances::EQUAL;
use crate::tolerances::ZERO;
use crate::{Cuboid, Ellipsoid, GeometryError, TriangleMesh};
use carom_numeric::quadrature::gauss_legendre;
use nalgebra::{Matrix3, Vector3};
use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, PI};

/// Number of Gauss points per smooth piece of a union's cross-sections.
const CROSS_SECTIONS: usize = 60;

/// Mass properties of a rigid body: mass, center of mass, and inertia about the center of mass.
///
/// With $\rho$ the position relative to the center of mass and $S(\rho)$ its cross-product matrix, the
/// *standard* inertia is $J = \int S(\rho)^TS(\rho)\mathrm{d}m$. The *nonstandard* inertia is
/// $J_d = \int\rho\rho^T\mathrm{d}m = \tfrac12\mathrm{tr}(J)I - J$. A matrix $J$ is the inertia of a body if
/// and only if $J_d$ is positive semidefinite: no principal moment exceeds the sum of the other two.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "MassPropertiesForm"))]
pub struct MassProperties {
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    mass: f64,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    center: Vector3<f64>,
    #[cfg_attr(feature = "serde", serde(with = "carom_numeric::stored::finite"))]
    inertia: Matrix3<f64>,
}

#[cfg(feature = "serde")]
crate::stored::read_as!(
    MassPropertiesForm {
        #[serde(with = "carom_numeric::stored::finite")]
        mass: f64,
        #[serde(with = "carom_numeric::stored::finite")]
        center: Vector3<f64>,
        #[serde(with = "carom_numeric::stored::finite")]
        inertia: Matrix3<f64>,
    } -> MassProperties,
    |form| Ok(MassProperties::new(form.mass, form.inertia)?.with_center(form.center))
);

impl MassProperties {
    /// Creates mass properties from a mass (kg) and an inertia (kg·m²) about the body's origin, which is the
    /// center of mass.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NonPositiveMass`], [`GeometryError::NonFinite`],
    /// [`GeometryError::InertiaNotSymmetric`], [`GeometryError::InertiaNotPositiveDefinite`],
    /// [`GeometryError::InertiaUnphysical`].
    ///
    /// # Examples
    ///
    /// ```
    /// use carom_geometry::MassProperties;
    /// use nalgebra::{Matrix3, Vector3};
    /// let flat = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 2.0));
    /// assert!(MassProperties::new(1.0, flat).is_ok());
    /// let no_body = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, 2.1));
    /// let error = MassProperties::new(1.0, no_body).unwrap_err();
    /// assert_eq!(error.kind(), "inertia-unphysical");
    /// ```
    pub fn new(mass: f64, inertia: Matrix3<f64>) -> Result<Self, GeometryError> {
        let made = Self::with_any_moments(mass, inertia)?;
        let moments = made.inertia.symmetric_eigenvalues();
        let trace = made.inertia.trace();
        let excess = 2.0 * moments.max() - trace;
        if excess > EQUAL * trace {
            return Err(GeometryError::InertiaUnphysical { excess });
        }
        Ok(made)
    }

    /// Creates mass properties like [`new`](Self::new), but accepts an inertia that no mass distribution has, because one
    /// principal moment exceeds the sum of the others. The equations of motion need a positive definite inertia only.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NonPositiveMass`], [`GeometryError::NonFinite`],
    /// [`GeometryError::InertiaNotSymmetric`], [`GeometryError::InertiaNotPositiveDefinite`].
    pub fn with_any_moments(mass: f64, inertia: Matrix3<f64>) -> Result<Self, GeometryError> {
        GeometryError::check_finite("mass", [&mass])?;
        if mass <= 0.0 {
            return Err(GeometryError::NonPositiveMass { mass });
        }
        GeometryError::check_finite("inertia", inertia.iter())?;
        let inertia = symmetrized(&inertia)?;
        let moments = inertia.symmetric_eigenvalues();
        let (low, high) = (moments.min(), moments.max());
        // A moment of a few units in the last place of the largest one counts as zero.
        if low <= ZERO * high || high <= 0.0 {
            return Err(GeometryError::InertiaNotPositiveDefinite { moment: low });
        }
        Ok(Self {
            mass,
            center: Vector3::zeros(),
            inertia,
        })
    }

    fn with_center(mut self, center: Vector3<f64>) -> Self {
        self.center = center;
        self
    }

    /// Returns the mass of the body (kg).
    pub fn mass(&self) -> f64 {
        self.mass
    }

    /// Returns the center of mass of the body in the frame of its shape (m).
    pub fn center(&self) -> &Vector3<f64> {
        &self.center
    }

    /// Returns the standard inertia matrix of the body about its center of mass (kg·m²).
    pub fn inertia(&self) -> &Matrix3<f64> {
        &self.inertia
    }

    /// Returns the nonstandard inertia matrix of the body, $J_d = \tfrac12\mathrm{tr}(J)I - J$ (kg·m²) with the
    /// standard inertia $J$ about the center of mass.
    pub fn nonstandard(&self) -> Matrix3<f64> {
        Matrix3::identity() * (0.5 * self.inertia.trace()) - self.inertia
    }

    /// Computes the mass properties of an ellipsoid of uniform density with the given mass (kg). With semi-axes $a$, $b$, $c$ (m)
    /// the inertia about the center is $J = \tfrac m5\mathrm{diag}(b^2+c^2, a^2+c^2, a^2+b^2)$.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NonPositiveMass`] and those of [`new`](Self::new) for extreme axes.
    pub fn ellipsoid(ellipsoid: &Ellipsoid, mass: f64) -> Result<Self, GeometryError> {
        let squares = ellipsoid.semi_axes().map(|a| a * a);
        Ok(Self::diagonal(mass, squares, 5.0)?.with_center(*ellipsoid.center()))
    }

    /// Computes the mass properties of a box of uniform density with the given mass (kg). With half extents $h$ (m) the inertia
    /// about the center is $J = \tfrac m3\mathrm{diag}(h_y^2+h_z^2, h_x^2+h_z^2, h_x^2+h_y^2)$.
    ///
    /// # Errors
    ///
    /// [`GeometryError::NonPositiveMass`] and those of [`new`](Self::new) for extreme extents.
    pub fn cuboid(cuboid: &Cuboid, mass: f64) -> Result<Self, GeometryError> {
        let squares = cuboid.half_extents().map(|h| h * h);
        Ok(Self::diagonal(mass, squares, 3.0)?.with_center(*cuboid.center()))
    }

    fn diagonal(mass: f64, squares: Vector3<f64>, divisor: f64) -> Result<Self, GeometryError> {
        let (x, y, z) = (squares.x, squares.y, squares.z);
        let moments = Vector3::new(y + z, x + z, x + y) * mass / divisor;
        Self::new(mass, Matrix3::from_diagonal(&moments))
    }

    /// Computes, by exact formulas, the mass properties of a body of uniform density that is bounded by a closed mesh. `mass` is
    /// the mass of the body (kg).
    ///
    /// # Errors
    ///
    /// [`GeometryError::NonPositiveMass`] and those of [`new`](Self::new) for degenerate meshes.
    pub fn mesh(mesh: &TriangleMesh, mass: f64) -> Result<Self, GeometryError> {
        let origin = mesh.middle();
        Moments::mesh(&mesh.translated(&-origin)).properties(mass, origin)
    }

    /// Computes the mass properties of the union of two ellipsoids, of uniform density and with the given mass (kg). The centers
    /// of the ellipsoids may differ along at most one body axis.
    ///
    /// The cross-sections are unions of concentric ellipses, for which there are closed forms. They are
    /// integrated by Gauss quadrature between the positions on the axis at which the shape of the cross-section
    /// changes.
    ///
    /// # Errors
    ///
    /// [`GeometryError::UnknownMassProperties`] if the centers differ along several axes;
    /// [`GeometryError::NonPositiveMass`].
    pub fn coaxial_ellipsoids(
        first: &Ellipsoid,
        second: &Ellipsoid,
        mass: f64,
    ) -> Result<Self, GeometryError> {
        let apart = second.center() - first.center();
        let axis = apart.iamax();
        let off_axis = apart
            .iter()
            .enumerate()
            .any(|(i, x)| i != axis && *x != 0.0);
        if off_axis {
            return Err(GeometryError::UnknownMassProperties {
                shape: "a union of ellipsoids that are not coaxial",
            });
        }
        let order = [axis, (axis + 1) % 3, (axis + 2) % 3];
        let origin = *first.center();
        let cut = |e: &Ellipsoid| Profile {
            center: e.center()[axis] - origin[axis],
            semi_axes: order.map(|i| e.semi_axes()[i]),
        };
        let (volume, x, squares) = union_moments(&cut(first), &cut(second));
        let mut moments = Moments {
            volume,
            ..Moments::default()
        };
        moments.first[axis] = x;
        for (i, square) in order.into_iter().zip(squares) {
            moments.second[(i, i)] = square;
        }
        moments.properties(mass, origin)
    }
}

fn symmetrized(inertia: &Matrix3<f64>) -> Result<Matrix3<f64>, GeometryError> {
    let scale = inertia.trace().abs();
    for row in 0..3 {
        for column in 0..row {
            let difference = inertia[(row, column)] - inertia[(column, row)];
            if difference.abs() > EQUAL * scale {
                return Err(GeometryError::InertiaNotSymmetric {
                    row,
                    column,
                    difference,
                });
            }
        }
    }
    Ok((inertia + inertia.transpose()) * 0.5)
}

/// Volume integrals $\int 1$, $\int\rho$ and $\int\rho\rho^T$ of a body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    pub(crate) volume: f64,
    pub(crate) first: Vector3<f64>,
    pub(crate) second: Matrix3<f64>,
}

impl Moments {
    /// Creates the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of a body that is symmetric
    /// about the origin. The mean square of each coordinate over the body is the square of the entry of `extents` (m),
    /// divided by `divisor`.
    pub(crate) fn centered(volume: f64, extents: &Vector3<f64>, divisor: f64) -> Self {
        let squares = extents.map(|x| x * x / divisor);
        Self {
            volume,
            first: Vector3::zeros(),
            second: Matrix3::from_diagonal(&squares) * volume,
        }
    }

    /// Computes the volume and the integrals of $\rho$ and $\rho\rho^T$ over the volume that a closed mesh bounds.
    pub(crate) fn mesh(mesh: &TriangleMesh) -> Self {
        let mut moments = Self::default();
        for corners in mesh.corners() {
            moments.add_tetrahedron(corners);
        }
        moments
    }

    /// Computes the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of a convex polyhedron
    /// grown by a ball of the given radius. The formulas are exact: prisms on the faces, sectors of cylinders along
    /// the edges, and sectors of balls at the vertices are added.
    pub(crate) fn rounded(mesh: &TriangleMesh, radius: f64) -> Self {
        let mut moments = Self::mesh(mesh);
        moments.add_rounding(mesh, radius);
        moments
    }

    /// Returns the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of the body after a
    /// translation by the vector `by`.
    pub(crate) fn moved(&self, by: &Vector3<f64>) -> Self {
        let squares = by * by.transpose() * self.volume;
        Self {
            volume: self.volume,
            first: self.first + by * self.volume,
            second: self.second + sym_product(&self.first, by) + squares,
        }
    }

    pub(crate) fn add(&mut self, other: &Self, sign: f64) {
        self.volume += sign * other.volume;
        self.first += sign * other.first;
        self.second += sign * other.second;
    }

    /// Computes mass, center of mass and inertia of a body of uniform density from its integrals of 1, $\rho$ and $\rho\rho^T$
    /// over the points $\rho$, which are relative to the point `origin`. `mass` is the mass of the body (kg).
    pub(crate) fn properties(
        &self,
        mass: f64,
        origin: Vector3<f64>,
    ) -> Result<MassProperties, GeometryError> {
        let center = self.first / self.volume;
        let spread = (self.second / self.volume - center * center.transpose()) * mass;
        let spread = (spread + spread.transpose()) * 0.5;
        let inertia = Matrix3::identity() * spread.trace() - spread;
        Ok(MassProperties::new(mass, inertia)?.with_center(origin + center))
    }

    /// Adds the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of the tetrahedron between a
    /// triangle and the origin, with the sign of its orientation.
    fn add_tetrahedron(&mut self, [a, b, c]: [Vector3<f64>; 3]) {
        let volume = a.dot(&b.cross(&c)) / 6.0;
        let sum = a + b + c;
        self.volume += volume;
        self.first += sum * (volume / 4.0);
        self.second += corner_squares(&[a, b, c], &sum) * (volume / 20.0);
    }

    /// Adds the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of the layer around a convex
    /// polyhedron, given by its mesh, if the polyhedron is grown by a ball of the given radius.
    fn add_rounding(&mut self, mesh: &TriangleMesh, radius: f64) {
        let vertices = mesh.vertices();
        // For each vertex's cone of normals n: the solid angle, and the integrals of n and n n^T.
        let mut cones = vec![Moments::default(); vertices.len()];
        cones.iter_mut().for_each(|cone| cone.volume = 2.0 * PI);
        let mut normal_at = BTreeMap::new();
        for (corners, &[i, j, k]) in mesh.corners().zip(mesh.triangles()) {
            let [a, b, c] = corners;
            let cross = (b - a).cross(&(c - a));
            let area = 0.5 * cross.norm();
            let normal = cross / cross.norm();
            self.add_prism(&corners, area, &normal, radius);
            for (from, to, opposite) in [(i, j, k), (j, k, i), (k, i, j)] {
                normal_at.insert((from, to), normal);
                let (p, q) = (
                    vertices[to] - vertices[from],
                    vertices[opposite] - vertices[from],
                );
                cones[from].volume -= libm::atan2(p.cross(&q).norm(), p.dot(&q));
            }
        }
        for (&(from, to), left) in &normal_at {
            let Some(right) = normal_at.get(&(to, from)) else {
                continue;
            };
            let angle = libm::atan2(left.cross(right).norm(), left.dot(right));
            if angle <= ZERO {
                continue;
            }
            let (p, q) = (vertices[from], vertices[to]);
            let along = (q - p) / (q - p).norm();
            let arc = (left + right) * libm::tan(0.5 * angle);
            cones[from].first -= along * (0.5 * angle);
            cones[from].second -= arc * along.transpose() / 3.0;
            if from < to {
                self.add_sector([p, q], [left, right], angle, radius);
            }
        }
        for (v, cone) in vertices.iter().zip(&cones) {
            let second = cone.second + Matrix3::identity() * (cone.volume / 3.0);
            let (r3, r4, r5) = (
                (radius * radius * radius) / 3.0,
                carom_numeric::power(radius, 4) / 4.0,
                carom_numeric::power(radius, 5) / 5.0,
            );
            self.volume += cone.volume * r3;
            self.first += v * (cone.volume * r3) + cone.first * r4;
            self.second += v * v.transpose() * (cone.volume * r3)
                + sym_product(v, &cone.first) * r4
                + second * r5;
        }
    }

    /// Adds the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of the prism that a triangle
    /// sweeps along its unit normal up to `height` (m). `area` is the area of the triangle.
    fn add_prism(
        &mut self,
        corners: &[Vector3<f64>; 3],
        area: f64,
        normal: &Vector3<f64>,
        height: f64,
    ) {
        let sum: Vector3<f64> = corners.iter().sum();
        let middle = sum / 3.0;
        self.volume += area * height;
        self.first += middle * (area * height) + normal * (area * height * height / 2.0);
        self.second += corner_squares(corners, &sum) * (area * height / 12.0)
            + sym_product(&middle, normal) * (area * height * height / 2.0)
            + normal * normal.transpose() * (area * (height * height * height) / 3.0);
    }

    /// Adds the volume integrals (of 1, $\rho$ and $\rho\rho^T$ over the points $\rho$) of a sector of a cylinder
    /// around an edge from `p` to `q`. The sector lies between the unit normals `left` and `right` of the adjacent
    /// faces, which include `angle` (rad); `radius` is the radius of the cylinder (m).
    fn add_sector(
        &mut self,
        [p, q]: [Vector3<f64>; 2],
        [left, right]: [&Vector3<f64>; 2],
        angle: f64,
        radius: f64,
    ) {
        let length = (q - p).norm();
        let (sum, difference) = (left + right, left - right);
        let along = (q - p) / length;
        let half = 0.5 * angle;
        let arc = sum * libm::tan(half);
        let plane = Matrix3::identity() - along * along.transpose();
        let arc_squares = plane * half + sum * sum.transpose() * (libm::tan(half) / 4.0)
            - difference * difference.transpose() / (4.0 * libm::tan(half));
        let area = half * radius * radius;
        let reach = (radius * radius * radius) / 3.0;
        let middle = (p + q) * 0.5;
        self.volume += area * length;
        self.first += middle * (area * length) + arc * (reach * length);
        self.second += corner_squares(&[p, q], &(p + q)) * (area * length / 6.0)
            + sym_product(&middle, &arc) * (reach * length)
            + arc_squares * (carom_numeric::power(radius, 4) / 4.0 * length);
    }
}

/// Computes $ss^T + \sum_i c_ic_i^T$ with the points $c_i$ = `corners` and their sum $s$ = `sum`.
fn corner_squares(corners: &[Vector3<f64>], sum: &Vector3<f64>) -> Matrix3<f64> {
    corners
        .iter()
        .fold(sum * sum.transpose(), |m, c| m + c * c.transpose())
}

fn sym_product(a: &Vector3<f64>, b: &Vector3<f64>) -> Matrix3<f64> {
    a * b.transpose() + b * a.transpose()
}

/// Cross-sections of an ellipsoid along the axis that it shares with another.
struct Profile {
    center: f64,
    semi_axes: [f64; 3],
}

impl Profile {
    /// Returns the two half widths of the cross-section of this ellipsoid at the position `x` along the common axis;
    /// zero outside the ellipsoid.
    fn half_widths(&self, x: f64) -> (f64, f64) {
        let [a, b, c] = self.semi_axes;
        let s = (x - self.center) / a;
        let scale = ((1.0 - s) * (1.0 + s)).max(0.0).sqrt();
        (b * scale, c * scale)
    }

    fn ends(&self) -> [f64; 2] {
        [
            self.center - self.semi_axes[0],
            self.center + self.semi_axes[0],
        ]
    }
}

/// Computes integrals over the union of two ellipsoids whose centers lie on a common x axis: the volume, $\int x$, and the three
/// entries $\int x^2$, $\int y^2$, $\int z^2$.
fn union_moments(first: &Profile, second: &Profile) -> (f64, f64, [f64; 3]) {
    let mut cuts = [first.ends(), second.ends()].concat();
    for i in 1..3 {
        cuts.extend(equal_widths(first, second, i));
    }
    cuts.sort_by(f64::total_cmp);
    let rule = gauss_legendre::<CROSS_SECTIONS>();
    let mut sums = [0.0; 5];
    for (from, to) in cuts.iter().zip(cuts.iter().skip(1)) {
        let (middle, half) = (0.5 * (from + to), 0.5 * (to - from));
        for (s, weight) in rule {
            // The substitution by a sine removes the square roots at the ends of the axes.
            let x = middle + half * libm::sin(FRAC_PI_2 * s);
            let weight = weight * half * FRAC_PI_2 * libm::cos(FRAC_PI_2 * s);
            let [area, yy, zz] = section(first.half_widths(x), second.half_widths(x));
            let parts = [area, area * x, area * x * x, yy, zz];
            sums.iter_mut()
                .zip(parts)
                .for_each(|(sum, part)| *sum += weight * part);
        }
    }
    let [volume, x, xx, yy, zz] = sums;
    (volume, x, [xx, yy, zz])
}

/// Returns the positions along the common axis at which two ellipsoids have an equal half width: along y for `i` = 1, along z for
/// `i` = 2. These positions are the roots of a quadratic equation.
fn equal_widths(p: &Profile, q: &Profile, i: usize) -> Vec<f64> {
    let weight = |p: &Profile| {
        let b2 = p.semi_axes[i] * p.semi_axes[i];
        (b2, b2 / (p.semi_axes[0] * p.semi_axes[0]))
    };
    let ((bp, kp), (bq, kq)) = (weight(p), weight(q));
    // bp - kp (x - cp)^2 = bq - kq (x - cq)^2
    let a = kq - kp;
    let b = kp * p.center - kq * q.center;
    let c = bp - bq + kq * q.center * q.center - kp * p.center * p.center;
    let roots = if a == 0.0 {
        vec![-c / (2.0 * b)]
    } else {
        let root = (b * b - a * c).sqrt();
        let far = -b - root.copysign(b);
        vec![far / a, c / far]
    };
    let ends = [p.ends(), q.ends()].concat();
    let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
    let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let inside = |x: &f64| *x > low && *x < high;
    roots.into_iter().filter(inside).collect()
}

/// Computes the area, $\int y^2$ and $\int z^2$ of the union of two concentric ellipses. Each ellipse is given by its
/// half widths along y and z.
fn section((y1, z1): (f64, f64), (y2, z2): (f64, f64)) -> [f64; 3] {
    // The ellipse called wide reaches farther along y.
    let ((yw, zw), (yt, zt)) = if y1 >= y2 {
        ((y1, z1), (y2, z2))
    } else {
        ((y2, z2), (y1, z1))
    };
    if zw >= zt {
        return quadrant_sector(yw, zw, FRAC_PI_2).map(|x| 4.0 * x);
    }
    // The boundaries cross at polar angles with tan^2 = (1/yt^2 - 1/yw^2)/(1/zw^2 - 1/zt^2).
    let ratio = |a: f64, b: f64| (a - b) * (a + b) / (a * a * b * b);
    let rise = if zw == 0.0 || yt == 0.0 {
        0.0
    } else {
        ratio(yw, yt) / ratio(zt, zw)
    };
    let cross = rise.sqrt();
    let wide = quadrant_sector(yw, zw, anomaly(yw, zw, cross));
    let tall = quadrant_sector(yt, zt, FRAC_PI_2);
    let below = quadrant_sector(yt, zt, anomaly(yt, zt, cross));
    [0, 1, 2].map(|i| 4.0 * (wide[i] + tall[i] - below[i]))
}

/// Returns the eccentric anomaly of the point of an ellipse at a polar angle (rad). `y` and `z` are the half widths
/// of the ellipse, `tangent` is the tangent of the polar angle.
fn anomaly(y: f64, z: f64, tangent: f64) -> f64 {
    libm::atan2(y * tangent, z)
}

/// Computes the area, $\int y^2$ and $\int z^2$ of a sector of an ellipse. `y` and `z` are the half widths; the
/// sector reaches from the y axis to the eccentric anomaly `anomaly` (rad).
fn quadrant_sector(y: f64, z: f64, anomaly: f64) -> [f64; 3] {
    let area = 0.5 * y * z * anomaly;
    let (mean, wave) = (0.5 * anomaly, 0.25 * libm::sin(2.0 * anomaly));
    let scale = 0.25 * y * z;
    [
        area,
        scale * y * y * (mean + wave),
        scale * z * z * (mean - wave),
    ]
}
