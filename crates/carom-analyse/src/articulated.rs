//! Jointed bodies in space as a mechanical system: trees of revolute and prismatic joints from the ground.
//!
//! Kinetic and potential energy are evaluated with second-order dual numbers, which gives the mass matrix, gradients and Hessians.

use crate::AnalyseError;
use carom_joints::coordinates::{CoordinateSpec, Rule};
use carom_joints::{Multibody, Posture};
use carom_mechanism::{Derivatives, Dynamics, MechanicalSystem, Motion, PointContact};
use nalgebra::{DMatrix, Matrix3, Vector3};
use num_dual::{DualNum, HyperDual64};

/// Motion of a body against the body that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Freedom {
    Turns(usize),
    Slides(usize),
    Fixed,
}

/// Body on a joint, in the frame of the body that carries it.
#[derive(Clone, Debug)]
struct Link {
    /// Index of the carrying link; `None` for the ground and fixed bodies, whose frame is space.
    parent: Option<usize>,
    freedom: Freedom,
    axis: Vector3<f64>,
    point: Vector3<f64>,
    /// Center and rotation at the start.
    center: Vector3<f64>,
    rotation: Matrix3<f64>,
    mass: f64,
    inertia: Matrix3<f64>,
}

/// Limit of a coordinate as a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stop {
    coordinate: usize,
    /// Value of the coordinate there (m or rad).
    value: f64,
    /// 1 for a lower limit, −1 for an upper one.
    side: f64,
}

/// Jointed bodies whose joints are revolute, prismatic or fixed and form trees from the ground. Contacts are the limits of the
/// coordinates, named `joint.lower` and `joint.upper`.
#[derive(Clone, Debug)]
pub struct Articulated {
    links: Vec<Link>,
    coordinates: Vec<CoordinateSpec>,
    start: Vec<f64>,
    stops: Vec<Stop>,
    contacts: Vec<PointContact>,
    gravity: Vector3<f64>,
}

impl Articulated {
    /// Makes the system of jointed bodies that stand in a posture. `names` are the names of the coordinates.
    ///
    /// # Errors
    ///
    /// [`AnalyseError::NoFlow`] for other joints, loops, bodies that float, drag, forces on bodies, dry friction, and actuators
    /// with limits or corners.
    pub fn new(
        multibody: &Multibody,
        posture: &Posture,
        names: &[String],
    ) -> Result<Self, AnalyseError> {
        let no = |what: String| Err(AnalyseError::NoFlow { what });
        if let Some(joint) = multibody.loop_joints().first() {
            let name = multibody
                .joints()
                .get(*joint)
                .map_or("", |joint| joint.name.as_str());
            return no(format!(
                "the joint `{name}` closes a loop: flows of loops are not done yet"
            ));
        }
        let mut links: Vec<Link> = Vec::new();
        let mut place: Vec<Option<usize>> = vec![None; multibody.n_bodies()];
        for _ in 0..multibody.joints().len() {
            for (j, joint) in multibody.joints().iter().enumerate() {
                let parent = joint.parent.filter(|body| multibody.rigid(*body).is_some());
                let waits = parent.is_some_and(|body| place[body].is_none());
                if waits || place[joint.child].is_some() {
                    continue;
                }
                let first = multibody.coordinates_of(j).start;
                let freedom = match joint.kind.name {
                    "revolute" => Freedom::Turns(first),
                    "prismatic" => Freedom::Slides(first),
                    "fixed" => Freedom::Fixed,
                    kind => {
                        let name = &joint.name;
                        return no(format!(
                            "the joint `{name}` is of type {kind}: flows are done for revolute, prismatic and fixed joints"
                        ));
                    }
                };
                let carrier = parent.and_then(|body| posture.states.get(body));
                let (turned, origin) = carrier
                    .map_or((Matrix3::identity(), Vector3::zeros()), |state| {
                        (state.rotation.matrix().transpose(), state.position)
                    });
                let (Some(state), Some(rigid)) = (
                    posture.states.get(joint.child),
                    multibody.rigid(joint.child),
                ) else {
                    continue;
                };
                let side = joint.frames(&posture.states).parent;
                place[joint.child] = Some(links.len());
                links.push(Link {
                    parent: parent.and_then(|body| place[body]),
                    freedom,
                    axis: turned * side.axes.column(2),
                    point: turned * (side.origin - origin),
                    center: turned * (state.position - origin),
                    rotation: turned * state.rotation.matrix(),
                    mass: rigid.mass(),
                    inertia: *rigid.inertia(),
                });
            }
        }
        for (body, link) in place.iter().enumerate() {
            let name = multibody.body_name(body);
            if multibody.rigid(body).is_some() && link.is_none() {
                return no(format!(
                    "the body `{name}` hangs on no joint: flows of floating bodies are not done yet"
                ));
            }
            if multibody.loads(body).is_some_and(|loads| !loads.is_empty()) {
                return no(format!(
                    "drag and forces on the body `{name}`: their flows are not done yet"
                ));
            }
        }
        let coordinates: Vec<CoordinateSpec> = multibody.coordinates().cloned().collect();
        for (coordinate, name) in coordinates.iter().zip(names) {
            if let Some(what) = refused(coordinate) {
                return no(format!(
                    "the coordinate `{name}` has {what}: its flow is not done yet"
                ));
            }
        }
        let (stops, contacts) = stops(&coordinates, names);
        Ok(Self {
            links,
            coordinates,
            start: posture.q.clone(),
            stops,
            contacts,
            gravity: *multibody.gravity(),
        })
    }

    /// Returns the force of the actuator of each coordinate at a time (N or N m), as far as it does not follow the coordinate.
    pub fn drives(&self, time: f64) -> Vec<f64> {
        let all = self.coordinates.iter();
        all.map(|c| {
            c.actuator
                .as_ref()
                .map_or(0.0, |a| a.force(0.0, 0.0, time, false))
        })
        .collect()
    }

    /// Returns kinetic and potential energy without springs and rotors, for coordinates followed by rates.
    fn energies<D: DualNum<Primitive = f64>>(&self, x: &[D]) -> (D, D) {
        let n = self.coordinates.len();
        let mut made: Vec<Placed<D>> = Vec::with_capacity(self.links.len());
        let (mut kinetic, mut potential) = (D::from(0.0), D::from(0.0));
        for link in &self.links {
            let ground = Placed::ground();
            let carrier = link.parent.and_then(|p| made.get(p)).unwrap_or(&ground);
            let placed = match link.freedom {
                Freedom::Fixed => carrier.carry(link, None),
                Freedom::Turns(k) | Freedom::Slides(k) => {
                    let q = x[k].clone() - self.start[k];
                    carrier.carry(link, Some((q, x[n + k].clone())))
                }
            };
            let speed = dot(&placed.velocity, &placed.velocity);
            let spin = placed.spin_in_body();
            let momentum = times(&constant_matrix(&link.inertia), &spin);
            kinetic += (speed * link.mass + dot(&spin, &momentum)) * 0.5;
            let height = dot(&placed.center, &constant(&self.gravity));
            potential -= height * link.mass;
            made.push(placed);
        }
        (kinetic, potential)
    }
}

/// Part of a coordinate whose flow is not done.
fn refused(coordinate: &CoordinateSpec) -> Option<&'static str> {
    if coordinate.friction > 0.0 {
        return Some("dry friction");
    }
    let actuator = coordinate.actuator.as_ref()?;
    if actuator.limit.is_finite() {
        return Some("an actuator with a limit");
    }
    let corners = actuator.corners().len() > 1;
    corners.then_some("an actuator whose table has corners")
}

fn stops(coordinates: &[CoordinateSpec], names: &[String]) -> (Vec<Stop>, Vec<PointContact>) {
    let (mut stops, mut contacts) = (Vec::new(), Vec::new());
    for (k, (coordinate, name)) in coordinates.iter().zip(names).enumerate() {
        for (end, value, side) in [
            ("lower", coordinate.lower, 1.0),
            ("upper", coordinate.upper, -1.0),
        ] {
            if value.is_finite() {
                stops.push(Stop {
                    coordinate: k,
                    value,
                    side,
                });
                contacts.push(PointContact {
                    restitution: coordinate.restitution,
                    ..PointContact::elastic(format!("{name}.{end}"))
                });
            }
        }
    }
    (stops, contacts)
}

/// Place and velocities of a body, in space.
struct Placed<D> {
    center: [D; 3],
    rotation: [[D; 3]; 3],
    velocity: [D; 3],
    spin: [D; 3],
}

fn constant<D: DualNum<Primitive = f64>>(x: &Vector3<f64>) -> [D; 3] {
    [x.x, x.y, x.z].map(D::from)
}

fn constant_matrix<D: DualNum<Primitive = f64>>(m: &Matrix3<f64>) -> [[D; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| D::from(m[(i, j)])))
}

fn dot<D: DualNum<Primitive = f64>>(a: &[D; 3], b: &[D; 3]) -> D {
    a[0].clone() * b[0].clone() + a[1].clone() * b[1].clone() + a[2].clone() * b[2].clone()
}

fn cross<D: DualNum<Primitive = f64>>(a: &[D; 3], b: &[D; 3]) -> [D; 3] {
    let part = |i: usize, j: usize| a[i].clone() * b[j].clone() - a[j].clone() * b[i].clone();
    [part(1, 2), part(2, 0), part(0, 1)]
}

fn sum<D: DualNum<Primitive = f64>>(a: &[D; 3], b: &[D; 3]) -> [D; 3] {
    [0, 1, 2].map(|i| a[i].clone() + b[i].clone())
}

fn scaled<D: DualNum<Primitive = f64>>(a: &[D; 3], by: &D) -> [D; 3] {
    a.clone().map(|x| x * by.clone())
}

fn times<D: DualNum<Primitive = f64>>(m: &[[D; 3]; 3], x: &[D; 3]) -> [D; 3] {
    [0, 1, 2].map(|i| dot(&m[i], x))
}

fn product<D: DualNum<Primitive = f64>>(a: &[[D; 3]; 3], b: &[[D; 3]; 3]) -> [[D; 3]; 3] {
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| dot(&a[i], &[0, 1, 2].map(|k| b[k][j].clone()))))
}

impl<D: DualNum<Primitive = f64>> Placed<D> {
    fn ground() -> Self {
        let zero = || constant(&Vector3::zeros());
        Self {
            center: zero(),
            rotation: constant_matrix(&Matrix3::identity()),
            velocity: zero(),
            spin: zero(),
        }
    }

    /// Returns the place of a body that this one carries, for the change of its coordinate since the start and its rate.
    fn carry(&self, link: &Link, coordinate: Option<(D, D)>) -> Self {
        let mut offset: [D; 3] = constant(&link.center);
        let mut turned = constant_matrix(&link.rotation);
        let mut own = constant(&Vector3::zeros());
        let mut spin = self.spin.clone();
        if let Some((q, rate)) = coordinate {
            let axis = times(&self.rotation, &constant(&link.axis));
            let driven = scaled(&axis, &rate);
            if matches!(link.freedom, Freedom::Slides(_)) {
                offset = sum(&offset, &scaled(&constant(&link.axis), &q));
                own = driven;
            } else {
                let turn = rotation(&link.axis, &q);
                let arm = times(&turn, &constant(&(link.center - link.point)));
                offset = sum(&constant(&link.point), &arm);
                turned = product(&turn, &turned);
                own = cross(&driven, &times(&self.rotation, &arm));
                spin = sum(&spin, &driven);
            }
        }
        let offset = times(&self.rotation, &offset);
        let carried = cross(&self.spin, &offset);
        Self {
            center: sum(&self.center, &offset),
            rotation: product(&self.rotation, &turned),
            velocity: sum(&sum(&self.velocity, &carried), &own),
            spin,
        }
    }

    fn spin_in_body(&self) -> [D; 3] {
        [0, 1, 2].map(|j| dot(&[0, 1, 2].map(|i| self.rotation[i][j].clone()), &self.spin))
    }
}

/// Rotation about a unit vector, by Rodrigues' formula.
fn rotation<D: DualNum<Primitive = f64>>(axis: &Vector3<f64>, angle: &D) -> [[D; 3]; 3] {
    let hat = axis.cross_matrix();
    let square = hat * hat;
    let (sin, cos) = angle.sin_cos();
    [0, 1, 2].map(|i| {
        [0, 1, 2].map(|j| {
            let unit = f64::from(u8::from(i == j));
            sin.clone() * hat[(i, j)] + (-cos.clone() + 1.0) * square[(i, j)] + unit
        })
    })
}

impl MechanicalSystem for Articulated {
    fn dimension(&self) -> usize {
        self.coordinates.len()
    }

    fn mass_matrix(&self, q: &[f64], out: &mut DMatrix<f64>) {
        let mut dynamics = Dynamics::new(q.len());
        let at = Motion {
            time: 0.0,
            configuration: q,
            velocity: &vec![0.0; q.len()],
        };
        self.dynamics(&at, Derivatives::First, &mut dynamics);
        out.copy_from(&dynamics.mass_matrix);
    }

    fn dynamics(&self, at: &Motion<'_>, _wanted: Derivatives, out: &mut Dynamics) {
        let n = self.coordinates.len();
        let values: Vec<f64> = at
            .configuration
            .iter()
            .chain(at.velocity)
            .copied()
            .collect();
        for i in 0..2 * n {
            for j in i..2 * n {
                let mut x: Vec<HyperDual64> =
                    values.iter().map(|x| HyperDual64::from_re(*x)).collect();
                x[i] = x[i].derivative1();
                x[j] = x[j].derivative2();
                let (kinetic, potential) = self.energies(&x);
                let second = kinetic.eps1eps2;
                match (i < n, j < n) {
                    (true, true) => {
                        for (k, l) in [(i, j), (j, i)] {
                            out.kinetic_hessian[(k, l)] = second;
                            out.potential_hessian[(k, l)] = potential.eps1eps2;
                        }
                        out.potential = potential.re;
                        out.potential_gradient[i] = potential.eps1;
                    }
                    (true, false) => out.momentum_derivative[(j - n, i)] = second,
                    (false, _) => {
                        out.mass_matrix[(i - n, j - n)] = second;
                        out.mass_matrix[(j - n, i - n)] = second;
                    }
                }
            }
        }
        for (k, c) in self.coordinates.iter().enumerate() {
            let (q, v) = (at.configuration[k], at.velocity[k]);
            let stretch = q - c.rest;
            out.mass_matrix[(k, k)] += c.armature;
            out.potential += 0.5 * c.stiffness * stretch * stretch;
            out.potential_gradient[k] += c.stiffness * stretch;
            out.potential_hessian[(k, k)] += c.stiffness;
            out.force[k] -= c.damping * v;
            out.force_by_velocity[(k, k)] -= c.damping;
            let Some(actuator) = &c.actuator else {
                continue;
            };
            out.force[k] += actuator.force(q, v, at.time, false);
            match actuator.rule {
                Rule::Pd {
                    proportional,
                    derivative,
                    ..
                } => {
                    out.force_by_configuration[(k, k)] -= proportional;
                    out.force_by_velocity[(k, k)] -= derivative;
                }
                Rule::Signal(_) => {
                    let step = f64::EPSILON.sqrt();
                    let force = |time| actuator.force(q, v, time, false);
                    let change = force(at.time + step) - force(at.time - step);
                    out.force_by_time[k] += 0.5 * change / step;
                }
                _ => (),
            }
        }
    }

    fn contacts(&self) -> &[PointContact] {
        &self.contacts
    }

    fn gap(&self, contact: usize, q: &[f64]) -> f64 {
        let stop = self.stops[contact];
        stop.side * (q[stop.coordinate] - stop.value)
    }

    fn gap_gradient(&self, contact: usize, _q: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let stop = self.stops[contact];
        out[stop.coordinate] = stop.side;
    }

    fn contact_hessians(
        &self,
        _: usize,
        _: &[f64],
        _: &mut DMatrix<f64>,
        _: &mut DMatrix<f64>,
    ) -> bool {
        true
    }
}
