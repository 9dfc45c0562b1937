//! Variables of a unit: inputs and outputs of a session by references.

use carom_scenarios::Session;

/// Quantity of a variable; bodies and coordinates by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    Force(usize),
    Control(usize),
    Target(usize),
    Position(usize),
    Quaternion(usize),
    Velocity(usize),
    Spin(usize),
    ContactForce(usize),
    ContactTorque(usize),
    Coordinate(usize),
    Rate(usize),
    Energy,
    Impacts,
}

impl Quantity {
    pub(crate) fn is_input(self) -> bool {
        matches!(self, Self::Force(_) | Self::Control(_) | Self::Target(_))
    }
}

/// Variable of a unit. Its elements have the references from `reference` on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) about: String,
    pub(crate) quantity: Quantity,
    pub(crate) reference: u32,
    /// Number of elements.
    pub(crate) length: usize,
    /// Name of the unit in [`UNITS`]; empty for a number.
    pub(crate) unit: &'static str,
    /// Value of each element of an input at the start.
    pub(crate) start: f64,
}

/// Unit by its exponents of kg, m, s and rad.
pub(crate) const UNITS: [(&str, [i8; 4]); 8] = [
    ("m", [0, 1, 0, 0]),
    ("m/s", [0, 1, -1, 0]),
    ("rad", [0, 0, 0, 1]),
    ("rad/s", [0, 0, -1, 1]),
    ("N", [1, 1, -2, 0]),
    ("N.m", [1, 2, -2, 0]),
    ("J", [1, 2, -2, 0]),
    ("s", [0, 0, 1, 0]),
];

/// Returns a name as an identifier of a structured name: with quotation marks if it has other characters than letters and digits.
fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Returns the name of a joint coordinate; a dot separates the joint from its coordinate.
fn coordinate_name(name: &str) -> String {
    let parts = name.split('.').map(quoted);
    parts.collect::<Vec<_>>().join(".")
}

/// Returns the variables of a session.
pub(crate) fn variables(session: &Session) -> Vec<Variable> {
    let mut list = List {
        variables: Vec::new(),
        // The reference 0 is that of the time.
        next: 1,
    };
    let (bodies, coordinates) = (session.body_list(), session.coordinate_list());
    for (b, body) in bodies
        .iter()
        .enumerate()
        .filter(|(_, body)| body.mass.is_some())
    {
        let about = format!("force on {} at its center of mass", body.name);
        list.add(
            &quoted(&body.name),
            "force",
            about,
            Quantity::Force(b),
            3,
            "N",
        );
    }
    for (k, one) in coordinates.iter().enumerate() {
        let name = coordinate_name(&one.name);
        let about = format!("force along {}, on top of its actuator", one.name);
        let unit = if one.is_angle { "N.m" } else { "N" };
        list.add(&name, "force", about, Quantity::Control(k), 1, unit);
        if let Some(target) = one.target {
            let about = format!(
                "target of the actuator of {}; its table holds until this is set",
                one.name
            );
            list.add(
                &name,
                "target",
                about,
                Quantity::Target(k),
                1,
                angle(one.is_angle),
            );
            if let Some(last) = list.variables.last_mut() {
                last.start = target;
            }
        }
    }
    for (b, body) in bodies.iter().enumerate() {
        let is_free = body.mass.is_some() && !body.is_jointed && !body.is_loaded;
        list.body(b, &body.name, is_free);
    }
    for (k, one) in coordinates.iter().enumerate() {
        let name = coordinate_name(&one.name);
        let (unit, rate) = (
            angle(one.is_angle),
            if one.is_angle { "rad/s" } else { "m/s" },
        );
        list.add(
            &name,
            "position",
            one.name.clone(),
            Quantity::Coordinate(k),
            1,
            unit,
        );
        let about = format!("rate of {}", one.name);
        list.add(&name, "velocity", about, Quantity::Rate(k), 1, rate);
    }
    list.add(
        "",
        "energy",
        "energy of all bodies".to_owned(),
        Quantity::Energy,
        1,
        "J",
    );
    let about = "number of impacts so far".to_owned();
    list.add("", "impacts", about, Quantity::Impacts, 1, "");
    list.variables
}

fn angle(is_angle: bool) -> &'static str {
    if is_angle { "rad" } else { "m" }
}

/// Variables so far.
struct List {
    variables: Vec<Variable>,
    next: u32,
}

impl List {
    fn add(
        &mut self,
        of: &str,
        what: &str,
        about: String,
        quantity: Quantity,
        length: usize,
        unit: &'static str,
    ) {
        let dot = if of.is_empty() { "" } else { "." };
        self.variables.push(Variable {
            name: format!("{of}{dot}{what}"),
            about,
            quantity,
            reference: self.next,
            length,
            unit,
            start: 0.0,
        });
        self.next += length as u32;
    }

    /// Adds the outputs of a body; those of its contacts if it `is_free`.
    fn body(&mut self, b: usize, name: &str, is_free: bool) {
        let of = quoted(name);
        let mut add = |what: &str, about: &str, quantity, length, unit| {
            self.add(&of, what, format!("{about} {name}"), quantity, length, unit);
        };
        let about = "center of mass of";
        add("position", about, Quantity::Position(b), 3, "m");
        let about = "quaternion w, x, y, z from body to space of";
        add("quaternion", about, Quantity::Quaternion(b), 4, "");
        let about = "velocity of the center of mass of";
        add("velocity", about, Quantity::Velocity(b), 3, "m/s");
        let about = "angular velocity in space of";
        add("angular_velocity", about, Quantity::Spin(b), 3, "rad/s");
        if is_free {
            let about =
                "mean over the last step of the force of all contacts, impacts included, on";
            add("contact_force", about, Quantity::ContactForce(b), 3, "N");
            let about = "mean over the last step of the torque of all contacts about the center of mass, impacts included, on";
            add(
                "contact_torque",
                about,
                Quantity::ContactTorque(b),
                3,
                "N.m",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_or_stand_in_quotation_marks() {
        assert_eq!(quoted("ball_2"), "ball_2");
        assert_eq!(quoted("2 balls"), "'2 balls'");
        assert_eq!(quoted("it's"), r"'it\'s'");
        assert_eq!(coordinate_name("left hip.angle"), "'left hip'.angle");
    }
}
