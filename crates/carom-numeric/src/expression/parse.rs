//! Recursive-descent parser from text to instructions.

use super::functions::{FUNCTIONS, Function};
use super::{MAX_DEPTH, MAX_LENGTH, Names, Step, Type};

/// Parses an arithmetic expression from its text. Returns the instructions that evaluate the expression and the type of its
/// value, or an error message. `names` lists the variables that the expression may use.
pub(super) fn steps(text: &str, names: &Names) -> Result<(Vec<Step>, Type), String> {
    if text.len() > MAX_LENGTH {
        let length = text.len();
        return Err(format!(
            "the expression has {length} bytes, which exceed the limit of {MAX_LENGTH}"
        ));
    }
    let mut parser = Parser {
        rest: text,
        names,
        steps: Vec::new(),
        not_numbers: Vec::new(),
    };
    parser.sum(0)?;
    parser.skip_blanks();
    if let Some(letter) = parser.rest.chars().next() {
        return Err(format!("unexpected `{letter}` in the expression"));
    }
    if let [Step::Name(_)] = parser.steps.as_slice() {
        let kind = names
            .find(text.trim())
            .map_or(Type::Float, |(_, kind)| kind);
        return Ok((parser.steps, kind));
    }
    match parser.not_numbers.first() {
        Some(name) => Err(format!("`{name}` is no number: it can only stand alone")),
        None => Ok((parser.steps, Type::Float)),
    }
}

struct Parser<'t> {
    rest: &'t str,
    names: &'t Names,
    steps: Vec<Step>,
    /// Names of strings and booleans found in the expression.
    not_numbers: Vec<&'t str>,
}

impl<'t> Parser<'t> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Skips blanks, and advances past the character `letter` if it is the next one in the text. Returns true if it was.
    fn takes(&mut self, letter: char) -> bool {
        self.skip_blanks();
        match self.rest.strip_prefix(letter) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn require(&mut self, letter: char) -> Result<(), String> {
        if self.takes(letter) {
            return Ok(());
        }
        Err(match self.rest.chars().next() {
            Some(found) => format!("expected `{letter}` in the expression, found `{found}`"),
            None => format!("expected `{letter}` at the end of the expression"),
        })
    }

    fn take_while(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest;
        let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (taken, rest) = rest.split_at_checked(length).unwrap_or((rest, ""));
        self.rest = rest;
        taken
    }

    fn sum(&mut self, depth: usize) -> Result<(), String> {
        self.product(depth)?;
        loop {
            let step = if self.takes('+') {
                Step::Add
            } else if self.takes('-') {
                Step::Subtract
            } else {
                return Ok(());
            };
            self.product(depth)?;
            self.steps.push(step);
        }
    }

    fn product(&mut self, depth: usize) -> Result<(), String> {
        self.signed(depth)?;
        loop {
            let step = if self.takes('*') {
                Step::Multiply
            } else if self.takes('/') {
                Step::Divide
            } else {
                return Ok(());
            };
            self.signed(depth)?;
            self.steps.push(step);
        }
    }

    /// Parses an operand with its sign and exponent, and appends the instructions. A minus binds less than a power:
    /// $-x^2 = -(x^2)$. `depth` is the nesting depth, which is limited.
    fn signed(&mut self, depth: usize) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!(
                "the expression is nested more than {MAX_DEPTH} levels deep"
            ));
        }
        if self.takes('-') {
            self.signed(depth + 1)?;
            self.steps.push(Step::Negate);
            return Ok(());
        }
        self.operand(depth)?;
        if self.takes('^') {
            self.signed(depth + 1)?;
            self.steps.push(Step::Power);
        }
        Ok(())
    }

    fn operand(&mut self, depth: usize) -> Result<(), String> {
        if self.takes('(') {
            self.sum(depth + 1)?;
            return self.require(')');
        }
        match self.rest.chars().next() {
            None => Err("the expression ends where a value is expected".to_owned()),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(depth),
            Some(c) => Err(format!("unexpected `{c}` in the expression")),
        }
    }

    fn number(&mut self) -> Result<(), String> {
        let start = self.rest;
        self.take_while(|c| c.is_ascii_digit());
        if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            self.take_while(|c| c.is_ascii_digit());
        }
        if let Some(rest) = self.rest.strip_prefix(['e', 'E']) {
            self.rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
            self.take_while(|c| c.is_ascii_digit());
        }
        let length = start.len() - self.rest.len();
        let digits = start.get(..length).unwrap_or_default();
        match digits.parse::<f64>() {
            Ok(value) if value.is_finite() => {
                self.steps.push(Step::Number(value));
                Ok(())
            }
            Ok(_) => Err(format!("{digits} is not a finite number")),
            Err(_) => Err(format!("`{digits}` is no number")),
        }
    }

    fn name(&mut self, depth: usize) -> Result<(), String> {
        let name = self.take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
        if name == "pi" {
            self.steps.push(Step::Number(std::f64::consts::PI));
            return Ok(());
        }
        if let Some(function) = Function::named(name) {
            return self.call(name, function, depth);
        }
        let Some((index, kind)) = self.names.find(name) else {
            self.skip_blanks();
            return Err(if self.rest.starts_with('(') {
                unknown("function", name, &FUNCTIONS)
            } else {
                let known: Vec<&str> = self.names.all().chain(["pi"]).collect();
                unknown("name", name, &known)
            });
        };
        if !matches!(kind, Type::Integer | Type::Float) {
            self.not_numbers.push(name);
        }
        self.steps.push(Step::Name(index));
        Ok(())
    }

    fn call(&mut self, name: &str, function: Function, depth: usize) -> Result<(), String> {
        self.require('(')?;
        let mut arguments = 0;
        loop {
            self.sum(depth + 1)?;
            arguments += 1;
            if !self.takes(',') {
                break;
            }
        }
        self.require(')')?;
        function
            .check(arguments)
            .map_err(|takes| format!("`{name}` takes {takes}, not {arguments}"))?;
        self.steps.push(Step::Call(function, arguments));
        Ok(())
    }
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let near = crate::nearest_name(name, known.iter().copied());
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("unknown {what} `{name}` in the expression{hint}")
}
