//! Fits of impacts of several systems with known truth, and what a record says of them.

use crate::common::{FRICTION, INERTIA, RESTITUTION, cases, cube_in_a_known_world, sample};
use crate::systems::{Dice, Kind, file, impacts_with, setup};
use carom_fit::{
    Analysis, DataSetup, FitError, FitOptions, LawFit, Measured, Parameter, Parameters, Request,
    Rule,
};

fn request(law: &str, free: &[Parameter]) -> Request {
    Request::new(Rule::by_name(law).unwrap(), free, Parameters::NONE)
}

fn analyzed(measured: &Measured, laws: &[&str], bootstrap: u64) -> Analysis {
    let free = [RESTITUTION, FRICTION];
    let requests: Vec<Request> = laws.iter().map(|law| request(law, &free)).collect();
    let options = FitOptions::new(bootstrap, 2);
    measured.clone().analyze(&requests, &options).unwrap()
}

/// Impacts of a system with 1 % noise.
fn text(kind: Kind, n: usize, seed: u64, coefficients: [f64; 2]) -> String {
    let drawn = impacts_with(coefficients, kind, n, &mut Dice::new(seed), 0.01);
    file(kind, &drawn)
}

fn read(kind: Kind, text: &str) -> Measured {
    let setup = setup(kind, &kind.config([0.0; 2]));
    setup.read(text.as_bytes(), kind.is_table(), &[]).unwrap()
}

fn lines(measured: &Measured) -> Measured {
    let lines: String = measured
        .states()
        .iter()
        .map(|s| s.to_line() + "\n")
        .collect();
    DataSetup::default()
        .read(lines.as_bytes(), false, &[])
        .unwrap()
}

fn assert_alike(a: &LawFit, b: &LawFit, tolerance: f64) {
    let close = |x: f64, y: f64| (x - y).abs() <= tolerance;
    let [p, q] = [a, b].map(|fit| [RESTITUTION, FRICTION].map(|p| fit.parameters.get(&p)));
    assert!(close(p[0], q[0]) && close(p[1], q[1]), "{p:?} {q:?}");
    assert!(close(a.score.score, b.score.score) && close(a.score.scale, b.score.scale));
    match (a.held_out, b.held_out) {
        (Some(a), Some(b)) => assert!(close(a.score, b.score)),
        other => panic!("{other:?}"),
    }
}

/// The law that made the impacts leads, with its parameters; the part that no contact reaches is the same for every law.
#[test]
fn generated_impacts_tell_the_law_and_its_parameters() {
    let table = text(Kind::Ellipse, 60, 5, [0.6, 0.15]);
    let measured = read(Kind::Ellipse, &table);
    let analysis = analyzed(
        &measured,
        &["moreau-newton", "anitescu-potra", "plastic"],
        40,
    );
    assert!(analysis.findings.is_empty(), "{:?}", analysis.findings);
    assert!(analysis.is_ranked_by_held_out());
    let ranking = analysis.ranking();
    let (best, next) = (ranking[0], ranking[1]);
    assert_eq!(best.rule.name(), "moreau-newton");
    assert!(best.held_out.unwrap().score >= next.held_out.unwrap().score + 1.0);
    for (estimate, truth) in best.estimates.iter().zip([0.6, 0.15]) {
        let found = best.parameters.get(&estimate.parameter);
        assert!((found - truth).abs() <= 0.02, "{found} for {truth}");
        let [low, high] = estimate.interval.unwrap();
        assert!(estimate.is_identifiable && low <= found && found <= high);
    }
    let record = analysis.record(serde_json::Value::Null);
    assert_eq!(record.non_finite(), None);
    let free: Vec<f64> =
        serde_json::from_value(record.results["explained"]["free"].clone()).unwrap();
    for fit in analysis.fits.iter().chain(&analysis.baselines) {
        for (own, all) in fit.residual_by[2].iter().zip(&free) {
            assert!((own - all).abs() <= 1e-9, "{}", fit.rule.name());
        }
    }
    // The table as lines.
    let again = analyzed(&lines(&measured), &["moreau-newton"], 0);
    assert_alike(best, &again.fits[0], 1e-9);
}

/// Tosses with given gravity are the states that they give.
#[test]
fn tosses_are_their_states() {
    let mut setup = cube_in_a_known_world();
    setup.plane.offset = None;
    let measured = cases(&sample(), &setup);
    let laws = ["moreau-newton", "routh"];
    let [tosses, states] = [&measured, &lines(&measured)].map(|m| analyzed(m, &laws, 0));
    for (a, b) in tosses.fits.iter().zip(&states.fits) {
        assert_alike(a, b, 1e-9);
        assert_eq!(a.by_kind.len(), b.by_kind.len());
    }
    assert!(tosses.findings.is_empty(), "{:?}", tosses.findings);
}

/// Laws that are one law for a sphere share a place.
#[test]
fn laws_of_a_sphere_are_not_told_apart() {
    let measured = read(Kind::Ball, &text(Kind::Ball, 20, 8, [0.5, 0.15]));
    let analysis = analyzed(
        &measured,
        &["moreau-newton", "routh", "two-body", "plastic"],
        0,
    );
    assert_eq!(
        analysis.indistinguishable,
        [["moreau-newton", "routh", "two-body"]]
    );
    let names: Vec<&str> = analysis.ranking().iter().map(|f| f.rule.name()).collect();
    assert_eq!(names, ["moreau-newton", "plastic"]);
}

/// Two surfaces have their own coefficients.
#[test]
fn surfaces_are_told_apart() {
    let named = |surface: &str, seed, coefficients| {
        let own = format!("{{\"surface\":\"{surface}\",\"normal\"");
        text(Kind::Ball, 30, seed, coefficients).replace("{\"normal\"", &own)
    };
    let lines = named("felt", 1, [0.3, 0.2]) + &named("steel", 2, [0.8, 0.05]);
    let measured = read(Kind::Ball, &lines);
    let free = ["restitution.*", "friction.*"].map(|name| Parameter::by_name(name).unwrap());
    let request = [request("moreau-newton", &free)];
    let mut options = FitOptions::new(20, 0);
    options.hold_out = false;
    let analysis = measured.analyze(&request, &options).unwrap();
    let fit = &analysis.fits[0];
    let found = fit.parameters.to_value();
    for (name, truth) in [
        ("restitution.felt", 0.3),
        ("restitution.steel", 0.8),
        ("friction.felt", 0.2),
        ("friction.steel", 0.05),
    ] {
        let value = found[name].as_f64().unwrap();
        assert!((value - truth).abs() <= 0.02, "{name}: {found}");
    }
    assert!(fit.estimates.iter().all(|e| e.interval.is_some()));
    assert_eq!(fit.by_surface.len(), 2);
    assert!(!analysis.is_ranked_by_held_out());
}

/// A law of one contact refuses impacts of several without gaps, is fitted to the rest and not ranked.
#[test]
fn a_law_that_refuses_much_is_not_ranked() {
    let measured = read(Kind::Chain, &text(Kind::Chain, 30, 4, [0.4, 0.2]));
    let analysis = analyzed(&measured, &["routh", "moreau-newton"], 0);
    let [routh, moreau] = &analysis.fits[..] else {
        panic!("{:?}", analysis.fits.len());
    };
    let refused = routh.refused["single-contact-law"];
    assert_eq!(routh.score.misfits.len() + refused, 30);
    assert!(refused > 3 && !routh.is_ranked && moreau.refused.is_empty());
    assert_eq!(analysis.ranking().len(), 1);
    let told =
        format!("routh refuses {refused} of 30 impacts (single-contact-law) and is not ranked.");
    assert!(analysis.sentences().contains(&told));
    // A number that is missing is no number that can be written.
    let record = analysis.record(serde_json::Value::Null);
    let tables = serde_json::to_string(&record.tables).unwrap();
    assert!(tables.contains("residual_moreau-newton") && !tables.contains("residual_routh"));
    assert!(!tables.contains("null"), "{tables}");
}

/// A reversed axis is told, and nothing is changed.
#[test]
fn data_that_are_not_in_order_are_told() {
    let mut drawn = impacts_with([0.6, 0.2], Kind::Ellipse, 60, &mut Dice::new(5), 0.01);
    for impact in &mut drawn {
        impact.minus[0] *= -1.0;
        impact.plus[0] *= -1.0;
    }
    let measured = read(Kind::Ellipse, &file(Kind::Ellipse, &drawn));
    let analysis = analyzed(&measured, &["plastic"], 0);
    assert_eq!(analysis.findings[0].change, "velocity-sign:x");
    let record = analysis.record(serde_json::Value::Null);
    assert_eq!(record.results["warnings"][0], "inconsistent-data");
    assert!(
        analysis
            .sentences()
            .iter()
            .any(|s| s.contains("not in order"))
    );
}

#[test]
fn parameters_that_are_not_there_are_refused() {
    let measured = read(Kind::Ball, &text(Kind::Ball, 12, 3, [0.5, 0.1]));
    let refused = |law: &str, name: &str| {
        let free = [Parameter::by_name(name).unwrap()];
        let mut request = request(law, &[]);
        request.free = free.to_vec();
        let found = measured.clone().analyze(&[request], &FitOptions::new(0, 0));
        match found {
            Err(FitError::Parameter(why)) => why,
            other => panic!("{:?}", other.map(|_| ())),
        }
    };
    for (law, name, words) in [
        (
            "moreau-newton",
            "restitution.contct",
            "did you mean `contact`",
        ),
        ("moreau-newton", "inertia", "no inertia"),
        ("plastic", "friction", "no such parameter"),
    ] {
        let why = refused(law, name);
        assert!(why.starts_with(name) && why.contains(words), "{why}");
    }
    for name in ["restitution.", "friktion", "inertia.heel", ""] {
        assert_eq!(Parameter::by_name(name), None);
    }
    let all = Rule::names();
    assert!(
        all.iter()
            .all(|name| Rule::by_name(name).is_some_and(|r| r.name() == name))
    );
    assert!(Rule::by_name("plastic-poisson").is_none() && Rule::by_name("routh-rust").is_none());
    assert!(Rule::by_name("stick").unwrap().has(&INERTIA));
}
