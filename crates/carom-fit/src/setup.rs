//! The body, the plane, gravity, and what counts as an impact.

use crate::tolerances::EQUAL_MOMENTS;
use crate::{FitError, Poses};
use carom_geometry::MassProperties;
use carom_lie::So3;
use carom_variational::{ExactFlight, Flight, RigidBody, State};
use nalgebra::{Matrix3, Vector3};

/// A tracked body: inertia and the vertices of its convex hull.
///
/// # Examples
///
/// ```
/// use carom_fit::Body;
/// use nalgebra::{Matrix3, Vector3};
/// let half = 0.05_f64;
/// let signs = [-1.0, 1.0];
/// let mut corners = Vec::new();
/// for (x, y, z) in signs.iter().flat_map(|x| signs.map(|y| signs.map(|z| (*x, y, z)))).flatten() {
///     corners.push(half * Vector3::new(x, y, z));
/// }
/// // A cube of 0.3 kg: J = m a²/6 with the edge a.
/// let inertia = 0.3 * (2.0 * half).powi(2) / 6.0;
/// let die = Body::new(0.3, Matrix3::identity() * inertia, corners)?;
/// assert!((die.rigid.moments() / 5e-4 - Vector3::repeat(1.0)).norm() < 1e-12);
/// # Ok::<(), carom_fit::FitError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Body {
    /// Mass and inertia about the center of mass, body axes.
    pub rigid: RigidBody,
    /// Vertices relative to the center of mass, body axes (m).
    pub vertices: Vec<Vector3<f64>>,
}

impl Body {
    /// A body with a mass (kg), an inertia matrix about the center of mass (kg·m², body axes) and
    /// vertices relative to the center of mass (m, body axes).
    ///
    /// # Errors
    ///
    /// [`FitError::Configuration`] if the mass is not positive, the inertia not that of a body, or
    /// fewer than one vertex is given or one is not finite.
    pub fn new(
        mass: f64,
        inertia: Matrix3<f64>,
        vertices: Vec<Vector3<f64>>,
    ) -> Result<Self, FitError> {
        let properties = MassProperties::new(mass, inertia)
            .map_err(|e| FitError::Configuration(format!("body: {e}")))?;
        if vertices.is_empty() || vertices.len() > MAX_VERTICES {
            return Err(FitError::Configuration(format!(
                "body.vertices: {} vertices, between 1 and {MAX_VERTICES} are needed",
                vertices.len()
            )));
        }
        if let Some(i) = vertices
            .iter()
            .position(|v| !v.iter().all(|x| x.is_finite()))
        {
            return Err(FitError::Configuration(format!(
                "body.vertices[{i}]: not finite"
            )));
        }
        Ok(Self {
            rigid: RigidBody::new(&properties),
            vertices,
        })
    }

    /// Heights $n\cdot(x + R\rho)$ of all vertices along a unit vector (m).
    pub(crate) fn heights<'a>(
        &'a self,
        normal: &'a Vector3<f64>,
        position: &Vector3<f64>,
        rotation: &So3,
    ) -> impl Iterator<Item = f64> + 'a {
        let along = rotation.rotate_back(normal);
        let center = normal.dot(position);
        self.vertices.iter().map(move |v| center + along.dot(v))
    }

    /// Height of the lowest vertex along a unit vector (m).
    pub(crate) fn lowest(
        &self,
        normal: &Vector3<f64>,
        position: &Vector3<f64>,
        rotation: &So3,
    ) -> f64 {
        self.heights(normal, position, rotation)
            .fold(f64::INFINITY, f64::min)
    }

    /// Attitude of the free body a signed time (s) after `from`, where it turns at an angular velocity in
    /// body axes (rad/s); `None` if it cannot be followed that far.
    pub(crate) fn turned(&self, from: &So3, angular: &Vector3<f64>, time: f64) -> Option<So3> {
        if self.is_isotropic() {
            return Some(from.compose(&So3::exp(&(angular * time))));
        }
        let state = State {
            position: Vector3::zeros(),
            rotation: *from,
            linear_momentum: Vector3::zeros(),
            angular_momentum: self.rigid.inertia() * angular,
        };
        let flight = ExactFlight::new(Vector3::zeros());
        Some(flight.advance(&self.rigid, &state, time).ok()?.rotation)
    }

    /// Second difference of three attitudes at equal steps (s), $\log(R_1^TR_2) - \log(R_0^TR_1)$, less that of
    /// a free flight, $h^2I^{-1}(I\omega\times\omega)$ (Euler).
    pub(crate) fn excess_turn(&self, rotations: &[So3], step: f64) -> Vector3<f64> {
        let [first, middle, last] = rotations else {
            return Vector3::zeros();
        };
        let turn = |a: &So3, b: &So3| a.inverse().compose(b).log();
        let (before, after) = (turn(first, middle), turn(middle, last));
        let mut excess = after - before;
        if !self.is_isotropic() && step > 0.0 {
            let angular = (before + after) / (2.0 * step);
            let torque = (self.rigid.inertia() * angular).cross(&angular);
            excess -= self.rigid.angular_velocity(&torque) * (step * step);
        }
        excess
    }

    /// True if the three principal moments agree to rounding, so that the angular velocity of a
    /// flight is constant.
    pub(crate) fn is_isotropic(&self) -> bool {
        let moments = self.rigid.moments();
        moments.z - moments.x <= EQUAL_MOMENTS * moments.z
    }
}

/// A body whose lowest vertex is this far above the plane flies (m).
const FLIGHT_HEIGHT: f64 = 0.010;

/// Most vertices of a body: contacts of one impact stay a small problem.
const MAX_VERTICES: usize = 10_000;

/// A fixed plane, free where `normal · x + offset > 0`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit normal in space, out of the solid.
    pub normal: Vector3<f64>,
    /// Offset (m).
    pub offset: f64,
}

/// Known properties of the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneSetup {
    /// Unit normal in space, out of the solid.
    pub normal: Vector3<f64>,
    /// Offset (m); `None`: from the poses at rest.
    pub offset: Option<f64>,
}

/// Thresholds that decide what is an isolated impact.
///
/// # Examples
///
/// ```
/// use carom_fit::DetectOptions;
/// // Vertices within 2 mm touch; 5 to 12 poses of flight on either side.
/// let options = DetectOptions::new(0.002, 5, 12, 3)?;
/// assert_eq!(options.most, 12);
/// let error = DetectOptions::new(0.002, 5, 4, 3).unwrap_err();
/// assert!(error.to_string().contains("detect.most"));
/// # Ok::<(), carom_fit::FitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DetectOptions {
    /// Vertices at most this far above the lowest one touch (m).
    pub band: f64,
    /// Fewest samples of flight on either side.
    pub least: usize,
    /// Most samples of flight that are used on either side.
    pub most: usize,
    /// Longest episode of flagged samples.
    pub width: usize,
}

impl Default for DetectOptions {
    fn default() -> Self {
        Self {
            band: 3e-3,
            least: 4,
            most: 10,
            width: 3,
        }
    }
}

impl DetectOptions {
    /// Options with all values checked.
    ///
    /// # Errors
    ///
    /// [`FitError::Configuration`] that names the key: a band that is not positive, fewer than 3
    /// samples a side, more than 1000 used, an episode without samples.
    pub fn new(band: f64, least: usize, most: usize, width: usize) -> Result<Self, FitError> {
        let wrong =
            |key: &str, why: &str| Err(FitError::Configuration(format!("detect.{key}: {why}")));
        if !(band > 0.0 && band.is_finite()) {
            return wrong("band", &format!("{band} m is not a positive length"));
        }
        if least < 3 {
            return wrong("least", "at least 3 samples a side are needed");
        }
        if most < least || most > 1000 {
            return wrong(
                "most",
                "between `least` and 1000 samples a side can be used",
            );
        }
        if !(1..=1000).contains(&width) {
            return wrong("width", "between 1 and 1000 samples");
        }
        Ok(Self {
            band,
            least,
            most,
            width,
        })
    }
}

/// Everything that is given beside the poses.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The body.
    pub body: Body,
    /// The plane.
    pub plane: PlaneSetup,
    /// Gravity in space (m/s²); `None`: from the flights.
    pub gravity: Option<Vector3<f64>>,
    /// Restitution and friction that someone has published, shown beside the estimate and used for nothing.
    pub published: Option<[f64; 2]>,
    /// Options that decide what counts as an impact.
    pub options: DetectOptions,
}

impl Setup {
    /// `true` for every sample at which the body is too far above the plane to touch it.
    pub(crate) fn flying(&self, toss: &Poses, plane: &Plane) -> Vec<bool> {
        let poses = toss.position.iter().zip(&toss.rotation);
        poses
            .map(|(x, r)| self.body.lowest(&plane.normal, x, r) + plane.offset > FLIGHT_HEIGHT)
            .collect()
    }
}
