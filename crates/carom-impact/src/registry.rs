//! Laws by name.

use crate::frictional::{AnitescuPotra, MoreauNewton, Sequential, SetValued};
use crate::{ImpactLaw, Nonholonomic, Plastic, Propagative, Restitution, Rough, Routh, TwoBody};

/// A law that can be asked for by name.
#[derive(Clone, Copy, Debug)]
pub struct LawEntry {
    /// The law's [`name`](ImpactLaw::name).
    pub name: &'static str,
    /// One line on what it answers.
    pub summary: &'static str,
    /// The law with its default options.
    pub default: fn() -> Box<dyn ImpactLaw>,
}

/// Every law of this crate.
pub const LAWS: &[LawEntry] = &[
    LawEntry {
        name: "propagative",
        summary: "chains of single elastic reflections, with event-wide energetic restitution",
        default: || Box::new(Propagative::default()),
    },
    LawEntry {
        name: "plastic",
        summary: "perfectly inelastic: projection onto the feasible cone, or onto all contacts",
        default: || Box::new(Plastic::default()),
    },
    LawEntry {
        name: "moreau-newton",
        summary: "all contacts at once with Newton restitution and friction, one complementarity problem",
        default: || Box::new(MoreauNewton::default()),
    },
    LawEntry {
        name: "anitescu-potra",
        summary: "all contacts at once with friction, without restitution",
        default: || Box::new(AnitescuPotra::default()),
    },
    LawEntry {
        name: "sequential",
        summary: "one frictional contact at a time, without restitution, in a given order",
        default: || Box::new(Sequential::default()),
    },
    LawEntry {
        name: "set-valued",
        summary: "samples of all outcomes of contacts that overlap in any way, with friction",
        default: || Box::new(SetValued::default()),
    },
    LawEntry {
        name: "routh",
        summary: "one contact with Coulomb friction, in the plane or in space",
        default: || Box::new(Routh::default()),
    },
    LawEntry {
        name: "two-body",
        summary: "two rigid bodies in space with Coulomb friction",
        default: || Box::new(TwoBody::default()),
    },
    LawEntry {
        name: "nonholonomic-elastic",
        summary: "one contact under constraints, energy kept",
        default: || Box::new(Nonholonomic::of(Restitution::Elastic)),
    },
    LawEntry {
        name: "nonholonomic-projected",
        summary: "elastic as if unconstrained, then projected onto the constraints",
        default: || Box::new(Nonholonomic::of(Restitution::Projected)),
    },
    LawEntry {
        name: "nonholonomic-newton",
        summary: "Newton restitution under constraints",
        default: || Box::new(Nonholonomic::of(Restitution::Newton(0.0))),
    },
    LawEntry {
        name: "nonholonomic-projected-newton",
        summary: "Newton restitution as if unconstrained, then projected onto the constraints",
        default: || Box::new(Nonholonomic::of(Restitution::ProjectedNewton(0.0))),
    },
    LawEntry {
        name: "nonholonomic-rough",
        summary: "a contact that sticks: normal and tangential velocity reversed",
        default: || Box::new(Rough::default()),
    },
];

/// The law of that name with its default options.
///
/// # Examples
///
/// ```
/// assert_eq!(carom_impact::law("plastic").map(|law| law.name()), Some("plastic"));
/// assert!(carom_impact::law("magic").is_none());
/// ```
pub fn law(name: &str) -> Option<Box<dyn ImpactLaw>> {
    LAWS.iter()
        .find(|entry| entry.name == name)
        .map(|entry| (entry.default)())
}
