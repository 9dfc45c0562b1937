//! Values of expressions with their first and second derivatives, by forward accumulation.

use super::functions::Function;
use super::{Expression, Step};

/// Work space for derivatives of expressions, and the last result: a value with its gradient and Hessian.
///
/// The numbers are computed with `libm`, as the values of [`Expression::value`] are, so that they are identical on every machine.
/// At a kink, such as that of `abs` at 0, the derivatives are those of one side or zero.
#[derive(Clone, Debug, Default)]
pub struct Jets {
    /// Entries of the stack, one after the other: value, gradient, lower triangle of the Hessian by rows.
    numbers: Vec<f64>,
    /// True for each entry of the stack that depends on no variable.
    constant: Vec<bool>,
    /// Number of variables, and length of an entry of the stack.
    n: usize,
    stride: usize,
}

/// Value and partial derivatives of a function of two arguments $a$ and $b$.
struct Partials {
    value: f64,
    first: [f64; 2],
    /// Derivatives by $a$ twice, by $a$ and $b$, and by $b$ twice.
    second: [f64; 3],
}

impl Jets {
    fn set_variables(&mut self, n: usize, second: bool) {
        self.numbers.clear();
        self.constant.clear();
        self.n = n;
        self.stride = 1 + n + if second { n * (n + 1) / 2 } else { 0 };
    }

    fn push(&mut self, value: f64, variable: Option<usize>) {
        let at = self.numbers.len();
        self.numbers.resize(at + self.stride, 0.0);
        self.constant.push(variable.is_none());
        if let Some(number) = self.numbers.get_mut(at) {
            *number = value;
        }
        if let Some(slope) = variable.and_then(|k| self.numbers.get_mut(at + 1 + k)) {
            *slope = 1.0;
        }
    }

    /// Value of the last result: of the expression whose derivatives were computed.
    pub fn value(&self) -> f64 {
        self.numbers.first().copied().unwrap_or(f64::NAN)
    }

    /// Gradient of the last result, one entry per variable of the list `by`.
    pub fn gradient(&self) -> &[f64] {
        self.numbers.get(1..=self.n).unwrap_or_default()
    }

    /// Entry of the Hessian of the last result, with the places of two variables in the list `by`; NaN if no second derivatives
    /// were computed.
    pub fn hessian(&self, i: usize, j: usize) -> f64 {
        let (row, column) = (i.max(j), i.min(j));
        let at = 1 + self.n + row * (row + 1) / 2 + column;
        self.numbers.get(at).copied().unwrap_or(f64::NAN)
    }

    /// Replaces the last entry $x$ of the stack by a function of it with the given value and derivatives.
    fn chain(&mut self, value: f64, first: f64, second: f64) {
        let is_constant = self.constant.last().copied().unwrap_or(true);
        let at = self.numbers.len().saturating_sub(self.stride);
        let Some((x, rest)) = self.numbers.get_mut(at..).and_then(|x| x.split_first_mut()) else {
            return;
        };
        *x = value;
        if is_constant {
            return;
        }
        let (gradient, hessian) = rest.split_at_mut(self.n);
        let mut entries = hessian.iter_mut();
        for i in 0..self.n {
            for j in 0..=i {
                if let Some(entry) = entries.next() {
                    *entry = first * *entry + second * gradient[i] * gradient[j];
                }
            }
        }
        gradient.iter_mut().for_each(|slope| *slope *= first);
    }

    /// Replaces the last two entries $a$, $b$ of the stack by a function of them.
    fn combine(&mut self, function: impl FnOnce(f64, f64) -> Partials) {
        let (n, stride) = (self.n, self.stride);
        let at = self.numbers.len().saturating_sub(2 * stride);
        let is_constant = |k: usize| {
            let place = self.constant.len().checked_sub(2).map(|last| last + k);
            place
                .and_then(|place| self.constant.get(place).copied())
                .unwrap_or(true)
        };
        let [a_constant, b_constant] = [0, 1].map(is_constant);
        let Some((a, b)) = self
            .numbers
            .get_mut(at..)
            .filter(|both| both.len() == 2 * stride)
            .map(|both| both.split_at_mut(stride))
        else {
            return;
        };
        let partials = function(a[0], b[0]);
        a[0] = partials.value;
        // A partial derivative that is not finite does not matter for an argument that is constant.
        let kept = |x: f64, dropped: bool| if dropped { 0.0 } else { x };
        let fa = kept(partials.first[0], a_constant);
        let fb = kept(partials.first[1], b_constant);
        let [faa, fab, fbb] = partials.second;
        let faa = kept(faa, a_constant);
        let fab = kept(fab, a_constant || b_constant);
        let fbb = kept(fbb, b_constant);
        if !(a_constant && b_constant) {
            let mut at = 1 + n;
            if stride > at {
                for i in 1..=n {
                    for j in 1..=i {
                        a[at] = fa * a[at]
                            + fb * b[at]
                            + faa * a[i] * a[j]
                            + fab * (a[i] * b[j] + b[i] * a[j])
                            + fbb * b[i] * b[j];
                        at += 1;
                    }
                }
            }
            for k in 1..=n {
                a[k] = fa * a[k] + fb * b[k];
            }
        }
        self.numbers.truncate(at + stride);
        self.constant.pop();
        if let Some(last) = self.constant.last_mut() {
            *last = a_constant && b_constant;
        }
    }

    /// Keeps one of the last `count` entries of the stack: the one with the place `kept` among them.
    fn keep(&mut self, count: usize, kept: usize) {
        let first = self.constant.len().saturating_sub(count);
        let at = first * self.stride;
        let from = at + kept * self.stride;
        if from + self.stride <= self.numbers.len() {
            self.numbers.copy_within(from..from + self.stride, at);
        }
        self.numbers.truncate(at + self.stride);
        let is_constant = self.constant.get(first + kept).copied().unwrap_or(true);
        self.constant.truncate(first);
        self.constant.push(is_constant);
    }

    fn last_value(&self, back: usize) -> f64 {
        let at = self.numbers.len().checked_sub(back * self.stride);
        at.and_then(|at| self.numbers.get(at).copied())
            .unwrap_or(f64::NAN)
    }

    fn power(&mut self) {
        let exponent = self.last_value(1);
        self.combine(|a, b| {
            let value = libm::pow(a, b);
            // A whole exponent has derivatives where the base is zero or negative.
            let slope = |factor: f64, less: f64| match factor {
                0.0 => 0.0,
                _ => factor * libm::pow(a, exponent - less),
            };
            let log = libm::log(a);
            Partials {
                value,
                first: [slope(b, 1.0), value * log],
                second: [
                    slope(b * (b - 1.0), 2.0),
                    libm::pow(a, b - 1.0) * (1.0 + b * log),
                    value * log * log,
                ],
            }
        });
    }

    fn call(&mut self, function: Function, count: usize) {
        match function {
            Function::Min | Function::Max => {
                let arguments: Vec<f64> = (1..=count).rev().map(|k| self.last_value(k)).collect();
                let value = function.call(&arguments);
                let kept = arguments.iter().position(|x| *x == value || value.is_nan());
                self.keep(count, kept.unwrap_or_default());
                if value.is_nan() {
                    self.chain(value, value, value);
                }
            }
            Function::Atan2 => self.combine(|y, x| {
                let square = x * x + y * y;
                let both = 2.0 * x * y / (square * square);
                Partials {
                    value: function.call(&[y, x]),
                    first: [x / square, -y / square],
                    second: [-both, (y * y - x * x) / (square * square), both],
                }
            }),
            _ => {
                let x = self.last_value(1);
                let value = function.call(&[x]);
                let (first, second) = function.derivatives(x, value);
                self.chain(value, first, second);
            }
        }
    }
}

impl Expression {
    /// Evaluates the expression with its derivatives with respect to the variables `by` (indices in the list of names, each
    /// once). `values` holds the values of all variables; `jets` is work space and holds the result, whose numbers are NaN or
    /// infinite where the expression has no value. `second`: true if second derivatives are wanted, too.
    pub fn differentiate(&self, values: &[f64], by: &[usize], second: bool, jets: &mut Jets) {
        jets.set_variables(by.len(), second);
        for step in &self.steps {
            match step {
                Step::Number(value) => jets.push(*value, None),
                Step::Name(index) => {
                    let value = values.get(*index).copied().unwrap_or(f64::NAN);
                    jets.push(value, by.iter().position(|variable| variable == index));
                }
                Step::Negate => jets.chain(-jets.last_value(1), -1.0, 0.0),
                Step::Add => jets.combine(|a, b| sum(a + b, 1.0)),
                Step::Subtract => jets.combine(|a, b| sum(a - b, -1.0)),
                Step::Multiply => jets.combine(|a, b| Partials {
                    value: a * b,
                    first: [b, a],
                    second: [0.0, 1.0, 0.0],
                }),
                Step::Divide => jets.combine(|a, b| {
                    let value = a / b;
                    Partials {
                        value,
                        first: [1.0 / b, -value / b],
                        second: [0.0, -1.0 / (b * b), 2.0 * value / (b * b)],
                    }
                }),
                Step::Power => jets.power(),
                Step::Call(function, count) => jets.call(*function, *count),
            }
        }
    }

    /// Evaluates the expression as a number; NaN or infinite where it has no value. `values` holds the values of all variables.
    pub fn number(&self, values: &[f64], jets: &mut Jets) -> f64 {
        self.differentiate(values, &[], false, jets);
        jets.value()
    }
}

fn sum(value: f64, sign: f64) -> Partials {
    Partials {
        value,
        first: [1.0, sign],
        second: [0.0; 3],
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::expression::{Names, Type};

    fn names() -> Names {
        let mut names = Names::default();
        for name in ["x", "y", "c"] {
            names.add(name, Type::Float);
        }
        names
    }

    /// Derivatives of every operator and function against differences of order four.
    #[test]
    fn derivatives_agree_with_differences() {
        let at = [0.37, 0.62, 2.0];
        for text in [
            "x*y - x/y + 3*x",
            "x^3 + y^c - 2^x + x^y + (x - 1)^2 + (x - 1)^c",
            "sin(x*y)*cos(x) + tan(y)",
            "asin(x) + acos(x*y) + atan(x - y) + atan2(x, y - 2)",
            "sqrt(x + c*y)*exp(-x)*ln(x + y)",
            "abs(x - y) + min(x, y, c) + max(x*y, 0.1) + floor(x)",
            "--x/(c*c) - -(y)^2",
        ] {
            let expression = Expression::parse(text, &names()).unwrap();
            let mut jets = Jets::default();
            let slope = |at: &[f64; 3], k: usize| {
                let mut jets = Jets::default();
                expression.differentiate(at, &[0, 1], false, &mut jets);
                if k == 2 {
                    jets.value()
                } else {
                    jets.gradient()[k]
                }
            };
            let difference = |of: usize, by: usize| {
                let h = 1e-3;
                let moved = |s: f64| {
                    let mut at = at;
                    at[by] += s * h;
                    slope(&at, of)
                };
                (8.0 * (moved(1.0) - moved(-1.0)) - (moved(2.0) - moved(-2.0))) / (12.0 * h)
            };
            expression.differentiate(&at, &[0, 1], true, &mut jets);
            let scalars = at.map(crate::expression::Scalar::Float);
            let value = expression.value(&scalars, &mut Vec::new());
            assert_eq!(value, Some(crate::expression::Scalar::Float(jets.value())));
            for i in 0..2 {
                let expected = difference(2, i);
                let error = (jets.gradient()[i] - expected).abs();
                assert!(error <= 1e-8 * (1.0 + expected.abs()), "{text}: {i}");
                for j in 0..2 {
                    let expected = difference(i, j);
                    let error = (jets.hessian(i, j) - expected).abs();
                    assert!(error <= 1e-8 * (1.0 + expected.abs()), "{text}: {i}, {j}");
                }
            }
        }
    }

    /// Roots and logarithms of parameters that are zero do not spoil the derivatives by other variables.
    #[test]
    fn constants_have_no_derivatives() {
        let mut jets = Jets::default();
        for (text, slope) in [("x*sqrt(c)", 0.0), ("x^2", 0.0), ("x + c^0.5", 1.0)] {
            let expression = Expression::parse(text, &names()).unwrap();
            expression.differentiate(&[0.0, 1.0, 0.0], &[0], true, &mut jets);
            assert_eq!(jets.gradient(), [slope], "{text}");
            assert!(jets.hessian(0, 0).is_finite(), "{text}");
        }
    }

    #[test]
    fn a_fault_spreads() {
        let expression = Expression::parse("min(ln(x), 1)", &names()).unwrap();
        let mut jets = Jets::default();
        expression.differentiate(&[-1.0, 0.0, 0.0], &[0], false, &mut jets);
        assert!(jets.value().is_nan() && jets.gradient()[0].is_nan());
    }
}
