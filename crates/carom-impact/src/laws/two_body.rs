//! Description of the law of two rigid bodies.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::TwoBody;

impl BuiltIn for TwoBody {
    const INFO: LawInfo = LawInfo {
        name: "two-body",
        summary: "two rigid bodies in space with Coulomb friction",
        reference: "Jia & Wang",
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
        ],
        example: r#"{"law":"two-body","friction":0.3,"restitution":0.8,"contact":{"point":[0,0,0],"normal":[0,0,1]},"body1":{"mass":2,"inertia":[[0.2,0,0],[0,0.3,0],[0,0,0.4]],"center":[0.1,0,0.5],"velocity":[1,0,-2],"angular_velocity":[0,0,3]}}"#,
    };
}
