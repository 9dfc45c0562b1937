//! Cost of one linear complementarity problem, certificate included.
//!
//! Every case solves a set of problems one after the other; criterion's time divided by the size of
//! the set (`Throughput::Elements`) is the time of one. Peers' medians on a machine of the same
//! kind, on problems of the same families, in µs:
//!
//! | n | 4 | 8 | 16 | 32 | 64 | 128 | 192 (contacts) | 256 |
//! | --- | --- | --- | --- | --- | --- | --- | --- | --- |
//! | Siconos, Lemke | 0.38 | 0.93 | 4.8 | 22 | 131 | 1010 | | 6830 |
//! | QuantEcon, Lemke | | | | | | | 5270 | |
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../../crates/carom-lcp/tests/it/common/mod.rs"]
mod common;

use carom_lcp::{ContactLcp, Lcp, LcpRef, Lemke, LemkeOptions, LemkeWorkspace};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;

fn pd_skew(n: usize) -> Vec<Lcp> {
    (0..20).map(|seed| common::pd_skew(seed, n)).collect()
}

/// Contacts with a friction polygon of four directions: n is six times their number.
fn friction(contacts: usize) -> Vec<Lcp> {
    let plates = contacts.div_ceil(4);
    (0..if contacts > 8 { 4 } else { 20 })
        .map(|seed| {
            let pile = common::pile(seed, plates, 1.0, 1.0).first(contacts);
            ContactLcp::new(&pile.rows(), 4).unwrap().lcp().clone()
        })
        .collect()
}

/// Validation, path and certificate, from slices, in one workspace.
fn lemke(c: &mut Criterion) {
    let mut group = c.benchmark_group("lcp/lemke");
    let sizes = [4, 8, 16, 32, 64, 128, 256];
    let cases = sizes.map(|n| ("pd-skew", n, pd_skew(n)));
    let contacts = [1, 4, 32].map(|m| ("friction", m, friction(m)));
    for (name, size, set) in cases.into_iter().chain(contacts) {
        let solver = Lemke::default();
        let mut workspace = LemkeWorkspace::new();
        group.throughput(Throughput::Elements(set.len() as u64));
        group.bench_function(BenchmarkId::new(name, size), |b| {
            b.iter(|| {
                for lcp in &set {
                    let (matrix, vector) = (lcp.matrix().as_slice(), lcp.vector().as_slice());
                    let problem = LcpRef::new(black_box(matrix), black_box(vector)).unwrap();
                    black_box(solver.solve_into(problem, &mut workspace).unwrap());
                }
            });
        });
    }
    let set = pd_skew(64);
    let solver = Lemke::default();
    let mut workspace = LemkeWorkspace::new();
    let warm: Vec<Lemke> = set
        .iter()
        .map(|lcp| {
            solver.solve_into(lcp.view(), &mut workspace).unwrap();
            let start = Some(workspace.basis().to_vec());
            let options = LemkeOptions::default().with_start(start);
            Lemke::default().with_options(options)
        })
        .collect();
    group.throughput(Throughput::Elements(set.len() as u64));
    group.bench_function(BenchmarkId::new("pd-skew-same-basis", 64), |b| {
        b.iter(|| {
            for (lcp, solver) in set.iter().zip(&warm) {
                let problem = black_box(lcp.view());
                black_box(solver.solve_into(problem, &mut workspace).unwrap());
            }
        });
    });
}

criterion_group!(benches, lemke);
criterion_main!(benches);
