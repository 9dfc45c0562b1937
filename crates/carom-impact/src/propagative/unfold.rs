//! Closed form of a chain of impacts at two contacts.

use super::tree::merge_tolerances;
use super::{Elastic, Propagative, SEQUENCE_LIMIT};
use carom_contact::internal::{GRAZING_TOLERANCE, MomentumChange};
use carom_contact::{ContactSet, ImpactError, ImpactProblem, Numbers, UnitRow};
use carom_metric::{Wedge, kernel};
use smallvec::smallvec;
use std::f64::consts::TAU;

/// Value of $\tan\gamma$ below which the closed form replaces the chain: from 50 impacts on,
/// $\gamma \le \pi/100$.
const STEEP: f64 = 0.031_426_266_043_351_15;

/// Sine of the half angle below which a wedge has no interior to working precision.
const CLOSED_WEDGE: f64 = 1e-8;

/// The two distinct normals.
const PAIR: [UnitRow; 2] = [UnitRow::new(0), UnitRow::new(1)];

/// Closed form of the alternating elastic impacts of two contacts. It stores the momentum before the impact relative to the
/// wedge of the two contact normals.
///
/// Notation: unit normals $u$ and $v$ of the contacts, half angle $\gamma$ of their wedge.
///
/// Unfolding replaces a chain of reflections in a wedge by a straight line through mirrored copies of the wedge. The
/// momentum has the polar angle $\theta$ from the middle direction $r = (u+v)/\lVert u+v\rVert$ (positive towards $u$). The
/// line crosses $k = \lceil a/2\gamma - 1/2\rceil$ mirrors, one per impact, where $a = \mp\theta \bmod 2\pi$. So any number
/// of impacts costs two trigonometric functions.
#[derive(Clone, Debug)]
pub struct TwoContacts {
    wedge: Wedge,
    gamma: f64,
    /// Orthonormal basis of the plane in whitened coordinates: r, then the direction perpendicular to r on the side of `u`.
    basis: [Numbers; 2],
    /// Coordinates of the momentum in this basis, and the velocities of the two unit normals.
    xy: [f64; 2],
    b: [f64; 2],
    grazing: [f64; 2],
}

/// End of an alternating chain of elastic impacts at two contacts: the number of impacts and the direction of the final
/// momentum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unfolding {
    /// Number of impacts.
    pub impacts: u64,
    /// Final polar angle of the momentum in its plane, in $[-\gamma, \gamma]$.
    pub angle: f64,
}

impl TwoContacts {
    /// Prepares the closed form for a problem with exactly two distinct normals; `None` for any other number.
    pub fn new(problem: &ImpactProblem) -> Option<Self> {
        let contacts: &ContactSet = problem.contacts();
        let ([bu, bv], [gu, gv]) = (problem.unit_velocity(), problem.grazing()) else {
            return None;
        };
        let [first, second] = PAIR;
        let (u, v) = (contacts.unit(first), contacts.unit(second));
        let wedge = contacts.wedge(first, second);
        let combine = |sign: f64, norm: f64| -> Numbers {
            let scale = if norm > 0.0 { 0.5 / norm } else { 0.0 };
            u.iter()
                .zip(v)
                .map(|(u, v)| (u + sign * v) * scale)
                .collect()
        };
        let basis = [combine(1.0, wedge.sin), combine(-1.0, wedge.cos)];
        let along = |axis: &[f64]| kernel::dot(axis, problem.momentum());
        Some(Self {
            xy: [along(&basis[0]), along(&basis[1])],
            gamma: wedge.half_angle(),
            wedge,
            basis,
            b: [*bu, *bv],
            grazing: [*gu, *gv],
        })
    }

    /// Prepares the closed-form outcome for two distinct normals whose sequence of single impacts would be long, since they
    /// are nearly opposed; `None` for any other problem.
    pub(super) fn when_steep(problem: &ImpactProblem) -> Option<Self> {
        if problem.contacts().n_distinct() != 2 {
            return None;
        }
        let [first, second] = PAIR;
        let wedge = problem.contacts().wedge(first, second);
        if wedge.sin <= STEEP * wedge.cos {
            Self::new(problem)
        } else {
            None
        }
    }

    /// Computes the end of the alternating chain of impacts that starts at contact `first` (0 or 1). Returns `None` if that
    /// contact does not approach, or if the normals are opposite, so that the wedge of admissible momenta has no opening angle.
    pub fn unfold(&self, first: usize) -> Option<Unfolding> {
        let mut velocities = self.b.iter().zip(&self.grazing);
        let approaches = velocities
            .nth(first)
            .is_some_and(|(b, grazing)| *b < -grazing);
        if !approaches || self.wedge.sin < CLOSED_WEDGE {
            return None;
        }
        let theta = libm::atan2(self.xy[1], self.xy[0]);
        let mirrored = if first == 0 { -theta } else { theta };
        let angle = mirrored.rem_euclid(TAU);
        // A last impact within the grazing tolerance does not count as an impact.
        let spacing = 2.0 * self.gamma;
        let impacts = ((angle - GRAZING_TOLERANCE) / spacing - 0.5)
            .ceil()
            .max(1.0);
        let left = angle - spacing * impacts;
        let parity = if impacts % 2.0 == 0.0 { left } else { -left };
        let angle = if first == 0 { -parity } else { parity };
        Some(Unfolding {
            impacts: impacts as u64,
            angle,
        })
    }

    /// Difference of the outcomes of the two orders of impacts, relative to the momentum $p$ before: $\xi =
    /// 2\rho|\sin((\varphi_u - \varphi_v)/2)|/\lVert p\rVert$. Here $\varphi_u$, $\varphi_v$ are the final polar angles of
    /// the momentum if the contact with the normal $u$ or $v$ is first, and $\rho$ is the norm of the momentum in the plane
    /// of the normals. 0 unless both contacts approach.
    pub fn indeterminacy(&self, problem: &ImpactProblem) -> f64 {
        match (self.unfold(0), self.unfold(1)) {
            (Some(u), Some(v)) => {
                let rho = libm::hypot(self.xy[0], self.xy[1]);
                2.0 * rho * libm::sin(0.5 * (u.angle - v.angle)).abs() / problem.norm()
            }
            _ => 0.0,
        }
    }

    fn leaf(&self, problem: &ImpactProblem, first: usize, end: Unfolding) -> Elastic {
        let rho = libm::hypot(self.xy[0], self.xy[1]);
        let dx = rho * libm::cos(end.angle) - self.xy[0];
        let dy = rho * libm::sin(end.angle) - self.xy[1];
        let (sum, difference) = (dx / self.wedge.sin, dy / self.wedge.cos);
        let mut change: Numbers = smallvec![0.0; problem.momentum().len()];
        kernel::add_scaled(&mut change, dx, &self.basis[0]);
        kernel::add_scaled(&mut change, dy, &self.basis[1]);
        let impulse = smallvec![0.5 * (sum + difference), 0.5 * (sum - difference)];
        let alternate = |impacts: u64| {
            let indices = (0..impacts as usize).map(|k| (first + k) % 2);
            indices.map(UnitRow::new).collect()
        };
        Elastic {
            momentum_change: MomentumChange::elastic(problem, impulse, change),
            sequence: (end.impacts <= SEQUENCE_LIMIT).then(|| alternate(end.impacts)),
            impacts: end.impacts,
            n_sequences: 1,
            lengths: Vec::new(),
        }
    }

    fn refuse_closed_wedge(&self, contacts: &ContactSet) -> Result<(), ImpactError> {
        if self.wedge.sin < CLOSED_WEDGE {
            let jammed = PAIR.map(|j| contacts.contact_at(j).index()).to_vec();
            return Err(ImpactError::NoElasticOutcome { jammed });
        }
        Ok(())
    }

    fn checked(
        &self,
        problem: &ImpactProblem,
        law: &Propagative,
        first: usize,
    ) -> Result<Option<Elastic>, ImpactError> {
        let Some(end) = self.unfold(first) else {
            return Ok(None);
        };
        match law.max_impacts {
            Some(limit) if end.impacts > limit => Err(ImpactError::too_many_impacts(limit)),
            _ => Ok(Some(self.leaf(problem, first, end))),
        }
    }

    /// Computes the elastic outcome of two contacts in closed form, for the order that the selection rule of `law` chooses.
    pub(super) fn elastic(
        &self,
        problem: &ImpactProblem,
        law: &Propagative,
    ) -> Result<Elastic, ImpactError> {
        self.refuse_closed_wedge(problem.contacts())?;
        let mut selector = super::selection::Selector::new(&law.selection, problem.contacts());
        let first = selector.next(&self.b, &self.grazing);
        let first = first.map_or(0, UnitRow::index);
        match self.checked(problem, law, first)? {
            Some(leaf) => Ok(leaf),
            // Only grazing momenta come here: there is no impact.
            None => Ok(self.leaf(
                problem,
                0,
                Unfolding {
                    impacts: 0,
                    angle: libm::atan2(self.xy[1], self.xy[0]),
                },
            )),
        }
    }

    /// Computes the outcomes of two contacts in closed form for both orders, i.e. for either contact as the first.
    pub(super) fn all(
        &self,
        problem: &ImpactProblem,
        law: &Propagative,
    ) -> Result<super::tree::Found, ImpactError> {
        self.refuse_closed_wedge(problem.contacts())?;
        let tolerances = merge_tolerances(problem);
        let mut found = super::tree::Found::default();
        for first in [0, 1] {
            if let Some(leaf) = self.checked(problem, law, first)? {
                found.push(leaf, &tolerances);
            }
        }
        if law.filter == super::SequenceFilter::Minimal {
            found.keep_shortest();
        }
        found.leaves.sort_by_key(|leaf| leaf.impacts);
        found.exhausted = true;
        Ok(found)
    }
}
