//! Search for the next arrival of a rim at the wall.

use super::shared_circle::{Arc, Crossing, rotate};
use super::{PennyBilliard, PennyState, Rim};
use crate::billiard::march::{March, march};
use crate::billiard::trig::sin_cos_sinc;
use crate::billiard::{BilliardError, Ellipse, Table};
use crate::hybrid::Ending;
use nalgebra::Vector2;
use std::f64::consts::TAU;

/// Largest value of the wall function that counts as contact, not as penetration.
pub(super) const CONTACT_VALUE: f64 = 16.0 * f64::EPSILON;

/// Sine of the angle of incidence above which the rate of the wall function is computed from the state;
/// below it the rate is propagated along the circle. If it is always computed from the state, a grazing cascade is lost after 15
/// impacts; if it is always propagated, state and rate drift apart.
const GRAZING_SINE: f64 = 1e-2;

/// Fraction of the sum of its terms below which a rate or second derivative is rounding error.
const ROUNDING: f64 = 1e-14;

/// Contact just after an impact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub(super) time: f64,
    pub(super) rim: Rim,
    pub(super) point: Vector2<f64>,
    pub(super) heading: Vector2<f64>,
    pub(super) state: PennyState,
    /// Rate of the wall function at the rim after the impact, negative.
    pub(super) rate: f64,
}

/// Next impact of a rim, before the impact law is applied.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) rim: Rim,
    pub(super) interval: f64,
    pub(super) point: Vector2<f64>,
    pub(super) heading: Vector2<f64>,
    pub(super) gradient: Vector2<f64>,
    pub(super) rate: f64,
}

/// Next event of an orbit.
pub(super) enum Next {
    Arrival(Arrival),
    End(Ending<BilliardError>),
}
impl<T: Table> PennyBilliard<T> {
    /// Returns the velocity in the plane of the front or back rim point of a rolling penny (m/s). The component of this
    /// velocity along the heading is the radius times the rolling rate. The component across the heading is the radius
    /// times the turning rate, with the sign of the rim. `heading` is the unit vector of the heading.
    #[inline]
    fn rim_velocity(&self, rim: Rim, heading: Vector2<f64>, state: &PennyState) -> Vector2<f64> {
        let r = self.penny.radius();
        rotate(
            heading,
            Vector2::new(r * state.theta_dot, r * rim.sign() * state.phi_dot),
        )
    }

    /// Finds the first impact of a penny from its initial state, in which it need not touch the wall. Returns the ending of the
    /// run instead if there is no such impact.
    pub(super) fn first_arrival(&self, state: &PennyState) -> Next {
        if state.theta_dot == 0.0 && state.phi_dot == 0.0 {
            return Next::End(Ending::AtRest);
        }
        let (sin, cos) = libm::sincos(state.phi);
        let heading = Vector2::new(cos, sin);
        let center = Vector2::new(state.x, state.y);
        let mut first: Option<Arrival> = None;
        for rim in [Rim::Front, Rim::Back] {
            let point = center + rim.sign() * self.penny.radius() * heading;
            let w = self.rim_velocity(rim, heading, state);
            let gradient = self.table.gradient(point);
            let rate = gradient.dot(&w);
            let value = self.table.value(point);
            let exit = if value < -CONTACT_VALUE {
                self.exit(point, w, state.phi_dot, value, rate)
            } else if rate.abs() > ROUNDING * gradient.norm() * w.norm() {
                if rate > 0.0 {
                    return Next::Arrival(Arrival {
                        rim,
                        interval: 0.0,
                        point: self.on_wall(point),
                        heading,
                        gradient,
                        rate,
                    });
                }
                self.exit_from_wall(point, w, state.phi_dot, gradient, rate)
            } else {
                let turned = Vector2::new(-w.y, w.x);
                let curvature = (w.transpose() * self.table.hessian(point) * w)[0];
                let turn = state.phi_dot * gradient.dot(&turned);
                let second = curvature + turn;
                let rounding = 100.0 * ROUNDING * (curvature.abs() + turn.abs());
                if second > rounding {
                    return Next::End(Ending::PressedContact);
                }
                if second >= -rounding {
                    // This rim moves along the wall.
                    continue;
                }
                self.exit(point, w, state.phi_dot, -f64::MIN_POSITIVE, 0.0)
            };
            if let Some(crossing) = exit
                && first.is_none_or(|other| crossing.time < other.interval)
            {
                let turn = rotate(crossing.half_turn, crossing.half_turn);
                let w = rotate(turn, w);
                let point = self.on_wall(point + crossing.chord);
                let gradient = self.table.gradient(point);
                first = Some(Arrival {
                    rim,
                    interval: crossing.time,
                    point,
                    heading: rotate(turn, heading),
                    gradient,
                    rate: gradient.dot(&w),
                });
            }
        }
        first.map_or(Next::End(Ending::NeverHits), Next::Arrival)
    }

    /// Finds the point and time at which a rim point that starts inside the wall crosses it. The rim point starts at `point` (m)
    /// with the velocity `w` (m/s), which turns at the rate `omega` (rad/s). `value` and `rate` are the wall function and its
    /// time derivative there; the wall function is negative inside. Returns `None` if the rim never crosses the wall.
    fn exit(
        &self,
        point: Vector2<f64>,
        w: Vector2<f64>,
        omega: f64,
        value: f64,
        rate: f64,
    ) -> Option<Crossing> {
        match self.table.ellipse() {
            Some(ellipse) => Arc::new(ellipse, w, omega).first_exit(ellipse, point, value, rate),
            None => self.march(point, w, omega, value, rate, f64::INFINITY),
        }
    }

    /// Finds the point and time at which a rim point that starts on the wall and moves inwards reaches the wall again. The rim
    /// point starts at `point` (m) with the velocity `w` (m/s), which turns at the rate `omega` (rad/s). `gradient` and `rate`
    /// are the gradient and the time derivative of the wall function there. Returns `None` if no such crossing is found.
    fn exit_from_wall(
        &self,
        point: Vector2<f64>,
        w: Vector2<f64>,
        omega: f64,
        gradient: Vector2<f64>,
        rate: f64,
    ) -> Option<Crossing> {
        match self.table.ellipse() {
            Some(ellipse) => Arc::new(ellipse, w, omega)
                .crossings_ahead(ellipse, gradient, rate)
                .first()
                .copied(),
            None => self.march(point, w, omega, 0.0, rate, f64::INFINITY),
        }
    }

    /// Finds the next crossing of the wall by a rim point on a table of any shape, by [`march`], whose time steps cannot skip a
    /// crossing. The rim point starts at `point` (m) with the velocity `w` (m/s), which turns at the rate `omega` (rad/s).
    /// `value` and `rate` are the wall function (negative inside) and its time derivative there. Returns `None` if there is no
    /// crossing within the time `within` (s).
    fn march(
        &self,
        point: Vector2<f64>,
        w: Vector2<f64>,
        omega: f64,
        value: f64,
        rate: f64,
        within: f64,
    ) -> Option<Crossing> {
        let speed = w.norm();
        let bound = speed
            * (self.table.hessian_bound() * speed + self.table.gradient_bound() * omega.abs());
        let return_time = if omega == 0.0 {
            2.0 * self.table.diameter() / speed
        } else {
            TAU / omega.abs()
        };
        let horizon = return_time.min(within);
        let at = |t: f64| {
            let half = 0.5 * omega * t;
            let [sin, cos, sinc] = sin_cos_sinc(half);
            let half_turn = Vector2::new(cos, sin);
            let chord = t * sinc * rotate(half_turn, w);
            Crossing {
                time: t,
                chord,
                half_turn,
            }
        };
        let time = march(
            March {
                value,
                rate,
                bound,
                horizon,
            },
            |t| {
                let crossing = at(t);
                let p = point + crossing.chord;
                let turn = rotate(crossing.half_turn, crossing.half_turn);
                (
                    self.table.value(p),
                    self.table.gradient(p).dot(&rotate(turn, w)),
                )
            },
        )?;
        Some(at(time))
    }

    /// Corrects a point near the wall by one Newton step of the wall function, so that it lies on the wall up to rounding.
    fn on_wall(&self, point: Vector2<f64>) -> Vector2<f64> {
        let gradient = self.table.gradient(point);
        point - self.table.value(point) / gradient.norm_squared() * gradient
    }

    /// Finds the next impact of a penny that has just hit the wall with one rim, from its contact after that impact. Returns the
    /// ending of the run instead if there is no such impact or the penny grazes the wall.
    pub(super) fn next_arrival(&self, contact: &Contact) -> Next {
        let state = &contact.state;
        if state.theta_dot == 0.0 && state.phi_dot == 0.0 {
            return Next::End(Ending::AtRest);
        }
        let w = self.rim_velocity(contact.rim, contact.heading, state);
        let gradient = self.table.gradient(contact.point);
        if contact.rate >= -self.graze * gradient.norm() * w.norm() {
            return Next::End(Ending::GrazingCascade);
        }
        match self.table.ellipse() {
            Some(ellipse) => self.next_on_ellipse(ellipse, contact, w, gradient),
            None => self.next_by_marching(contact, w),
        }
    }

    fn next_on_ellipse(
        &self,
        table: &Ellipse,
        contact: &Contact,
        w: Vector2<f64>,
        gradient: Vector2<f64>,
    ) -> Next {
        let state = &contact.state;
        let (big, small) = (state.theta_dot, state.phi_dot);
        let sigma = contact.rim.sign();
        let arc = Arc::new(table, w, small);
        let ahead = arc.crossings_ahead(table, gradient, contact.rate);
        let Some(same) = ahead.first() else {
            // A rim that entered the table must leave it again, except if its rate is lost in rounding.
            return Next::End(Ending::GrazingCascade);
        };
        // Time by which the other rim is ahead on the common circle.
        let offset = if arc.is_wide() {
            let ratio = small / big;
            -sigma * 2.0 / big * crate::billiard::trig::atan_over(ratio)
        } else {
            2.0 / small.abs() * libm::atan2(small.abs(), -sigma * big)
        };
        let (other, interval) = if offset >= 0.0 {
            wall_ahead(&ahead, offset)
        } else {
            let behind = arc.crossings_behind(table, gradient, contact.rate);
            match wall_behind(&behind, offset) {
                Some(found) => found,
                None => return Next::End(Ending::GrazingCascade),
            }
        };
        let (rim, crossing, interval) = if interval < same.time {
            (contact.rim.other(), other, interval)
        } else {
            (contact.rim, *same, same.time)
        };
        let turn = rotate(crossing.half_turn, crossing.half_turn);
        let velocity = rotate(turn, w);
        let mut heading = rotate(turn, contact.heading);
        if rim != contact.rim {
            // Both rims have equal velocities at equal places; their headings differ by twice
            // the angle of that velocity.
            let tilt = Vector2::new(big, sigma * small);
            heading = rotate(heading, rotate(tilt, tilt)) / tilt.norm_squared();
        }
        let point = self.on_wall(contact.point + crossing.chord);
        let gradient = self.table.gradient(point);
        let direct = gradient.dot(&velocity);
        let rate = if direct.abs() > GRAZING_SINE * gradient.norm() * w.norm() {
            direct
        } else {
            carried_rate(table, &crossing, w, contact.rate)
        };
        Next::Arrival(Arrival {
            rim,
            interval,
            point,
            heading: heading.normalize(),
            gradient,
            rate,
        })
    }

    fn next_by_marching(&self, contact: &Contact, w: Vector2<f64>) -> Next {
        let omega = contact.state.phi_dot;
        let other = contact.rim.other();
        let across = self.rim_velocity(other, contact.heading, &contact.state);
        let reach = 2.0 * contact.rim.sign() * self.penny.radius();
        let opposite = contact.point - reach * contact.heading;
        let value = self.table.value(opposite).min(0.0);
        let rate = self.table.gradient(opposite).dot(&across);
        let near = self.march(contact.point, w, omega, 0.0, contact.rate, f64::INFINITY);
        // The other rim matters only if it hits first.
        let within = near.as_ref().map_or(f64::INFINITY, |hit| hit.time);
        let far = self
            .march(opposite, across, omega, value, rate, within)
            .filter(|hit| hit.time < within);
        let (rim, point, w, crossing) = match (near, far) {
            (_, Some(hit)) => (other, opposite, across, hit),
            (Some(hit), None) => (contact.rim, contact.point, w, hit),
            (None, None) => return Next::End(Ending::NeverHits),
        };
        let turn = rotate(crossing.half_turn, crossing.half_turn);
        let point = self.on_wall(point + crossing.chord);
        let gradient = self.table.gradient(point);
        Next::Arrival(Arrival {
            rim,
            interval: crossing.time,
            point,
            heading: rotate(turn, contact.heading).normalize(),
            gradient,
            rate: gradient.dot(&rotate(turn, w)),
        })
    }
}

/// Returns the time derivative of the wall function of an ellipse where a rim point on a circle crosses the wall again.
/// The result is computed from the time derivative `rate` at the start of the arc, which is on the wall, too: $u = -g +
/// 2\sin\eta|w|d^TQd_\perp$. Here $g$ is `rate`, $w$ the velocity of the rim at the start, $d$ the chord from the start
/// to the crossing, $\eta$ half of the turning angle in between, $Q$ the matrix of the ellipse (half its Hessian), and
/// $d_\perp$ the unit normal to the chord.
pub(super) fn carried_rate(
    table: &Ellipse,
    crossing: &Crossing,
    w: Vector2<f64>,
    rate: f64,
) -> f64 {
    let along = rotate(crossing.half_turn, w);
    let normal = Vector2::new(-along.y, along.x);
    2.0 * crossing.half_turn.y * table.form(crossing.chord, normal) - rate
}

/// Returns the crossing at which the rim that was not hit leaves the table, and the time until then (s). Both rims move on one
/// circle, and the rim that was not hit is `offset` (s) ahead of the other. `ahead` lists the crossings of the circle with the
/// wall in order: even entries leave the table, odd ones enter it. Rounding can place the rim outside the wall. The nearer
/// crossing then decides between two cases: the rim is just inside, or it hits at once.
fn wall_ahead(ahead: &[Crossing], offset: f64) -> (Crossing, f64) {
    let mut k = 0;
    while k + 2 < ahead.len() {
        let (out, back) = (ahead[k].time, ahead[k + 1].time);
        if offset <= out || offset - out < back - offset {
            break;
        }
        k += 2;
    }
    (ahead[k], (ahead[k].time - offset).max(0.0))
}

/// Returns the crossing at which the rim that was not hit leaves the table, and the time until then (s). Both rims move on one
/// circle, and the rim that was not hit is behind the other: `offset` (s) is negative. `behind` lists the crossings of the circle
/// with the wall backwards in time: even entries leave the table. Returns `None` if `behind` is empty.
fn wall_behind(behind: &[Crossing], offset: f64) -> Option<(Crossing, f64)> {
    let mut k = 0;
    while k + 2 < behind.len() {
        let (back, out) = (behind[k + 1].time, behind[k + 2].time);
        if offset >= back || back - offset < offset - out {
            break;
        }
        k += 2;
    }
    let crossing = behind.get(k)?;
    Some((*crossing, (crossing.time - offset).max(0.0)))
}
