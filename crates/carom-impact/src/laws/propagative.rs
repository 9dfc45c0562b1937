//! Description of the propagative law.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::Propagative;

impl BuiltIn for Propagative {
    const INFO: LawInfo = LawInfo {
        name: "propagative",
        summary: "chains of single elastic reflections, with event-wide energetic restitution",
        reference: "Seghete & Murphey",
        uses: ContactKeys::NORMAL,
        contacts: ContactCount::Any,
        outcomes: Outcomes::OneOfMany,
        energy: "kept, or as restitution says",
        may_gain_energy: false,
        options: &[
            OptionInfo {
                key: "selection",
                default: "\"most-approaching\"",
                unit: "",
                meaning: "which approaching contact acts next: \"least-approaching\", {\"priority\": [1, 0]}, {\"random\": 7}",
            },
            OptionInfo {
                key: "restitution",
                default: "1.0",
                unit: "",
                meaning: "energetic, of the whole event, in [0, 1]",
            },
            OptionInfo {
                key: "plastic",
                default: "\"cone\"",
                unit: "",
                meaning: "the plastic outcome that restitution refers to; \"project-all\": every contact that the impact reaches stops, even if that pulls",
            },
            OptionInfo {
                key: "outcomes",
                default: "\"one\"",
                unit: "",
                meaning: "\"all\": every order of impacts; {\"sample\": N, \"seed\": s}: N random orders",
            },
            OptionInfo {
                key: "max_impacts",
                default: "1000000 for chains followed one by one",
                unit: "",
                meaning: "reaching it is the error `limit`",
            },
            OptionInfo {
                key: "max_nodes",
                default: "200000",
                unit: "",
                meaning: "states visited for \"all\"; beyond, random orders are followed to their ends",
            },
            OptionInfo {
                key: "samples",
                default: "2000",
                unit: "",
                meaning: "how many orders those are",
            },
            OptionInfo {
                key: "seed",
                default: "0",
                unit: "",
                meaning: "of those orders",
            },
            OptionInfo {
                key: "sequences",
                default: "\"approaching\"",
                unit: "",
                meaning: "\"minimal\": Definition 1 taken literally",
            },
        ],
        example: r#"{"law":"propagative","mass_matrix":[[1,0,0],[0,1,0],[0,0,1]],"velocity":[1,0,0],"contacts":[{"normal":[-1,1,0]},{"normal":[0,-1,1]}],"options":{"outcomes":"all"}}"#,
    };
}
