//! Search for the next arrival of a rim at the wall.

use super::shared_circle::{Arc, Crossing, rotate};
use super::{PennyBilliard, PennyState, Rim};
use crate::billiard::march::{March, march};
use crate::billiard::trig::sin_cos_sinc;
use crate::billiard::{BilliardError, Ellipse, Table};
use crate::hybrid::Ending;
use nalgebra::Vector2;
use std::f64::consts::TAU;

/// A wall function up to this is contact, not penetration.
pub(super) const CONTACT_VALUE: f64 = 16.0 * f64::EPSILON;

/// Above this sine of the angle of incidence the rate of the wall function is read off the state;
/// below it is carried along the circle. Reading it always loses a grazing cascade after 15
/// impacts, carrying it always lets state and rate drift apart.
const GRAZING_SINE: f64 = 1e-2;

/// A rate or second derivative below this fraction of its terms is rounding.
const ROUNDING: f64 = 1e-14;

/// Just after an impact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    pub(super) time: f64,
    pub(super) rim: Rim,
    pub(super) point: Vector2<f64>,
    pub(super) heading: Vector2<f64>,
    pub(super) state: PennyState,
    /// Rate of the wall function at the rim, negative.
    pub(super) rate: f64,
}

/// A rim about to hit.
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
    /// Velocity of a rim point, $R(\Omega t + \sigma\omega s)$.
    #[inline]
    fn rim_velocity(&self, rim: Rim, heading: Vector2<f64>, state: &PennyState) -> Vector2<f64> {
        let r = self.penny.radius();
        rotate(
            heading,
            Vector2::new(r * state.theta_dot, r * rim.sign() * state.phi_dot),
        )
    }

    /// The first arrival from a start that need not be on the wall.
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
                let bend = (w.transpose() * self.table.hessian(point) * w)[0];
                let turn = state.phi_dot * gradient.dot(&turned);
                let second = bend + turn;
                let rounding = 100.0 * ROUNDING * (bend.abs() + turn.abs());
                if second > rounding {
                    return Next::End(Ending::PressedContact);
                }
                if second >= -rounding {
                    // The rim runs along the wall.
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

    /// Crossing at which a rim inside the wall leaves the table.
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

    /// Crossing at which a rim that leaves the wall inwards hits it again.
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

    /// Next hit on any table within a time (s), by certified steps.
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

    /// A Newton step onto the wall.
    fn on_wall(&self, point: Vector2<f64>) -> Vector2<f64> {
        let gradient = self.table.gradient(point);
        point - self.table.value(point) / gradient.norm_squared() * gradient
    }

    /// The next arrival after an impact.
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
            // Only a rate lost in rounding lets a rim that came in never go out.
            return Next::End(Ending::GrazingCascade);
        };
        // The other rim runs this much ahead on the same circle.
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
            // Both rims have the same velocity at the same place; their headings differ by twice
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
        // The other rim counts only where it is the first to hit.
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

/// Rate of the wall function of a conic where a circle crosses it again, from the rate where it
/// crossed before: $u = -g + |w|\sin\eta d^THd_\perp$ with the chord d, its half turn
/// $\eta$, the Hessian H and $d_\perp$ normal to the chord.
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

/// Place and time at which the other rim, `offset` ahead on the circle, goes out. Even entries of `ahead`
/// go out, odd ones in. A rim that rounding puts beyond the wall is taken to the nearer end: it
/// is inside, or hits at once.
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

/// Crossing of a rim behind: `offset` is negative, and the nearest crossing behind goes out.
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
