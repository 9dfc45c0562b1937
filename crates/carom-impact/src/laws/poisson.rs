//! Description of Poisson's law.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::frictional::Poisson;

impl BuiltIn for Poisson {
    const INFO: LawInfo = LawInfo {
        name: "poisson",
        summary: "all contacts at once, compression and expansion with friction, capped by energy",
        reference: "Poisson 1833; Glocker & Pfeiffer 1995",
        uses: ContactKeys::ALL,
        contacts: ContactCount::Any,
        outcomes: Outcomes::Single,
        energy: "lost to friction and impact",
        may_gain_energy: false,
        options: &[
            OptionInfo::FRICTION_CONE,
            OptionInfo::FRICTION_DIRECTIONS,
            OptionInfo::SELECTION,
        ],
        example: r#"{"law":"poisson","mass_matrix":[[1,0,0],[0,1,0],[0,0,0.4]],"velocity":[0.3,-1,0.1],"contacts":[{"normal":[0,1,-0.6],"tangents":[[1,0,1]],"friction":0.7,"restitution":0.5},{"normal":[0,1,0.5],"tangents":[[1,0,1]],"friction":0.7,"restitution":0.5}]}"#,
    };
}
