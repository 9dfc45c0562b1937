//! Summary of a fit in sentences: estimates with their intervals, and the law that predicts best.

use super::analysis::Analysis;
use super::law_fit::{Estimate, LawFit};

/// Difference of Akaike's criterion above which the data give the worse law no support (Burnham & Anderson, *Model
/// Selection and Multimodel Inference*, 2002, section 2.6).
const NO_SUPPORT: f64 = 10.0;
/// Difference of Akaike's criterion below which two laws count as equally good (Burnham & Anderson 2002).
const AS_GOOD: f64 = 2.0;

impl Analysis {
    /// Returns sentences for a reader about the result: one for each fitted impact law, the best law first, and one about the
    /// ranking of the laws if there are several.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let ranking = self.ranking();
        let mut sentences: Vec<String> = ranking.iter().map(|fit| of_law(fit)).collect();
        sentences.extend(of_ranking(&ranking));
        sentences.extend(self.unanswered.iter().map(|(law, refused)| {
            let kinds: Vec<&str> = refused.keys().copied().collect();
            format!("{law} has no answer for any impact: {}.", kinds.join(", "))
        }));
        let refusing = self.fits.iter().filter(|fit| !fit.refused.is_empty());
        sentences.extend(refusing.map(|fit| {
            let kinds: Vec<&str> = fit.refused.keys().copied().collect();
            format!(
                "{} refuses {} of {} impacts ({}){}.",
                fit.rule.name(),
                fit.refused.values().sum::<usize>(),
                self.cases.len(),
                kinds.join(", "),
                if fit.is_ranked {
                    ""
                } else {
                    " and is not ranked"
                }
            )
        }));
        let same = self.indistinguishable.iter();
        sentences
            .extend(same.map(|names| format!("{} predict the same here.", names.join(" and "))));
        sentences.extend(self.findings.iter().map(|finding| {
            format!(
                "The data are not in order: {} (--change {})",
                finding.sentence, finding.change
            )
        }));
        sentences
    }
}

fn of_law(fit: &LawFit) -> String {
    let estimates: Vec<String> = fit.estimates.iter().map(|e| of_estimate(fit, e)).collect();
    let told = if estimates.is_empty() {
        String::new()
    } else {
        format!("{}; ", estimates.join(", "))
    };
    format!(
        "{}: {told}misses the velocity after a typical impact by {:.1} % of the speed before.",
        fit.rule.name(),
        100.0 * fit.score.median_residual
    )
}

fn of_estimate(fit: &LawFit, estimate: &Estimate) -> String {
    let name = &estimate.parameter;
    let value = fit.parameters.get(&estimate.parameter);
    let interval = match estimate.interval {
        Some([low, high]) => format!(" (95 %: {low:.3} to {high:.3})"),
        None => String::new(),
    };
    let told = if estimate.is_identifiable {
        ""
    } else {
        ", which the data do not tell"
    };
    format!("{name} {value:.3}{interval}{told}")
}

fn of_ranking(ranking: &[&LawFit]) -> Option<String> {
    let (best, next) = (ranking.first()?, ranking.get(1)?);
    let (first, second) = (best.rule.name(), next.rule.name());
    if let (Some(a), Some(b)) = (best.held_out, next.held_out) {
        let more = a.score - b.score;
        if more >= 0.0 {
            return Some(format!(
                "{first} predicts best; {second} is {more:.2} an impact behind in log density on held-out halves."
            ));
        }
    }
    let behind = next.aic - best.aic;
    Some(if behind < AS_GOOD {
        format!(
            "{first} and {second} predict equally well: Akaike's criterion differs by {behind:.1}."
        )
    } else if behind < NO_SUPPORT {
        format!(
            "{first} predicts best; {second} is {behind:.1} behind in Akaike's criterion, which does not rule it out."
        )
    } else {
        format!(
            "{first} predicts best; {second} is {behind:.0} behind in Akaike's criterion: the data give it no support."
        )
    })
}
