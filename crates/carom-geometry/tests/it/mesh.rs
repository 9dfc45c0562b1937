//! Meshes from lists and files, and what is wrong with them.

use carom_geometry::{GeometryError, MassProperties, MeshFile, Polyhedron, TriangleMesh};
use nalgebra::Vector3;

fn corner() -> (Vec<Vector3<f64>>, Vec<[usize; 3]>) {
    let vertices = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 2.0, 0.0],
        [0.0, 0.0, 3.0],
    ];
    let triangles = vec![[2, 1, 0], [3, 0, 1], [3, 2, 0], [3, 1, 2]];
    (vertices.map(Vector3::from).to_vec(), triangles)
}

#[test]
fn a_closed_outward_mesh_is_accepted() {
    let (vertices, triangles) = corner();
    let mesh = TriangleMesh::new(vertices, triangles).unwrap();
    assert!((mesh.volume() - 1.0).abs() <= 1e-15);
}

#[test]
fn faults_of_meshes_have_names() {
    let (vertices, triangles) = corner();
    let build = |t: Vec<[usize; 3]>| TriangleMesh::new(vertices.clone(), t).unwrap_err();
    let inside_out: Vec<_> = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    assert_eq!(
        build(inside_out),
        GeometryError::InvertedMesh { volume: -1.0 }
    );
    let mut open = triangles.clone();
    open.extend([[0, 1, 2], [0, 1, 3]]);
    assert_eq!(build(open).kind(), "open-mesh");
    let mut twisted = triangles.clone();
    twisted[0].swap(0, 1);
    assert_eq!(build(twisted).kind(), "open-mesh");
    assert_eq!(build(triangles[..3].to_vec()).kind(), "too-few-triangles");
    let mut wild = triangles.clone();
    wild[2][1] = 9;
    let expected = GeometryError::VertexOutOfRange {
        triangle: 2,
        vertex: 9,
        n_vertices: 4,
    };
    assert_eq!(build(wild), expected);
    let mut holes = vertices.clone();
    holes[1].y = f64::INFINITY;
    assert_eq!(
        TriangleMesh::new(holes, triangles).unwrap_err().kind(),
        "non-finite"
    );
}

fn ascii_stl() -> String {
    let (vertices, triangles) = corner();
    let mut text = String::from("solid corner\n");
    for t in triangles {
        text += "facet normal 0 0 0\nouter loop\n";
        for i in t {
            let v = vertices[i];
            text += &format!("vertex {} {} {}\n", v.x, v.y, v.z);
        }
        text += "endloop\nendfacet\n";
    }
    text + "endsolid corner\n"
}

fn binary_stl() -> Vec<u8> {
    let (vertices, triangles) = corner();
    let mut bytes = vec![0u8; 80];
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for t in triangles {
        bytes.extend([0u8; 12]);
        for i in t {
            for x in vertices[i].iter() {
                bytes.extend((*x as f32).to_le_bytes());
            }
        }
        bytes.extend([0u8; 2]);
    }
    bytes
}

const OBJ: &str = "\
o corner
v 0 0 0
v 1 0 0
v 0 2 0
v 0 0 3
f 3 2 1
f 4 1 2
f 4 3 1
f 4 2 3
";

#[test]
fn files_are_read() {
    let (vertices, _) = corner();
    for mesh in [
        TriangleMesh::from_stl(ascii_stl().as_bytes()),
        TriangleMesh::from_stl(&binary_stl()),
        TriangleMesh::from_obj(OBJ.as_bytes()),
    ] {
        let mesh = mesh.unwrap();
        assert!((mesh.volume() - 1.0).abs() <= 1e-15);
        assert_eq!(mesh.vertices().len(), vertices.len());
    }
}

#[test]
fn quadrilaterals_of_an_obj_are_cut() {
    let cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    let mesh = TriangleMesh::from_obj(cube.as_bytes()).unwrap();
    assert_eq!(mesh.triangles().len(), 12);
    assert!((mesh.volume() - 1.0).abs() <= 1e-15);
}

#[test]
fn unreadable_files_are_refused() {
    let text = ascii_stl();
    assert_eq!(
        TriangleMesh::from_stl(&text.as_bytes()[..200])
            .unwrap_err()
            .kind(),
        "mesh-file"
    );
    assert_eq!(TriangleMesh::from_stl(b"").unwrap_err().kind(), "mesh-file");
    assert!(TriangleMesh::from_obj(b"not a mesh").is_err());
    let one_face_less = OBJ.trim_end().rsplit_once('\n').unwrap().0;
    assert!(TriangleMesh::from_obj(one_face_less.as_bytes()).is_err());
}

/// A file that begins with `solid` is binary if its head says so, and may end with bytes of its own.
#[test]
fn a_binary_stl_may_begin_with_solid() {
    let mut bytes = binary_stl();
    bytes[..5].copy_from_slice(b"solid");
    bytes[5..80].fill(b' ');
    bytes.extend([1; 49]);
    let file = MeshFile::from_stl(bytes.as_slice()).unwrap();
    assert_eq!(file, MeshFile::from_stl(ascii_stl().as_bytes()).unwrap());
}

/// Faces below equal names are one object, materials divide none, a seam has one vertex, and a loose vertex is left out.
#[test]
fn objects_of_an_obj_are_parts() {
    let text = "# v 9 9 9\nmtllib none.mtl\nv 9 9 9\no left\nv 0 0 0 1.0\nv 1 0 0\nv 1 1 0\nv 0 0 0\nvt 0 0\nvn 0 0 1\nusemtl red\n\
                f 2/1/1 3//1 4/1 # triangle\no right\ng x y\nf -1 -2 \\\n -3\no empty\no left\nusemtl blue\ns off\nl 1 2\nf 5 4 3\n";
    let file = MeshFile::from_obj(text.as_bytes()).unwrap();
    let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]];
    assert_eq!(file.vertices, corners.map(Vector3::from));
    assert_eq!(file.objects, [vec![[0, 1, 2], [0, 2, 1]], vec![[0, 2, 1]]]);
    assert_eq!(file.parts().len(), 2);
    assert_eq!(file.parts()[1], file.vertices);
    let points = MeshFile::from_obj(&b"v 0 0 0\r\nv 1 0 0\r\nv -0 0 0\r\n"[..]).unwrap();
    assert_eq!(
        points.parts(),
        [corners[..2]
            .iter()
            .copied()
            .map(Vector3::from)
            .collect::<Vec<_>>()]
    );
}

/// Two corners of cubes that touch in a face are closed objects of one mesh.
#[test]
fn objects_that_touch_are_closed_each() {
    let corner = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 3 2 1\nf 4 1 2\nf 4 3 1\nf 4 2 3\n";
    let mirrored = "o b\nv 0 0 0\nv -1 0 0\nv 0 1 0\nv 0 0 1\nf 5 6 7\nf 6 5 8\nf 5 7 8\nf 7 6 8\n";
    let mesh = TriangleMesh::from_obj(format!("o a\n{corner}{mirrored}").as_bytes()).unwrap();
    assert_eq!(mesh.vertices().len(), 8);
    assert!((mesh.volume() - 1.0 / 3.0).abs() < 1e-15);
}

/// Files that lie about themselves are refused with the place and the reason, whatever they claim.
#[test]
fn files_that_lie_are_refused_with_a_reason() {
    let stated = |n: u32| {
        let mut bytes = binary_stl();
        bytes[80..84].copy_from_slice(&n.to_le_bytes());
        bytes
    };
    let mut not_finite = binary_stl();
    not_finite[96..100].copy_from_slice(&f32::NAN.to_le_bytes());
    let text = ascii_stl();
    let long = format!("{}1{}", "v 0 0 0\nf ", " 1".repeat(5_000_002));
    for (is_stl, bytes, reason) in [
        (true, stated(5), "ends after 4 of the 5 triangles"),
        (
            true,
            stated(16_000_000),
            "ends after 4 of the 16000000 triangles",
        ),
        (true, stated(3), "states 3 triangles and has more"),
        (
            true,
            binary_stl()[..83].to_vec(),
            "84 bytes at least, this one 83",
        ),
        (true, not_finite, "triangle 0: vertex NaN 2 0 is not finite"),
        (true, vec![b'x'; 200], "neither binary nor text"),
        (
            true,
            text[..text.len() - 16].into(),
            "ends before `endsolid`",
        ),
        (
            true,
            text.replacen("vertex", "vortex", 1).into(),
            "line 4: `vortex` is unexpected",
        ),
        (
            true,
            text.replacen("endloop", "vertex 1 2 3\nendloop", 1).into(),
            "a facet of 4 vertices",
        ),
        (
            true,
            text.replacen("vertex 0", "vertex 1e999", 1).into(),
            "line 4: vertex inf 2 0 is not finite",
        ),
        (
            true,
            text.replacen("vertex 0", "vertex 0x", 1).into(),
            "line 4: a vertex needs three numbers, `0x` is none",
        ),
        (
            false,
            b"v 1 2\n".to_vec(),
            "line 1: a vertex needs three numbers",
        ),
        (
            false,
            b"v 1 2 3\nf 0 1 1\n".to_vec(),
            "line 2: `0` is no corner",
        ),
        (
            false,
            b"v 1 2 3\nf 1 -2 1\n".to_vec(),
            "`-2` is no corner of a face, there are 1 vertices",
        ),
        (
            false,
            b"v 1 2 3\nf 1 1 99999999999999999999\n".to_vec(),
            "is no corner",
        ),
        (false, b"f 1 2 3\n".to_vec(), "is no corner"),
        (false, Vec::new(), "no vertices"),
        (false, long.into(), "more than 5000000 triangles"),
    ] {
        let read = if is_stl {
            MeshFile::from_stl(bytes.as_slice())
        } else {
            MeshFile::from_obj(bytes.as_slice())
        };
        let message = read.unwrap_err().to_string();
        assert!(message.contains(reason), "{reason}: {message}");
    }
}

/// An L of two boxes: the plane sees its hull, the mass its mesh.
#[test]
fn a_nonconvex_mesh_has_the_mass_of_its_volume() {
    let outline = [
        [0.0, 0.0],
        [2.0, 0.0],
        [2.0, 1.0],
        [1.0, 1.0],
        [1.0, 2.0],
        [0.0, 2.0],
    ];
    let vertices: Vec<_> = [0.0, 1.0]
        .iter()
        .flat_map(|z| outline.iter().map(move |[x, y]| Vector3::new(*x, *y, *z)))
        .collect();
    let top = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
    let mut triangles: Vec<[usize; 3]> = top.map(|[a, b, c]| [c, b, a]).to_vec();
    triangles.extend(top.map(|t| t.map(|i| i + 6)));
    for i in 0..6 {
        let j = (i + 1) % 6;
        triangles.extend([[i, j, j + 6], [i, j + 6, i + 6]]);
    }
    let mesh = TriangleMesh::new(vertices, triangles).unwrap();
    let body = Polyhedron::from_mesh(mesh.clone()).unwrap();
    assert!(!body.is_convex());
    assert_eq!(body.vertices().len(), 10);
    let properties = MassProperties::mesh(&mesh, 3.0).unwrap();
    assert!((properties.center() - Vector3::new(5.0 / 6.0, 5.0 / 6.0, 0.5)).norm() <= 1e-15);
}
