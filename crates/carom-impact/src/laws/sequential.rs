//! Description of the sequential law.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::frictional::Sequential;

impl BuiltIn for Sequential {
    const INFO: LawInfo = LawInfo {
        name: "sequential",
        summary: "one frictional contact at a time, without restitution, in a given order",
        reference: "Ivanov 1995",
        uses: ContactKeys::FRICTION,
        contacts: ContactCount::Any,
        outcomes: Outcomes::Single,
        energy: "lost to friction and impact",
        may_gain_energy: false,
        options: &[
            OptionInfo {
                key: "order",
                default: "as given",
                unit: "",
                meaning: "contacts in the order in which they are asked; those left out come last",
            },
            OptionInfo::FRICTION_CONE,
            OptionInfo::FRICTION_DIRECTIONS,
            OptionInfo {
                key: "max_impacts",
                default: "10000",
                unit: "",
                meaning: "reaching it is the error `limit`",
            },
        ],
        example: r#"{"law":"sequential","mass_matrix":[[1,0,0],[0,1,0],[0,0,0.4]],"velocity":[0.3,-1,0.1],"contacts":[{"normal":[0,1,-0.6],"tangents":[[1,0,1]],"friction":0.7},{"normal":[0,1,0.5],"tangents":[[1,0,1]],"friction":0.7}],"options":{"order":[1,0]}}"#,
    };
}
