//! Functions of expressions, computed with `libm` so that results are identical on every machine.

/// Names of the functions that a parsed expression may call, for example `sin(x)` or `min(a, b)`.
pub const FUNCTIONS: [&str; 14] = [
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "exp", "ln", "abs", "min", "max",
    "floor",
];

/// Function that an expression may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sqrt,
    Exp,
    Ln,
    Abs,
    Min,
    Max,
    Floor,
}

impl Function {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "sin" => Self::Sin,
            "cos" => Self::Cos,
            "tan" => Self::Tan,
            "asin" => Self::Asin,
            "acos" => Self::Acos,
            "atan" => Self::Atan,
            "atan2" => Self::Atan2,
            "sqrt" => Self::Sqrt,
            "exp" => Self::Exp,
            "ln" => Self::Ln,
            "abs" => Self::Abs,
            "min" => Self::Min,
            "max" => Self::Max,
            "floor" => Self::Floor,
            _ => return None,
        })
    }

    /// Checks that the function takes the given number of arguments. The error names the right number in words, for
    /// example "two arguments".
    pub(super) fn check(self, arguments: usize) -> Result<(), &'static str> {
        match self {
            Self::Min | Self::Max if arguments < 2 => Err("two or more arguments"),
            Self::Min | Self::Max => Ok(()),
            Self::Atan2 if arguments != 2 => Err("two arguments"),
            Self::Atan2 => Ok(()),
            _ if arguments != 1 => Err("one argument"),
            _ => Ok(()),
        }
    }

    pub(super) fn call(self, arguments: &[f64]) -> f64 {
        let x = arguments.first().copied().unwrap_or(f64::NAN);
        match self {
            Self::Sin => libm::sin(x),
            Self::Cos => libm::cos(x),
            Self::Tan => libm::tan(x),
            Self::Asin => libm::asin(x),
            Self::Acos => libm::acos(x),
            Self::Atan => libm::atan(x),
            Self::Atan2 => libm::atan2(x, arguments.get(1).copied().unwrap_or(f64::NAN)),
            Self::Sqrt => libm::sqrt(x),
            Self::Exp => libm::exp(x),
            Self::Ln => libm::log(x),
            Self::Abs => x.abs(),
            Self::Floor => libm::floor(x),
            Self::Min => extreme(arguments, |a, b| a < b),
            Self::Max => extreme(arguments, |a, b| a > b),
        }
    }
}

impl Function {
    /// Returns the first and the second derivative of a function of one argument `x` (not of `min`, `max` and `atan2`), whose
    /// value at `x` is `value`.
    pub(super) fn derivatives(self, x: f64, value: f64) -> (f64, f64) {
        match self {
            Self::Sin => (libm::cos(x), -value),
            Self::Cos => (-libm::sin(x), -value),
            Self::Tan => {
                let slope = 1.0 + value * value;
                (slope, 2.0 * value * slope)
            }
            Self::Asin | Self::Acos => {
                let square = 1.0 - x * x;
                let slope = 1.0 / libm::sqrt(square);
                let sign = if self == Self::Asin { 1.0 } else { -1.0 };
                (sign * slope, sign * slope * x / square)
            }
            Self::Atan => {
                let slope = 1.0 / (1.0 + x * x);
                (slope, -2.0 * x * slope * slope)
            }
            Self::Sqrt => (0.5 / value, -0.25 / (x * value)),
            Self::Exp => (value, value),
            Self::Ln => (1.0 / x, -1.0 / (x * x)),
            Self::Abs if x == 0.0 => (0.0, 0.0),
            Self::Abs => (x.signum(), 0.0),
            Self::Floor => (0.0, 0.0),
            Self::Atan2 | Self::Min | Self::Max => (f64::NAN, f64::NAN),
        }
    }
}

/// Returns the value of a minimum or maximum function: one of its `arguments`, or NaN if an argument is NaN.
/// `is_better(a, b)` is true if the argument `a` replaces `b`. Among equal arguments the first one is returned.
fn extreme(arguments: &[f64], is_better: impl Fn(f64, f64) -> bool) -> f64 {
    let better = |best: f64, x: &f64| {
        if best.is_nan() || x.is_nan() {
            f64::NAN
        } else if is_better(*x, best) {
            *x
        } else {
            best
        }
    };
    match arguments.split_first() {
        Some((first, rest)) => rest.iter().fold(*first, better),
        None => f64::NAN,
    }
}
