//! Contacts that a step without a search for events may close: points of pairs, and limits of coordinates.

use super::contact::{LimitContact, Place, Posed};
use super::run::Run;
use super::world::JointedWorld;
use crate::pair::ContactPoint;
use carom_joints::elimination::rate;
use carom_joints::frames::Row;
use carom_joints::step::contacts::ContactRow;
use carom_variational::State;

/// Contact of a step: a point of a pair or a limit.
#[derive(Clone, Debug)]
pub(super) struct Near {
    pub(super) posed: Posed,
    /// The point of a pair; `None` for a limit.
    pub(super) point: Option<ContactPoint>,
    /// Distance that is left before the contact closes (m or rad), negative for an overlap.
    pub(super) gap: f64,
    /// Distance within which the contact counts as closed (m or rad).
    pub(super) tolerance: f64,
}

impl Near {
    /// Returns the rows of the contact: its normal, and with friction two tangents.
    pub(super) fn rows(&self) -> &[ContactRow] {
        &self.posed.rows[..self.posed.n_rows()]
    }

    /// Moves the contact with the bodies to other `states`, at which the coordinates are `q` and the joints have the rows `joint_rows`.
    pub(super) fn moved(
        &self,
        world: &JointedWorld,
        states: &[State],
        (q, joint_rows): (&[f64], &[Row]),
    ) -> Self {
        let mut out = self.clone();
        match (self.posed.place, &self.point) {
            (Place::Limit(limit), _) => {
                let (mb, k) = (world.multibody(), limit.coordinate);
                let row = world.row_of(k);
                let joint = mb.joint_of_row(row);
                let c = &mb.joints()[joint].coordinates[k - mb.coordinates_of(joint).start];
                let ends = *mb.ends(joint);
                out.posed = Posed::limit(limit, &joint_rows[row], ends, c.restitution, 0.0);
                let bound = if limit.upper { c.upper } else { c.lower };
                out.gap = limit.sign() * (q[k] - bound);
            }
            (Place::Point { pair, .. }, Some(point)) => {
                let touch = world.touch();
                let of = &touch.pairs[pair];
                let point = touch.moved(of, point, states);
                let (rows, frame) = touch.rows(of, &point, states);
                out.posed.place = Place::Point {
                    pair,
                    point: point.point,
                    gap: point.gap,
                };
                (out.posed.rows, out.posed.frame) = (rows.to_vec(), frame);
                (out.point, out.gap) = (Some(point), point.gap);
            }
            _ => (),
        }
        out
    }
}

impl Run<'_> {
    /// Returns all contacts that can close within a step of `length` (s) from the present posture.
    pub(super) fn near(&self, length: f64) -> Vec<Near> {
        let mut list = self.near_limits(length);
        let touch = self.world.touch();
        let states = &self.posture.states;
        let velocities = self.velocities();
        let fall = touch.flights.gravity.norm() * length;
        let mut found = Vec::new();
        for (index, pair) in touch.pairs.iter().enumerate() {
            let reach = pair.tolerance + 2.0 * length * (touch.speed(pair, states) + fall);
            if !touch.is_near(pair, states, 0.0, reach) {
                continue;
            }
            found.clear();
            touch.points(pair, states, reach, &mut found);
            for point in &found {
                let point = touch.on_face(pair, point);
                let (rows, frame) = touch.rows(pair, &point, states);
                let before = rows.map(|row| rate(&row.row, &row.ends, &velocities));
                list.push(Near {
                    posed: Posed {
                        place: Place::Point {
                            pair: index,
                            point: point.point,
                            gap: point.gap,
                        },
                        rows: rows.to_vec(),
                        frame,
                        restitution: pair.surface.restitution,
                        friction: pair.surface.friction,
                        before,
                    },
                    point: Some(point),
                    gap: point.gap,
                    tolerance: pair.tolerance,
                });
            }
        }
        list
    }

    /// Returns the limits that coordinates can reach within a step of `length` (s).
    fn near_limits(&self, length: f64) -> Vec<Near> {
        let (world, mb) = (self.world, self.world.multibody());
        let mut rows = Vec::new();
        mb.rows(&self.posture.states, &self.posture.q, &mut rows);
        let rates = self.rates.iter();
        let fastest = rates.fold(0.0, |most: f64, rate| most.max(rate.abs()));
        let mut list = Vec::new();
        for k in 0..self.rates.len() {
            let (c, joint) = self.coordinate(k);
            let within = 2.0 * length * (fastest + self.fastest * self.unit(k) / mb.size());
            for (bound, upper) in [(c.lower, false), (c.upper, true)] {
                let contact = LimitContact {
                    coordinate: k,
                    upper,
                };
                let tolerance = self.at_bound(k, bound);
                let gap = contact.sign() * (self.posture.q[k] - bound);
                if bound.is_finite() && gap <= tolerance + within {
                    let (row, ends) = (rows[world.row_of(k)], *mb.ends(joint));
                    let rate = contact.sign() * self.rates[k];
                    list.push(Near {
                        posed: Posed::limit(contact, &row, ends, c.restitution, rate),
                        point: None,
                        gap,
                        tolerance,
                    });
                }
            }
        }
        list
    }
}
