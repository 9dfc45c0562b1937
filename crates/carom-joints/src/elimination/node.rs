//! One body of the tree with its joint towards the root, by the elimination that suits its rows.

use super::dual::Dual;
use super::hinged::{Hinged, Joint};
use super::inertia::{Inertia, Twist};
use super::lower::Lower;
use super::passed::{Scratch, Trace};
use crate::frames::Row;
use nalgebra::{Matrix3, Vector6};

/// Factored equations of one body with its joint towards the root, with memory for each kind of elimination.
#[derive(Clone, Debug)]
pub(super) struct Node {
    kind: Kind,
    free: Lower<6>,
    hinged: Hinged,
    dual: Option<Box<Dual>>,
}

/// Kind of elimination of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A root without joint: only its inertia is factored.
    Free,
    /// A joint with three forces and three couples as rows: by free directions.
    Hinged,
    /// Any other rows: row by row.
    Dual,
}

impl Node {
    pub(super) fn new() -> Self {
        Self {
            kind: Kind::Free,
            free: Lower::zero(),
            hinged: Hinged::new(),
            dual: None,
        }
    }

    /// Returns the number of rows of this node's joint that are part of the linear equations: joint conditions and
    /// compliant rows.
    pub(super) fn n_rows(&self) -> usize {
        match self.kind {
            Kind::Free => 0,
            Kind::Hinged => self.hinged.n_used,
            Kind::Dual => self.dual.as_ref().map_or(0, |node| node.n),
        }
    }

    /// Returns the numbers of entries in use in the two lists of a [`Trace`], the response of this body and its joint to an
    /// impulse.
    pub(super) fn sizes(&self) -> [usize; 2] {
        match (self.kind, &self.dual) {
            (Kind::Hinged, _) => [self.hinged.n_free, 0],
            (Kind::Dual, Some(node)) => [6, node.n],
            _ => [6, 0],
        }
    }

    /// Factors the inertia of a body without joint, which is the root of its tree. Returns false if the inertia is not positive
    /// definite.
    pub(super) fn free(&mut self, inertia: &Inertia) -> bool {
        self.kind = Kind::Free;
        let lower = Lower::factor(inertia.dense().data.0);
        self.free = lower.unwrap_or_else(Lower::zero);
        lower.is_some()
    }

    /// Factors the equations of this body with its joint towards the root of the tree. Returns false if the rows of the joint are
    /// dependent. `compliance`: rate that a unit impulse gives to each row; `turns`: rotation matrices of this body and of the
    /// body towards the root; `inertia`: inertia of this body with all bodies connected outward; `towards`: inertia of the body
    /// towards the root, to which the part that the joint transmits is added.
    pub(super) fn join(
        &mut self,
        joint: &Joint,
        rows: &[Row],
        compliance: &[f64],
        turns: [&Matrix3<f64>; 2],
        inertia: &Inertia,
        towards: Option<&mut Inertia>,
    ) -> bool {
        if self.hinged.take(joint, rows, compliance) {
            self.kind = Kind::Hinged;
            return self.hinged.factor(inertia, towards);
        }
        self.kind = Kind::Dual;
        let node = self.dual.get_or_insert_with(|| Box::new(Dual::new()));
        node.clear();
        let [own, other] = turns;
        for (k, row) in rows.iter().enumerate() {
            let index = joint.first + k;
            if compliance[index].is_infinite() {
                continue;
            }
            let (here, there) = if joint.is_child {
                (&row.child, &row.parent)
            } else {
                (&row.parent, &row.child)
            };
            let dense = |entries: &Vector6<f64>, turn| {
                Vector6::from(Twist::from_body(entries, turn).dense())
            };
            node.add(index, &dense(here, own), &dense(there, other));
        }
        node.factor(inertia, compliance, towards)
    }

    /// Makes this body's part of the inward sweep, the first half of a solution, which goes from the leaves of the tree to the
    /// root. The momentum that the joint transmits is added to `towards`, the momentum of the body towards the root. `wanted`:
    /// prescribed rate of each joint row; `scratch`: results for the outward sweep.
    #[inline]
    pub(super) fn inward(
        &self,
        momentum: &Twist,
        wanted: &[f64],
        scratch: &mut Scratch,
        towards: Option<&mut Twist>,
    ) {
        match (self.kind, &self.dual) {
            (Kind::Hinged, _) => self.hinged.inward(momentum, wanted, scratch, towards),
            (Kind::Dual, Some(node)) => node.inward(momentum, wanted, scratch, towards),
            _ => (),
        }
    }

    /// Makes this body's part of the outward sweep, the second half of a solution, which goes from the root of the tree to the
    /// leaves. `momentum` of this body is replaced by its velocity, and the impulses of the joint's rows are written to `out`.
    /// `wanted`: prescribed rate of each joint row; `scratch`: results of the inward sweep; `towards`: velocity of the body
    /// towards the root.
    #[inline]
    pub(super) fn outward(
        &self,
        momentum: &mut Twist,
        wanted: &[f64],
        scratch: &Scratch,
        towards: Option<&Twist>,
        out: &mut [f64],
    ) {
        match (self.kind, &self.dual) {
            (Kind::Hinged, _) => self.hinged.outward(momentum, wanted, scratch, towards, out),
            (Kind::Dual, Some(node)) => node.outward(momentum, scratch, towards, out),
            _ => {
                let mut dense = momentum.dense();
                self.free.solve(&mut dense);
                *momentum = Twist::from_dense(dense);
            }
        }
    }

    /// Returns the response of this body and its joint to a momentum of the body. Products of two such responses give mobilities
    /// (velocity per impulse).
    #[inline]
    pub(super) fn trace(&self, momentum: &Twist) -> Trace {
        match (self.kind, &self.dual) {
            (Kind::Hinged, _) => self.hinged.trace(momentum),
            (Kind::Dual, Some(node)) => node.trace(momentum),
            _ => {
                let mut white = momentum.dense().map(|x| [x]);
                self.free.whiten(&mut white);
                Trace {
                    own: white.map(|[x]| x),
                    ..Trace::default()
                }
            }
        }
    }
}
