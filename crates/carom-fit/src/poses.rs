//! Tracked poses, read from a text table with one row per sample.

use crate::PoseError;
use crate::limited::{Limited, RowBytes};
use carom_lie::So3;
use nalgebra::Vector3;
use std::collections::HashSet;
use std::io::Read;

/// Columns that are read, in the order of the numbers that [`row`] returns.
const COLUMNS: [&str; 9] = ["toss", "t", "x", "y", "z", "qw", "qx", "qy", "qz"];

/// Largest deviation of a quaternion's length from 1.
const UNIT_TOLERANCE: f64 = 1e-3;

/// Largest factor between a time step and the median step of its toss.
const RATE_FACTOR: f64 = 1.5;

/// Smallest number of poses for an estimate.
pub(crate) const FEWEST_POSES: usize = 12;

/// Tracked poses (position and attitude) of the body during one toss, in time order.
#[derive(Clone, Debug)]
pub struct Poses {
    /// Number of the toss in the file.
    pub toss: u64,
    /// Times (s), increasing.
    pub time: Vec<f64>,
    /// Positions of the center of mass in space (m), one per time.
    pub position: Vec<Vector3<f64>>,
    /// Attitudes (rotations from the body frame to space), one per time.
    pub rotation: Vec<So3>,
}

impl Poses {
    /// Returns the median time between two consecutive poses of the toss (s); 0 for a toss with one pose.
    #[must_use]
    pub fn time_step(&self) -> f64 {
        let mut steps: Vec<f64> = self.time.windows(2).map(|t| t[1] - t[0]).collect();
        crate::robust::median(&mut steps).unwrap_or(0.0)
    }
}

/// Contents of a table of tracked poses, as read by [`read_poses`].
#[derive(Clone, Debug)]
pub struct PoseTable {
    /// Tosses in the order of the file.
    pub tosses: Vec<Poses>,
    /// Names of columns that are ignored.
    pub ignored: Vec<String>,
}

/// Reads the tracked poses of a body from comma-separated text with the columns `toss,t,x,y,z,qw,qx,qy,qz` in any order.
///
/// `t` is in s, `x,y,z` are in m, and the unit quaternion rotates from the body frame to space, with the real
/// part first. The rows of a toss are consecutive, in time order and evenly spaced in time. A row has at most 1
/// MiB, the table at most 512 MiB.
///
/// # Errors
///
/// [`PoseError`], with the line and the column of the first error.
pub fn read_poses(reader: impl Read) -> Result<PoseTable, PoseError> {
    let row_bytes = RowBytes::default();
    let mut table = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(Limited::new(reader, &row_bytes));
    let header = table.headers().map_err(|e| unreadable(&e, 1))?.clone();
    if header.is_empty() {
        return Err(PoseError::Empty);
    }
    let mut places = [0; 9];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let mut found = (0..header.len()).filter(|&i| header.get(i) == Some(column));
        *place = found.next().ok_or(PoseError::MissingColumn { column })?;
        if found.next().is_some() {
            return Err(PoseError::RepeatedColumn { column });
        }
    }
    let ignored = header
        .iter()
        .filter(|name| !COLUMNS.contains(name))
        .map(str::to_owned)
        .collect();
    let mut tosses: Vec<Poses> = Vec::new();
    let mut lines: Vec<u64> = Vec::new();
    let mut seen = HashSet::new();
    let mut record = csv::StringRecord::new();
    let mut line = 1;
    let mut found = 0;
    loop {
        match table.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(e) => return Err(unreadable(&e, line + 1)),
        }
        row_bytes.restart();
        line = record.position().map_or(line + 1, csv::Position::line);
        found += 1;
        if record.len() != header.len() {
            let column = header.get(record.len().min(header.len() - 1)).unwrap_or("");
            return Err(PoseError::WrongWidth {
                line,
                found: record.len(),
                expected: header.len(),
                column: column.to_owned(),
            });
        }
        let (toss, [time, x, y, z, qw, qx, qy, qz]) = row(&record, &places, line)?;
        let vector = Vector3::new(qx, qy, qz);
        let norm = (qw * qw + vector.norm_squared()).sqrt();
        let rotation = So3::from_quaternion(qw / norm, &(vector / norm))
            .filter(|_| (norm - 1.0).abs() <= UNIT_TOLERANCE)
            .ok_or(PoseError::NotAUnitQuaternion { line, norm })?;
        if tosses.last().is_none_or(|last| last.toss != toss) {
            if !seen.insert(toss) {
                return Err(PoseError::TossReturns { line, toss });
            }
            if let Some(last) = tosses.last() {
                check_rate(last, &lines)?;
            }
            lines.clear();
            tosses.push(Poses {
                toss,
                time: Vec::new(),
                position: Vec::new(),
                rotation: Vec::new(),
            });
        }
        let Some(poses) = tosses.last_mut() else {
            continue;
        };
        if let Some(&previous) = poses.time.last()
            && time <= previous
        {
            return Err(PoseError::TimeNotIncreasing {
                line,
                time,
                previous,
            });
        }
        poses.time.push(time);
        poses.position.push(Vector3::new(x, y, z));
        poses.rotation.push(rotation);
        lines.push(line);
    }
    match tosses.last() {
        None => return Err(PoseError::TooFewPoses { line, found: 0 }),
        Some(last) => check_rate(last, &lines)?,
    }
    if found < FEWEST_POSES {
        return Err(PoseError::TooFewPoses { line, found });
    }
    Ok(PoseTable { tosses, ignored })
}

/// Reads one row of a table of poses: the number of the toss, then time, position and quaternion. `places` holds the
/// indices of their columns, and `line` is the line number for error messages.
fn row(
    record: &csv::StringRecord,
    places: &[usize; 9],
    line: u64,
) -> Result<(u64, [f64; 8]), PoseError> {
    let field = |k: usize| {
        let text = places.get(k).and_then(|&place| record.get(place));
        text.unwrap_or("")
    };
    let wrong = |k: usize, wanted: &'static str| PoseError::NotANumber {
        line,
        column: COLUMNS.get(k).copied().unwrap_or("toss"),
        text: field(k).chars().take(40).collect(),
        wanted,
    };
    let toss = field(0)
        .parse()
        .map_err(|_| wrong(0, "a whole number of a toss"))?;
    let mut numbers = [0.0; 8];
    for (k, number) in numbers.iter_mut().enumerate() {
        *number = field(k + 1)
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| wrong(k + 1, "a finite number"))?;
    }
    Ok((toss, numbers))
}

/// Checks that every time step of a toss is within a factor [`RATE_FACTOR`] of the median. `lines` holds the line
/// number of each pose, for the error message.
fn check_rate(poses: &Poses, lines: &[u64]) -> Result<(), PoseError> {
    let median = poses.time_step();
    for (pair, &line) in poses.time.windows(2).zip(lines.iter().skip(1)) {
        let step = pair[1] - pair[0];
        if !(step <= median * RATE_FACTOR && step * RATE_FACTOR >= median) {
            return Err(PoseError::UnevenRate {
                line,
                toss: poses.toss,
                step,
                median,
            });
        }
    }
    Ok(())
}

fn unreadable(error: &csv::Error, line: u64) -> PoseError {
    let message = match error.kind() {
        csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
        csv::ErrorKind::Io(e) => e.to_string(),
        _ => error.to_string(),
    };
    let line = error.position().map_or(line, csv::Position::line);
    PoseError::Unreadable { line, message }
}
