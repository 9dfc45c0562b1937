//! Contact keys that are present in a problem but not used by the law: answers list them.

use carom_contact::Contact;
use carom_impact::ContactKeys;

/// Returns the keys of contacts, such as `restitution`, that have a value in some contact but are not used by the impact
/// law. `uses` tells which keys the law uses; the keys are sorted alphabetically.
pub(crate) fn ignored(uses: ContactKeys, contacts: &[Contact]) -> Vec<&'static str> {
    let says = |key: &&str| {
        contacts.iter().any(|contact| match *key {
            "friction" => contact.friction != 0.0,
            "restitution" => contact.restitution != 0.0,
            _ => !contact.tangents.is_empty(),
        })
    };
    uses.unused().filter(says).collect()
}
