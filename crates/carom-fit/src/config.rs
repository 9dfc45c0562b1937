//! Reads a setup from TOML.

use crate::FitError;
use crate::law::Parameter;
use crate::setup::{Body, DetectOptions, PlaneSetup, Setup};
use nalgebra::{Matrix3, Vector3};
use serde::Deserialize;
use std::ops::Range;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
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

/// Function that creates the error for a position in the text, a key and a message.
type At<'a> = dyn Fn(Range<usize>, &str, &str) -> FitError + 'a;

impl BodyTable {
    fn build(&self, at: &At<'_>) -> Result<Body, FitError> {
        let mass = *self.mass.get_ref();
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(at(self.mass.span(), "body.mass", "must be positive"));
        }
        let inertia = match self.inertia.get_ref() {
            Inertia::Isotropic(moment) => Matrix3::identity() * *moment,
            Inertia::Matrix(rows) => Matrix3::from_fn(|i, j| rows[i][j]),
        };
        let vertices = match (&self.half_extents, &self.vertices) {
            (Some(extents), None) => {
                let half = Vector3::from(*extents.get_ref());
                if !half.iter().all(|x| *x > 0.0 && x.is_finite()) {
                    let why = "every half extent must be positive";
                    return Err(at(extents.span(), "body.half_extents", why));
                }
                corners(&half)
            }
            (None, Some(vertices)) => vertices
                .get_ref()
                .iter()
                .map(|v| Vector3::from(*v))
                .collect(),
            (Some(both), Some(_)) => {
                let why = "give half_extents or vertices, not both";
                return Err(at(both.span(), "body.half_extents", why));
            }
            (None, None) => {
                let why = "half_extents or vertices are needed";
                return Err(at(self.mass.span(), "body", why));
            }
        };
        Body::new(mass, inertia, vertices)
            .map_err(|e| at(self.inertia.span(), "body.inertia", &e.to_string()))
    }
}

impl Setup {
    /// Reads the setup of an experiment (body, plane, flight, detection thresholds) from the TOML tables `[body]`, `[plane]`,
    /// `[flight]`, `[detect]` and `[published]`.
    ///
    /// # Errors
    ///
    /// [`FitError::Configuration`] with the line and the key of the first fault.
    pub fn from_toml(text: &str) -> Result<Self, FitError> {
        let file: File = toml::from_str(text).map_err(|e| {
            let line = e.span().map_or(1, |span| line_of(text, span.start));
            let message = e.message().replace('\n', " ");
            let of_states = ["`data`", "`system`"].map(|table| format!("unknown field {table}"));
            let message = if of_states.iter().any(|unknown| message.starts_with(unknown)) {
                format!("{message}; states before and after, [data] and [system], are for `carom data`, tracked poses for `carom fit`")
            } else {
                message
            };
            FitError::Configuration(format!("line {line}: {message}"))
        })?;
        let at = |span: Range<usize>, key: &str, why: &str| {
            let line = line_of(text, span.start);
            FitError::Configuration(format!("line {line}: {key}: {why}"))
        };
        let body = file.body.build(&at)?;
        let normal = Vector3::from(*file.plane.normal.get_ref());
        let length = normal.norm();
        if !(length > 0.0 && length.is_finite()) {
            let why = "has no direction";
            return Err(at(file.plane.normal.span(), "plane.normal", why));
        }
        let offset = match file.plane.offset.get_ref() {
            Offset::Given(offset) if !offset.is_finite() => {
                return Err(at(
                    file.plane.offset.span(),
                    "plane.offset",
                    "is not finite",
                ));
            }
            Offset::Given(offset) => Some(*offset),
            Offset::Estimated(Word::Estimate) => None,
        };
        let gravity = match &file.flight {
            None => None,
            Some(flight) => match flight.gravity.get_ref() {
                Gravity::Given(g) if !g.iter().all(|x| x.is_finite()) => {
                    return Err(at(flight.gravity.span(), "flight.gravity", "is not finite"));
                }
                Gravity::Given(g) => Some(Vector3::from(*g)),
                Gravity::Estimated(Word::Estimate) => None,
            },
        };
        let published = file.published.as_ref().map(|published| {
            let checked = |parameter: Parameter, value: &toml::Spanned<f64>| {
                let [low, high] = parameter.range();
                if (low..=high).contains(value.get_ref()) {
                    return Ok(*value.get_ref());
                }
                let key = format!("published.{}", parameter.name());
                let why = format!("must be between {low} and {high}");
                Err(at(value.span(), &key, &why))
            };
            Ok([
                checked(Parameter::Restitution, &published.restitution)?,
                checked(Parameter::Friction, &published.friction)?,
            ])
        });
        let defaults = DetectOptions::default();
        let detect = file.detect.unwrap_or_default();
        Ok(Self {
            body,
            plane: PlaneSetup {
                normal: normal / length,
                offset,
            },
            gravity,
            published: published.transpose()?,
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

/// Returns the number of the line that contains a position in a text. `place` is the position in bytes; lines are
/// counted from 1.
fn line_of(text: &str, place: usize) -> usize {
    1 + text.bytes().take(place).filter(|b| *b == b'\n').count()
}
