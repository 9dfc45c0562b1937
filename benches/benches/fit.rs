//! Fitting impacts: 285 measured tosses read, looked through for impacts, predicted and fitted.
//!
//! The fit includes noise, impacts and the explained part, everything that `carom fit` does after reading.

use carom_fit::{DataSetup, FitOptions, Parameter, Parameters, Request, Rule, read_poses};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::Path;

fn data(name: &str) -> Option<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tosses");
    std::fs::read(folder.join(name)).ok()
}

fn tosses(c: &mut Criterion) -> Option<()> {
    let compressed = data("tosses-public.csv.gz")?;
    let text = String::from_utf8(data("cube.toml")?).ok()?;
    let setup = DataSetup::from_toml(&text).ok()?;
    let unpacked = || flate2::read::GzDecoder::new(&compressed[..]);
    let read = || setup.read(std::io::BufReader::new(unpacked()), true, &[]);
    let measured = read().ok()?;
    let free = ["restitution", "friction"].map(Parameter::by_name);
    let free: Vec<Parameter> = free.into_iter().flatten().collect();
    let parameters = Parameters::NONE.with(&free[0], 0.3).with(&free[1], 0.19);
    let law = Rule::by_name("moreau-newton")?;
    let mut group = c.benchmark_group("fit/tosses");
    group.sample_size(10);
    group.bench_function("read", |b| {
        b.iter(|| black_box(read_poses(unpacked()).is_ok()))
    });
    group.bench_function("predict-200-times", |b| {
        b.iter(|| {
            for _ in 0..200 {
                for state in measured.states() {
                    let plus = law.predict(black_box(state), &parameters);
                    black_box(plus.is_ok());
                }
            }
        });
    });
    let request = [Request::new(law.clone(), &free, Parameters::NONE)];
    let options = FitOptions::new(0, 0);
    group.bench_function("fit", |b| {
        b.iter(|| {
            let analysis = read().ok().map(|m| m.analyze(&request, &options).is_ok());
            black_box(analysis)
        });
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
