//! Description of the plastic law.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::Plastic;

impl BuiltIn for Plastic {
    const INFO: LawInfo = LawInfo {
        name: "plastic",
        summary: "perfectly inelastic: projection onto the feasible cone, or onto all contacts",
        reference: "Moreau; Seghete & Murphey, Eq. (10)",
        uses: ContactKeys::NORMAL,
        contacts: ContactCount::Any,
        outcomes: Outcomes::Single,
        energy: "least that the contacts allow",
        may_gain_energy: false,
        options: &[OptionInfo {
            key: "plastic",
            default: "\"cone\"",
            unit: "",
            meaning: "\"project-all\": every contact that the impact reaches stops, even if that pulls",
        }],
        example: r#"{"law":"plastic","mass_matrix":[[1,0,0],[0,1,0],[0,0,1]],"velocity":[1,0,0],"contacts":[{"normal":[-1,1,0]},{"normal":[0,-1,1]}]}"#,
    };
}
