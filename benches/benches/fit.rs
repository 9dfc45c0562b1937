//! Fitting impacts: 285 measured tosses read, looked through for impacts, predicted and fitted.
//!
//! The fit includes noise, impacts and the explained part, everything that `carom fit` does after reading.

use carom_fit::{
    FitLaw, FitOptions, Parameter, Parameters, Request, Setup, analyze, estimate_noise,
    find_impacts, predict, read_poses,
};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::Path;

fn data(name: &str) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tosses");
    std::fs::read(folder.join(name)).ok()
}

fn tosses(c: &mut Criterion) -> Option<()> {
    let compressed = data("tosses-public.csv.gz")?;
    let setup = Setup::from_toml(&String::from_utf8(data("cube.toml")?).ok()?).ok()?;
    let read = || read_poses(flate2::read::GzDecoder::new(&compressed[..]));
    let poses = read().ok()?.tosses;
    let noise = estimate_noise(&poses, &setup).ok()?;
    let impacts = find_impacts(&poses, &setup, &noise).impacts;
    let parameters = Parameters {
        restitution: 0.3,
        friction: 0.19,
        inertia: 1.0,
    };
    let law = FitLaw::MoreauNewton;
    let mut group = c.benchmark_group("fit/tosses");
    group.sample_size(10);
    group.bench_function("read", |b| b.iter(|| black_box(read().is_ok())));
    group.bench_function("predict-200-times", |b| {
        b.iter(|| {
            for _ in 0..200 {
                for impact in &impacts {
                    let plus = predict(black_box(impact), &setup, &noise.plane, law, &parameters);
                    black_box(plus.is_ok());
                }
            }
        });
    });
    let free = [Parameter::Restitution, Parameter::Friction];
    let request = [Request::new(law, &free, Parameters::NONE)];
    let options = FitOptions::new(0, 0);
    group.bench_function("fit", |b| {
        b.iter(|| black_box(analyze(&poses, &setup, &request, &options).is_ok()));
    });
    group.finish();
    Some(())
}

fn fit(c: &mut Criterion) {
    let ran = tosses(c);
    assert!(ran.is_some(), "a case could not be set up");
}

criterion_group!(benches, fit);
criterion_main!(benches);
