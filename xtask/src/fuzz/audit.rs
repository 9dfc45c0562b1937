//! The rules of a success, from the JSON of a problem and its answer alone.

use super::input::{matrix, numbers};
use nalgebra::{DMatrix, DVector};
use serde_json::Value;

/// Part of its own terms by which a rule may be missed.
const ALLOWED: f64 = 1.05e-9;

/// Part of the momentum before by which a contact may close, too: rounding of the data hides as much.
const HIDDEN: f64 = 1.05e-14;

/// Conditions that a law's answers need not meet.
#[derive(Clone, Copy)]
pub(crate) struct Excuses {
    /// Energy may rise.
    pub(crate) gain: bool,
    /// Contacts may pull.
    pub(crate) pull: bool,
    /// The tangential impulse is not friction.
    pub(crate) friction: bool,
}

/// An impact as it is given.
pub(crate) struct Given {
    mass: DMatrix<f64>,
    velocity: DVector<f64>,
    /// Per contact its normal and tangents, and its friction.
    contacts: Vec<(Vec<DVector<f64>>, f64)>,
    responses: Vec<Vec<DVector<f64>>>,
    /// Rows of the constraints with their responses.
    constraints: Vec<(DVector<f64>, DVector<f64>)>,
}

/// Row of a contact at an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowState {
    pub(crate) before: f64,
    pub(crate) after: f64,
    pub(crate) impulse: f64,
    /// Velocity that may be missed: a part of the terms that the velocity is the sum of.
    pub(crate) allowed: f64,
    /// Impulse that makes this velocity.
    pub(crate) allowed_impulse: f64,
}

impl Given {
    /// Reads an impact problem from its JSON form, for checks of answers to it. Returns `None` if a plain factorization finds
    /// that the mass matrix is not positive definite.
    pub(crate) fn new(problem: &Value) -> Option<Self> {
        let velocity = DVector::from_vec(numbers(&problem["velocity"]));
        let n = velocity.len();
        let rows = matrix(&problem["mass_matrix"]);
        let mass = DMatrix::from_fn(n, n, |i, j| rows[i][j]);
        let factor = mass.clone().cholesky()?;
        let contacts: Vec<(Vec<DVector<f64>>, f64)> = problem["contacts"]
            .as_array()?
            .iter()
            .map(|contact| {
                let mut rows = vec![DVector::from_vec(numbers(&contact["normal"]))];
                rows.extend(
                    matrix(&contact["tangents"])
                        .into_iter()
                        .map(DVector::from_vec),
                );
                (rows, contact["friction"].as_f64().unwrap_or(0.0))
            })
            .collect();
        let constraints = problem.get("constraints").map(matrix).unwrap_or_default();
        let constraints = constraints.into_iter().map(DVector::from_vec);
        let constraints = constraints.map(|row| (row.clone(), factor.solve(&row)));
        let constraints: Vec<_> = constraints.collect();
        let responses = contacts
            .iter()
            .map(|(rows, _)| rows.iter().map(|row| factor.solve(row)).collect())
            .collect();
        Some(Self {
            mass,
            velocity,
            contacts,
            responses,
            constraints,
        })
    }

    /// Sums the sizes of all terms of which each entry of the velocity after the impact is made.
    fn made(&self, plus: &DVector<f64>, impulses: &[Vec<f64>], held: &[f64]) -> DVector<f64> {
        let mut made = self.velocity.abs() + plus.abs();
        for (responses, impulses) in self.responses.iter().zip(impulses) {
            for (response, l) in responses.iter().zip(impulses) {
                made += (response * *l).abs();
            }
        }
        for ((_, response), l) in self.constraints.iter().zip(held) {
            made += (response * *l).abs();
        }
        made
    }

    /// Returns the rows of each contact, normal first, at an answer that fulfills [`broken_rule`](Self::broken_rule).
    pub(crate) fn states(&self, answer: &Value) -> Vec<Vec<RowState>> {
        let plus = DVector::from_vec(numbers(&answer["velocity_plus"]));
        let impulses = matrix(&answer["impulses"]);
        let held = numbers(&answer["constraint_impulses"]);
        let made = self.made(&plus, &impulses, &held);
        let contacts = self.contacts.iter().zip(&self.responses).zip(&impulses);
        contacts
            .map(|(((rows, _), responses), impulses)| {
                let each = rows.iter().zip(responses).enumerate();
                each.map(|(r, (row, response))| {
                    let allowed = ALLOWED * row.abs().dot(&made);
                    let hidden = HIDDEN * self.momentum_norm() * row.dot(response).sqrt();
                    RowState {
                        before: row.dot(&self.velocity),
                        after: row.dot(&plus),
                        impulse: impulses.get(r).copied().unwrap_or(0.0),
                        allowed: allowed + hidden,
                        allowed_impulse: (allowed + hidden) / row.dot(response),
                    }
                })
                .collect()
            })
            .collect()
    }

    /// Kinetic norm of the momentum before the impact.
    fn momentum_norm(&self) -> f64 {
        self.velocity.dot(&(&self.mass * &self.velocity)).sqrt()
    }

    /// True if a contact of the problem approaches with a speed far above rounding errors.
    pub(crate) fn clearly_approaches(&self) -> bool {
        let speed = self.momentum_norm();
        self.contacts
            .iter()
            .zip(&self.responses)
            .any(|((rows, _), responses)| {
                let rate = rows[0].dot(&self.velocity);
                let own = rows[0].abs().dot(&self.velocity.abs());
                rate < -1e-9 * own && -rate / rows[0].dot(&responses[0]).sqrt() > 1e-9 * speed
            })
    }

    /// Checks the velocity and the impulses of an answer against the physical rules of an impact. The error describes the first
    /// rule that the answer breaks. `excuses` are the rules that the law need not fulfill.
    pub(crate) fn broken_rule(&self, answer: &Value, excuses: Excuses) -> Result<(), String> {
        let plus = DVector::from_vec(numbers(&answer["velocity_plus"]));
        let impulses = matrix(&answer["impulses"]);
        let n_rows = |contact: &(Vec<_>, f64)| contact.0.len();
        let is_whole = plus.len() == self.velocity.len()
            && impulses.len() == self.contacts.len()
            && (impulses.iter().zip(&self.contacts))
                .all(|(l, contact)| l.len() == n_rows(contact) || l.len() == 1);
        let mut all = plus.iter().chain(impulses.iter().flatten());
        if !is_whole || !all.all(|x| x.is_finite()) {
            return Err("numbers are missing or not finite".to_owned());
        }
        let each = || {
            let rows = self.contacts.iter().zip(&self.responses).zip(&impulses);
            rows.flat_map(|(((rows, _), responses), l)| {
                rows.iter()
                    .zip(responses)
                    .zip(l)
                    .map(|((row, response), l)| (row, response, *l))
            })
        };
        let held = numbers(&answer["constraint_impulses"]);
        if held.len() != self.constraints.len() {
            return Err(format!("{} constraint impulses", held.len()));
        }
        let both = self.velocity.abs() + plus.abs();
        let made = self.made(&plus, &impulses, &held);
        let size = |row: &DVector<f64>| row.abs().dot(&made);
        let of_constraints = self.constraints.iter().zip(&held);
        let of_constraints = of_constraints.map(|((row, response), l)| (row, response, *l));
        self.momentum(&plus, each().chain(of_constraints))?;
        for (k, (row, _)) in self.constraints.iter().enumerate() {
            let (before, after) = (row.dot(&self.velocity), row.dot(&plus));
            if after.abs() > ALLOWED * size(row) + before.abs() {
                return Err(format!("constraint {k} is violated by {after:e}"));
            }
        }
        let (mut work, mut allowed) = (0.0, 0.0);
        for (row, response, l) in each() {
            let (before, after) = (row.dot(&self.velocity), row.dot(&plus));
            work += 0.5 * l * (before + after);
            // A contact may close by what rounding of the momentum hides.
            allowed += 0.5 * l.abs() * HIDDEN * self.momentum_norm() * row.dot(response).sqrt();
            allowed += l.abs() * (0.5 * ALLOWED * (before.abs() + after.abs()));
            allowed += l.abs() * 5e-16 * row.abs().dot(&both);
        }
        if !excuses.gain && work > allowed {
            return Err(format!("contacts do work {work:e}, allowed is {allowed:e}"));
        }
        for (k, (((rows, friction), responses), l)) in self
            .contacts
            .iter()
            .zip(&self.responses)
            .zip(&impulses)
            .enumerate()
        {
            let closing = -rows[0].dot(&plus);
            let hidden = HIDDEN * self.momentum_norm() * rows[0].dot(&responses[0]).sqrt();
            if closing > ALLOWED * size(&rows[0]) + hidden {
                return Err(format!("contact {k} closes at {closing:e}"));
            }
            let unit = |r: usize| size(&rows[r]) / rows[r].dot(&responses[r]);
            if !excuses.pull && -l[0] > ALLOWED * unit(0) {
                return Err(format!("contact {k} pulls by {:e}", l[0]));
            }
            let tangential = l[1..].iter().fold(0.0f64, |sum, l| sum.hypot(*l));
            let excess = tangential - friction * l[0].max(0.0);
            let natural = (1..l.len()).map(unit).fold(0.0, f64::max);
            if !excuses.friction && excess > ALLOWED * natural {
                return Err(format!("contact {k} is outside its cone by {excess:e}"));
            }
        }
        Ok(())
    }

    fn momentum<'a>(
        &self,
        plus: &DVector<f64>,
        each: impl Iterator<Item = (&'a DVector<f64>, &'a DVector<f64>, f64)>,
    ) -> Result<(), String> {
        let change = plus - &self.velocity;
        let mut left = &self.mass * &change;
        let mut terms = self.mass.abs() * change.abs();
        let rounding = self.mass.abs() * (self.velocity.abs() + plus.abs());
        for (row, _, l) in each {
            left -= row * l;
            terms += (row * l).abs();
        }
        let worst = (0..left.len()).find(|&k| {
            left[k].abs() > ALLOWED * terms[k] + 5e-16 * rounding[k] + f64::MIN_POSITIVE
        });
        match worst {
            Some(k) => Err(format!(
                "momentum {k} is off by {:e} of {:e}",
                left[k], terms[k]
            )),
            None => Ok(()),
        }
    }
}
