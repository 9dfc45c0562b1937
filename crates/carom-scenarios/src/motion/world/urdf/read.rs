//! Parser of a URDF.

use super::model::{Geometry, Inertial, Joint, Link, Model};
use super::notes::Notes;
use carom_lie::{Se3, So3};
use nalgebra::{Matrix3, Vector3};
use roxmltree::{Document, Node};

/// Parses the URDF text of a robot to its links and joints. Error messages contain the line number.
pub(super) fn read(text: &str) -> Result<Model, String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    if !root.has_tag_name("robot") {
        let name = root.tag_name().name();
        return Err(format!("its root element is `{name}`, not `robot`"));
    }
    let mut model = Model::default();
    for node in elements(root) {
        match node.tag_name().name() {
            "link" => model.links.push(link(node)?),
            "joint" => {
                let joint = joint(node, &mut model.notes)?;
                model.joints.push(joint);
            }
            "material" => (),
            other => {
                let name = node.attribute("name").or(node.attribute("reference"));
                model
                    .notes
                    .tell(other, name.unwrap_or_default(), "not supported");
            }
        }
    }
    Ok(model)
}

fn elements<'a>(node: Node<'a, 'a>) -> impl Iterator<Item = Node<'a, 'a>> {
    node.children().filter(Node::is_element)
}

fn child<'a>(node: Node<'a, 'a>, name: &'static str) -> Option<Node<'a, 'a>> {
    node.children().find(|part| part.has_tag_name(name))
}

/// Returns an error with the line number of the XML element `node` and a message.
fn fault<T>(node: Node<'_, '_>, message: &str) -> Result<T, String> {
    let line = node.document().text_pos_at(node.range().start).row;
    Err(format!("line {line}: {message}"))
}

fn text<'a>(node: Node<'a, 'a>, attribute: &str) -> Result<&'a str, String> {
    match node.attribute(attribute) {
        Some(text) if !text.is_empty() => Ok(text),
        _ => {
            let name = node.tag_name().name();
            fault(node, &format!("`{name}` needs the attribute `{attribute}`"))
        }
    }
}

/// Parses an attribute of the XML element `node` as `N` finite numbers; `None` if the attribute is missing.
fn numbers<const N: usize>(
    node: Node<'_, '_>,
    attribute: &str,
) -> Result<Option<[f64; N]>, String> {
    let Some(text) = node.attribute(attribute) else {
        return Ok(None);
    };
    let parsed: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    let array = parsed.ok().and_then(|list| <[f64; N]>::try_from(list).ok());
    match array.filter(|list| list.iter().all(|x| x.is_finite())) {
        Some(list) => Ok(Some(list)),
        None => {
            let kind = match N {
                1 => "a finite number".to_owned(),
                _ => format!("{N} finite numbers"),
            };
            fault(node, &format!("`{attribute}` = \"{text}\" is not {kind}"))
        }
    }
}

fn number(node: Node<'_, '_>, attribute: &str) -> Result<f64, String> {
    match numbers::<1>(node, attribute)? {
        Some([x]) => Ok(x),
        None => text(node, attribute).map(|_| 0.0),
    }
}

fn number_or(node: Node<'_, '_>, attribute: &str, default: f64) -> Result<f64, String> {
    Ok(numbers::<1>(node, attribute)?.map_or(default, |[x]| x))
}

/// Returns the pose given by the child `origin` of the XML element `node`. The rotation of the pose consists of roll, pitch and
/// yaw (rad) about fixed axes. Without this child the pose is the identity.
fn origin(node: Node<'_, '_>) -> Result<Se3, String> {
    let Some(origin) = child(node, "origin") else {
        return Ok(Se3::identity());
    };
    let xyz = numbers::<3>(origin, "xyz")?.unwrap_or_default();
    let [roll, pitch, yaw] = numbers::<3>(origin, "rpy")?.unwrap_or_default();
    let about = |k: usize, angle: f64| So3::exp(&Vector3::ith(k, angle));
    let rotation = about(2, yaw)
        .compose(&about(1, pitch))
        .compose(&about(0, roll));
    Ok(Se3::new(rotation, Vector3::from(xyz)))
}

fn link(node: Node<'_, '_>) -> Result<Link, String> {
    let name = text(node, "name")?.to_owned();
    let inertial = child(node, "inertial")
        .map(|part| inertial(part, &name))
        .transpose()?;
    let mut collisions = Vec::new();
    for collision in elements(node).filter(|part| part.has_tag_name("collision")) {
        let Some(geometry) = child(collision, "geometry") else {
            return fault(collision, "`collision` needs a `geometry`");
        };
        collisions.push((origin(collision)?, shape(geometry)?));
    }
    Ok(Link {
        name,
        inertial,
        collisions,
    })
}

/// Parses mass, center of mass and inertia of the link called `link`.
fn inertial(node: Node<'_, '_>, link: &str) -> Result<Inertial, String> {
    let Some(given) = child(node, "mass") else {
        return fault(
            node,
            &format!("`inertial` of the link `{link}` needs a `mass`"),
        );
    };
    let mass = number(given, "value")?;
    if mass < 0.0 {
        return fault(
            given,
            &format!("the mass {mass} of the link `{link}` is negative"),
        );
    }
    let mut inertia = Matrix3::zeros();
    if let Some(given) = child(node, "inertia") {
        let entry = |name| number_or(given, name, 0.0);
        let (xy, xz, yz) = (entry("ixy")?, entry("ixz")?, entry("iyz")?);
        inertia = Matrix3::new(
            entry("ixx")?,
            xy,
            xz,
            xy,
            entry("iyy")?,
            yz,
            xz,
            yz,
            entry("izz")?,
        );
    }
    Ok(Inertial {
        mass,
        origin: origin(node)?,
        inertia,
    })
}

fn shape(node: Node<'_, '_>) -> Result<Geometry, String> {
    let Some(shape) = elements(node).next() else {
        return fault(node, "`geometry` is empty");
    };
    match shape.tag_name().name() {
        "box" => match numbers::<3>(shape, "size")? {
            Some(size) => Ok(Geometry::Box(size)),
            None => fault(shape, "`box` needs a `size`"),
        },
        "sphere" => Ok(Geometry::Sphere(number(shape, "radius")?)),
        "cylinder" => Ok(Geometry::Cylinder(
            number(shape, "radius")?,
            number(shape, "length")?,
        )),
        "capsule" => Ok(Geometry::Capsule(
            number(shape, "radius")?,
            number(shape, "length")?,
        )),
        "mesh" => {
            let scale = numbers::<3>(shape, "scale")?.unwrap_or([1.0; 3]);
            Ok(Geometry::Mesh(text(shape, "filename")?.to_owned(), scale))
        }
        other => fault(shape, &format!("unknown geometry `{other}`")),
    }
}

fn joint(node: Node<'_, '_>, notes: &mut Notes) -> Result<Joint, String> {
    let name = text(node, "name")?.to_owned();
    let end = |which| match child(node, which) {
        Some(end) => text(end, "link").map(str::to_owned),
        None => fault(node, &format!("the joint `{name}` needs a `{which}`")),
    };
    let (parent, child_link) = (end("parent")?, end("child")?);
    let kind = text(node, "type")?.to_owned();
    let axis = match child(node, "axis") {
        Some(axis) => numbers::<3>(axis, "xyz")?.unwrap_or([1.0, 0.0, 0.0]),
        None => [1.0, 0.0, 0.0],
    };
    let (limits, effort) = match child(node, "limit") {
        Some(limit) => limit_of(limit, &name, &kind, notes)?,
        None => (None, None),
    };
    for what in ["mimic", "safety_controller", "calibration"] {
        if child(node, what).is_some() {
            notes.tell(what, &name, "not supported");
        }
    }
    let of_dynamics = |attribute: &str| match child(node, "dynamics") {
        Some(dynamics) => number_or(dynamics, attribute, 0.0),
        None => Ok(0.0),
    };
    Ok(Joint {
        damping: of_dynamics("damping")?,
        friction: of_dynamics("friction")?,
        origin: origin(node)?,
        axis: Vector3::from(axis),
        parent,
        child: child_link,
        kind,
        limits,
        effort,
        name,
    })
}

/// Bounds of a coordinate (rad or m), and largest force of its actuator (N m or N).
type Limit = (Option<[f64; 2]>, Option<f64>);

/// Parses the child `limit` of the joint called `joint`, of type `kind`.
fn limit_of(
    node: Node<'_, '_>,
    joint: &str,
    kind: &str,
    notes: &mut Notes,
) -> Result<Limit, String> {
    let lower = numbers::<1>(node, "lower")?.map(|[x]| x);
    let upper = numbers::<1>(node, "upper")?.map(|[x]| x);
    let bounds = [lower.unwrap_or(0.0), upper.unwrap_or(0.0)];
    let [low, high] = bounds;
    let mut limits = None;
    if kind == "revolute" || kind == "prismatic" {
        if low > high {
            let message =
                format!("joint `{joint}`: the limit `lower` = {low} is above `upper` = {high}");
            return fault(node, &message);
        }
        limits = Some(bounds);
    } else if kind == "continuous" && (lower.is_some() || upper.is_some()) {
        let why = "continuous joints have no limits";
        notes.tell("limit", joint, why);
    }
    let effort = numbers::<1>(node, "effort")?.map(|[x]| x);
    match effort {
        Some(most) if most < 0.0 => {
            let message = format!("joint `{joint}`: `effort` = {most} is negative");
            return fault(node, &message);
        }
        Some(0.0) => notes.tell("limit effort", joint, "0 limits no actuator"),
        _ => (),
    }
    if node.has_attribute("velocity") {
        notes.tell("limit velocity", joint, "rates have no limit");
    }
    Ok((limits, effort))
}
