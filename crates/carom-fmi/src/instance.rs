//! Instance of a unit: a session with inputs that act at the next step, and outputs of the last one.

use crate::error::FmiError;
use crate::unit::Resources;
use crate::variables::{Quantity, Variable, variables};
use carom_scenarios::carom_world::SessionError;
use carom_scenarios::carom_world::saved::{before, memory, open, seal, split};
use carom_scenarios::{Session, SessionBody, SessionState};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Share of a step by which its begin may differ from the present time.
const SAME_TIME: f64 = 1e-9;

/// State of an instance in the order of calls that FMI allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Created,
    Initialization,
    Steps,
    Terminated,
}

impl Mode {
    fn words(self) -> &'static str {
        match self {
            Self::Created => "is not initialized",
            Self::Initialization => "is being initialized",
            Self::Steps => "makes steps",
            Self::Terminated => "is terminated",
        }
    }
}

/// Unit as it is read: its variables and its session at the start.
#[derive(Debug)]
struct Model {
    variables: Vec<Variable>,
    bodies: Vec<SessionBody>,
    gravity: [f64; 3],
    start: Mutex<Session>,
    token: [u8; 32],
    /// Number of elements of all variables, and one for the time.
    n_elements: usize,
}

impl Model {
    /// Returns a session at its start.
    fn started(&self) -> Session {
        let start = self.start.lock().unwrap_or_else(PoisonError::into_inner);
        start.clone()
    }
}

/// Momentum and angular momentum of a body about its center of mass, in space (N s, N m s).
type Momentum = [[f64; 3]; 2];

/// Part of an instance that a step changes, beside the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Books {
    mode: Mode,
    /// Time of the start (s), and of the end of the last step.
    times: [f64; 2],
    /// Values of all elements of the inputs by reference, as set; and of those that act.
    given: Vec<f64>,
    acting: Vec<f64>,
    /// True for each reference that was set.
    is_set: Vec<bool>,
    n_impacts: u64,
    /// Momenta of the bodies at the begin of the last step, and its length (s); 0 before the first one.
    momenta: Vec<Momentum>,
    step: f64,
}

/// Instance of a unit for co-simulation.
///
/// # Examples
///
/// ```
/// use carom_fmi::{Instance, write_resources};
///
/// let folder = tempfile::tempdir()?;
/// let toml = folder.path().join("world.toml");
/// let ball = "{ name = \"ball\", mass = 2.0, shape = { type = \"sphere\", radius = 0.1 }, position = [0.0, 0.0, 0.0] }";
/// std::fs::write(&toml, format!("bodies = [{ball}]"))?;
/// let unit = folder.path().join("resources");
/// let token = write_resources(&toml, &[], &unit)?;
/// let mut instance = Instance::new(&unit, &token)?;
/// instance.enter_initialization(0.0)?;
/// instance.exit_initialization()?;
/// let z = instance.find("ball.position").ok_or("a position")? + 2;
/// instance.step(0.0, 0.5)?;
/// assert!((instance.real(z)? + 0.5 * 9.80665 * 0.25).abs() <= 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Instance {
    model: Arc<Model>,
    session: Session,
    books: Books,
    /// State at the present time, once it is asked for.
    shown: Option<Arc<SessionState>>,
}

/// State of an instance that is kept: the instance goes on from it.
#[derive(Clone, Debug)]
pub struct Kept(Instance);

impl Instance {
    /// Reads a unit from the folder of its resources. `token` is that of its description.
    ///
    /// # Errors
    ///
    /// [`FmiError`] for resources that cannot be read, or that are not those of the token.
    pub fn new(folder: &Path, token: &str) -> Result<Self, FmiError> {
        let resources = Resources::read(folder)?;
        let own = resources.token(folder)?;
        if own != token {
            let given = token.to_owned();
            return Err(FmiError::Token { given, own });
        }
        let start = resources.start(folder)?;
        let variables = variables(&start);
        let n_elements = 1 + variables.iter().map(|v| v.length).sum::<usize>();
        let digest = carom_scenarios::carom_world::saved::digest(&token);
        let model = Model {
            bodies: start.body_list(),
            gravity: start.gravity(),
            variables,
            start: Mutex::new(start),
            token: digest,
            n_elements,
        };
        Ok(Self::at_start(Arc::new(model)))
    }

    fn at_start(model: Arc<Model>) -> Self {
        let mut given = vec![0.0; model.n_elements];
        for variable in &model.variables {
            for k in 0..variable.length {
                given[variable.reference as usize + k] = variable.start;
            }
        }
        let books = Books {
            mode: Mode::Created,
            times: [0.0; 2],
            acting: given.clone(),
            is_set: vec![false; given.len()],
            given,
            n_impacts: 0,
            momenta: Vec::new(),
            step: 0.0,
        };
        Self {
            session: model.started(),
            model,
            books,
            shown: None,
        }
    }

    /// Returns to the state after the creation.
    pub fn reset(&mut self) {
        *self = Self::at_start(Arc::clone(&self.model));
    }

    /// Returns the reference of the first element of a variable.
    pub fn find(&self, name: &str) -> Option<u32> {
        let mut all = self.model.variables.iter();
        all.find(|v| v.name == name).map(|v| v.reference)
    }

    fn require(&self, modes: &[Mode]) -> Result<(), FmiError> {
        let now = self.books.mode;
        if modes.contains(&now) {
            return Ok(());
        }
        Err(FmiError::Mode { now: now.words() })
    }

    /// Begins the initialization at `time` (s), which is the start of the run.
    ///
    /// # Errors
    ///
    /// [`FmiError::Mode`], [`FmiError::Step`] for a time that is not finite.
    pub fn enter_initialization(&mut self, time: f64) -> Result<(), FmiError> {
        self.require(&[Mode::Created])?;
        if !time.is_finite() {
            return Err(self.no_step(time, 0.0));
        }
        self.books.times = [time; 2];
        self.books.mode = Mode::Initialization;
        Ok(())
    }

    /// Ends the initialization.
    ///
    /// # Errors
    ///
    /// [`FmiError::Mode`].
    pub fn exit_initialization(&mut self) -> Result<(), FmiError> {
        self.require(&[Mode::Initialization])?;
        self.books.mode = Mode::Steps;
        Ok(())
    }

    /// Ends the simulation; outputs can be read.
    ///
    /// # Errors
    ///
    /// [`FmiError::Mode`].
    pub fn terminate(&mut self) -> Result<(), FmiError> {
        self.require(&[Mode::Steps])?;
        self.books.mode = Mode::Terminated;
        Ok(())
    }

    /// Returns the end of the last step (s); after a run that stopped, the time up to which it went.
    pub fn time(&self) -> f64 {
        match self.session.error() {
            Some(_) => self.books.times[0] + self.session.time(),
            None => self.books.times[1],
        }
    }

    /// True if the run has ended, so that nothing moves any more.
    pub fn is_over(&self) -> bool {
        self.session.status() != "running"
    }

    fn no_step(&self, time: f64, step: f64) -> FmiError {
        FmiError::Step {
            time,
            step,
            now: self.books.times[1],
        }
    }

    /// Goes on from `time` (s), which is the present one, by `step` (s). Inputs that were set act from here on.
    ///
    /// # Errors
    ///
    /// [`FmiError::Mode`], [`FmiError::Step`], and [`FmiError::Session`] if the run stops: then [`time`](Self::time) is before the
    /// end of the step, and a state that was kept before can be set again.
    pub fn step(&mut self, time: f64, step: f64) -> Result<(), FmiError> {
        self.require(&[Mode::Steps])?;
        let now = self.books.times[1];
        let is_next = (time - now).abs() <= SAME_TIME * step;
        let end = time + step;
        if !(step > 0.0 && end.is_finite() && is_next) {
            return Err(self.no_step(time, step));
        }
        let state = self.state()?;
        self.books.momenta = self.momenta(&state);
        self.books.step = step;
        self.shown = None;
        if !self.is_over() {
            self.act()?;
            let until = end - self.books.times[0];
            let went = self.session.advance_to(until.max(self.session.time()));
            let went = went.map(|_| ());
            let impacts = self
                .session
                .events()
                .iter()
                .filter(|event| event.kind == "impact");
            self.books.n_impacts += impacts.count() as u64;
            went?;
        } else if let Some(error) = self.session.error() {
            return Err(error.into());
        }
        self.books.times[1] = end;
        Ok(())
    }

    /// Lets the inputs act that have changed.
    fn act(&mut self) -> Result<(), FmiError> {
        let model = Arc::clone(&self.model);
        let mut has_controls = false;
        for variable in model.variables.iter().filter(|v| v.quantity.is_input()) {
            let from = variable.reference as usize;
            let all = from..from + variable.length;
            let given = &self.books.given[all.clone()];
            let is_same = *given == self.books.acting[all.clone()];
            match variable.quantity {
                Quantity::Force(b) if !is_same => {
                    let force = [given[0], given[1], given[2]];
                    self.session.set_force(&model.bodies[b].name, force)?;
                }
                Quantity::Control(_) => has_controls |= !is_same,
                // A table holds until its target is set, be it to the same value.
                Quantity::Target(k) if !is_same || self.books.is_set[from] => {
                    let name = self.session.coordinates()[k].to_owned();
                    self.session.set_target(&name, given[0])?;
                    self.books.is_set[from] = false;
                }
                _ => (),
            }
        }
        if has_controls {
            let controls = model.variables.iter();
            let controls = controls.filter(|v| matches!(v.quantity, Quantity::Control(_)));
            let forces: Vec<f64> = controls
                .map(|v| self.books.given[v.reference as usize])
                .collect();
            self.session.set_control(&forces)?;
        }
        self.books.acting.clone_from(&self.books.given);
        Ok(())
    }

    fn state(&mut self) -> Result<Arc<SessionState>, FmiError> {
        if let Some(state) = &self.shown {
            return Ok(Arc::clone(state));
        }
        let state = Arc::new(self.session.state()?);
        self.shown = Some(Arc::clone(&state));
        Ok(state)
    }

    /// Returns the momenta of the bodies.
    fn momenta(&self, state: &SessionState) -> Vec<Momentum> {
        let bodies = self.model.bodies.iter().enumerate();
        let one = |(b, body): (usize, &SessionBody)| match &body.mass {
            Some((mass, inertia)) => {
                let turn = rows(&state.quaternion[b]);
                let spin = turned_back(&turn, &state.angular_velocity[b]);
                let own = inertia.map(|row| dot(&row, &spin));
                [
                    state.velocity[b].map(|v| mass * v),
                    turn.map(|row| dot(&row, &own)),
                ]
            }
            None => [[0.0; 3]; 2],
        };
        bodies.map(one).collect()
    }

    /// Returns the mean force or torque of the contacts on a body over the last step: what gravity and inputs do not explain.
    fn contact(&mut self, b: usize, is_torque: bool) -> Result<[f64; 3], FmiError> {
        let (step, model) = (self.books.step, Arc::clone(&self.model));
        if step == 0.0 {
            return Ok([0.0; 3]);
        }
        let state = self.state()?;
        let now = &self.momenta(&state)[b];
        let before = &self.books.momenta[b];
        let part = usize::from(is_torque);
        let mut mean = [0.0; 3];
        for (axis, out) in mean.iter_mut().enumerate() {
            *out = (now[part][axis] - before[part][axis]) / step;
        }
        if let (false, Some((mass, _))) = (is_torque, &model.bodies[b].mass) {
            let is_force = |v: &&Variable| v.quantity == Quantity::Force(b);
            let force = model.variables.iter().find(is_force);
            for (axis, out) in mean.iter_mut().enumerate() {
                let applied = force.map_or(0.0, |v| self.books.acting[v.reference as usize + axis]);
                *out -= mass * model.gravity[axis] + applied;
            }
        }
        Ok(mean)
    }

    /// Returns the variable that has an element with this reference, and the place of the element.
    fn variable(&self, reference: u32) -> Result<(usize, usize), FmiError> {
        let all = &self.model.variables;
        let after = all.partition_point(|v| v.reference <= reference);
        let found = after
            .checked_sub(1)
            .map(|k| (k, (reference - all[k].reference) as usize));
        let is_there = |(k, place): &(usize, usize)| *place < all[*k].length;
        found
            .filter(is_there)
            .ok_or(FmiError::UnknownReference { reference })
    }

    /// Returns the value of an element; counts are no reals.
    ///
    /// # Errors
    ///
    /// [`FmiError::UnknownReference`], [`FmiError::Session`] for a state that cannot be computed.
    pub fn real(&mut self, reference: u32) -> Result<f64, FmiError> {
        if reference == 0 {
            return Ok(self.time());
        }
        let (k, place) = self.variable(reference)?;
        Ok(match self.model.variables[k].quantity {
            Quantity::Force(_) | Quantity::Control(_) | Quantity::Target(_) => {
                self.books.given[reference as usize]
            }
            Quantity::Position(b) => self.state()?.position[b][place],
            Quantity::Quaternion(b) => self.state()?.quaternion[b][place],
            Quantity::Velocity(b) => self.state()?.velocity[b][place],
            Quantity::Spin(b) => self.state()?.angular_velocity[b][place],
            Quantity::ContactForce(b) => self.contact(b, false)?[place],
            Quantity::ContactTorque(b) => self.contact(b, true)?[place],
            Quantity::Coordinate(c) => self.state()?.joint_position[c],
            Quantity::Rate(c) => self.state()?.joint_velocity[c],
            Quantity::Energy => self.session.energy()?["final_j"]
                .as_f64()
                .unwrap_or(f64::NAN),
            Quantity::Impacts => return Err(FmiError::UnknownReference { reference }),
        })
    }

    /// Returns the value of a count.
    ///
    /// # Errors
    ///
    /// [`FmiError::UnknownReference`].
    pub fn count(&self, reference: u32) -> Result<u64, FmiError> {
        let (k, _) = self.variable(reference)?;
        match self.model.variables[k].quantity {
            Quantity::Impacts => Ok(self.books.n_impacts),
            _ => Err(FmiError::UnknownReference { reference }),
        }
    }

    /// Returns the values of all elements of variables, one after the other.
    ///
    /// # Errors
    ///
    /// The errors of [`real`](Self::real).
    pub fn reals(&mut self, references: &[u32]) -> Result<Vec<f64>, FmiError> {
        let mut values = Vec::new();
        for reference in references {
            for k in 0..self.length(*reference)? {
                values.push(self.real(reference + k)?);
            }
        }
        Ok(values)
    }

    /// Returns the number of elements of the variable that begins at a reference.
    fn length(&self, reference: u32) -> Result<u32, FmiError> {
        if reference == 0 {
            return Ok(1);
        }
        match self.variable(reference)? {
            (k, 0) => Ok(self.model.variables[k].length as u32),
            _ => Err(FmiError::UnknownReference { reference }),
        }
    }

    /// Sets all elements of inputs, which act from the next step on. A refusal changes nothing.
    ///
    /// # Errors
    ///
    /// [`FmiError::DimensionMismatch`], and those of [`set`](Self::set).
    pub fn set_all(&mut self, references: &[u32], values: &[f64]) -> Result<(), FmiError> {
        let mut elements = Vec::new();
        for reference in references {
            elements.extend((0..self.length(*reference)?).map(|k| reference + k));
        }
        if elements.len() != values.len() {
            return Err(FmiError::DimensionMismatch {
                expected: elements.len(),
                found: values.len(),
            });
        }
        self.set(&elements, values)
    }

    /// Sets elements of inputs, which act from the next step on. A refusal changes nothing.
    ///
    /// # Errors
    ///
    /// [`FmiError::UnknownReference`], [`FmiError::NoInput`], [`FmiError::NonFinite`], [`FmiError::Mode`].
    pub fn set(&mut self, references: &[u32], values: &[f64]) -> Result<(), FmiError> {
        self.require(&[Mode::Created, Mode::Initialization, Mode::Steps])?;
        for (reference, value) in references.iter().zip(values) {
            let (k, _) = self.variable(*reference)?;
            let Variable { name, quantity, .. } = &self.model.variables[k];
            if !quantity.is_input() {
                return Err(FmiError::NoInput { name: name.clone() });
            }
            if !value.is_finite() {
                let (name, value) = (name.clone(), *value);
                return Err(FmiError::NonFinite { name, value });
            }
        }
        for (reference, value) in references.iter().zip(values) {
            self.books.given[*reference as usize] = *value;
            self.books.is_set[*reference as usize] = true;
        }
        Ok(())
    }

    /// Returns the present state.
    pub fn keep(&self) -> Kept {
        Kept(self.clone())
    }

    /// Goes on from a state of this unit that was kept.
    pub fn set_kept(&mut self, kept: &Kept) {
        let Kept(instance) = kept;
        *self = instance.clone();
    }

    /// Returns a state as bytes.
    pub fn bytes(&self, kept: &Kept) -> Vec<u8> {
        let Kept(Self { books, session, .. }) = kept;
        let payload = before(books, &session.snapshot());
        seal(&[("unit", self.model.token)], &payload)
    }

    /// Reads a state from [`bytes`](Self::bytes) of an instance of this unit.
    ///
    /// # Errors
    ///
    /// [`FmiError::Session`] for bytes that are damaged, or of another unit.
    pub fn read(&self, bytes: &[u8]) -> Result<Kept, FmiError> {
        let payload = open(&[("unit", self.model.token)], bytes)?;
        let room = memory(payload, self.model.n_elements);
        let (books, snapshot): (Books, _) = split(payload, room)?;
        let n = self.model.n_elements;
        let n_momenta = books.momenta.len();
        let fits = [&books.given, &books.acting]
            .iter()
            .all(|list| list.len() == n && list.iter().all(|x| x.is_finite()))
            && books.is_set.len() == n
            && [0, self.model.bodies.len()].contains(&n_momenta)
            && books.times.iter().all(|t| t.is_finite())
            && (books.step == 0.0 || (books.step > 0.0 && n_momenta == self.model.bodies.len()));
        if !fits {
            let what = "its unit cannot have this state".to_owned();
            return Err(SessionError::SnapshotDamaged { what }.into());
        }
        let mut session = self.model.started();
        session.restore(snapshot)?;
        Ok(Kept(Self {
            model: Arc::clone(&self.model),
            session,
            books,
            shown: None,
        }))
    }
}

fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Returns the rows of the rotation of a unit quaternion w, x, y, z.
fn rows([w, x, y, z]: &[f64; 4]) -> [[f64; 3]; 3] {
    [
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
        ],
        [
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
        ],
        [
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        ],
    ]
}

/// Returns a vector in body axes.
fn turned_back(rows: &[[f64; 3]; 3], v: &[f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|k| rows[0][k] * v[0] + rows[1][k] * v[1] + rows[2][k] * v[2])
}
