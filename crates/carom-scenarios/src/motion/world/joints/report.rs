//! Record of a world with joints.

use super::setup::Jointed;
use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::common::{list, warn};
use crate::motion::balance::Balance;
use crate::motion::figures::{MOST_LINES, Series, against_time};
use crate::motion::world::World;
use crate::motion::world::entries::{
    self, LastingContacts, fault, final_state, handed_over, impact_contact, names_of_pair,
    quaternion,
};
use crate::motion::world::forces_table::ForcesTable;
use crate::motion::world::output::ImpactOutput;
use crate::motion::world::several::{Asked, Comparison};
use crate::motion::world::springs::SpringLoads;
use carom_impact::frictional::Poisson;
use carom_report::record::{Quantity, Record};
use carom_variational::State;
use carom_variational::load::Drag;
use carom_world::jointed::{
    JointContact, JointEvent, JointImpact, JointSample, JointedEnd, LimitContact,
};
use carom_world::joints::{Multibody, Posture};
use carom_world::{ContactForce, Scheme};
use nalgebra::Vector3;
use serde_json::{Map, Value, json};

/// Largest number of points in the figures.
const FRAMES: usize = 2_000;

/// Recorded events and states of a run.
pub(in super::super) struct Log<'w> {
    jointed: &'w Jointed,
    rows: Vec<Value>,
    joint_rows: Vec<Value>,
    loads: Vec<Value>,
    spring_loads: SpringLoads,
    impacts: Vec<Value>,
    /// Joint limits and pairs of bodies with a contact force, now or earlier.
    pressed: LastingContacts<JointContact>,
    times: Vec<f64>,
    coordinates: Vec<Vec<f64>>,
    energies: Vec<f64>,
    stride: usize,
    n_samples: usize,
    last_sample: Option<f64>,
    forces: ForcesTable,
    pub(in super::super) comparison: Comparison,
    asked: Asked,
}

impl<'w> Log<'w> {
    /// Creates an empty log. `asked` has the problem that the law for several contacts was asked last.
    pub(in super::super) fn new(jointed: &'w Jointed, asked: &Asked) -> Self {
        Self {
            jointed,
            rows: Vec::new(),
            joint_rows: Vec::new(),
            loads: Vec::new(),
            spring_loads: SpringLoads::default(),
            impacts: Vec::new(),
            pressed: LastingContacts::new(),
            times: Vec::new(),
            coordinates: Vec::new(),
            energies: Vec::new(),
            stride: jointed.setup.samples.len().div_ceil(FRAMES).max(1),
            n_samples: 0,
            last_sample: None,
            forces: ForcesTable::new(&jointed.setup.output),
            comparison: Comparison::default(),
            asked: asked.clone(),
        }
    }

    pub(in super::super) fn note(&mut self, event: &JointEvent<'_>) {
        match *event {
            JointEvent::Sample(sample) => self.sample(&sample),
            JointEvent::Impact(impact) => {
                self.comparison
                    .note_joints(self.jointed, &self.asked, impact);
                if self.jointed.setup.output.impacts == ImpactOutput::All {
                    self.impacts.push(self.jointed.impact(impact));
                }
            }
            JointEvent::Established { time, contact } => self.pressed.establish(time, contact),
            JointEvent::Released { time, contact } => self.pressed.release(time, contact),
            JointEvent::Mode {
                time,
                contact,
                slides,
            } => self.pressed.mode(time, contact, slides),
            // Events of kinds that a record does not have.
            _ => (),
        }
    }

    /// Adds the state at the end of the run to the figures, unless it was sampled.
    pub(in super::super) fn finish(&mut self, end: &JointedEnd) {
        if self.times.last().is_some_and(|time| *time < end.time) {
            let energy = self.jointed.world.multibody().energy(&end.posture);
            self.show(end.time, &end.posture, energy);
        }
        self.note_forces(end.time, &end.contacts);
    }

    fn note_forces(&mut self, time: f64, contacts: &[ContactForce]) {
        let world = &self.jointed.world;
        self.forces
            .note(time, contacts, |thing| world.thing_name(thing));
    }

    fn show(&mut self, time: f64, posture: &Posture, energy: f64) {
        self.times.push(time);
        self.coordinates.push(posture.q.clone());
        self.energies.push(energy);
    }

    fn sample(&mut self, sample: &JointSample<'_>) {
        let mb = self.jointed.world.multibody();
        for (body, state) in sample.posture.states.iter().enumerate() {
            self.rows.push(row(mb, sample.time, body, state));
        }
        self.spring_loads
            .note(sample.time, &mb.tensions(&sample.posture.states));
        let joint_row = joint_row(mb, sample.time, sample.posture, sample.rates, sample.forces);
        self.joint_rows.push(joint_row);
        if let Some((loads, length)) = sample.loads {
            for (j, load) in loads.iter().enumerate() {
                let (f, m) = (load.force / length, load.moment / length);
                self.loads
                    .push(json!([sample.time, j, f.x, f.y, f.z, m.x, m.y, m.z]));
            }
        }
        if self.n_samples.is_multiple_of(self.stride) {
            self.show(sample.time, sample.posture, mb.energy(sample.posture));
        }
        self.note_forces(sample.time, sample.contacts);
        self.n_samples += 1;
        self.last_sample = Some(sample.time);
    }
}

impl Jointed {
    /// Returns the entries that name a limit.
    pub(in super::super) fn limit(&self, contact: LimitContact) -> Map<String, Value> {
        let mb = self.world.multibody();
        let joint = joint_of(mb, contact.coordinate);
        let mut map = Map::new();
        map.insert("joint".to_owned(), json!(mb.joints()[joint].name));
        let place = contact.coordinate - mb.coordinates_of(joint).start;
        map.insert("coordinate".to_owned(), json!(place));
        let limit = if contact.upper { "upper" } else { "lower" };
        map.insert("limit".to_owned(), json!(limit));
        map
    }

    /// Returns the entries that name a contact, and true if it has modes.
    pub(in super::super) fn named(&self, contact: JointContact) -> (Map<String, Value>, bool) {
        let world = &self.world;
        match contact {
            JointContact::Limit(limit) => (self.limit(limit), false),
            JointContact::Pair { first, second } => {
                let [first, second] = [first, second].map(|thing| world.thing_name(thing));
                (names_of_pair(first, second), true)
            }
            _ => (Map::new(), false),
        }
    }

    /// Returns an impact as its entry of the record.
    pub(in super::super) fn impact(&self, impact: &JointImpact) -> Value {
        let world = &self.world;
        let mb = world.multibody();
        let touches = impact.touches.iter();
        let touches = touches.map(|hit| impact_contact(hit, |thing| world.thing_name(thing)));
        let contacts: Vec<Value> = impact
            .hits
            .iter()
            .map(|hit| {
                let mut map = self.limit(hit.contact);
                map.insert("impulse".to_owned(), json!(hit.impulse));
                map.insert("normal_velocity".to_owned(), json!(hit.normal_velocity));
                Value::Object(map)
            })
            .chain(touches)
            .collect();
        let joints: Vec<Value> = impact
            .reactions
            .iter()
            .map(|reaction| {
                json!({
                    "joint": mb.joints()[reaction.joint].name,
                    "impulse": list(&reaction.impulse),
                    "moment": list(&reaction.moment),
                })
            })
            .collect();
        json!({
            "time": impact.time,
            "law": impact.law,
            "energy_minus_j": impact.energy_minus,
            "energy_plus_j": impact.energy_plus,
            "contacts": contacts,
            "joints": joints,
        })
    }
}

/// Returns the indices of all joint coordinates, except those of spherical joints. Each of these coordinates has a force in
/// the record, and in the output of a controller.
pub(in super::super) fn open_coordinates(mb: &Multibody) -> impl Iterator<Item = usize> + '_ {
    let joints = mb.joints().iter().enumerate();
    let open = joints.filter(|(_, joint)| !joint.kind.is_spherical());
    open.flat_map(|(j, _)| mb.coordinates_of(j))
}

fn joint_of(mb: &Multibody, coordinate: usize) -> usize {
    let all = 0..mb.joints().len();
    all.into_iter()
        .find(|j| mb.coordinates_of(*j).contains(&coordinate))
        .unwrap_or(0)
}

/// Returns the velocity of the body's center of mass (m/s) and its angular velocity (rad/s), both in world axes. Both
/// velocities are zero for a fixed body.
pub(in super::super) fn velocity(
    mb: &Multibody,
    body: usize,
    state: &State,
) -> (Vector3<f64>, Vector3<f64>) {
    match mb.rigid(body) {
        None => (Vector3::zeros(), Vector3::zeros()),
        Some(rigid) => {
            let spin = rigid.angular_velocity(&state.angular_momentum);
            (
                state.linear_momentum / rigid.mass(),
                state.rotation.rotate(&spin),
            )
        }
    }
}

fn row(mb: &Multibody, time: f64, body: usize, state: &State) -> Value {
    let (x, [qw, qx, qy, qz]) = (&state.position, quaternion(&state.rotation));
    let (v, w) = velocity(mb, body, state);
    json!([
        time, body, x.x, x.y, x.z, qw, qx, qy, qz, v.x, v.y, v.z, w.x, w.y, w.z
    ])
}

/// Returns the rotation of a spherical joint's child relative to its parent as a quaternion w, x, y, z, and the relative
/// angular velocity (rad/s) in the axes of the joint's parent frame. `posture`: states of all bodies.
fn ball(mb: &Multibody, joint: usize, posture: &Posture) -> ([f64; 4], [f64; 3]) {
    let of = &mb.joints()[joint];
    let frames = of.frames(&posture.states);
    let relative = carom_lie::So3::nearest(&of.relative(&frames));
    let quaternion = relative.map_or([f64::NAN; 4], |rotation| quaternion(&rotation));
    let spin = |body: Option<usize>| match body {
        Some(body) => velocity(mb, body, &posture.states[body]).1,
        None => Vector3::zeros(),
    };
    let relative = spin(Some(of.child)) - spin(of.parent);
    let rates = frames.parent.axes.transpose() * relative;
    (quaternion, [rates.x, rates.y, rates.z])
}

fn joint_row(mb: &Multibody, time: f64, posture: &Posture, rates: &[f64], forces: &[f64]) -> Value {
    let (mut q, mut v) = (vec![time], Vec::new());
    for (j, joint) in mb.joints().iter().enumerate() {
        if joint.kind.is_spherical() {
            let (quaternion, spin) = ball(mb, j, posture);
            q.extend(quaternion);
            v.extend(spin);
        } else {
            q.extend(&posture.q[mb.coordinates_of(j)]);
            v.extend(&rates[mb.coordinates_of(j)]);
        }
    }
    q.extend(v);
    q.extend(open_coordinates(mb).map(|k| forces[k]));
    json!(q)
}

fn joint_columns(jointed: &Jointed) -> Vec<String> {
    let mb = jointed.world.multibody();
    let (mut q, mut v, mut t) = (vec!["time".to_owned()], Vec::new(), Vec::new());
    for (j, joint) in mb.joints().iter().enumerate() {
        if joint.kind.is_spherical() {
            q.extend(["qw", "qx", "qy", "qz"].map(|s| format!("q:{}.{s}", joint.name)));
            v.extend(["wx", "wy", "wz"].map(|s| format!("v:{}.{s}", joint.name)));
            continue;
        }
        for name in &jointed.coordinates[mb.coordinates_of(j)] {
            q.push(format!("q:{name}"));
            v.push(format!("v:{name}"));
            t.push(format!("t:{name}"));
        }
    }
    q.extend(v);
    q.extend(t);
    q
}

fn final_joints(jointed: &Jointed, end: &JointedEnd) -> Value {
    let mb = jointed.world.multibody();
    let one = |values: &[f64]| match values {
        [] => Value::Null,
        [x] => json!(x),
        list => json!(list),
    };
    let all = mb.joints().iter().enumerate().map(|(j, joint)| {
        let (position, velocity) = if joint.kind.is_spherical() {
            let (quaternion, spin) = ball(mb, j, &end.posture);
            (json!(quaternion), json!(spin))
        } else {
            let range = mb.coordinates_of(j);
            (one(&end.posture.q[range.clone()]), one(&end.rates[range]))
        };
        json!({"joint": joint.name, "position": position, "velocity": velocity})
    });
    Value::Array(all.collect())
}

fn final_states(mb: &Multibody, posture: &Posture) -> Value {
    let all = posture
        .states
        .iter()
        .enumerate()
        .map(|(body, state)| final_state(mb.body_name(body), state, velocity(mb, body, state)));
    Value::Array(all.collect())
}

fn joints(mb: &Multibody) -> Value {
    let all = mb.joints().iter().map(|joint| {
        json!({
            "name": joint.name,
            "type": joint.kind.name,
            "parent": joint.parent.map_or("ground", |body| mb.body_name(body)),
            "child": mb.body_name(joint.child),
        })
    });
    Value::Array(all.collect())
}

fn constraints(jointed: &Jointed) -> Value {
    let mb = jointed.world.multibody();
    let (rows, rank) = jointed.world.ranks();
    let bodies = mb.tree().branches.len();
    // The joints of all loops with redundant rows: paths between the ends of closing joints.
    let redundant: Vec<&str> = if rank < rows {
        mb.loop_joints()
            .into_iter()
            .map(|j| mb.joints()[j].name.as_str())
            .collect()
    } else {
        Vec::new()
    };
    json!({
        "rows": rows,
        "rank": rank,
        "degrees_of_freedom": 6 * bodies - rank,
        "redundant": redundant,
    })
}

fn momentum(jointed: &Jointed, end: &JointedEnd) -> (Value, f64) {
    let mb = jointed.world.multibody();
    let angular = |states: &[State]| -> Vector3<f64> {
        let one = |s: &State| s.position.cross(&s.linear_momentum) + s.angular_momentum_w();
        states.iter().map(one).sum()
    };
    let mass: f64 = (0..mb.n_bodies())
        .filter_map(|b| mb.rigid(b))
        .map(|r| r.mass())
        .sum();
    let gravity = jointed.setup.gravity * (mass * end.time);
    let mut supports = Map::new();
    for (place, impulse) in end.supports.iter().enumerate() {
        match place.checked_sub(1) {
            None => supports.insert("ground".to_owned(), list(impulse)),
            Some(thing) if thing >= mb.n_bodies() || mb.rigid(thing).is_none() => {
                supports.insert(jointed.world.thing_name(thing).to_owned(), list(impulse))
            }
            Some(_) => None,
        };
    }
    let (before, after) = (&jointed.world.start().states, &end.posture.states);
    let given: Vector3<f64> = end.supports.iter().sum();
    let (mut value, error) = entries::momentum(
        [before, after],
        &gravity,
        [&given, &end.input_impulse],
        supports,
    );
    value["angular"] = json!({"initial": list(&angular(before)), "final": list(&angular(after))});
    (value, error)
}

pub(in super::super) fn report(
    jointed: &Jointed,
    log: &Log<'_>,
    end: &JointedEnd,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let mb = jointed.world.multibody();
    let extent = Extent::of_time(jointed.setup.limits.duration, end.n_impacts, end.time);
    extent.note("", &end.ending, record);
    let mut rows = log.rows.clone();
    let mut joint_rows = log.joint_rows.clone();
    if log.last_sample != Some(end.time) {
        let states = end.posture.states.iter().enumerate();
        rows.extend(states.map(|(body, state)| row(mb, end.time, body, state)));
        joint_rows.push(joint_row(
            mb,
            end.time,
            &end.posture,
            &end.rates,
            &end.forces,
        ));
    }
    let (momentum, momentum_error) = momentum(jointed, end);
    let books = energy_balance(jointed, end);
    let mut loads = log.loads.clone();
    if log.last_sample != Some(end.time)
        && let Some((last, length)) = &end.loads
    {
        for (j, load) in last.iter().enumerate() {
            let (f, m) = (load.force / *length, load.moment / *length);
            loads.push(json!([end.time, j, f.x, f.y, f.z, m.x, m.y, m.z]));
        }
    }
    let names: Vec<&str> = (0..mb.n_bodies()).map(|body| mb.body_name(body)).collect();
    let load_columns = ["time", "joint", "fx", "fy", "fz", "mx", "my", "mz"];
    let assembly = jointed.world.assembly();
    let mut results = vec![
        ("bodies", json!(names)),
        ("joints", joints(mb)),
        ("n_impacts", json!(end.n_impacts)),
        ("n_steps", json!(end.n_steps)),
        ("scheme", json!(jointed.world.scheme().name())),
        // JSON has no infinity: `json!` writes null for it.
        ("lowest_gap_m", json!(end.lowest_gap)),
        (
            "trajectory",
            json!({"columns": World::COLUMNS, "rows": rows}),
        ),
        (
            "joint_trajectory",
            json!({"columns": joint_columns(jointed), "rows": joint_rows}),
        ),
        (
            "joint_loads",
            json!({"columns": load_columns, "rows": loads}),
        ),
        ("impacts", Value::Array(log.impacts.clone())),
        (
            "contacts",
            log.pressed.json(|contact| jointed.named(contact)),
        ),
        ("final", final_states(mb, &end.posture)),
        ("final_joints", final_joints(jointed, end)),
        ("final_time", json!(end.time)),
        ("energy", books.json()),
        ("momentum", momentum),
        ("max_joint_residual_m", json!(end.residual)),
        ("constraints", constraints(jointed)),
        (
            "assembly",
            json!({"moved_m": assembly.moved, "residual_m": assembly.residual}),
        ),
    ];
    let tensions = mb.tensions(&end.posture.states);
    let springs = log.spring_loads.json(end.time, &tensions);
    results.extend(springs.map(|loads| ("spring_loads", loads)));
    remarks(jointed, end, &mut results);
    for (key, value) in results {
        record.results.insert(key.to_owned(), value);
    }
    log.forces.report(&mut record.results);
    let comparison = log.comparison.warning().map(str::to_owned);
    let closed = assembly.is_rounded.then(|| {
        format!(
            "the loops of joints were open by {:.1e} m and are closed: bodies moved by up to {:.1e} m",
            assembly.residual, assembly.moved
        )
    });
    let warnings = [comparison, closed];
    warn(&mut record.results, warnings.into_iter().flatten());
    let impacts = Quantity::new("impacts", end.n_impacts as f64, "");
    record.quantities.push(impacts);
    record.quantities.extend(books.quantities());
    record.quantities.extend([
        Quantity::new("energy_max_error_j", end.energy_error, "J").note(
            "the energy with all losses and without the work of actuators, against the start",
        ),
        Quantity::new("momentum_error_ns", momentum_error, "N s"),
        Quantity::new("joint_residual_m", end.residual, "m"),
    ]);
    figures(jointed, log, record)
}

/// Appends the entries of the record that only some runs have: the reason of an early end, keys that were ignored, a switch to steps,
/// and the number of steps in which dry friction was exceeded.
fn remarks(jointed: &Jointed, end: &JointedEnd, results: &mut Vec<(&'static str, Value)>) {
    if let Some(error) = fault(&end.ending, jointed.setup.zeno_is_error) {
        results.push(("error", error));
    }
    let mut ignored = match jointed.world.scheme() {
        Scheme::TimeStepping => {
            results.push(("law", json!(Poisson::NAME)));
            jointed.setup.left_out_by_steps()
        }
        _ => jointed.setup.ignored(),
    };
    if jointed.setup.gives_deflection {
        ignored.push("stepping.deflection: contacts of worlds with joints are rigid".to_owned());
    }
    if !ignored.is_empty() {
        results.push(("ignored", json!(ignored)));
    }
    if let Some(change) = &end.handed_over {
        let mb = jointed.world.multibody();
        let mobile = (0..mb.n_bodies()).filter(|body| mb.rigid(*body).is_some());
        let change = handed_over(change, mobile.map(|body| mb.body_name(body)));
        results.push(("handed_over", change));
    }
    if end.friction_exceeded > 0 {
        results.push(("friction_exceeded_steps", json!(end.friction_exceeded)));
    }
}

/// Returns the balance of the energy of all bodies, springs and rotors.
pub(in super::super) fn energy_balance(jointed: &Jointed, end: &JointedEnd) -> Balance {
    let (works, mb) = (&end.works, jointed.world.multibody());
    let mut terms = vec![
        ("impacts", -end.impact_loss),
        ("lasting contacts", -works.contact),
        ("actuators", works.actuator),
        ("dampers", -works.damper),
        ("dry friction", -works.friction),
    ];
    let mut parts = vec![
        ("impact_loss_j", end.impact_loss),
        ("contact_loss_j", works.contact),
        ("actuator_work_j", works.actuator),
        ("damper_loss_j", works.damper),
        ("friction_loss_j", works.friction),
    ];
    if end.input != 0.0 {
        terms.push(("inputs", end.input));
        parts.push(("input_j", end.input));
    }
    let loads = || (0..mb.n_bodies()).filter_map(|body| mb.loads(body));
    let has_forces = loads().any(|loads| !loads.forces.is_empty());
    let has_drag = loads().any(|loads| loads.drag != Drag::default());
    entries::Works {
        applied: (has_forces || end.applied_work != 0.0).then_some(end.applied_work),
        drag: has_drag.then_some(works.drag),
        prescribed: None,
        damper: None,
    }
    .note(&mut terms, &mut parts);
    Balance {
        initial: mb.energy(jointed.world.start()),
        last: mb.energy(&end.posture),
        error: end.energy_error,
        terms,
        parts,
        has_springs: !mb.springs().is_empty(),
    }
}

/// Adds the figures of joint coordinates and energy against time to the record.
fn figures(jointed: &Jointed, log: &Log<'_>, record: &mut Record) -> Result<(), ScenarioError> {
    if log.times.is_empty() {
        return Ok(());
    }
    let mb = jointed.world.multibody();
    for (is_angle, name) in [(true, "angles"), (false, "displacements")] {
        let kinds = mb.joints().iter().flat_map(|joint| joint.kind.coordinates);
        let chosen: Vec<usize> = kinds
            .enumerate()
            .filter(|(_, kind)| kind.is_angle == is_angle)
            .map(|(k, _)| k)
            .collect();
        let series: Vec<Series> = chosen
            .iter()
            .take(MOST_LINES)
            .map(|k| {
                let values = log.coordinates.iter().map(|q| q[*k]).collect();
                Series::new(jointed.coordinates[*k].as_str(), values)
            })
            .collect();
        if !series.is_empty() {
            let caption = if chosen.len() <= series.len() {
                "Coordinates of the joints against time.".to_owned()
            } else {
                format!(
                    "Coordinates of the joints against time, the first {} of {}; `joint_trajectory` in the record has all.",
                    series.len(),
                    chosen.len()
                )
            };
            let path = format!("joints/{name}");
            let plot = against_time(&path, &log.times, &series, &[]);
            plot.fill("caption", caption).draw(record)?;
        }
    }
    let series = [Series::new("total", log.energies.clone())];
    against_time("joints/energy", &log.times, &series, &[]).draw(record)
}
