//! Every constant of the sparse method, with its reason. Impulses and velocities are scaled: the
//! largest diagonal entry of a contact's block is one, and so is the size of the velocities.
//! "Measured" means: on the problems of Siconos' collection and on heaps of balls and boxes.

/// Residual that a solve aims at unless the caller says otherwise: a thousandth of what counts as
/// solved, and a thousand times the rounding of a heap of some hundred contacts.
pub(super) const TOLERANCE: f64 = 1e-12;

/// A start within this fraction of the tolerance is the answer.
pub(super) const DONE: f64 = 0.01;

/// The extra Newton steps end at this fraction of the tolerance: further digits only move the next
/// time step's start.
pub(super) const POLISHED: f64 = 1e-3;

/// Newton steps after the residual has met the tolerance; convergence is quadratic there.
pub(super) const POLISHING_STEPS: usize = 2;

/// Full Newton steps of one attempt. Measured: most heaps need 3 to 12, and what takes more than
/// 20 goes on faster in the interior-point method.
pub(super) const NEWTON_STEPS: usize = 20;

/// The regularization of a Newton step is $\epsilon = c r^{3/4}$: it vanishes more slowly than
/// the residual, and still leaves convergence faster than linear.
pub(super) const REGULARIZATION_POWER: f64 = 0.75;

/// First value of the factor $c$ of the regularization.
pub(super) const REGULARIZATION: f64 = 0.15;

/// The factor $c$ grows by this much after a step that makes the residual [`WORSE`] times larger.
pub(super) const REGULARIZATION_GROWTH: f64 = 1.5;

/// The factor $c$ shrinks by this much after a step that gains less than half.
pub(super) const REGULARIZATION_DECAY: f64 = 0.5;

/// A step that makes the residual this many times larger was too long. Smaller rises are usual
/// where a contact at the edge of its cone turns.
pub(super) const WORSE: f64 = 3.0;

/// Least regularization of the impulse-space matrix: rounding of its entries.
pub(super) const LEAST_REGULARIZATION: f64 = 1e-14;

/// Least regularization of the velocity-space matrix, whose entries are as large as its reciprocal:
/// at 1e-9 the steps are rounding (measured).
pub(super) const LEAST_REGULARIZATION_OF_BODIES: f64 = 1e-6;

/// The impulse-space matrix is used up to this many contacts a body: its blocks have an eighth of
/// the size, and there are about as many neighbors.
pub(super) const CONTACTS_A_BODY: usize = 3;

/// The symbolic factors of an earlier set of contacts serve a set that lies in it and has at least
/// this fraction of it.
pub(super) const KEPT_FRACTION: f64 = 0.8;

/// Interior-point steps of one attempt. Measured: 8 to 20 end below 1e-5.
pub(super) const INTERIOR_STEPS: usize = 30;

/// Fraction of the way to the boundary of the cones.
pub(super) const TO_BOUNDARY: f64 = 0.99;

/// The start of the interior-point method is moved inside the cones by the residual, and by this
/// at most (in units of the impulses).
pub(super) const INSIDE: f64 = 0.1;

/// Push of both points into the cone, for the start from zero.
pub(super) const INSIDE_FROM_ZERO: f64 = 0.5;

/// Least distance to the boundary of the cones: below it their scaling is rounding.
pub(super) const LEAST_INSIDE: f64 = 1e-12;

/// Interior-point steps shorter than this are followed by a push into the cones.
pub(super) const SHORT_STEP: f64 = 0.1;

/// Length of that push, in units of the mean complementarity's root.
pub(super) const PUSH: f64 = 0.3;

/// Newton steps are tried from interior points with a smaller residual than this.
pub(super) const NEAR: f64 = 1e-5;

/// They are tried again after the residual has fallen by this factor.
pub(super) const NEARER: f64 = 0.2;

/// Newton steps of these attempts.
pub(super) const NEAR_STEPS: usize = 6;

/// First compliance of the proximal points.
pub(super) const PROXIMAL: f64 = 0.01;

/// First compliance of the proximal points from zero.
pub(super) const PROXIMAL_FROM_ZERO: f64 = 0.1;

/// Levels of compliance.
pub(super) const PROXIMAL_LEVELS: usize = 50;

/// Newton steps of one level, regularized as in the second stage: with 8 steps, or without the
/// regularization, three times as many heaps of 200 balls need the last stages (measured).
pub(super) const PROXIMAL_STEPS: usize = 15;

/// A level is solved to this fraction of the residual that it started with.
pub(super) const PROXIMAL_GAIN: f64 = 0.1;

/// The compliance falls to this fraction after a level of at most [`FEW_STEPS`] steps.
pub(super) const QUICK_DECAY: f64 = 0.1;
/// Steps of such a level.
pub(super) const FEW_STEPS: usize = 4;

/// The compliance falls to this fraction after a level of at most [`SOME_STEPS`] steps.
pub(super) const SLOW_DECAY: f64 = 0.3;
/// Steps of such a level.
pub(super) const SOME_STEPS: usize = 7;

/// The compliance grows by this factor after a level that failed.
pub(super) const PROXIMAL_GROWTH: f64 = 5.0;

/// Gauss-Seidel sweeps before the last proximal points.
pub(super) const SWEEPS: usize = 15;

/// Halvings of a step in the last proximal points.
pub(super) const HALVINGS: usize = 8;

/// A searched step lowers the residual by this fraction of its length at least.
pub(super) const DECREASE: f64 = 1e-4;

/// First compliances of the proximal points that follow interior points once more, one after the
/// other: what stalls at one of them goes on at another.
pub(super) const RETRIED: [f64; 6] = [1e-3, 1e-1, 1e-2, 1e-4, 1.0, 1e-2];

/// Interior points that are tried once more start this many residuals inside.
pub(super) const RETRIED_DEPTH: f64 = 100.0;
