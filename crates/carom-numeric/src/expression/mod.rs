//! Arithmetic expressions in text form, with numbers and variable names. Results are identical on every
//! machine.
//!
//! # Examples
//!
//! ```
//! use carom_numeric::expression::{Expression, Names, Scalar, Type};
//! let mut names = Names::default();
//! names.add("t", Type::Float);
//! let torque = Expression::parse("0.4*sin(5.0*t)", &names).expect("`t` is known");
//! let at = |t: f64| torque.value(&[Scalar::Float(t)], &mut Vec::new());
//! assert_eq!(at(0.0), Some(Scalar::Float(0.0)));
//! assert_eq!(at(0.2), Some(Scalar::Float(0.4 * libm::sin(1.0))));
//! ```

mod functions;
mod jet;
mod parse;

pub use functions::FUNCTIONS;
pub use jet::Jets;

use functions::Function;

/// Largest length of the text of an arithmetic expression, in bytes. Longer texts are a syntax error.
pub const MAX_LENGTH: usize = 4096;

/// Largest depth of nested parentheses, function calls, signs and exponents in an arithmetic expression. Deeper
/// nesting is a syntax error.
pub const MAX_DEPTH: usize = 64;

/// Type of a variable or of the value of an arithmetic expression: integer, floating-point number, string or boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Integer.
    Integer,
    /// Floating-point number.
    Float,
    /// String. Its name can only be a whole expression.
    Text,
    /// Boolean. Its name can only be a whole expression.
    Bool,
}

/// Value of a variable or of an arithmetic expression: an integer, a floating-point number, a string or a boolean.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// Integer.
    Integer(i64),
    /// Floating-point number.
    Float(f64),
    /// String.
    Text(std::sync::Arc<str>),
    /// Boolean.
    Bool(bool),
}

impl Scalar {
    /// Returns the value of a variable as a floating-point number. The result is NaN for strings and booleans, which the parser
    /// does not allow inside an expression.
    fn number(&self) -> f64 {
        match self {
            Self::Integer(value) => *value as f64,
            Self::Float(value) => *value,
            Self::Text(_) | Self::Bool(_) => f64::NAN,
        }
    }
}

/// Names and types of the variables that an arithmetic expression may use. Name i belongs to entry i of the
/// slice of values with which the expression is evaluated.
#[derive(Clone, Debug, Default)]
pub struct Names {
    known: Vec<(String, Type)>,
}

impl Names {
    /// Appends a variable with its name and type to the list. The variable gets the next index, counted from 0.
    pub fn add(&mut self, name: &str, kind: Type) {
        self.known.push((name.to_owned(), kind));
    }

    /// Returns the index and the type of the variable with the given name; `None` if there is no such variable.
    pub fn find(&self, name: &str) -> Option<(usize, Type)> {
        let index = self.known.iter().position(|(known, _)| known == name)?;
        self.known.get(index).map(|(_, kind)| (index, *kind))
    }

    /// Returns the names of all variables, in the order of their indices.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.known.iter().map(|(name, _)| name.as_str())
    }
}

/// Instruction of the evaluation, which works on a stack of numbers.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    Number(f64),
    Name(usize),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    /// Calls a function with this number of arguments.
    Call(Function, usize),
}

/// Arithmetic expression, parsed from text, whose variables are numbered by a list of [`Names`].
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    steps: Vec<Step>,
    kind: Type,
}

impl Expression {
    /// Parses an arithmetic expression from text. `names` lists the variables that the expression may use.
    ///
    /// # Errors
    ///
    /// A description of the syntax error.
    pub fn parse(text: &str, names: &Names) -> Result<Self, String> {
        let (steps, kind) = parse::steps(text, names)?;
        Ok(Self {
            text: text.trim().to_owned(),
            steps,
            kind,
        })
    }

    /// Returns the type of the expression's value. An expression that consists of one variable name has the type of this
    /// variable; every other expression is a floating-point number.
    pub fn kind(&self) -> Type {
        self.kind
    }

    /// Returns the text of the expression without surrounding blanks.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if the expression contains a variable. `name` is the index of the variable in the list of
    /// [`Names`].
    pub fn uses(&self, name: usize) -> bool {
        self.steps.contains(&Step::Name(name))
    }

    /// Evaluates the expression. `names` holds the values of the variables, in the order of the list of
    /// [`Names`]; `stack` is work space. An expression that is a single variable name returns the value of this
    /// variable, every other expression a number. Returns `None` if the number is not finite.
    pub fn value(&self, names: &[Scalar], stack: &mut Vec<f64>) -> Option<Scalar> {
        if let [Step::Name(index)] = self.steps.as_slice() {
            return names.get(*index).cloned();
        }
        stack.clear();
        for step in &self.steps {
            step.take(names, stack);
        }
        let value = stack.pop()?;
        value.is_finite().then_some(Scalar::Float(value))
    }
}

impl Step {
    fn take(&self, names: &[Scalar], stack: &mut Vec<f64>) {
        let mut pop = || stack.pop().unwrap_or(f64::NAN);
        let result = match self {
            Self::Number(value) => *value,
            Self::Name(index) => names.get(*index).map_or(f64::NAN, Scalar::number),
            Self::Negate => -pop(),
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Power => {
                let (right, left) = (pop(), pop());
                match self {
                    Self::Add => left + right,
                    Self::Subtract => left - right,
                    Self::Multiply => left * right,
                    Self::Divide => left / right,
                    _ => libm::pow(left, right),
                }
            }
            Self::Call(function, n) => {
                let first = stack.len().saturating_sub(*n);
                let result = function.call(stack.get(first..).unwrap_or_default());
                stack.truncate(first);
                result
            }
        };
        stack.push(result);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        names.add("x", Type::Float);
        names.add("n", Type::Integer);
        names.add("law", Type::Text);
        names
    }

    fn value(text: &str) -> Option<Scalar> {
        let values = [
            Scalar::Float(2.0),
            Scalar::Integer(3),
            Scalar::Text("plastic".into()),
        ];
        let expression = Expression::parse(text, &names()).unwrap();
        expression.value(&values, &mut Vec::new())
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, expected) in [
            ("1 + 2*3", 7.0),
            ("-x^2", -4.0),
            ("2^-1", 0.5),
            ("2^3^2", 512.0),
            ("2^-x^2", 0.0625),
            ("-(x - 5)/n", 1.0),
            ("8/2/2", 2.0),
            ("1 - 2 - 3", -4.0),
            ("--x", 2.0),
            ("2*-x", -4.0),
            ("max(1, n, x)", 3.0),
            ("min(1, n, x)", 1.0),
            ("atan2(0, -1)", std::f64::consts::PI),
            ("2*pi", 2.0 * std::f64::consts::PI),
            ("sqrt(abs(-4)) + floor(2.7)", 4.0),
            ("ln(exp(1))", 1.0),
            (".5 + 1.e1 + 2E-1", 10.7),
        ] {
            assert_eq!(value(text), Some(Scalar::Float(expected)), "{text}");
        }
    }

    #[test]
    fn a_single_name_keeps_its_type() {
        assert_eq!(value("n"), Some(Scalar::Integer(3)));
        assert_eq!(value(" law "), Some(Scalar::Text("plastic".into())));
        assert_eq!(value("n + 0"), Some(Scalar::Float(3.0)));
    }

    #[test]
    fn what_is_not_finite_has_no_value() {
        for text in ["1/(x - 2)", "ln(-1)", "min(ln(-1), 1)", "10^400", "0/0 + 1"] {
            assert_eq!(value(text), None, "{text}");
        }
    }

    #[test]
    fn faults_are_named() {
        for (text, expected) in [
            ("", "ends"),
            ("1 +", "ends"),
            ("(1", "expected `)`"),
            ("1)", "`)`"),
            ("y", "unknown name `y`"),
            ("sinus(1)", "unknown function `sinus`"),
            ("sin(1, 2)", "takes one argument"),
            ("atan2(1)", "takes two arguments"),
            ("max(1)", "takes two or more arguments"),
            ("sin", "expected `(`"),
            ("law + 1", "`law` is no number"),
            ("1e999", "not a finite number"),
            ("1 2", "`2`"),
            ("x $ 1", "`$`"),
        ] {
            let error = Expression::parse(text, &names()).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn depth_and_length_are_limited() {
        let nested = |n: usize| format!("{}1{}", "(".repeat(n), ")".repeat(n));
        assert!(Expression::parse(&nested(64), &names()).is_ok());
        assert!(Expression::parse(&nested(65), &names()).is_err());
        for deep in ["-".repeat(65) + "1", "2^".repeat(65) + "1"] {
            assert!(Expression::parse(&deep, &names()).is_err());
        }
        assert!(Expression::parse(&("1+".repeat(2047) + "1"), &names()).is_ok());
        assert!(Expression::parse(&("1+".repeat(2048) + "1"), &names()).is_err());
    }
}
