//! Laws of a contact as projections of a trial impulse, with their derivatives.

use super::checks::WIDTH;
use super::problem::Kind;
use carom_numeric::kernel::norm;

/// Impulses, velocities or errors of one contact: normal, then two tangents.
pub(super) type Triple = [f64; WIDTH];

/// Matrix of a contact's rows.
pub(super) type Square = [[f64; WIDTH]; WIDTH];

/// Law of one contact in scaled units: see [`Block`](super::Block).
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub(super) kind: Kind,
    pub(super) friction: f64,
    pub(super) floor: f64,
    pub(super) cap: f64,
    pub(super) target: f64,
}

/// Choice between the law of friction and the convex problem of rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Law {
    /// $C(y)$: the normal impulse is cut to its bounds, then the tangential one to the disc of radius $\mu n$.
    Coulomb,
    /// $P_K(y)$: Euclidean projection onto the friction cone.
    Cone,
}

impl Contact {
    /// Returns the projection of the trial impulse `y` and its derivative. Rows that the contact does not have are zero in
    /// both.
    pub(super) fn project(&self, law: Law, y: &Triple) -> (Triple, Square) {
        match (self.kind, law) {
            (Kind::Box(limit), _) => {
                let inside = f64::from(u8::from(y[0].abs() < limit));
                ([y[0].clamp(-limit, limit), 0.0, 0.0], normal(inside))
            }
            (Kind::Against(slip), _) => {
                let (n, inside) = self.cut(y[0]);
                let push = -self.friction * n;
                let mut d = normal(inside);
                d[1][0] = -self.friction * inside * slip[0];
                d[2][0] = -self.friction * inside * slip[1];
                ([n, push * slip[0], push * slip[1]], d)
            }
            (_, Law::Coulomb) => self.coulomb(y),
            (_, Law::Cone) => self.cone(y),
        }
    }

    /// Returns the normal impulse within its bounds, and 1 if it lies between them, 0 if it is at one of them.
    fn cut(&self, y: f64) -> (f64, f64) {
        if !(y > self.floor) {
            (self.floor, 0.0)
        } else if y >= self.cap {
            (self.cap, 0.0)
        } else {
            (y, 1.0)
        }
    }

    fn coulomb(&self, y: &Triple) -> (Triple, Square) {
        let (n, inside) = self.cut(y[0]);
        let mut d = normal(inside);
        let radius = self.friction * n;
        if radius == 0.0 {
            return ([n, 0.0, 0.0], d);
        }
        let length = norm(&y[1..]);
        if length <= radius {
            d[1][1] = 1.0;
            d[2][2] = 1.0;
            self.trim(&mut d);
            return ([n, y[1], y[2]], d);
        }
        let e = [y[1] / length, y[2] / length];
        let ratio = radius / length;
        for r in 0..2 {
            d[r + 1][0] = self.friction * inside * e[r];
            for c in 0..2 {
                let unit = if r == c { 1.0 } else { 0.0 };
                d[r + 1][c + 1] = ratio * (unit - e[r] * e[c]);
            }
        }
        self.trim(&mut d);
        ([n, radius * e[0], radius * e[1]], d)
    }

    fn cone(&self, y: &Triple) -> (Triple, Square) {
        let friction = self.friction;
        let length = norm(&y[1..]);
        if friction == 0.0 || self.kind == Kind::Normal {
            let is_closed = y[0] > 0.0;
            let inside = f64::from(u8::from(is_closed));
            return ([y[0].max(0.0), 0.0, 0.0], normal(inside));
        }
        if friction * length <= -y[0] {
            return ([0.0; 3], [[0.0; 3]; 3]);
        }
        let mut d = normal(1.0);
        if length <= friction * y[0] {
            d[1][1] = 1.0;
            d[2][2] = 1.0;
            self.trim(&mut d);
            return (*y, d);
        }
        let share = 1.0 / (1.0 + friction * friction);
        let n = share * (y[0] + friction * length);
        let e = [y[1] / length, y[2] / length];
        let ratio = friction * n / length;
        d[0][0] = share;
        for r in 0..2 {
            d[0][r + 1] = share * friction * e[r];
            d[r + 1][0] = share * friction * e[r];
            for c in 0..2 {
                let unit = if r == c { 1.0 } else { 0.0 };
                let along = e[r] * e[c];
                d[r + 1][c + 1] = share * friction * friction * along + ratio * (unit - along);
            }
        }
        self.trim(&mut d);
        ([n, friction * n * e[0], friction * n * e[1]], d)
    }

    /// Clears the entries of rows that the contact does not have.
    fn trim(&self, d: &mut Square) {
        for (k, row) in d.iter_mut().enumerate().skip(self.kind.width()) {
            row[k] = 0.0;
        }
    }
}

/// Returns the matrix whose only entry is the derivative of the normal impulse.
fn normal(inside: f64) -> Square {
    [[inside, 0.0, 0.0], [0.0; 3], [0.0; 3]]
}
