//! Entries that the records of worlds with and without joints share.

use crate::common::list;
use carom_lie::So3;
use carom_motion::hybrid::Ending;
use carom_variational::State;
use carom_world::{HandedOver, ImpactContact, MotionError};
use nalgebra::Vector3;
use serde_json::{Map, Value, json};

/// Returns the switch of the `bodies` of a run to time stepping.
pub(super) fn handed_over<'n>(change: &HandedOver, bodies: impl Iterator<Item = &'n str>) -> Value {
    let change = json!({
        "time": change.time,
        "until": Value::Null,
        "bodies": bodies.collect::<Vec<_>>(),
        "kind": change.kind,
        "message": change.message,
    });
    json!([change])
}

/// Lasting contact, present or past.
struct Lasting<C> {
    contact: C,
    begin: f64,
    end: Option<f64>,
    modes: Vec<(f64, bool)>,
}

/// Lasting contacts of a run in the order in which they began. `C` names a contact.
pub(super) struct LastingContacts<C>(Vec<Lasting<C>>);

impl<C: Copy + PartialEq> LastingContacts<C> {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Notes the begin of a contact at `time` (s).
    pub(super) fn establish(&mut self, begin: f64, contact: C) {
        self.0.push(Lasting {
            contact,
            begin,
            end: None,
            modes: Vec::new(),
        });
    }

    /// Notes the end of a contact at `time` (s).
    pub(super) fn release(&mut self, time: f64, contact: C) {
        if let Some(lasting) = self.open(contact) {
            lasting.end = Some(time.max(lasting.begin));
        }
    }

    /// Notes that a contact slides or sticks from `time` (s) on.
    pub(super) fn mode(&mut self, time: f64, contact: C, slides: bool) {
        if let Some(lasting) = self.open(contact) {
            lasting.modes.push((time, slides));
        }
    }

    fn open(&mut self, contact: C) -> Option<&mut Lasting<C>> {
        let open = |lasting: &&mut Lasting<C>| lasting.contact == contact && lasting.end.is_none();
        self.0.iter_mut().rev().find(open)
    }

    /// Returns the contacts as JSON. `names` returns the entries that name a contact, and true if the contact has modes.
    pub(super) fn json(&self, names: impl Fn(C) -> (Map<String, Value>, bool)) -> Value {
        let entry = |lasting: &Lasting<C>| {
            let (mut map, has_modes) = names(lasting.contact);
            map.insert("begin".to_owned(), json!(lasting.begin));
            map.insert("end".to_owned(), json!(lasting.end));
            if has_modes {
                let mode = |(time, slides): &(f64, bool)| {
                    let mode = if *slides { "sliding" } else { "sticking" };
                    json!({"time": time, "mode": mode})
                };
                let modes: Vec<Value> = lasting.modes.iter().map(mode).collect();
                map.insert("modes".to_owned(), json!(modes));
            }
            Value::Object(map)
        };
        self.0.iter().map(entry).collect()
    }
}

/// Returns the entries that name the bodies or planes of a contact.
pub(super) fn names_of_pair(first: &str, second: &str) -> Map<String, Value> {
    let names = [("first", first), ("second", second)];
    let names = names.map(|(key, name)| (key.to_owned(), json!(name)));
    names.into_iter().collect()
}

/// Works that only worlds with such terms have (J).
pub(super) struct Works {
    /// Work of forces, but drag.
    pub(super) applied: Option<f64>,
    /// Energy that drag takes.
    pub(super) drag: Option<f64>,
    /// Work of running surfaces, and of bodies that are told their motion.
    pub(super) prescribed: Option<f64>,
    /// Energy that dampers of springs take, where it is not told with those of joints.
    pub(super) damper: Option<f64>,
}

impl Works {
    /// Adds the works to the terms and the parts of a balance of energy.
    pub(super) fn note(
        &self,
        terms: &mut Vec<(&'static str, f64)>,
        parts: &mut Vec<(&'static str, f64)>,
    ) {
        terms.extend(self.applied.map(|work| ("forces", work)));
        parts.extend(self.applied.map(|work| ("applied_work_j", work)));
        terms.extend(self.drag.map(|loss| ("drag", -loss)));
        parts.extend(self.drag.map(|loss| ("drag_loss_j", loss)));
        terms.extend(
            self.prescribed
                .map(|work| ("running surfaces and told motions", work)),
        );
        parts.extend(self.prescribed.map(|work| ("prescribed_work_j", work)));
        terms.extend(self.damper.map(|loss| ("dampers", -loss)));
        parts.extend(self.damper.map(|loss| ("damper_loss_j", loss)));
    }
}

/// Returns a contact point of an impact as JSON; `name` returns the name of a body or plane.
pub(super) fn impact_contact<'n>(c: &ImpactContact, name: impl Fn(usize) -> &'n str) -> Value {
    json!({
        "first": name(c.first),
        "second": name(c.second),
        "point": list(&c.point),
        "normal": list(&c.normal),
        "impulse": list(&c.impulse),
        "normal_velocity": c.normal_velocity,
    })
}

/// Returns the JSON error entry of a run. `None` unless the run was stopped by an error, or its impacts accumulate (infinitely
/// many in finite time) and `zeno_is_error` is true.
pub(super) fn fault(ending: &Ending<MotionError>, zeno_is_error: bool) -> Option<Value> {
    match ending {
        Ending::Zeno { accumulation } => zeno_is_error.then(|| {
            let message = format!("impacts accumulate at time {accumulation}");
            json!({"kind": "zeno", "message": message})
        }),
        Ending::Stopped(error) => Some(json!({"kind": error.kind(), "message": error.to_string()})),
        _ => None,
    }
}

/// Returns a rotation as the unit quaternion w, x, y, z with $w \ge 0$.
pub(super) fn quaternion(rotation: &So3) -> [f64; 4] {
    let (w, v) = rotation.quaternion();
    let sign = if w < 0.0 { -1.0 } else { 1.0 };
    [sign * w, sign * v.x, sign * v.y, sign * v.z]
}

/// Returns the balance of the linear momentum of all bodies (N s) as JSON, and the largest absolute component of its unexplained
/// change. `states`: those at the start and at the end; `gravity`, `given` and `inputs`: impulses of gravity, of all supports and of
/// the inputs of a session; `supports`: impulses of each support by its name.
pub(super) fn momentum(
    states: [&[State]; 2],
    gravity: &Vector3<f64>,
    [given, inputs]: [&Vector3<f64>; 2],
    supports: Map<String, Value>,
) -> (Value, f64) {
    let [before, after] = states
        .map(|states| -> Vector3<f64> { states.iter().map(|state| state.linear_momentum).sum() });
    let error = (before + gravity + given + inputs - after).amax();
    let mut value = json!({
        "initial": list(&before),
        "final": list(&after),
        "gravity": list(gravity),
        "supports": supports,
        "max_abs_error": error,
    });
    if *inputs != Vector3::zeros() {
        value["inputs"] = list(inputs);
    }
    (value, error)
}

/// Returns pose and velocities of a body at the end of a run as a JSON object.
pub(super) fn final_state(
    name: &str,
    state: &State,
    (velocity, spin): (Vector3<f64>, Vector3<f64>),
) -> Value {
    json!({
        "body": name,
        "position": list(&state.position),
        "quaternion": quaternion(&state.rotation),
        "velocity": list(&velocity),
        "angular_velocity": list(&spin),
    })
}
