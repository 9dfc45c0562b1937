//! The measured tosses of a cube.

use crate::common::{cube, data, sample};
use carom_fit::{
    Analysis, FitLaw, FitOptions, Kind, Parameter, Parameters, Request, analyze, estimate_noise,
    find_impacts, read_poses,
};

fn request(law: FitLaw, free: &[Parameter]) -> Request {
    Request::new(law, free, Parameters::NONE)
}

fn analysis(threads: usize, requests: &[Request]) -> Analysis {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let options = FitOptions::new(20, 4);
    pool.install(|| analyze(&sample(), &cube(), requests, &options))
        .unwrap()
}

#[test]
fn the_tracker_is_as_good_as_its_second_differences_say() {
    let noise = estimate_noise(&sample(), &cube()).unwrap();
    for sigma in noise.position_m {
        assert!((0.010e-3..0.025e-3).contains(&sigma), "{noise:?}");
    }
    for sigma in noise.rotation_rad {
        assert!((0.12e-3..0.28e-3).contains(&sigma), "{noise:?}");
    }
    assert!((noise.gravity.z + 9.61).abs() <= 0.15 && noise.gravity.xy().norm() <= 0.15);
    // By another program.
    assert!((noise.plane.offset - 1.349_641_928e-3).abs() <= 1e-9);
}

/// A record has equal bytes for any number of threads; its parameters have the score that it tells.
#[test]
fn a_record_says_the_same_twice() {
    use Parameter::{Friction, Restitution};
    let requests = [
        request(FitLaw::MoreauNewton, &[Restitution, Friction]),
        request(FitLaw::Plastic, &[]),
    ];
    let (one, two) = (analysis(1, &requests), analysis(2, &requests));
    let text = |a: &Analysis| serde_json::to_string(&a.record(serde_json::Value::Null)).unwrap();
    assert_eq!(text(&one), text(&two));
    assert_eq!(one.status(), "fitted");
    assert_eq!(one.ranking()[0].law, FitLaw::MoreauNewton);
    let again: Vec<Request> = one
        .fits
        .iter()
        .map(|fit| Request {
            fixed: fit.parameters,
            scale: Some(fit.score.scale),
            ..request(fit.law, &[])
        })
        .collect();
    let scored = analysis(2, &again);
    assert_eq!(scored.status(), "evaluated");
    for (fit, scored) in one.fits.iter().zip(&scored.fits) {
        assert!((fit.score.score - scored.score.score).abs() <= 1e-9);
    }
    let record = one.record(serde_json::Value::Null);
    assert_eq!(record.non_finite(), None);
    assert_eq!(
        record.results["impacts"].as_array().unwrap().len(),
        one.census.impacts.len()
    );
}

/// All 285 tosses; bands as the measured numbers of an independent analysis allow.
#[test]
#[ignore = "half a minute"]
fn two_hundred_and_eighty_five_tosses_of_a_cube() {
    use Parameter::{Friction, Inertia, Restitution};
    let compressed = data("tosses-public.csv.gz");
    let table = read_poses(flate2::read::GzDecoder::new(&compressed[..])).unwrap();
    let samples: usize = table.tosses.iter().map(|toss| toss.time.len()).sum();
    assert_eq!((table.tosses.len(), samples), (285, 29_791));
    let setup = cube();
    let noise = estimate_noise(&table.tosses, &setup).unwrap();
    assert!((noise.gravity.z + 9.61).abs() <= 0.05 && noise.gravity.xy().amax() <= 0.05);
    assert!((noise.plane.offset - 1.14e-3).abs() <= 0.10e-3);
    let census = find_impacts(&table.tosses, &setup, &noise);
    let corners = census
        .impacts
        .iter()
        .filter(|i| i.kind == Kind::Corner)
        .count();
    assert!((420..=640).contains(&census.impacts.len()));
    assert!((0.65..=0.85).contains(&(corners as f64 / census.impacts.len() as f64)));
    let requests = [
        request(FitLaw::MoreauNewton, &[Restitution, Friction]),
        request(FitLaw::Routh(Default::default()), &[Restitution, Friction]),
        request(FitLaw::AnitescuPotra, &[Friction]),
        request(FitLaw::Plastic, &[]),
    ];
    let options = FitOptions::new(400, 0);
    let analysis = analyze(&table.tosses, &setup, &requests, &options).unwrap();
    let order: Vec<&str> = analysis
        .ranking()
        .iter()
        .map(|fit| fit.law.name())
        .collect();
    assert_eq!(order[0], "moreau-newton");
    let best = analysis.ranking()[0];
    assert!((best.parameters.restitution - 0.297).abs() <= 0.02);
    assert!((best.parameters.friction - 0.190).abs() <= 0.02);
    for estimate in &best.estimates {
        let [low, high] = estimate.interval.unwrap();
        assert!(
            (0.002..=0.02).contains(&(0.5 * (high - low))),
            "{estimate:?}"
        );
    }
    let free = [request(
        FitLaw::MoreauNewton,
        &[Restitution, Friction, Inertia],
    )];
    let with_inertia = analyze(&table.tosses, &setup, &free, &options).unwrap();
    let fit = with_inertia.ranking()[0];
    assert!((fit.parameters.restitution - 0.297).abs() <= 0.02);
    assert!((fit.parameters.friction - 0.164).abs() <= 0.02);
    assert!((fit.parameters.inertia - 1.30).abs() <= 0.08);
    assert!(fit.score.score >= best.score.score + 0.8);
}
