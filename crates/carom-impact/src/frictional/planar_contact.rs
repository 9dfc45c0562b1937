//! Closed form of all outcomes that steps of one planar contact can reach.

use super::space::ContactSpace;
use crate::tolerances::FREE;
use carom_contact::ImpactProblem;
use nalgebra::{Matrix2, Vector2};

/// Computes the set of velocities after the impact that the set-valued law allows for one contact without friction or with
/// one tangent. If the contact approaches, the set is the convex hull of the returned velocities (n entries each), one or
/// two. If the contact does not approach, the returned velocities are all outcomes. `None` in space, for several contacts,
/// and if the tangent depends linearly on the normal.
pub fn outcomes(problem: &ImpactProblem, space: &ContactSpace) -> Option<Vec<Vec<f64>>> {
    if space.n_tangents > 1 || space.n_contacts != 1 {
        return None;
    }
    let momentum = problem.momentum();
    let velocity = space.velocity(momentum);
    let gram = |i: usize, j: usize| space.gram[(i, j)];
    let impulses: Vec<Vec<f64>> = match space.n_tangents {
        0 if problem.is_approaching() => vec![vec![-velocity[0] / gram(0, 0)]],
        0 => vec![vec![0.0]],
        _ => {
            let contact = PlanarContact {
                normal: gram(0, 0),
                mixed: gram(0, 1),
                tangential: gram(1, 1),
                friction: space.friction[0],
            };
            let before = Vector2::new(velocity[0], velocity[1]);
            let ends = contact.ends(before, problem.is_approaching())?;
            ends.iter().map(|l| l.as_slice().to_vec()).collect()
        }
    };
    let metric = problem.contacts().metric();
    let ends = impulses.into_iter().map(|impulse| {
        if impulse.iter().all(|l| *l == 0.0) {
            return problem.velocity_minus().0.as_slice().to_vec();
        }
        let change = space.change(&impulse);
        let momenta = change.iter().zip(momentum);
        let mut end: Vec<f64> = momenta.map(|(d, p)| (d + p) / problem.scale()).collect();
        metric.unwhiten_velocity_in_place(&mut end);
        end
    });
    Some(ends.collect())
}

/// Entries of the Gram matrix of a planar contact (normal, tangent), and its friction coefficient.
struct PlanarContact {
    normal: f64,
    mixed: f64,
    tangential: f64,
    friction: f64,
}

impl PlanarContact {
    /// Computes the impulses (normal, tangential) of the outcomes whose convex hull is the set of all outcomes of a
    /// planar contact. `before`: velocities of the two contact rows before the impact. `None` if the two contact rows
    /// are linearly dependent.
    ///
    /// Let $\sigma$ be the sign of the sliding velocity before the impact, and $d^\pm = (d^\pm_n, d^\pm_t)$ the
    /// velocity change per unit normal impulse of a contact that slides in direction $\pm$: $d^\sigma = (G_{nn} -
    /// \mu\sigma G_{nt}, G_{nt} - \mu\sigma G_{tt})$ with the Gram matrix $G$ of the rows.
    ///
    /// - The final normal velocity is zero, so the set is an interval of tangential velocities.
    /// - If $\sigma d^\sigma_t \ge 0$, sliding never stops, and no step in another mode is possible: one outcome.
    /// - If $\sigma d^\sigma_t < 0 \le \sigma d^{-\sigma}_t$, sliding slows down and no step reverses it. Steps slide,
    ///   or end with zero tangential velocity, which then stays zero: one outcome.
    /// - If both are negative, a step may slide first and later steps may reverse the sliding. With $s$ the impulse
    ///   spent in direction $d^\sigma$, the final velocity is an affine function of $s$. Routh's outcome has the
    ///   largest $s$, that of the simultaneous law the smallest. Steps that end with zero tangential velocity lie
    ///   between the two.
    ///
    /// If the contact does not approach, a step can start only if $d^\sigma_n < 0$: friction presses the contact closed
    /// (Painlevé). Then $\sigma d^\sigma_t < 0 < \sigma d^{-\sigma}_t$, and the contact comes to rest.
    fn ends(&self, before: Vector2<f64>, is_approaching: bool) -> Option<Vec<Vector2<f64>>> {
        let (a, h, d) = (self.normal, self.mixed, self.tangential);
        if a * d - h * h <= FREE * a * d {
            return None;
        }
        let slides = before[1] != 0.0;
        let sigma = before[1].signum();
        let [normal, tangential] = self.slide(sigma);
        let to_stop = if slides && sigma * tangential < 0.0 {
            -before[1] / tangential
        } else {
            f64::INFINITY
        };
        let unmoved = Vector2::zeros();
        if !is_approaching {
            let stops = slides && before[0] + to_stop * normal <= 0.0;
            return Some(if stops {
                vec![unmoved, self.stick(before)?]
            } else {
                vec![unmoved]
            });
        }
        let push = |sigma: f64, l: f64| Vector2::new(l, -sigma * self.friction * l);
        let to_close = |closing: f64, rate: f64| -> f64 {
            if rate > 0.0 {
                -closing / rate
            } else {
                f64::INFINITY
            }
        };
        let closes = to_close(before[0], normal);
        if slides && closes.is_finite() && closes <= to_stop {
            return Some(vec![push(sigma, closes)]);
        }
        if h.abs() <= self.friction * d {
            return Some(vec![self.stick(before)?]);
        }
        // Sliding reverses: the new direction has the sign of the mixed entry, and in it the contact opens.
        let reversed = h.signum();
        let [rate, drift] = self.slide(reversed);
        let first = if slides { to_stop } else { 0.0 };
        let slid = before + Vector2::new(normal, tangential) * first;
        let routh = push(sigma, first) + push(reversed, to_close(slid[0], rate));
        let alone = to_close(before[0], rate);
        let simultaneous = if reversed * (before[1] + alone * drift) >= 0.0 {
            push(reversed, alone)
        } else {
            self.stick(before)?
        };
        Some(vec![routh, simultaneous])
    }

    /// Returns the changes of the normal and tangential velocity per unit normal impulse while the contact slides in the
    /// direction `sigma` (1 or -1).
    fn slide(&self, sigma: f64) -> [f64; 2] {
        [
            self.normal - self.friction * sigma * self.mixed,
            self.mixed - self.friction * sigma * self.tangential,
        ]
    }

    /// Computes the impulse (normal, tangential) that brings both velocities of the contact from `before` to zero; `None`
    /// if the contact rows are linearly dependent.
    fn stick(&self, before: Vector2<f64>) -> Option<Vector2<f64>> {
        let gram = Matrix2::new(self.normal, self.mixed, self.mixed, self.tangential);
        Some(-gram.cholesky()?.solve(&before))
    }
}
