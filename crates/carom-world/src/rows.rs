//! Contact rows of several bodies, and the effect of impulses on them.
//!
//! A contact at the world point $c$ with the unit normal $n$ from the second body into the first has,
//! for each world direction $d\in\lbrace n, t_1, t_2\rbrace$, the row
//!
//! $$ \bigl(d^T,\ (\rho_1\times R_1^Td)^T,\ -d^T,\ -(\rho_2\times R_2^Td)^T\bigr), \qquad
//!    \rho_i = R_i^T(c - x_i), $$
//!
//! on the velocities $(\dot x_1,\Omega_1,\dot x_2,\Omega_2)$. A fixed body or a plane has no columns.

use crate::body::{Body, Velocity};
use carom_geometry::pair::tangents;
use carom_variational::State;
use nalgebra::Vector3;

/// Part of a row that acts on one body.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Index of the body in its island.
    place: usize,
    linear: Vector3<f64>,
    angular: Vector3<f64>,
    /// The row times the inverse inertia: velocity change per unit of impulse.
    moved: Velocity,
}

/// One contact row: the parts on its two bodies.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    shares: [Option<Share>; 2],
    /// Velocity of the row by the surface of a second body that runs, or of a plane (m/s): it belongs to no body that moves.
    running: f64,
}

/// Velocity of the surface of a body or plane without mass (m/s); `pushes` is true if its part along the normal counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Running {
    pub(crate) velocity: Vector3<f64>,
    pub(crate) pushes: bool,
}

/// Rows of several contacts: normal, first and second tangent of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<Row>,
    /// Normal and tangents of each contact.
    pub(crate) frames: Vec<[Vector3<f64>; 3]>,
}

/// A body at a contact: index in the island, properties, state; `None` if it never moves.
pub(crate) type Side<'a> = Option<(usize, &'a Body, &'a State)>;

impl Rows {
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.frames.clear();
    }

    /// Appends the three Jacobian rows (normal, two tangents) of a contact. A row times the velocities of the bodies is the
    /// relative velocity of the contact point along one direction. `point`: position in space (m); `normal`: unit normal into the
    /// first body; `first`, `second`: the two bodies in contact, `None` for a body that never moves; `running`: velocity of the
    /// surface of such a body (m/s).
    pub(crate) fn push(
        &mut self,
        point: &Vector3<f64>,
        normal: &Vector3<f64>,
        first: Side<'_>,
        second: Side<'_>,
        running: &Running,
    ) {
        let [t1, t2] = tangents(normal);
        let frame = [*normal, t1, t2];
        for direction in &frame {
            let mut row = Row::default();
            if direction != normal || running.pushes {
                row.running = -direction.dot(&running.velocity);
            }
            for (slot, (side, sign)) in row.shares.iter_mut().zip([(first, 1.0), (second, -1.0)]) {
                let Some((place, body, state)) = side else {
                    continue;
                };
                let Some(rigid) = &body.rigid else {
                    continue;
                };
                let arm = state.rotation.rotate_back(&(point - state.position));
                let along = state.rotation.rotate_back(direction) * sign;
                let angular = arm.cross(&along);
                *slot = Some(Share {
                    place,
                    linear: direction * sign,
                    angular,
                    moved: Velocity {
                        linear: direction * (sign / rigid.mass()),
                        angular: rigid.angular_velocity(&angular),
                    },
                });
            }
            self.rows.push(row);
        }
        self.frames.push(frame);
    }

    /// Returns a copy with only the Jacobian rows of the contacts with the given indices.
    pub(crate) fn of_contacts(&self, contacts: &[usize]) -> Self {
        let rows = contacts
            .iter()
            .filter_map(|c| self.rows.get(3 * c..3 * c + 3));
        Self {
            rows: rows.flatten().copied().collect(),
            frames: contacts
                .iter()
                .filter_map(|c| self.frames.get(*c).copied())
                .collect(),
        }
    }

    /// Writes to `out` the contact velocities $Jv$ (m/s), where $J$ contains all Jacobian rows and $v$ the velocities of the
    /// bodies.
    pub(crate) fn velocities(&self, velocity: &[Velocity], out: &mut Vec<f64>) {
        out.clear();
        for row in &self.rows {
            let shares = row.shares.iter().flatten();
            let of_bodies: f64 = shares
                .map(|s| match velocity.get(s.place) {
                    Some(v) => s.linear.dot(&v.linear) + s.angular.dot(&v.angular),
                    None => 0.0,
                })
                .sum();
            out.push(if row.running == 0.0 {
                of_bodies
            } else {
                of_bodies + row.running
            });
        }
    }

    /// Returns the part of each row's velocity that is that of a running surface (m/s).
    pub(crate) fn running(&self) -> impl Iterator<Item = f64> {
        self.rows.iter().map(|row| row.running)
    }

    /// Returns the work of running surfaces by impulses on the rows (J).
    pub(crate) fn running_work(&self, impulses: &[f64]) -> f64 {
        let all = self.rows.iter().zip(impulses);
        let runs = all.filter(|(row, _)| row.running != 0.0);
        runs.map(|(row, impulse)| -row.running * impulse).sum()
    }

    /// Writes to `out` the mobility matrix $W = JM^{-1}J^T$, row-major, where $J$ contains all Jacobian rows and $M$ is the mass
    /// matrix. $W$ maps impulses on the rows to velocity changes.
    pub(crate) fn mobility(&self, out: &mut Vec<f64>) {
        out.clear();
        for i in 0..self.rows.len() {
            out.extend((0..self.rows.len()).map(|j| self.mobility_entry(i, j)));
        }
    }

    /// Returns the entry (`i`, `j`) of the mobility matrix: the velocity change of row `i` per unit impulse on row `j`.
    pub(crate) fn mobility_entry(&self, i: usize, j: usize) -> f64 {
        let mut entry = 0.0;
        let shares = |row: usize| self.rows.get(row).map_or(&[None, None], |row| &row.shares);
        for s in shares(i).iter().flatten() {
            for o in shares(j).iter().flatten() {
                if s.place == o.place {
                    entry += s.linear.dot(&o.moved.linear) + s.angular.dot(&o.moved.angular);
                }
            }
        }
        entry
    }

    /// Returns one Jacobian row as a dense vector for `n` bodies, with six entries per body: three for the velocity of its
    /// center, three for its angular velocity in body axes.
    pub(crate) fn covector(&self, row: usize, n: usize) -> Vec<f64> {
        let mut out = vec![0.0; 6 * n];
        if let Some(row) = self.rows.get(row) {
            for s in row.shares.iter().flatten() {
                for k in 0..3 {
                    if let Some(entry) = out.get_mut(6 * s.place + k) {
                        *entry += s.linear[k];
                    }
                    if let Some(entry) = out.get_mut(6 * s.place + 3 + k) {
                        *entry += s.angular[k];
                    }
                }
            }
        }
        out
    }

    /// Returns the three Jacobian rows of a contact (normal, two tangents), separately for the two bodies. Each entry
    /// contains the index of the body and its part of the rows; the entry is `None` for a body that never moves.
    pub(crate) fn of_bodies(&self, contact: usize) -> [Option<(usize, [[f64; 6]; 3])>; 2] {
        let mut out = [None; 2];
        for (k, row) in self.rows.iter().skip(3 * contact).take(3).enumerate() {
            for (slot, share) in out.iter_mut().zip(&row.shares) {
                if let Some(s) = share {
                    let (_, rows) = slot.get_or_insert((s.place, [[0.0; 6]; 3]));
                    let (l, a) = (&s.linear, &s.angular);
                    rows[k] = [l.x, l.y, l.z, a.x, a.y, a.z];
                }
            }
        }
        out
    }

    /// Returns the change of a contact's gap (m), to first order, if the bodies are moved by small `displacements`. A
    /// displacement has the components of a velocity: translation in space (m), rotation in body axes (rad).
    pub(crate) fn opening(&self, contact: usize, displacements: &[Velocity]) -> f64 {
        let shares = self
            .rows
            .get(3 * contact)
            .map_or(&[None, None], |r| &r.shares);
        let of = |s: &Share| {
            displacements
                .get(s.place)
                .map_or(0.0, |d| s.linear.dot(&d.linear) + s.angular.dot(&d.angular))
        };
        shares.iter().flatten().map(of).sum()
    }

    /// Adds to `displacements` the motion that separates the two bodies of a contact. The motion is the velocity change
    /// that an `impulse` along the normal would cause: the inverse inertia of the bodies times the normal row times
    /// `impulse`.
    pub(crate) fn part(&self, contact: usize, impulse: f64, displacements: &mut [Velocity]) {
        let shares = self
            .rows
            .get(3 * contact)
            .map_or(&[None, None], |r| &r.shares);
        for s in shares.iter().flatten() {
            if let Some(d) = displacements.get_mut(s.place) {
                d.linear += s.moved.linear * impulse;
                d.angular += s.moved.angular * impulse;
            }
        }
    }

    /// Adds the effect of contact impulses (N s, one per row) to the momenta of the bodies in `states`.
    pub(crate) fn apply(&self, impulses: &[f64], states: &mut [State]) {
        for (row, impulse) in self.rows.iter().zip(impulses) {
            if *impulse == 0.0 {
                continue;
            }
            for s in row.shares.iter().flatten() {
                if let Some(state) = states.get_mut(s.place) {
                    state.linear_momentum += s.linear * *impulse;
                    state.angular_momentum += s.angular * *impulse;
                }
            }
        }
    }

    /// Returns the total impulse of a contact on its first body as a vector in space (N s). `impulses` has one entry per row.
    pub(crate) fn impulse(&self, contact: usize, impulses: &[f64]) -> Vector3<f64> {
        match (
            self.frames.get(contact),
            impulses.get(3 * contact..3 * contact + 3),
        ) {
            (Some(frame), Some(parts)) => frame.iter().zip(parts).map(|(d, x)| d * *x).sum(),
            _ => Vector3::zeros(),
        }
    }
}
