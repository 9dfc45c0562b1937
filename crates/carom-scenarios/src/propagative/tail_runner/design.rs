//! Lengths and stance of the robot as unknowns of a design problem.

use super::robot::{GRAVITY, LEFT_FOOT, Layout, Lengths, Stance, TAIL, TailRunner};
use carom_mechanism::MechanismError;
use carom_mechanism::design::{Bound, ClosedPair, DesignFamily, DesignPoint, Influence};

/// Number of unknowns of the design of a robot with a tail: all coordinates of its stance (configuration) except the position
/// $x$, and its four lengths.
pub const UNKNOWNS: usize = 11;

/// Names of the unknowns of the design of a robot with a tail, with their units.
pub const UNKNOWN_NAMES: [(&str, &str); UNKNOWNS] = [
    ("y", "cm"),
    ("theta", "rad"),
    ("phi_l", "rad"),
    ("gamma_l", "rad"),
    ("phi_r", "rad"),
    ("gamma_r", "rad"),
    ("phi_t", "rad"),
    ("r1", "cm"),
    ("r2", "cm"),
    ("l_u", "cm"),
    ("l_l", "cm"),
];

/// Least length allowed in a design, and least difference of the two radii (cm).
const MARGIN: f64 = 0.1;

/// Family of running robots with a tail: all lengths and stances (configurations), parametrized by the unknowns $z = (y,
/// \theta, \varphi_L, \gamma_L, \varphi_R, \gamma_R, \varphi_T, r_1, r_2, l_u, l_l)$. The first seven are coordinates of the
/// [`Stance`], the last four the [`Lengths`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TailRunners {
    /// Modeling choices that the paper leaves open.
    pub layout: Layout,
}

impl TailRunners {
    /// Returns the design unknowns of a robot with these lengths in a stance (configuration).
    pub fn unknowns_of(lengths: Lengths, stance: &Stance) -> [f64; UNKNOWNS] {
        let [_, y, theta, hip_l, knee_l, hip_r, knee_r, tail] = *stance;
        let [r1, r2, thigh, shank] = lengths.to_table();
        [
            y, theta, hip_l, knee_l, hip_r, knee_r, tail, r1, r2, thigh, shank,
        ]
    }

    /// Splits the design unknowns `z` of a robot into its lengths and its stance (configuration). The coordinate $x$ of the
    /// stance, which is no unknown, is 0.
    pub fn split(z: &[f64; UNKNOWNS]) -> (Lengths, Stance) {
        let [
            y,
            theta,
            hip_l,
            knee_l,
            hip_r,
            knee_r,
            tail,
            r1,
            r2,
            thigh,
            shank,
        ] = *z;
        let stance = [0.0, y, theta, hip_l, knee_l, hip_r, knee_r, tail];
        (Lengths::from_table([r1, r2, thigh, shank]), stance)
    }

    /// Returns the design equations of the robot. They require that the tail and the left foot touch the floor. If `cosine` is
    /// given, they also require that the angle between the normals of these two contacts, in the kinetic metric, has this
    /// cosine.
    pub fn closed(&self, cosine: Option<f64>) -> ClosedPair<'_, Self> {
        ClosedPair {
            family: self,
            contacts: [TAIL, LEFT_FOOT],
            cosine,
        }
    }
}

impl DesignFamily for TailRunners {
    fn unknowns(&self) -> usize {
        UNKNOWNS
    }

    fn at(&self, z: &[f64]) -> Result<DesignPoint, MechanismError> {
        let mut all = [0.0; UNKNOWNS];
        for (to, from) in all.iter_mut().zip(z) {
            *to = *from;
        }
        let (lengths, stance) = Self::split(&all);
        let robot = TailRunner::passive(lengths, self.layout, GRAVITY)?;
        // Coordinates of the stance except x, in order.
        let coordinates = (1..stance.len()).map(Influence::Coordinate);
        let variations = robot.variations(self.layout).map(Influence::Constants);
        Ok(DesignPoint {
            influences: coordinates.chain(variations).collect(),
            mechanism: robot.mechanism,
            configuration: stance.to_vec(),
        })
    }

    fn bounds(&self) -> Vec<Bound> {
        let [r1, r2, thigh, shank] = [7, 8, 9, 10];
        vec![
            Bound::above(r2, MARGIN),
            Bound::above(thigh, MARGIN),
            Bound::above(shank, MARGIN),
            Bound {
                coefficients: vec![(r1, 1.0), (r2, -1.0)],
                lower: MARGIN,
            },
        ]
    }
}
