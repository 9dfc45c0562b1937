//! Configuration of measured impacts: the tables `[data]` and `[system]`.

use super::outline::Shape;
use super::{Matrices, Outline, PlanarBody, System, Wall};
use crate::changes::{self, Mending};
use crate::states::{Columns, DataError, Sink, State, read_lines, read_rows};
use nalgebra::Vector2;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;

/// Configuration of measured impacts: their system, the columns of a table, and changes to the data.
#[derive(Clone, Debug)]
pub struct DataSetup {
    pub(crate) system: System,
    columns: Option<Columns>,
    /// Changes that mend the file, as texts.
    pub(crate) changes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    data: Option<Spanned<DataTable>>,
    system: Option<Spanned<SystemTable>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct DataTable {
    id: Option<String>,
    group: Option<String>,
    kind: Option<String>,
    configuration: Option<Spanned<Vec<String>>>,
    velocity: Option<Spanned<Vec<String>>>,
    velocity_plus: Option<Spanned<Vec<String>>>,
    units: BTreeMap<String, Spanned<String>>,
    changes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SystemTable {
    r#type: Spanned<String>,
    coordinates: Option<Spanned<Vec<String>>>,
    angles: Option<Spanned<Vec<String>>>,
    mass: Option<Spanned<f64>>,
    inertia: Option<Spanned<f64>>,
    radius_of_gyration: Option<Spanned<f64>>,
    outline: Option<Spanned<OutlineTable>>,
    floor: Option<Spanned<FloorTable>>,
    band: Option<Spanned<f64>>,
    gravity: Option<Spanned<[f64; 2]>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutlineTable {
    ellipse: Option<[f64; 2]>,
    polygon: Option<Vec<[f64; 2]>>,
    circle: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FloorTable {
    normal: [f64; 2],
    surface: Option<String>,
    offset: Option<f64>,
}

/// Receiver of mended states, in order and in batches, with their system.
type MendedSink<'s> = dyn FnMut(&System, Vec<State>) -> Result<(), DataError> + 's;

/// Corners at most this far above the lowest one touch by default (m).
const BAND: f64 = 1e-3;

/// Names of the types of systems.
const TYPES: [&str; 2] = ["planar-body", "matrices"];

/// Text of a configuration, for the line numbers of errors.
struct Source<'t>(&'t str);

impl Source<'_> {
    fn error(&self, span: Range<usize>, key: &str, why: &str) -> DataError {
        let before = self.0.bytes().take(span.start);
        let line = 1 + before.filter(|b| *b == b'\n').count();
        DataError::Configuration(format!("line {line}: {key}: {why}"))
    }

    /// Returns the value of a key that must be positive.
    fn positive(&self, key: &str, value: &Spanned<f64>) -> Result<f64, DataError> {
        let found = *value.get_ref();
        if found > 0.0 && found.is_finite() {
            return Ok(found);
        }
        Err(self.error(value.span(), key, "must be positive"))
    }
}

impl Default for DataSetup {
    /// Returns the configuration of JSON Lines: coordinates without names.
    fn default() -> Self {
        Self {
            system: System::Matrices(Arc::default()),
            columns: None,
            changes: Vec::new(),
        }
    }
}

impl DataSetup {
    /// Reads a configuration from TOML with the tables `[data]` and `[system]`.
    ///
    /// # Errors
    ///
    /// [`DataError::Configuration`] with the line and the key of the first fault.
    pub fn from_toml(text: &str) -> Result<Self, DataError> {
        let source = Source(text);
        let file: File = toml::from_str(text).map_err(|e| {
            let start = e.span().map_or(0, |span| span.start);
            let line = 1 + text.bytes().take(start).filter(|b| *b == b'\n').count();
            let message = e.message().replace('\n', " ");
            DataError::Configuration(format!("line {line}: {message}"))
        })?;
        let system = match &file.system {
            Some(table) => table.get_ref().build(&source, table.span())?,
            None => System::Matrices(Arc::default()),
        };
        let Some(data) = &file.data else {
            return Ok(Self {
                system,
                ..Self::default()
            });
        };
        let columns = data.get_ref().columns(&source, data.span(), &system)?;
        Ok(Self {
            columns,
            changes: data.get_ref().changes.clone(),
            system,
        })
    }

    /// Reads measured impacts from JSON Lines with the keys of `carom judge` and labels.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line and the key of the first fault, and errors of `sink`.
    pub fn read_lines(&self, reader: impl BufRead, sink: &mut Sink<'_>) -> Result<(), DataError> {
        match &self.system {
            System::Matrices(_) => read_lines(reader, self.system.dim(), sink),
            System::PlanarBody(_) => Err(DataError::Configuration(
                "system.type: JSON Lines have their rows, type `matrices`".to_owned(),
            )),
        }
    }

    /// Reads measured impacts from a comma-separated table.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line and the column of the first fault, and errors of `sink`.
    pub fn read_table(&self, reader: impl Read, sink: &mut Sink<'_>) -> Result<(), DataError> {
        match &self.columns {
            Some(columns) => read_rows(reader, columns, &self.system, sink),
            None => Err(DataError::Configuration(
                "data: a table needs the keys configuration, velocity, velocity_plus".to_owned(),
            )),
        }
    }

    /// Reads all measured impacts of a table or of JSON Lines, as [`read_table`](Self::read_table) or
    /// [`read_lines`](Self::read_lines) does, and mends them by the changes of the configuration and by `more`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of the first fault, or about a change.
    pub fn read_all(
        &self,
        reader: impl BufRead,
        is_table: bool,
        more: &[String],
    ) -> Result<Vec<State>, DataError> {
        let mut all = Vec::new();
        self.read_mended(reader, is_table, more, &mut |_, mut states| {
            all.append(&mut states);
            Ok(())
        })?;
        Ok(all)
    }

    /// Reads measured impacts in batches, in order, and hands them over with the system, mended by the changes of the
    /// configuration and by `more`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of the first fault, or about a change, and errors of `sink`.
    pub(crate) fn read_mended(
        &self,
        reader: impl BufRead,
        is_table: bool,
        more: &[String],
        sink: &mut MendedSink<'_>,
    ) -> Result<(), DataError> {
        let mut stages: Option<Vec<Mending>> = None;
        let mut push = |mut states: Vec<State>, is_last: bool| {
            let n = states.first().map_or(0, State::dim);
            if stages.is_none() && n > 0 {
                stages = Some(self.stages(more, n)?);
            }
            let mut system = &self.system;
            for stage in stages.iter_mut().flatten() {
                states = stage.push(states, is_last);
                system = stage.system();
            }
            sink(system, states)
        };
        let mut each = |states| push(states, false);
        if is_table {
            self.read_table(reader, &mut each)?;
        } else {
            self.read_lines(reader, &mut each)?;
        }
        push(Vec::new(), true)
    }

    /// Returns the changes of the configuration, then `more`, each on top of the one before. n is the number of coordinates.
    fn stages(&self, more: &[String], n: usize) -> Result<Vec<Mending>, DataError> {
        let mut stages: Vec<Mending> = Vec::new();
        for text in self.changes.iter().chain(more) {
            let system = stages.last().map_or(&self.system, Mending::system);
            let change = changes::read(text, system, n)?;
            let stage = Mending::new(change, system);
            stages.push(stage);
        }
        Ok(stages)
    }
}

impl DataTable {
    fn columns(
        &self,
        source: &Source<'_>,
        span: Range<usize>,
        system: &System,
    ) -> Result<Option<Columns>, DataError> {
        let keys = [
            ("configuration", &self.configuration),
            ("velocity", &self.velocity),
            ("velocity_plus", &self.velocity_plus),
        ];
        if keys.iter().all(|(_, own)| own.is_none()) {
            return match self.units.values().next() {
                Some(unit) => Err(source.error(unit.span(), "data.units", "no columns are named")),
                None => Ok(None),
            };
        }
        let System::PlanarBody(_) = system else {
            let why = "columns belong to a [system] that computes rows, such as planar-body";
            return Err(source.error(span, "data", why));
        };
        let mut names = [const { Vec::new() }; 3];
        for ((names, (key, own)), n) in names.iter_mut().zip(keys).zip([3; 3]) {
            let key = format!("data.{key}");
            let Some(own) = own else {
                return Err(source.error(span, &key, "is missing"));
            };
            if own.get_ref().len() != n {
                let why = format!("{} columns where {n} are needed", own.get_ref().len());
                return Err(source.error(own.span(), &key, &why));
            }
            names.clone_from(own.get_ref());
        }
        let labels = [&self.id, &self.group, &self.kind].map(Clone::clone);
        let columns = Columns::new(labels, names);
        let mut columns = columns.map_err(|why| source.error(span, "data", &why))?;
        for (column, unit) in &self.units {
            columns
                .set_unit(column, unit.get_ref(), system.quantities())
                .map_err(|why| source.error(unit.span(), &format!("data.units.{column}"), &why))?;
        }
        Ok(Some(columns))
    }
}

impl SystemTable {
    fn build(&self, source: &Source<'_>, span: Range<usize>) -> Result<System, DataError> {
        let of_matrices = [
            ("coordinates", self.coordinates.as_ref().map(Spanned::span)),
            ("angles", self.angles.as_ref().map(Spanned::span)),
        ];
        let of_body = [
            ("mass", self.mass.as_ref().map(Spanned::span)),
            ("inertia", self.inertia.as_ref().map(Spanned::span)),
            (
                "radius_of_gyration",
                self.radius_of_gyration.as_ref().map(Spanned::span),
            ),
            ("outline", self.outline.as_ref().map(Spanned::span)),
            ("floor", self.floor.as_ref().map(Spanned::span)),
            ("band", self.band.as_ref().map(Spanned::span)),
            ("gravity", self.gravity.as_ref().map(Spanned::span)),
        ];
        let name = self.r#type.get_ref().as_str();
        let (strange, is_body): (&[_], _) = match name {
            "planar-body" => (&of_matrices, true),
            "matrices" => (&of_body, false),
            _ => {
                let hint = carom_numeric::nearest_name(name, TYPES)
                    .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                let why = format!("unknown type `{name}`; {hint}known: {}", TYPES.join(", "));
                return Err(source.error(self.r#type.span(), "system.type", &why));
            }
        };
        for (key, span) in strange {
            if let Some(span) = span {
                let why = format!("no key of the type `{name}`");
                return Err(source.error(span.clone(), &format!("system.{key}"), &why));
            }
        }
        if is_body {
            return self
                .planar_body(source, span)
                .map(|b| System::PlanarBody(Arc::new(b)));
        }
        let coordinates = self
            .coordinates
            .as_ref()
            .map_or_else(Vec::new, |c| c.get_ref().clone());
        let mut sorted = coordinates.clone();
        sorted.sort();
        if let (Some(twice), Some(own)) = (
            sorted.windows(2).find(|pair| pair[0] == pair[1]),
            &self.coordinates,
        ) {
            let why = format!("`{}` is named twice", twice[0]);
            return Err(source.error(own.span(), "system.coordinates", &why));
        }
        let angles = self.angles.as_ref().map(|angles| {
            let place = |name: &String| {
                let found = coordinates.iter().position(|c| c == name);
                found.ok_or_else(|| {
                    let near =
                        carom_numeric::nearest_name(name, coordinates.iter().map(String::as_str));
                    let hint = near.map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
                    let why = format!("no coordinate `{name}`{hint}");
                    source.error(angles.span(), "system.angles", &why)
                })
            };
            angles
                .get_ref()
                .iter()
                .map(place)
                .collect::<Result<Vec<usize>, _>>()
        });
        Ok(System::Matrices(Arc::new(Matrices {
            angles: angles.transpose()?,
            coordinates,
        })))
    }

    fn planar_body(
        &self,
        source: &Source<'_>,
        span: Range<usize>,
    ) -> Result<PlanarBody, DataError> {
        let missing =
            |key: &str| source.error(span.clone(), &format!("system.{key}"), "is missing");
        let mass = source.positive(
            "system.mass",
            self.mass.as_ref().ok_or_else(|| missing("mass"))?,
        )?;
        let inertia = match (&self.inertia, &self.radius_of_gyration) {
            (Some(inertia), None) => source.positive("system.inertia", inertia)?,
            (None, Some(radius)) => {
                let radius = source.positive("system.radius_of_gyration", radius)?;
                mass * radius * radius
            }
            (Some(both), Some(_)) => {
                let why = "give inertia or radius_of_gyration, not both";
                return Err(source.error(both.span(), "system.inertia", why));
            }
            (None, None) => return Err(missing("inertia")),
        };
        let outline = self.outline.as_ref().ok_or_else(|| missing("outline"))?;
        let shape = outline.get_ref().shape();
        let shape = shape.map_err(|why| source.error(outline.span(), "system.outline", &why))?;
        let floor = self.floor.as_ref().ok_or_else(|| missing("floor"))?;
        let wall = floor.get_ref().wall();
        let wall = wall.map_err(|why| source.error(floor.span(), "system.floor", &why))?;
        let band = match &self.band {
            Some(band) => source.positive("system.band", band)?,
            None => BAND,
        };
        let gravity = self.gravity.as_ref().map(|gravity| {
            let found = Vector2::from(*gravity.get_ref());
            if found.iter().all(|x| x.is_finite()) {
                return Ok(found);
            }
            Err(source.error(gravity.span(), "system.gravity", "is not finite"))
        });
        let metric = PlanarBody::metric(mass, inertia);
        Ok(PlanarBody {
            metric: metric.map_err(|why| source.error(span, "system.mass", &why))?,
            outline: Outline {
                shape,
                center: Vector2::zeros(),
            },
            wall,
            band,
            gravity: gravity.transpose()?,
        })
    }
}

impl OutlineTable {
    fn shape(&self) -> Result<Shape, String> {
        let is_positive = |x: &f64| *x > 0.0 && x.is_finite();
        match (self.ellipse, &self.polygon, self.circle) {
            (Some(axes), None, None) if axes.iter().all(is_positive) => Ok(Shape::Ellipse(axes)),
            (None, None, Some(radius)) if is_positive(&radius) => Ok(Shape::Ellipse([radius; 2])),
            (None, Some(corners), None) => {
                let corners: Vec<_> = corners.iter().map(|c| Vector2::from(*c)).collect();
                if Outline::is_convex(&corners) {
                    Ok(Shape::Polygon(corners))
                } else {
                    Err("polygon: must be convex, with at least three corners in order".to_owned())
                }
            }
            (Some(_), None, None) | (None, None, Some(_)) => {
                Err("semi-axes and radius must be positive".to_owned())
            }
            _ => Err("give one of ellipse, polygon, circle".to_owned()),
        }
    }
}

impl FloorTable {
    fn wall(&self) -> Result<Wall, String> {
        let normal = Vector2::from(self.normal);
        let length = normal.norm();
        if !(length > 0.0 && length.is_finite()) {
            return Err("normal: has no direction".to_owned());
        }
        if self.offset.is_some_and(|offset| !offset.is_finite()) {
            return Err("offset: is not finite".to_owned());
        }
        let surface = self
            .surface
            .as_deref()
            .unwrap_or(crate::states::state::SURFACE);
        Ok(Wall {
            normal: normal / length,
            offset: self.offset,
            surface: surface.into(),
        })
    }
}
