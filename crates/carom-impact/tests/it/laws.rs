//! The list of laws.

use carom_contact::ImpactLaw;
use carom_impact::{LAWS, Law};
use std::collections::BTreeSet;

#[test]
fn every_law_answers_to_its_own_name() {
    let names: BTreeSet<&str> = LAWS.iter().map(|info| info.name).collect();
    assert_eq!(names.len(), LAWS.len());
    for (law, info) in Law::all().zip(LAWS) {
        assert_eq!(law.name(), info.name);
        assert_eq!(law.info(), *info);
        assert_eq!(Law::named(info.name), Some(law));
    }
    assert_eq!(Law::all().count(), LAWS.len());
}

#[test]
fn a_law_with_friction_has_tangents_to_act_along() {
    for info in LAWS {
        assert!(info.uses.tangents || !info.uses.friction, "{}", info.name);
        assert_eq!(info.uses.names().count() + info.uses.unused().count(), 3);
    }
}
