//! Many bodies of one shape that fill a box.

use crate::ScenarioError;
use crate::lie_group::bouncing::ShapeConfig;
use carom_geometry::{GeometryError, SupportMap};
use carom_lie::{Se3, So3};
use carom_numeric::random::CounterRng;
use carom_world::BodySpec;
use nalgebra::Vector3;
use serde::Deserialize;

/// Preferred width of a cell, as a multiple of the bounding radius: bodies can then be displaced by a tenth of their size.
const ROOMY: f64 = 2.2;

/// Smallest width of a cell, as a multiple of the bounding radius: neighboring bodies do not touch.
const TIGHT: f64 = 2.0 + 1e-6;

/// Fraction of the free space in its cell by which a body is displaced.
const JITTER: f64 = 0.9;

/// Largest number of bodies of a fill.
const MOST: usize = 100_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FillConfig {
    shape: ShapeConfig,
    mass: f64,
    pub(super) count: usize,
    #[serde(rename = "box")]
    bounds: [[f64; 3]; 2],
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    velocity: [f64; 3],
}

impl FillConfig {
    /// Returns many equal bodies that fill a box, one in each cell of a grid. The first cell is at the low corner of the box;
    /// the cells follow along x first and along z last. Each body is displaced at random within its cell. `index`: number of
    /// the fill in the configuration.
    pub(super) fn bodies(&self, index: usize) -> Result<Vec<BodySpec>, ScenarioError> {
        let key = |of: &str| format!("fill[{index}].{of}");
        crate::motion::finite(&key("velocity"), &self.velocity)?;
        let shape = self.shape.build(&key("shape"))?;
        let wrong = |error: GeometryError| {
            let part = match error {
                GeometryError::NonPositiveMass { .. }
                | GeometryError::NonFinite { what: "mass" } => "mass",
                _ => "shape",
            };
            ScenarioError::value(&key(part), error)
        };
        let properties = shape.mass_properties(self.mass).map_err(wrong)?;
        let shape = shape.translated(&-properties.center());
        let (cells, width) = self.cells(shape.bounding_radius(), &key)?;
        let mut random = CounterRng::new(self.seed, index as u64, 0);
        let low = Vector3::from(self.bounds[0]);
        let place = |i: usize, random: &mut CounterRng| {
            let cell = [
                i % cells[0],
                i / cells[0] % cells[1],
                i / cells[0] / cells[1],
            ];
            Vector3::from_fn(|k, _| {
                let room = width[k] - TIGHT * shape.bounding_radius();
                let moved = JITTER * room.max(0.0) * (random.next_uniform() - 0.5);
                low[k] + (cell[k] as f64 + 0.5) * width[k] + moved
            })
        };
        let body = |i: usize| {
            BodySpec::new(
                format!("fill{index}_{i}"),
                Some(properties),
                shape.clone(),
                Se3::new(So3::identity(), place(i, &mut random)),
            )
            .with_velocity(Vector3::from(self.velocity), Vector3::zeros())
        };
        Ok((0..self.count).map(body).collect())
    }

    /// Returns the number of grid cells along each axis of the filled box, and the widths of a cell (m). `radius`: bounding
    /// radius of a body (m); `key`: returns the full path of a key, for error messages.
    fn cells(
        &self,
        radius: f64,
        key: &dyn Fn(&str) -> String,
    ) -> Result<([usize; 3], [f64; 3]), ScenarioError> {
        let [low, high] = self.bounds;
        crate::motion::finite(&key("box"), self.bounds.as_flattened())?;
        if (0..3).any(|k| low[k] >= high[k]) {
            let message = "the first corner must be below the second along every axis";
            return Err(ScenarioError::value(&key("box"), message));
        }
        if self.count > MOST {
            let message = format!("{} must be at most {MOST}", self.count);
            return Err(ScenarioError::value(&key("count"), message));
        }
        let extent = [0, 1, 2].map(|k| high[k] - low[k]);
        let mut most = 0;
        for width in [ROOMY, TIGHT] {
            let cells = extent.map(|e| (e / (width * radius)).min(MOST as f64).floor() as usize);
            most = cells.iter().fold(1, |n: usize, k| n.saturating_mul(*k));
            if most >= self.count && most > 0 {
                let width = [0, 1, 2].map(|k| extent[k] / cells[k] as f64);
                return Ok((cells, width));
            }
        }
        let message = format!("{} do not fit into the box, {most} do", self.count);
        Err(ScenarioError::value(&key("count"), message))
    }
}
