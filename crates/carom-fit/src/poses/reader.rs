//! Reader of poses: a table of poses gives states.

use super::estimate_noise;
use super::gravity::Gravity;
use super::impact::{Impact, find_impacts};
use super::noise::{NoiseModel, tangents};
use super::setup::{Plane, Setup};
use super::table::{Poses, read_poses};
use super::units::unit_warnings;
use crate::measured::{Measured, Origin};
use crate::states::{DataError, Labels, State, Touch};
use carom_metric::KineticMetric;
use carom_report::record::Quantity;
use nalgebra::{DMatrix, Matrix3, Vector3};
use serde_json::{Map, Value, json};
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

/// Surface of the plane.
const PLANE: &str = "plane";

/// Reads the poses of a tracked body, and finds the isolated impacts.
///
/// # Errors
///
/// [`DataError`] with the line and the column of the first fault, or if noise or plane cannot be estimated.
pub(crate) fn read(reader: impl Read, setup: &Setup) -> Result<Measured, DataError> {
    let table = read_poses(reader)?;
    let mut notes = unit_warnings(&table.tosses, setup);
    if !table.ignored.is_empty() {
        notes.insert(0, format!("ignored columns: {}", table.ignored.join(", ")));
    }
    let mut measured = Measured::of_poses(&table.tosses, setup)?;
    measured.notes = notes;
    Ok(measured)
}

impl Measured {
    /// Finds the isolated impacts of a tracked body.
    ///
    /// # Errors
    ///
    /// [`DataError`] if noise or plane cannot be estimated.
    pub fn of_poses(poses: &[Poses], setup: &Setup) -> Result<Self, DataError> {
        let noise = estimate_noise(poses, setup)?;
        let census = find_impacts(poses, setup, &noise);
        let mut steps: Vec<f64> = poses
            .iter()
            .map(Poses::time_step)
            .filter(|h| *h > 0.0)
            .collect();
        let step = crate::robust::median(&mut steps).unwrap_or(f64::INFINITY);
        let samples: usize = poses.iter().map(|toss| toss.time.len()).sum();
        let excluded = census.excluded;
        let kinds = |corners: Range<usize>| {
            let own = census.impacts.iter();
            own.filter(|i| corners.contains(&i.corners.len())).count()
        };
        let data = json!({
            "tosses": poses.len(),
            "samples": samples,
            "rate_hz": 1.0 / step,
            "episodes": census.episodes,
            "kinds": { "corner": kinds(1..2), "edge": kinds(2..3), "face": kinds(3..usize::MAX) },
            "excluded": excluded,
        });
        let origin = Origin {
            data: object(data),
            results: object(json!({ "noise": noise.to_value(), "plane": noise.plane_value() })),
            impacts: census.impacts.iter().map(Impact::details).collect(),
            quantities: vec![
                Quantity::new("episodes", census.episodes as f64, ""),
                Quantity::new("gravity_m_s2", noise.gravity.norm(), "m/s²"),
                Quantity::new("plane_offset_m", noise.plane.offset, "m"),
            ],
            published: setup.published.clone(),
            too_few: format!(
                "{} isolated ones in {} episodes (wide {}, short {}, noisy {}, far {})",
                census.impacts.len(),
                census.episodes,
                excluded.wide,
                excluded.short,
                excluded.noisy,
                excluded.far,
            ),
            gravity: Gravity::new(
                &noise,
                census.impacts.iter().map(|i| i.by_gravity).collect(),
            ),
        };
        let state = |(k, impact): (usize, &Impact)| impact.state(k, setup, &noise.plane);
        let states = census.impacts.iter().enumerate().map(state);
        let states = states.collect::<Result<_, _>>()?;
        Ok(Self::new(setup.clone().into(), states, Some(origin)))
    }
}

impl Impact {
    /// Returns the measured impact as a state: velocity of the center of mass and angular velocity in world axes, and a contact
    /// for each vertex that touches. `number` is the place of the impact in its list.
    ///
    /// # Errors
    ///
    /// [`DataError`] if the body has no mass matrix in doubles.
    pub fn state(&self, number: usize, setup: &Setup, plane: &Plane) -> Result<State, DataError> {
        let turn = self.rotation.matrix();
        let inertia = turn * setup.body.rigid.inertia() * turn.transpose();
        let inertia: Matrix3<f64> = (inertia + inertia.transpose()) * 0.5;
        let mut mass = DMatrix::identity(6, 6) * setup.body.rigid.mass();
        mass.view_mut((3, 3), (3, 3)).copy_from(&inertia);
        let metric = KineticMetric::new(mass);
        let metric = metric.map_err(|e| DataError::Configuration(format!("body.inertia: {e}")))?;
        let along = tangents(&plane.normal);
        let vertices = self.corners.iter().zip(&self.gaps);
        let contacts = vertices.filter_map(|(corner, gap)| {
            let arm = turn * setup.body.vertices.get(*corner)?;
            let row = |d: &Vector3<f64>| {
                let moment = arm.cross(d);
                [d.x, d.y, d.z, moment.x, moment.y, moment.z]
            };
            Some(Touch {
                rows: [row(&plane.normal), row(&along[0]), row(&along[1])].concat(),
                surface: PLANE.into(),
                gap: Some(*gap),
            })
        });
        let id = format!("{}.{}", self.toss, self.index);
        let kind = match self.corners.len() {
            0 | 1 => "corner",
            2 => "edge",
            _ => "face",
        };
        let (group, kind) = (Some(self.toss.to_string()), Some(kind.to_owned()));
        Ok(State {
            metric: Arc::new(metric),
            contacts: contacts.collect(),
            constraints: Vec::new(),
            configuration: Vec::new(),
            minus: self.velocity_minus.to_vec(),
            plus: self.velocity_plus.to_vec(),
            labels: Arc::new(Labels::new(number as u64 + 1, Some(id), group, kind)),
        })
    }

    /// Returns what the record tells of this impact besides its state.
    fn details(&self) -> Map<String, Value> {
        let gap = self.gaps.iter().copied().fold(f64::INFINITY, f64::min);
        object(json!({
            "toss": self.toss,
            "index": self.index,
            "time": self.time,
            "corners": self.corners,
            "gap": gap,
            "chi2": self.chi2,
            "dof": self.dof,
        }))
    }
}

impl NoiseModel {
    fn to_value(&self) -> Value {
        json!({
            "position_m": self.position_m,
            "rotation_rad": self.rotation_rad,
            "gravity": self.gravity.as_slice(),
            "samples": self.samples,
        })
    }

    fn plane_value(&self) -> Value {
        json!({
            "normal": self.plane.normal.as_slice(), "offset": self.plane.offset, "tilt": self.tilt,
        })
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
