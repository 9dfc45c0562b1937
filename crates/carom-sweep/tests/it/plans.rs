//! No text makes a plan panic, and what a plan says does not depend on how it is written.

use carom_sweep::Plan;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::path::Path;

const VALID: &str = include_str!("../../../../examples/sweeps/break-map.toml");

fn read(text: &str) -> Result<Plan, carom_sweep::SweepError> {
    Plan::from_toml(text, Path::new("."))
}

#[test]
fn files_without_an_end_are_refused_at_their_limit() {
    let folder = tempfile::tempdir().unwrap();
    let sparse = folder.path().join("sparse");
    let file = std::fs::File::create(&sparse).unwrap();
    file.set_len(10 << 30).unwrap();
    let message = Plan::read(&sparse).unwrap_err().to_string();
    assert!(message.contains("more than 16 MiB"), "{message}");
    let text = "name = \"a\"\n[states]\nfile = \"sparse\"\n";
    let plan = Plan::from_toml(text, folder.path());
    let message = plan.unwrap_err().to_string();
    assert!(
        message.contains("line 1") && message.contains("64 MiB without a line feed"),
        "{message}"
    );
}

#[test]
fn no_mutation_of_a_plan_panics() {
    let pieces = [
        "=",
        "==",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "1e999",
        "nan",
        "-",
        "(",
        "^",
        "^-",
        ",",
        "\n",
        "inf",
        "é",
        "\0",
        "[axes]",
        "[random]\ndraws = 3\n",
        "[states]\nfile = \".\"\n",
        "[scenario]\nname = \"penny\"\n",
        "linspace = [0, 1, 3]",
        "9999999999999999999",
        "values = []",
        "0",
        "true",
        "/~2",
        "seed",
        "cell",
    ];
    let place = 0..VALID.len();
    let piece = prop::sample::select(pieces.to_vec());
    let edits = prop::collection::vec((place, 0..9usize, piece), 1..4);
    let config = Config {
        cases: 3000,
        rng_seed: RngSeed::Fixed(20),
        failure_persistence: None,
        ..Config::default()
    };
    // The values of its axes are most of the work, and no different.
    let small = VALID.replace("1000]", "10]");
    let mut runner = TestRunner::new(config);
    let readable = std::cell::Cell::new(0);
    runner
        .run(&edits, |edits| {
            let mut text = small.clone();
            for (place, cut, piece) in edits {
                let floor = |mut i: usize| {
                    i = i.min(text.len());
                    while !text.is_char_boundary(i) {
                        i -= 1;
                    }
                    i
                };
                let (start, end) = (floor(place), floor(place + cut));
                text.replace_range(start..end, piece);
            }
            if let Ok(plan) = read(&text) {
                for index in [0, plan.n_cells() / 2, plan.n_cells() - 1] {
                    let _ = plan.cell(index).map(|cell| cell.line());
                }
                readable.set(readable.get() + 1);
            }
            Ok(())
        })
        .unwrap();
    assert!(readable.get() > 100, "most mutations do not get far");
}

#[test]
fn the_digest_is_that_of_the_meaning() {
    let digest = |text: &str| read(text).unwrap().digest().to_owned();
    let expected = digest(VALID);
    let spaced = VALID
        .replace("angle = { linspace", "angle   =   {   linspace")
        .replace("0.1, 10.0", "0.1, 1e1");
    assert_eq!(digest(&spaced), expected);
    for (from, to) in [
        ("seed = 7", "seed = 8"),
        ("\"break-map\"", "\"break-map-2\""),
        (
            "outcomes = \"n_outcomes\"",
            "outcomes = { path = \"n_outcomes\", type = \"i64\" }",
        ),
        (
            "velocity = [0, 0, 0, 0, 1, 0]",
            "velocity = [0, 0, 0, 0, 1.0, 0]",
        ),
        ("cells_per_shard = 1000", "cells_per_shard = 999"),
        ("10.0, 1000", "10.0, 1001"),
    ] {
        assert!(VALID.contains(from));
        assert_ne!(digest(&VALID.replace(from, to)), expected, "{from}");
    }
    // The fastest axis is part of the meaning.
    let axes = "angle = { linspace = [1.1, 2.9, 1000] }\n";
    let turned = VALID
        .replace(axes, "")
        .replace("[columns]", &format!("{axes}[columns]"));
    assert_ne!(digest(&turned), expected);
}

#[test]
fn the_largest_plans_are_refused_above_their_limits() {
    let plan = |draws: u64, shard: u64| {
        let text = format!(
            "name = \"n\"\ncells_per_shard = {shard}\n[problem]\nlaw = \"plastic\"\nmass_matrix = []\nvelocity = []\ncontacts = []\n[random]\ndraws = {draws}"
        );
        read(&text)
    };
    let largest = plan(1 << 40, 1_100_000).unwrap();
    assert_eq!(largest.n_cells(), 1 << 40);
    assert_eq!(largest.shard(largest.n_shards() - 1).unwrap().end, 1 << 40);
    largest.cell((1 << 40) - 1).unwrap();
    assert!(
        plan(1 << 40, 1_000_000)
            .unwrap_err()
            .to_string()
            .contains("1000000 shards")
    );
    assert!(plan((1 << 40) + 1, 1_100_000).is_err());
}
