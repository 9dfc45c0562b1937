//! Assembly of the derivative from the branch of an impact: class, ties, pieces, Jacobians, and the proven scope around the
//! velocity.

use super::branch::Walk;
use super::frame::{Frame, Variation};
use super::orientation::have_one_answer;
use super::sides::{Around, Sides};
use super::{
    Answers, Derivative, Differentiability, DifferentiableLaw, Jacobians, Piece, Query, Scope, Tie,
    Wrt,
};
use crate::SAME_JACOBIAN;
use carom_contact::{ContactIndex, ImpactError, ImpactStatus};
use nalgebra::{DMatrix, DVector};
use std::sync::OnceLock;

/// Returns the tied decisions of a branch. Each is told once; decisions about constraints are left out.
fn ties_of(frame: &Frame<'_>, walk: &Walk) -> Vec<Tie> {
    let set = frame.problem.contacts();
    let mut ties: Vec<Tie> = Vec::with_capacity(walk.tied.len());
    for tied in &walk.tied {
        let row = tied.decision.row.index();
        let has = |i: &ContactIndex| set.row_range(*i).contains(&row);
        let contact = set.indices().find(has);
        let tie = contact.map(|i| Tie {
            contact: i.index(),
            row: row - set.row_range(i).start,
            kind: tied.decision.kind,
        });
        ties.extend(tie.filter(|tie| !ties.contains(tie)));
    }
    ties
}

/// Checks that the velocity after the impact is the Jacobian of the branch times the velocity before it, as it is for laws that
/// scale with the velocity. The difference is relative to the largest entry of the Jacobian or to one, as are differences of
/// Jacobians: contacts that hinder each other may amplify a velocity. Returns an error if rounding hides the outcome.
fn check_homogeneous(frame: &Frame<'_>, way: &Walk) -> Result<(), ImpactError> {
    let mut missed = way.velocity.clone();
    missed.gemv(1.0, &way.jacobian, &frame.before, -1.0);
    missed /= way.jacobian.amax().max(1.0);
    if frame.is_rounding(&missed, SAME_JACOBIAN) {
        return Ok(());
    }
    Err(ImpactError::NotDifferentiated {
        reason: "the impulses are so large that the outcome is rounding; move the data by more than \
                 rounding",
    })
}

impl<'p> Derivative<'p> {
    /// Creates the derivative of the `outcome` of a law from its `branch`. If `is_member` is true, the outcome is a member of a set
    /// of outcomes, and the law cannot be evaluated beside it. `wrt` selects the Jacobians, and `tolerance` is the relative
    /// tolerance of ties.
    pub(super) fn new(
        law: &dyn DifferentiableLaw,
        query: Query<'_, 'p>,
        wrt: &Wrt,
    ) -> Result<Self, ImpactError> {
        let branch = law.branch(query)?;
        let mut derivative = Self {
            own: None,
            is_event_wide: law.has_event_restitution(),
            to_plastic: branch.to_plastic,
            towards: OnceLock::new(),
            class: None,
            nearest: 0.0,
            seen_part: 1.0,
            work: 0,
            scope: OnceLock::new(),
            is_complete: branch.is_complete,
            is_bounded: true,
            answers: branch.answers,
            reason: branch.reason,
            ties: Vec::new(),
            pieces: Vec::new(),
            own_jacobians: Jacobians::default(),
            frame: branch.frame,
        };
        let Some(mut own) = branch.walk else {
            return Ok(derivative);
        };
        derivative.work = own.work;
        let after = derivative.frame.of_velocity(&query.outcome.velocity_plus.0);
        let missed = &after - &own.velocity;
        let leads_there = derivative.frame.is_rounding(&missed, SAME_JACOBIAN);
        if !own.is_tied() && !leads_there {
            return Err(ImpactError::NotDifferentiated {
                reason: "its stages do not lead to the outcome",
            });
        }
        if own.is_tied() {
            derivative.ties = ties_of(&derivative.frame, &own);
            own.is_pinched |= !leads_there;
            let frame = &derivative.frame;
            let around = Around::new(law, frame, query, &own);
            let mut sides = around.sides(&own, wrt.pieces)?;
            if branch.is_kink || !sides.are_one() {
                derivative.set_sides(own, sides, wrt);
                return Ok(derivative);
            }
            derivative.ties.clear();
            own = sides.walks.swap_remove(0);
        }
        if branch.is_homogeneous {
            check_homogeneous(&derivative.frame, &own)?;
        }
        derivative.class = Some(Differentiability::Smooth);
        derivative.is_complete = true;
        derivative.is_bounded = own.is_bounded;
        derivative.nearest = own.margin;
        let is_quiet = own.is_quiet();
        derivative.own = Some(own);
        derivative.find_jacobians(
            wrt,
            is_quiet && query.outcome.status != ImpactStatus::Resolved,
        );
        Ok(derivative)
    }

    /// Stores a tie of the branch `own`: its class, the branches on its `sides` as pieces if these were asked for, and the Jacobians
    /// of the first.
    fn set_sides(&mut self, own: Walk, sides: Sides, wrt: &Wrt) {
        let frame = &self.frame;
        let piece = |way: &Walk| Piece {
            velocity_plus: frame.velocity(&way.velocity),
            dv_dv: if way.is_quiet() {
                DMatrix::identity(frame.dim(), frame.dim())
            } else {
                frame.jacobian(&way.jacobian)
            },
            direction: way.towards.as_ref().map_or_else(
                || DVector::zeros(frame.dim()),
                |direction| frame.velocity(direction) * frame.problem.scale(),
            ),
        };
        self.class = Some(match sides.are_continuous {
            _ if !wrt.pieces || !sides.is_known => Differentiability::Tied,
            true => Differentiability::Kink,
            false => Differentiability::Jump,
        });
        self.work += sides.work;
        self.is_complete &= wrt.pieces && sides.is_complete && !sides.is_round;
        if wrt.pieces {
            self.pieces = sides.walks.iter().map(piece).collect();
        }
        let own = sides.walks.into_iter().next().unwrap_or(own);
        let is_quiet = own.is_quiet();
        self.own = Some(own);
        self.find_jacobians(wrt, is_quiet);
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
        if self.smooth_way().is_none() {
            return Scope {
                is_unique: None,
                margin: self.class.map(|_| 0.0),
            };
        }
        let (is_unique, is_known) = match &self.answers {
            Answers::One => (true, true),
            Answers::OneSomewhere => (true, false),
            Answers::Steps {
                cones,
                has_caps,
                steps,
            } => {
                let mut steps = steps.iter();
                let is_one = steps.all(|step| have_one_answer(frame, step, *cones, *has_caps));
                (is_one, is_one)
            }
        };
        Scope {
            is_unique: is_unique.then_some(true),
            margin: (is_known && self.is_bounded).then(|| part(self.nearest)),
        }
    }
}
