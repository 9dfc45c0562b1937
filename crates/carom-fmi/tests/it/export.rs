//! Exports: the same bytes each time, files beside the configuration, nothing left behind after a fault.

use carom_fmi::{ExportOptions, FmiError, Instance, Version, export, write_resources};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

const WORLD: &str = r#"
[[bodies]]
name = "left ball"
mass = 1.0
shape = { type = "sphere", radius = 0.1 }
position = [0.0, 0.0, 0.4]
"#;

/// Folder with a file of a world, and one that stands for a library.
fn folder(toml: &str) -> (tempfile::TempDir, PathBuf, ExportOptions) {
    let folder = tempfile::tempdir().unwrap();
    let (file, library) = (
        folder.path().join("my world.toml"),
        folder.path().join("library"),
    );
    fs::write(&file, toml).unwrap();
    fs::write(&library, [7; 1000]).unwrap();
    let libraries = vec![("linux64".to_owned(), library)];
    let options = ExportOptions::default().with_libraries(libraries);
    (folder, file, options)
}

/// Names and texts of an archive.
fn entries(file: &Path) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(fs::File::open(file).unwrap()).unwrap();
    let mut out = Vec::new();
    for k in 0..archive.len() {
        let mut entry = archive.by_index(k).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        out.push((
            entry.name().unwrap().into_owned(),
            String::from_utf8(bytes).unwrap_or_default(),
        ));
    }
    out
}

#[test]
fn two_exports_have_the_same_bytes_and_the_files_of_both_versions() {
    let (folder, file, options) = folder(WORLD);
    for (version, binary, name) in [
        (
            Version::Two,
            "binaries/linux64/my_world.so",
            "'left ball'.position[3]",
        ),
        (
            Version::Three,
            "binaries/x86_64-linux/my_world.so",
            "'left ball'.position",
        ),
    ] {
        let options = options.clone().with_version(version);
        let targets = ["a.fmu", "b.fmu"].map(|name| folder.path().join(name));
        for target in &targets {
            export(&file, target, &options).unwrap();
        }
        assert_eq!(
            fs::read(&targets[0]).unwrap(),
            fs::read(&targets[1]).unwrap()
        );
        let entries = entries(&targets[0]);
        let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
        let expected = [
            "modelDescription.xml",
            binary,
            "documentation/licenses/LICENSE-APACHE",
            "documentation/licenses/LICENSE-MIT",
            "resources/carom.json",
            "resources/my world.toml",
        ];
        assert_eq!(names, expected);
        let escaped = name.replace('\'', "&apos;");
        assert!(
            entries[0].1.contains(&format!("name=\"{escaped}\"")),
            "{}",
            entries[0].1
        );
        assert_eq!(entries[5].1, WORLD);
    }
}

/// A robot brings its model and its meshes, wherever they lie beside the configuration, and goes on elsewhere.
#[test]
fn files_that_are_read_are_in_the_unit() {
    let (folder, _, _) = folder(WORLD);
    let root = folder.path().join("robot");
    fs::create_dir_all(root.join("runs")).unwrap();
    fs::create_dir_all(root.join("models")).unwrap();
    let urdf = r#"<robot name="pendulum"><link name="pivot"/>
      <link name="bob"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"/></inertial></link>
      <joint name="hinge" type="continuous"><parent link="pivot"/><child link="bob"/><axis xyz="0 1 0"/></joint></robot>"#;
    fs::write(root.join("models/pendulum.urdf"), urdf).unwrap();
    let file = root.join("runs/drop.toml");
    fs::write(
        &file,
        "[urdf]\nfile = \"../models/pendulum.urdf\"\njoints = { hinge = 0.3 }\n",
    )
    .unwrap();
    let resources = folder.path().join("resources");
    let set = ["duration=0.4".to_owned()];
    let token = write_resources(&file, &set, &resources).unwrap();
    fs::remove_dir_all(&root).unwrap();
    let moved = folder.path().join("elsewhere");
    fs::rename(&resources, &moved).unwrap();
    let mut instance = Instance::new(&moved, &token).unwrap();
    let hinge = instance.find("hinge.position").unwrap();
    assert!((instance.real(hinge).unwrap() - 0.3).abs() <= 1e-12);
    fs::write(
        moved.join("models/pendulum.urdf"),
        urdf.replace("\"1\"", "\"2\""),
    )
    .unwrap();
    assert!(matches!(
        Instance::new(&moved, &token),
        Err(FmiError::Token { .. })
    ));
}

#[test]
fn faults_leave_nothing_behind() {
    let (folder, file, options) = folder(WORLD);
    let target = folder.path().join("a.fmu");
    let none = ExportOptions::default()
        .with_libraries(vec![("linux64".to_owned(), "no-library.so".into())]);
    let write = |name: &str, toml: &str| {
        let path = folder.path().join(name);
        fs::write(&path, toml).unwrap();
        path
    };
    let robot = write(
        "robot.urdf",
        "<robot name=\"r\"><link name=\"a\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\"/></inertial></link></robot>",
    );
    let whole = write(
        "whole.toml",
        &format!("[urdf]\nfile = {:?}\n", robot.display().to_string()),
    );
    let bad = write("bad.toml", "bodies = 3");
    let links = write("links.toml", "scenario = \"mechanism\"");
    let kind = |file: &Path, target: &Path, options: &ExportOptions| {
        export(file, target, options).unwrap_err().kind()
    };
    assert_eq!(kind(&file, &target, &none), "no-library");
    assert_eq!(kind(&links, &target, &options), "not-exportable");
    assert_eq!(kind(&whole, &target, &options), "not-exportable");
    assert_eq!(kind(&bad, &target, &options), "invalid-configuration");
    assert_eq!(
        kind(&folder.path().join("none.toml"), &target, &options),
        "unreadable"
    );
    let nowhere = folder.path().join("nowhere/a.fmu");
    assert_eq!(kind(&file, &nowhere, &options), "unwritable");
    let left = fs::read_dir(folder.path()).unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        (!name.ends_with(".toml") && !name.ends_with(".urdf") && name != "library").then_some(name)
    });
    assert_eq!(left.collect::<Vec<String>>(), [""; 0]);
}
