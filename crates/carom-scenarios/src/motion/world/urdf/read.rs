//! Parser of a URDF.

use super::Note;
use carom_lie::{Se3, So3};
use nalgebra::{Matrix3, Vector3};
use roxmltree::{Document, Node};

/// Robot as described in its file.
pub(super) struct Robot {
    pub(super) links: Vec<Link>,
    pub(super) joints: Vec<Joint>,
    pub(super) ignored: Vec<Note>,
}

/// Link of a robot.
pub(super) struct Link {
    pub(super) name: String,
    pub(super) inertial: Option<Inertial>,
    pub(super) collisions: Vec<(Se3, Geometry)>,
}

/// Mass of a link, the pose of its center of mass and axes in the frame of the link, and the inertia in these axes.
pub(super) struct Inertial {
    pub(super) mass: f64,
    pub(super) origin: Se3,
    pub(super) inertia: Matrix3<f64>,
}

/// Shape of a collision element.
pub(super) enum Geometry {
    Box([f64; 3]),
    Sphere(f64),
    /// Cylinder: radius and length (m).
    Cylinder(f64, f64),
    /// Capsule: radius and length of the cylindrical part (m).
    Capsule(f64, f64),
    /// Mesh: address of the file, and scale factors.
    Mesh(String, [f64; 3]),
}

/// Joint between two links.
pub(super) struct Joint {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) parent: String,
    pub(super) child: String,
    /// Pose of the child's frame in the parent's frame at coordinate 0.
    pub(super) origin: Se3,
    pub(super) axis: Vector3<f64>,
    pub(super) limits: Option<[f64; 2]>,
    pub(super) effort: Option<f64>,
    pub(super) damping: f64,
    pub(super) friction: f64,
}

/// Parses the URDF text of a robot to its links and joints. Error messages contain the line number.
pub(super) fn read(text: &str) -> Result<Robot, String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    if !root.has_tag_name("robot") {
        let name = root.tag_name().name();
        return Err(format!("its root element is `{name}`, not `robot`"));
    }
    let mut robot = Robot {
        links: Vec::new(),
        joints: Vec::new(),
        ignored: Vec::new(),
    };
    for node in elements(root) {
        match node.tag_name().name() {
            "link" => robot.links.push(link(node)?),
            "joint" => {
                let joint = joint(node, &mut robot.ignored)?;
                robot.joints.push(joint);
            }
            "material" => (),
            other => {
                let name = node.attribute("name").or(node.attribute("reference"));
                robot
                    .ignored
                    .push(Note::new(other, name.unwrap_or_default(), "not supported"));
            }
        }
    }
    Ok(robot)
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
        None => fault(
            node,
            &format!("`{attribute}` = \"{text}\" is not {N} finite numbers"),
        ),
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
    let inertial = child(node, "inertial").map(inertial).transpose()?;
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

fn inertial(node: Node<'_, '_>) -> Result<Inertial, String> {
    let Some(mass) = child(node, "mass") else {
        return fault(node, "`inertial` needs a `mass`");
    };
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
        mass: number(mass, "value")?,
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

fn joint(node: Node<'_, '_>, ignored: &mut Vec<Note>) -> Result<Joint, String> {
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
    let (mut limits, mut effort) = (None, None);
    if let Some(limit) = child(node, "limit") {
        let bounds = [
            number_or(limit, "lower", 0.0)?,
            number_or(limit, "upper", 0.0)?,
        ];
        if kind == "revolute" || kind == "prismatic" {
            limits = Some(bounds);
        }
        effort = numbers::<1>(limit, "effort")?.map(|[x]| x);
        if limit.has_attribute("velocity") {
            ignored.push(Note::new("limit velocity", &name, "rates have no limit"));
        }
    }
    for what in ["mimic", "safety_controller", "calibration"] {
        if child(node, what).is_some() {
            ignored.push(Note::new(what, &name, "not supported"));
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
