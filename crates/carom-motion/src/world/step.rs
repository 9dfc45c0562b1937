//! One step of bodies in lasting contact: kick, free flight, kick.
//!
//! 1. rows $J_0$ at the start, $v\leftarrow v + M^{-1}J_0^T\Lambda_0$ with
//!    $0\le\Lambda_n\perp\Phi(\text{end})\ge 0$;
//! 2. the ordinary flight;
//! 3. rows $J_1$ there, $v\leftarrow v + M^{-1}J_1^T\Lambda_1$ with $0\le\Lambda_n\perp J_nv\ge 0$.
//!
//! Each kick is an impact at a fixed configuration, so its work is $\tfrac12\Lambda\cdot(b^-+b^+)$
//! exactly; how much of it is a loss says `losses.rs`, and how much the rest may be `guard.rs`. Friction is Coulomb's in the round cone. A contact that slides is rubbed against its slip
//! before the first kick and after the second; one that sticks has no slip on the average of the flight
//! and none after it.
//!
//! RATTLE (Andersen, J. Comput. Phys. 52 (1983) 24) with the friction of Moreau (1988) and Jean (1999).

use crate::world::MotionError;
use crate::world::body::Velocity;
use crate::world::dependent::Dependent;
use crate::world::kick::{Friction, Kick};
use crate::world::losses::{self, Begin, Kicked};
use crate::world::pair::{ContactPoint, Follow};
use crate::world::rows::Rows;
use crate::world::step_scene::{Points, StepScene};
use carom_variational::State;
use nalgebra::{Vector2, Vector3};

/// A first kick that has settled to this fraction of the velocities is taken.
pub(crate) const SETTLED: f64 = 1e-8;

/// Iterations in a row that brought it no nearer to that, before it is given up.
pub(crate) const STALE: usize = 6;

/// Iterations for the first kick.
const MAX_ITERATIONS: usize = 40;

/// Steps up to this fraction of the grid's take rates of gaps instead of their differences.
pub(crate) const SHORT: f64 = 0.0101;

/// Contact velocities below this fraction of the motion in a step count as zero.
pub(crate) const STILL: f64 = 1e-11;

/// Points whose gap is within this fraction of the contact tolerance are closed.
pub(crate) const CLOSED: f64 = 1e-3;

/// Passes that lift what the first kick left too deep.
const LIFTS: usize = 8;

/// Method that finds the impulses of the first kick.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// From the gaps and rates at both ends of the step.
    Implicit,
    /// From the rates at its start alone.
    Rates,
    /// Without friction, and only as much as keeps the points from sinking in: friction is left to the
    /// second kick, which only takes energy.
    Lift,
}

/// Results of a step about a pair.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PairStep {
    /// Normal impulse of both kicks (N s).
    pub(crate) pressed: f64,
    /// Normal impulse of the first kick (N s).
    pub(crate) pressed_first: f64,
    /// True if every point has opened at the end.
    pub(crate) open: bool,
    /// True if a pressed point slides at the end.
    pub(crate) slides: bool,
    /// Impulse of both kicks on the first body, in space (N s).
    pub(crate) impulse: Vector3<f64>,
    /// Gap at the end, of all features (m).
    pub(crate) gap: f64,
    /// Largest rate at which the first kick lifts a point that was closed and at rest, or by which the point comes back
    /// to the second kick faster than it left, over what accelerations within the step can make. More than 1 is another
    /// feature of the pair, to which the closest point jumps: held off by the first kick, or landing in the second.
    pub(crate) lifted: f64,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Length (s).
    pub(crate) length: f64,
    /// States after the first kick: from here the bodies fly.
    pub(crate) launched: Vec<State>,
    /// States after the second kick.
    pub(crate) end: Vec<State>,
    pub(crate) pairs: Vec<PairStep>,
    /// Work of the kicks (J).
    pub(crate) work: f64,
    /// Energy that friction and landing points took (J): what is left of the work is the error of the step.
    pub(crate) loss: f64,
    /// Smallest slip along its old direction that is left to a contact that slid at the start; below 0 if
    /// the friction of sliding would reverse it (m/s).
    pub(crate) slip_left: f64,
    /// Impulses of the first and second kick, for the next start.
    pub(crate) impulses: [Vec<f64>; 2],
}

impl Step {
    /// The forces for another time, if the step ends where it began.
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

    /// A step of length `h` from states before the first kick, with impulses to start from.
    ///
    /// Contacts that jam each other may have several impulses or none, and some would give the bodies energy:
    /// a step that gains more than its order makes is not taken.
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
        // Rounding of gaps and of velocities.
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
        // Impacts leave slips of this order where they leave none.
        let still = STILL * scale + 1e-10 * speed_noise;
        speed_noise *= 16.0 * f64::EPSILON;
        let is_short = h <= SHORT * self.time_step;
        let noise = match is_short {
            true => speed_noise,
            false => 16.0 * f64::EPSILON * noise / h,
        };
        // A gap that is too deep comes back in a step of the grid.
        let return_share = (1.0 - h / self.time_step).max(0.0);
        // Contacts that slide are rubbed against the slip that they have.
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
        // Rows whose velocities count.
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
            // Contacts that jam may have no impulses that the iteration finds. One solution for the
            // rates of a flight without impulses gives energy of the order of a step at most; what it leaves of
            // the gaps is lifted after it.
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
            // Mean rates without the impulses, as if the flight did not change the rows.
            let mut velocity = vec![0.0; rows];
            for (c, (_, point)) in end.points.iter().enumerate() {
                // In a short step the rounding of gaps would be worth any speed.
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
                // Both use equal rows: otherwise the change by their turning would have to be pressed away.
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
            // A point above the other body may come down to it, whatever the others do.
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
            // Friction against the slip that was can jam contacts that press each other, or turn a slip
            // back: then it is against the slip that will be, which has a solution.
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
                // Pressing contacts are left to the second kick.
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
            // The impulses are those that the bodies were launched with.
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
        // Second kick: contacts that are closed.
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
        // Slip that the friction of sliding alone would leave.
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
