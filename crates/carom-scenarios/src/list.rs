//! List of all scenarios in the order of the papers; no other file lists them.

use crate::Scenario;

/// Builds the list from a line for each scenario: its name, the function that runs it, a one-line summary, and
/// the part of the paper that it reproduces. The defaults are in a file with the scenario's name in the top folder of the
/// function.
macro_rules! scenarios {
    ($($paper:literal {
        $($name:literal $folder:ident $(::$path:ident)+, $summary:literal, $reproduces:literal;)+
    })+) => {
        /// All scenarios (named, configurable runs), in the order of the papers that they reproduce.
        pub const SCENARIOS: &[Scenario] = &[$($(Scenario {
            name: $name,
            summary: $summary,
            paper: $paper,
            reproduces: $reproduces,
            default_toml: include_str!(concat!(stringify!($folder), "/", $name, ".toml")),
            runner: crate::$folder $(::$path)+,
        },)+)+];
    };
}

scenarios! {
    "Seghete & Murphey" {
        "newtons-cradle" propagative::newtons_cradle::run,
            "balls in a row: energy loss against speed, beside a rigid-body engine",
            "Example 1, Eq. (15), Fig. 2";
        "reflection-wedge" propagative::reflection_wedge::run,
            "two contacts in the plane: the chain of reflections into the feasible wedge",
            "Fig. 3, Theorem 1";
        "billiard-break" propagative::billiard_break::run,
            "a ball hits two others at once: how much the order of impacts matters",
            "Figs. 4 and 5, Eq. (31)";
        "break-map" propagative::break_map::run,
            "how much the order of impacts matters, over the angle and mass of the balls",
            "Figs. 4 and 5, Theorems 2 and 3, as a map";
        "falling-block" propagative::falling_block::run,
            "a block or rod lands flat: a rod has one outcome, a square block two",
            "Theorems 2 and 3 on real bodies";
        "light-ball" propagative::light_ball::run,
            "a light ball between a wall and a heavy block: the impacts count the digits of pi",
            "Theorem 1, with the sharp bound";
        "rack-break" propagative::rack_break::run,
            "a cue ball breaks a triangular rack of touching balls",
            "Sec. IV beyond two contacts";
        "plate-on-legs" propagative::plate_on_legs::run,
            "a plate lands on four legs: dependent normals and many outcomes",
            "Sec. IV beyond two contacts, dependent normals";
        "orthogonal-corner" propagative::orthogonal_corner::run,
            "orthogonal normals: every order gives the same outcome",
            "Theorem 2";
        "uniqueness-pair-map" propagative::pair_map::run,
            "when two contacts have one outcome: indeterminacy over cosine and direction",
            "Theorems 2 and 3, extended to c = -cos(pi/m)";
        "three-ball-masses" propagative::three_ball_masses::run,
            "which masses of three balls in a row make their impact unique",
            "Theorem 3, as a map over masses";
        "elastic-ball" propagative::mechanisms::elastic_ball::run,
            "a ball bounces: times of free fall to the last digits; with restitution it comes to rest",
            "Sec. VI on a system with a closed form";
        "tilted-block" propagative::mechanisms::tilted_block::run,
            "an elastic block falls on one corner: flights without step error, energy kept in every impact",
            "Sec. VI on a system with exact flights";
        "wall-pendulum" propagative::mechanisms::wall_pendulum::run,
            "an elastic pendulum against a wall: times of impact are of order two in the step",
            "Sec. VI on a system with known times of impact";
        "pendulum-cradle" propagative::mechanisms::pendulum_cradle::run,
            "Newton's cradle in time: the first ball swings in, the last one out, and back",
            "Example 1 with the time stepper of Sec. VI";
        "tail-runner" propagative::tail_runner::run,
            "TREX: a running robot whose double impact is designed to have one outcome",
            "Table I, Figs. 6, 7 and 8";
        "tail-runner-design" propagative::tail_runner::search,
            "lengths and stance of a running robot for which a double impact has one outcome",
            "Table I, Fig. 7";
        "double-pendulum-walls" propagative::double_pendulum_walls::run,
            "a double pendulum of two rods swings between two walls",
            "Sec. VI, an example: a planar mechanism with its energy audited";
        "falling-chain" propagative::falling_chain::run,
            "a chain of rods falls on a floor",
            "Sec. VI, an example: many contacts of one mechanism, with its energy audited";
    }
    "rigid-body engines" {
        "engine-survey" beyond::engine_survey::run,
            "what rigid-body engines make of six impacts: energy, laws and distances, judged",
            "Bullet, MuJoCo, Drake, DART, Rapier, ODE, Siconos: velocities after an impact";
    }
    "Kong, Payne, Zhu & Johnson" {
        "saltation" beyond::saltation::run,
            "an error ellipse goes through an impact: by the saltation matrix, and by 2000 runs",
            "arXiv 2306.06862: a bouncing ball and a rocking block";
    }
    "Pfrommer, Halm & Posa" {
        "cube-tosses" beyond::cube_tosses::run,
            "twenty measured tosses of a cube: restitution, friction, and which law predicts best",
            "their tosses, impact by impact";
    }
    "Halm & Posa" {
        "rocking-block" set_valued::rocking_block::run,
            "a block dropped flat on two corners rests or rocks, depending on who pushes first",
            "Table 4, Figs. 1 and 9, Table 3";
        "compass-gait" set_valued::compass_gait::run,
            "a two-legged walker takes a wide step: the trailing foot sticks, slides or lifts",
            "Table 5, Figs. 4 and 10, Table 3";
        "box-and-wall" set_valued::box_and_wall::run,
            "a box that slides on a corner hits a wall: it rests, slides on or leaves the wall",
            "Table 6, Figs. 5 and 11, Table 3";
        "ramone" set_valued::ramone::run,
            "a five-link robot takes a step: the leading foot sticks, the trailing one lifts or slides",
            "Table 7, Fig. 13, Table 3";
        "disk-stack" set_valued::disk_stack::run,
            "a disk falls onto two disks that lie side by side: five contacts",
            "Table 8, Fig. 14, Table 3";
        "compliant-block" set_valued::compliant_block::run,
            "a block dropped on corners that give way lands where the rigid set of outcomes says",
            "Section 5.4.1, Fig. 12";
        "impact-inclusions" set_valued::impact_inclusions::run,
            "dry friction, one sliding contact and a falling ball as differential inclusions",
            "Figs. 2, 3 and 6";
        "zeno-block" set_valued::zeno_block::run,
            "a rocking block comes to rest after infinitely many impacts in finite time",
            "Section 4.3, Figs. 7 and 8";
        "sliding-box" set_valued::sliding_box::run,
            "a box slides on four corners: how wrong friction polygons are",
            "beyond the paper: round friction cones";
        "four-legged-table" set_valued::four_legged_table::run,
            "a table lands on four legs: the family of outcomes and its even member",
            "beyond the paper: round friction cones";
        "landing-map" set_valued::landing_map::run,
            "a robot's trunk lands on four feet: how far the outcomes are apart, over pitch and roll",
            "beyond the paper: sets of outcomes as a map";
        "impact-bounds" set_valued::impact_bounds::run,
            "samples of outcomes inside proven bounds",
            "beyond the paper: bounds of all outcomes";
    }
    "Jia & Wang" {
        "icosahedron-tetrahedron" two_body::icosahedron_tetrahedron::run,
            "a truncated icosahedron hits a tetrahedron: sliding turns, stops and sticks",
            "Figs. 3, 4(a), 5, Eqs. (13), (15), (23)";
        "pin-and-ball" two_body::pin_and_ball::run,
            "a bowling ball hits a pin: sliding stops early and the contact sticks",
            "Fig. 11, section 6.4";
        "hodographs" two_body::hodographs::run,
            "hodographs of the icosahedron's impact for other friction and speeds",
            "Figs. 4, 7 and 10";
        "hodograph-bundles" two_body::hodograph_bundles::run,
            "hodographs of all sliding directions, with and without friction to stop them",
            "Figs. 6 and 8";
        "euler-schemes" two_body::euler_schemes::run,
            "iterations and errors of the paper's integration schemes beside the exact impact",
            "Table 1, section 6.4";
        "ball-impacts" two_body::ball_impacts::run,
            "two balls, and a ball on a half-space: straight sliding in closed form",
            "Fig. 2";
        "recompression" two_body::recompression::run,
            "strong friction compresses a contact twice: two ways to count the loss",
            "Fig. 4(d) closing more slowly; footnote 4";
        "restitution-laws" two_body::restitution_laws::run,
            "Stronge's, Poisson's and Newton's restitution: Newton's can create energy",
            "section 1, energetic inconsistency of Newton's hypothesis";
        "tangential-compliance" two_body::tangential_compliance::run,
            "springs at the contact that give way sideways too, from soft to rigid",
            "beyond the paper: its impact of Fig. 3 on lumped springs";
    }
    "Tran & Leok" {
        "bouncing-body" lie_group::bouncing::run,
            "any rigid body above a plane: shape, inertia, plane and start as you like",
            "Algorithms 5.1 and 5.2";
        "ellipsoid-horizontal" lie_group::bouncing::run,
            "a triaxial ellipsoid bounces on a level plane",
            "Table 3, case I; Figs. 4a, 5a, 6a";
        "ellipsoid-tilted" lie_group::bouncing::run,
            "the same ellipsoid on a plane tilted by two degrees",
            "Table 3, case II; Figs. 4b, 5b, 6b";
        "ellipsoid-union" lie_group::bouncing::ellipsoid_union,
            "two ellipsoids joined, over 100 000 steps",
            "Table 3, case III; Figs. 4c, 5c, 6c";
        "cube" lie_group::bouncing::cube,
            "a cube, over 100 000 steps, and how fast nearby starts part",
            "Table 3, case IV; Figs. 4d, 5d, 6d, 7, 8";
        "dumbbell" lie_group::bouncing::run,
            "two balls joined",
            "beyond the paper: a body with a small moment of inertia";
        "tetrahedron" lie_group::bouncing::run,
            "a rounded regular tetrahedron",
            "beyond the paper: several impacts in a short time";
        "closest-points" lie_group::closest_points::run,
            "where a box and its rounded form touch a plane: a face, an edge, a corner",
            "Figs. 2 and 3, Eq. (66)";
    }
    "Clark & Bloch" {
        "penny" nonholonomic::penny::run,
            "a rolling penny bounces between the walls of a table, without slipping",
            "Figs. 1-4, one law and table at a time";
        "penny-figures" nonholonomic::penny_figures::run,
            "the penny on a circular and an elliptical table, elastic and projected",
            "Figs. 1-4";
        "penny-cloud" nonholonomic::penny_cloud::run,
            "a cloud of pennies that start almost alike spreads over the table",
            "Fig. 5";
        "penny-superellipse" nonholonomic::penny_superellipse::run,
            "the penny on a superellipse, its impacts found by certified steps",
            "Figs. 1-4 on another table";
        "penny-restitution" nonholonomic::penny_restitution::run,
            "the projected law bounces: thin disk 1/3 to 3/5, and a bobbin would enter the wall",
            "Eqs. (18), (20)";
        "penny-chaos" nonholonomic::penny_chaos::run,
            "the elastic penny is integrable on a circle and mixed on an ellipse",
            "Sec. VII, open questions on chaos and measure";
        "chaplygin-sleigh" nonholonomic::chaplygin_sleigh::run,
            "a sleigh on a blade with a round bumper bounces in a circular arena",
            "Sec. IV on another classical system";
        "knife-edge" nonholonomic::knife_edge::run,
            "a turning blade slides down an incline onto a wall",
            "Sec. IV on another classical system";
        "rolling-ball" nonholonomic::rolling_ball::run,
            "a rolling ball on an elliptical table, with smooth and rough cushions",
            "Sec. IV on another classical system";
    }
    "Cox & Feres" {
        "no-slip-disk" beyond::no_slip_disk::run,
            "a disk that cannot slip at the walls stays in one part of a strip",
            "bounded orbits of no-slip billiards";
    }
    "Clark & Bloch" {
        "snakeboard" nonholonomic::snakeboard::run,
            "a snakeboard hits a wall with its nose: four laws side by side",
            "Sec. IV with two constraints in five coordinates";
        "rolling-disk-on-slope" motion::mechanism::constrained::rolling_disk,
            "a coin rolls on an inclined table between two walls: constraints and potential as formulas",
            "Eqs. (9)-(13) with a potential, in time";
        "sleigh-in-a-box" motion::mechanism::constrained::sleigh,
            "a Chaplygin sleigh with corners in a square box",
            "Eqs. (9)-(13) for a body with a blade, in time";
        "snakeboard-in-motion" motion::mechanism::constrained::snakeboard,
            "a snakeboard starts from rest by the torques of its rider, and hits a wall",
            "Eqs. (9)-(13) with forces, in time";
        "trailer" motion::mechanism::constrained::trailer,
            "a car without a motor pulls a trailer against walls, on axles that do not slip",
            "Eqs. (9)-(13) for two bodies with two blades, in time";
        "controlled-penny" nonholonomic::controlled_penny::run,
            "the bouncing penny with constant torques about the vertical and the axle",
            "Sec. VII, future work";
    }
    "carom" {
        "world" motion::world::run,
            "rigid bodies in a container: shapes, planes, friction, restitution and laws as you like",
            "beyond the papers: their impact laws in time";
        "mechanism" motion::mechanism::run,
            "a mechanism as you like: links, springs, actuators, or a system of formulas; contacts, velocity constraints",
            "beyond the papers: the collision integrator for any mechanism";
        "sliding-ball" motion::sliding_ball::run,
            "a ball slides with spin until it rolls: the slip and the path in closed form",
            "beyond the papers: lasting contact with friction";
        "impact-derivatives" beyond::impact_derivatives::run,
            "derivatives of impacts: smooth, with a kink, and where the outcome jumps",
            "beyond the papers: exact Jacobians of impact laws";
        "rocking-motion" motion::rocking_motion::run,
            "a block rocks from edge to edge and loses at each landing what Housner says",
            "beyond the papers: lasting contact and its landings";
        "cradle-in-space" motion::cradle_in_space::run,
            "a ball hits a row of touching balls that points anywhere: the last one leaves",
            "beyond the papers: the propagative law in time";
        "incline" motion::incline::run,
            "boxes on an incline stick, slide or tip: a map over friction and slope, beside statics",
            "beyond the papers: what lasts in a contact, and what does not";
        "dominoes" motion::dominoes::run,
            "a row of dominoes falls: a wave that forgets how it was started",
            "beyond the papers: impacts and lasting contacts together";
        "galton-board" motion::galton_board::run,
            "balls fall through rows of pegs: the bins beside the binomial law",
            "beyond the papers: many impacts and many runs";
        "elastic-gas" motion::elastic_gas::run,
            "elastic spheres in a box: their speeds become Maxwell's, their impulses obey the virial theorem",
            "beyond the papers: thousands of impacts without a loss";
        "ball-pit" motion::ball_pit::run,
            "balls are poured into a pit and come to rest: energy, loads, and who touches whom",
            "beyond the papers: heaps in time stepping";
        "domino-row" motion::dominoes::row,
            "twelve dominoes fall until each lies on the next",
            "beyond the papers: heaps in time stepping";
        "box-stack" motion::box_stack::run,
            "ten boxes are dropped onto each other: the stack stands and does not creep",
            "beyond the papers: heaps in time stepping";
        "cat" motion::cat::run,
            "a cat of two halves turns over in flight without angular momentum",
            "beyond the papers: joints and motors (Kane & Scher)";
        "space-pendulum" motion::space_pendulum::run,
            "a double pendulum in space swings against a wall",
            "beyond the papers: impacts of jointed bodies";
        "chain-over-edge" motion::chain_over_edge::run,
            "a chain of fifty links falls over an edge",
            "beyond the papers: jointed bodies whose impacts crowd";
        "quadruped-landing" motion::quadruped_landing::run,
            "a quadruped lands on four feet at once: three laws, and all orders in which the feet may strike",
            "beyond the papers: jointed bodies that land";
        "slider-crank-clearance" motion::slider_crank_clearance::run,
            "a slider-crank whose slider rattles in its guide: clearance against peak load",
            "beyond the papers: clearance joints (Flores, Leine & Glocker)";
    }
}

/// Returns the scenario with this name; `None` if there is no such scenario.
///
/// # Examples
///
/// ```
/// let cradle = carom_scenarios::scenario("newtons-cradle").unwrap();
/// let record = cradle.run(&carom_scenarios::Overrides::default())?;
/// assert!(record.quantities.iter().any(|q| q.name == "energy_change_j"));
/// # Ok::<(), carom_scenarios::ScenarioError>(())
/// ```
pub fn scenario(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|scenario| scenario.name == name)
}

/// Returns the default configuration of a scenario.
#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(crate) fn defaults<C: serde::de::DeserializeOwned>(name: &str) -> C {
    let overrides = crate::Overrides::default();
    let input = crate::config::Input::new(name, scenario(name).unwrap().default_toml, &overrides);
    input.unwrap().begin().unwrap().0
}
