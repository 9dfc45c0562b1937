//! Tracked poses, read from a text table with one row per sample.

use crate::DataError;
use crate::states::rows::{Row, Rows, place};
use carom_lie::So3;
use nalgebra::Vector3;
use std::collections::HashSet;
use std::io::Read;

/// Columns that are read.
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
/// [`DataError`], with the line and the column of the first error.
pub fn read_poses(reader: impl Read) -> Result<PoseTable, DataError> {
    let mut table = Rows::new(reader).map_err(|e| match e {
        DataError::Empty => DataError::Line {
            line: 1,
            fault: format!(
                "the file is empty; the header `{}` is needed",
                COLUMNS.join(",")
            ),
        },
        e => e,
    })?;
    let mut places = [0; 9];
    for (at, column) in places.iter_mut().zip(COLUMNS) {
        *at = place(&table.header, column)?;
    }
    let is_ignored = |name: &&String| !COLUMNS.contains(&name.as_str());
    let ignored = table.header.iter().filter(is_ignored).cloned().collect();
    let mut tosses: Vec<Poses> = Vec::new();
    let mut lines: Vec<u64> = Vec::new();
    let mut seen = HashSet::new();
    let mut found = 0;
    while let Some(row) = table.next_row()? {
        found += 1;
        let line = row.line;
        let (toss, time, position, rotation) = pose(&row, &places)?;
        if tosses.last().is_none_or(|last| last.toss != toss) {
            if !seen.insert(toss) {
                let fault = format!("toss {toss} comes back after another one");
                return Err(DataError::at(line, "toss", fault));
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
        if let Some(previous) = poses.time.last().filter(|previous| time <= **previous) {
            let fault = format!("{time} s does not come after {previous} s of the same toss");
            return Err(DataError::at(line, "t", fault));
        }
        poses.time.push(time);
        poses.position.push(position);
        poses.rotation.push(rotation);
        lines.push(line);
    }
    if let Some(last) = tosses.last() {
        check_rate(last, &lines)?;
    }
    if found < FEWEST_POSES {
        let fault = format!("{found} poses in all; at least {FEWEST_POSES} are needed");
        return Err(DataError::at(table.line, "toss", fault));
    }
    Ok(PoseTable { tosses, ignored })
}

/// Reads one row of a table of poses: the number of the toss, time, position and attitude. `places` holds the indices of the
/// columns.
fn pose(row: &Row, places: &[usize; 9]) -> Result<(u64, f64, Vector3<f64>, So3), DataError> {
    let toss = row.text(places[0]).parse();
    let toss = toss.map_err(|_| row.wrong(places[0], COLUMNS[0], "a whole number of a toss"))?;
    let mut numbers = [0.0; 8];
    for (k, number) in numbers.iter_mut().enumerate() {
        *number = row.number(places[k + 1], COLUMNS[k + 1])?;
    }
    let [time, x, y, z, qw, qx, qy, qz] = numbers;
    let vector = Vector3::new(qx, qy, qz);
    let norm = (qw * qw + vector.norm_squared()).sqrt();
    let rotation = So3::from_quaternion(qw / norm, &(vector / norm))
        .filter(|_| (norm - 1.0).abs() <= UNIT_TOLERANCE);
    let fault = || format!("the quaternion has length {norm}, not 1 within 1e-3");
    let rotation = rotation.ok_or_else(|| DataError::at(row.line, "qw", fault()))?;
    Ok((toss, time, Vector3::new(x, y, z), rotation))
}

/// Checks that every time step of a toss is within a factor [`RATE_FACTOR`] of the median. `lines` holds the line
/// number of each pose, for the error message.
fn check_rate(poses: &Poses, lines: &[u64]) -> Result<(), DataError> {
    let median = poses.time_step();
    for (pair, &line) in poses.time.windows(2).zip(lines.iter().skip(1)) {
        let step = pair[1] - pair[0];
        if !(step <= median * RATE_FACTOR && step * RATE_FACTOR >= median) {
            let fault = format!(
                "a step of {step} s, but the median of toss {} is {median} s; give what follows a gap another toss number",
                poses.toss
            );
            return Err(DataError::at(line, "t", fault));
        }
    }
    Ok(())
}
