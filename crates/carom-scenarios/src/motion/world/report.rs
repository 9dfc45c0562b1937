//! Record of a world's motion.

use super::World;
use super::entries::{
    self, LastingContacts, Works, fault, final_state, handed_over, impact_contact, names_of_pair,
};
use super::forces_table::ForcesTable;
use super::output::{ImpactOutput, SampleOutput};
use super::several::Comparison;
use super::springs::SpringLoads;
use crate::ScenarioError;
use crate::common::ending::Extent;
use crate::common::{list, warn};
use crate::motion::balance::Balance;
use crate::motion::figures::{MOST_LINES, Series, against_time};
use crate::motion::playback::{Hit, playback, up};
use carom_geometry::SupportMap;
use carom_impact::frictional::Poisson;
use carom_report::record::{Quantity, Record};
use carom_variational::State;
use carom_variational::load::Drag;
use carom_world::{
    BodySpec, ContactForce, Event, Impact, PlaneSpec, RunEnd, Sample, Scheme, StepCounts,
};
use nalgebra::Vector3;
use serde_json::{Map, Value, json};

/// Largest number of bodies with which the lowest gap is computed at every sample.
const MOST_GAPS: usize = 200;

/// Largest speed of a body at rest, as a fraction of the velocity that gravity adds in one step. It covers rounding errors and
/// the residuals of contact forces.
const AT_REST: f64 = 1e-8;

/// Largest number of frames of an animation.
const FRAMES: usize = 300;

/// Largest number of impacts that the animation shows; later impacts of a long run are omitted.
const SHOWN: usize = 5_000;

/// Recorded events and states of a run.
pub(super) struct Log<'w> {
    world: &'w World,
    impacts_wanted: bool,
    /// For each body, true if it was at rest in its last row.
    rests: Vec<bool>,
    rows: Vec<Value>,
    spring_loads: SpringLoads,
    impacts: Vec<Value>,
    contacts: LastingContacts<(usize, usize)>,
    frames: Vec<(f64, Vec<State>)>,
    frame_stride: usize,
    n_samples: usize,
    /// Index of a mobile body and time (s), for each impact of that body.
    hits: Vec<(usize, f64)>,
    /// First impacts, in the form that the animation needs.
    shown: Vec<Hit>,
    lowest: f64,
    forces: ForcesTable,
    pub(super) comparison: Comparison,
}

impl<'w> Log<'w> {
    pub(super) fn new(world: &'w World) -> Self {
        let setup = &world.setup;
        Self {
            world,
            impacts_wanted: setup.output.impacts == ImpactOutput::All,
            rests: vec![false; world.world.n_bodies()],
            rows: Vec::new(),
            spring_loads: SpringLoads::default(),
            impacts: Vec::new(),
            contacts: LastingContacts::new(),
            frames: Vec::new(),
            frame_stride: setup.samples.len().div_ceil(FRAMES).max(1),
            n_samples: 0,
            hits: Vec::new(),
            shown: Vec::new(),
            lowest: f64::INFINITY,
            forces: ForcesTable::new(&setup.output),
            comparison: Comparison::default(),
        }
    }

    pub(super) fn note(&mut self, event: &Event<'_>) {
        match *event {
            Event::Sample(Sample {
                time,
                states,
                contacts,
                ..
            }) => {
                self.sample(time, states);
                self.note_forces(time, contacts);
            }
            Event::Impact(impact) => {
                if self.shown.len() < SHOWN {
                    self.shown.push(Hit::from(impact));
                }
                for contact in &impact.contacts {
                    self.hits.push((contact.first, impact.time));
                    if !self.world.world.is_fixed(contact.second) {
                        self.hits.push((contact.second, impact.time));
                    }
                }
                self.comparison.note(self.world, &self.world.asked, impact);
                if self.impacts_wanted {
                    self.impacts.push(self.world.impact(impact));
                }
            }
            Event::Established { time, contact } => self.contacts.establish(time, contact),
            Event::Mode {
                time,
                contact,
                slides,
            } => self.contacts.mode(time, contact, slides),
            Event::Released { time, contact } => self.contacts.release(time, contact),
            // Events of kinds that a record does not have.
            _ => (),
        }
    }

    /// Adds the final states as the last frame of the recorded run, unless they were sampled.
    pub(super) fn finish(&mut self, end: &RunEnd) {
        if self.frames.last().is_none_or(|(time, _)| *time < end.time) {
            self.frames.push((end.time, end.states.clone()));
        }
        self.note_forces(end.time, &end.contacts);
    }

    fn note_forces(&mut self, time: f64, contacts: &[ContactForce]) {
        let world = &self.world.world;
        self.forces.note(time, contacts, |thing| world.name(thing));
    }

    fn sample(&mut self, time: f64, states: &[State]) {
        for (body, state) in states.iter().enumerate() {
            if self.is_wanted(body, state) {
                self.rows.push(row(self.world, time, body, state));
            }
        }
        self.spring_loads
            .note(time, &self.world.world.tensions(states));
        if states.len() <= MOST_GAPS {
            self.lowest = self.lowest.min(self.world.world.lowest_gap(states));
        }
        if self.n_samples.is_multiple_of(self.frame_stride) {
            self.frames.push((time, states.to_vec()));
        }
        self.n_samples += 1;
    }

    /// True if the trajectory needs a row for the body with the index `body` at this sample: the body moves or has just come
    /// to rest, or the user wants rows for all bodies.
    fn is_wanted(&mut self, body: usize, state: &State) -> bool {
        let setup = &self.world.setup;
        if setup.output.sample == SampleOutput::All {
            return true;
        }
        let (velocity, spin) = self.world.world.velocity(body, state);
        let given = setup.spec.bodies.get(body);
        let size = given.map_or(0.0, |b| b.shape.bounding_radius());
        let still = AT_REST * setup.gravity.norm() * setup.spec.time_step;
        let rests = velocity.norm() + spin.norm() * size <= still;
        !(std::mem::replace(&mut self.rests[body], rests) && rests)
    }
}

impl World {
    /// Returns an impact as its entry of the record.
    pub(super) fn impact(&self, impact: &Impact) -> Value {
        let name = |thing| self.world.name(thing);
        let contact = |c| impact_contact(c, name);
        json!({
            "time": impact.time,
            "law": impact.law,
            "energy_minus_j": impact.energy_minus,
            "energy_plus_j": impact.energy_plus,
            "contacts": impact.contacts.iter().map(contact).collect::<Vec<_>>(),
        })
    }
}

fn row(world: &World, time: f64, body: usize, state: &State) -> Value {
    let numbers = world.row(time, body, state);
    let entry = |(k, x): (usize, &f64)| if k == 1 { json!(body) } else { json!(x) };
    Value::Array(numbers.iter().enumerate().map(entry).collect())
}

/// Adds the results, tables, figures and animation of a completed run to its record. `log`: recorded events and states.
pub(super) fn report(
    whole: &World,
    log: &Log<'_>,
    end: &RunEnd,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let World { world, setup, .. } = whole;
    let extent = Extent::of_time(setup.limits.duration, end.n_impacts, end.time);
    extent.note("", &end.ending, record);
    let lowest = log.lowest.min(world.lowest_gap(&end.states));
    let lowest = lowest.min(end.lowest_gap);
    let books = energy_balance(whole, end);
    let (momentum, momentum_error) = momentum(whole, end);
    for (key, value) in results(whole, log, end, lowest) {
        record.results.insert(key.to_owned(), value);
    }
    for (key, value) in [("energy", books.json()), ("momentum", momentum)] {
        record.results.insert(key.to_owned(), value);
    }
    log.forces.report(&mut record.results);
    if let Some(change) = &end.handed_over {
        let mobile = (0..world.n_bodies()).filter(|body| !world.is_fixed(*body));
        let change = handed_over(change, mobile.map(|body| world.name(body)));
        record.results.insert("handed_over".to_owned(), change);
    }
    let tensions = world.tensions(&end.states);
    if let Some(loads) = log.spring_loads.json(end.time, &tensions) {
        record.results.insert("spring_loads".to_owned(), loads);
    }
    if let Some(error) = fault(&end.ending, setup.zeno_is_error) {
        record.results.insert("error".to_owned(), error);
    }
    let ignored = match whole.scheme {
        Scheme::Events => setup.ignored(),
        Scheme::TimeStepping => setup.left_out_by_steps(),
    };
    if !ignored.is_empty() {
        record.results.insert("ignored".to_owned(), json!(ignored));
    }
    let comparison = log.comparison.warning().map(str::to_owned);
    let warnings = [falls_for_ever(whole), comparison];
    warn(&mut record.results, warnings.into_iter().flatten());
    let n_lasting = log.contacts.len() as f64;
    record.quantities.extend([
        Quantity::new("impacts", end.n_impacts as f64, ""),
        Quantity::new("contacts_that_lasted", n_lasting, ""),
    ]);
    record.quantities.extend(books.quantities());
    record.quantities.extend([
        Quantity::new("energy_max_error_j", end.balance.energy_error, "J")
            .note(match end.stepping {
                None => "the energy with what impacts and lasting contacts took, against the start",
                Some(_) => {
                    "the energy with what impacts and lasting contacts took, against the start: rounding where all is \
                     stepped in time, for the error of these steps is part of contact_loss_j (energy.lasting_work_j)"
                }
            }),
        Quantity::new("momentum_error_ns", momentum_error, "N s"),
    ]);
    if lowest.is_finite() {
        let lowest = Quantity::new("lowest_gap_m", lowest, "m");
        record.quantities.push(lowest);
    }
    figures(whole, log, record)?;
    playback(&setup.spec, &log.frames, &log.shown, record);
    Ok(())
}

/// Returns the total mechanical energy of all bodies in these states (J).
fn energy(World { world, .. }: &World, states: &[State]) -> f64 {
    let each = |(body, state)| world.energy(body, state);
    let bodies: f64 = states.iter().enumerate().map(each).sum();
    bodies + world.spring_energy(states)
}

/// Returns the balance of the linear momentum of all bodies as JSON, and its error (N s).
fn momentum(World { world, setup, .. }: &World, end: &RunEnd) -> (Value, f64) {
    let masses = setup.spec.bodies.iter().filter_map(|b| b.mass.as_ref());
    let mass: f64 = masses.map(|m| m.mass()).sum();
    let gravity = setup.gravity * (mass * end.time);
    let mut supports = Map::new();
    let mut given = Vector3::zeros();
    for (thing, impulse) in end.balance.supports.iter().enumerate() {
        if thing >= world.n_bodies() || world.is_fixed(thing) {
            supports.insert(world.name(thing).to_owned(), list(impulse));
            given += impulse;
        }
    }
    // Bodies that are told their motion have no momentum.
    let massive = |states: &[State]| -> Vec<State> {
        let bodies = states.iter().enumerate();
        let massive = bodies.filter(|(body, _)| !world.is_prescribed(*body));
        massive.map(|(_, state)| *state).collect()
    };
    let states = [world.initial_states(), &end.states].map(massive);
    let states = states.each_ref().map(Vec::as_slice);
    let inputs = &end.balance.input_impulse;
    entries::momentum(states, &gravity, [&given, inputs], supports)
}

/// Returns the rows of the trajectory: all samples, and the states at the end of the run unless they were sampled. `log`:
/// recorded events and states.
fn trajectory(whole: &World, log: &Log<'_>, end: &RunEnd) -> Vec<Value> {
    let mut rows = log.rows.clone();
    let sampled = rows.last().and_then(|row| row.get(0));
    if sampled.and_then(Value::as_f64) != Some(end.time) {
        let states = end.states.iter().enumerate();
        rows.extend(states.map(|(body, state)| row(whole, end.time, body, state)));
    }
    rows
}

/// Returns the results that the record of every world has, with their keys, apart from balances. `log`: recorded events and
/// states; `lowest`: smallest gap of the run (m), infinite if no pair can touch.
fn results(whole: &World, log: &Log<'_>, end: &RunEnd, lowest: f64) -> [(&'static str, Value); 12] {
    let world = &whole.world;
    let names: Vec<&str> = (0..world.n_bodies()).map(|body| world.name(body)).collect();
    let output = &whole.setup.output;
    let names_of = |(first, second)| (names_of_pair(world.name(first), world.name(second)), true);
    let lasting = if output.contacts {
        log.contacts.json(names_of)
    } else {
        json!([])
    };
    let law = match whole.scheme {
        Scheme::Events => whole.setup.several_name(),
        Scheme::TimeStepping => Poisson::NAME,
    };
    let states = end.states.iter().enumerate();
    let states = states
        .map(|(body, state)| final_state(world.name(body), state, world.velocity(body, state)));
    let trajectory = trajectory(whole, log, end);
    [
        ("bodies", json!(names)),
        ("n_impacts", json!(end.n_impacts)),
        ("n_steps", json!(end.n_steps)),
        ("scheme", json!(whole.scheme.name())),
        ("law", json!(law)),
        (
            "stepping",
            end.stepping.as_ref().map_or(Value::Null, |counts| {
                stepping(counts, whole.setup.stepping.deflection())
            }),
        ),
        // JSON has no infinity: `json!` writes null for it.
        ("lowest_gap_m", json!(lowest)),
        (
            "trajectory",
            json!({"columns": World::COLUMNS, "rows": trajectory}),
        ),
        ("impacts", Value::Array(log.impacts.clone())),
        ("contacts", lasting),
        ("final", states.collect()),
        ("final_time", json!(end.time)),
    ]
}

/// Returns the balance of the energy of all bodies.
pub(super) fn energy_balance(whole: &World, end: &RunEnd) -> Balance {
    let balance = &end.balance;
    let mut terms = vec![
        ("impacts", -balance.impact_loss),
        // The error of the steps is a part of the loss, and a term of its own.
        (
            "lasting contacts",
            -balance.contact_loss - balance.lasting_work,
        ),
    ];
    let of_steps = [
        (
            "error of the steps of lasting contacts",
            balance.lasting_work,
        ),
        ("moving overlapping bodies apart", balance.projection),
    ];
    terms.extend(of_steps.into_iter().filter(|(_, work)| *work != 0.0));
    let inputs = (balance.input != 0.0).then_some(balance.input);
    terms.extend(inputs.map(|work| ("inputs", work)));
    let mut parts = vec![
        ("impact_loss_j", balance.impact_loss),
        ("contact_loss_j", balance.contact_loss),
        ("projection_j", balance.projection),
        ("lasting_work_j", balance.lasting_work),
        ("contact_spring_j", balance.contact_spring),
    ];
    parts.extend(inputs.map(|work| ("input_j", work)));
    let bodies = || whole.setup.spec.bodies.iter();
    let has_forces = bodies().any(|body| !body.loads.forces.is_empty());
    let has_drag = bodies().any(|body| body.loads.drag != Drag::default());
    let mut planes = whole.setup.spec.planes.iter();
    let gives =
        |body: &BodySpec| body.motion.is_some() || body.surface_velocity != Vector3::zeros();
    let has_running =
        bodies().any(gives) || planes.any(|plane| plane.surface_velocity != Vector3::zeros());
    let works = Works {
        applied: (has_forces || balance.applied_work != 0.0).then_some(balance.applied_work),
        drag: has_drag.then_some(balance.drag_loss),
        prescribed: has_running.then_some(balance.prescribed_work),
        damper: (!whole.setup.spec.springs.is_empty()).then_some(balance.damper_loss),
    };
    works.note(&mut terms, &mut parts);
    Balance {
        initial: energy(whole, whole.world.initial_states()),
        last: energy(whole, &end.states),
        error: balance.energy_error,
        terms,
        parts,
        has_springs: !whole.setup.spec.springs.is_empty(),
    }
}

/// Converts the counts of time stepping (numbers of steps, contact problems and solver iterations) and the deflection of its
/// contacts to a JSON object.
fn stepping(counts: &StepCounts, deflection: f64) -> Value {
    json!({
        "deflection": deflection,
        "n_steps": counts.n_steps,
        "n_problems": counts.n_problems,
        "n_inaccurate": counts.n_inaccurate,
        "n_softened": counts.n_softened,
        "worst_residual": counts.worst_residual,
        "max_contacts": counts.max_contacts,
        "max_island": counts.max_island,
        "newton_steps": counts.newton_steps,
        "n_capped": counts.n_capped,
        "n_bounces": counts.n_bounces,
        "handed_over": counts.handed_over,
    })
}

/// Returns a warning if all bodies fall for ever, because no plane is below them, no body is fixed, and no force acts on one; otherwise
/// `None`.
fn falls_for_ever(World { world, setup, .. }: &World) -> Option<String> {
    let gravity = setup.gravity;
    let faces = |plane: &PlaneSpec| plane.half_space.normal().dot(&gravity) < 0.0;
    let mut all = 0..world.n_bodies();
    if gravity == Vector3::zeros()
        || setup.spec.planes.iter().any(faces)
        || all.any(|body| world.is_fixed(body))
        || { setup.spec.bodies.iter() }.any(|body| !body.loads.forces.is_empty())
        || !setup.spec.springs.is_empty()
    {
        return None;
    }
    let bodies: Vec<String> = (0..world.n_bodies())
        .map(|body| format!("`{}`", world.name(body)))
        .collect();
    let verb = if bodies.len() == 1 { "falls" } else { "fall" };
    Some(format!(
        "{} {verb} for ever: no plane is below; add [[planes]], for example a floor with normal = [0, 0, 1]",
        bodies.join(", ")
    ))
}

/// Adds two figures against time to the record: the heights of the centers of mass, and the energies of all bodies.
fn figures(
    World { world, setup, .. }: &World,
    log: &Log<'_>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let times: Vec<f64> = log.frames.iter().map(|(time, _)| *time).collect();
    if times.is_empty() {
        return Ok(());
    }
    let up = up(&setup.gravity);
    let mut mobile: Vec<usize> = (0..world.n_bodies())
        .filter(|body| !world.is_fixed(*body))
        .collect();
    let n_mobile = mobile.len();
    mobile.truncate(MOST_LINES);
    let shown = if n_mobile > mobile.len() {
        format!(
            " The first {} of {n_mobile} bodies are drawn.",
            mobile.len()
        )
    } else {
        String::new()
    };
    let heights: Vec<Series> = mobile
        .iter()
        .map(|body| {
            let states = log
                .frames
                .iter()
                .filter_map(|(_, states)| states.get(*body));
            let values = states.map(|state| up.dot(&state.position)).collect();
            Series::new(world.name(*body), values)
        })
        .collect();
    let hits: Vec<(usize, f64)> = log
        .hits
        .iter()
        .filter_map(|(body, time)| Some((mobile.iter().position(|b| b == body)?, *time)))
        .collect();
    against_time("world/heights", &times, &heights, &hits)
        .fill("shown", shown)
        .draw(record)?;
    let potential = |states: &[State]| -> f64 {
        let all = setup.spec.bodies.iter().zip(states);
        all.filter_map(|(body, state)| {
            let mass = body.mass.as_ref()?.mass();
            Some(-mass * setup.gravity.dot(&state.position))
        })
        .sum()
    };
    let total = |states: &[State]| -> f64 {
        let all = states.iter().enumerate();
        let bodies: f64 = all.map(|(body, state)| world.energy(body, state)).sum();
        bodies + world.spring_energy(states)
    };
    let of_all = |value: &dyn Fn(&[State]) -> f64| -> Vec<f64> {
        log.frames.iter().map(|(_, states)| value(states)).collect()
    };
    let series = [
        Series::new("total", of_all(&total)),
        Series::new(
            "kinetic",
            of_all(&|states| total(states) - potential(states)),
        ),
        Series::new("potential", of_all(&potential)),
    ];
    against_time("world/energy", &times, &series, &[]).draw(record)
}
