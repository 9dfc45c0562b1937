//! States from JSON Lines.

use super::state::{Labels, SURFACE, State, Touch};
use super::{BATCH, DataError, Sink};
use carom_metric::KineticMetric;
use carom_report::input::read_line;
use carom_wire::{MAX_LINE_BYTES, MeasuredImpact, WireError, read_impact};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;

/// Reads measured impacts from JSON Lines with the keys of `carom judge`, and hands them over in batches, in order. Blank lines
/// are left out. `dim` is the number of coordinates, if the configuration names them.
///
/// # Errors
///
/// [`DataError`] with the line and the key of the first fault, and errors of `sink`.
pub fn read_lines(
    mut reader: impl BufRead,
    dim: Option<usize>,
    sink: &mut Sink<'_>,
) -> Result<(), DataError> {
    let mut order = Order::new(dim);
    let (mut number, mut row) = (0, 0);
    let mut is_done = false;
    while !is_done {
        let mut batch: Vec<(u64, u64, String)> = Vec::new();
        let mut bytes = 0;
        while batch.len() < BATCH && bytes < MAX_LINE_BYTES {
            let mut line = Vec::new();
            number += 1;
            let at = |fault: String| DataError::Line {
                line: number,
                fault,
            };
            let found = read_line(&mut reader, MAX_LINE_BYTES as u64, &mut line)
                .map_err(|e| at(e.to_string()))?;
            if found == 0 {
                is_done = true;
                break;
            }
            let text = String::from_utf8(line).map_err(|_| at("the text is not UTF-8".into()))?;
            if !text.trim().is_empty() {
                row += 1;
                bytes += text.len();
                batch.push((number, row, text));
            }
        }
        let parsed: Vec<Result<(u64, State), DataError>> = batch
            .into_par_iter()
            .map(|(line, row, text)| {
                let read = read_impact(line as usize, &text);
                read.map(|impact| state(impact, row))
                    .map_err(|error| fault(line, &error))
                    .map(|state| (line, state))
            })
            .collect();
        let mut states = Vec::with_capacity(parsed.len());
        for parsed in parsed {
            let (line, state) = parsed?;
            states.push(order.settle(line, state)?);
        }
        sink(states)?;
    }
    order.end()
}

/// Returns the error of a line. Messages about the text name the line already.
fn fault(line: u64, error: &WireError) -> DataError {
    let named = format!("line {line}: ");
    let message = error.message.as_str();
    let fault = message.strip_prefix(&named).unwrap_or(message).to_owned();
    DataError::Line { line, fault }
}

fn state(impact: MeasuredImpact, row: u64) -> State {
    let set = impact.problem.contacts();
    let touch = |(contact, (surface, gap)): (&carom_contact::Contact, _)| {
        let rows = std::iter::once(&contact.normal).chain(&contact.tangents);
        let surface: Option<String> = surface;
        Touch {
            rows: rows.flat_map(|row| row.0.iter().copied()).collect(),
            surface: surface.as_deref().unwrap_or(SURFACE).into(),
            gap,
        }
    };
    let forms = set.constraint_forms().iter();
    State {
        metric: Arc::clone(set.metric()),
        contacts: set
            .contacts()
            .iter()
            .zip(impact.touched)
            .map(touch)
            .collect(),
        constraints: forms.flat_map(|form| form.0.iter().copied()).collect(),
        configuration: Vec::new(),
        minus: impact.problem.velocity_minus().0.as_slice().to_vec(),
        plus: impact.velocity_plus.0.as_slice().to_vec(),
        labels: Arc::new(Labels::new(row, impact.id, impact.group, impact.kind)),
    }
}

/// Checks from line to line: the number of coordinates, and that any line has a contact. Shares equal mass matrices and names
/// of surfaces.
struct Order {
    dim: Option<usize>,
    metric: Option<Arc<KineticMetric>>,
    surfaces: BTreeSet<Arc<str>>,
    has_impact: bool,
    has_contact: bool,
}

impl Order {
    fn new(dim: Option<usize>) -> Self {
        Self {
            dim,
            metric: None,
            surfaces: BTreeSet::new(),
            has_impact: false,
            has_contact: false,
        }
    }

    fn settle(&mut self, line: u64, mut state: State) -> Result<State, DataError> {
        let dim = *self.dim.get_or_insert(state.dim());
        if dim != state.dim() {
            let found = state.dim();
            let fault = format!("velocity: {found} entries where there are {dim} coordinates");
            return Err(DataError::Line { line, fault });
        }
        self.has_impact = true;
        self.has_contact |= !state.contacts.is_empty();
        match &self.metric {
            Some(metric) if metric.mass_matrix() == state.metric.mass_matrix() => {
                state.metric = Arc::clone(metric);
            }
            _ => self.metric = Some(Arc::clone(&state.metric)),
        }
        for touch in &mut state.contacts {
            if let Some(known) = self.surfaces.get(&touch.surface) {
                touch.surface = Arc::clone(known);
            } else {
                self.surfaces.insert(Arc::clone(&touch.surface));
            }
        }
        Ok(state)
    }

    fn end(&self) -> Result<(), DataError> {
        match (self.has_impact, self.has_contact) {
            (false, _) => Err(DataError::Empty),
            (true, false) => Err(DataError::NoContacts),
            _ => Ok(()),
        }
    }
}
