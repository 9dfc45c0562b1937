//! Description of the set-valued law.

use super::{BuiltIn, ContactCount, ContactKeys, LawInfo, OptionInfo, Outcomes};
use crate::frictional::SetValued;

impl BuiltIn for SetValued {
    const INFO: LawInfo = LawInfo {
        name: "set-valued",
        summary: "samples of all outcomes of contacts that overlap in any way, with friction",
        reference: "Halm & Posa",
        uses: ContactKeys::FRICTION,
        contacts: ContactCount::Any,
        outcomes: Outcomes::Many,
        energy: "lost to friction and impact",
        may_gain_energy: false,
        options: &[
            OptionInfo {
                key: "impulse_step",
                default: "the largest impulse that stops a contact alone; more where contacts wedge each other",
                unit: "N·s",
                meaning: "largest cap of a step",
            },
            OptionInfo {
                key: "samples",
                default: "1024",
                unit: "",
                meaning: "samples drawn",
            },
            OptionInfo {
                key: "seed",
                default: "0",
                unit: "",
                meaning: "of the samples",
            },
            OptionInfo {
                key: "max_steps",
                default: "100",
                unit: "",
                meaning: "steps allowed to a sample; the error `limit` if no sample ends",
            },
            OptionInfo {
                key: "epsilon",
                default: "none",
                unit: "N·s",
                meaning: "closing step for samples that have not ended, less than `impulse_step`",
            },
            OptionInfo::FRICTION_CONE,
            OptionInfo::FRICTION_DIRECTIONS,
            OptionInfo {
                key: "branch",
                default: "\"fixed\"",
                unit: "",
                meaning: "which solution of a step is taken: \"random\", \"enumerate\"; \"auto\": random if steps have several",
            },
            OptionInfo {
                key: "caps",
                default: "\"uniform\"",
                unit: "",
                meaning: "\"mixed\": contacts are switched off at random; \"auto\": mixed if steps have several solutions",
            },
            OptionInfo {
                key: "max_work",
                default: "5000000000",
                unit: "",
                meaning: "units of work of all samples, about five seconds, and bounds what is left or half; then `limit` is \"work\", also in the error `limit` if no sample ended",
            },
            OptionInfo {
                key: "bounds",
                default: "none",
                unit: "",
                meaning: "{\"directions\": \"contact\" or rows, \"relaxation\": \"cone\" or \"moment\"}: proven bounds of all outcomes",
            },
            OptionInfo {
                key: "outcomes",
                default: "\"all\"",
                unit: "",
                meaning: "\"one\": only the summary, for samples beyond counting",
            },
        ],
        example: r#"{"law":"set-valued","mass_matrix":[[1,0,0],[0,1,0],[0,0,0.4]],"velocity":[0.3,-1,0.1],"contacts":[{"normal":[0,1,-0.6],"tangents":[[1,0,1]],"friction":0.7},{"normal":[0,1,0.5],"tangents":[[1,0,1]],"friction":0.7}],"options":{"samples":64,"outcomes":"one"}}"#,
    };
}
