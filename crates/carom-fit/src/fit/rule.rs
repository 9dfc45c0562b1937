//! Laws by their names, and the two baselines.

use super::parameter::{Coefficient, Parameter};
use carom_impact::two_body::RestitutionLaw;
use carom_impact::{ContactCount, LAWS, Law, LawInfo, Outcomes};
use serde_json::json;

/// Rule that predicts the velocity after an impact: a law of [`carom_impact::LAWS`], or a baseline.
///
/// # Examples
///
/// ```
/// use carom_fit::{Coefficient, Parameter, Rule};
/// let plastic = Rule::by_name("plastic").ok_or("no law")?;
/// // A law without friction and restitution knows the inertia alone.
/// assert!(!plastic.has(&Parameter::shared(Coefficient::Friction)));
/// assert!(Rule::by_name("two-body-poisson").is_some());
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    name: String,
    pub(crate) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Law with its options.
    Law(Box<Law>),
    /// Baseline: the least change of velocity after which all contacts are at rest.
    Stick,
    /// Baseline: the velocity does not change.
    NoImpact,
}

/// Key of the option that selects a law of restitution.
const RESTITUTION_LAW: &str = "restitution_law";
/// Restitution as a coefficient of contacts, and as the option of a law without such a coefficient.
const RESTITUTION: &str = "restitution";

impl Rule {
    /// Names of the baselines: with `stick` every contact stops, with `no-impact` the velocity stays unchanged.
    pub const BASELINES: [&str; 2] = ["stick", "no-impact"];

    /// Returns the rule with this name: that of a law of `carom laws` or of a baseline. A law that has a choice of the law of
    /// restitution takes its name as a suffix: `routh-poisson`. `None` if there is no such rule.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        let kind = match name {
            "stick" => Kind::Stick,
            "no-impact" => Kind::NoImpact,
            _ => Kind::Law(Box::new(Law::named(name).or_else(|| variant(name))?)),
        };
        Some(Self {
            name: name.to_owned(),
            kind,
        })
    }

    /// Returns the names of all rules, laws first.
    #[must_use]
    pub fn names() -> Vec<String> {
        let mut names = Vec::new();
        for info in LAWS {
            names.push(info.name.to_owned());
            if has_option(info, RESTITUTION_LAW) {
                let others = [RestitutionLaw::Poisson, RestitutionLaw::Newton];
                names.extend(others.map(|own| format!("{}-{}", info.name, own.name())));
            }
        }
        names.extend(Self::BASELINES.map(str::to_owned));
        names
    }

    /// Returns the name of the rule on the command line and in records.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn info(&self) -> Option<LawInfo> {
        match &self.kind {
            Kind::Law(law) => Some(law.info()),
            Kind::Stick | Kind::NoImpact => None,
        }
    }

    /// True if the predictions depend on a parameter.
    #[must_use]
    pub fn has(&self, parameter: &Parameter) -> bool {
        let Some(info) = self.info() else {
            let is_inertia = parameter.coefficient == Coefficient::Inertia;
            return is_inertia && self.kind == Kind::Stick;
        };
        match parameter.coefficient {
            Coefficient::Friction => info.uses.friction,
            Coefficient::Inertia => true,
            Coefficient::Restitution => {
                let is_of_all = parameter.surface.is_none() || parameter.is_each();
                info.uses.restitution || is_of_all && has_option(&info, RESTITUTION)
            }
        }
    }

    /// True if the law uses friction or tangents of contacts: [`LawInfo::uses`].
    pub(crate) fn takes_tangents(&self) -> bool {
        self.info().is_some_and(|info| info.uses.tangents)
    }

    /// True if the law takes one contact only.
    pub(crate) fn takes_one_contact(&self) -> bool {
        self.info()
            .is_some_and(|info| info.contacts == ContactCount::One)
    }

    /// True if the law answers with a set, which has no density.
    #[must_use]
    pub fn is_set_valued(&self) -> bool {
        self.info()
            .is_some_and(|info| info.outcomes == Outcomes::Many)
    }

    /// Returns the rule with a restitution that is an option of its law; other rules stay.
    pub(crate) fn with_restitution(&self, restitution: f64) -> Self {
        let mut rule = self.clone();
        if let Kind::Law(law) = &mut rule.kind
            && has_option(&law.info(), RESTITUTION)
            && let Ok(found) = law.with_options(json!({ RESTITUTION: restitution }))
        {
            **law = found;
        }
        rule
    }
}

fn has_option(info: &LawInfo, key: &str) -> bool {
    info.options.iter().any(|option| option.key == key)
}

/// Returns the law whose name, with the name of a law of restitution, is `name`.
fn variant(name: &str) -> Option<Law> {
    let (base, suffix) = name.rsplit_once('-')?;
    let law = Law::named(base).filter(|law| has_option(&law.info(), RESTITUTION_LAW))?;
    law.with_options(json!({ RESTITUTION_LAW: suffix })).ok()
}
