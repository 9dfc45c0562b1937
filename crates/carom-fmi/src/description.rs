//! The file `modelDescription.xml` of a unit.

use crate::error::FmiError;
use crate::variables::{Quantity, UNITS, Variable};
use crate::version::Version;
use quick_xml::Writer;
use std::io;

/// Facts of a unit beside its variables.
pub(crate) struct Facts<'a> {
    pub(crate) name: &'a str,
    /// Name of the library, an identifier of C.
    pub(crate) identifier: &'a str,
    pub(crate) token: &'a str,
    /// Duration of the run (s).
    pub(crate) duration: f64,
    /// Time between two samples (s).
    pub(crate) step: f64,
}

type Xml = Writer<Vec<u8>>;
type Pairs<'a> = Vec<(&'a str, String)>;

/// Writes an element without content.
fn leaf(xml: &mut Xml, name: &str, pairs: &Pairs<'_>) -> io::Result<()> {
    let pairs = pairs.iter().map(|(key, value)| (*key, value.as_str()));
    xml.create_element(name)
        .with_attributes(pairs)
        .write_empty()?;
    Ok(())
}

/// Writes an element with the content that `inside` writes.
fn node(
    xml: &mut Xml,
    name: &str,
    pairs: &Pairs<'_>,
    inside: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    let pairs = pairs.iter().map(|(key, value)| (*key, value.as_str()));
    let element = xml.create_element(name).with_attributes(pairs);
    element.write_inner_content(inside)?;
    Ok(())
}

/// Writes the description of a unit.
pub(crate) fn describe(
    version: Version,
    variables: &[Variable],
    facts: &Facts<'_>,
) -> Result<Vec<u8>, FmiError> {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    let is_ascii = variables.iter().all(|variable| variable.name.is_ascii());
    let naming = if is_ascii { "structured" } else { "flat" };
    let (number, token) = match version {
        Version::Two => ("2.0", "guid"),
        Version::Three => ("3.0", "instantiationToken"),
    };
    let root = vec![
        ("fmiVersion", number.to_owned()),
        ("modelName", facts.name.to_owned()),
        (token, facts.token.to_owned()),
        (
            "generationTool",
            concat!("carom ", env!("CARGO_PKG_VERSION")).to_owned(),
        ),
        ("variableNamingConvention", naming.to_owned()),
    ];
    let mut write = || {
        let declaration = quick_xml::events::BytesDecl::new("1.0", Some("UTF-8"), None);
        xml.write_event(quick_xml::events::Event::Decl(declaration))?;
        node(&mut xml, "fmiModelDescription", &root, |xml| {
            leaf(xml, "CoSimulation", &abilities(version, facts.identifier))?;
            node(xml, "UnitDefinitions", &Vec::new(), units)?;
            let mut experiment = vec![
                ("startTime", "0".to_owned()),
                ("stopTime", facts.duration.to_string()),
            ];
            if facts.step > 0.0 {
                experiment.push(("stepSize", facts.step.to_string()));
            }
            leaf(xml, "DefaultExperiment", &experiment)?;
            match version {
                Version::Two => scalars(xml, variables),
                Version::Three => arrays(xml, variables),
            }
        })
    };
    write().map_err(FmiError::Xml)?;
    let mut text = xml.into_inner();
    text.push(b'\n');
    Ok(text)
}

fn abilities(version: Version, identifier: &str) -> Pairs<'static> {
    let yes = || "true".to_owned();
    let (get_and_set, serialize) = match version {
        Version::Two => ("canGetAndSetFMUstate", "canSerializeFMUstate"),
        Version::Three => ("canGetAndSetFMUState", "canSerializeFMUState"),
    };
    vec![
        ("modelIdentifier", identifier.to_owned()),
        ("canHandleVariableCommunicationStepSize", yes()),
        (get_and_set, yes()),
        (serialize, yes()),
    ]
}

fn units(xml: &mut Xml) -> io::Result<()> {
    for (name, exponents) in UNITS {
        node(xml, "Unit", &vec![("name", name.to_owned())], |xml| {
            let pairs = ["kg", "m", "s", "rad"].into_iter().zip(exponents);
            let pairs = pairs.filter(|(_, exponent)| *exponent != 0);
            let pairs = pairs.map(|(base, exponent)| (base, exponent.to_string()));
            leaf(xml, "BaseUnit", &pairs.collect())
        })?;
    }
    Ok(())
}

fn causality(variable: &Variable) -> [(&'static str, String); 2] {
    let is_input = variable.quantity.is_input();
    let causality = if is_input { "input" } else { "output" };
    let variability = match variable.quantity {
        Quantity::Impacts => "discrete",
        _ => "continuous",
    };
    [
        ("causality", causality.to_owned()),
        ("variability", variability.to_owned()),
    ]
}

/// Writes the variables of FMI 2, one for each element, and their dependencies.
fn scalars(xml: &mut Xml, variables: &[Variable]) -> io::Result<()> {
    node(xml, "ModelVariables", &Vec::new(), |xml| {
        for variable in variables {
            for k in 0..variable.length {
                let name = match variable.length {
                    1 => variable.name.clone(),
                    _ => format!("{}[{}]", variable.name, k + 1),
                };
                let mut pairs = vec![
                    ("name", name),
                    (
                        "valueReference",
                        (variable.reference + k as u32).to_string(),
                    ),
                    ("description", variable.about.clone()),
                ];
                pairs.extend(causality(variable));
                node(xml, "ScalarVariable", &pairs, |xml| {
                    let mut pairs = Vec::new();
                    if !variable.unit.is_empty() {
                        pairs.push(("unit", variable.unit.to_owned()));
                    }
                    if variable.quantity.is_input() {
                        pairs.push(("start", variable.start.to_string()));
                    }
                    let name = match variable.quantity {
                        Quantity::Impacts => "Integer",
                        _ => "Real",
                    };
                    leaf(xml, name, &pairs)
                })?;
            }
        }
        Ok(())
    })?;
    node(xml, "ModelStructure", &Vec::new(), |xml| {
        for list in ["Outputs", "InitialUnknowns"] {
            node(xml, list, &Vec::new(), |xml| {
                let mut index = 0;
                for variable in variables {
                    for _ in 0..variable.length {
                        index += 1;
                        if !variable.quantity.is_input() {
                            let pairs = [
                                ("index", index.to_string()),
                                ("dependencies", String::new()),
                            ];
                            leaf(xml, "Unknown", &pairs.into())?;
                        }
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    })
}

/// Writes the variables of FMI 3, arrays, and their dependencies.
fn arrays(xml: &mut Xml, variables: &[Variable]) -> io::Result<()> {
    node(xml, "ModelVariables", &Vec::new(), |xml| {
        let time = [
            ("name", "time"),
            ("valueReference", "0"),
            ("causality", "independent"),
            ("variability", "continuous"),
            ("unit", "s"),
        ];
        let time = time.map(|(key, value)| (key, value.to_owned()));
        leaf(xml, "Float64", &time.into())?;
        for variable in variables {
            let mut pairs = vec![
                ("name", variable.name.clone()),
                ("valueReference", variable.reference.to_string()),
                ("description", variable.about.clone()),
            ];
            pairs.extend(causality(variable));
            if !variable.unit.is_empty() {
                pairs.push(("unit", variable.unit.to_owned()));
            }
            if variable.quantity.is_input() {
                let one = variable.start.to_string();
                pairs.push(("start", vec![one; variable.length].join(" ")));
            }
            let name = match variable.quantity {
                Quantity::Impacts => "Int64",
                _ => "Float64",
            };
            if variable.length == 1 {
                leaf(xml, name, &pairs)?;
            } else {
                node(xml, name, &pairs, |xml| {
                    let length = ("start", variable.length.to_string());
                    leaf(xml, "Dimension", &vec![length])
                })?;
            }
        }
        Ok(())
    })?;
    node(xml, "ModelStructure", &Vec::new(), |xml| {
        for list in ["Output", "InitialUnknown"] {
            for variable in variables.iter().filter(|v| !v.quantity.is_input()) {
                let reference = ("valueReference", variable.reference.to_string());
                leaf(xml, list, &vec![reference, ("dependencies", String::new())])?;
            }
        }
        Ok(())
    })
}
