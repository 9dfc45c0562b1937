//! A program from outside that closes open types. Each line with a mark must not compile, with that error, and all others must.
#![allow(unused)]

use carom::contact::ConeSelection;
use carom::derivative::Differences;
use carom::impact::two_body::{ImpactOptions, RestitutionLaw};
use carom::impact::{
    Audit, Contact, ImpactOutcome, ImpactStatus, Plastic, PlasticRule, Poisson, Propagative,
    Selection,
};
use carom::judge::{JudgeOptions, Judgement};
use carom::lcp::{LcpSolution, LcpStatus, Lemke, LemkeOptions, Verdict};
use carom::metric::Covector;

fn options(tolerance: f64) -> ImpactOptions {
    ImpactOptions { tolerance, ..ImpactOptions::default() } //~ E0639
}

fn lemke() -> (LemkeOptions, Lemke) {
    let options = LemkeOptions { max_pivots: Some(3), ..Default::default() }; //~ E0639
    let lemke = Lemke { options: LemkeOptions::default() }; //~ E0639
    (options, lemke)
}

fn laws() -> (Propagative, Plastic, Poisson) {
    let propagative = Propagative { max_impacts: Some(40), ..Default::default() }; //~ E0639
    let plastic = Plastic { rule: PlasticRule::Cone }; //~ E0639
    let poisson = Poisson { selection: ConeSelection::First, ..Default::default() }; //~ E0639
    (propagative, plastic, poisson)
}

fn judging() -> JudgeOptions {
    JudgeOptions { samples: 3, ..JudgeOptions::default() } //~ E0639
}

fn contact(normal: Covector) -> Contact {
    Contact { normal, tangents: Vec::new(), friction: 0.0, restitution: 0.0 } //~ E0639
}

fn results(outcome: ImpactOutcome, audit: Audit, judgement: Judgement, found: Differences, lcp: LcpSolution) {
    let ImpactOutcome { velocity_plus, .. } = &outcome;
    let ImpactOutcome { velocity_plus: _, impulses: _, constraint_impulses: _, status: _, audit: _, diagnostics: _ } = outcome; //~ E0638
    let Differences { dv_dv: _, error: _ } = found; //~ E0638
    let audit = Audit { ..audit }; //~ E0639
    let judgement = Judgement { ..judgement }; //~ E0639
    let lcp = LcpSolution { ..lcp }; //~ E0639
}

fn status(status: ImpactStatus) -> u8 {
    match status { //~ E0004
        ImpactStatus::Resolved => 0,
        ImpactStatus::Separating => 1,
        ImpactStatus::Jammed => 2,
    }
}

fn rule(rule: PlasticRule) -> bool {
    match rule { //~ E0004
        PlasticRule::Cone => true,
        PlasticRule::ProjectAll { allow_adhesion } => allow_adhesion,
    }
}

fn cone(selection: ConeSelection) -> bool {
    match selection { //~ E0004
        ConeSelection::Even => true,
        ConeSelection::First => false,
    }
}

fn selection(selection: Selection) -> u64 {
    match selection { //~ E0004
        Selection::MostApproaching | Selection::LeastApproaching | Selection::Priority(_) => 0,
        Selection::Random(seed) => seed,
    }
}

fn restitution(law: RestitutionLaw) -> u8 {
    match law { //~ E0004
        RestitutionLaw::Energetic => 0,
        RestitutionLaw::Poisson => 1,
        RestitutionLaw::Newton => 2,
    }
}

fn answers(status: LcpStatus, verdict: Verdict) -> bool {
    let found = match status { //~ E0004
        LcpStatus::Solved => true,
        LcpStatus::Ray | LcpStatus::IterationLimit | LcpStatus::Infeasible | LcpStatus::Inaccurate => false,
    };
    match verdict { //~ E0004
        Verdict::Yes => found,
        Verdict::No | Verdict::Borderline | Verdict::TooLarge => false,
    }
}

fn main() {}
