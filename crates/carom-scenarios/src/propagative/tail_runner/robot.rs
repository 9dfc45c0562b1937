//! TREX, the tailed running robot: Seghete & Murphey, Sec. VII-B.

use carom_mechanism::MechanismError;
use carom_mechanism::planar::{
    Actuator, Inertia, Line, LineContact, Link, PlanarBuilder, PlanarMechanism, Reference, Spring,
    Variation,
};
use serde::Deserialize;
use std::f64::consts::PI;

/// Density of the two body balls, as in the paper (g/cm³).
const BODY_DENSITY: f64 = 1.0;

/// Mass of a limb per length (g/cm): 2 g/cm³ with a cross-section of 1.25 cm², as in the paper.
const LIMB_MASS: f64 = 2.5;

/// Acceleration of gravity (cm/s²) for the running robot with a tail, whose units are cm, g and s.
pub const GRAVITY: f64 = 981.0;

/// Index of the robot's contact between the tip of the tail and the floor.
pub const TAIL: usize = 0;
/// Index of the robot's contact between the left foot and the floor.
pub const LEFT_FOOT: usize = 1;
/// Index of the robot's contact between the right foot and the floor.
pub const RIGHT_FOOT: usize = 2;

/// Configuration $(x, y, \theta, \varphi_L, \gamma_L, \varphi_R, \gamma_R, \varphi_T)$ of the running robot with a tail, in cm
/// and rad. The point $(x, y)$ is the center of the anterior ball, and $\theta$ is the direction of the body axis towards the
/// tail. The angles $\varphi_L$ and $\varphi_R$ are those of the left and right hip, $\gamma_L$ and $\gamma_R$ those of the
/// knees, and $\varphi_T$ is the angle of the tail. A thigh points along $\theta + \varphi$, a shank along $\theta + \varphi +
/// \gamma$, the tail along $\theta + \varphi_T$, all counterclockwise from $+x$.
pub type Stance = [f64; 8];

/// Lengths of the running robot with a tail (cm): the two radii and the two leg lengths that the paper leaves to the designer.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lengths {
    /// Radius $r_1$ of the anterior ball, which carries the hips.
    pub anterior_radius: f64,
    /// Radius $r_2$ of the posterior ball.
    pub posterior_radius: f64,
    /// Length $l_u$ of a thigh.
    pub thigh: f64,
    /// Length $l_l$ of a shank.
    pub shank: f64,
}

impl Lengths {
    /// Creates the lengths of the robot (cm) from $(r_1, r_2, l_u, l_l)$, the order of the paper's Table I: anterior
    /// radius, posterior radius, thigh, shank.
    pub fn from_table([anterior_radius, posterior_radius, thigh, shank]: [f64; 4]) -> Self {
        Self {
            anterior_radius,
            posterior_radius,
            thigh,
            shank,
        }
    }

    /// Returns the lengths of the robot (cm) as $(r_1, r_2, l_u, l_l)$, the order of the paper's Table I: anterior
    /// radius, posterior radius, thigh, shank.
    pub fn to_table(self) -> [f64; 4] {
        [
            self.anterior_radius,
            self.posterior_radius,
            self.thigh,
            self.shank,
        ]
    }
}

/// Position of the joint between the posterior and the anterior part of the running robot with a tail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SpineJoint {
    /// Joint at the center of the posterior ball.
    #[default]
    Posterior,
    /// Joint at the point where the balls touch.
    Tangency,
}

/// Rule from which the length of the robot's tail is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TailRule {
    /// The tail ends at the apex of the cone around the two balls, at the distance $l = r_2(r_1 + r_2)/(r_1 - r_2)$
    /// behind the posterior center.
    #[default]
    Cone,
    /// The formula that the paper prints for $L_\mathrm{tail}$.
    Printed,
}

impl TailRule {
    /// Returns the length of the tail behind the center of the posterior ball (cm), and its derivatives with respect to both
    /// radii. `r1` and `r2`: radii of the anterior and the posterior ball (cm).
    fn length(self, r1: f64, r2: f64) -> [f64; 3] {
        let difference = r1 - r2;
        match self {
            Self::Cone => [
                r2 * (r1 + r2) / difference,
                -2.0 * r2 * r2 / (difference * difference),
                (r1 * r1 + 2.0 * r1 * r2 - r2 * r2) / (difference * difference),
            ],
            Self::Printed => {
                let sum = r1 + r2;
                let root = (2.0 * r1 * sum).sqrt() * r1 * r2;
                let top = r1 * r1 * sum + root;
                let bottom = sum * difference;
                let by = |top_by: f64, bottom_by: f64| {
                    top_by / bottom - top * bottom_by / (bottom * bottom) - 1.0
                };
                [
                    top / bottom - sum,
                    by(
                        r1 * (3.0 * r1 + 2.0 * r2) + root * (1.5 / r1 + 0.5 / sum),
                        2.0 * r1,
                    ),
                    by(r1 * r1 + root * (1.0 / r2 + 0.5 / sum), -2.0 * r2),
                ]
            }
        }
    }
}

/// Choices about the geometry of the running robot that the paper leaves open: the spine joint and the length of the tail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Position of the spine joint.
    pub spine: SpineJoint,
    /// Rule for the length of the tail.
    pub tail: TailRule,
}

/// Springs, dampers and motors at the joints of the running robot. Stiffnesses and proportional gains are in dyn·cm/rad,
/// damping coefficients and derivative gains in dyn·cm·s/rad.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// Stiffness of the knees.
    pub knee_stiffness: f64,
    /// Damping of the knees.
    pub knee_damping: f64,
    /// Stiffness of the spine.
    pub spine_stiffness: f64,
    /// Damping of the spine.
    pub spine_damping: f64,
    /// Proportional gain of the hips, the paper's $K_p$.
    pub hip_proportional: f64,
    /// Derivative gain of the hips, the paper's $K_v$.
    pub hip_derivative: f64,
    /// Desired rate of the hips after the first impact (rad/s).
    pub hip_rate: f64,
}

impl Default for Drive {
    fn default() -> Self {
        Self {
            knee_stiffness: 1e7,
            knee_damping: 1e5,
            spine_stiffness: 3e7,
            spine_damping: 3e5,
            hip_proportional: 1e8,
            hip_derivative: 1e7,
            hip_rate: 2.0 * PI,
        }
    }
}

/// Running robot with a tail, as a planar mechanism with its links.
#[derive(Clone, Debug, PartialEq)]
pub struct TailRunner {
    /// The mechanism: coordinates as in [`Stance`], contacts [`TAIL`], [`LEFT_FOOT`],
    /// [`RIGHT_FOOT`] on the floor $y = 0$. Units cm, g, s.
    pub mechanism: PlanarMechanism,
    /// Lengths of the robot.
    pub lengths: Lengths,
    /// Distance from the spine joint to the posterior center (cm).
    pub(super) posterior_center: f64,
    /// Distance from the spine joint to the tip of the tail (cm).
    pub(super) tail_tip: f64,
    pub(super) handles: Handles,
}

/// Links of the robot; a leg consists of thigh and shank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Handles {
    pub(super) anterior: Link,
    pub(super) legs: [[Link; 2]; 2],
    pub(super) posterior: Link,
}

/// Inertia of a thigh or a shank, and its derivative with respect to the length.
struct Limb {
    inertia: Inertia,
    by_length: Inertia,
}

impl Limb {
    /// Creates a limb: a thin rod of the length `length` (cm) along the first axis of its frame, from the origin.
    fn new(length: f64) -> Self {
        let mass = LIMB_MASS * length;
        Self {
            inertia: Inertia::rod(mass, [0.0, 0.0], [length, 0.0]),
            by_length: Inertia::point(LIMB_MASS, [length, 0.0]),
        }
    }
}

fn ball_mass(radius: f64) -> f64 {
    BODY_DENSITY * 4.0 / 3.0 * PI * (radius * radius * radius)
}

impl TailRunner {
    /// Builds the running robot without springs, dampers and actuators. `gravity` is the acceleration of gravity (cm/s²).
    ///
    /// # Errors
    ///
    /// [`MechanismError`] for lengths that are not positive, or a posterior ball that is not
    /// smaller than the anterior one.
    pub fn passive(lengths: Lengths, layout: Layout, gravity: f64) -> Result<Self, MechanismError> {
        Self::build(lengths, layout, gravity, 0.0, |_, _| ())
    }

    /// Builds the running robot with springs, dampers and actuated hips. The springs are unstretched in the configuration
    /// `stance`. Until the time `start` (s) the motors hold the hip angles; after this time the hips turn. `friction` is the
    /// coefficient of the floor at tail and feet.
    ///
    /// # Errors
    ///
    /// The errors of [`passive`](Self::passive); also a drive with negative numbers.
    pub fn driven(
        lengths: Lengths,
        layout: Layout,
        drive: &Drive,
        stance: &Stance,
        start: f64,
        friction: f64,
    ) -> Result<Self, MechanismError> {
        Self::build(lengths, layout, GRAVITY, friction, |builder, robot| {
            let rest = |link: Link| stance[link.coordinate()];
            let knees = [robot.legs[0][1], robot.legs[1][1]];
            let knee = [drive.knee_stiffness, drive.knee_damping];
            let spine = [drive.spine_stiffness, drive.spine_damping];
            let springs = [(knees[0], knee), (knees[1], knee), (robot.posterior, spine)];
            for (link, [stiffness, damping]) in springs {
                let rest = rest(link);
                let spring = Spring {
                    stiffness,
                    damping,
                    rest,
                };
                builder.spring(link, spring);
            }
            for [hip, _] in robot.legs {
                let actuator = Actuator {
                    proportional: drive.hip_proportional,
                    derivative: drive.hip_derivative,
                    reference: Reference {
                        hold: rest(hip),
                        rate: drive.hip_rate,
                        start,
                    },
                };
                builder.actuator(hip, actuator);
            }
        })
    }

    fn build(
        lengths: Lengths,
        layout: Layout,
        gravity: f64,
        friction: f64,
        finish: impl FnOnce(&mut PlanarBuilder, &Handles),
    ) -> Result<Self, MechanismError> {
        let [r1, r2, thigh, shank] = lengths.to_table();
        let lengths_are_good = r1.is_finite() && r2 > 0.0 && r1 > r2 && thigh > 0.0 && shank > 0.0;
        if !lengths_are_good {
            let (what, value) = match (thigh > 0.0, shank > 0.0, r2 > 0.0) {
                (false, ..) => ("thigh", thigh),
                (_, false, _) => ("shank", shank),
                (.., false) => ("posterior radius", r2),
                _ => ("anterior radius", r1),
            };
            return Err(MechanismError::InvalidParameter {
                what,
                value,
                allowed: "positive, and the anterior radius the larger one",
            });
        }
        let [tail, ..] = layout.tail.length(r1, r2);
        let (spine, center) = match layout.spine {
            SpineJoint::Posterior => (r1 + r2, 0.0),
            SpineJoint::Tangency => (r1, r2),
        };
        let mut builder = PlanarBuilder::new([0.0, -gravity]);
        let anterior = builder.floating();
        builder.body(anterior, Inertia::ball(ball_mass(r1), r1, [0.0, 0.0]));
        let legs = [(); 2].map(|()| {
            let upper = builder.hinge(anterior, [0.0, 0.0], 0.0);
            builder.body(upper, Limb::new(thigh).inertia);
            let lower = builder.hinge(upper, [thigh, 0.0], 0.0);
            builder.body(lower, Limb::new(shank).inertia);
            [upper, lower]
        });
        let posterior = builder.hinge(anterior, [spine, 0.0], 0.0);
        builder.body(posterior, Inertia::ball(ball_mass(r2), r2, [center, 0.0]));
        let tip = center + tail;
        builder.body(
            posterior,
            Inertia::rod(LIMB_MASS * tail, [center, 0.0], [tip, 0.0]),
        );
        let [[_, left], [_, right]] = legs;
        let contacts = [
            ("tail", posterior, tip),
            ("left foot", left, shank),
            ("right foot", right, shank),
        ];
        for (name, link, at) in contacts {
            let mut contact = LineContact::point(name, [at, 0.0], Line::floor());
            contact.friction = friction;
            builder.contact(link, contact);
        }
        let handles = Handles {
            anterior,
            legs,
            posterior,
        };
        finish(&mut builder, &handles);
        Ok(Self {
            mechanism: builder.build()?,
            lengths,
            posterior_center: center,
            tail_tip: tip,
            handles,
        })
    }

    /// Returns the derivatives of the mechanism (positions and inertias) with respect to the lengths $(r_1, r_2, l_u, l_l)$:
    /// radii of the two balls, lengths of thigh and shank.
    pub(super) fn variations(&self, layout: Layout) -> [Variation; 4] {
        let [r1, r2, thigh, shank] = self.lengths.to_table();
        let Handles {
            anterior,
            legs,
            posterior,
        } = self.handles;
        let none = || Variation::none(&self.mechanism);
        let [_, tail_by_r1, tail_by_r2] = layout.tail.length(r1, r2);
        // Derivatives of the positions of the spine joint, of the posterior center relative to it, and of the tail.
        let (spine_by_r2, center_by_r2) = match layout.spine {
            SpineJoint::Posterior => (1.0, 0.0),
            SpineJoint::Tangency => (0.0, 1.0),
        };
        // A longer rod has additional mass at its ends.
        let (from, to) = (self.posterior_center, self.tail_tip);
        let end = |x: f64, change: f64| Inertia::point(LIMB_MASS * change, [x, 0.0]);
        let ball_by_radius = |radius: f64| {
            let mass = ball_mass(radius);
            // The mass is proportional to the cube of the radius, the moment about the center to the fifth power.
            Inertia::new(3.0 * mass / radius, [0.0, 0.0], 2.0 * mass * radius)
        };
        let posterior_mass = ball_mass(r2);
        let by_r1 = none()
            .inertia(anterior, ball_by_radius(r1))
            .anchor(posterior, [1.0, 0.0])
            .inertia(posterior, end(to, tail_by_r1))
            .contact_point(TAIL, [tail_by_r1, 0.0]);
        let moved = Inertia {
            mass: 0.0,
            first_moment: [posterior_mass * center_by_r2, 0.0].into(),
            second_moment: 2.0 * posterior_mass * from * center_by_r2,
        };
        let tip_by_r2 = center_by_r2 + tail_by_r2;
        let by_r2 = none()
            .anchor(posterior, [spine_by_r2, 0.0])
            .inertia(posterior, ball_by_radius(r2).placed([from, 0.0], 0.0))
            .inertia(posterior, moved)
            .inertia(posterior, end(to, tip_by_r2))
            .inertia(posterior, end(from, -center_by_r2))
            .contact_point(TAIL, [tip_by_r2, 0.0]);
        let (upper, lower) = (Limb::new(thigh).by_length, Limb::new(shank).by_length);
        let [[left_hip, left_knee], [right_hip, right_knee]] = legs;
        let by_thigh = none()
            .inertia(left_hip, upper)
            .inertia(right_hip, upper)
            .anchor(left_knee, [1.0, 0.0])
            .anchor(right_knee, [1.0, 0.0]);
        let by_shank = none()
            .inertia(left_knee, lower)
            .inertia(right_knee, lower)
            .contact_point(LEFT_FOOT, [1.0, 0.0])
            .contact_point(RIGHT_FOOT, [1.0, 0.0]);
        [by_r1, by_r2, by_thigh, by_shank]
    }

    /// Returns the positions of hips, knees, feet and other points of the robot in a stance (configuration), for drawing.
    pub fn outline(&self, stance: &Stance) -> Outline {
        let at = |link: Link, local: [f64; 2]| {
            // Every link belongs to this mechanism, so the point exists.
            self.mechanism
                .point(link, local, stance)
                .unwrap_or_default()
        };
        let Handles {
            anterior,
            legs,
            posterior,
        } = self.handles;
        let leg =
            |[_, shank]: [Link; 2]| [at(shank, [0.0, 0.0]), at(shank, [self.lengths.shank, 0.0])];
        Outline {
            hip: at(anterior, [0.0, 0.0]),
            posterior: at(posterior, [self.posterior_center, 0.0]),
            tail_tip: at(posterior, [self.tail_tip, 0.0]),
            legs: legs.map(leg),
        }
    }

    /// Returns a configuration of the robot in which the tail and the left foot touch the floor. The knees are straight, the
    /// left leg is vertical, and the hips are half a turn apart. `None` if the legs are longer than the tail can reach.
    pub fn straight_stance(&self) -> Option<Stance> {
        let height = self.lengths.thigh + self.lengths.shank;
        let spine = self.lengths.anterior_radius + self.lengths.posterior_radius;
        let reach = spine + self.tail_tip - self.posterior_center;
        let sine = height / reach;
        (sine <= 1.0).then(|| {
            let theta = -libm::asin(sine);
            let hip = -0.5 * PI - theta;
            [0.0, height, theta, hip, 0.0, hip + PI, 0.0, 0.0]
        })
    }
}

/// Positions of points of the running robot in the plane of motion (cm), for drawing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outline {
    /// Hips, at the center of the anterior ball.
    pub hip: [f64; 2],
    /// Center of the posterior ball.
    pub posterior: [f64; 2],
    /// Tip of the tail.
    pub tail_tip: [f64; 2],
    /// Knee and foot of the left and of the right leg.
    pub legs: [[[f64; 2]; 2]; 2],
}
