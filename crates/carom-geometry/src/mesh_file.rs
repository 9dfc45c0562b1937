//! Reader of mesh files: STL, binary or text, and OBJ.
//!
//! Files are read as a stream. Memory is bounded by [`MOST_TRIANGLES`], not by a count that the file states.

use crate::{GeometryError, TriangleMesh};
use nalgebra::Vector3;
use std::collections::BTreeMap;
use std::io::{BufRead, Read};

/// Largest number of triangles of a file; with their corners they take less than a gigabyte.
const MOST_TRIANGLES: usize = 5_000_000;

/// Length of the head of a binary STL: 80 bytes of comment and the number of triangles.
const STL_HEAD: usize = 84;

/// Length of a triangle in a binary STL: normal, three corners, and two bytes of attributes.
const STL_TRIANGLE: usize = 50;

/// Marks a vertex that no triangle has used so far.
const UNUSED: usize = usize::MAX;

/// Vertices and triangles of a mesh file, closed or not. Equal vertices are merged, and a vertex that no triangle uses is left
/// out, unless the file has no triangles at all.
///
/// # Examples
///
/// The faces of an OBJ are cut into triangles; a negative index counts from the last vertex:
///
/// ```
/// use carom_geometry::MeshFile;
/// let text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1\n";
/// let file = MeshFile::from_obj(text.as_bytes())?;
/// assert_eq!((file.vertices.len(), file.triangles().count()), (4, 2));
/// # Ok::<(), carom_geometry::GeometryError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshFile {
    /// Vertices (m), in the order in which the triangles use them.
    pub vertices: Vec<Vector3<f64>>,
    /// Triangles of each object, as three indices of vertices. An STL is one object; in an OBJ, the faces below lines `o` and
    /// `g` with equal names are one object.
    pub objects: Vec<Vec<[usize; 3]>>,
}

impl MeshFile {
    /// Reads an STL file, binary or text. A binary file may begin with the word `solid`: it is recognized by the number of its
    /// triangles, which has a zero byte.
    ///
    /// # Errors
    ///
    /// [`GeometryError::MeshFile`].
    pub fn from_stl(mut input: impl BufRead) -> Result<Self, GeometryError> {
        let mut head = Vec::with_capacity(STL_HEAD);
        let limit = STL_HEAD as u64;
        let read = input.by_ref().take(limit).read_to_end(&mut head);
        read.map_err(|error| fault(error.to_string()))?;
        let raw = if head.contains(&0) {
            binary_stl(&head, input)?
        } else {
            text_stl(head.as_slice().chain(input))?
        };
        raw.finish()
    }

    /// Reads an OBJ file: its vertices and faces with any number of corners. Texture coordinates, normals, materials, lines and
    /// points are left out.
    ///
    /// # Errors
    ///
    /// [`GeometryError::MeshFile`].
    pub fn from_obj(input: impl BufRead) -> Result<Self, GeometryError> {
        obj(input)?.finish()
    }

    /// Iterates over the triangles of all objects.
    pub fn triangles(&self) -> impl Iterator<Item = &[usize; 3]> {
        self.objects.iter().flatten()
    }

    /// Returns the points (m) of each object, whose convex hulls are the parts of a body. A file without triangles is one object.
    #[must_use]
    pub fn parts(&self) -> Vec<Vec<Vector3<f64>>> {
        if self.objects.is_empty() {
            return vec![self.vertices.clone()];
        }
        let part = |triangles: &Vec<[usize; 3]>| {
            let used = used(triangles).into_iter();
            used.map(|i| self.vertices[i]).collect()
        };
        self.objects.iter().map(part).collect()
    }

    /// Converts the triangles of all objects to one closed mesh. Objects that touch share no vertices in it.
    ///
    /// # Errors
    ///
    /// The errors of [`TriangleMesh::new`].
    pub fn close(self) -> Result<TriangleMesh, GeometryError> {
        let Self {
            vertices,
            mut objects,
        } = self;
        if objects.len() < 2 {
            return TriangleMesh::new(vertices, objects.pop().unwrap_or_default());
        }
        let mut own = Vec::new();
        for triangles in &mut objects {
            let (used, first) = (used(triangles), own.len());
            own.extend(used.iter().map(|&i| vertices[i]));
            for corner in triangles.iter_mut().flatten() {
                *corner = first + used.binary_search(corner).unwrap_or_default();
            }
        }
        TriangleMesh::new(own, objects.concat())
    }
}

/// Returns the vertices that triangles use, in ascending order.
fn used(triangles: &[[usize; 3]]) -> Vec<usize> {
    let mut used: Vec<usize> = triangles.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    used
}

/// Vertices and triangles as the file has them.
#[derive(Default)]
struct Raw {
    vertices: Vec<Vector3<f64>>,
    objects: Vec<Vec<[usize; 3]>>,
    n_triangles: usize,
}

impl Raw {
    fn vertex(&mut self, point: [f64; 3], place: &dyn Fn() -> String) -> Result<(), GeometryError> {
        if !point.iter().all(|x| x.is_finite()) {
            let [x, y, z] = point;
            return Err(fault(format!(
                "{}: vertex {x} {y} {z} is not finite",
                place()
            )));
        }
        if self.vertices.len() >= 3 * MOST_TRIANGLES {
            return Err(fault(format!("more than {} vertices", 3 * MOST_TRIANGLES)));
        }
        // Adding zero removes the sign of a zero, so that equal vertices have equal bits.
        self.vertices.push(Vector3::from(point.map(|x| x + 0.0)));
        Ok(())
    }

    fn triangle(&mut self, object: usize, corners: [usize; 3]) -> Result<(), GeometryError> {
        if self.n_triangles >= MOST_TRIANGLES {
            return Err(fault(format!("more than {MOST_TRIANGLES} triangles")));
        }
        self.n_triangles += 1;
        if let Some(triangles) = self.objects.get_mut(object) {
            triangles.push(corners);
        }
        Ok(())
    }

    /// Merges equal vertices, and numbers those that triangles use in the order of their first use.
    fn finish(self) -> Result<MeshFile, GeometryError> {
        if self.vertices.is_empty() {
            return Err(fault("it has no vertices".to_owned()));
        }
        let mut objects = self.objects;
        objects.retain(|triangles| !triangles.is_empty());
        let first = first_equal(&self.vertices);
        let mut number = vec![UNUSED; first.len()];
        let mut vertices = Vec::new();
        let mut renumber = |corner: usize| {
            let at = &mut number[first[corner]];
            if *at == UNUSED {
                *at = vertices.len();
                vertices.push(self.vertices[corner]);
            }
            *at
        };
        if objects.is_empty() {
            (0..first.len()).for_each(|corner| {
                renumber(corner);
            });
        }
        for corner in objects.iter_mut().flatten().flatten() {
            *corner = renumber(*corner);
        }
        Ok(MeshFile { vertices, objects })
    }
}

/// Returns for each point the index of the first point that is equal to it.
fn first_equal(points: &[Vector3<f64>]) -> Vec<usize> {
    let key = |i: usize| <[u64; 3]>::from(points[i].map(f64::to_bits));
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_unstable_by_key(|&i| (key(i), i));
    let mut first = vec![0; points.len()];
    let mut current: Option<([u64; 3], usize)> = None;
    for i in order {
        let own = key(i);
        let known = current.filter(|(key, _)| *key == own);
        let (_, earliest) = known.unwrap_or((own, i));
        current = Some((own, earliest));
        first[i] = earliest;
    }
    first
}

fn fault(message: String) -> GeometryError {
    GeometryError::MeshFile { message }
}

fn binary_stl(head: &[u8], mut input: impl Read) -> Result<Raw, GeometryError> {
    let count = head
        .get(80..STL_HEAD)
        .and_then(|b| <[u8; 4]>::try_from(b).ok());
    let Some(count) = count.map(u32::from_le_bytes) else {
        let message = format!(
            "a binary STL has {STL_HEAD} bytes at least, this one {}",
            head.len()
        );
        return Err(fault(message));
    };
    let mut raw = Raw {
        objects: vec![Vec::new()],
        ..Raw::default()
    };
    let mut bytes = Vec::with_capacity(STL_TRIANGLE);
    for k in 0..count {
        bytes.clear();
        let read = input
            .by_ref()
            .take(STL_TRIANGLE as u64)
            .read_to_end(&mut bytes);
        read.map_err(|error| fault(error.to_string()))?;
        if bytes.len() < STL_TRIANGLE {
            let message =
                format!("the file ends after {k} of the {count} triangles that it states");
            return Err(fault(message));
        }
        let number = |i: usize| {
            let four = bytes
                .get(4 * i..4 * i + 4)
                .and_then(|b| <[u8; 4]>::try_from(b).ok());
            four.map_or(f64::NAN, |four| f64::from(f32::from_le_bytes(four)))
        };
        let start = raw.vertices.len();
        for corner in 1..4 {
            let point = [0, 1, 2].map(|axis| number(3 * corner + axis));
            raw.vertex(point, &|| format!("triangle {k}"))?;
        }
        raw.triangle(0, [start, start + 1, start + 2])?;
    }
    bytes.clear();
    let rest = input.take(STL_TRIANGLE as u64).read_to_end(&mut bytes);
    rest.map_err(|error| fault(error.to_string()))?;
    if bytes.len() == STL_TRIANGLE {
        let message = format!("the file states {count} triangles and has more");
        return Err(fault(message));
    }
    Ok(raw)
}

/// Calls `each` with the number (from 1) and the text of every line of a file, without blanks around the line. A backslash at
/// the end continues a line if `continues` is true.
fn lines(
    mut input: impl BufRead,
    continues: bool,
    mut each: impl FnMut(usize, &str) -> Result<(), GeometryError>,
) -> Result<(), GeometryError> {
    let (mut bytes, mut number, mut start) = (Vec::new(), 0, 0);
    loop {
        let read = input.read_until(b'\n', &mut bytes);
        let is_end = read.map_err(|error| fault(error.to_string()))? == 0;
        number += 1;
        if continues && !is_end {
            let end = bytes.trim_ascii_end().len();
            if let Some(last @ b'\\') = end.checked_sub(1).and_then(|at| bytes.get_mut(at)) {
                *last = b' ';
                bytes.truncate(end);
                continue;
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim();
        if !text.is_empty() {
            each(start + 1, text)?;
        }
        if is_end {
            return Ok(());
        }
        start = number;
        bytes.clear();
    }
}

/// Parses the next three words as numbers.
fn point<'t>(
    line: usize,
    words: &mut impl Iterator<Item = &'t str>,
) -> Result<[f64; 3], GeometryError> {
    let mut all = [0.0; 3];
    for x in &mut all {
        let word = words.next().unwrap_or_default();
        *x = word.parse().map_err(|_| {
            fault(format!(
                "line {line}: a vertex needs three numbers, `{word}` is none"
            ))
        })?;
    }
    Ok(all)
}

fn text_stl(input: impl BufRead) -> Result<Raw, GeometryError> {
    let mut raw = Raw {
        objects: vec![Vec::new()],
        ..Raw::default()
    };
    let (mut is_solid, mut has_begun, mut loop_start) = (false, false, None);
    lines(input, false, |line, text| {
        let mut words = text.split_whitespace();
        let word = words.next().unwrap_or_default().to_ascii_lowercase();
        let unexpected = || {
            Err(fault(format!(
                "line {line}: `{word}` is unexpected in an STL"
            )))
        };
        match word.as_str() {
            "solid" if !is_solid => (is_solid, has_begun) = (true, true),
            _ if !has_begun => {
                let message = "neither binary nor text that begins with `solid`";
                return Err(fault(message.to_owned()));
            }
            "endsolid" if is_solid && loop_start.is_none() => is_solid = false,
            "facet" | "endfacet" if is_solid && loop_start.is_none() => (),
            "outer" if is_solid && loop_start.is_none() => loop_start = Some(raw.vertices.len()),
            "vertex" if loop_start.is_some() => {
                let point = point(line, &mut words)?;
                raw.vertex(point, &|| format!("line {line}"))?;
            }
            "endloop" => match loop_start.take() {
                Some(start) if raw.vertices.len() == start + 3 => {
                    raw.triangle(0, [start, start + 1, start + 2])?;
                }
                Some(start) => {
                    let n = raw.vertices.len() - start;
                    return Err(fault(format!(
                        "line {line}: a facet of {n} vertices, not 3"
                    )));
                }
                None => return unexpected(),
            },
            _ => return unexpected(),
        }
        Ok(())
    })?;
    if is_solid || !has_begun {
        return Err(fault("the file ends before `endsolid`".to_owned()));
    }
    Ok(raw)
}

fn obj(input: impl BufRead) -> Result<Raw, GeometryError> {
    let mut raw = Raw::default();
    let (mut object, mut group) = (String::new(), String::new());
    let mut known: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut current = None;
    let mut corners = Vec::new();
    lines(input, true, |line, text| {
        let text = text.split('#').next().unwrap_or_default();
        let mut words = text.split_whitespace();
        match words.next().unwrap_or_default() {
            "v" => {
                let point = point(line, &mut words)?;
                raw.vertex(point, &|| format!("line {line}"))?;
            }
            "o" => {
                (object, group) = (words.collect::<Vec<_>>().join(" "), String::new());
                current = None;
            }
            "g" => {
                group = words.collect::<Vec<_>>().join(" ");
                current = None;
            }
            "f" => {
                let at = *current.get_or_insert_with(|| {
                    let new = known.len();
                    *known.entry((object.clone(), group.clone())).or_insert(new)
                });
                raw.objects.resize_with(known.len(), Vec::new);
                corners.clear();
                for word in words {
                    corners.push(corner(line, word, raw.vertices.len())?);
                }
                // A face of two corners or one has no area.
                for k in 2..corners.len() {
                    raw.triangle(at, [corners[0], corners[k - 1], corners[k]])?;
                }
            }
            _ => (),
        }
        Ok(())
    })?;
    Ok(raw)
}

/// Returns the vertex index of a corner of a face, such as `7`, `7/1`, `7//3` or `-1`. `n_vertices` is the number of vertices
/// above the face.
fn corner(line: usize, word: &str, n_vertices: usize) -> Result<usize, GeometryError> {
    let first = word.split('/').next().unwrap_or_default();
    let index = first.parse::<i64>().ok().and_then(|index| match index {
        0 => None,
        1.. => usize::try_from(index - 1).ok(),
        _ => usize::try_from(index.unsigned_abs())
            .ok()
            .and_then(|back| n_vertices.checked_sub(back)),
    });
    index.filter(|index| *index < n_vertices).ok_or_else(|| {
        fault(format!(
            "line {line}: `{word}` is no corner of a face, there are {n_vertices} vertices above"
        ))
    })
}
