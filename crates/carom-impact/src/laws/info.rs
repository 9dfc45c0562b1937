//! Facts about a law that hold before any impact.

/// Description of a law, as tables and messages print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LawInfo {
    /// The law's [`name`](carom_contact::ImpactLaw::name).
    pub name: &'static str,
    /// One line on what it answers.
    pub summary: &'static str,
    /// Source: authors and year, or section.
    pub reference: &'static str,
    /// Keys of a contact, besides its normal, that change the answer.
    pub uses: ContactKeys,
    /// Number of contacts that it takes.
    pub contacts: ContactCount,
    /// True if it may give several outcomes for one impact.
    pub outcomes: Outcomes,
    /// Effect on the kinetic energy, in a few words.
    pub energy: &'static str,
    /// True if some impact, with some options, leaves more kinetic energy than there was.
    pub may_gain_energy: bool,
    /// Its options.
    pub options: &'static [OptionInfo],
    /// A problem that it resolves, as a line for `carom resolve`.
    pub example: &'static str,
}

/// Keys of a contact, besides its normal, that a law uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactKeys {
    /// The rows of tangential velocity.
    pub tangents: bool,
    /// Coulomb's coefficient.
    pub friction: bool,
    /// Newton's coefficient of restitution of the contact.
    pub restitution: bool,
}

impl ContactKeys {
    /// The normal alone.
    pub const NORMAL: Self = Self {
        tangents: false,
        friction: false,
        restitution: false,
    };

    /// Tangents without a coefficient of friction: contacts that stick.
    pub const TANGENTS: Self = Self {
        tangents: true,
        ..Self::NORMAL
    };

    /// Friction without restitution.
    pub const FRICTION: Self = Self {
        friction: true,
        ..Self::TANGENTS
    };

    /// All of them.
    pub const ALL: Self = Self {
        restitution: true,
        ..Self::FRICTION
    };

    /// The names of the keys used, in alphabetical order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        self.each()
            .into_iter()
            .filter_map(|(name, is_used)| is_used.then_some(name))
    }

    /// The names of the keys not used, in alphabetical order.
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

/// Number of contacts that a law takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactCount {
    /// Any number.
    Any,
    /// One.
    One,
}

/// Number of outcomes that a law gives for one impact, and of those that are reported if nothing is
/// said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcomes {
    /// One, always.
    Single,
    /// Several; one unless all are asked for.
    OneOfMany,
    /// Several; all unless one is asked for.
    Many,
}

/// An option of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionInfo {
    /// Its key.
    pub key: &'static str,
    /// Its default as JSON, or in words where it depends on the problem.
    pub default: &'static str,
    /// Its unit; empty where it has none.
    pub unit: &'static str,
    /// Its other values and what they mean.
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

    /// The number of friction directions.
    pub(crate) const FRICTION_DIRECTIONS: Self = Self {
        key: "friction_directions",
        default: "none",
        unit: "",
        meaning: "k: the same as \"friction_cone\": {\"polygon\": k}",
    };

    /// Choice from a family of outcomes, an option of the simultaneous laws.
    pub(crate) const SELECTION: Self = Self {
        key: "selection",
        default: "\"even\"",
        unit: "",
        meaning: "which of a family of outcomes: that of equally compliant contacts; \"first\": any",
    };
}
