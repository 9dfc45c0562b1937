//! Answers of a problem with round cones, and the choice among several.

use crate::LcpStatus;

/// End of a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum ConeMode {
    /// No impulse.
    #[default]
    Open,
    /// It pushes and does not slide.
    Stick,
    /// It pushes, slides, and friction is at its limit.
    Slide,
}

impl ConeMode {
    /// Stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Stick => "stick",
            Self::Slide => "slide",
        }
    }
}

/// Choice among several solutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum ConeSelection {
    /// The member of a continuum of solutions that is the limit of equally compliant contacts, $G + \epsilon D$ with
    /// $\epsilon \to 0$ and $D = \mathrm{diag}(c_i I_3)$, $c_i = \mathrm{tr}(G_{ii})/3$. It does not
    /// depend on units, on the lengths of rows, on the tangent axes or the order of the contacts.
    #[default]
    Even,
    /// The one that is found first.
    First,
}

impl ConeSelection {
    /// Stable identifier.
    pub fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::First => "first",
        }
    }
}

/// Start that led to an answer. They are tried in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ConeStart {
    /// One contact in closed form.
    ClosedForm,
    /// Impulses given by the caller.
    Given,
    /// No impulses.
    Zero,
    /// Compliant contacts that become stiffer and stiffer.
    Compliant,
    /// Gauss-Seidel sweeps.
    GaussSeidel,
    /// The impulses that the method for many contacts finds, by interior and proximal points.
    Sparse,
    /// Polygons of eight directions in place of the cones.
    Polygon,
    /// Polygons with a vertex against the sliding of the polygon before.
    TurnedPolygon,
    /// Polygons that get such a vertex more and more: each has a solution, and they come to one of the
    /// cones, however ill-conditioned the matrix.
    SubdividedPolygon,
}

/// Outcome of a solve; the vectors are in the workspace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConeAnswer {
    /// [`LcpStatus::Solved`] if the residual is at most [`CONE_RESIDUAL`](super::CONE_RESIDUAL), else
    /// [`LcpStatus::Inaccurate`].
    pub status: LcpStatus,
    /// The [`contact_residual`](super::contact_residual) of the impulses.
    pub residual: f64,
    /// The start that led to the answer.
    pub start: ConeStart,
    /// Newton steps of all attempts.
    pub n_newton_steps: usize,
    /// Lemke pivots of all attempts.
    pub n_pivots: usize,
    /// Dimension of the continuum of velocities after the impact, to first order, with the contacts
    /// that touch kept closed. 0: the velocities are isolated.
    pub family: usize,
    /// Choice of the answer: [`Even`](ConeSelection::Even) also where there was no choice,
    /// [`First`](ConeSelection::First) if it was asked for or the even member was not found.
    pub selection: ConeSelection,
    /// True if another solution was met on the way, with other velocities.
    pub met_others: bool,
}
