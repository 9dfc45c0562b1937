//! Natural map, its residual, and the smooth pieces of the contact equations.

use super::system::{System, Triple};
use crate::cone::ConeMode;
use crate::cone::problem::WIDTH;
use crate::cone::residual::projected;
use carom_numeric::block_lu::block::{Block, scalar, zero};
use carom_numeric::kernel::{larger, norm};

/// Impulses, the velocities after them, and the errors of the contact equations.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) impulse: Vec<Triple>,
    pub(super) velocity: Vec<Triple>,
    /// Errors of the equations of Alart and Curnier.
    pub(super) error: Vec<Triple>,
    pub(super) pieces: Vec<Piece>,
    /// Residual of the natural map, relative to the largest velocity or impulse.
    pub(super) residual: f64,
}

/// Smooth piece of the equations of Alart and Curnier on which a contact lies.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) enum Piece {
    /// Open contact: no impulse.
    #[default]
    Open,
    /// Tangential impulse inside the disc. `is_above`: the normal impulse is above its floor, otherwise it is
    /// at the floor.
    Stick { is_above: bool },
    /// Tangential impulse on the edge of the disc, in a `direction` (unit vector). `ratio` is the radius of the
    /// disc divided by the length of the vector that is projected.
    Slide {
        is_above: bool,
        direction: [f64; 2],
        ratio: f64,
    },
    /// Closed contact without friction.
    Smooth { is_above: bool },
}

impl Piece {
    pub(super) fn mode(self) -> ConeMode {
        match self {
            Self::Open => ConeMode::Open,
            Self::Stick { .. } => ConeMode::Stick,
            Self::Slide { .. } | Self::Smooth { .. } => ConeMode::Slide,
        }
    }
}

impl Point {
    /// Evaluates the contact equations at the current impulses $\lambda$. Computes the velocities $b + G\lambda$, the
    /// smooth piece of each contact (open, sticking or sliding), the errors of the equations, and the residual. Here
    /// $b$ are the velocities before the impulses, and $G$ is the Delassus matrix.
    pub(super) fn evaluate(&mut self, system: &mut System) {
        system.product(&self.impulse, &mut self.velocity);
        for (u, b) in self.velocity.iter_mut().zip(&system.velocity) {
            for (u, b) in u.iter_mut().zip(b) {
                *u += b;
            }
        }
        self.compare(system);
    }

    /// Evaluates the equations of compliant contacts at the current impulses $\lambda$. Computes the velocities
    /// $b + G\lambda + \epsilon(\lambda - \lambda_0)$, the smooth piece of each contact (open, sticking or sliding),
    /// the errors of the equations, and the residual. Here $b$ are the velocities before the impulses, $G$ is the
    /// Delassus matrix, $\epsilon$ is the compliance, and $\lambda_0$ = `center` are the impulses at which the
    /// compliance has no effect.
    pub(super) fn evaluate_near(&mut self, system: &mut System, epsilon: f64, center: &[Triple]) {
        system.product(&self.impulse, &mut self.velocity);
        let before = system.velocity.iter().zip(self.impulse.iter().zip(center));
        for (u, (b, (l, c))) in self.velocity.iter_mut().zip(before) {
            for k in 0..WIDTH {
                u[k] += b[k] + epsilon * (l[k] - c[k]);
            }
        }
        self.compare(system);
    }

    /// Computes from the current impulses and velocities the smooth piece of each contact (open, sticking or
    /// sliding), the errors of the contact equations, and the residual.
    fn compare(&mut self, system: &System) {
        self.error.clear();
        self.pieces.clear();
        let (mut worst, mut size) = (0.0f64, 0.0f64);
        for i in 0..system.m {
            let (l, u, b) = (self.impulse[i], self.velocity[i], system.velocity[i]);
            let (friction, floor) = (system.friction[i], system.floors[i]);
            let (piece, error) = piece(l, u, friction, floor);
            self.pieces.push(piece);
            self.error.push(error);
            let lifted = u[0] + friction * norm(&u[1..]);
            let target = [l[0] - lifted, l[1] - u[1], l[2] - u[2]];
            let p = projected(target, friction, floor);
            let distance = norm(&[l[0] - p[0], l[1] - p[1], l[2] - p[2]]);
            worst = larger(worst, distance);
            size = size.max(norm(&b)).max(norm(&l));
        }
        self.residual = match worst {
            0.0 => 0.0,
            _ => worst / size,
        };
    }
}

/// Returns the smooth piece of a contact's equations that applies (open, sticking or sliding), and the errors of the
/// three equations. `l` and `u` are the impulse and the velocity of the contact: normal, then two tangents.
///
/// The equations are $\lambda_n = \max(p, \lambda_n - u_n)$ and $\lambda_t = P(\lambda_t - u_t)$. $p$ = `floor` is
/// the least normal impulse, and $P$ is the projection onto the friction disc.
fn piece(l: Triple, u: Triple, friction: f64, floor: f64) -> (Piece, Triple) {
    let free = l[0] - u[0];
    let is_above = free > floor;
    let normal = if is_above { free } else { floor };
    let radius = friction * normal;
    let (x, y) = (l[1] - u[1], l[2] - u[2]);
    let above = l[0] - normal;
    if friction == 0.0 || radius == 0.0 {
        let piece = if is_above || floor > 0.0 {
            Piece::Smooth { is_above }
        } else {
            Piece::Open
        };
        return (piece, [above, l[1], l[2]]);
    }
    let distance = norm(&[x, y]);
    if distance <= radius {
        return (Piece::Stick { is_above }, [above, u[1], u[2]]);
    }
    let (ratio, direction) = (radius / distance, [x / distance, y / distance]);
    let piece = Piece::Slide {
        is_above,
        direction,
        ratio,
    };
    let error = [
        above,
        l[1] - radius * direction[0],
        l[2] - radius * direction[1],
    ];
    (piece, error)
}

/// Returns the derivatives of a contact's three equations with respect to the impulses of the contact and, second, with
/// respect to the velocities of the contact. `friction` is the friction coefficient. `piece` is the smooth piece of the
/// equations on which the contact lies.
pub(super) fn derivatives(piece: Piece, friction: f64) -> (Block<WIDTH>, Block<WIDTH>) {
    let (mut a, mut b) = (zero(), zero());
    let normal = |is_above: bool, a: &mut Block<WIDTH>, b: &mut Block<WIDTH>| {
        let place = if is_above { b } else { a };
        place[0][0] = 1.0;
    };
    match piece {
        Piece::Open => a = scalar(1.0),
        Piece::Smooth { is_above } => {
            normal(is_above, &mut a, &mut b);
            (a[1][1], a[2][2]) = (1.0, 1.0);
        }
        Piece::Stick { is_above } => {
            normal(is_above, &mut a, &mut b);
            (b[1][1], b[2][2]) = (1.0, 1.0);
        }
        Piece::Slide {
            is_above,
            direction,
            ratio,
        } => {
            normal(is_above, &mut a, &mut b);
            for r in 0..2 {
                for c in 0..2 {
                    let unit = if r == c { 1.0 } else { 0.0 };
                    let across = ratio * (unit - direction[r] * direction[c]);
                    a[r + 1][c + 1] = unit - across;
                    b[r + 1][c + 1] = across;
                }
                if is_above {
                    a[r + 1][0] = -friction * direction[r];
                    b[r + 1][0] = friction * direction[r];
                }
            }
        }
    }
    (a, b)
}
