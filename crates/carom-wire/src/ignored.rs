//! Keys of contacts that were given and that the law does not use: said, never passed over.

use carom_contact::Contact;
use carom_impact::ContactKeys;

/// The unused keys that say something at any contact, in alphabetical order.
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
