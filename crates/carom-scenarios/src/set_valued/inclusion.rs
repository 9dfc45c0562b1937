//! Exact solution of the impact differential inclusion in the plane, from event to event.

use super::slots::{slot_column, slot_norms};
use crate::ScenarioError;
use carom_contact::{ImpactError, ImpactProblem};
use carom_impact::internal::ContactSpace;
use carom_impact::lcp::{Lcp, LcpSolver, LcpStatus, Lemke};
use nalgebra::{DMatrix, DVector};

/// Fraction of the largest row velocity before the impact below which velocities count as zero.
const ZERO: f64 = 1e-10;

/// Largest number of events of one solution.
const MAX_EVENTS: usize = 10_000;

/// Piece of an impulse path: upper limits on the rates of the normal impulses, and the length over which they apply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RatePiece {
    /// Cap on the rate of the normal impulse, one per contact, for the caller's normal rows.
    pub(super) rates: Vec<f64>,
    /// Length of the piece, in units of impulse divided by rate; N·s for rates that sum to 1.
    pub(super) length: f64,
}

/// Solution of the differential inclusion of a frictional impact: velocities at all events while the impulse grows, and the
/// impulses at the end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct InclusionPath {
    /// Total normal impulse $s = \int\lVert\lambda_n\rVert_1$, N·s.
    pub(super) impulse: f64,
    /// Impulses on the contact rows (normal, tangent of each contact) at the end, N·s.
    pub(super) impulses: DVector<f64>,
    /// Velocities of the contact rows (normal, tangent of each contact) at every event, beginning with the
    /// start. Without friction the tangents are left out.
    pub(super) events: Vec<Vec<f64>>,
}

/// Solves the differential inclusion of a planar frictional impact, Halm & Posa, Eqs. (39)-(40). `pieces` are limits on the
/// rates of the normal impulses.
///
/// The normal impulse of an approaching contact grows at the rate given by the current piece. A contact at rest pushes just
/// enough to stay closed, at most at this rate. A separating contact does not push. Sliding friction opposes the tangential
/// velocity; at zero tangential velocity friction keeps the contact sticking, within the cone. Between events all rates are
/// constant, so nothing is discretized: this is the limit of the steps of
/// [`ImpactStepper`](carom_impact::internal::ImpactStepper) for upper bounds (caps) of the normal impulses that tend to
/// zero. For given rates the solution is unique, unless a contact at rest can be pressed down by its own friction.
///
/// The pieces are repeated until no contact approaches. A piece whose rates are zero at all contacts that could push
/// is skipped.
///
/// # Errors
///
/// An error of the value `pieces` in space, after 10000 events or if no piece pushes; errors of complementarity problems.
pub(super) fn integrate_inclusion(
    problem: &ImpactProblem,
    pieces: &[RatePiece],
) -> Result<InclusionPath, ScenarioError> {
    let problem = problem.event();
    let contacts = problem.contacts();
    let space = ContactSpace::new(contacts);
    if space.n_tangents > 1 {
        return Err(ScenarioError::value("pieces", "contacts must be planar"));
    }
    let mut path = Path {
        zero: ZERO * largest_size(&space, problem.momentum()),
        norms: slot_norms(&space, contacts),
        velocity: space.velocity_before(problem),
        impulse: DVector::zeros(space.n_slots()),
        space: &space,
    };
    let norms: Vec<f64> = path.norms.iter().step_by(space.width()).copied().collect();
    let unscale = 1.0 / problem.scale();
    let mut events = vec![path.given_velocity(unscale)];
    let mut idle = 0;
    let mut pieces_left = pieces.iter().cycle();
    while path.goes_on() {
        let Some(piece) = pieces_left.next() else {
            return Err(ScenarioError::value("pieces", "at least one is needed"));
        };
        let rates = piece.rates.iter().zip(&norms);
        let rates: Vec<f64> = rates.map(|(rate, norm)| rate * norm).collect();
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
                return Err(ScenarioError::value("pieces", "too many events"));
            }
        }
        idle = if pushed { 0 } else { idle + 1 };
        if idle >= pieces.len() {
            let reason = "all rates are zero at the contacts that could push";
            return Err(ScenarioError::value("pieces", reason));
        }
    }
    let pushes = path.impulse.iter().step_by(space.width());
    Ok(InclusionPath {
        impulse: pushes.zip(&norms).map(|(l, norm)| l / norm).sum::<f64>() * unscale,
        impulses: space.on_rows(path.impulse.as_slice(), problem.scale(), contacts),
        events,
    })
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

/// Returns the largest sum of the magnitudes of the terms of a row velocity, over all normalized rows. `momentum` is scaled and
/// whitened.
fn largest_size(space: &ContactSpace, momentum: &[f64]) -> f64 {
    let size = |slot: usize| -> f64 {
        let column = slot_column(space, slot);
        column
            .iter()
            .zip(momentum)
            .map(|(c, p)| (c * p).abs())
            .sum()
    };
    (0..space.n_slots()).map(size).fold(0.0, f64::max)
}

/// State of an impact between two events, in scaled velocities and impulses of the normalized contact rows.
struct Path<'a> {
    space: &'a ContactSpace,
    /// Kinetic lengths of the caller's rows.
    norms: Vec<f64>,
    /// Velocity below which a velocity counts as zero.
    zero: f64,
    velocity: DVector<f64>,
    impulse: DVector<f64>,
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

    /// True if the impact is not over: some contact approaches.
    fn goes_on(&self) -> bool {
        (0..self.space.n_contacts).any(|i| self.pushes(i))
    }

    /// True if contact `i` pushes at its full rate, since it approaches.
    fn pushes(&self, i: usize) -> bool {
        self.normal(i) < -self.zero
    }

    fn given_velocity(&self, unscale: f64) -> Vec<f64> {
        let slots = self.velocity.iter().zip(&self.norms);
        slots.map(|(v, norm)| v * norm * unscale).collect()
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
        let solution = Lemke::default().solve(&Lcp::new(matrix, vector)?)?;
        match solution.status {
            LcpStatus::Solved => Ok(solution.z),
            status => {
                let residual = solution.certificate.residual;
                Err(ImpactError::unsolved(status, residual, solution.n_pivots))
            }
        }
    }

    /// Integrates the impact with the constant impulse rates `rate` until a velocity becomes zero, at most over the length
    /// `left` of the path parameter. Returns the length covered.
    fn advance(&mut self, rate: &DVector<f64>, left: f64) -> f64 {
        let change = &self.space.gram * rate;
        let width = self.space.width();
        let mut far = left;
        let mut at_rest = Vec::new();
        for slot in 0..self.space.n_slots() {
            let (v, dv) = (self.velocity[slot], change[slot]);
            let is_smooth = slot % width > 0 && self.space.friction[slot / width] == 0.0;
            if v.abs() <= self.zero || v * dv >= 0.0 || is_smooth {
                continue;
            }
            let at = -v / dv;
            // Events that differ only by rounding are treated as one.
            if at < far * (1.0 - 1e-13) {
                far = at;
                at_rest.clear();
            }
            if at <= far * (1.0 + 1e-13) {
                at_rest.push(slot);
            }
        }
        self.velocity.axpy(far, &change, 1.0);
        self.impulse.axpy(far, rate, 1.0);
        for slot in at_rest {
            self.velocity[slot] = 0.0;
        }
        far
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::system::FrictionalSystem;
    use super::*;
    use carom_impact::frictional::TerminationBounds;
    use carom_impact::internal::{ImpactStepper, StepWorkspace};
    use carom_impact::{ImpactLaw, Routh};
    use carom_judge::{JudgeOptions, Membership, judge};
    use carom_metric::Tangent;

    fn pieces(pieces: &[([f64; 2], f64)]) -> Vec<RatePiece> {
        let piece = |(rates, length): &([f64; 2], f64)| RatePiece {
            rates: rates.to_vec(),
            length: *length,
        };
        pieces.iter().map(piece).collect()
    }

    fn follow(system: &FrictionalSystem, list: &[([f64; 2], f64)]) -> InclusionPath {
        integrate_inclusion(&system.problem().unwrap(), &pieces(list)).unwrap()
    }

    fn assert_close(actual: &[f64], expected: &[f64], tolerance: f64) {
        assert_eq!(actual.len(), expected.len());
        for (a, e) in actual.iter().zip(expected) {
            assert!(
                (a - e).abs() <= tolerance,
                "{actual:?}, expected {expected:?}"
            );
        }
    }

    fn rocking_block() -> FrictionalSystem {
        let config = crate::list::defaults::<super::super::rocking_block::Config>("rocking-block");
        config.system().unwrap()
    }

    fn compass_gait() -> FrictionalSystem {
        let config = crate::list::defaults::<super::super::compass_gait::Config>("compass-gait");
        config.system().unwrap()
    }

    fn box_and_wall() -> FrictionalSystem {
        let config = crate::list::defaults::<super::super::box_and_wall::Config>("box-and-wall");
        config.system().unwrap()
    }

    /// Reference values of an independent implementation; the first is the sequential closed form.
    #[test]
    fn known_paths_end_where_they_should() {
        let block = rocking_block();
        for (list, s, vn_a) in [
            (
                &[([1.0, 0.0], 9.0), ([0.0, 1.0], 9.0)][..],
                0.4894538844467372,
                0.09301838527947041,
            ),
            (
                &[([0.7, 0.3], 9.0)],
                0.4633882929673252,
                0.040887202320646375,
            ),
            (
                &[([0.3, 0.7], 0.1), ([0.9, 0.1], 9.0)],
                0.46831309810781463,
                0.0507368126016251,
            ),
        ] {
            let path = follow(&block, list);
            assert!((path.impulse - s).abs() <= 1e-12, "{} {s}", path.impulse);
            assert_close(path.events.last().unwrap(), &[vn_a, 0.0, 0.0, 0.0], 1e-12);
        }
        let wall = box_and_wall();
        for (list, s, end) in [
            (
                &[([0.1, 0.9], 9.0)][..],
                0.9509750595712468,
                [
                    0.0,
                    0.23499075724734858,
                    0.08118972635695336,
                    0.05575115003288888,
                ],
            ),
            (
                &[([0.0, 1.0], 0.6), ([1.0, 0.0], 0.2), ([0.5, 0.5], 9.0)],
                0.9782690616629831,
                [
                    0.0,
                    0.10416268966062939,
                    0.03598839532760483,
                    0.02471241765899081,
                ],
            ),
        ] {
            let path = follow(&wall, list);
            assert!((path.impulse - s).abs() <= 1e-12, "{} {s}", path.impulse);
            assert_close(path.events.last().unwrap(), &end, 1e-12);
        }
    }

    /// Halm & Posa, Theorem 2, Eq. (41) and Proposition 4 in its explicit form: energy falls on every stretch, and the
    /// length of a path is bounded.
    #[test]
    fn energy_falls_along_a_path_and_its_length_is_bounded() {
        for system in [rocking_block(), compass_gait(), box_and_wall()] {
            let bound = TerminationBounds::new(&system.problem().unwrap(), 1.0, None).unwrap();
            let rows: Vec<DVector<f64>> = system
                .contacts
                .iter()
                .flat_map(|c| [&c.normal, &c.tangent])
                .map(|row| DVector::from_column_slice(row))
                .collect();
            let jacobian = DMatrix::from_columns(&rows).transpose();
            let inverse = system.mass.clone().try_inverse().unwrap();
            let delassus = &jacobian * inverse * jacobian.transpose();
            let solver = delassus.clone().svd(true, true);
            for k in 0..=20 {
                let a = f64::from(k) / 20.0;
                let path = follow(&system, &[([a, 1.0 - a], 0.05), ([1.0 - a, a], 0.07)]);
                assert!(path.impulse <= bound.inclusion_impulse);
                let [first, .., last] = path.events.as_slice() else {
                    panic!("{path:?}");
                };
                let made = DVector::from_column_slice(last) - DVector::from_column_slice(first);
                assert!((&delassus * &path.impulses - made).amax() <= 1e-12);
                for pair in path.events.windows(2) {
                    let [b0, b1] = [0, 1].map(|k| DVector::from_column_slice(&pair[k]));
                    // Impulses that make this change, up to ones that do nothing.
                    let impulse = solver.solve(&(&b1 - &b0), 1e-12).unwrap();
                    assert!((&delassus * &impulse - (&b1 - &b0)).amax() <= 1e-10);
                    // Work is exact for constant rates: mean velocity times impulse.
                    let work = 0.5 * (b0 + b1).dot(&impulse);
                    assert!(work <= 1e-14, "{work}");
                }
            }
        }
    }

    /// Steps with small caps follow the same path.
    #[test]
    fn steps_converge_to_the_path() {
        let system = box_and_wall();
        let exact = follow(&system, &[([0.1, 0.9], 9.0)]);
        for n in [100.0, 400.0] {
            let (caps, mut workspace) = ([0.1 / n, 0.9 / n], StepWorkspace::new());
            let problem = system.problem().unwrap();
            let stepper = ImpactStepper::new(problem.contacts(), None).unwrap();
            let mut velocity = Tangent::from_slice(&system.velocity);
            for _ in 0..2000 {
                let rows = system.contact_velocity(velocity.0.as_slice());
                if rows[0] >= -1e-9 && rows[2] >= -1e-9 {
                    break;
                }
                velocity = stepper
                    .step(&velocity, &caps, None, &mut workspace)
                    .unwrap()
                    .velocity;
            }
            let rows = system.contact_velocity(velocity.0.as_slice());
            // First order, though not monotone.
            assert_close(&rows, exact.events.last().unwrap(), 0.3 / n);
        }
    }

    /// One planar contact: the inclusion is Routh's law.
    #[test]
    fn one_contact_follows_routh() {
        for velocity in [[0.3, -1.0, 0.1], [3.0, -0.5, -1.0], [-0.2, -0.1, 0.4]] {
            let mut system = rocking_block();
            system.contacts.truncate(1);
            system.friction = 0.4;
            system.velocity = velocity.to_vec();
            let piece = RatePiece {
                rates: vec![1.0],
                length: 1.0,
            };
            let problem = system.problem().unwrap();
            let routh = Routh::default().resolve(&problem).unwrap();
            let path = integrate_inclusion(&problem, &[piece]).unwrap();
            assert!((routh.impulses - path.impulses).amax() <= 1e-12);
        }
    }

    /// Ends of paths lie in the set of inelastic outcomes.
    #[test]
    fn paths_of_the_inclusion_are_members() {
        let mut system = rocking_block();
        system.velocity = vec![0.0, -1.0, 0.0];
        for share in [0.1, 0.3, 0.5, 0.8] {
            let pieces = pieces(&[([share, 1.0 - share], 1.0)]);
            let problem = &system.problem().unwrap();
            let path = integrate_inclusion(problem, &pieces).unwrap();
            let momentum = system.contacts.iter().enumerate().fold(
                DVector::zeros(3),
                |sum: DVector<f64>, (i, c)| {
                    sum + DVector::from_column_slice(&c.normal) * path.impulses[2 * i]
                        + DVector::from_column_slice(&c.tangent) * path.impulses[2 * i + 1]
                },
            );
            let change = system.mass.clone().try_inverse().unwrap() * momentum;
            let after = Tangent(DVector::from_column_slice(&system.velocity) + change);
            let judgement = judge(problem, &after, &JudgeOptions::default()).unwrap();
            let set = judgement.outcome_set.unwrap();
            if let Membership::Inside(witness) = &set.membership {
                witness.check(problem, &after).unwrap();
            }
            assert!(
                matches!(set.membership, Membership::Inside(_)),
                "{share}: {set:?}"
            );
        }
    }

    #[test]
    fn a_path_on_which_no_contact_pushes_is_refused() {
        let system = rocking_block();
        for list in [&[][..], &[([0.0, 0.0], 1.0)], &[([1.0, 1.0], 0.0)]] {
            let problem = system.problem().unwrap();
            assert!(integrate_inclusion(&problem, &pieces(list)).is_err());
        }
    }
}
