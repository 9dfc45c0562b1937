//! Configuration of measured impacts: the tables `[data]` and `[system]`.

use super::outline::Shape;
use super::{Matrices, Outline, PlanarBody, System, Wall};
use crate::changes::{self, Mending};
use crate::measured::Measured;
use crate::poses::{self, Setup};
use crate::source::{Source, is_positive};
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
struct File<S> {
    #[serde(default)]
    data: Option<Spanned<DataTable>>,
    system: S,
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

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct MatricesTable {
    #[serde(rename = "type")]
    _type: String,
    coordinates: Option<Spanned<Vec<String>>>,
    angles: Option<Spanned<Vec<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyTable {
    r#type: Spanned<String>,
    mass: Spanned<f64>,
    inertia: Option<Spanned<f64>>,
    radius_of_gyration: Option<Spanned<f64>>,
    outline: Spanned<OutlineTable>,
    floor: Spanned<FloorTable>,
    band: Option<Spanned<f64>>,
    gravity: Option<Spanned<[f64; 2]>>,
}

/// Type of a system, and nothing else of a configuration.
#[derive(Deserialize)]
struct Typed {
    system: Option<TypeOnly>,
    body: Option<toml::Value>,
    plane: Option<toml::Value>,
}

#[derive(Deserialize)]
struct TypeOnly {
    r#type: Spanned<String>,
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
const TYPES: [&str; 3] = ["planar-body", "matrices", "poses"];

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
        let typed: Typed = source.read()?;
        let named = typed.system.as_ref().map(|system| &system.r#type);
        let (system, data) = match named.map(|name| name.get_ref().as_str()) {
            Some("poses") => (Setup::from_toml(text)?.into(), None),
            None if typed.body.is_some() || typed.plane.is_some() => {
                (Setup::from_toml(text)?.into(), None)
            }
            Some("planar-body") => {
                let file: File<BodyTable> = source.read()?;
                let body = file.system.build(&source)?;
                (System::PlanarBody(Arc::new(body)), file.data)
            }
            Some("matrices") => {
                let file: File<MatricesTable> = source.read()?;
                (file.system.build(&source)?, file.data)
            }
            None => {
                let file: File<Option<MatricesTable>> = source.read()?;
                (System::Matrices(Arc::default()), file.data)
            }
            Some(name) => {
                let hint = carom_numeric::nearest_name(name, TYPES)
                    .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
                let why = format!("unknown type `{name}`; {hint}known: {}", TYPES.join(", "));
                let span = named.map_or(0..0, Spanned::span);
                return Err(source.error(span, "system.type", &why));
            }
        };
        let mut setup = Self {
            system,
            ..Self::default()
        };
        if let Some(data) = data {
            setup.columns = data
                .get_ref()
                .columns(&source, data.span(), &setup.system)?;
            setup.changes = data.into_inner().changes;
        }
        Ok(setup)
    }

    /// Reads measured impacts from JSON Lines with the keys of `carom judge` and labels.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line and the key of the first fault, and errors of `sink`.
    pub fn read_lines(&self, reader: impl BufRead, sink: &mut Sink<'_>) -> Result<(), DataError> {
        match &self.system {
            System::Matrices(_) => read_lines(reader, self.system.dim(), sink),
            System::PlanarBody(_) | System::Poses(_) => Err(DataError::Configuration(
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

    /// Reads all measured impacts of a table, of a table of poses, or of JSON Lines, and mends them by the changes of the
    /// configuration and by `more`.
    ///
    /// # Errors
    ///
    /// [`DataError`] with the line of the first fault, or about a change.
    pub fn read(
        &self,
        reader: impl BufRead,
        is_table: bool,
        more: &[String],
    ) -> Result<Measured, DataError> {
        if let (System::Poses(setup), true, true) = (&self.system, is_table, more.is_empty()) {
            return poses::read(reader, setup);
        }
        let mut measured = Measured::new(self.system.clone(), Vec::new(), None);
        self.read_mended(reader, is_table, more, &mut |system, mut states| {
            measured.system = system.clone();
            measured.states.append(&mut states);
            Ok(())
        })?;
        Ok(measured)
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
        if let (System::Poses(setup), true) = (&self.system, is_table) {
            each(poses::read(reader, setup)?.states)?;
        } else if is_table {
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

impl MatricesTable {
    fn build(&self, source: &Source<'_>) -> Result<System, DataError> {
        let coordinates = match &self.coordinates {
            Some(own) => source.made("system.coordinates", own, |names| {
                let mut sorted = names.clone();
                sorted.sort();
                match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                    Some(twice) => Err(format!("`{}` is named twice", twice[0])),
                    None => Ok(names.clone()),
                }
            })?,
            None => Vec::new(),
        };
        let place = |name: &String| {
            let found = coordinates.iter().position(|c| c == name);
            found.ok_or_else(|| {
                let known = coordinates.iter().map(String::as_str);
                let near = carom_numeric::nearest_name(name, known);
                let hint = near.map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
                format!("no coordinate `{name}`{hint}")
            })
        };
        let angles = self.angles.as_ref().map(|angles| {
            source.made("system.angles", angles, |names| {
                names.iter().map(place).collect::<Result<Vec<usize>, _>>()
            })
        });
        Ok(System::Matrices(Arc::new(Matrices {
            angles: angles.transpose()?,
            coordinates,
        })))
    }
}

impl BodyTable {
    fn build(&self, source: &Source<'_>) -> Result<PlanarBody, DataError> {
        let mass = source.positive("system.mass", &self.mass)?;
        let inertia = match (&self.inertia, &self.radius_of_gyration) {
            (Some(inertia), None) => source.positive("system.inertia", inertia)?,
            (None, Some(radius)) => {
                let radius = source.positive("system.radius_of_gyration", radius)?;
                mass * radius * radius
            }
            (given, _) => {
                let why = "give inertia or radius_of_gyration, and not both";
                let span = given.as_ref().map_or(self.r#type.span(), Spanned::span);
                return Err(source.error(span, "system.inertia", why));
            }
        };
        let band = self.band.as_ref();
        let band = band.map(|band| source.positive("system.band", band));
        let gravity = self.gravity.as_ref().map(|gravity| {
            let is_finite = |g: &[f64; 2]| g.iter().all(|x| x.is_finite());
            source.checked("system.gravity", gravity, is_finite, "is not finite")
        });
        Ok(PlanarBody {
            metric: source.made("system.mass", &self.mass, |_| {
                PlanarBody::metric(mass, inertia)
            })?,
            outline: Outline {
                shape: source.made("system.outline", &self.outline, OutlineTable::shape)?,
                center: Vector2::zeros(),
            },
            wall: source.made("system.floor", &self.floor, FloorTable::wall)?,
            band: band.transpose()?.unwrap_or(BAND),
            gravity: gravity.transpose()?.map(Vector2::from),
        })
    }
}

impl OutlineTable {
    fn shape(&self) -> Result<Shape, String> {
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
