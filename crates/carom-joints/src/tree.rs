//! The spanning tree of bodies and joints.

use crate::joint::Joint;

/// Node of the spanning tree of a multibody system: a body, and the joint that connects it towards the root.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Branch {
    /// Index of the mobile body.
    pub body: usize,
    /// Index of the joint that connects the body towards the root of the tree; `None` for a root without joint.
    pub joint: Option<usize>,
    /// Index of the body on the other side of that joint; `None` for the ground or a fixed body.
    pub towards: Option<usize>,
    /// True if the body is the joint's child, false if its parent.
    pub is_child: bool,
    /// Index of the tree that contains the body; trees do not connect through the ground.
    pub tree: usize,
}

/// Spanning tree of the mobile bodies of a multibody system, with the joints as edges. Joints are added in their order if
/// they connect bodies that were not connected before; the other joints close loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Mobile bodies with their joints, ordered such that each body comes after the body on the other side of its joint.
    pub branches: Vec<Branch>,
    /// Indices of the joints that close loops, in ascending order.
    pub loops: Vec<usize>,
    /// Position of each body in `branches`; `None` if the body is fixed.
    pub place: Vec<Option<usize>>,
}

impl Tree {
    /// Builds the spanning tree of a multibody system from its joints. `mobile` has one entry per body, true if the body can
    /// move.
    pub fn new(mobile: &[bool], joints: &[Joint]) -> Self {
        let n = mobile.len();
        // The ground and all fixed bodies together are the last node.
        let node = |body: Option<usize>| body.filter(|b| mobile[*b]).unwrap_or(n);
        let mut sets: Vec<usize> = (0..=n).collect();
        let mut links: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n + 1];
        let mut loops = Vec::new();
        for (j, joint) in joints.iter().enumerate() {
            if joint.kind.conditions.is_empty() {
                continue;
            }
            let (a, b) = (node(joint.parent), node(Some(joint.child)));
            let (ra, rb) = (find(&mut sets, a), find(&mut sets, b));
            if ra == rb {
                loops.push(j);
            } else {
                sets[ra] = rb;
                links[a].push((j, b));
                links[b].push((j, a));
            }
        }
        let mut tree = Self {
            branches: Vec::new(),
            loops,
            place: vec![None; n],
        };
        let mut trees = 0;
        for &(joint, body) in &links[n] {
            tree.grow(&links, joints, body, Some(joint), trees);
            trees += 1;
        }
        for (body, is_mobile) in mobile.iter().enumerate() {
            if *is_mobile && tree.place[body].is_none() {
                tree.grow(&links, joints, body, None, trees);
                trees += 1;
            }
        }
        tree
    }

    /// Adds a tree to the list of branches: the body `root`, and all bodies that joints connect to it directly or through others.
    /// `links`: joints and neighbors of each body; `joint`: joint that connects the root to the ground, if any; `tree`: number of
    /// the tree.
    fn grow(
        &mut self,
        links: &[Vec<(usize, usize)>],
        joints: &[Joint],
        root: usize,
        joint: Option<usize>,
        tree: usize,
    ) {
        let ground = links.len() - 1;
        let mut waiting = vec![(root, joint, None)];
        while let Some((body, joint, towards)) = waiting.pop() {
            self.place[body] = Some(self.branches.len());
            self.branches.push(Branch {
                body,
                joint,
                towards,
                is_child: joint.is_none_or(|j| joints[j].child == body),
                tree,
            });
            for &(next, other) in links[body].iter().rev() {
                if other != ground && self.place[other].is_none() {
                    waiting.push((other, Some(next), Some(body)));
                }
            }
        }
    }
}

fn find(sets: &mut [usize], mut node: usize) -> usize {
    while sets[node] != node {
        sets[node] = sets[sets[node]];
        node = sets[node];
    }
    node
}
