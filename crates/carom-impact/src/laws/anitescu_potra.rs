//! Description of the law of Anitescu and Potra.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::frictional::AnitescuPotra;

impl BuiltIn for AnitescuPotra {
    const INFO: LawInfo = LawInfo {
        name: "anitescu-potra",
        summary: "all contacts at once with friction, without restitution",
        reference: "Anitescu & Potra 1997",
        uses: ContactKeys::FRICTION,
        contacts: ContactCount::Any,
        outcomes: Outcomes::OneOfMany,
        energy: "lost to friction and impact",
        may_gain_energy: false,
        options: &[
            OptionInfo::FRICTION_CONE,
            OptionInfo::FRICTION_DIRECTIONS,
            OptionInfo::SELECTION,
            OptionInfo {
                key: "outcomes",
                default: "\"one\"",
                unit: "",
                meaning: "\"all\": every outcome of up to 5 planar contacts",
            },
        ],
        example: r#"{"law":"anitescu-potra","mass_matrix":[[1,0,0],[0,1,0],[0,0,0.4]],"velocity":[0.3,-1,0.1],"contacts":[{"normal":[0,1,-0.6],"tangents":[[1,0,1]],"friction":0.7},{"normal":[0,1,0.5],"tangents":[[1,0,1]],"friction":0.7}]}"#,
    };
}
