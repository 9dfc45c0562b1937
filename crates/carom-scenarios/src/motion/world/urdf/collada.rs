//! Vertices of a COLLADA file, in meters.

use nalgebra::{Matrix4, Point3, Rotation3, Translation3, Unit, Vector3};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// Most vertices of a file, with those of geometries that it shows several times.
const MOST_VERTICES: usize = 15_000_000;

/// Most nodes of a scene inside each other.
const MOST_DEPTH: usize = 100;

/// Most nodes that a scene shows, with those that it shows several times.
const MOST_NODES: usize = 100_000;

/// Returns the vertices (m) of the geometries that the visual scenes of a COLLADA file show; of all geometries if it shows none.
/// The axes stay those of the file, as in other readers of robots.
pub(super) fn vertices(text: &str) -> Result<Vec<Vector3<f64>>, String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    if root.tag_name().name() != "COLLADA" {
        return Err(format!(
            "its root element is `{}`, not `COLLADA`",
            root.tag_name().name()
        ));
    }
    let mut by_id = BTreeMap::new();
    for node in root.descendants() {
        if let Some(id) = node.attribute("id") {
            by_id.insert(id, node);
        }
    }
    let unit = match root.descendants().find(|node| is(node, "unit")) {
        Some(unit) => unit.attribute("meter").map_or(Ok(1.0), |text| {
            text.parse()
                .map_err(|_| format!("the unit `{text}` is no number"))
        })?,
        None => 1.0,
    };
    let mut reader = Reader {
        by_id,
        found: Vec::new(),
        n_nodes: 0,
    };
    let start = Matrix4::from_diagonal(&[unit, unit, unit, 1.0].into());
    for scene in root.descendants().filter(|node| is(node, "visual_scene")) {
        reader.scene(scene, &start, 0)?;
    }
    if reader.found.is_empty() {
        for geometry in root.descendants().filter(|node| is(node, "geometry")) {
            reader.geometry(geometry, &start)?;
        }
    }
    Ok(reader.found)
}

fn is(node: &Node<'_, '_>, name: &str) -> bool {
    node.tag_name().name() == name
}

/// Parses the text of an element as finite numbers.
fn numbers(node: Node<'_, '_>) -> Result<Vec<f64>, String> {
    let words = node.text().unwrap_or_default().split_ascii_whitespace();
    words
        .map(|word| {
            let number = word.parse().ok().filter(|x: &f64| x.is_finite());
            number.ok_or_else(|| {
                format!("`{}`: `{word}` is no finite number", node.tag_name().name())
            })
        })
        .collect()
}

struct Reader<'a> {
    by_id: BTreeMap<&'a str, Node<'a, 'a>>,
    found: Vec<Vector3<f64>>,
    n_nodes: usize,
}

impl<'a> Reader<'a> {
    /// Returns the element to which an attribute such as `url="#id"` leads.
    fn target(&self, node: Node<'a, 'a>, attribute: &str) -> Result<Node<'a, 'a>, String> {
        let address = node.attribute(attribute).unwrap_or_default();
        let found = address.strip_prefix('#').and_then(|id| self.by_id.get(id));
        found
            .copied()
            .ok_or_else(|| format!("`{address}` leads to nothing"))
    }

    /// Adds the vertices of the geometries below a node of a scene. `at`: transformation of the node's parent.
    fn scene(&mut self, node: Node<'a, 'a>, at: &Matrix4<f64>, depth: usize) -> Result<(), String> {
        self.n_nodes += 1;
        if depth > MOST_DEPTH || self.n_nodes > MOST_NODES {
            return Err(format!(
                "its scene has more than {MOST_DEPTH} nodes inside each other, or {MOST_NODES} in all"
            ));
        }
        let mut at = *at;
        for part in node.children().filter(Node::is_element) {
            match part.tag_name().name() {
                "matrix" | "translate" | "rotate" | "scale" => at *= transformation(part)?,
                "instance_geometry" => {
                    let geometry = self.target(part, "url")?;
                    self.geometry(geometry, &at)?;
                }
                "instance_node" => {
                    let node = self.target(part, "url")?;
                    self.scene(node, &at, depth + 1)?;
                }
                "node" => self.scene(part, &at, depth + 1)?,
                _ => (),
            }
        }
        Ok(())
    }

    /// Adds the vertices of one geometry.
    fn geometry(&mut self, geometry: Node<'a, 'a>, at: &Matrix4<f64>) -> Result<(), String> {
        let inputs = geometry
            .descendants()
            .filter(|node| is(node, "input") && node.attribute("semantic") == Some("POSITION"));
        for input in inputs {
            let source = self.target(input, "source")?;
            let array = source.descendants().find(|node| is(node, "float_array"));
            let Some(array) = array else {
                return Err("a `source` has no `float_array`".to_owned());
            };
            let stride = source.descendants().find(|node| is(node, "accessor"));
            let stride = stride
                .and_then(|node| node.attribute("stride")?.parse().ok())
                .unwrap_or(3);
            let list = numbers(array)?;
            if stride < 3 || self.found.len() + list.len() / stride > MOST_VERTICES {
                return Err(format!(
                    "a stride below 3, or more than {MOST_VERTICES} vertices"
                ));
            }
            for point in list.chunks_exact(stride) {
                let point = at.transform_point(&Point3::new(point[0], point[1], point[2]));
                self.found.push(point.coords);
            }
        }
        Ok(())
    }
}

/// Returns the matrix of an element that moves a node of a scene.
fn transformation(node: Node<'_, '_>) -> Result<Matrix4<f64>, String> {
    let list = numbers(node)?;
    Ok(match (node.tag_name().name(), list.as_slice()) {
        ("matrix", all) if all.len() == 16 => Matrix4::from_row_slice(all),
        ("translate", [x, y, z]) => Translation3::new(*x, *y, *z).to_homogeneous(),
        ("scale", [x, y, z]) => Matrix4::new_nonuniform_scaling(&Vector3::new(*x, *y, *z)),
        ("rotate", [x, y, z, degrees]) => {
            let axis = Unit::try_new(Vector3::new(*x, *y, *z), 0.0);
            let axis = axis.ok_or_else(|| "`rotate` has no axis".to_owned())?;
            Rotation3::from_axis_angle(&axis, degrees.to_radians()).to_homogeneous()
        }
        (name, all) => return Err(format!("`{name}` has {} numbers", all.len())),
    })
}
