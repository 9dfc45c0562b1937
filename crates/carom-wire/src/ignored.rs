//! Keys of contacts that were given and that the law does not use: said, never passed over.

use crate::resolve::ContactInput;

/// Which keys of a contact, besides its normal, a law uses: tangents, friction, restitution.
fn uses(law: &str) -> [bool; 3] {
    match law {
        "moreau-newton" | "routh" | "two-body" => [true; 3],
        "anitescu-potra" | "sequential" | "set-valued" => [true, true, false],
        "nonholonomic-rough" => [true, false, false],
        _ => [false; 3],
    }
}

/// The unused keys that say something at any contact, in alphabetical order.
pub(crate) fn ignored(law: &str, contacts: &[ContactInput]) -> Vec<&'static str> {
    let [tangents, friction, restitution] = uses(law);
    let any = |says: fn(&ContactInput) -> bool| contacts.iter().any(says);
    let mut ignored = Vec::new();
    if !friction && any(|contact| contact.friction != 0.0) {
        ignored.push("friction");
    }
    if !restitution && any(|contact| contact.restitution != 0.0) {
        ignored.push("restitution");
    }
    if !tangents && any(|contact| !contact.tangents.is_empty()) {
        ignored.push("tangents");
    }
    ignored
}
