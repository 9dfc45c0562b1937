//! Code shared by the scenarios of one frictional contact: the papers' contacts, and traces of impacts as tables and
//! figures.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::common::projection::Camera;
use crate::config::{Fraction, NonNegative};
use carom_impact::two_body::{
    ContactInertia, Event, EventPoint, ImpactOptions, InvariantDirection, InvariantDirections,
    RestitutionLaw, Trace, TracePoint, invariant_directions, trace_impact,
};
use carom_report::animation::{Animation, MovingArrow, Outline, PlaneBody};
use carom_report::record::{Color, Column, LineStyle, Mark, PointShape, Quantity, Table};
use nalgebra::{Matrix3, Vector2, Vector3};
use serde::Deserialize;

/// Inverse inertia matrix at the contact of icosahedron and tetrahedron, Jia & Wang, Eq. (13), made
/// symmetric.
pub(crate) const ICOSAHEDRON_TETRAHEDRON: [[f64; 3]; 3] = [
    [11.5984, -0.910367, 2.44236],
    [-0.910367, 9.90134, 1.95747],
    [2.44236, 1.95747, 2.59042],
];

/// Impact at one contact: inertia, velocity, coefficients and law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) inertia: ContactInertia,
    pub(crate) velocity: Vector3<f64>,
    pub(crate) friction: f64,
    pub(crate) restitution: f64,
    pub(crate) law: RestitutionLaw,
}

impl Setup {
    pub(crate) fn new(
        inertia: &[[f64; 3]; 3],
        velocity: [f64; 3],
        friction: f64,
        restitution: f64,
    ) -> Result<Self, ScenarioError> {
        Ok(Self {
            inertia: ContactInertia::from_matrix(&Matrix3::from_fn(|i, j| inertia[i][j]))?,
            velocity: velocity.into(),
            friction,
            restitution,
            law: RestitutionLaw::default(),
        })
    }

    pub(crate) fn options(&self) -> ImpactOptions {
        ImpactOptions::default().with_restitution_law(self.law)
    }

    pub(crate) fn trace(&self) -> Result<Trace, ScenarioError> {
        let trace = trace_impact(
            &self.inertia,
            &self.velocity,
            self.friction,
            self.restitution,
            &self.options(),
        )?;
        trace.ok_or_else(|| ScenarioError::value("velocity", "the contact does not close"))
    }

    /// Traces the impact of the case `name` in the list `key` of the configuration.
    pub(crate) fn trace_of(&self, key: &str, name: &str) -> Result<Trace, ScenarioError> {
        self.trace().map_err(|error| match error {
            ScenarioError::Key { message, .. } => {
                ScenarioError::value(key, format!("`{name}`: {message}"))
            }
            other => other,
        })
    }

    /// Returns the impulse (N s) with the normal part `z` at which sliding is zero; `None` for a singular tangential inertia.
    fn sticking(&self, z: f64) -> Option<Vector3<f64>> {
        let inverse = self.inertia.tangential().try_inverse()?;
        let tangential = inverse * -(self.velocity.xy() + self.inertia.coupling() * z);
        Some(Vector3::new(tangential.x, tangential.y, z))
    }

    pub(crate) fn directions(&self) -> Vec<InvariantDirection> {
        match invariant_directions(&self.inertia, self.friction) {
            InvariantDirections::Discrete(list) => list,
            InvariantDirections::All => Vec::new(),
        }
    }
}

/// Configuration of one impact of a contact that is given by its inverse inertia matrix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    pub(super) inverse_inertia: [[f64; 3]; 3],
    pub(super) velocity: [f64; 3],
    pub(super) friction: NonNegative,
    pub(super) restitution: Fraction,
    pub(super) restitution_law: RestitutionLaw,
}

impl Config {
    pub(crate) fn setup(&self) -> Result<Setup, ScenarioError> {
        let (friction, restitution) = (*self.friction, *self.restitution);
        let setup = Setup::new(&self.inverse_inertia, self.velocity, friction, restitution)?;
        Ok(Setup {
            law: self.restitution_law,
            ..setup
        })
    }
}

fn event_look(event: Event) -> (PointShape, Color) {
    match event {
        Event::CompressionEnd => (PointShape::Square, Color::Vermillion),
        Event::LaterCompressionEnd => (PointShape::Square, Color::Orange),
        Event::RestitutionEnd => (PointShape::Triangle, Color::Purple),
        Event::SlipZero => (PointShape::Cross, Color::Black),
        Event::StraightSlip => (PointShape::Circle, Color::Gray),
        Event::Interruption => (PointShape::Cross, Color::Orange),
    }
}

/// Draws the events of an impact at the places that `at` returns for an event.
fn draw_events<const N: usize>(
    plot: &mut Plot,
    trace: &Trace,
    at: impl Fn(&EventPoint) -> [[f64; 2]; N],
) {
    for event in trace.impact.events.iter() {
        let (shape, color) = event_look(event.event);
        let places = at(event);
        let [x, y] = [0, 1].map(|k| places.iter().map(|place| place[k]).collect());
        plot.mark(Mark::points(event_phrase(event.event), x, y, color).shape(shape));
    }
}

/// Draws the invariant directions of sliding, along which the sliding velocity keeps its direction, as rays of the length
/// `length` (m/s). Each kind of direction has one legend entry.
pub(crate) fn rays(directions: &[InvariantDirection], length: f64) -> Vec<Mark> {
    let kind = |d: &InvariantDirection| match (d.is_centrifugal(), d.attracting) {
        (true, _) => ("centrifugal direction", Color::Vermillion),
        (false, true) => ("centripetal, attracting", Color::Green),
        (false, false) => ("centripetal, repelling", Color::Gray),
    };
    let mut named: Vec<&str> = Vec::new();
    let ray = |d: &InvariantDirection| {
        let ((name, color), [c, s]) = (kind(d), d.direction());
        let (x, y) = (vec![0.0, length * c], vec![0.0, length * s]);
        let ray = if named.contains(&name) {
            Mark::path(x, y, color)
        } else {
            Mark::line(name, x, y, color)
        };
        named.push(name);
        ray.style(LineStyle::Dashed)
    };
    directions.iter().map(ray).collect()
}

/// Returns the sliding velocities of a trace (m/s). `points`: recorded points of an impact.
pub(crate) fn hodograph(points: &[TracePoint]) -> impl Iterator<Item = [f64; 2]> {
    points.iter().map(|p| [p.velocity.x, p.velocity.y])
}

/// Draws the hodograph of an impact (path of the sliding velocity), with its events and the invariant directions. `trace`:
/// recorded points of the impact.
pub(crate) fn hodograph_figure(
    [name, title, caption]: [&str; 3],
    setup: &Setup,
    trace: &Trace,
) -> Plot {
    let mut plot = named("trace/hodograph", name, title).fill("caption", caption);
    let largest = |m: f64, p: &TracePoint| m.max(p.velocity.xy().norm());
    let length = 0.9 * trace.points.iter().fold(0.0, largest);
    plot.figure.marks = rays(&setup.directions(), length);
    let start = [setup.velocity.x, setup.velocity.y];
    let plot = plot.through("sliding velocity", hodograph(&trace.points));
    let mut plot = plot.through("before", [start]);
    draw_events(&mut plot, trace, |e| [[e.velocity[0], e.velocity[1]]]);
    plot
}

/// Begins a figure whose description leaves name and title open.
fn named(path: &str, name: &str, title: &str) -> Plot {
    Plot::new(path).fill("name", name).fill("title", title)
}

/// Number of frames of the animation of a hodograph.
const FRAMES: usize = 200;

/// Builds the animation of the sliding velocity during an impact. The clock of the animation is the normal impulse. `trace`:
/// recorded points of the impact.
pub(crate) fn slide(setup: &Setup, trace: &Trace) -> Animation {
    let stride = trace.points.len().div_ceil(FRAMES).max(1);
    let last = trace.points.len().saturating_sub(1);
    let shown = trace.points.iter().enumerate();
    let shown = shown.filter(|(k, _)| k % stride == 0 || *k == last);
    let points: Vec<&TracePoint> = shown.map(|(_, point)| point).collect();
    let reach = points.iter().map(|p| p.velocity.xy().norm());
    let reach = reach.fold(0.0, f64::max);
    let times = points.iter().map(|p| p.impulse.z).collect();
    let velocity = |p: &&TracePoint| [p.velocity.x, p.velocity.y, 0.0];
    let point = Outline::disk([0.0; 2], 0.015 * reach, Color::Vermillion);
    let arrow = |p: &&TracePoint| [0.0, 0.0, p.velocity.x, p.velocity.y];
    let mut animation = Animation::plane(
        "sliding",
        "Sliding through the impact",
        "The sliding velocity as the normal impulse grows; the figure shows the whole curve \
         at once. Gray: the directions along which sliding never turns.",
        times,
        Vec::new(),
    )
    .clock("normal impulse", "N s")
    .axes("sliding velocity x [m/s]", "y [m/s]")
    .body(PlaneBody::new(vec![point], points.iter().map(velocity)).trail())
    .arrow(MovingArrow::new(Color::Blue, points.iter().map(arrow)));
    for direction in setup.directions() {
        let [x, y] = direction.direction();
        let end = [x * 0.9 * reach, y * 0.9 * reach];
        animation = animation.fixed(Outline::line([[0.0, 0.0], end], Color::Gray));
    }
    animation
}

/// Draws the tangential impulse against the normal impulse, as in the paper's Fig. 5, in two projections. A dashed line shows
/// the impulses at which the contact sticks. `trace`: recorded points of the impact.
pub(crate) fn impulse_figure(name: &str, title: &str, setup: &Setup, trace: &Trace) -> Plot {
    let mut plot = named("trace/impulse", name, title);
    let ends = [0.0, trace.impact.impulse.z];
    let sticking: Vec<Vector3<f64>> = ends.iter().filter_map(|z| setup.sticking(*z)).collect();
    for (k, axis) in ["along x", "along y"].into_iter().enumerate() {
        let curve = trace.points.iter().map(|p| [p.impulse.z, p.impulse[k]]);
        plot.curve(axis, axis, curve);
        if !sticking.is_empty() {
            plot.curve(
                &format!("sticking {axis}"),
                "",
                sticking.iter().map(|p| [p.z, p[k]]),
            );
        }
    }
    draw_events(&mut plot, trace, |e| {
        let [x, y, z] = e.impulse;
        [[z, x], [z, y]]
    });
    plot
}

/// Draws the curve of the impulse during an impact in space, in parallel projection, as in the paper's Fig. 5. The table of
/// the trace contains the coordinates. `trace`: recorded points of the impact.
pub(crate) fn impulse_space_figure(name: &str, title: &str, setup: &Setup, trace: &Trace) -> Plot {
    let curve: Vec<Vector3<f64>> = trace.points.iter().map(|p| p.impulse).collect();
    let last = trace.impact.impulse;
    let (w, v) = (&setup.inertia, setup.velocity);
    let ends = [0.0, last.z];
    let sticking: Vec<Vector3<f64>> = ends.iter().filter_map(|z| setup.sticking(*z)).collect();
    // The plane of zero normal velocity is drawn over the tangential impulses in the picture.
    let (mut low, mut high) = (Vector2::zeros(), Vector2::zeros());
    for point in curve.iter().chain(&sticking) {
        low = low.inf(&point.xy());
        high = high.sup(&point.xy());
    }
    let at_rest = |x: f64, y: f64| {
        let coupled = w.coupling().dot(&Vector2::new(x, y));
        Vector3::new(x, y, -(v.z + coupled) / w.matrix()[(2, 2)])
    };
    let plane = [
        at_rest(low.x, low.y),
        at_rest(high.x, low.y),
        at_rest(high.x, high.y),
        at_rest(low.x, high.y),
    ];
    let camera = Camera::beside(Vector3::new(0.8, -0.6, 0.0), 20.0);
    let place = |p: &Vector3<f64>| camera.place(p);
    let plot = named("trace/space", name, title);
    let mut plot = plot.through("compression ends", plane.iter().map(place));
    let reach = 1.15 * last.norm();
    for (axis, label) in [
        (Vector3::x(), "x"),
        (Vector3::y(), "y"),
        (Vector3::z(), "normal"),
    ] {
        let sign = if axis.dot(&last) < 0.0 { -1.0 } else { 1.0 };
        let length = if axis.z > 0.0 { reach } else { 0.6 * reach };
        let sense = if sign < 0.0 { "−" } else { "" };
        plot.mark(Mark::Arrow {
            from: [0.0; 2],
            to: camera.place(&(axis * (sign * length))),
            color: Color::Gray,
            label: Some(format!("{sense}{label}")),
        });
    }
    let plot = plot.through("line of sticking", sticking.iter().map(place));
    let mut plot = plot.through("impulse", curve.iter().map(place));
    draw_events(&mut plot, trace, |e| [camera.place(&e.impulse.into())]);
    plot
}

/// Draws the stored elastic energy against the normal impulse, with the events of the impact. `trace`: recorded points of the
/// impact.
pub(crate) fn energy_figure(name: &str, title: &str, trace: &Trace) -> Plot {
    let curve = trace.points.iter().map(|p| [p.impulse.z, p.energy]);
    let mut plot = named("trace/energy", name, title).through("stored energy", curve);
    draw_events(&mut plot, trace, |e| [[e.impulse[2], e.energy]]);
    plot
}

/// Converts the recorded points of an impact to a table: impulse, contact velocity and stored energy.
pub(crate) fn trace_table(trace: &Trace) -> Table {
    let mut table = Table::new(
        "trace",
        "Impulse, contact velocity and stored energy along the impact.",
        Column::list(
            "impulse_x [N s], impulse_y [N s], impulse_z [N s], velocity_x [m/s], \
             velocity_y [m/s], velocity_z [m/s], energy [J]",
        ),
    );
    let row = |p: &TracePoint| {
        let (i, v) = (p.impulse, p.velocity);
        vec![i.x, i.y, i.z, v.x, v.y, v.z, p.energy]
    };
    table.rows = trace.points.iter().map(row).collect();
    table
}

/// Returns the quantities that characterize an impact: impulse, velocity after it, energies and events. `trace`: recorded
/// points of the impact.
pub(crate) fn quantities(setup: &Setup, trace: &Trace) -> Vec<Quantity> {
    let impact = &trace.impact;
    let mut list = vec![
        Quantity::new("impulse_x_ns", impact.impulse.x, "N s"),
        Quantity::new("impulse_y_ns", impact.impulse.y, "N s"),
        Quantity::new("impulse_z_ns", impact.impulse.z, "N s"),
        Quantity::new("velocity_plus_x_m_s", impact.velocity_plus.x, "m/s"),
        Quantity::new("velocity_plus_y_m_s", impact.velocity_plus.y, "m/s"),
        Quantity::new("velocity_plus_z_m_s", impact.velocity_plus.z, "m/s"),
        Quantity::new("compression_energy_j", impact.compression_energy, "J"),
        Quantity::new("normal_work_j", impact.normal_work, "J"),
        Quantity::new("friction_work_j", impact.friction_work, "J"),
        Quantity::new("stick_demand", setup.inertia.stick_demand(), "")
            .note("|B^-1 d|: friction above it can stick"),
        Quantity::new(
            "normal_margin",
            setup.inertia.normal_margin(setup.friction),
            "1/kg",
        )
        .note("w_zz - mu |d|: positive, the normal velocity never falls"),
    ];
    for event in impact.events.iter() {
        list.push(
            Quantity::new(
                format!("event_{}_ns", event_key(event.event)),
                event.impulse[2],
                "N s",
            )
            .note(format!("normal impulse when {}", event_phrase(event.event))),
        );
    }
    for (k, direction) in setup.directions().iter().enumerate() {
        let kind = match (direction.is_centrifugal(), direction.attracting) {
            (true, _) => "centrifugal, attracting",
            (false, true) => "centripetal, attracting",
            (false, false) => "centripetal, repelling",
        };
        list.push(
            Quantity::new(format!("direction_{}_rad", k + 1), direction.angle, "rad").note(kind),
        );
    }
    list
}

fn event_key(event: Event) -> &'static str {
    match event {
        Event::CompressionEnd => "c",
        Event::RestitutionEnd => "r",
        Event::SlipZero => "s",
        Event::StraightSlip => "l",
        Event::Interruption => "k",
        Event::LaterCompressionEnd => "c2",
    }
}

fn event_phrase(event: Event) -> &'static str {
    match event {
        Event::CompressionEnd => "compression ends",
        Event::RestitutionEnd => "restitution ends",
        Event::SlipZero => "sliding stops",
        Event::StraightSlip => "sliding becomes straight",
        Event::Interruption => "restitution is interrupted",
        Event::LaterCompressionEnd => "the second compression ends",
    }
}
