//! Tables through Parquet and back, and folders that are used by several hands.

use carom_sweep::{
    MergeOptions, Plan, RunOptions, ShardSet, SweepError, merge, run, run_shard, status,
};
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use tempfile::TempDir;

/// Answers with every type of column: lists that are empty, nested and missing, strings that need quotes.
const TYPES: &str = r#"
name = "types"
cells_per_shard = 3
command = "lcp"
[problem]
matrix = "=m"
vector = [-1, "=q"]
[axes]
m = { values = ["[", "\"a,b\"", "ä"] }
flag = { values = [true, false] }
q = { range = [-1, 2] }
[columns]
z = { path = "/z", type = "list" }
status = { path = "/status", type = "str" }
pivots = { path = "/pivots", type = "i64" }
residual = "/residual"
"#;

const LCP: &str = r#"
name = "lcp"
cells_per_shard = 3
command = "lcp"
[problem]
matrix = [["=a", 0], [0, 1]]
vector = ["=q", -0.5]
[axes]
a = { values = [-1, 0.5, 2] }
q = { range = [-1, 2] }
[columns]
z = { path = "/z", type = "list" }
status = { path = "/status", type = "str" }
pivots = { path = "/pivots", type = "i64" }
residual = "/residual"
none = { path = "/none/of/it", type = "bool", optional = true }
"#;

fn plan(text: &str) -> Plan {
    Plan::from_toml(text, Path::new(".")).unwrap()
}

fn merged(folder: &Path, name: &str) -> String {
    let file = folder.join(name);
    merge(&[folder], &file, &MergeOptions::default()).unwrap();
    fs::read_to_string(file).unwrap()
}

#[test]
fn every_type_survives_the_way_through_parquet() {
    let folder = TempDir::new().unwrap();
    let plan = plan(LCP);
    let summary = run(&plan, folder.path(), &RunOptions::default()).unwrap();
    assert_eq!((summary.shards_done, summary.errors), (3, 0));
    let rows = merged(folder.path(), "all.jsonl");
    let rows: Vec<serde_json::Value> = rows
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    for (index, row) in rows.iter().enumerate() {
        let mut problem = plan.cell(index as u64).unwrap().input.unwrap();
        problem.as_object_mut().unwrap().shift_remove("id");
        let answer = carom_wire::solve(carom_wire::Command::Lcp, problem)
            .unwrap()
            .fields;
        for (column, key) in [
            ("z", "z"),
            ("status", "status"),
            ("pivots", "pivots"),
            ("residual", "residual"),
        ] {
            let expected = answer.get(key).unwrap_or(&serde_json::Value::Null);
            assert_eq!(&row[column], expected, "{row}");
        }
        assert!(row["none"].is_null() && row["error_kind"].is_null());
    }
    assert!(rows.iter().any(|row| row["status"] != "solved"));
}

#[test]
fn strings_are_quoted_where_they_must_be() {
    let folder = TempDir::new().unwrap();
    let summary = run(&plan(TYPES), folder.path(), &RunOptions::default()).unwrap();
    assert_eq!(summary.errors, 18, "a matrix is no string");
    let csv = merged(folder.path(), "all.csv");
    let mut lines = csv.lines();
    let header = "cell,m,flag,q,z,status,pivots,residual,error_kind,error_message";
    assert_eq!(lines.next(), Some(header));
    assert!(
        lines
            .next()
            .unwrap()
            .starts_with("0,[,true,-1,,,,,invalid-input,")
    );
    assert!(csv.contains("\n6,\"\"\"a,b\"\"\",true,-1,"));
    assert!(csv.contains("\n17,ä,false,1,"));
}

#[test]
fn single_shards_are_the_shards_of_a_run() {
    let [one, other] = [(); 2].map(|()| TempDir::new().unwrap());
    let plan = plan(LCP);
    run(&plan, one.path(), &RunOptions::default()).unwrap();
    for shard in [2, 0, 1] {
        let first = run_shard(&plan, shard, other.path()).unwrap();
        let again = run_shard(&plan, shard, other.path()).unwrap();
        assert_eq!((first.is_kept, again.is_kept), (false, true));
        assert_eq!(first.path, again.path);
        assert!(one.path().join(first.path.file_name().unwrap()).exists());
    }
    assert!(status(other.path()).unwrap().is_complete());
    assert!(matches!(
        run_shard(&plan, 3, other.path()),
        Err(SweepError::OutOfRange { .. })
    ));
}

#[test]
fn a_part_of_the_shards_can_be_merged_when_asked() {
    let folder = TempDir::new().unwrap();
    let plan = plan(LCP);
    let shards = ShardSet::parse("0,2", 3).unwrap();
    let options = RunOptions::default().with_shards(Some(shards));
    run(&plan, folder.path(), &options).unwrap();
    assert_eq!(options.monitor.done.load(Ordering::Relaxed), 6);
    let file = folder.path().join("part.csv");
    let refused = merge(&[folder.path()], &file, &MergeOptions::default());
    assert!(refused.is_err_and(|error| error.is_incomplete()) && !file.exists());
    let part = merge(
        &[folder.path()],
        &file,
        &MergeOptions::default().with_is_partial(true),
    )
    .unwrap();
    assert_eq!((part.rows, part.left_out.to_string().as_str()), (6, "1"));
    let refused = merge(
        &[folder.path()],
        &folder.path().join("part.xls"),
        &MergeOptions::default(),
    );
    assert!(refused.is_err_and(|error| !error.is_incomplete()));
}
