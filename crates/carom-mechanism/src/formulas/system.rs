//! Systems and constraints given by formulas.

use super::Symbols;
use super::symbols::Formula;
use crate::error::{fraction, not_negative};
use crate::{
    Derivatives, Dynamics, MechanicalSystem, MechanismError, Motion, PointContact,
    VelocityConstraint,
};
use carom_numeric::expression::Jets;
use nalgebra::DMatrix;

/// Fraction of the entries of a mass matrix by which two entries across the diagonal may differ: rounding of two ways to write one
/// formula.
const ASYMMETRY: f64 = 64.0 * f64::EPSILON;

/// Contact of a [`FormulaSystem`].
#[derive(Clone, Debug, PartialEq)]
pub struct FormulaContact {
    /// Name of the contact, for reports.
    pub name: String,
    /// Formula of the gap: positive for separation.
    pub gap: String,
    /// Formula of the slide coordinate, whose rate is the sliding velocity; needed for friction.
    pub slide: Option<String>,
    /// Coulomb friction coefficient, at least 0.
    pub friction: f64,
    /// Coefficient of restitution in \[0, 1\], for impact laws with one coefficient per contact.
    pub restitution: f64,
}

/// Mechanical system whose mass matrix, potential, forces and contacts are formulas of its coordinates.
///
/// # Examples
///
/// A plane pendulum of 2 kg and 0.5 m, with a stop:
///
/// ```
/// use carom_mechanism::formulas::{FormulaContact, FormulaSystem, Symbols};
/// use carom_mechanism::{MechanicalSystem, MechanismError};
///
/// # fn main() -> Result<(), MechanismError> {
/// let parameters = [("m", 2.0), ("l", 0.5), ("g", 9.81)];
/// let parameters = parameters.map(|(name, value)| (name.to_owned(), value));
/// let symbols = Symbols::new(vec!["angle".to_owned()], parameters.to_vec())?;
/// let mass = vec![vec!["m*l^2".to_owned()]];
/// let mut pendulum = FormulaSystem::new(symbols, &mass, Some("-m*g*l*cos(angle)"), &[])?;
/// pendulum.contact("contacts[0]", FormulaContact {
///     name: "stop".to_owned(),
///     gap: "l*sin(angle) + 0.1".to_owned(),
///     slide: None,
///     friction: 0.0,
///     restitution: 1.0,
/// })?;
/// let mut gradient = [0.0];
/// pendulum.gap_gradient(0, &[0.0], &mut gradient);
/// assert_eq!((pendulum.gap(0, &[0.0]), gradient[0]), (0.1, 0.5));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct FormulaSystem {
    symbols: Symbols,
    /// Mass matrix by rows.
    mass: Vec<Vec<Formula>>,
    potential: Option<Formula>,
    forces: Vec<Formula>,
    gaps: Vec<Formula>,
    slides: Vec<Option<Formula>>,
    contacts: Vec<PointContact>,
}

impl FormulaSystem {
    /// Creates a system without contacts: its mass matrix by rows, its potential, and its forces (none, or one per coordinate). The
    /// mass matrix must be symmetric; its lower triangle is used.
    ///
    /// # Errors
    ///
    /// [`MechanismError::Empty`] without coordinates; [`MechanismError::InvalidFormula`], also for lists of a wrong length.
    pub fn new(
        symbols: Symbols,
        mass_matrix: &[Vec<String>],
        potential: Option<&str>,
        forces: &[String],
    ) -> Result<Self, MechanismError> {
        let n = symbols.n();
        if n == 0 {
            return Err(MechanismError::Empty);
        }
        let sized = |key: &str, found: usize| {
            if found == n {
                return Ok(());
            }
            Err(MechanismError::InvalidFormula {
                key: key.to_owned(),
                text: format!("{found} entries"),
                message: format!("one entry for each of the {n} coordinates is needed"),
            })
        };
        sized("mass_matrix", mass_matrix.len())?;
        if !forces.is_empty() {
            sized("forces", forces.len())?;
        }
        let place = |key: &str, text: &str| {
            Ok(symbols.place_formula(key, text)?.without(n, symbols.time()))
        };
        let mut mass = Vec::with_capacity(n);
        for (i, row) in mass_matrix.iter().enumerate() {
            sized(&format!("mass_matrix[{i}]"), row.len())?;
            let entries = row.iter().enumerate();
            let entries = entries.map(|(j, text)| place(&format!("mass_matrix[{i}][{j}]"), text));
            mass.push(entries.collect::<Result<Vec<_>, MechanismError>>()?);
        }
        let potential = potential.map(|text| place("potential", text)).transpose()?;
        let forces = forces.iter().enumerate().map(|(i, text)| {
            let formula = symbols.motion_formula(&format!("forces[{i}]"), text)?;
            Ok(formula.without(n, symbols.time()))
        });
        Ok(Self {
            forces: forces.collect::<Result<_, MechanismError>>()?,
            mass,
            potential,
            symbols,
            gaps: Vec::new(),
            slides: Vec::new(),
            contacts: Vec::new(),
        })
    }

    /// Adds a contact. `key` is the path of the contact in errors, as in `contacts[0]`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidFormula`], [`MechanismError::InvalidContact`].
    pub fn contact(&mut self, key: &str, contact: FormulaContact) -> Result<(), MechanismError> {
        let check = || {
            not_negative("friction", contact.friction)?;
            fraction("restitution", contact.restitution)
        };
        check().map_err(|fault| fault.at_contact(&contact.name))?;
        let n = self.symbols.n();
        let place = |part: &str, text: &str| {
            let formula = self.symbols.place_formula(&format!("{key}.{part}"), text)?;
            Ok::<_, MechanismError>(formula.without(n, self.symbols.time()))
        };
        let gap = place("gap", &contact.gap)?;
        let slide = contact
            .slide
            .map(|text| place("slide", &text))
            .transpose()?;
        self.contacts.push(PointContact {
            has_slide: slide.is_some(),
            restitution: contact.restitution,
            ..PointContact::frictional(contact.name, contact.friction)
        });
        self.gaps.push(gap);
        self.slides.push(slide);
        Ok(())
    }

    /// Checks the formulas at a configuration and velocity: every formula has a value and derivatives there, and the mass matrix is
    /// symmetric and positive definite.
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidFormula`].
    pub fn check(&self, configuration: &[f64], velocity: &[f64]) -> Result<(), MechanismError> {
        let mut jets = Jets::default();
        let values = self.symbols.motion(configuration, 0.0, velocity);
        let formulas = self.mass.iter().flatten().chain(&self.potential);
        let contacts = self.gaps.iter().chain(self.slides.iter().flatten());
        for formula in formulas.chain(&self.forces).chain(contacts) {
            formula.check(&values, &mut jets)?;
        }
        let n = self.symbols.n();
        let mut mass = DMatrix::zeros(n, n);
        for (i, row) in self.mass.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                mass[(i, j)] = entry.value(&values, &mut jets);
            }
        }
        for (i, row) in self.mass.iter().enumerate() {
            for (j, entry) in row.iter().enumerate().take(i) {
                let (a, b): (f64, f64) = (mass[(i, j)], mass[(j, i)]);
                if (a - b).abs() > ASYMMETRY * (a.abs() + b.abs()) {
                    let across = format!(
                        "is {a} at the start, and the entry [{j}][{i}] is {b}: the mass matrix must be symmetric"
                    );
                    return Err(entry.fault(across));
                }
            }
        }
        for (i, row) in self.mass.iter().enumerate() {
            let leading = mass.view((0, 0), (i + 1, i + 1)).into_owned();
            if let (None, Some(entry)) = (leading.cholesky(), row.get(i)) {
                let message = "the mass matrix is not positive definite at the start: the leading minor that ends here is not positive";
                return Err(entry.fault(message));
            }
        }
        Ok(())
    }

    fn place_gradient(&self, formula: &Formula, configuration: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let mut jets = Jets::default();
        formula.derive(&self.symbols.place(configuration), false, &mut jets);
        for (k, slope) in formula.by.iter().zip(jets.gradient()) {
            out[*k] = *slope;
        }
    }

    fn place_value(&self, formula: &Formula, configuration: &[f64]) -> f64 {
        formula.value(&self.symbols.place(configuration), &mut Jets::default())
    }

    /// Adds the mass matrix and the derivatives of the kinetic energy at a velocity.
    fn kinetic(
        &self,
        values: &[f64],
        v: &[f64],
        second: bool,
        jets: &mut Jets,
        out: &mut Dynamics,
    ) {
        for (i, row) in self.mass.iter().enumerate() {
            for (j, entry) in row.iter().enumerate().take(i + 1) {
                entry.derive(values, second, jets);
                out.mass_matrix[(i, j)] = jets.value();
                out.mass_matrix[(j, i)] = jets.value();
                // Both entries across the diagonal, or the one on it.
                let weight = if i == j { 0.5 } else { 1.0 };
                for (a, k) in entry.by.iter().enumerate() {
                    let slope = jets.gradient()[a];
                    out.momentum_derivative[(i, *k)] += slope * v[j];
                    if i != j {
                        out.momentum_derivative[(j, *k)] += slope * v[i];
                    }
                    if second {
                        for (b, l) in entry.by.iter().enumerate() {
                            out.kinetic_hessian[(*k, *l)] +=
                                weight * v[i] * v[j] * jets.hessian(a, b);
                        }
                    }
                }
            }
        }
    }
}

impl Formula {
    fn check(&self, values: &[f64], jets: &mut Jets) -> Result<(), MechanismError> {
        self.derive(values, true, jets);
        if !jets.value().is_finite() {
            return Err(self.fault(format!(
                "is {} at the start: it must be finite",
                jets.value()
            )));
        }
        let pairs = (0..self.by.len()).flat_map(|i| (0..=i).map(move |j| (i, j)));
        let curved = pairs.map(|(i, j)| jets.hessian(i, j)).all(f64::is_finite);
        if !curved || !jets.gradient().iter().all(|x| x.is_finite()) {
            return Err(self.fault("has no derivative at the start"));
        }
        Ok(())
    }
}

impl MechanicalSystem for FormulaSystem {
    fn dimension(&self) -> usize {
        self.symbols.n()
    }

    fn mass_matrix(&self, configuration: &[f64], out: &mut DMatrix<f64>) {
        let values = self.symbols.place(configuration);
        let mut jets = Jets::default();
        for (i, row) in self.mass.iter().enumerate() {
            for (j, entry) in row.iter().enumerate().take(i + 1) {
                let value = entry.value(&values, &mut jets);
                out[(i, j)] = value;
                out[(j, i)] = value;
            }
        }
    }

    fn dynamics(&self, at: &Motion<'_>, wanted: Derivatives, out: &mut Dynamics) {
        let second = wanted == Derivatives::Second;
        let mut jets = Jets::default();
        let values = self.symbols.motion(at.configuration, at.time, at.velocity);
        self.kinetic(&values, at.velocity, second, &mut jets, out);
        if let Some(potential) = &self.potential {
            potential.derive(&values, second, &mut jets);
            out.potential = jets.value();
            for (a, k) in potential.by.iter().enumerate() {
                out.potential_gradient[*k] = jets.gradient()[a];
                if second {
                    for (b, l) in potential.by.iter().enumerate() {
                        out.potential_hessian[(*k, *l)] = jets.hessian(a, b);
                    }
                }
            }
        }
        let (n, time) = (self.symbols.n(), self.symbols.time());
        for (i, force) in self.forces.iter().enumerate() {
            force.derive(&values, false, &mut jets);
            out.force[i] = jets.value();
            for (k, slope) in force.by.iter().zip(jets.gradient()) {
                match k.checked_sub(time) {
                    None => out.force_by_configuration[(i, *k)] = *slope,
                    Some(0) => out.force_by_time[i] = *slope,
                    Some(rate) if rate <= n => out.force_by_velocity[(i, rate - 1)] = *slope,
                    Some(_) => (),
                }
            }
        }
    }

    fn contacts(&self) -> &[PointContact] {
        &self.contacts
    }

    fn gap(&self, contact: usize, configuration: &[f64]) -> f64 {
        self.place_value(&self.gaps[contact], configuration)
    }

    fn gap_gradient(&self, contact: usize, configuration: &[f64], out: &mut [f64]) {
        self.place_gradient(&self.gaps[contact], configuration, out);
    }

    fn slide(&self, contact: usize, configuration: &[f64]) -> f64 {
        let slide = self.slides[contact].as_ref();
        slide.map_or(0.0, |slide| self.place_value(slide, configuration))
    }

    fn slide_gradient(&self, contact: usize, configuration: &[f64], out: &mut [f64]) {
        match &self.slides[contact] {
            Some(slide) => self.place_gradient(slide, configuration, out),
            None => out.fill(0.0),
        }
    }

    fn contact_hessians(
        &self,
        contact: usize,
        configuration: &[f64],
        gap: &mut DMatrix<f64>,
        slide: &mut DMatrix<f64>,
    ) -> bool {
        let values = self.symbols.place(configuration);
        let mut jets = Jets::default();
        let formulas = [
            (Some(&self.gaps[contact]), gap),
            (self.slides[contact].as_ref(), slide),
        ];
        for (formula, out) in formulas {
            let Some(formula) = formula else { continue };
            formula.derive(&values, true, &mut jets);
            for (a, k) in formula.by.iter().enumerate() {
                for (b, l) in formula.by.iter().enumerate() {
                    out[(*k, *l)] = jets.hessian(a, b);
                }
            }
        }
        true
    }
}

/// Velocity constraint whose row is given by formulas, one for each coordinate that takes part.
#[derive(Clone, Debug)]
pub struct FormulaRates {
    symbols: Symbols,
    terms: Vec<(usize, Formula)>,
}

impl FormulaRates {
    /// Creates a constraint from the factors of the rates of coordinates: pairs of the name of a coordinate and the formula of its
    /// factor. `key` is the path of the constraint in errors, as in `constraints[0].rates`.
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidFormula`], also for a name that is no coordinate and for an empty list.
    pub fn new(
        symbols: &Symbols,
        key: &str,
        rates: &[(String, String)],
    ) -> Result<Self, MechanismError> {
        let mut terms = Vec::with_capacity(rates.len());
        for (name, text) in rates {
            let key = format!("{key}.{name}");
            let coordinate = symbols.coordinate(name);
            let coordinate = coordinate.map_err(|fault| MechanismError::InvalidFormula {
                key: key.clone(),
                text: text.clone(),
                message: fault.to_string(),
            })?;
            let formula = symbols.place_formula(&key, text)?;
            terms.push((coordinate, formula.without(symbols.n(), symbols.time())));
        }
        if terms.is_empty() {
            return Err(MechanismError::InvalidFormula {
                key: key.to_owned(),
                text: String::new(),
                message: "at least one rate is needed".to_owned(),
            });
        }
        Ok(Self {
            symbols: symbols.clone(),
            terms,
        })
    }

    /// Checks that the formulas have values and derivatives at a configuration.
    ///
    /// # Errors
    ///
    /// [`MechanismError::InvalidFormula`].
    pub fn check(&self, configuration: &[f64]) -> Result<(), MechanismError> {
        let values = self.symbols.place(configuration);
        let mut jets = Jets::default();
        self.terms
            .iter()
            .try_for_each(|(_, formula)| formula.check(&values, &mut jets))
    }
}

impl VelocityConstraint for FormulaRates {
    fn row(&self, configuration: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let values = self.symbols.place(configuration);
        let mut jets = Jets::default();
        for (coordinate, factor) in &self.terms {
            out[*coordinate] += factor.value(&values, &mut jets);
        }
    }

    fn derivative(&self, configuration: &[f64], velocity: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let values = self.symbols.place(configuration);
        let mut jets = Jets::default();
        for (coordinate, factor) in &self.terms {
            factor.derive(&values, false, &mut jets);
            for (k, slope) in factor.by.iter().zip(jets.gradient()) {
                out[*k] += slope * velocity[*coordinate];
            }
        }
    }
}
