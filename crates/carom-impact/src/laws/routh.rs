//! Description of Routh's law for one contact.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::Routh;

impl BuiltIn for Routh {
    const INFO: LawInfo = LawInfo {
        name: "routh",
        summary: "one contact with Coulomb friction, in the plane or in space",
        reference: "Routh 1905; Wang & Mason 1992",
        uses: ContactKeys::ALL,
        contacts: ContactCount::One,
        outcomes: Outcomes::Single,
        energy: "lost to friction and restitution; the laws of Newton and Poisson may gain",
        may_gain_energy: true,
        options: &[
            OptionInfo {
                key: "restitution_law",
                default: "\"energetic\"",
                unit: "",
                meaning: "when restitution ends: \"poisson\", \"newton\"",
            },
            OptionInfo {
                key: "recompression",
                default: "\"each-compression\"",
                unit: "",
                meaning: "what repeated compressions lose: \"single\"",
            },
            OptionInfo {
                key: "tangential_impact",
                default: "false",
                unit: "",
                meaning: "resolve a touching contact that friction drives together",
            },
            OptionInfo {
                key: "trace",
                default: "false",
                unit: "",
                meaning: "answer with the path of impulse and contact velocity, too",
            },
        ],
        example: r#"{"law":"routh","mass_matrix":[[1,0,0],[0,1,0],[0,0,0.3333333333333333]],"velocity":[0,-1,0],"contacts":[{"normal":[0,1,-0.7071067811865476],"tangents":[[1,0,0.7071067811865476]],"friction":0.3,"restitution":0.5}]}"#,
    };
}
