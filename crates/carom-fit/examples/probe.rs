use carom_fit::*;
use std::io::Read;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let setup = Setup::from_toml(&std::fs::read_to_string(&args[1]).unwrap()).unwrap();
    let file = std::fs::File::open(&args[2]).unwrap();
    let reader: Box<dyn Read> = if args[2].ends_with(".gz") {
        Box::new(flate2::read::GzDecoder::new(file))
    } else {
        Box::new(file)
    };
    let t = std::time::Instant::now();
    let table = read_poses(reader).unwrap();
    println!(
        "read {:?} tosses {} samples {}",
        t.elapsed(),
        table.tosses.len(),
        table.tosses.iter().map(|p| p.time.len()).sum::<usize>()
    );
    let noise = estimate_noise(&table.tosses, &setup).unwrap();
    println!("{noise:?}");
    let t = std::time::Instant::now();
    let census = find_impacts(&table.tosses, &setup, &noise);
    println!(
        "{:?} episodes {} impacts {} {:?}",
        t.elapsed(),
        census.episodes,
        census.impacts.len(),
        census.excluded
    );
    for kind in Kind::ALL {
        println!(
            "{} {}",
            kind.name(),
            census.impacts.iter().filter(|i| i.kind == kind).count()
        );
    }
    let cases = Cases::new(&census.impacts, &setup, &noise.plane);
    let t = std::time::Instant::now();
    for k in 0..20 {
        cases
            .score(
                FitLaw::MoreauNewton,
                &Parameters {
                    restitution: 0.3,
                    friction: 0.15 + 0.001 * k as f64,
                    inertia: 1.0,
                },
                None,
            )
            .unwrap();
    }
    println!("20 scores {:?}", t.elapsed());
    for law in [FitLaw::Stick, FitLaw::NoImpact] {
        let s = cases.score(law, &Parameters::NONE, None).unwrap();
        println!("{} {} {}", law.name(), s.score, s.median_residual);
    }
    let s = cases
        .score(
            FitLaw::MoreauNewton,
            &Parameters {
                restitution: 0.125,
                friction: 0.18,
                inertia: 1.0,
            },
            None,
        )
        .unwrap();
    println!("published {} {}", s.score, s.median_residual);
    let boot: u64 = args.get(3).map_or(0, |x| x.parse().unwrap());
    use Parameter::*;
    for (law, free) in [
        (FitLaw::MoreauNewton, vec![Restitution, Friction]),
        (FitLaw::MoreauNewton, vec![Restitution, Friction, Inertia]),
        (FitLaw::AnitescuPotra, vec![Friction]),
        (
            FitLaw::by_name("routh").unwrap(),
            vec![Restitution, Friction],
        ),
        (FitLaw::Plastic, vec![]),
    ] {
        let t = std::time::Instant::now();
        let fit = cases
            .fit(law, &free, &Parameters::NONE, &FitOptions::new(boot, 0))
            .unwrap();
        println!(
            "{} {:?} {:?} s {:.4} score {:.4} median {:.4} {:?}",
            law.name(),
            t.elapsed(),
            fit.parameters,
            fit.score.scale,
            fit.score.score,
            fit.score.median_residual,
            fit.estimates
        );
        println!("   {:?} {:?}", fit.by_kind, fit.per_toss);
    }
}
