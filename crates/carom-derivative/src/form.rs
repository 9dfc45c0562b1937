//! Linear forms of the velocities before and after a stage and of its impulses.

use super::TieKind;
use super::decision::Decision;
use super::frame::Frame;
use super::mode::{Terms, of_row};
use super::stage::Stage;
use carom_contact::RowIndex;
use carom_metric::kernel;
use nalgebra::{DMatrix, DVector};

/// Work buffers of a test: a form on velocities (n entries), and a gradient with respect to the whitened velocity before
/// the impact (n entries).
pub(super) struct Workspace {
    pub(super) form: DVector<f64>,
    pub(super) gradient: DVector<f64>,
}

impl Workspace {
    pub(super) fn new(n: usize) -> Self {
        Self {
            form: DVector::zeros(n),
            gradient: DVector::zeros(n),
        }
    }
}

/// Linear form of the velocities before and after a stage and of its impulses. It is positive if a decision of the law is made.
#[derive(Clone, Debug)]
pub(super) struct Form {
    /// Coefficients of the row velocities after the stage.
    pub(super) after: Terms,
    /// Coefficients of the row velocities before the stage.
    pub(super) before: Terms,
    /// Coefficients of the impulses on rows.
    pub(super) impulses: Terms,
    pub(super) constant: f64,
    pub(super) decision: Decision,
}

impl Form {
    /// Creates the form of a contact without friction: its impulse if it is `closed`, otherwise its velocity after the stage.
    pub(super) fn of_contact(normal: RowIndex, closed: bool) -> Self {
        let none = Self::about(Decision::new(normal, TieKind::Closing));
        if closed {
            Self {
                impulses: of_row(normal),
                ..none
            }
        } else {
            Self {
                after: of_row(normal),
                ..none
            }
        }
    }

    /// Creates the zero form of a decision.
    pub(super) fn about(decision: Decision) -> Self {
        Self {
            after: Terms::new(),
            before: Terms::new(),
            impulses: Terms::new(),
            constant: 0.0,
            decision,
        }
    }

    /// Computes the value of this linear form of the velocities and impulses of a `stage` (part of an impact with fixed
    /// contact modes). Writes the gradient of the value with respect to the velocity before the impact into `workspace`.
    /// `before`, `after` and `impulses` are the Jacobians of the velocity before the stage, of the velocity after it, and
    /// of its impulses.
    pub(super) fn evaluate(
        &self,
        frame: &Frame<'_>,
        stage: &Stage,
        before: &DMatrix<f64>,
        after: &DMatrix<f64>,
        impulses: &DMatrix<f64>,
        workspace: &mut Workspace,
    ) -> f64 {
        let mut value = self.constant;
        let Workspace { form, gradient } = workspace;
        gradient.fill(0.0);
        for (terms, velocity, jacobian) in [
            (&self.after, stage.after(), after),
            (&self.before, stage.before(), before),
        ] {
            if terms.is_empty() {
                continue;
            }
            form.fill(0.0);
            for (k, c) in terms {
                form.axpy(*c, &frame.row(*k), 1.0);
            }
            value += kernel::dot(form.as_slice(), velocity);
            gradient.gemv_tr(1.0, jacobian, form, 1.0);
        }
        for (k, c) in &self.impulses {
            value += c * stage.impulse()[k.index()];
            for (slope, by) in gradient.iter_mut().zip(impulses.row(k.index()).iter()) {
                *slope += c * by;
            }
        }
        value
    }
}
