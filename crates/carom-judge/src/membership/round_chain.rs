//! Chains in round friction cones, given by their normal impulses; the friction impulses of each step are computed.

use super::chain::{Chain, Edges};
use carom_lcp::contact_problem::{
    self, Block, ContactMode, ContactProblem, Kind, Member, Operator, Workspace,
};
use carom_metric::kernel;

/// Number of rows of a contact.
pub(super) const WIDTH: usize = 3;

/// Chain given by the scaled normal impulses, one per contact in each step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RoundChain {
    pub(super) normals: Vec<Vec<f64>>,
}

/// Impulses and velocities along a chain.
#[derive(Clone, Debug, Default)]
pub(super) struct Path {
    /// Scaled impulses on the slots of each step.
    pub(super) impulses: Vec<Vec<f64>>,
    /// Slot velocities after each step.
    pub(super) after: Vec<Vec<f64>>,
    pub(super) modes: Vec<Vec<ContactMode>>,
    /// Largest velocity by which a condition or the end is missed.
    pub(super) missed: f64,
}

impl RoundChain {
    /// Creates a chain of impulse steps from the normal impulses of a sample, and appends a last step without impulses.
    /// `edges` holds the friction cones and contact velocities of the problem. Each entry of `steps` has the impulses
    /// along all contact rows in one step; steps in which no contact pushes are left out.
    pub(super) fn new(edges: &Edges, steps: &[Vec<f64>]) -> Self {
        let normals = |step: &Vec<f64>| -> Vec<f64> {
            let normals = step.iter().step_by(WIDTH);
            normals.map(|l| l.max(0.0)).collect()
        };
        let mut normals: Vec<Vec<f64>> = steps.iter().map(normals).collect();
        normals.retain(|step| step.iter().any(|l| *l > 0.0));
        normals.push(vec![0.0; edges.n_contacts()]);
        Self { normals }
    }

    /// Computes the friction impulses and the velocities of every step of the chain from the normal impulses. The
    /// iteration starts from `near`, the impulses and velocities of a similar chain with equally many steps. `None` if
    /// the friction impulses of a step are not found. `edges` holds the friction cones and contact velocities of the
    /// problem, `cone` is the workspace of the friction solver, and `work` counts multiply-adds.
    pub(super) fn follow(
        &self,
        edges: &Edges,
        near: Option<&Path>,
        cone: &mut Workspace,
        work: &mut u64,
    ) -> Option<Path> {
        let space = &edges.space;
        let mut path = Path::default();
        let mut velocity = edges.before.clone();
        let stiffest = kernel::max_abs(space.gram.as_slice());
        for (step, normals) in self.normals.iter().enumerate() {
            if normals.iter().all(|l| *l == 0.0) {
                path.impulses.push(vec![0.0; velocity.len()]);
                path.modes.push(vec![ContactMode::Open; normals.len()]);
                path.after.push(velocity.clone());
                continue;
            }
            // Contacts are made to approach so fast that each pushes as much as its cap allows; the cap is the given
            // normal impulse.
            let made = normals.iter().zip(&space.friction);
            let made: f64 = made.map(|(l, friction)| l * (1.0 + friction)).sum();
            let speed = 2.0 * (kernel::norm(&velocity) + made * stiffest);
            let mut pressed = velocity.clone();
            pressed.iter_mut().step_by(WIDTH).for_each(|b| *b -= speed);
            let near = near.and_then(|near| near.impulses.get(step));
            let near = near.filter(|impulse| impulse.iter().any(|l| *l != 0.0));
            let cubic = (space.n_slots() as u64).pow(3);
            let blocks = |start: Option<&Vec<f64>>| -> Vec<Block> {
                let contacts = normals.iter().zip(&space.friction).enumerate();
                let block = |(i, (cap, friction)): (usize, (&f64, &f64))| Block {
                    cap: *cap,
                    preload: start.map_or([0.0; 3], |l| [0, 1, 2].map(|k| l[i * WIDTH + k])),
                    ..Block::new(Kind::Round, *friction)
                };
                contacts.map(block).collect()
            };
            let mut found = None;
            for start in near.map(Some).into_iter().chain([None]) {
                let blocks = blocks(start);
                let gram = Operator::Dense(space.gram.as_slice());
                let problem = ContactProblem::new(gram, &blocks, &pressed).ok()?;
                *work += cubic;
                if let Ok(solution) = contact_problem::solve(&problem, Member::Any, cone) {
                    *work += solution.steps * cubic;
                    found = Some((solution.impulse.clone(), solution.modes.clone()));
                    break;
                }
            }
            let (mut impulse, modes) = found?;
            for (l, normal) in impulse.chunks_exact_mut(WIDTH).zip(normals) {
                l[0] = *normal;
                if *normal == 0.0 {
                    l.fill(0.0);
                }
            }
            let after = edges.after(&velocity, &impulse);
            velocity.clone_from(&after);
            path.impulses.push(impulse);
            path.modes.push(modes);
            path.after.push(after);
        }
        path.missed = self.missed(edges, &path);
        Some(path)
    }

    fn missed(&self, edges: &Edges, path: &Path) -> f64 {
        let mut worst = 0.0;
        let mut miss = |x: f64| worst = kernel::larger(worst, x);
        for (normals, velocity) in self.normals.iter().zip(&path.after) {
            for (l, b) in normals.iter().zip(velocity.iter().step_by(WIDTH)) {
                if *l > 0.0 {
                    miss(*b);
                }
            }
        }
        let end = path.after.last().unwrap_or(&edges.before);
        for (x, target) in end.iter().zip(&edges.target) {
            miss((x - target).abs());
        }
        worst
    }
}

impl Path {
    /// Converts the path to a chain without the steps in which no contact pushes.
    pub(super) fn into_chain(self) -> Chain {
        let mut steps = self.impulses;
        steps.retain(|step| step.iter().any(|l| *l != 0.0));
        steps
    }
}
