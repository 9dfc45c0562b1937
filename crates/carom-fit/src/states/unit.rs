//! Units of columns.

/// Physical quantity of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Length,
    Angle,
    Speed,
    AngularSpeed,
}

const LENGTHS: [(&str, f64); 5] = [
    ("m", 1.0),
    ("cm", 1e-2),
    ("mm", 1e-3),
    ("in", 0.0254),
    ("ft", 0.3048),
];
const ANGLES: [(&str, f64); 3] = [
    ("rad", 1.0),
    ("deg", std::f64::consts::PI / 180.0),
    ("rev", 2.0 * std::f64::consts::PI),
];
const TIMES: [(&str, f64); 2] = [("s", 1.0), ("ms", 1e-3)];

impl Quantity {
    /// Returns the factor by which a number in the named unit is multiplied to be in SI units (m, rad, s).
    ///
    /// # Errors
    ///
    /// A message about a unit that is unknown, or a unit of another quantity.
    pub(crate) fn factor(self, unit: &str) -> Result<f64, String> {
        let known = self.units();
        if let Some((_, factor)) = known.iter().find(|(name, _)| name == unit) {
            return Ok(*factor);
        }
        let all = [Self::Length, Self::Angle, Self::Speed, Self::AngularSpeed];
        let is_other = all
            .iter()
            .any(|q| q.units().iter().any(|(name, _)| name == unit));
        let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        let list = names.join(", ");
        if is_other {
            return Err(format!(
                "unit `{unit}` does not fit {}; known: {list}",
                self.words()
            ));
        }
        let hint = carom_numeric::nearest_name(unit, names.iter().copied())
            .map_or_else(String::new, |name| format!("did you mean `{name}`? "));
        Err(format!("unknown unit `{unit}`; {hint}known: {list}"))
    }

    fn words(self) -> &'static str {
        match self {
            Self::Length => "a length",
            Self::Angle => "an angle",
            Self::Speed => "a velocity",
            Self::AngularSpeed => "an angular velocity",
        }
    }

    fn units(self) -> Vec<(String, f64)> {
        let own = |list: &[(&str, f64)]| {
            list.iter()
                .map(|(name, f)| ((*name).to_owned(), *f))
                .collect()
        };
        let quotients = |list: &[(&str, f64)]| -> Vec<(String, f64)> {
            let pairs = list
                .iter()
                .flat_map(|of| TIMES.iter().map(move |by| (of, by)));
            pairs
                .map(|(of, by)| (format!("{}/{}", of.0, by.0), of.1 / by.1))
                .collect()
        };
        match self {
            Self::Length => own(&LENGTHS),
            Self::Angle => own(&ANGLES),
            Self::Speed => quotients(&LENGTHS),
            Self::AngularSpeed => {
                let mut units = quotients(&ANGLES);
                units.push(("rpm".to_owned(), std::f64::consts::PI / 30.0));
                units
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_that_does_not_fit_is_told_from_one_that_is_unknown() {
        assert_eq!(Quantity::Speed.factor("mm/ms"), Ok(1.0));
        assert_eq!(
            Quantity::AngularSpeed.factor("rpm"),
            Ok(std::f64::consts::PI / 30.0)
        );
        let wrong = Quantity::Length.factor("deg").unwrap_err();
        assert!(
            wrong.starts_with("unit `deg` does not fit a length"),
            "{wrong}"
        );
        let unknown = Quantity::AngularSpeed.factor("degs/s").unwrap_err();
        assert!(
            unknown.starts_with("unknown unit `degs/s`; did you mean `deg/s`?"),
            "{unknown}"
        );
    }
}
