//! Description of Moreau's law with Newton's restitution.

use super::{BuiltIn, LawInfo};
use crate::frictional::{MoreauNewton, Poisson};

impl BuiltIn for MoreauNewton {
    const INFO: LawInfo = LawInfo {
        name: "moreau-newton",
        summary: "all contacts at once with Newton restitution and friction, one complementarity problem",
        reference: "Moreau 1988",
        energy: "lost to friction and impact; friction with restitution may gain",
        may_gain_energy: true,
        example: r#"{"law":"moreau-newton","mass_matrix":[[1,0,0],[0,1,0],[0,0,0.4]],"velocity":[0.3,-1,0.1],"contacts":[{"normal":[0,1,-0.6],"tangents":[[1,0,1]],"friction":0.7,"restitution":0.5},{"normal":[0,1,0.5],"tangents":[[1,0,1]],"friction":0.7,"restitution":0.5}]}"#,
        ..Poisson::INFO
    };
}
