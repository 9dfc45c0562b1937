//! Semismooth Newton method with minimum-norm steps.

use super::ConeMode;
use super::least_norm::{LeastNorm, RANK_TOLERANCE};
use super::problem::WIDTH;
use super::residual::onto_disc;
use carom_numeric::kernel::{larger, norm};

/// Largest number of Newton steps from one starting point; three or four are usual.
pub(super) const MAX_STEPS: usize = 30;

/// Largest number of halvings of a step that does not lower the error.
const MAX_HALVINGS: usize = 12;

/// An error below this fraction of the velocities and impulses counts as rounding error.
const ROUNDING: f64 = 2e-15;

/// When a point near a continuum of solutions is refined, pivots below this fraction of the largest count as
/// zero: they belong to directions along the continuum.
const HARDLY_SEEN: f64 = 1e-6;

/// Newton's steps end at this fraction of an error that is good enough: where that is the rounding error of gaps over a
/// time step, it cannot be told from zero.
const ENOUGH: f64 = 1e-3;

/// Pivots below this fraction of the largest count as zero if weak directions are left out: contacts that share a load
/// nearly depend on each other, and velocities that differ by rounding would cause large impulses between them.
const NEARLY_DEPENDENT: f64 = 1e-7;

/// Tolerance, as a fraction of the velocities, around the boundary between two smooth pieces of the projection.
/// Within it a contact counts as open rather than closed, and as sticking rather than sliding. Dependent
/// contacts are often on such a boundary, and rounding errors must not decide which piece is used.
const TIE: f64 = 1e-12;

/// Scaled problem: diagonal entries of normals are one, and the mean diagonal entry of each contact's tangents
/// is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaled {
    pub(super) n: usize,
    /// Delassus matrix, column-major.
    pub(super) matrix: Vec<f64>,
    /// Velocities before the impact; those of normals times $1 + e$.
    pub(super) velocity: Vec<f64>,
    pub(super) friction: Vec<f64>,
    pub(super) caps: Vec<f64>,
    pub(super) floors: Vec<f64>,
    /// Prescribed slip directions (unit vectors).
    pub(super) slips: Vec<Option<[f64; 2]>>,
    /// Quotients of unscaled and scaled impulses, one per row.
    pub(super) factors: Vec<f64>,
    /// Diagonal of the matrix without compliance, and diagonal of $D$, the compliance of equally compliant
    /// contacts.
    pub(super) rigid: Vec<f64>,
    pub(super) compliance: Vec<f64>,
}

impl Scaled {
    pub(super) fn n_contacts(&self) -> usize {
        self.friction.len()
    }

    pub(super) fn column(&self, j: usize) -> &[f64] {
        &self.matrix[j * self.n..(j + 1) * self.n]
    }

    /// Returns the velocity scale of the scaled problem: the largest normal or tangential velocity of a contact before the
    /// impact, or the largest floor. A floor is the least normal impulse of a contact. In scaled rows a floor equals the
    /// velocity change that it causes at its own contact. The scale does not depend on the tangent axes.
    pub(super) fn speed(&self) -> f64 {
        self.floors
            .iter()
            .copied()
            .fold(largest(&self.velocity), f64::max)
    }

    /// Makes the contacts compliant: sets the matrix to $G + \epsilon D$, with the compliance $\epsilon$ = `epsilon`,
    /// the scaled Delassus matrix $G$ and a positive diagonal matrix $D$. With `epsilon` = 0 the contacts are rigid.
    pub(super) fn soften(&mut self, epsilon: f64) {
        let diagonal = self.rigid.iter().zip(&self.compliance);
        for (i, (g, d)) in diagonal.enumerate() {
            self.matrix[i * self.n + i] = g + epsilon * d;
        }
    }

    /// Computes the velocities after the impulses: $b + G\lambda$, with the scaled velocities $b$ before the
    /// impact, the scaled Delassus matrix $G$ and $\lambda$ = `impulse`.
    pub(super) fn after(&self, impulse: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(&self.velocity);
        for (j, l) in impulse.iter().enumerate() {
            if *l != 0.0 {
                for (x, g) in out.iter_mut().zip(self.column(j)) {
                    *x += l * g;
                }
            }
        }
    }
}

/// Smooth piece of the projection on which a contact lies.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) enum Piece {
    #[default]
    Open,
    /// Tangential impulse inside the disc. `is_bound`: the normal impulse is at its cap or floor.
    Stick { is_bound: bool },
    /// Tangential impulse on the edge of the disc, in a `direction` (unit vector). `ratio` is the radius of the
    /// disc divided by the length of the vector that is projected.
    Slide {
        is_bound: bool,
        direction: [f64; 2],
        ratio: f64,
        friction: f64,
    },
    /// Closed contact without friction.
    Smooth { is_bound: bool },
    /// Closed contact whose tangential impulse is the normal impulse times `drag`, because its slip direction is
    /// prescribed. Its only unknown is the normal impulse.
    Prescribed { is_bound: bool, drag: [f64; 2] },
}

impl Piece {
    /// Returns the number of unknown impulses of a closed contact whose equations have this form (piece): one if its
    /// slip direction is prescribed, else three.
    fn width(self) -> usize {
        match self {
            Self::Prescribed { .. } => 1,
            _ => WIDTH,
        }
    }
}

/// Impulses, the velocities after them, and the residual of the equations.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) impulse: Vec<f64>,
    after: Vec<f64>,
    pub(super) error: Vec<f64>,
    pub(super) pieces: Vec<Piece>,
    pub(super) norm: f64,
}

impl Point {
    /// Evaluates the contact equations at the impulses of this point: the velocities after the impulses, the errors of
    /// the equations, and for each contact the smooth piece of the equations (open, sticking or sliding) that applies.
    /// `speed` is the velocity scale, to which the tolerance between two pieces is relative.
    pub(super) fn evaluate(&mut self, system: &Scaled, speed: f64) {
        let tie = TIE * speed;
        system.after(&self.impulse, &mut self.after);
        self.error.clear();
        self.pieces.clear();
        let mut squares = 0.0;
        let contacts = self
            .impulse
            .chunks_exact(WIDTH)
            .zip(self.after.chunks_exact(WIDTH));
        let limits = system.floors.iter().zip(&system.caps);
        let limits = system.friction.iter().zip(limits).zip(&system.slips);
        for ((l, u), ((friction, (floor, cap)), slip)) in contacts.zip(limits) {
            let (&[l0, l1, l2], &[u0, u1, u2]) = (l, u) else {
                continue;
            };
            let free = l0 - u0;
            let normal = free.clamp(floor.min(*cap), *cap);
            let is_open = *floor == 0.0 && free <= tie;
            let is_bound = free >= *cap || *floor > 0.0 && free <= floor + tie;
            let radius = friction * normal;
            let (x, y) = (l1 - u1, l2 - u2);
            let drag = slip.map(|[x, y]| [-friction * x, -friction * y]);
            let (px, py) = match drag {
                Some([x, y]) => (normal * x, normal * y),
                None => onto_disc(x, y, radius),
            };
            let piece = if is_open {
                Piece::Open
            } else if let Some(drag) = drag {
                Piece::Prescribed { is_bound, drag }
            } else if *friction == 0.0 {
                Piece::Smooth { is_bound }
            } else if norm(&[x, y]) <= radius + tie {
                Piece::Stick { is_bound }
            } else {
                let distance = norm(&[x, y]);
                Piece::Slide {
                    is_bound,
                    direction: [x / distance, y / distance],
                    ratio: radius / distance,
                    friction: *friction,
                }
            };
            let error = [l0 - normal, l1 - px, l2 - py];
            squares += error[0] * error[0] + error[1] * error[1] + error[2] * error[2];
            self.error.extend_from_slice(&error);
            self.pieces.push(piece);
        }
        self.norm = squares.sqrt();
    }
}

/// Newton's method with its work space.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    here: Point,
    trial: Point,
    step: Vec<f64>,
    active: Vec<usize>,
    rhs: Vec<f64>,
    linear: LeastNorm,
    /// Error that is good enough, in scaled units, in addition to the goal of a run.
    tolerance: f64,
}

impl Newton {
    /// Runs Newton's method for the contact equations from the impulses `start` with at most `max_steps` steps. Returns
    /// a flag and the number of steps made. The flag is true if the error fell to `goal` times the size of the impulses
    /// and velocities, or to the tolerance that was set for this purpose. The best impulses found are returned by
    /// [`impulse`](Self::impulse).
    pub(super) fn run(
        &mut self,
        system: &Scaled,
        start: &[f64],
        goal: f64,
        max_steps: usize,
    ) -> (bool, usize) {
        self.linear.forget();
        self.here.impulse.clear();
        self.here.impulse.extend_from_slice(start);
        let speed = system.speed();
        self.here.evaluate(system, speed);
        let mut n_steps = 0;
        loop {
            let size = speed.max(largest(&self.here.impulse));
            let is_good = self.here.norm <= (goal * size).max(self.tolerance);
            if !self.here.norm.is_finite() || n_steps == max_steps {
                return (is_good, n_steps);
            }
            if self.here.norm <= (ROUNDING * size).max(ENOUGH * self.tolerance) {
                return (true, n_steps);
            }
            n_steps += 1;
            self.direction(system);
            let before = self.here.norm;
            if !self.search(system, speed) {
                return (is_good, n_steps);
            }
            if is_good && self.here.norm > 0.1 * before {
                return (true, n_steps);
            }
        }
    }

    /// Refines an approximate solution that lies near a continuum of solutions, without moving along the continuum:
    /// directions in which the equations hardly change are excluded from the Newton steps. Returns a flag and the
    /// number of steps made. The flag is true if the error fell to `goal` times the size of the impulses and
    /// velocities.
    pub(super) fn polish(&mut self, system: &Scaled, start: &[f64], goal: f64) -> (bool, usize) {
        self.linear.tolerance = HARDLY_SEEN;
        let result = self.run(system, start, goal, MAX_STEPS);
        self.linear.tolerance = RANK_TOLERANCE;
        result
    }

    /// Sets an error `tolerance`, in scaled units, that is good enough for the next runs of Newton's method. Below this
    /// error, further steps are made only while they reduce the error considerably, and not below the fraction
    /// [`ENOUGH`] of `tolerance`. With 0 only the goals of the runs count.
    pub(super) fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
    }

    /// Chooses if the next runs of Newton's method leave out directions in which impulses hardly change the contact
    /// equations (true) or include them (false). If the directions are left out, pivots below [`NEARLY_DEPENDENT`]
    /// count as zero, and large systems are regularized.
    pub(super) fn leave_out_weak(&mut self, is_left_out: bool) {
        self.linear.is_regularized = is_left_out;
        self.linear.tolerance = if is_left_out {
            NEARLY_DEPENDENT
        } else {
            RANK_TOLERANCE
        };
    }

    /// Returns the scaled impulses that the last run of Newton's method reached.
    pub(super) fn impulse(&self) -> &[f64] {
        &self.here.impulse
    }

    /// Writes the mode of each contact at the impulses reached: open, sticking or sliding.
    pub(super) fn modes(&self, out: &mut Vec<ConeMode>) {
        out.clear();
        out.extend(self.here.pieces.iter().map(|piece| match piece {
            Piece::Open => ConeMode::Open,
            Piece::Stick { .. } => ConeMode::Stick,
            Piece::Slide { .. } | Piece::Smooth { .. } | Piece::Prescribed { .. } => {
                ConeMode::Slide
            }
        }));
    }

    /// Moves along the Newton step, halving its length until the norm of the error falls. `speed` is the velocity
    /// scale. Returns false if no length lowers the error.
    fn search(&mut self, system: &Scaled, speed: f64) -> bool {
        let mut length = 1.0;
        for _ in 0..=MAX_HALVINGS {
            self.trial.impulse.clear();
            let moved = self.here.impulse.iter().zip(&self.step);
            self.trial
                .impulse
                .extend(moved.map(|(l, d)| l + length * d));
            self.trial.evaluate(system, speed);
            if self.trial.norm < (1.0 - 1e-4 * length) * self.here.norm {
                std::mem::swap(&mut self.here, &mut self.trial);
                return true;
            }
            length *= 0.5;
        }
        false
    }

    /// Computes the minimum-norm Newton step of the contact equations. The step takes the impulses of open contacts
    /// to zero. The friction of contacts with prescribed slip directions follows their normal impulses.
    fn direction(&mut self, system: &Scaled) {
        let Self {
            here,
            step,
            active,
            rhs,
            linear,
            ..
        } = self;
        step.clear();
        step.extend(here.error.iter().map(|e| -e));
        active.clear();
        let closed = here.pieces.iter().enumerate();
        active.extend(closed.filter(|(_, p)| **p != Piece::Open).map(|(i, _)| i));
        for (i, piece) in here.pieces.iter().enumerate() {
            if let Piece::Prescribed { drag, .. } = piece {
                let l = &here.impulse[i * WIDTH..(i + 1) * WIDTH];
                for t in 0..2 {
                    step[i * WIDTH + 1 + t] = drag[t] * l[0] - l[1 + t];
                }
            }
        }
        let k = active.iter().map(|i| here.pieces[*i].width()).sum();
        linear.begin(k, k);
        rhs.clear();
        let mut row = 0;
        for i in &*active {
            let piece = here.pieces[*i];
            let width = piece.width();
            rhs.extend_from_slice(&step[i * WIDTH..i * WIDTH + width]);
            let mut column = 0;
            for j in &*active {
                let piece_j = here.pieces[*j];
                for t in 0..piece_j.width() {
                    let g = system.column(j * WIDTH + t);
                    let own = (i == j).then_some(t);
                    let mut entries = derivative(piece, &g[i * WIDTH..], own);
                    if let Piece::Prescribed { drag, .. } = piece_j {
                        for (t, factor) in drag.into_iter().enumerate() {
                            let g = system.column(j * WIDTH + 1 + t);
                            let own = (i == j).then_some(1 + t);
                            let more = derivative(piece, &g[i * WIDTH..], own);
                            for (x, y) in entries.iter_mut().zip(more) {
                                *x += factor * y;
                            }
                        }
                    }
                    let at = column * k + row;
                    // Three entries at once: a copy of a length that is not known is a call.
                    match linear.matrix.get_mut(at..at + width) {
                        Some([x, y, z]) => [*x, *y, *z] = entries,
                        Some(few) => few.copy_from_slice(&entries[..width]),
                        None => {}
                    }
                    column += 1;
                }
            }
            for (j, piece_j) in here.pieces.iter().enumerate() {
                let fixed = match piece_j {
                    Piece::Open => 0..WIDTH,
                    Piece::Prescribed { .. } => 1..WIDTH,
                    _ => continue,
                };
                for t in fixed {
                    let d = step[j * WIDTH + t];
                    if d != 0.0 {
                        let g = system.column(j * WIDTH + t);
                        let own = (*i == j).then_some(t);
                        let entries = derivative(piece, &g[i * WIDTH..], own);
                        for (r, x) in rhs[row..].iter_mut().zip(entries) {
                            *r -= x * d;
                        }
                    }
                }
            }
            row += width;
        }
        linear.solve(rhs);
        let mut row = 0;
        for i in &*active {
            let piece = here.pieces[*i];
            let first = i * WIDTH;
            step[first..first + piece.width()].copy_from_slice(&rhs[row..row + piece.width()]);
            if let Piece::Prescribed { drag, .. } = piece {
                step[first + 1] += drag[0] * rhs[row];
                step[first + 2] += drag[1] * rhs[row];
            }
            row += piece.width();
        }
    }
}

/// Computes the derivative of the three equations of a contact with respect to one impulse component, which acts at
/// this contact or at another one. `piece` is the smooth piece of the equations (open, sticking or sliding) that
/// applies. `g` holds the changes of the contact's velocities per unit of that impulse. `own` is the index of the
/// component if it acts at this contact, and `None` if it acts at another one.
#[inline]
pub(super) fn derivative(piece: Piece, g: &[f64], own: Option<usize>) -> [f64; 3] {
    let &[gn, gx, gy, ..] = g else {
        return [0.0; 3];
    };
    let unit = |t: usize| if own == Some(t) { 1.0 } else { 0.0 };
    let normal = |is_bound: bool| if is_bound { unit(0) } else { gn };
    match piece {
        Piece::Open => [unit(0), unit(1), unit(2)],
        Piece::Smooth { is_bound } | Piece::Prescribed { is_bound, .. } => {
            [normal(is_bound), unit(1), unit(2)]
        }
        Piece::Stick { is_bound } => [normal(is_bound), gx, gy],
        Piece::Slide {
            is_bound,
            direction: [x, y],
            ratio,
            friction,
        } => {
            let (qx, qy) = (unit(1) - gx, unit(2) - gy);
            // Growth of the disc, minus the part of the change that the projection onto its edge removes.
            let grown = if is_bound {
                0.0
            } else {
                friction * (unit(0) - gn)
            };
            let edge = grown - ratio * (x * qx + y * qy);
            [
                normal(is_bound),
                unit(1) - ratio * qx - edge * x,
                unit(2) - ratio * qy - edge * y,
            ]
        }
    }
}

/// Returns the magnitude of the normal part of a contact's vector, or that of its tangential part if this is larger. It does
/// not depend on the tangent axes.
pub(super) fn magnitude(contact: &[f64]) -> f64 {
    match contact {
        &[normal, x, y] => larger(normal.abs(), norm(&[x, y])),
        _ => 0.0,
    }
}

/// Returns the largest normal or tangential part of a vector with three entries per contact, see [`magnitude`].
pub(super) fn largest(x: &[f64]) -> f64 {
    let contacts = x.chunks_exact(WIDTH).map(magnitude);
    contacts.fold(0.0, f64::max)
}
