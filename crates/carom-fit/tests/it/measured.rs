//! The measured tosses of a cube.

use crate::common::{FRICTION, INERTIA, RESTITUTION, cases, cube, data, sample};
use carom_fit::{
    Analysis, FitOptions, Measured, Parameter, Parameters, Request, Rule, estimate_noise,
    read_poses,
};

fn request(law: &str, free: &[Parameter]) -> Request {
    Request::new(Rule::by_name(law).unwrap(), free, Parameters::NONE)
}

fn analysis(threads: usize, requests: &[Request]) -> Analysis {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    let options = FitOptions::new(20, 4);
    pool.install(|| cases(&sample(), &cube()).analyze(requests, &options))
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
    let requests = [
        request("moreau-newton", &[RESTITUTION, FRICTION]),
        request("plastic", &[]),
    ];
    let (one, two) = (analysis(1, &requests), analysis(2, &requests));
    let text = |a: &Analysis| serde_json::to_string(&a.record(serde_json::Value::Null)).unwrap();
    assert_eq!(text(&one), text(&two));
    assert_eq!(one.status(), "fitted");
    assert_eq!(one.ranking()[0].rule.name(), "moreau-newton");
    let again: Vec<Request> = one
        .fits
        .iter()
        .map(|fit| Request {
            fixed: fit.parameters.clone(),
            scale: Some(fit.score.scale),
            ..request(fit.rule.name(), &[])
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
        one.measured().states().len()
    );
}

/// All 285 tosses; bands as the measured numbers of an independent analysis allow.
#[test]
#[ignore = "half a minute"]
fn two_hundred_and_eighty_five_tosses_of_a_cube() {
    let compressed = data("tosses-public.csv.gz");
    let table = read_poses(flate2::read::GzDecoder::new(&compressed[..])).unwrap();
    let samples: usize = table.tosses.iter().map(|toss| toss.time.len()).sum();
    assert_eq!((table.tosses.len(), samples), (285, 29_791));
    let setup = cube();
    let noise = estimate_noise(&table.tosses, &setup).unwrap();
    assert!((noise.gravity.z + 9.61).abs() <= 0.05 && noise.gravity.xy().amax() <= 0.05);
    assert!((noise.plane.offset - 1.14e-3).abs() <= 0.10e-3);
    let measured = Measured::of_poses(&table.tosses, &setup).unwrap();
    let states = measured.states();
    let corners = states.iter().filter(|s| s.contacts.len() == 1).count();
    assert!((420..=640).contains(&states.len()));
    assert!((0.65..=0.85).contains(&(corners as f64 / states.len() as f64)));
    let requests = [
        request("moreau-newton", &[RESTITUTION, FRICTION]),
        request("routh", &[RESTITUTION, FRICTION]),
        request("anitescu-potra", &[FRICTION]),
        request("plastic", &[]),
    ];
    let options = FitOptions::new(400, 0);
    let analysis = measured.clone().analyze(&requests, &options).unwrap();
    let order: Vec<&str> = analysis
        .ranking()
        .iter()
        .map(|fit| fit.rule.name())
        .collect();
    assert_eq!(order[0], "moreau-newton");
    let best = analysis.ranking()[0];
    assert!((best.parameters.get(&RESTITUTION) - 0.297).abs() <= 0.02);
    assert!((best.parameters.get(&FRICTION) - 0.190).abs() <= 0.02);
    for estimate in &best.estimates {
        let [low, high] = estimate.interval.unwrap();
        assert!(
            (0.002..=0.02).contains(&(0.5 * (high - low))),
            "{estimate:?}"
        );
    }
    let free = [request("moreau-newton", &[RESTITUTION, FRICTION, INERTIA])];
    let with_inertia = measured.analyze(&free, &options).unwrap();
    let fit = with_inertia.ranking()[0];
    assert!((fit.parameters.get(&RESTITUTION) - 0.297).abs() <= 0.02);
    assert!((fit.parameters.get(&FRICTION) - 0.164).abs() <= 0.02);
    assert!((fit.parameters.get(&INERTIA) - 1.30).abs() <= 0.08);
    assert!(fit.score.score >= best.score.score + 0.8);
}
