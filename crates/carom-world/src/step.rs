//! One step of bodies in lasting contact: kick, free flight, kick.
//!
//! 1. Contact rows $J_0$ at the start, $v\leftarrow v + M^{-1}J_0^T\Lambda_0$ with mass matrix $M$, impulses $\Lambda_0$ and gaps
//!    $\Phi$: $0\le\Lambda_n\perp\Phi(\text{end})\ge 0$;
//! 2. the free flight;
//! 3. contact rows $J_1$ at the end, $v\leftarrow v + M^{-1}J_1^T\Lambda_1$ with $0\le\Lambda_n\perp J_nv\ge 0$.
//!
//! Each kick is an impact at a fixed configuration, so its work is exactly $\tfrac12\Lambda\cdot(b^-+b^+)$ with the contact
//! velocities $b^\mp$ before and after it; `losses.rs` defines the part of it that is a loss, `guard.rs` bounds the rest.
//! Friction is Coulomb's in the circular cone. At a contact that slides, friction opposes the slip before the first kick and the
//! slip after the second; at one that sticks, the mean slip of the flight and the slip after it are zero.
//!
//! RATTLE (Andersen, J. Comput. Phys. 52 (1983) 24) with the friction of Moreau (1988) and Jean (1999).

use crate::MotionError;
use crate::body::Velocity;
use crate::kick::{Friction, Kick};
use crate::losses::{self, Begin, Kicked};
use crate::pair::{ContactPoint, Follow};
use crate::rows::Rows;
use crate::step_scene::{Points, StepScene};
use carom_contact::dependent::Dependent;
use carom_variational::State;
use nalgebra::{Vector2, Vector3};

/// A first kick is accepted without full convergence if its last change is within this fraction of the contact velocities.
pub(crate) const SETTLED: f64 = 1e-8;

/// Number of successive iterations without progress after which the iteration of the first kick stops.
pub(crate) const STALE: usize = 6;

/// Largest number of iterations of the first kick.
const MAX_ITERATIONS: usize = 40;

/// Steps up to this fraction of the time step of the grid use rates of gaps instead of differences of gaps.
pub(crate) const SHORT: f64 = 0.0101;

/// Contact velocities below this fraction of the velocities within a step count as zero.
pub(crate) const STILL: f64 = 1e-11;

/// Points whose gap is within this fraction of the contact tolerance count as closed.
pub(crate) const CLOSED: f64 = 1e-3;

/// Largest number of corrections that lift points which the first kick left too deep.
const LIFTS: usize = 8;

/// Method of solution of the first kick; the methods are tried in this order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// Implicit: from the gaps and rates at both ends of the step.
    Implicit,
    /// Explicit: from the rates of a flight without impulses alone.
    Rates,
    /// Without friction: only the normal impulses that keep the points from penetrating. Friction acts in the second kick, which
    /// can only remove energy.
    Lift,
}

/// Contact result of a step for one pair.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairStep {
    /// Normal impulse of both kicks (N s).
    pub(crate) pressed: f64,
    /// Normal impulse of the first kick (N s).
    pub(crate) pressed_first: f64,
    /// True if every point of the pair has separated at the end.
    pub(crate) open: bool,
    /// True if a point with normal force slides at the end.
    pub(crate) slides: bool,
    /// Impulse of both kicks on the first body, in space (N s).
    pub(crate) impulse: Vector3<f64>,
    /// Gap of the pair at the end, over all features (m).
    pub(crate) gap: f64,
    /// Largest unexplained normal speed of a point that was closed and at rest, divided by the speed that accelerations within
    /// the step can produce. Unexplained is the speed with which the first kick lifts the point, and the excess of its speed of
    /// return at the second kick over that speed. A value above 1 means that the closest point has jumped to another feature of
    /// the pair, which the first kick holds off or which lands in the second.
    pub(crate) lifted: f64,
}

/// Result of one step of an island.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Length (s).
    pub(crate) length: f64,
    /// States after the first kick, at the start of the flight.
    pub(crate) launched: Vec<State>,
    /// States after the second kick.
    pub(crate) end: Vec<State>,
    pub(crate) pairs: Vec<PairStep>,
    /// Work of the kicks (J).
    pub(crate) work: f64,
    /// Energy lost in friction and at landing points (J). The rest of the work is the error of the step.
    pub(crate) loss: f64,
    /// Smallest slip along its initial direction that is left at the end to a contact that slid at the start (m/s); negative if
    /// sliding friction would reverse the slip.
    pub(crate) slip_left: f64,
    /// Impulses of the first and second kick (N s), the initial guess of the next step.
    pub(crate) impulses: [Vec<f64>; 2],
}

impl Step {
    /// Returns a copy of this step with another length (s): impulses, work and loss change in proportion, so that the forces stay
    /// equal. Valid only for a step at whose end all bodies have the states of its start.
    pub(crate) fn stretched(&self, length: f64) -> Self {
        let share = length / self.length;
        let mut out = self.clone();
        out.length = length;
        out.work *= share;
        out.loss *= share;
        for pair in &mut out.pairs {
            pair.pressed *= share;
            pair.pressed_first *= share;
            pair.impulse *= share;
        }
        out
    }
}

impl StepScene<'_> {
    fn fly(&self, states: &[State], h: f64) -> Result<Vec<State>, MotionError> {
        let flights = self.bodies.iter().zip(states);
        flights
            .map(|(body, state)| {
                self.flights
                    .advance(body, state, h)
                    .map_err(|source| MotionError::Flight {
                        body: body.name.clone(),
                        time: self.time,
                        source,
                    })
            })
            .collect()
    }

    fn velocities(&self, states: &[State]) -> Vec<Velocity> {
        let all = self.bodies.iter().zip(states);
        all.map(|(body, state)| Velocity::of(body, state)).collect()
    }

    /// Computes one step of length `h` (s) of bodies in lasting contact: impulses at the start, free flight, impulses at the end.
    /// `states`: states before the first impulses; `guess`: initial guess of both sets of impulses (N s).
    ///
    /// Contacts that jam each other may have several solutions or none, and some solutions add energy. A solution whose work
    /// exceeds the truncation error of the scheme is rejected, and the next method of [`Way`] is used.
    pub(crate) fn step(
        &self,
        states: &[State],
        h: f64,
        guess: Option<&[Vec<f64>; 2]>,
    ) -> Result<Step, MotionError> {
        let most = self.most_gain(states, h);
        for way in [Way::Implicit, Way::Rates] {
            if let Ok(step) = self.step_by(way, states, h, guess)
                && step.work <= most
            {
                return Ok(step);
            }
        }
        self.step_by(Way::Lift, states, h, guess)
    }

    #[expect(
        clippy::too_many_lines,
        reason = "to be rebuilt: starts, sweeps and events of a step in one loop"
    )]
    fn step_by(
        &self,
        way: Way,
        states: &[State],
        h: f64,
        guess: Option<&[Vec<f64>; 2]>,
    ) -> Result<Step, MotionError> {
        let failed = || MotionError::ContactForces { time: self.time };
        let start = self.start(states);
        let rows = 3 * start.points.len();
        let of_start = |which: usize| match guess {
            Some(both) if both[which].len() == rows => both[which].clone(),
            _ => vec![0.0; rows],
        };
        let mut first = of_start(0);
        let (mut mobility, mut before, mut after) = (Vec::new(), Vec::new(), Vec::new());
        start.rows.mobility(&mut mobility);
        start.rows.velocities(&self.velocities(states), &mut before);
        let scale =
            before.iter().fold(0.0, |s: f64, x| s.max(x.abs())) + self.flights.gravity.norm() * h;
        let slip_of = |velocities: &[f64], c: usize| {
            let at = |k: usize| velocities.get(3 * c + k).copied().unwrap_or_default();
            Vector2::new(at(1), at(2))
        };
        let friction_of = |c: usize| {
            let pair = start
                .points
                .get(c)
                .and_then(|(index, _)| self.pairs.get(*index));
            pair.map_or(0.0, |pair| pair.friction)
        };
        let contacts = start.points.len();
        // Rounding of gaps and of velocities: first the sizes that are rounded, then their rounding.
        let (mut noise, mut speed_noise) = (0.0_f64, 0.0_f64);
        for (body, (state, velocity)) in self
            .bodies
            .iter()
            .zip(states.iter().zip(self.velocities(states)))
        {
            noise = noise.max(state.position.amax() + body.radius);
            let speed = velocity.linear.norm() + velocity.angular.norm() * body.radius;
            speed_noise = speed_noise.max(speed);
        }
        // Impacts that end in sticking leave slips of this order.
        let still = STILL * scale + 1e-10 * speed_noise;
        speed_noise *= 16.0 * f64::EPSILON;
        let is_short = h <= SHORT * self.time_step;
        let noise = match is_short {
            true => speed_noise,
            false => 16.0 * f64::EPSILON * noise / h,
        };
        // A penetration at the start is removed over one time step of the grid, so only in part over a shorter step.
        let return_share = (1.0 - h / self.time_step).max(0.0);
        // At contacts that slide, friction opposes the slip at the start.
        let rubbed: Vec<(f64, Friction)> = (0..contacts)
            .map(|c| {
                let (mu, slip) = (friction_of(c), slip_of(&before, c));
                let friction = match (mu > 0.0, slip.norm() > still) {
                    (false, _) => Friction::Frictionless,
                    (true, true) => Friction::Against(slip / slip.norm()),
                    (true, false) => Friction::Coulomb,
                };
                (mu, friction)
            })
            .collect();
        let implicit: Vec<(f64, Friction)> = rubbed
            .iter()
            .map(|(mu, friction)| match friction {
                Friction::Frictionless => (*mu, *friction),
                _ => (*mu, Friction::Coulomb),
            })
            .collect();
        // Rows whose velocities are prescribed: normals, and tangents of sticking contacts.
        let counted = (0..rows).filter(|row| {
            let law = rubbed.get(row / 3).map(|(_, law)| *law);
            row % 3 == 0 || law == Some(Friction::Coulomb)
        });
        let dependent = Dependent::new(&mobility, rows, counted.collect());
        let mut laws = rubbed.clone();
        // First kick.
        let mut launched = states.to_vec();
        let mut landed = states.to_vec();
        let mut end = self.moved(&start, states);
        let (mut begin_velocities, mut end_velocities) = (Vec::new(), Vec::new());
        let mut last = f64::INFINITY;
        let mut iteration = match way {
            Way::Implicit => 0,
            Way::Rates => MAX_ITERATIONS,
            Way::Lift => MAX_ITERATIONS + 1,
        };
        if way == Way::Lift {
            first.fill(0.0);
        }
        let (mut least, mut stale) = (f64::INFINITY, 0);
        while iteration < MAX_ITERATIONS + 2 {
            iteration += 1;
            // For contacts that jam the iteration may find no impulses. A single solution, for the rates of a flight without
            // impulses, adds energy of the order of a step at most; the penetration that remains is lifted afterwards.
            let unsettled = iteration > MAX_ITERATIONS;
            if iteration == MAX_ITERATIONS + 1 {
                first.fill(0.0);
                laws.clone_from(&implicit);
            }
            launched.copy_from_slice(states);
            start.rows.apply(&first, &mut launched);
            landed = self.fly(&launched, h)?;
            end = self.moved(&start, &landed);
            start
                .rows
                .velocities(&self.velocities(&launched), &mut begin_velocities);
            end.rows
                .velocities(&self.velocities(&landed), &mut end_velocities);
            if iteration == MAX_ITERATIONS + 2 {
                break;
            }
            // Mean rates without the impulses; the change of the rows during the flight is neglected.
            let mut velocity = vec![0.0; rows];
            for (c, (_, point)) in end.points.iter().enumerate() {
                // In a short step the rounding of gaps divided by the length would be a large velocity.
                let before = start.points.get(c).map_or(0.0, |(_, p)| p.gap);
                velocity[3 * c] = if is_short {
                    0.5 * (begin_velocities[3 * c] + end_velocities[3 * c])
                } else {
                    (point.gap - before.max(0.0) - before.min(0.0) * return_share) / h
                };
                for k in 3 * c + 1..3 * c + 3 {
                    velocity[k] = 0.5 * (begin_velocities[k] + end_velocities[k]);
                }
            }
            if unsettled {
                // Mobility and velocities use equal rows: otherwise the impulses would have to balance the rotation of the rows.
                let (from, to) = (self.velocities(&launched), self.velocities(&landed));
                let mean: Vec<Velocity> = from
                    .iter()
                    .zip(&to)
                    .map(|(a, b)| Velocity {
                        linear: (a.linear + b.linear) * 0.5,
                        angular: (a.angular + b.angular) * 0.5,
                    })
                    .collect();
                start.rows.velocities(&mean, &mut velocity);
            }
            for (i, v) in velocity.iter_mut().enumerate() {
                let row = mobility.iter().skip(i * rows).take(rows);
                *v -= row.zip(&first).map(|(w, x)| w * x).sum::<f64>();
            }
            dependent.make_consistent(&mut velocity);
            // A point with a positive gap may approach by that gap within the step, independently of the other points.
            for (c, (_, point)) in start.points.iter().enumerate() {
                velocity[3 * c] += point.gap.max(0.0) / h;
            }
            let mut next = first.clone();
            let solve = |friction: &[(f64, Friction)], next: &mut Vec<f64>| {
                let kick = Kick {
                    mobility: &mobility,
                    velocity: &velocity,
                    friction,
                    noise,
                    work: &self.work,
                };
                kick.solve(next)
            };
            // Friction along the slip at the start can jam contacts that press each other, or reverse a slip; friction then
            // follows the resulting slip (implicit), which has a solution.
            let mut found = false;
            loop {
                let mut tried = first.clone();
                let mut solved = solve(&laws, &mut tried);
                if !solved && laws != implicit {
                    laws.clone_from(&implicit);
                    tried.copy_from_slice(&first);
                    solved = solve(&laws, &mut tried);
                }
                if !solved {
                    break;
                }
                found = true;
                next.copy_from_slice(&tried);
                let mut turned = false;
                for (c, (_, law)) in laws.iter_mut().enumerate() {
                    let Friction::Against(slip) = *law else {
                        continue;
                    };
                    let moved = |row: usize| {
                        let entries = mobility.iter().skip(row * rows).take(rows);
                        velocity[row] + entries.zip(&next).map(|(w, x)| w * x).sum::<f64>()
                    };
                    let mean = Vector2::new(moved(3 * c + 1), moved(3 * c + 2));
                    if next[3 * c] > 0.0 && slip.dot(&mean) < -still {
                        *law = Friction::Coulomb;
                        turned = true;
                    }
                }
                if !turned {
                    break;
                }
            }
            if !found {
                if !unsettled {
                    iteration = MAX_ITERATIONS;
                    continue;
                }
                // The second kick handles approaching contacts.
                next.fill(0.0);
            }
            let mut change: f64 = 0.0;
            for i in 0..rows {
                let row = mobility.iter().skip(i * rows).take(rows);
                let moved: f64 = row
                    .zip(next.iter().zip(&first))
                    .map(|(w, (x, y))| w * (x - y))
                    .sum();
                change = change.max(moved.abs());
            }
            if change <= 0.7 * least {
                (least, stale) = (change, 0);
            } else {
                stale += 1;
            }
            let ends = stale >= STALE || iteration == MAX_ITERATIONS;
            let converged = change <= 4.0 * f64::EPSILON * scale + 0.05 * noise
                || (change <= 1e-13 * scale && change >= last)
                || (ends && change <= SETTLED * scale);
            // The accepted impulses are those with which the bodies were launched.
            if converged && !unsettled {
                break;
            }
            if ends && iteration < MAX_ITERATIONS {
                iteration = MAX_ITERATIONS;
                continue;
            }
            last = change;
            first = next;
        }
        if !last.is_finite() && rows > 0 && launched.iter().any(|s| !is_finite(s)) {
            return Err(failed());
        }
        if iteration > MAX_ITERATIONS {
            for _ in 0..LIFTS {
                let depth =
                    |(at_end, at_start): (&(usize, ContactPoint), &(usize, ContactPoint))| {
                        let rate = (at_end.1.gap - at_start.1.gap.min(0.0) * return_share) / h;
                        [rate.min(0.0), 0.0, 0.0]
                    };
                let velocity: Vec<f64> = end
                    .points
                    .iter()
                    .zip(&start.points)
                    .flat_map(depth)
                    .collect();
                if velocity.iter().all(|rate| *rate >= -noise) {
                    break;
                }
                let mut lift = vec![0.0; rows];
                let kick = Kick {
                    mobility: &mobility,
                    velocity: &velocity,
                    friction: &vec![(0.0, Friction::Frictionless); contacts],
                    noise,
                    work: &self.work,
                };
                if !kick.solve(&mut lift) {
                    break;
                }
                for (impulse, lift) in first.iter_mut().zip(&lift) {
                    *impulse += lift;
                }
                launched.copy_from_slice(states);
                start.rows.apply(&first, &mut launched);
                landed = self.fly(&launched, h)?;
                end = self.moved(&start, &landed);
                let velocities = self.velocities(&launched);
                start.rows.velocities(&velocities, &mut begin_velocities);
            }
        }
        // Second kick, for the closed contacts.
        let mut closed = Vec::new();
        let mut second_points = Points {
            rows: Rows::default(),
            points: Vec::new(),
        };
        for (c, (index, point)) in end.points.iter().enumerate() {
            let Some(pair) = self.pairs.get(*index) else {
                continue;
            };
            let held = first.get(3 * c).is_some_and(|x| *x > 0.0);
            if held || point.gap <= CLOSED * pair.tolerance {
                closed.push(c);
                self.push(&mut second_points, *index, *point, &landed);
            }
        }
        let mut velocity = Vec::new();
        second_points.rows.mobility(&mut mobility);
        second_points
            .rows
            .velocities(&self.velocities(&landed), &mut velocity);
        let coulomb: Vec<(f64, Friction)> = closed
            .iter()
            .map(|c| match friction_of(*c) {
                0.0 => (0.0, Friction::Frictionless),
                mu => (mu, Friction::Coulomb),
            })
            .collect();
        let warm = of_start(1);
        let mut second: Vec<f64> = closed
            .iter()
            .flat_map(|c| warm.iter().skip(3 * c).take(3).copied())
            .collect();
        let kick = Kick {
            mobility: &mobility,
            velocity: &velocity,
            friction: &coulomb,
            noise: speed_noise,
            work: &self.work,
        };
        if !kick.solve(&mut second) {
            return Err(failed());
        }
        let mut states_end = landed.clone();
        second_points.rows.apply(&second, &mut states_end);
        second_points
            .rows
            .velocities(&self.velocities(&states_end), &mut after);
        let start_kick = Kicked {
            impulses: &first,
            before: &before,
            after: &begin_velocities,
        };
        let end_kick = Kicked {
            impulses: &second,
            before: &velocity,
            after: &after,
        };
        let work = start_kick.total() + end_kick.total();
        let of = |c: usize| {
            let (index, point) = start.points.get(c)?;
            Some((self.pairs.get(*index)?, point.gap))
        };
        let begins: Vec<Begin> = (0..contacts)
            .map(|c| Begin {
                friction: rubbed
                    .get(c)
                    .map_or(Friction::Frictionless, |(_, law)| *law),
                closed: of(c).is_some_and(|(pair, gap)| gap <= CLOSED * pair.tolerance),
                gathered: of(c).map_or(0.0, |(pair, _)| self.gathered(pair, states, h)),
                second: closed.iter().position(|place| *place == c),
            })
            .collect();
        let loss = losses::loss(&begins, &start_kick, &end_kick, still);
        // Slip that would remain if friction stayed that of sliding.
        let mut slip_left = f64::INFINITY;
        for (place, c) in closed.iter().enumerate() {
            if let Some((_, Friction::Against(slip))) = rubbed.get(*c)
                && second.get(3 * place).is_some_and(|n| *n > 0.0)
            {
                slip_left = slip_left.min(slip.dot(&slip_of(&after, place)));
            }
        }
        let stops = closed.iter().enumerate().any(|(place, c)| {
            let Some((_, Friction::Against(slip))) = rubbed.get(*c) else {
                return false;
            };
            second.get(3 * place).is_some_and(|n| *n > 0.0)
                && slip.dot(&slip_of(&after, place)) <= still
        });
        if stops {
            let against: Vec<(f64, Friction)> = closed
                .iter()
                .zip(&coulomb)
                .map(|(c, law)| match rubbed.get(*c) {
                    Some((mu, friction @ Friction::Against(_))) => (*mu, *friction),
                    _ => *law,
                })
                .collect();
            let mut sliding = second.clone();
            let kick = Kick {
                mobility: &mobility,
                velocity: &velocity,
                friction: &against,
                noise: speed_noise,
                work: &self.work,
            };
            if kick.solve(&mut sliding) {
                let mut reversed = landed.clone();
                second_points.rows.apply(&sliding, &mut reversed);
                let mut velocities = Vec::new();
                second_points
                    .rows
                    .velocities(&self.velocities(&reversed), &mut velocities);
                for (place, c) in closed.iter().enumerate() {
                    if let Some((_, Friction::Against(slip))) = rubbed.get(*c) {
                        slip_left = slip_left.min(slip.dot(&slip_of(&velocities, place)));
                    }
                }
            }
        }
        let mut pairs = vec![
            PairStep {
                open: true,
                ..PairStep::default()
            };
            self.pairs.len()
        ];
        for (c, (index, _)) in start.points.iter().enumerate() {
            if let Some(pair) = pairs.get_mut(*index) {
                let normal = first.get(3 * c).copied().unwrap_or_default();
                pair.pressed += normal;
                pair.pressed_first += normal;
                pair.impulse += start.rows.impulse(c, &first);
            }
        }
        for (place, (index, _)) in second_points.points.iter().enumerate() {
            if let Some(pair) = pairs.get_mut(*index) {
                let normal = second.get(3 * place).copied().unwrap_or_default();
                let leaves = after.get(3 * place).is_some_and(|rate| *rate > still);
                pair.pressed += normal;
                pair.open &= leaves;
                pair.slides |= !leaves && slip_of(&after, place).norm() > still;
                pair.impulse += second_points.rows.impulse(place, &second);
            }
        }
        let gaps = self.gaps(&states_end);
        for ((pair, result), gap) in self.pairs.iter().zip(&mut pairs).zip(gaps) {
            result.gap = gap;
            if pair.friction == 0.0 {
                result.slides = true;
            }
        }
        for (c, (begin, (index, point))) in begins.iter().zip(&start.points).enumerate() {
            let rested = begin.closed && start_kick.before[3 * c].abs() <= still;
            if let Some(pair) = pairs.get_mut(*index)
                && rested
                && matches!(point.follow, Follow::Closest | Follow::OnEdges { .. })
                && begin.gathered > 0.0
            {
                let leaves = start_kick.after[3 * c];
                let back = begin
                    .second
                    .map_or(0.0, |place| -end_kick.before[3 * place]);
                let unlike = leaves.max(back - leaves.abs());
                pair.lifted = pair.lifted.max(unlike / begin.gathered);
            }
        }
        let mut of_end = vec![0.0; rows];
        for (place, c) in closed.iter().enumerate() {
            for k in 0..3 {
                if let (Some(to), Some(from)) =
                    (of_end.get_mut(3 * c + k), second.get(3 * place + k))
                {
                    *to = *from;
                }
            }
        }
        if let Some(place) = states_end.iter().position(|s| !is_finite(s)) {
            let body = self
                .bodies
                .get(place)
                .map(|b| b.name.clone())
                .unwrap_or_default();
            return Err(MotionError::NonFinite {
                body,
                time: self.time,
            });
        }
        Ok(Step {
            length: h,
            launched,
            end: states_end,
            pairs,
            work,
            loss,
            slip_left,
            impulses: [first, of_end],
        })
    }
}

pub(crate) fn is_finite(state: &State) -> bool {
    let all = [
        &state.position,
        &state.linear_momentum,
        &state.angular_momentum,
    ];
    all.iter().all(|v| v.iter().all(|x| x.is_finite()))
}
