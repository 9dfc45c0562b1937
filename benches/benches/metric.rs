//! The two implementations behind `FAER_MIN_DIM`: plain loops and blocked kernels.

use carom_benches::{dense_covectors, dense_mass};
use carom_metric::{KineticMetric, UnitNormals};
use criterion::{BatchSize, measurement::WallTime};
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, criterion_group, criterion_main};
use nalgebra::{Cholesky, DMatrix};
use std::hint::black_box;

const DIMENSIONS: [usize; 10] = [3, 6, 12, 24, 32, 48, 64, 96, 128, 256];

/// Contact normals whitened at once.
const COLUMNS: [usize; 3] = [1, 2, 8];

fn factor_nalgebra(mass: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    Some(Cholesky::new(mass.clone())?.unpack_dirty())
}

fn factor_faer(mass: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = mass.nrows();
    let view = faer::MatRef::from_column_major_slice(mass.as_slice(), n, n);
    let llt = faer::linalg::solvers::Llt::new(view, faer::Side::Lower).ok()?;
    let l = llt.L();
    Some(DMatrix::from_fn(
        n,
        n,
        |i, j| if i >= j { l[(i, j)] } else { 0.0 },
    ))
}

fn solve_nalgebra(lower: &DMatrix<f64>, columns: &mut DMatrix<f64>) {
    let n = lower.nrows();
    for x in columns.as_mut_slice().chunks_exact_mut(n) {
        for (j, column) in lower.as_slice().chunks_exact(n).enumerate() {
            let pivot = x[j] / column[j];
            x[j] = pivot;
            carom_metric::kernel::add_scaled(&mut x[j + 1..], -pivot, &column[j + 1..]);
        }
    }
}

fn solve_faer(lower: &DMatrix<f64>, columns: &mut DMatrix<f64>) {
    let (n, k) = columns.shape();
    faer::linalg::triangular_solve::solve_lower_triangular_in_place(
        faer::MatRef::from_column_major_slice(lower.as_slice(), n, n),
        faer::MatMut::from_column_major_slice_mut(columns.as_mut_slice(), n, k),
        faer::Par::Seq,
    );
}

type Factor = fn(&DMatrix<f64>) -> Option<DMatrix<f64>>;
type Solve = fn(&DMatrix<f64>, &mut DMatrix<f64>);

/// Factorization of the mass matrix; `current` is the library's, with its checks of the input.
fn factor(c: &mut Criterion) {
    let mut group = c.benchmark_group("metric/factor");
    for n in DIMENSIONS {
        let mass = dense_mass(n);
        for (name, factor) in [
            ("nalgebra", factor_nalgebra as Factor),
            ("faer", factor_faer),
        ] {
            group.bench_function(BenchmarkId::new(name, n), |b| {
                b.iter(|| factor(black_box(&mass)));
            });
        }
        group.bench_function(BenchmarkId::new("current", n), |b| {
            b.iter_batched(|| mass.clone(), KineticMetric::new, BatchSize::SmallInput);
        });
    }
}

/// Triangular solves of several columns; `current` also brings them to unit length.
fn solve(c: &mut Criterion) {
    let mut group = c.benchmark_group("metric/solve");
    for n in DIMENSIONS {
        for count in COLUMNS {
            solve_at(&mut group, n, count);
        }
    }
}

fn solve_at(group: &mut BenchmarkGroup<'_, WallTime>, n: usize, count: usize) {
    let covectors = dense_covectors(n, count);
    let columns = DMatrix::from_fn(n, count, |i, j| covectors[j].0[i]);
    let (Some(lower), Ok(metric)) = (
        factor_nalgebra(&dense_mass(n)),
        KineticMetric::new(dense_mass(n)),
    ) else {
        return;
    };
    for (name, solve) in [("nalgebra", solve_nalgebra as Solve), ("faer", solve_faer)] {
        let mut x = columns.clone();
        group.bench_function(BenchmarkId::new(name, format!("{n}x{count}")), |b| {
            b.iter(|| {
                x.copy_from(black_box(&columns));
                solve(&lower, &mut x);
            });
        });
    }
    group.bench_function(BenchmarkId::new("current", format!("{n}x{count}")), |b| {
        b.iter(|| UnitNormals::new(&metric, black_box(&covectors).iter()));
    });
}

criterion_group!(benches, factor, solve);
criterion_main!(benches);
