//! A judgement in words.

use super::{EnergyChange, Judgement, LawMatch, Membership};

/// Largest number of laws or contacts that a verdict names; further laws are only counted.
const MAX_NAMED: usize = 4;

pub(super) fn words(judgement: &Judgement) -> String {
    let mut sentences = vec![energy(judgement)];
    sentences.extend(faults(judgement));
    sentences.extend(contacts(judgement));
    sentences.extend(laws(judgement));
    sentences.extend(outcome_set(judgement));
    sentences.extend(rounding(judgement));
    sentences.join(" ")
}

fn energy(judgement: &Judgement) -> String {
    let ratio = judgement.telling_ratio();
    let energy = if judgement.is_all_seen() {
        "its energy"
    } else {
        "its energy of relative motion"
    };
    match judgement.energy_change() {
        EnergyChange::Gained if ratio.is_infinite() => {
            "Starts at rest and moves afterwards.".to_owned()
        }
        EnergyChange::Gained if ratio >= 2.0 => {
            format!("Multiplies {energy} by {}.", rounded(ratio))
        }
        EnergyChange::Gained => {
            format!("Gains {} % of {energy}.", rounded(100.0 * (ratio - 1.0)))
        }
        EnergyChange::Lost => format!("Loses {} % of {energy}.", rounded(100.0 * (1.0 - ratio))),
        EnergyChange::Kept => "Keeps its energy.".to_owned(),
    }
}

/// Lists in words the properties of the judged impact that no law of dry contact allows, for example pulling on a
/// contact.
fn faults(judgement: &Judgement) -> Vec<String> {
    // A velocity that is much larger after the impact has larger rounding, which is no fault.
    let growth = judgement.telling_ratio().sqrt().max(1.0);
    let growth = if growth.is_finite() { growth } else { 1.0 };
    let tolerance = judgement.options.tolerance * growth;
    let (fit, excess) = (&judgement.explanation, &judgement.excess);
    let [momentum, pull, friction] = fit.residuals();
    let mut faults = Vec::new();
    if momentum > tolerance {
        faults.push(format!(
            "Changes momentum that no contact can change, by {} of what there was.",
            rounded(fit.momentum_residual)
        ));
    }
    if pull > momentum + tolerance {
        faults.push("Pulls on a contact.".to_owned());
    }
    if friction > pull + tolerance {
        faults.push("Needs more friction than Coulomb allows.".to_owned());
    }
    if excess.penetration > tolerance {
        let left: Vec<String> = judgement
            .contacts
            .iter()
            .enumerate()
            .filter(|(_, contact)| contact.normal_velocity_plus < 0.0)
            .map(|(i, _)| i.to_string())
            .collect();
        let which = if left.len() == 1 {
            "contact"
        } else {
            "contacts"
        };
        faults.push(format!(
            "Leaves {which} {} approaching.",
            list(&left, "and")
        ));
    }
    if excess.violation > tolerance {
        faults.push("Violates a constraint.".to_owned());
    }
    faults
}

/// Describes in one sentence the restitution of each contact that approached, if there are at most a few; otherwise
/// `None`.
fn contacts(judgement: &Judgement) -> Option<String> {
    let ratios: Vec<String> = judgement
        .contacts
        .iter()
        .enumerate()
        .filter_map(|(i, contact)| {
            let ratio = contact.restitution?;
            let size = judgement.options.tolerance;
            let what = if ratio.abs() <= size {
                "stays closed".to_owned()
            } else if ratio < 0.0 {
                return None;
            } else {
                format!("rebounds with restitution {}", rounded(ratio))
            };
            Some(format!("contact {i} {what}"))
        })
        .collect();
    if ratios.is_empty() || ratios.len() > MAX_NAMED {
        return None;
    }
    let sentence = list(&ratios, "and");
    let rest = sentence.get(1..)?;
    Some(format!("C{rest}."))
}

/// Describes in one sentence which impact laws give the judged velocity, or which comes nearest. `None` if no law was
/// asked.
fn laws(judgement: &Judgement) -> Option<String> {
    if judgement.laws.is_empty() && judgement.refused.is_empty() {
        return None;
    }
    if !judgement.is_approaching {
        let sentence = if judgement.matches().next().is_some() {
            "Nothing approaches, and nothing happens."
        } else {
            "Nothing approaches, so that no law changes the velocity."
        };
        return Some(sentence.to_owned());
    }
    // Laws without a fitted coefficient come first: a match says more.
    let is_fitted = |law: &LawMatch| {
        law.restitution.is_some_and(|fit| fit.is_fitted) || law.restitutions.is_some()
    };
    let mut matches: Vec<&LawMatch> = judgement.matches().collect();
    matches.sort_by_key(|law| is_fitted(law));
    let names: Vec<String> = matches.into_iter().map(named).collect();
    if !names.is_empty() {
        let more = names.len().saturating_sub(MAX_NAMED);
        let mut shown: Vec<String> = names.into_iter().take(MAX_NAMED).collect();
        if more > 0 {
            shown.push(format!("{more} more"));
        }
        return Some(format!("Matches {}.", list(&shown, "and")));
    }
    Some(match judgement.nearest() {
        Some(nearest) => format!(
            "No law here gives it; the nearest is {}, {} away.",
            named(nearest),
            rounded(nearest.distance)
        ),
        None => "No law here answers the problem.".to_owned(),
    })
}

fn named(law: &LawMatch) -> String {
    match law.restitution {
        Some(fit) => {
            let fitted = if fit.is_fitted { " (fitted)" } else { "" };
            let value = coefficient(fit.value);
            format!("{} with restitution {value}{fitted}", law.law)
        }
        None if law.restitutions.is_some() => {
            format!("{} with a restitution of each contact (fitted)", law.law)
        }
        None => law.law.to_owned(),
    }
}

fn outcome_set(judgement: &Judgement) -> Option<String> {
    let set = judgement.outcome_set.as_ref()?;
    if !judgement.is_approaching {
        return None;
    }
    let distance = rounded(set.distance);
    Some(match &set.membership {
        Membership::Inside(_) => "It lies in the set of inelastic outcomes.".to_owned(),
        Membership::Outside { margin, .. } if rounded(*margin) == distance => {
            format!("It lies {distance} away from the set of inelastic outcomes.")
        }
        Membership::Outside { margin, .. } => format!(
            "It lies between {} and {distance} away from the set of inelastic outcomes.",
            rounded(*margin)
        ),
        Membership::Near(_) => format!(
            "A member of the set of inelastic outcomes lies {distance} away, within the tolerance."
        ),
        Membership::Unknown => format!(
            "Whether it lies in the set of inelastic outcomes is unknown: of {} members the \
             nearest is {distance} away.",
            set.members
        ),
    })
}

/// Describes in one sentence the rounding of the given velocities. Returns `None` if the rounding is far below the
/// tolerance.
fn rounding(judgement: &Judgement) -> Option<String> {
    judgement.has_coarse_data().then(|| {
        format!(
            "The velocities are so large that their rounding is {} of the motion that contacts see: the data cannot \
             tell finer.",
            rounded(judgement.rounding)
        )
    })
}

/// Formats a coefficient in \[0, 1\] with three significant digits, or as `1 - x` if it would otherwise be printed as 1
/// although it is not.
fn coefficient(x: f64) -> String {
    match rounded(x) {
        short if short == "1" && x != 1.0 => format!("1 - {}", rounded(1.0 - x)),
        short => short,
    }
}

/// Formats a number with about three significant digits and without trailing zeros.
fn rounded(x: f64) -> String {
    let size = x.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e5).contains(&size) {
        return format!("{x:.2e}");
    }
    let decimals = (2 - libm::log10(size).floor() as i32).clamp(0, 6) as usize;
    let text = format!("{x:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Joins items with commas, and with the word `last` before the final item. With "and" as `last`, the results are "a", "a
/// and b", or "a, b and c".
fn list(items: &[String], last: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., end] => format!("{} {last} {end}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.98, "0.98"),
            (11.039, "11"),
            (0.053_25, "0.0532"),
            (1234.5, "1234"),
            (4.5e-5, "4.50e-5"),
            (0.999_87, "1"),
        ] {
            assert_eq!(rounded(x), text);
        }
    }

    #[test]
    fn coefficients_of_nearly_one_are_told_from_one() {
        assert_eq!(coefficient(1.0), "1");
        assert_eq!(coefficient(0.985), "0.985");
        assert_eq!(coefficient(1.0 - 3.5e-5), "1 - 3.50e-5");
    }

    #[test]
    fn lists_end_with_a_word() {
        let items = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&items[..1], "and"), "a");
        assert_eq!(list(&items[..2], "and"), "a and b");
        assert_eq!(list(&items, "and"), "a, b and c");
    }
}
