//! Exact solution of the impact differential inclusion in the plane, from event to event.

use super::space::ContactSpace;
use carom_contact::{
    ContactIndex, Diagnostics, ImpactError, ImpactOutcome, ImpactProblem, ImpactStatus,
};
use carom_lcp::{Lcp, LcpStatus, Lemke, LemkeOptions};
use carom_metric::kernel;
use carom_numeric::random::CounterRng;
use nalgebra::{DMatrix, DVector};

/// Fraction of the largest terms of a contact row below which velocities count as zero.
const ZERO: f64 = 1e-10;

/// Largest number of events of one solution.
const MAX_EVENTS: usize = 10_000;

/// Piece of an impulse path: upper limits on the rates of the normal impulses, and the length over which they apply.
#[derive(Clone, Debug, PartialEq)]
pub struct RatePiece {
    /// Cap on the rate of the normal impulse, one per contact, for the caller's normal rows.
    pub rates: Vec<f64>,
    /// Length of the piece, in units of impulse divided by rate; N·s for rates that sum to 1.
    pub length: f64,
}

/// Solution of the differential inclusion of a frictional impact: velocities at all events while the impulse grows, and the
/// outcome at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct InclusionPath {
    /// Audited outcome at the end of the path.
    pub outcome: ImpactOutcome,
    /// Total normal impulse $s = \int\lVert\lambda_n\rVert_1$, N·s.
    pub impulse: f64,
    /// Velocities of the contact rows (normal, tangent of each contact) at every event, beginning with the
    /// start. Without friction the tangents are left out.
    pub events: Vec<Vec<f64>>,
    /// Work done against each contact's normal impulse while the contact approached, J, one per contact.
    pub compression_work: Vec<f64>,
    /// Work given back by each contact's normal impulse while the contact separated, J, one per contact.
    pub restitution_work: Vec<f64>,
}

/// Solves the differential inclusion of a planar frictional impact, Halm & Posa, Eqs. (39)-(40). `pieces` are limits on the
/// rates of the normal impulses; `cover` is the seed of a random choice among several solutions, fixed if `None`.
///
/// The normal impulse of an approaching contact grows at the rate given by the current piece. A contact at rest pushes just
/// enough to stay closed, at most at this rate. A separating contact does not push. Sliding friction opposes the tangential
/// velocity; at zero tangential velocity friction keeps the contact sticking, within the cone. Between events all rates are
/// constant, so nothing is discretized: this is the limit of the steps of [`ImpactStepper`](super::ImpactStepper) for upper
/// bounds (caps) of the normal impulses that tend to zero. For given rates the solution is unique, unless a contact at rest
/// can be pressed down by its own friction. Then the covering vector of Lemke's method, drawn with the seed `cover`,
/// chooses.
///
/// The pieces are repeated until no contact approaches. A piece whose rates are zero at all contacts that could push
/// is skipped.
///
/// # Errors
///
/// [`ImpactError::EnumerationLimit`] in space, [`ImpactError::InvalidOption`] for bad pieces,
/// [`ImpactError::LimitExceeded`] after 10000 events or if no piece pushes,
/// [`ImpactError::Complementarity`].
pub fn integrate_inclusion(
    problem: &ImpactProblem<'_>,
    pieces: &[RatePiece],
    cover: Option<u64>,
) -> Result<InclusionPath, ImpactError> {
    follow(problem, pieces, cover, |_| 0.0)
}

/// Solves the differential inclusion of a planar frictional impact with Stronge's energetic restitution. `pieces` are limits
/// on the rates of the normal impulses; `cover` is the seed of a random choice among several solutions, fixed if `None`. The
/// coefficients $e_i$ are those of the contacts.
///
/// At an approaching contact the work $W_c = -\int_{b_n<0} b_n\lambda_n$ is done against the normal impulse. The contact may
/// continue to push while it separates, until its normal impulse has done the work $W_r = e^2W_c$. The impact ends when no
/// contact approaches and no contact has to do more work. So
///
/// $$ K^+ - K^- = -\sum_i (1 - e_i^2) W_{c,i} - W_{\mathrm{friction}}, $$
///
/// and energy never grows, in any order. With $e = 0$ the solution is that of [`integrate_inclusion`].
///
/// # Errors
///
/// The errors of [`integrate_inclusion`].
///
/// Halm & Posa name restitution as future work; the energetic hypothesis is that of Stronge,
/// *Rigid body collisions with friction*, 1990.
pub fn integrate_elastic_inclusion(
    problem: &ImpactProblem<'_>,
    pieces: &[RatePiece],
    cover: Option<u64>,
) -> Result<InclusionPath, ImpactError> {
    let contacts = problem.contacts().contacts();
    follow(problem, pieces, cover, |i| {
        contacts.get(i).map_or(0.0, |contact| contact.restitution)
    })
}

fn follow(
    problem: &ImpactProblem<'_>,
    pieces: &[RatePiece],
    cover: Option<u64>,
    restitution: impl Fn(usize) -> f64,
) -> Result<InclusionPath, ImpactError> {
    let problem = problem.event();
    let space = ContactSpace::new(problem.contacts());
    let m = space.n_contacts;
    if space.n_tangents > 1 {
        return Err(ImpactError::EnumerationLimit {
            contacts: m,
            tangents: space.n_tangents,
            max: m,
        });
    }
    check(pieces, m)?;
    let mut path = Path {
        space: &space,
        zero: ZERO * kernel::max_abs(&space.sizes(problem.momentum())),
        velocity: space.velocity_before(problem),
        impulse: DVector::zeros(space.n_slots()),
        work: (0..m)
            .map(|i| Work {
                returned: carom_numeric::power(restitution(i), 2),
                ..Work::default()
            })
            .collect(),
        cover,
    };
    let unscale = 1.0 / problem.scale();
    let mut events = vec![path.given_velocity(unscale)];
    let mut idle = 0;
    let mut pieces_left = pieces.iter().cycle();
    while path.goes_on() {
        let Some(piece) = pieces_left.next() else {
            break;
        };
        let rates: Vec<f64> = space
            .indices()
            .map(|i| piece.rates[i.index()] * space.normal_norm(i))
            .collect();
        let mut left = piece.length * problem.scale();
        let mut pushed = false;
        while left > 0.0 && path.goes_on() {
            let Some(rate) = path.rates(&rates)? else {
                break;
            };
            pushed = true;
            left -= path.advance(&rate, left);
            events.push(path.given_velocity(unscale));
            if events.len() > MAX_EVENTS {
                return Err(ImpactError::LimitExceeded {
                    impacts: MAX_EVENTS as u64,
                });
            }
        }
        idle = if pushed { 0 } else { idle + 1 };
        if idle >= pieces.len() {
            // All pieces have zero rates at the contacts that could push.
            return Err(ImpactError::LimitExceeded {
                impacts: events.len() as u64 - 1,
            });
        }
    }
    let status = if problem.is_approaching() {
        ImpactStatus::Resolved
    } else {
        ImpactStatus::Separating
    };
    let normals = space
        .indices()
        .map(|i| path.impulse[space.normal_slot(i).index()] / space.normal_norm(i));
    Ok(InclusionPath {
        impulse: normals.sum::<f64>() * unscale,
        outcome: space.outcome(
            problem,
            path.impulse.as_slice(),
            status,
            Diagnostics::Complementarity {
                pivots: 0,
                velocity_residual: 0.0,
                polygon: None,
                member: None,
            },
        )?,
        events,
        compression_work: path
            .work
            .iter()
            .map(|w| w.compression * unscale * unscale)
            .collect(),
        restitution_work: path
            .work
            .iter()
            .map(|w| w.restitution * unscale * unscale)
            .collect(),
    })
}

fn check(pieces: &[RatePiece], m: usize) -> Result<(), ImpactError> {
    let refuse = |what, value, allowed| {
        Err(ImpactError::InvalidOption {
            what,
            value,
            allowed,
        })
    };
    if pieces.is_empty() {
        return refuse("number of pieces", 0.0, "at least 1");
    }
    for piece in pieces {
        if piece.rates.len() != m {
            let found = piece.rates.len() as f64;
            return refuse("number of rates", found, "one for each contact");
        }
        let is_rate = |rate: &&f64| **rate >= 0.0 && rate.is_finite();
        if let Some(rate) = piece.rates.iter().find(|rate| !is_rate(rate)) {
            return refuse("rate", *rate, "finite and not negative");
        }
        if !(piece.length > 0.0 && piece.length.is_finite()) {
            return refuse("length of a piece", piece.length, "finite and positive");
        }
    }
    Ok(())
}

/// Unknown of the complementarity problem for the rates after an event.
enum Unknown {
    /// Multiplier of the cap on the rate of a contact at rest; holds the contact.
    Cap(usize),
    /// Rate of the normal impulse of a contact at rest; holds the contact and the ratio of sliding friction to it.
    Normal(usize, f64),
    /// Rate of friction at a sticking contact; holds the contact and the sign along its tangent.
    Friction(usize, f64),
    /// Magnitude of the sliding acceleration of a sticking contact; holds the contact.
    Cone(usize),
}

/// Work of the normal impulse of a contact.
#[derive(Clone, Copy, Default)]
struct Work {
    /// Fraction $e^2$ of the compression work that is given back.
    returned: f64,
    compression: f64,
    restitution: f64,
}

impl Work {
    /// Returns the work that the contact must still do in restitution. The result is exactly 0 if all of this work has
    /// been done.
    fn left(&self) -> f64 {
        (self.returned * self.compression - self.restitution).max(0.0)
    }
}

/// Event that ends an interval of constant rates.
enum Event {
    /// The velocity of a slot becomes zero.
    Rest(usize),
    /// A contact has given back all its work.
    Spent(usize),
}

struct Path<'a> {
    space: &'a ContactSpace,
    zero: f64,
    velocity: DVector<f64>,
    impulse: DVector<f64>,
    work: Vec<Work>,
    cover: Option<u64>,
}

impl Path<'_> {
    fn normal(&self, i: usize) -> f64 {
        self.velocity[i * self.space.width()]
    }

    /// Returns the sliding velocity of contact `i`; 0 without friction or if the velocity is a rounding error.
    fn sliding(&self, i: usize) -> f64 {
        if self.space.friction[i] == 0.0 {
            return 0.0;
        }
        let u = self.velocity[i * self.space.width() + 1];
        if u.abs() <= self.zero { 0.0 } else { u }
    }

    /// True if the impact is not over: some contact approaches or must still do work in restitution.
    fn goes_on(&self) -> bool {
        (0..self.space.n_contacts).any(|i| self.pushes(i))
    }

    /// True if contact `i` pushes at its full rate, since it approaches or must still do work in restitution.
    fn pushes(&self, i: usize) -> bool {
        self.normal(i) < -self.zero || self.work[i].left() > 0.0
    }

    fn given_velocity(&self, unscale: f64) -> Vec<f64> {
        let width = self.space.width();
        let contact = |slot: usize| ContactIndex::new(slot / width);
        let factor = |slot: usize| match slot % width {
            0 => self.space.normal_norm(contact(slot)),
            _ => self.space.tangent_norm(contact(slot)),
        };
        let slots = self.velocity.iter().enumerate();
        slots.map(|(slot, v)| v * factor(slot) * unscale).collect()
    }

    /// Computes how fast the impulses on the normalized contact rows grow; `None` if no contact pushes. `caps`: largest
    /// rate of the normal impulse of each contact.
    fn rates(&self, caps: &[f64]) -> Result<Option<DVector<f64>>, ImpactError> {
        let (space, width) = (self.space, self.space.width());
        let mut constant = DVector::zeros(space.n_slots());
        let mut unknowns = Vec::new();
        for (i, cap) in caps.iter().enumerate() {
            let w = self.normal(i);
            let pushes = self.pushes(i);
            if *cap == 0.0 || (w > self.zero && !pushes) {
                continue;
            }
            let friction = space.friction[i];
            let ratio = match self.sliding(i) {
                0.0 => 0.0,
                u => -friction * u.signum(),
            };
            if pushes {
                constant[i * width] = *cap;
                if ratio != 0.0 {
                    constant[i * width + 1] = ratio * cap;
                }
            } else {
                unknowns.extend([Unknown::Cap(i), Unknown::Normal(i, ratio)]);
            }
            if friction > 0.0 && ratio == 0.0 {
                unknowns.extend([
                    Unknown::Friction(i, 1.0),
                    Unknown::Friction(i, -1.0),
                    Unknown::Cone(i),
                ]);
            }
        }
        let mut rate = constant.clone();
        if !unknowns.is_empty() {
            let z = self.solve(caps, &constant, &unknowns)?;
            for (unknown, z) in unknowns.iter().zip(z.iter()) {
                self.add(unknown, *z, &mut rate);
            }
        }
        let is_pushed = rate.iter().step_by(width).any(|l| *l > 0.0);
        Ok(is_pushed.then_some(rate))
    }

    fn add(&self, unknown: &Unknown, z: f64, rate: &mut DVector<f64>) {
        let width = self.space.width();
        match unknown {
            Unknown::Normal(i, ratio) => {
                rate[i * width] += z;
                if *ratio != 0.0 {
                    rate[i * width + 1] += ratio * z;
                }
            }
            Unknown::Friction(i, sign) => rate[i * width + 1] += sign * z,
            Unknown::Cap(_) | Unknown::Cone(_) => {}
        }
    }

    fn solve(
        &self,
        caps: &[f64],
        constant: &DVector<f64>,
        unknowns: &[Unknown],
    ) -> Result<DVector<f64>, ImpactError> {
        let (space, width) = (self.space, self.space.width());
        let n = unknowns.len();
        // Scaled acceleration of the slots for each unknown, and for the known rates.
        let mut columns = Vec::with_capacity(n);
        for unknown in unknowns {
            let mut rate = DVector::zeros(space.n_slots());
            self.add(unknown, 1.0, &mut rate);
            columns.push(&space.gram * rate);
        }
        let given = &space.gram * constant;
        let mut matrix = DMatrix::zeros(n, n);
        let mut vector = DVector::zeros(n);
        for (row, unknown) in unknowns.iter().enumerate() {
            let mut velocity_row = |slot: usize, sign: f64| {
                vector[row] = sign * given[slot];
                for (j, column) in columns.iter().enumerate() {
                    matrix[(row, j)] = sign * column[slot];
                }
            };
            match unknown {
                Unknown::Cap(i) => {
                    vector[row] = caps[*i];
                    matrix[(row, row + 1)] = -1.0;
                }
                Unknown::Normal(i, _) => {
                    velocity_row(i * width, 1.0);
                    matrix[(row, row - 1)] += 1.0;
                }
                Unknown::Friction(i, sign) => {
                    velocity_row(i * width + 1, *sign);
                    let cone = if *sign > 0.0 { row + 2 } else { row + 1 };
                    matrix[(row, cone)] += 1.0;
                }
                Unknown::Cone(i) => {
                    let friction = space.friction[*i];
                    vector[row] = friction * constant[i * width];
                    matrix[(row, row - 1)] = -1.0;
                    matrix[(row, row - 2)] = -1.0;
                    let normal = |u: &Unknown| matches!(u, Unknown::Normal(j, _) if j == i);
                    if let Some(j) = unknowns.iter().position(normal) {
                        matrix[(row, j)] = friction;
                    }
                }
            }
        }
        let mut options = LemkeOptions::default();
        if let Some(seed) = self.cover {
            let mut rng = CounterRng::new(seed, 0, 0);
            let entry = |_| libm::exp(6.0 * (2.0 * rng.next_uniform() - 1.0));
            options.cover = Some((0..n).map(entry).collect());
        }
        let solution = Lemke { options }.solve(&Lcp::new(matrix, vector)?)?;
        match solution.status {
            LcpStatus::Solved => Ok(solution.z),
            status => Err(ImpactError::Complementarity {
                status,
                residual: solution.certificate.residual,
            }),
        }
    }

    /// Integrates the impact with the constant impulse rates `rate` to the next event (a velocity becomes zero, or
    /// restitution ends), at most over the length `left` of the path parameter. Returns the length covered.
    fn advance(&mut self, rate: &DVector<f64>, left: f64) -> f64 {
        let change = &self.space.gram * rate;
        let width = self.space.width();
        let mut far = left;
        let mut events = Vec::new();
        let mut note = |at: f64, event: Event| {
            // Events that differ only by rounding are treated as one.
            if at < far * (1.0 - 1e-13) {
                far = at;
                events.clear();
            }
            if at <= far * (1.0 + 1e-13) {
                events.push(event);
            }
        };
        for slot in 0..self.space.n_slots() {
            let (v, dv) = (self.velocity[slot], change[slot]);
            let is_smooth = slot % width > 0 && self.space.friction[slot / width] == 0.0;
            if v.abs() <= self.zero || v * dv >= 0.0 || is_smooth {
                continue;
            }
            note(-v / dv, Event::Rest(slot));
        }
        for (i, work) in self.work.iter().enumerate() {
            let (v, dv, l) = (self.normal(i), change[i * width], rate[i * width]);
            // Root of the work still to be given back, l (v s + dv s²/2), unless the contact approaches again before.
            let square = v * v + 2.0 * dv * work.left() / l;
            if l > 0.0 && v >= -self.zero && work.left() > 0.0 && square >= 0.0 {
                let sum = v.max(0.0) + square.sqrt();
                if sum > 0.0 {
                    note(2.0 * work.left() / (l * sum), Event::Spent(i));
                }
            }
        }
        for i in 0..self.space.n_contacts {
            let (v, dv) = (self.normal(i), change[i * width]);
            if !self.pushes(i) && v + far * dv >= -self.zero {
                // The contact is held at rest: its work is a rounding error.
                continue;
            }
            let done = rate[i * width] * far * (v + 0.5 * far * dv);
            let work = &mut self.work[i];
            if v < -self.zero || (v <= self.zero && dv < 0.0) {
                work.compression -= done;
            } else {
                work.restitution += done;
            }
        }
        self.velocity.axpy(far, &change, 1.0);
        self.impulse.axpy(far, rate, 1.0);
        for event in events {
            match event {
                Event::Rest(slot) => self.velocity[slot] = 0.0,
                Event::Spent(i) => {
                    let work = &mut self.work[i];
                    work.restitution = work.returned * work.compression;
                }
            }
        }
        far
    }
}
