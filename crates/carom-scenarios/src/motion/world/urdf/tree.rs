//! Grouping of links that are rigidly connected by `fixed` joints, from the root outward.

use super::model::{Link, Model};
use carom_lie::Se3;
use nalgebra::{Matrix3, Vector3};
use std::collections::{BTreeMap, BTreeSet};

/// Group of rigidly connected links, which becomes one body.
pub(super) struct Group {
    /// Link nearest to the root; its frame is the frame of the group.
    pub(super) root: usize,
    /// Links with their poses in the group's frame.
    pub(super) members: Vec<(usize, Se3)>,
    /// Joint that connects the group to its parent; `None` for the root group.
    pub(super) joint: Option<usize>,
    pub(super) mass: f64,
    /// Center of mass in the group's frame (m).
    pub(super) center: Vector3<f64>,
    /// Inertia about the center of mass in the group's axes (kg m²).
    pub(super) inertia: Matrix3<f64>,
}

/// All groups, from the root outward, and the group of each link.
pub(super) struct Tree {
    pub(super) groups: Vec<Group>,
    /// Group of each link, and pose of the link in the group's frame.
    pub(super) places: Vec<(usize, Se3)>,
}

/// Sorts the links of a robot into groups that move as one body, because fixed joints connect them. Returns an error if the
/// joints do not form a tree.
pub(super) fn tree(model: &Model) -> Result<Tree, String> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, link) in model.links.iter().enumerate() {
        if known.insert(&link.name, i).is_some() {
            return Err(format!("two links are called `{}`", link.name));
        }
    }
    let mut joints = BTreeSet::new();
    for joint in &model.joints {
        if !joints.insert(&joint.name) {
            return Err(format!("two joints are called `{}`", joint.name));
        }
    }
    let mut below: Vec<Vec<(usize, usize)>> = vec![Vec::new(); model.links.len()];
    let mut carried = vec![false; model.links.len()];
    for (j, joint) in model.joints.iter().enumerate() {
        let find = |name: &str| {
            let found = known.get(name).copied();
            found.ok_or_else(|| format!("joint `{}`: no link is called `{name}`", joint.name))
        };
        let (parent, child) = (find(&joint.parent)?, find(&joint.child)?);
        if carried[child] {
            return Err(format!(
                "the link `{}` is the child of two joints",
                joint.child
            ));
        }
        carried[child] = true;
        below[parent].push((j, child));
    }
    let mut roots = (0..model.links.len()).filter(|i| !carried[*i]);
    let Some(root) = roots.next() else {
        return Err("it has no root link".to_owned());
    };
    if let Some(other) = roots.next() {
        let (a, b) = (&model.links[root].name, &model.links[other].name);
        return Err(format!("it has two root links, `{a}` and `{b}`"));
    }
    let mut groups = vec![Group::new(root, None)];
    let mut places = vec![(usize::MAX, Se3::identity()); model.links.len()];
    places[root] = (0, Se3::identity());
    let mut queue = vec![root];
    let mut next = 0;
    while let Some(&link) = queue.get(next) {
        next += 1;
        let (group, pose) = places[link];
        for &(j, child) in &below[link] {
            let joint = &model.joints[j];
            if joint.kind == "fixed" {
                let at = pose.compose(&joint.origin);
                groups[group].members.push((child, at));
                places[child] = (group, at);
            } else {
                places[child] = (groups.len(), Se3::identity());
                groups.push(Group::new(child, Some(j)));
            }
            queue.push(child);
        }
    }
    if let Some(lost) = places.iter().position(|(group, _)| *group == usize::MAX) {
        let name = &model.links[lost].name;
        return Err(format!("the link `{name}` hangs on a loop of joints"));
    }
    for group in &mut groups {
        group.weigh(&model.links);
    }
    Ok(Tree { groups, places })
}

impl Group {
    fn new(root: usize, joint: Option<usize>) -> Self {
        Self {
            root,
            members: vec![(root, Se3::identity())],
            joint,
            mass: 0.0,
            center: Vector3::zeros(),
            inertia: Matrix3::zeros(),
        }
    }

    /// Computes mass (kg), center of mass and inertia of a group of links that move as one body. `links`: all links of the
    /// model.
    fn weigh(&mut self, links: &[Link]) {
        let parts: Vec<_> = self
            .members
            .iter()
            .filter_map(|(link, pose)| {
                let inertial = links[*link].inertial.as_ref()?;
                Some((inertial, pose.compose(&inertial.origin)))
            })
            .collect();
        self.mass = parts.iter().map(|(part, _)| part.mass).sum();
        if self.mass <= 0.0 {
            return;
        }
        let moment: Vector3<f64> = parts.iter().map(|(p, at)| at.translation * p.mass).sum();
        self.center = moment / self.mass;
        for (part, at) in parts {
            let turn = at.rotation.matrix();
            let off = at.translation - self.center;
            let spread = Matrix3::identity() * off.norm_squared() - off * off.transpose();
            self.inertia += turn * part.inertia * turn.transpose() + spread * part.mass;
        }
        self.inertia = (self.inertia + self.inertia.transpose()) * 0.5;
    }
}
