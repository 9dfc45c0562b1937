//! Columns of a table of states.

use super::DataError;
use super::rows::place;
use super::unit::Quantity;

/// Columns of a table, by name, with the factors to SI units.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    pub(crate) id: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) kind: Option<String>,
    /// Columns of numbers: configuration, velocity before, velocity after.
    pub(crate) numbers: [Vec<Column>; 3],
}

/// Column of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Factor by which a number is multiplied to be in SI units.
    pub(crate) factor: f64,
}

/// Position of the columns in a header.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub(crate) labels: [Option<usize>; 3],
    pub(crate) numbers: [Vec<usize>; 3],
}

impl Columns {
    /// Creates columns of numbers without units.
    ///
    /// # Errors
    ///
    /// A message if a column stands in two places.
    pub(crate) fn new(
        [id, group, kind]: [Option<String>; 3],
        names: [Vec<String>; 3],
    ) -> Result<Self, String> {
        let labels = [&id, &group, &kind].into_iter().flatten();
        let mut all: Vec<&String> = labels.chain(names.iter().flatten()).collect();
        all.sort();
        if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("column `{}` is named twice", twice[0]));
        }
        let column = |name| Column { name, factor: 1.0 };
        Ok(Self {
            id,
            group,
            kind,
            numbers: names.map(|own| own.into_iter().map(column).collect()),
        })
    }

    /// Sets the unit of a column. `quantities` are those of the configuration and of the velocities.
    ///
    /// # Errors
    ///
    /// A message about the column or the unit.
    pub(crate) fn set_unit(
        &mut self,
        name: &str,
        unit: &str,
        quantities: [&[Quantity]; 2],
    ) -> Result<(), String> {
        for (part, columns) in self.numbers.iter_mut().enumerate() {
            let mut own = columns.iter_mut().zip(quantities[part.min(1)]);
            if let Some((column, quantity)) = own.find(|(column, _)| column.name == name) {
                column.factor = quantity.factor(unit)?;
                return Ok(());
            }
        }
        let known = self.numbers.iter().flatten().map(|c| c.name.as_str());
        Err(format!(
            "no column `{name}`{}",
            carom_numeric::nearest_name(name, known)
                .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
        ))
    }

    /// Finds the columns in the header of a table.
    ///
    /// # Errors
    ///
    /// [`DataError::Line`] for a column that is missing or stands there twice.
    pub(crate) fn find(&self, header: &[String]) -> Result<Places, DataError> {
        let place = |name: &String| place(header, name);
        let label = |name: &Option<String>| name.as_ref().map(place).transpose();
        let numbers = |own: &Vec<Column>| -> Result<Vec<usize>, DataError> {
            own.iter().map(|c| place(&c.name)).collect()
        };
        Ok(Places {
            labels: [label(&self.id)?, label(&self.group)?, label(&self.kind)?],
            numbers: [
                numbers(&self.numbers[0])?,
                numbers(&self.numbers[1])?,
                numbers(&self.numbers[2])?,
            ],
        })
    }
}
