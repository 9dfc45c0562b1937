//! Reads a setup from TOML.

use super::setup::{Body, DetectOptions, PlaneSetup, Setup};
use crate::DataError;
use crate::fit::{Coefficient, Parameter, Parameters};
use crate::source::{Source, is_positive};
use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "system")]
    _system: Option<toml::Value>,
    body: BodyTable,
    plane: PlaneTable,
    flight: Option<FlightTable>,
    detect: Option<DetectTable>,
    published: Option<PublishedTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyTable {
    mass: toml::Spanned<f64>,
    inertia: toml::Spanned<Inertia>,
    half_extents: Option<toml::Spanned<[f64; 3]>>,
    vertices: Option<toml::Spanned<Vec<[f64; 3]>>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number or three rows of three numbers")]
enum Inertia {
    Isotropic(f64),
    Matrix([[f64; 3]; 3]),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlaneTable {
    normal: toml::Spanned<[f64; 3]>,
    offset: toml::Spanned<Offset>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Estimate,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number or \"estimate\"")]
enum Offset {
    Given(f64),
    Estimated(Word),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "three numbers or \"estimate\"")]
enum Gravity {
    Given([f64; 3]),
    Estimated(Word),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FlightTable {
    gravity: toml::Spanned<Gravity>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct DetectTable {
    band: Option<f64>,
    least: Option<usize>,
    most: Option<usize>,
    width: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PublishedTable {
    restitution: toml::Spanned<f64>,
    friction: toml::Spanned<f64>,
}

impl BodyTable {
    fn build(&self, source: &Source<'_>) -> Result<Body, DataError> {
        let mass = source.positive("body.mass", &self.mass)?;
        let inertia = match self.inertia.get_ref() {
            Inertia::Isotropic(moment) => Matrix3::identity() * *moment,
            Inertia::Matrix(rows) => Matrix3::from_fn(|i, j| rows[i][j]),
        };
        let vertices = match (&self.half_extents, &self.vertices) {
            (Some(extents), None) => {
                let why = "every half extent must be positive";
                let is_good = |half: &[f64; 3]| half.iter().all(is_positive);
                corners(
                    &source
                        .checked("body.half_extents", extents, is_good, why)?
                        .into(),
                )
            }
            (None, Some(vertices)) => vertices
                .get_ref()
                .iter()
                .map(|v| Vector3::from(*v))
                .collect(),
            _ => {
                let why = "give half_extents or vertices";
                return Err(source.error(self.mass.span(), "body", why));
            }
        };
        source.made("body.inertia", &self.inertia, |_| {
            Body::new(mass, inertia, vertices).map_err(|e| e.to_string())
        })
    }
}

impl Setup {
    /// Reads the setup of an experiment (body, plane, flight, detection thresholds) from the TOML tables `[body]`, `[plane]`,
    /// `[flight]`, `[detect]` and `[published]`.
    ///
    /// # Errors
    ///
    /// [`DataError::Configuration`] with the line and the key of the first fault.
    pub fn from_toml(text: &str) -> Result<Self, DataError> {
        let source = Source(text);
        let file: File = source.read()?;
        let normal = source.made("plane.normal", &file.plane.normal, |normal| {
            let found = Vector3::from(*normal);
            let unit = found
                .try_normalize(0.0)
                .filter(|_| found.norm().is_finite());
            unit.ok_or_else(|| "has no direction".to_owned())
        })?;
        let offset = source.made("plane.offset", &file.plane.offset, |offset| match offset {
            Offset::Given(offset) if !offset.is_finite() => Err("is not finite".to_owned()),
            Offset::Given(offset) => Ok(Some(*offset)),
            Offset::Estimated(Word::Estimate) => Ok(None),
        })?;
        let gravity = |flight: &FlightTable| {
            source.made("flight.gravity", &flight.gravity, |gravity| match gravity {
                Gravity::Given(g) if !g.iter().all(|x| x.is_finite()) => {
                    Err("is not finite".to_owned())
                }
                Gravity::Given(g) => Ok(Some(Vector3::from(*g))),
                Gravity::Estimated(Word::Estimate) => Ok(None),
            })
        };
        let published = |published: &PublishedTable| {
            let mut parameters = Parameters::NONE;
            for (coefficient, value) in [
                (Coefficient::Restitution, &published.restitution),
                (Coefficient::Friction, &published.friction),
            ] {
                let [low, high] = coefficient.range();
                let key = format!("published.{}", coefficient.name());
                let why = format!("must be between {low} and {high}");
                let is_good = |x: &f64| (low..=high).contains(x);
                let found = source.checked(&key, value, is_good, &why)?;
                parameters = parameters.with(&Parameter::shared(coefficient), found);
            }
            Ok::<_, DataError>(parameters)
        };
        let defaults = DetectOptions::default();
        let detect = file.detect.unwrap_or_default();
        Ok(Self {
            body: file.body.build(&source)?,
            plane: PlaneSetup { normal, offset },
            gravity: file.flight.as_ref().map(gravity).transpose()?.flatten(),
            published: file.published.as_ref().map(published).transpose()?,
            options: DetectOptions::new(
                detect.band.unwrap_or(defaults.band),
                detect.least.unwrap_or(defaults.least),
                detect.most.unwrap_or(defaults.most),
                detect.width.unwrap_or(defaults.width),
            )?,
        })
    }
}

/// Returns the eight corners of a box that is centered at the origin; `half` holds its half edge lengths (m).
fn corners(half: &Vector3<f64>) -> Vec<Vector3<f64>> {
    let sign = |bit: usize| if bit == 0 { -1.0 } else { 1.0 };
    (0..8)
        .map(|k| half.component_mul(&Vector3::new(sign(k & 1), sign(k & 2), sign(k & 4))))
        .collect()
}
