//! Choice among several outcomes of contacts with friction.

/// Rule that selects one solution if a contact problem with circular friction cones has several solutions. The caller
/// passes this rule to the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum ConeSelection {
    /// Limit of the solutions for equally compliant contacts: the matrix is $G + \epsilon D$ with
    /// $D = \mathrm{diag}(c_i I_3)$, $c_i = \mathrm{tr}(G_{ii})/3$, and $\epsilon \to 0$. From a continuum of
    /// solutions this limit selects a member that does not depend on units, on the lengths of rows, on the
    /// tangent axes or on the order of the contacts.
    #[default]
    Even,
    /// First solution found.
    First,
}

impl ConeSelection {
    /// Returns the identifier of the selection rule in records: `even` or `first`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::First => "first",
        }
    }
}
