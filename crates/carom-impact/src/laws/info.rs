//! Static descriptions of laws.

/// Description of an impact law, as tables and messages print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LawInfo {
    /// Identifier of the law, see [`name`](carom_contact::ImpactLaw::name).
    pub name: &'static str,
    /// Summary of the law in one line.
    pub summary: &'static str,
    /// Source: authors and year, or section.
    pub reference: &'static str,
    /// Properties of a contact, besides the normal, that change the answer.
    pub uses: ContactKeys,
    /// Number of contacts that the law accepts.
    pub contacts: ContactCount,
    /// Number of outcomes that the law has for one impact.
    pub outcomes: Outcomes,
    /// Effect on the kinetic energy, in a few words.
    pub energy: &'static str,
    /// True if the law can gain kinetic energy, for some impact and some options.
    pub may_gain_energy: bool,
    /// Options of the law.
    pub options: &'static [OptionInfo],
    /// Example problem that the law resolves, as an input line of `carom resolve`.
    pub example: &'static str,
}

/// Properties of a contact, besides the normal, that an impact law uses: tangents, friction coefficient, restitution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContactKeys {
    /// True if tangential rows are used.
    pub tangents: bool,
    /// True if the Coulomb friction coefficient is used.
    pub friction: bool,
    /// True if the contact's coefficient of restitution is used.
    pub restitution: bool,
}

impl ContactKeys {
    /// Properties used by a law that uses only the normal of a contact.
    pub const NORMAL: Self = Self {
        tangents: false,
        friction: false,
        restitution: false,
    };

    /// Properties used by a law that uses normal and tangents, but no friction coefficient: the contacts stick.
    pub const TANGENTS: Self = Self {
        tangents: true,
        ..Self::NORMAL
    };

    /// Properties used by a law that uses normal, tangents and friction coefficient, but not the contact's coefficient of
    /// restitution.
    pub const FRICTION: Self = Self {
        friction: true,
        ..Self::TANGENTS
    };

    /// Properties used by a law that uses normal, tangents, friction coefficient and coefficient of restitution.
    pub const ALL: Self = Self {
        restitution: true,
        ..Self::FRICTION
    };

    /// Iterates over the names of the contact properties that the law uses, in alphabetical order: `friction`, `restitution`,
    /// `tangents`.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.each()
            .into_iter()
            .filter_map(|(name, is_used)| is_used.then_some(name))
    }

    /// Iterates over the names of the contact properties that the law does not use, in alphabetical order: `friction`,
    /// `restitution`, `tangents`.
    pub fn unused(self) -> impl Iterator<Item = &'static str> {
        self.each()
            .into_iter()
            .filter_map(|(name, is_used)| (!is_used).then_some(name))
    }

    fn each(self) -> [(&'static str, bool); 3] {
        [
            ("friction", self.friction),
            ("restitution", self.restitution),
            ("tangents", self.tangents),
        ]
    }
}

/// Number of contacts that an impact law accepts: any number, or exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContactCount {
    /// Any number of contacts.
    Any,
    /// Exactly one contact.
    One,
}

/// Number of outcomes that an impact law has for one impact, and number of those that are reported by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcomes {
    /// Always one outcome.
    Single,
    /// Several outcomes; one is reported unless all are requested.
    OneOfMany,
    /// Several outcomes; all are reported unless one is requested.
    Many,
}

/// Description of one option of an impact law: key, default, unit and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionInfo {
    /// Key of the option.
    pub key: &'static str,
    /// Default value as JSON, or in words if it depends on the problem.
    pub default: &'static str,
    /// Unit of the value; empty without a unit.
    pub unit: &'static str,
    /// Other values of the option and their meaning.
    pub meaning: &'static str,
}

impl OptionInfo {
    /// Shape of the friction cones, an option of all laws that solve a complementarity problem
    /// with friction.
    pub(crate) const FRICTION_CONE: Self = Self {
        key: "friction_cone",
        default: "\"round\"",
        unit: "",
        meaning: "{\"polygon\": k}: polygons of k directions, 4 to 256 in space",
    };

    /// Number of directions of the friction polygon.
    pub(crate) const FRICTION_DIRECTIONS: Self = Self {
        key: "friction_directions",
        default: "none",
        unit: "",
        meaning: "k: the same as \"friction_cone\": {\"polygon\": k}",
    };

    /// Choice from a continuum of outcomes, an option of the simultaneous laws.
    pub(crate) const SELECTION: Self = Self {
        key: "selection",
        default: "\"even\"",
        unit: "",
        meaning: "which of a family of outcomes: that of equally compliant contacts; \"first\": any",
    };
}
