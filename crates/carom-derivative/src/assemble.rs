//! Assembly of the derivative from the branches of an impact: class, pieces, Jacobians, and the proven scope around the
//! velocity.

use super::alternatives::Modes;
use super::branch::Walk;
use super::cover::cover;
use super::directions::spread;
use super::frame::{Frame, Variation};
use super::{
    Answers, Branches, Derivative, Differentiability, Jacobians, Piece, SAME_OUTCOME, SAME_WAY,
    Scope, Wrt, are_one,
};
use carom_contact::{ImpactError, ImpactOutcome, ImpactStatus};
use nalgebra::{DMatrix, DVector};
use std::sync::OnceLock;

/// The mode beyond the nearest decision begins exactly at its distance. This factor distinguishes it from a mode that
/// answers within that distance.
const INSIDE: f64 = 1.0 - 1e-6;

/// True if, for a change of the velocity before the impact in any direction, at least one of the branches `ways`
/// continues. Each branch is valid in a cone of directions, bounded by its tied decisions, which a tiny change of the
/// velocity reverses. The function tests if the union of these cones is all of space; if there are too many cones, it
/// tests a few directions.
pub(super) fn leads_everywhere(frame: &Frame<'_>, ways: &[Walk]) -> Result<bool, ImpactError> {
    let cones: Vec<&[DVector<f64>]> = ways.iter().map(Walk::ties).collect();
    if let Some(cover) = cover(&cones)? {
        return Ok(cover);
    }
    let opposite = ways.iter().map(|way| Ok(-way.direction(frame)?));
    let opposite = opposite.collect::<Result<Vec<_>, ImpactError>>()?;
    let directions = spread(frame, opposite, |direction| frame.admit(direction));
    let is_reached = |direction: &DVector<f64>| ways.iter().any(|way| way.leads(direction));
    Ok(directions.iter().all(is_reached))
}

/// True if two branches have the same outcome and the same Jacobian.
pub(super) fn are_same(frame: &Frame<'_>, way: &Walk, other: &Walk) -> bool {
    let moved = &way.velocity - &other.velocity;
    frame.is_zero(&moved, SAME_OUTCOME) && are_one(&way.jacobian, &other.jacobian)
}

/// Leaves out the branches that have the same outcome and the same Jacobian as an earlier one.
fn distinct_ways(frame: &Frame<'_>, ways: Vec<Walk>) -> Vec<Walk> {
    let mut distinct: Vec<Walk> = Vec::with_capacity(ways.len());
    for way in ways {
        if !distinct.iter().any(|other| are_same(frame, &way, other)) {
            distinct.push(way);
        }
    }
    distinct
}

/// Checks that the velocity after the impact is the Jacobian of the branch times the velocity before it, as it is for laws that
/// scale with the velocity. The difference is relative to the largest entry of the Jacobian or to one, as are differences of
/// Jacobians: contacts that hinder each other may amplify a velocity. Returns an error if rounding hides the outcome.
fn check_homogeneous(frame: &Frame<'_>, way: &Walk) -> Result<(), ImpactError> {
    let mut missed = way.velocity.clone();
    missed.gemv(1.0, &way.jacobian, &frame.before, -1.0);
    missed /= way.jacobian.amax().max(1.0);
    if frame.is_rounding(&missed, SAME_WAY) {
        return Ok(());
    }
    Err(ImpactError::NotDifferentiated {
        reason: "the impulses are so large that the outcome is rounding; move the data by more than \
                 rounding",
    })
}

impl<'p> Derivative<'p> {
    /// Creates the derivative from the branches that a law takes near its `outcome`. `wrt` selects the Jacobians, `tolerance` is
    /// the relative tolerance of ties, and `is_event_wide` is true if one restitution belongs to the whole event.
    pub(super) fn new(
        branches: Branches<'p>,
        outcome: &ImpactOutcome,
        wrt: &Wrt,
        tolerance: f64,
        is_event_wide: bool,
    ) -> Result<Self, ImpactError> {
        let Branches {
            frame,
            mut ways,
            is_complete,
            is_amplified,
            to_plastic,
            is_homogeneous,
            is_kink: kinks,
            is_continuous,
            answers,
            reason,
            work,
        } = branches;
        let mut derivative = Self {
            own: None,
            is_event_wide,
            to_plastic,
            towards: OnceLock::new(),
            class: None,
            nearest: f64::INFINITY,
            tolerance,
            seen_part: 1.0,
            work,
            scope: OnceLock::new(),
            is_complete,
            answers,
            reason,
            pieces: Vec::new(),
            own_jacobians: Jacobians::default(),
            frame,
        };
        if reason.is_some() {
            return Ok(derivative);
        }
        let frame = &derivative.frame;
        let after = frame.of_velocity(&outcome.velocity_plus.0);
        if ways.is_empty() {
            return Err(ImpactError::NotDifferentiated {
                reason: "contacts that depend on each other hold it in more ways than the velocities nearby \
                         allow; move the data by more than rounding",
            });
        }
        // The law's own branch is missing if it is that of no velocity nearby; another one that leads to the outcome takes its place.
        let leads_there = |way: &Walk| frame.is_rounding(&(&after - &way.velocity), SAME_WAY);
        match ways.iter().position(leads_there) {
            Some(own) => ways[..=own].rotate_right(1),
            // A law that was evaluated nearby may answer differently there.
            None if is_continuous.is_some() => {}
            None => {
                return Err(ImpactError::NotDifferentiated {
                    reason: "its stages do not lead to the outcome",
                });
            }
        }
        let least = |of: fn(&Walk) -> f64| ways.iter().map(of).fold(f64::INFINITY, f64::min);
        let (next, nearest) = (least(|way| way.margin), least(|way| way.least));
        let n_ways = ways.len();
        let is_tied = ways.iter().any(Walk::is_tied);
        // If no branch continues in some direction, the law has another answer there, or none.
        let is_covered = match is_continuous {
            Some(is_continuous) => is_continuous,
            None => leads_everywhere(frame, &ways)?,
        };
        // Beyond a branch on which a change of the velocity grows without limit the outcome jumps.
        let is_truncated = !is_complete && is_continuous.is_none() && !is_amplified;
        let mut distinct = distinct_ways(frame, ways);
        let is_one = distinct.len() == 1 && !kinks && is_covered;
        derivative.is_complete =
            (is_complete && is_covered) || (is_one && n_ways == 1 && !distinct[0].is_tied());
        if !is_one {
            // Without a tied decision the law was found to answer otherwise right beside the velocity.
            derivative.nearest = if is_tied { nearest } else { 0.0 };
            let may_be_kink = is_covered || is_truncated;
            derivative.set_pieces(distinct, &after, may_be_kink, wrt)?;
            return Ok(derivative);
        }
        if is_homogeneous {
            check_homogeneous(frame, &distinct[0])?;
        }
        derivative.class = Some(Differentiability::Smooth);
        derivative.nearest = next;
        derivative.own = distinct.pop();
        let is_quiet = derivative.own.as_ref().is_some_and(Walk::is_quiet);
        derivative.find_jacobians(wrt, is_quiet && outcome.status != ImpactStatus::Resolved);
        Ok(derivative)
    }

    /// Stores the branches `distinct` as the pieces of a kink or a jump. `after` is the whitened velocity after the impact. A
    /// kink needs that all pieces lead there, and that `may_be_kink` is true.
    fn set_pieces(
        &mut self,
        distinct: Vec<Walk>,
        after: &DVector<f64>,
        may_be_kink: bool,
        wrt: &Wrt,
    ) -> Result<(), ImpactError> {
        let frame = &self.frame;
        let leads_there = |way: &Walk| frame.is_rounding(&(&way.velocity - after), SAME_WAY);
        let is_kink = may_be_kink && distinct.iter().all(leads_there);
        let piece = |way: &Walk| {
            let direction = way.direction(frame)?;
            Ok(Piece {
                velocity_plus: frame.velocity(&way.velocity),
                dv_dv: if way.is_quiet() {
                    DMatrix::identity(frame.dim(), frame.dim())
                } else {
                    frame.jacobian(&way.jacobian)
                },
                direction: frame.velocity(&direction) * frame.problem.scale(),
            })
        };
        let pieces = distinct.iter().map(piece);
        self.pieces = pieces.collect::<Result<Vec<_>, ImpactError>>()?;
        self.own = distinct.into_iter().next();
        let is_quiet = self.own.as_ref().is_some_and(Walk::is_quiet);
        self.find_jacobians(wrt, is_quiet);
        self.class = Some(if is_kink {
            Differentiability::Kink
        } else {
            Differentiability::Jump
        });
        Ok(())
    }

    /// Computes and stores the Jacobians that `wrt` selects, on the branch that the law itself takes. `is_identity` is
    /// true if no contact has an impulse: the Jacobian with respect to the velocity is then the identity.
    fn find_jacobians(&mut self, wrt: &Wrt, is_identity: bool) {
        let (frame, Some(way)) = (&self.frame, &self.own) else {
            return;
        };
        let mut found = Jacobians::default();
        if wrt.velocity {
            found.dv_dv = Some(if is_identity {
                DMatrix::identity(frame.dim(), frame.dim())
            } else {
                frame.jacobian(&way.jacobian)
            });
            found.dimpulses_dv =
                (!way.is_dependent()).then(|| frame.impulse_jacobian(&way.impulses));
        }
        let columns = |variations: Vec<Variation>| {
            let mut out = DMatrix::zeros(frame.dim(), variations.len());
            for (mut column, variation) in out.column_iter_mut().zip(&variations) {
                column.copy_from(&way.along(frame, variation).0);
            }
            frame.velocities(out)
        };
        let contacts = frame.problem.contacts().indices();
        let knows = way.knows_coefficients();
        if wrt.friction && knows {
            found.dv_dfriction = Some(columns(
                contacts.clone().map(Variation::of_friction).collect(),
            ));
        }
        if wrt.restitution && knows && self.to_plastic.is_none() {
            let variations = if self.is_event_wide {
                vec![Variation::of_restitution(None)]
            } else {
                contacts
                    .map(|i| Variation::of_restitution(Some(i)))
                    .collect()
            };
            found.dv_drestitution = Some(columns(variations));
        }
        if wrt.restitution
            && let Some(blend) = self.towards_plastic()
        {
            let mut velocity = DVector::zeros(frame.dim());
            let mut impulse = DVector::zeros(frame.n_rows());
            blend.add_restitution(1.0, &mut velocity, &mut impulse);
            let column = DMatrix::from_column_slice(frame.dim(), 1, velocity.as_slice());
            found.dv_drestitution = Some(frame.velocities(column));
        }
        self.own_jacobians = found;
    }

    /// Returns the scope of this derivative: the proven distance up to which no decision of the law changes and no
    /// other answer exists, and the uniqueness of the answer. The scope is computed at the first call, then cached.
    pub(super) fn scope(&self) -> Scope {
        *self.scope.get_or_init(|| self.find_scope())
    }

    fn find_scope(&self) -> Scope {
        let frame = &self.frame;
        let part = |distance: f64| {
            if frame.speed > 0.0 {
                distance / frame.speed * self.seen_part
            } else {
                distance
            }
        };
        let Some(way) = self.smooth_way() else {
            return Scope {
                is_unique: None,
                margin: self.class.map(|_| part(self.nearest)),
            };
        };
        let nearest_other = match &self.answers {
            Answers::OneSomewhere => {
                return Scope {
                    is_unique: Some(true),
                    margin: None,
                };
            }
            Answers::One => Some(f64::INFINITY),
            Answers::Modes {
                cones,
                rebounds,
                steps,
            } => {
                let modes = Modes {
                    cones: *cones,
                    rebounds: *rebounds,
                    steps,
                };
                modes.nearest_other(frame, way, self.nearest, self.tolerance)
            }
        };
        Scope {
            is_unique: nearest_other.map(|other| other >= INSIDE * self.nearest),
            margin: nearest_other.and_then(|other| {
                let proven = other.min(self.nearest);
                (proven > 0.0).then(|| part(proven))
            }),
        }
    }
}
