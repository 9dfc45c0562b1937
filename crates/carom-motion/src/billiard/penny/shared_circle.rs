//! Crossings of the circle on which a rim moves with an ellipse.
//!
//! A rim that starts at $p$ with velocity $w$ is displaced by
//! $t\operatorname{sinc}(\omega t/2)\operatorname{Rot}(\omega t/2)w$. In
//! $z \propto \tan(\omega t/2)$ this is rational, and the wall function times
//! $(1 + \epsilon^2z^2)^2$ is a quartic,
//!
//! $$ h = \frac{\sum_k c_kz^k}{(1 + \epsilon^2z^2)^2}, \qquad
//! d = \frac{z(D_1 + zD_2)}{1 + \epsilon^2z^2}, \quad D_1 = Tw,\ D_2 = \epsilon Tw^\perp. $$
//!
//! A *wide* circle leaves the table before half a turn. For it, $T$ is the time to cross the table and
//! $\epsilon = \omega T/2$ is small, so that a straight line is no special case. A *narrow* circle has
//! $T = 2/|\omega|$ and $\epsilon = \pm1$, and its full turn is searched in four pieces. For a rim on
//! the wall $c_0 = 0$: dividing by $z$ leaves a cubic, which does not have the contact itself as a
//! root.
//!
//! Both rims move on one circle, so the crossings of the rim that was hit can be used for the other rim, too.

use crate::billiard::table::{Ellipse, Table};
use crate::billiard::trig::atan_over;
use carom_numeric::polynomial::{Direction, Search, roots, value_at_one};
use nalgebra::Vector2;
use smallvec::SmallVec;
use std::f64::consts::{FRAC_PI_2, PI, SQRT_2};

/// Length of a chord, in diameters, that certainly leaves the table.
const CHORD: f64 = 1.0625;

/// Point at which a circle meets the wall.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    /// Time from the start of the arc, s; negative for crossings before the start.
    pub(super) time: f64,
    /// Displacement from the start of the arc, m.
    pub(super) chord: Vector2<f64>,
    /// Unit vector $(\cos, \sin)(\omega t/2)$.
    pub(super) half_turn: Vector2<f64>,
}

/// Crossings in the order in which the search finds them.
pub(super) type Crossings = SmallVec<[Crossing; 4]>;

/// Circle of a rim, starting at the present position of the rim.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arc {
    scale: f64,
    eps: f64,
    wide: bool,
    d1: Vector2<f64>,
    d2: Vector2<f64>,
}

/// Multiplies two plane vectors as complex numbers: rotates `b` by the angle of `a` if `a` is a unit vector.
#[inline]
pub(super) fn rotate(a: Vector2<f64>, b: Vector2<f64>) -> Vector2<f64> {
    Vector2::new(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)
}

impl Arc {
    /// Creates the circle on which a rim point moves, from its velocity `w` (m/s) and turning rate `omega` (rad/s). At least one
    /// of the two must not be zero.
    #[inline]
    pub(super) fn new(table: &Ellipse, w: Vector2<f64>, omega: f64) -> Self {
        let crossing_time = CHORD * table.diameter() / w.norm();
        let eps = 0.5 * omega * crossing_time;
        let wide = eps * eps <= 0.5;
        let (scale, eps) = if wide {
            (crossing_time, eps)
        } else {
            (2.0 / omega.abs(), omega.signum())
        };
        let turned = Vector2::new(-w.y, w.x);
        Self {
            scale,
            eps,
            wide,
            d1: scale * w,
            d2: eps * scale * turned,
        }
    }

    /// True if the circle is so large compared with the table that the rim point leaves the table before half a turn.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    /// Finds the first crossing at which a rim point on this circle leaves the table, from a start inside the wall. `value` $< 0$
    /// and `rate` are the wall function and its time derivative at the start. Returns `None` if the circle does not leave the
    /// table.
    pub(super) fn first_exit(
        &self,
        table: &Ellipse,
        point: Vector2<f64>,
        value: f64,
        rate: f64,
    ) -> Option<Crossing> {
        let c = self.coefficients(table, table.gradient(point), value, self.scale * rate);
        let mut first = None;
        let mut found = |crossing| {
            first = Some(crossing);
            Search::Stop
        };
        if self.wide {
            let a = stretch(c);
            roots(&a, value_at_one(&a), Direction::Ascending, &mut |s| {
                found(self.wide_crossing(SQRT_2 * s))
            });
        } else {
            let [c0, c1, c2, c3, c4] = c;
            let plus = value_at_one(&c);
            let minus = value_at_one(&[c0, -c1, c2, -c3, c4]);
            self.whole_turn(
                [&c, &[c4, c3, c2, c1, c0]],
                [&[c4, -c3, c2, -c1, c0], &[c0, -c1, c2, -c3, c4]],
                [plus, minus],
                &mut found,
            );
        }
        first
    }

    /// Finds all later crossings of the wall by a rim point that starts on the wall and moves inwards. The entries leave and
    /// enter the table in turn; the first one leaves. `gradient` and `rate` $< 0$ are the gradient and the time derivative of the
    /// wall function at the start.
    pub(super) fn crossings_ahead(
        &self,
        table: &Ellipse,
        gradient: Vector2<f64>,
        rate: f64,
    ) -> Crossings {
        let c = self.coefficients(table, gradient, 0.0, self.scale * rate);
        let mut all = Crossings::new();
        let mut found = |crossing| {
            all.push(crossing);
            Search::Continue
        };
        let [_, c1, c2, c3, c4] = c;
        if self.wide {
            let a = stretch([c1, c2, c3, c4]);
            roots(&a, value_at_one(&a), Direction::Ascending, &mut |s| {
                found(self.wide_crossing(SQRT_2 * s))
            });
        } else {
            let q = [c1, c2, c3, c4];
            let plus = value_at_one(&q);
            let behind = [-c1, c2, -c3, c4];
            let minus = value_at_one(&behind);
            self.whole_turn(
                [&q, &[c4, c3, c2, c1]],
                [&[c4, -c3, c2, -c1], &behind],
                [plus, minus],
                &mut found,
            );
        }
        all
    }

    /// Finds the earlier crossings of the wall by a rim point that is on the wall of a wide circle, the latest first. In this
    /// backward order the entries leave and enter the table in turn; the first one leaves. A circle is wide if it leaves the
    /// table before half a turn. `gradient` and `rate` are the gradient and the time derivative of the wall function at the rim
    /// point.
    pub(super) fn crossings_behind(
        &self,
        table: &Ellipse,
        gradient: Vector2<f64>,
        rate: f64,
    ) -> Crossings {
        let [_, c1, c2, c3, c4] = self.coefficients(table, gradient, 0.0, self.scale * rate);
        let a = stretch([-c1, c2, -c3, c4]);
        let mut all = Crossings::new();
        roots(&a, value_at_one(&a), Direction::Ascending, &mut |s| {
            all.push(self.wide_crossing(-SQRT_2 * s));
            Search::Continue
        });
        all
    }

    /// Returns the coefficients $c_0 \dots c_4$ of a polynomial in $z$ that has the sign of the wall function $h$ along the
    /// circle; $z$ is proportional to the tangent of half the turning angle. `value` and `gradient` are the value and the
    /// gradient of $h$ at the start of the arc. `g1` is the coefficient $c_1$, the time derivative of $h$ at the start times the
    /// time scale of the arc.
    fn coefficients(
        &self,
        table: &Ellipse,
        gradient: Vector2<f64>,
        value: f64,
        g1: f64,
    ) -> [f64; 5] {
        let g2 = gradient.dot(&self.d2);
        let e2 = self.eps * self.eps;
        [
            value,
            g1,
            2.0 * e2 * value + g2 + table.form(self.d1, self.d1),
            e2 * g1 + 2.0 * table.form(self.d1, self.d2),
            e2 * e2 * value + e2 * g2 + table.form(self.d2, self.d2),
        ]
    }

    /// Searches one full turn of the circle for crossings of the wall, and passes each crossing to `found` until `found` returns
    /// `Search::Stop`. The turn has four pieces, with $z$ the tangent of half the turning angle: $z$ from 0 to 1, $1/z$ from 1 to
    /// 0, $1/z$ from 0 to −1, and $z$ from −1 to 0. `ahead` and `behind` hold the polynomials of these pieces, which have the
    /// sign of the wall function; `ends` holds the values of the polynomials at $z = 1$ and $z = -1$.
    fn whole_turn<const N: usize>(
        &self,
        ahead: [&[f64; N]; 2],
        behind: [&[f64; N]; 2],
        ends: [f64; 2],
        found: &mut impl FnMut(Crossing) -> Search,
    ) {
        use Direction::{Ascending, Descending};
        let [plus, minus] = ends;
        let go_on = |search: Search| search == Search::Continue;
        let half = |co: f64, si: f64, angle: f64| self.narrow_crossing(co, si, angle);
        let _ = go_on(roots(ahead[0], plus, Ascending, &mut |z| {
            found(half(1.0, z, libm::atan(z)))
        })) && go_on(roots(ahead[1], plus, Descending, &mut |y| {
            found(half(y, 1.0, FRAC_PI_2 - libm::atan(y)))
        })) && go_on(roots(behind[0], minus, Ascending, &mut |u| {
            found(half(-u, 1.0, FRAC_PI_2 + libm::atan(u)))
        })) && go_on(roots(behind[1], minus, Descending, &mut |v| {
            found(half(-1.0, v, PI - libm::atan(v)))
        }));
    }

    fn wide_crossing(&self, z: f64) -> Crossing {
        let tangent = self.eps * z;
        let secant2 = 1.0 + tangent * tangent;
        let secant = secant2.sqrt();
        Crossing {
            time: self.scale * z * atan_over(tangent),
            chord: z / secant2 * (self.d1 + z * self.d2),
            half_turn: Vector2::new(1.0 / secant, tangent / secant),
        }
    }

    /// Returns the crossing at which half of the turning angle is `angle` (rad), on a circle that stays inside the table for at
    /// least half a turn. `co` and `si` are proportional to cosine and sine of `angle`.
    fn narrow_crossing(&self, co: f64, si: f64, angle: f64) -> Crossing {
        let norm2 = co * co + si * si;
        let norm = norm2.sqrt();
        Crossing {
            time: self.scale * angle,
            chord: si / norm2 * (co * self.d1 + si * self.d2),
            half_turn: Vector2::new(co / norm, self.eps * si / norm),
        }
    }
}

/// Substitutes $z = \sqrt2 s$ in a polynomial in $z$, and returns the coefficients in $s$. `c` holds the coefficients
/// in $z$; both lists begin with the lowest power.
fn stretch<const N: usize>(mut c: [f64; N]) -> [f64; N] {
    let mut factor = 1.0;
    for c in &mut c {
        *c *= factor;
        factor *= SQRT_2;
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quartic is the wall function along the arc (exact identity), at points of both kinds
    /// of circle.
    #[test]
    fn the_quartic_is_the_wall_function_along_the_arc() {
        let table = Ellipse::new(0.15, 0.2).unwrap_or_else(|_| unreachable!());
        let point = Vector2::new(0.03, -0.05);
        let w = Vector2::new(0.07, 0.04);
        for omega in [0.01, -0.2, 3.0, -8.0] {
            let arc = Arc::new(&table, w, omega);
            let gradient = table.gradient(point);
            let c = arc.coefficients(&table, gradient, table.value(point), gradient.dot(&arc.d1));
            for k in 0..20 {
                let z = -1.3 + 0.13 * f64::from(k);
                let crossing = if arc.wide {
                    arc.wide_crossing(z)
                } else {
                    arc.narrow_crossing(1.0, z, z.atan())
                };
                let secant2 = 1.0 + arc.eps * arc.eps * z * z;
                let polynomial = c.iter().rev().fold(0.0, |sum, c| sum * z + c);
                let direct = table.value(point + crossing.chord);
                assert!((polynomial / (secant2 * secant2) - direct).abs() < 1e-14);
                // The point by the flow.
                let half = 0.5 * omega * crossing.time;
                let reach = crossing.time * crate::billiard::trig::sinc(half);
                let flow = reach * rotate(Vector2::new(half.cos(), half.sin()), w);
                assert!((flow - crossing.chord).norm() < 1e-15);
            }
        }
    }

    /// Rate identity: at the next crossing of a circle with a conic the rate of the wall
    /// function is $-\mathrm{d}h(v_0) + |w|\sin\eta d^THd_\perp$.
    #[test]
    fn the_rate_at_a_crossing_follows_from_the_rate_before() {
        let table = Ellipse::new(0.15, 0.2).unwrap_or_else(|_| unreachable!());
        let point = Vector2::new(0.15 * 0.6, 0.2 * 0.8);
        let gradient = table.gradient(point);
        let w = Vector2::new(-0.07, -0.02);
        for omega in [0.001, 0.3, -0.4, 2.0, -3.0] {
            let arc = Arc::new(&table, w, omega);
            let rate = gradient.dot(&w);
            let crossing = arc.crossings_ahead(&table, gradient, rate)[0];
            let turned = rotate(crossing.half_turn, rotate(crossing.half_turn, w));
            let direct = table.gradient(point + crossing.chord).dot(&turned);
            let carried = super::super::arrival::carried_rate(&table, &crossing, w, rate);
            assert!(
                (direct - carried).abs() < 1e-14,
                "{omega}: {direct} {carried}"
            );
        }
    }
}
