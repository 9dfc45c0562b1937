//! Setup of an experiment: body, plane, gravity, and thresholds for the detection of impacts.

use crate::{DataError, Parameters, Poses};
use carom_geometry::MassProperties;
use carom_lie::So3;
use carom_numeric::decisions::RANK;
use carom_variational::{ExactFlight, Flight, RigidBody, State};
use nalgebra::{Matrix3, Vector3};

/// Tracked rigid body: mass, inertia and the vertices of its convex hull.
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
/// # Ok::<(), carom_fit::DataError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Body {
    /// Mass and inertia about the center of mass, in body axes.
    pub rigid: RigidBody,
    /// Vertices relative to the center of mass, in body axes (m).
    pub vertices: Vec<Vector3<f64>>,
}

impl Body {
    /// Creates a tracked rigid body from its mass (kg), its inertia matrix about the center of mass (kg·m², body axes) and its
    /// vertices relative to the center of mass (m, body axes).
    ///
    /// # Errors
    ///
    /// [`DataError::Configuration`] if the mass is not positive, if the inertia is not that of a body, if there
    /// is no vertex or more than 10 000, or if a vertex is not finite.
    pub fn new(
        mass: f64,
        inertia: Matrix3<f64>,
        vertices: Vec<Vector3<f64>>,
    ) -> Result<Self, DataError> {
        let properties = MassProperties::new(mass, inertia)
            .map_err(|e| DataError::Configuration(format!("body: {e}")))?;
        if vertices.is_empty() || vertices.len() > MAX_VERTICES {
            return Err(DataError::Configuration(format!(
                "body.vertices: {} vertices, between 1 and {MAX_VERTICES} are needed",
                vertices.len()
            )));
        }
        if let Some(i) = vertices
            .iter()
            .position(|v| !v.iter().all(|x| x.is_finite()))
        {
            return Err(DataError::Configuration(format!(
                "body.vertices[{i}]: not finite"
            )));
        }
        Ok(Self {
            rigid: RigidBody::new(&properties),
            vertices,
        })
    }

    /// Returns the heights (m) of all vertices of the body along a unit normal $n$: $n\cdot(x + R\rho)$ with the
    /// position $x$, the rotation $R$ from body axes to space, and the vertex $\rho$ in the body frame.
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

    /// Returns the height (m) of the lowest vertex of the body along a unit normal, at a given position and rotation
    /// from body axes to space.
    pub(crate) fn lowest(
        &self,
        normal: &Vector3<f64>,
        position: &Vector3<f64>,
        rotation: &So3,
    ) -> f64 {
        self.heights(normal, position, rotation)
            .fold(f64::INFINITY, f64::min)
    }

    /// Returns the attitude of the freely flying body a signed time (s) after the attitude `from`. `angular` is its
    /// angular velocity at `from` in body axes (rad/s). `None` if the motion cannot be computed that far.
    pub fn turned(&self, from: &So3, angular: &Vector3<f64>, time: f64) -> Option<So3> {
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

    /// Returns the second difference (rad) of three attitudes $R_0$, $R_1$, $R_2$ with the time step $h$ = `step` (s), minus
    /// that of free flight. The result is $\log(R_1^TR_2) - \log(R_0^TR_1) - h^2I^{-1}(I\omega\times\omega)$ with the inertia
    /// $I$ and the angular velocity $\omega$ (Euler's equations).
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

    /// True if the three principal moments of inertia of the body agree to rounding error, so that its angular
    /// velocity is constant in flight.
    pub(crate) fn is_isotropic(&self) -> bool {
        let moments = self.rigid.moments();
        moments.z - moments.x <= RANK * moments.z
    }
}

/// The body counts as flying if its lowest vertex is more than this above the plane (m).
const FLIGHT_HEIGHT: f64 = 0.010;

/// Largest number of vertices of a body.
const MAX_VERTICES: usize = 10_000;

/// Fixed plane on which the body falls. Points $x$ with `normal · x + offset > 0` are on the free side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Unit normal in space, which points out of the solid.
    pub normal: Vector3<f64>,
    /// Offset of the plane (m).
    pub offset: f64,
}

/// Known properties of the plane on which the body falls: its normal and, if known, its offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneSetup {
    /// Unit normal in space, which points out of the solid.
    pub normal: Vector3<f64>,
    /// Offset (m). With `None` it is estimated from the poses at rest.
    pub offset: Option<f64>,
}

/// Thresholds for the detection of isolated impacts in tracked poses: when a vertex touches, and how many poses belong to an
/// impact and to the flights before and after it.
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
/// # Ok::<(), carom_fit::DataError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DetectOptions {
    /// A vertex touches if it is at most this far above the lowest one (m).
    pub band: f64,
    /// Smallest number of samples of flight on each side.
    pub least: usize,
    /// Largest number of samples of flight that are used on each side.
    pub most: usize,
    /// Largest number of samples from the first to the last flagged sample of an episode.
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
    /// Creates thresholds for the detection of impacts and checks their values. `band` (m): a vertex touches if it is at most
    /// this far above the lowest one. `least` and `most`: smallest and largest number of poses in flight that are used on each
    /// side of an impact. `width`: largest number of poses of one impact.
    ///
    /// # Errors
    ///
    /// [`DataError::Configuration`], which names the key, for: a band that is not positive, fewer than 3 samples
    /// on each side, a largest number of samples below the smallest or above 1000, an episode length of 0 or
    /// above 1000.
    pub fn new(band: f64, least: usize, most: usize, width: usize) -> Result<Self, DataError> {
        let options = Self {
            band,
            least,
            most,
            width,
        };
        options.check()?;
        Ok(options)
    }

    /// Returns an error that names the key of a value that is out of range.
    pub(crate) fn check(&self) -> Result<(), DataError> {
        let Self {
            band,
            least,
            most,
            width,
        } = *self;
        let wrong =
            |key: &str, why: &str| Err(DataError::Configuration(format!("detect.{key}: {why}")));
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
        Ok(())
    }
}

/// Known data of an experiment in which a tracked body falls on a plane: body, plane, gravity and detection thresholds. The
/// tracked poses are not part of it.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Tracked body.
    pub body: Body,
    /// Known properties of the plane.
    pub plane: PlaneSetup,
    /// Gravity in space (m/s²). With `None` it is estimated from the flights.
    pub gravity: Option<Vector3<f64>>,
    /// Published restitution and friction. They are shown next to the estimate and not used otherwise.
    pub published: Option<Parameters>,
    /// Thresholds for the detection of impacts.
    pub options: DetectOptions,
}

impl Setup {
    /// Returns for every sample of a toss `true` if the body surely flies, because its lowest vertex is more than 1
    /// cm above the plane.
    pub(crate) fn flying(&self, toss: &Poses, plane: &Plane) -> Vec<bool> {
        let poses = toss.position.iter().zip(&toss.rotation);
        poses
            .map(|(x, r)| self.body.lowest(&plane.normal, x, r) + plane.offset > FLIGHT_HEIGHT)
            .collect()
    }
}
