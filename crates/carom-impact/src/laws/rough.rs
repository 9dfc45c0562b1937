//! Description of the law of rough contacts.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::Rough;

impl BuiltIn for Rough {
    const INFO: LawInfo = LawInfo {
        name: "nonholonomic-rough",
        summary: "a contact that sticks: normal and tangential velocity reversed",
        reference: "Broomhead & Gutkin 1993; Cox & Feres 2016",
        uses: ContactKeys::TANGENTS,
        contacts: ContactCount::Any,
        outcomes: Outcomes::Single,
        energy: "kept or lost",
        may_gain_energy: false,
        options: &[OptionInfo {
            key: "restitution",
            default: "0.0",
            unit: "",
            meaning: "of the normal and every tangent, in [0, 1]",
        }],
        example: r#"{"law":"nonholonomic-rough","mass_matrix":[[1,0,0],[0,1,0],[0,0,1]],"velocity":[1,-1,0],"contacts":[{"normal":[0,1,0],"tangents":[[1,0,1]]}],"options":{"restitution":1}}"#,
    };
}
