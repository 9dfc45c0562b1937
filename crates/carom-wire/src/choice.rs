//! Table for choosing an impact law by the situation of the bodies.

use carom_impact::{Law, LawInfo};

/// One row of the table for choosing an impact law: a situation of the bodies, and the properties of the impact law for this
/// situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// Position in the table: one contact first, then several contacts, then nonholonomic constraints.
    pub rank: u8,
    /// Situation of the bodies, in a few words.
    pub situation: &'static str,
    /// Kind of friction that the law accepts; `"none"` without friction.
    pub friction: &'static str,
    /// Kind or value of the restitution of the law; `"none"` without restitution.
    pub restitution: &'static str,
    /// Number of outcomes that the law returns.
    pub answers: &'static str,
    /// Change of the kinetic energy under the law, in a few words.
    pub energy: &'static str,
    /// Time of one impact as a ratio to that of the law `plastic` at the same contacts.
    pub cost: &'static str,
}

/// Builds a row of the table for choosing an impact law. `rank` is its position in the table; the cells are situation,
/// friction, restitution, number of outcomes, energy and cost.
const fn row(rank: u8, cells: [&'static str; 6]) -> Choice {
    let [situation, friction, restitution, answers, energy, cost] = cells;
    Choice {
        rank,
        situation,
        friction,
        restitution,
        answers,
        energy,
        cost,
    }
}

const NEVER_GROWS: &str = "never grows";
const ENERGETIC: &str = "energetic; or Poisson, Newton";
const ONE_CONTACT_ENERGY: &str = "never grows if energetic";
const CLOSED: &str = "0.65 x plastic";

const TWO_BODY: Choice = row(
    0,
    [
        "one contact of two free bodies in space",
        "Coulomb",
        ENERGETIC,
        "one",
        ONE_CONTACT_ENERGY,
        "6 x plastic",
    ],
);

const ROUTH: Choice = row(
    1,
    [
        "one contact of a robot or mechanism",
        "Coulomb",
        ENERGETIC,
        "one",
        ONE_CONTACT_ENERGY,
        "0.8 x plastic in the plane, 6 in space",
    ],
);

const PROPAGATIVE: Choice = row(
    2,
    [
        "several contacts that hand a blow on: cradles, breaks",
        "none",
        "energetic, of the event",
        "one, or every order",
        "kept, or as restitution says",
        "0.3 x plastic",
    ],
);

const PLASTIC: Choice = row(
    3,
    [
        "several contacts that stay closed: a soft landing",
        "none",
        "none",
        "one",
        NEVER_GROWS,
        "1",
    ],
);

const MOREAU_NEWTON: Choice = row(
    4,
    [
        "several contacts, as time steppers and engines answer them",
        "Coulomb",
        "Newton, of each contact",
        "one",
        "may grow; the audit tells",
        "1.8 x plastic; 5 on four corners",
    ],
);

const POISSON: Choice = row(
    5,
    [
        "several contacts that rebound: heaps, jams, whatever must have an answer",
        "Coulomb",
        "Poisson, of each contact",
        "one",
        NEVER_GROWS,
        "8 x plastic; 23 on four corners",
    ],
);

const ANITESCU_POTRA: Choice = row(
    6,
    [
        "several contacts that rest or land: stacks, feet",
        "Coulomb",
        "none",
        "one, or a family",
        NEVER_GROWS,
        "1.8 x plastic; 7 on four corners",
    ],
);

const SEQUENTIAL: Choice = row(
    7,
    [
        "several contacts whose order is known",
        "Coulomb",
        "none",
        "one for each order",
        NEVER_GROWS,
        "1.3 x plastic",
    ],
);

const SET_VALUED: Choice = row(
    8,
    [
        "several contacts whose order nobody knows: all that can happen",
        "Coulomb",
        "none",
        "samples, or proven bounds",
        NEVER_GROWS,
        "3 x plastic a sample; 11 on four corners",
    ],
);

const NONHOLONOMIC_ELASTIC: Choice = row(
    9,
    [
        "wheels or blades that never slip hit a wall",
        "none",
        "1",
        "one",
        "kept",
        CLOSED,
    ],
);

const NONHOLONOMIC_NEWTON: Choice = row(
    10,
    [
        "wheels or blades that never slip hit a wall, with losses",
        "none",
        "Newton",
        "one",
        NEVER_GROWS,
        CLOSED,
    ],
);

const NONHOLONOMIC_PROJECTED: Choice = row(
    11,
    [
        "wheels that slip during the blow and roll again after it",
        "none",
        "1",
        "one",
        NEVER_GROWS,
        CLOSED,
    ],
);

const NONHOLONOMIC_PROJECTED_NEWTON: Choice = row(
    12,
    [
        "wheels that slip during the blow, with losses",
        "none",
        "Newton",
        "one",
        NEVER_GROWS,
        CLOSED,
    ],
);

const NONHOLONOMIC_ROUGH: Choice = row(
    13,
    [
        "a contact that reverses sliding, too: no-slip billiards",
        "sticks",
        "1",
        "one",
        NEVER_GROWS,
        "1.6 x plastic",
    ],
);

/// Returns the row about an impact law in the table for choosing laws: the situation in which to choose this law, and its
/// properties.
///
/// # Examples
///
/// ```
/// let law = carom_impact::Law::named("plastic").ok_or("unknown")?;
/// assert_eq!(carom_wire::choice(&law).restitution, "none");
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn choice(law: &Law) -> Choice {
    match law {
        Law::TwoBody(_) => TWO_BODY,
        Law::Routh(_) => ROUTH,
        Law::Propagative(_) => PROPAGATIVE,
        Law::Plastic(_) => PLASTIC,
        Law::MoreauNewton(_) => MOREAU_NEWTON,
        Law::Poisson(_) => POISSON,
        Law::AnitescuPotra(_) => ANITESCU_POTRA,
        Law::Sequential(_) => SEQUENTIAL,
        Law::SetValued(_) => SET_VALUED,
        Law::NonholonomicElastic(_) => NONHOLONOMIC_ELASTIC,
        Law::NonholonomicNewton(_) => NONHOLONOMIC_NEWTON,
        Law::NonholonomicProjected(_) => NONHOLONOMIC_PROJECTED,
        Law::NonholonomicProjectedNewton(_) => NONHOLONOMIC_PROJECTED_NEWTON,
        Law::NonholonomicRough(_) => NONHOLONOMIC_ROUGH,
    }
}

/// Returns all impact laws with their rows in the table for choosing a law, in the order of the table.
#[must_use]
pub fn choices() -> Vec<(LawInfo, Choice)> {
    let mut rows: Vec<_> = Law::all().map(|law| (law.info(), choice(&law))).collect();
    rows.sort_by_key(|(_, choice)| choice.rank);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Friction, restitution and energy in the table agree with the descriptions of the laws.
    #[test]
    fn the_table_agrees_with_the_laws() {
        let rows = choices();
        for (k, (info, choice)) in rows.iter().enumerate() {
            assert_eq!(usize::from(choice.rank), k, "{}", info.name);
            let coulomb = choice.friction == "Coulomb";
            assert_eq!(coulomb, info.uses.friction, "{}", info.name);
            let grows =
                choice.energy == "may grow; the audit tells" || choice.energy == ONE_CONTACT_ENERGY;
            assert_eq!(grows, info.may_gain_energy, "{}", info.name);
        }
    }
}
