//! Constants of the sparse method, with their reasons. Impulses and velocities are scaled: the largest diagonal
//! entry of a contact's block is one, and so is the size of the velocities. "Measured" means: on the problems
//! of Siconos' collection and on heaps of balls and boxes.

/// Default residual at which a solve ends: a thousandth of the residual that counts as solved, and a thousand
/// times the rounding error of a heap of some hundred contacts.
pub(super) const TOLERANCE: f64 = 1e-12;

/// A starting point whose residual is below this fraction of the tolerance is returned as the answer.
pub(super) const DONE: f64 = 0.01;

/// The extra Newton steps end at this fraction of the tolerance: further digits would only change the starting
/// point of the next time step.
pub(super) const POLISHED: f64 = 1e-3;

/// Number of extra Newton steps after the residual has met the tolerance, where convergence is quadratic.
pub(super) const POLISHING_STEPS: usize = 2;

/// Largest number of full Newton steps of one attempt. Measured: most heaps need 3 to 12; problems that need
/// more than 20 are solved faster by the interior-point method.
pub(super) const NEWTON_STEPS: usize = 20;

/// Exponent of the regularization of a Newton step, $\epsilon = c r^{3/4}$ with $r$ the residual: it vanishes
/// more slowly than the residual, and convergence is still faster than linear.
pub(super) const REGULARIZATION_POWER: f64 = 0.75;

/// First value of the factor $c$ of the regularization.
pub(super) const REGULARIZATION: f64 = 0.15;

/// Growth of the factor $c$ after a step that makes the residual [`WORSE`] times larger.
pub(super) const REGULARIZATION_GROWTH: f64 = 1.5;

/// Change of the factor $c$ after a step that reduces the residual by less than half.
pub(super) const REGULARIZATION_DECAY: f64 = 0.5;

/// A step that makes the residual this many times larger was too long. Smaller rises are usual when the
/// friction of a contact at the edge of its cone changes direction.
pub(super) const WORSE: f64 = 3.0;

/// Least regularization of the impulse-space matrix: the rounding error of its entries.
pub(super) const LEAST_REGULARIZATION: f64 = 1e-14;

/// Least regularization of the velocity-space matrix, whose entries are as large as the reciprocal of the
/// regularization: at 1e-9 the steps consist of rounding errors (measured).
pub(super) const LEAST_REGULARIZATION_OF_BODIES: f64 = 1e-6;

/// The impulse-space matrix is used up to this many contacts per body: its blocks have an eighth of the size,
/// and there are about as many neighbors.
pub(super) const CONTACTS_A_BODY: usize = 3;

/// The symbolic factors of an earlier set of contacts are reused for a subset that contains at least this
/// fraction of the earlier set.
pub(super) const KEPT_FRACTION: f64 = 0.8;

/// Largest number of interior-point steps of one attempt. Measured: 8 to 20 steps end below a residual of 1e-5.
pub(super) const INTERIOR_STEPS: usize = 30;

/// An interior-point step covers this fraction of the way to the boundary of the cones.
pub(super) const TO_BOUNDARY: f64 = 0.99;

/// Largest number of steps of an interior-point attempt after the first proximal points have failed. Measured on the problems that
/// are left then, heaps that settle: 7 of 100 attempts find the answer within 30 steps, 70 within 100 shorter ones.
pub(super) const PATIENT_STEPS: usize = 100;

/// Fraction of the way to the boundary of the cones in the attempts of [`PATIENT_STEPS`]; with 0.99 half of them find the answer.
pub(super) const PATIENT_TO_BOUNDARY: f64 = 0.9;

/// Steps shorter than this are followed by a push into the cones in the attempts of [`PATIENT_STEPS`]. With a tenth the pushes
/// undo the progress, and without any push the method stalls (measured).
pub(super) const PATIENT_SHORT_STEP: f64 = 0.05;

/// Distances by which the start is moved inside the cones (in units of the impulses), one for each of the attempts of
/// [`PATIENT_STEPS`]. Which attempt finds the answer is chance.
pub(super) const PATIENT_DEPTHS: [f64; 7] = [0.03, 0.3, 1.0, 0.1, 2.0, 0.01, 0.6];

/// Number of [`PATIENT_DEPTHS`] that are tried before the proximal-point method with all its compliances. Measured: with all depths before
/// it rows of dominoes take 1.6 times as many steps; heaps of balls and boxes differ by chance.
pub(super) const DEPTHS_BEFORE_PROXIMAL: usize = 1;

/// The starting point of the interior-point method is moved inside the cones by its residual, and at most by
/// this (in units of the impulses).
pub(super) const INSIDE: f64 = 0.1;

/// Distance by which both points are moved inside the cones when the method starts from zero impulses.
pub(super) const INSIDE_FROM_ZERO: f64 = 0.5;

/// Least distance to the boundary of the cones: below it their scaling consists of rounding errors.
pub(super) const LEAST_INSIDE: f64 = 1e-12;

/// An interior-point step shorter than this is followed by a push into the cones.
pub(super) const SHORT_STEP: f64 = 0.1;

/// Length of that push, as a multiple of the square root of the mean complementarity.
pub(super) const PUSH: f64 = 0.3;

/// Newton steps are tried from an interior point whose residual is below this.
pub(super) const NEAR: f64 = 1e-5;

/// Newton steps from an interior point are tried again after the residual has fallen by this factor.
pub(super) const NEARER: f64 = 0.2;

/// Largest number of Newton steps of such an attempt.
pub(super) const NEAR_STEPS: usize = 6;

/// First compliance of the proximal-point method.
pub(super) const PROXIMAL: f64 = 0.01;

/// First compliance of the proximal-point method when it starts from zero impulses.
pub(super) const PROXIMAL_FROM_ZERO: f64 = 0.1;

/// Largest number of compliant problems of the proximal-point method.
pub(super) const PROXIMAL_LEVELS: usize = 50;

/// Largest number of compliances of the first proximal-point attempt. Problems that need more are solved by the interior-point
/// attempts after it in fewer steps (measured).
pub(super) const PROXIMAL_FIRST_LEVELS: usize = 20;

/// Largest number of Newton steps of one compliant problem, regularized as in the second stage. Measured together with the limit
/// before: with 15 steps and 12 compliances rows of dominoes and heaps of balls and boxes take 1.3 times as many steps, with 60 steps
/// jammed heaps do.
pub(super) const PROXIMAL_STEPS: usize = 25;

/// A compliant problem is solved to this fraction of the residual before it.
pub(super) const PROXIMAL_GAIN: f64 = 0.1;

/// The compliance falls to this fraction after a compliant problem that took at most [`FEW_STEPS`] steps.
pub(super) const QUICK_DECAY: f64 = 0.1;
/// Largest number of steps for a fall of the compliance by the factor [`QUICK_DECAY`].
pub(super) const FEW_STEPS: usize = 4;

/// The compliance falls to this fraction after a compliant problem that took at most [`SOME_STEPS`] steps.
pub(super) const SLOW_DECAY: f64 = 0.3;
/// Largest number of steps for a fall of the compliance by the factor [`SLOW_DECAY`].
pub(super) const SOME_STEPS: usize = 7;

/// The compliance grows by this factor after a compliant problem that was not solved.
pub(super) const PROXIMAL_GROWTH: f64 = 5.0;

/// Sizes of the random velocities in the continuation from perturbed problems, one after the other, relative to the largest
/// velocity before the impulses. Measured on 81 problems of heaps that reach this stage: smaller reductions, and
/// extrapolated impulses, solve no more of them.
pub(super) const PERTURBATIONS: [f64; 8] = [1e-4, 1e-5, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8, 3e-9];

/// Number of sets of random velocities that are tried one after the other. Measured on the same problems: 12 sets solve 66 of them;
/// 23 are solved without this stage.
pub(super) const PERTURBED_ATTEMPTS: u64 = 12;

/// Largest factor by which a perturbation may increase the largest impulse. Random velocities that press jammed contacts together
/// increase impulses without bound: residuals are relative to the largest impulse, and 1e5 times the impulse hides 1e-4.
pub(super) const PERTURBED_GROWTH: f64 = 10.0;

/// Number of Gauss-Seidel sweeps before the last proximal-point steps.
pub(super) const SWEEPS: usize = 15;

/// Largest number of halvings in the line search of the last proximal-point steps.
pub(super) const HALVINGS: usize = 8;

/// The line search accepts a step that lowers the residual by at least this fraction of its length.
pub(super) const DECREASE: f64 = 1e-4;

/// First compliances of the proximal-point steps in the repeated stages, one after the other: a problem on
/// which one of them stalls often makes progress with another.
pub(super) const RETRIED: [f64; 6] = [1e-3, 1e-1, 1e-2, 1e-4, 1.0, 1e-2];

/// The repeated interior-point method starts this many times the residual inside the cones.
pub(super) const RETRIED_DEPTH: f64 = 100.0;
