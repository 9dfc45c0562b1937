//! Tran & Leok, Table 3, and two bodies beyond it.

use super::config::{
    BodyConfig, Config, InitialConfig, Integrator, PlaneConfig, Rule, ShapeConfig,
};
use std::fmt;
use std::marker::PhantomData;

/// A named system.
pub(crate) trait Case: fmt::Debug + Sized {
    /// The default configuration as commented TOML.
    const TOML: &'static str;
    /// Steps of a long run for the energy's drift; 0 for none.
    const LONG_STEPS: usize = 0;
    /// Whether to follow perturbed starts.
    const SENSITIVITY: bool = false;

    /// The same configuration as data.
    fn config() -> Config<Self>;
}

/// Standard gravity (m/s²).
const GRAVITY: f64 = 9.80665;

/// The start of all four systems of the paper: 10 m high, thrown upwards and turning.
fn paper<C: Case>(duration: f64, body: BodyConfig<C>, normal: [f64; 3]) -> Config<C> {
    let initial = InitialConfig {
        position: [0.0, 0.0, 10.0],
        rotation: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        linear_momentum: [2.0, 2.0, 10.0],
        angular_momentum: [4.0, -4.0, 4.0],
        case: PhantomData,
    };
    above(duration, body, normal, initial)
}

fn above<C: Case>(
    duration: f64,
    body: BodyConfig<C>,
    normal: [f64; 3],
    initial: InitialConfig<C>,
) -> Config<C> {
    Config {
        duration,
        time_step: 0.01,
        gravity: GRAVITY,
        restitution: 1.0,
        integrator: Integrator::Lgvi,
        impact_rule: Rule::Hamiltonian,
        max_impacts: None,
        body,
        plane: PlaneConfig {
            normal,
            offset: 0.0,
            case: PhantomData,
        },
        initial,
    }
}

fn body<C: Case>(inertia: Option<[f64; 3]>, shape: ShapeConfig) -> BodyConfig<C> {
    BodyConfig {
        mass: 1.0,
        inertia: inertia.map(|[a, b, c]| [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]),
        shape,
        case: PhantomData,
    }
}

fn ellipsoid(semi_axes: [f64; 3], x: f64) -> ShapeConfig {
    ShapeConfig::Ellipsoid {
        semi_axes,
        center: [x, 0.0, 0.0],
    }
}

macro_rules! toml {
    ($duration:literal, $body:literal, $normal:literal, $position:literal, $rotation:literal, $linear:literal, $angular:literal) => {
        concat!(
            "duration = ",
            $duration,
            "              # s\n\
time_step = 0.01             # s\n\
gravity = 9.80665            # m/s^2, along -z\n\
restitution = 1.0            # Newton's: the gap rate becomes -restitution times itself\n\
integrator = \"lgvi\"          # \"lgvi\", \"lgvi4\" (fourth order), \"exact\"\n\
impact_rule = \"hamiltonian\"  # or \"discrete-energy\" (with \"lgvi\" and restitution 1)\n\
# max_impacts = 1000         # stop after so many\n\
\n\
[body]\n\
mass = 1.0                   # kg\n",
            $body,
            "\n\
[plane]\n\
normal = ",
            $normal,
            "  # out of the solid\n\
offset = 0.0                 # m; free where normal . z + offset > 0\n\
\n\
[initial]\n\
position = ",
            $position,
            "    # m, center of mass\n\
rotation = ",
            $rotation,
            "\n\
linear_momentum = ",
            $linear,
            "     # N s, space axes\n\
angular_momentum = ",
            $angular,
            "   # N m s, body axes\n"
        )
    };
}

/// Any body; the default is the paper's ellipsoid.
#[derive(Debug)]
pub(crate) struct BouncingBody;

impl Case for BouncingBody {
    const TOML: &'static str = toml!(
        "10.0",
        "# inertia = [[5.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 2.6]]  # kg m^2, about the origin;\n\
# left out: uniform density, and the shape is moved so that its center of mass is the origin\n\
\n\
[body.shape]                 # \"ellipsoid\" {semi_axes, center}, \"box\" {half_extents},\n\
type = \"ellipsoid\"           # \"polyhedron\" {vertices} (their hull), \"mesh\" {vertices, triangles} or\n\
semi_axes = [2.0, 3.0, 4.0]  # {file} (.stl, .obj), \"rounded\" {eps, base}, \"union\" {parts},\n\
center = [0.0, 0.0, 0.0]     # \"intersection\" {parts} of ellipsoids; m\n",
        "[0.0, 0.0, 1.0]",
        "[0.0, 0.0, 10.0]",
        "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]",
        "[2.0, 2.0, 10.0]",
        "[4.0, -4.0, 4.0]"
    );

    fn config() -> Config<Self> {
        paper(
            10.0,
            body(None, ellipsoid([2.0, 3.0, 4.0], 0.0)),
            [0.0, 0.0, 1.0],
        )
    }
}

/// Case I.
#[derive(Debug)]
pub(crate) struct EllipsoidHorizontal;

impl Case for EllipsoidHorizontal {
    const TOML: &'static str = toml!(
        "15.0",
        "inertia = [[5.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 2.6]]  # kg m^2, Table 3\n\
\n\
[body.shape]\n\
type = \"ellipsoid\"\n\
semi_axes = [2.0, 3.0, 4.0]  # m, Table 3\n",
        "[0.0, 0.0, 1.0]",
        "[0.0, 0.0, 10.0]",
        "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]",
        "[2.0, 2.0, 10.0]",
        "[4.0, -4.0, 4.0]"
    );

    fn config() -> Config<Self> {
        let body = body(Some([5.0, 4.0, 2.6]), ellipsoid([2.0, 3.0, 4.0], 0.0));
        paper(15.0, body, [0.0, 0.0, 1.0])
    }
}

/// Case II.
#[derive(Debug)]
pub(crate) struct EllipsoidTilted;

impl Case for EllipsoidTilted {
    const TOML: &'static str = toml!(
        "15.0",
        "inertia = [[5.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 2.6]]  # kg m^2, Table 3\n\
\n\
[body.shape]\n\
type = \"ellipsoid\"\n\
semi_axes = [2.0, 3.0, 4.0]  # m, Table 3\n",
        "[0.03489949670250097, 0.0, 0.9993908270190958]",
        "[0.0, 0.0, 10.0]",
        "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]",
        "[2.0, 2.0, 10.0]",
        "[4.0, -4.0, 4.0]"
    );

    fn config() -> Config<Self> {
        let body = body(Some([5.0, 4.0, 2.6]), ellipsoid([2.0, 3.0, 4.0], 0.0));
        paper(
            15.0,
            body,
            [0.034_899_496_702_500_97, 0.0, 0.999_390_827_019_095_8],
        )
    }
}

/// Case III, with the printed shift and the printed moments without their antisymmetric part.
#[derive(Debug)]
pub(crate) struct EllipsoidUnion;

impl Case for EllipsoidUnion {
    const TOML: &'static str = toml!(
        "15.0",
        "inertia = [[7.5932718, 0.0, 0.0], [0.0, 9.9326434, 0.0], [0.0, 0.0, 8.2731252]]  # Table 3\n\
\n\
[body.shape]\n\
type = \"union\"               # Table 3; shifted by -0.9937128 along x\n\
parts = [\n\
\x20   {type = \"ellipsoid\", semi_axes = [3.0, 4.0, 5.0], center = [0.5062872, 0.0, 0.0]},\n\
\x20   {type = \"ellipsoid\", semi_axes = [6.0, 1.0, 1.0], center = [-5.4937128, 0.0, 0.0]},\n\
]\n",
        "[0.0, 0.0, 1.0]",
        "[0.0, 0.0, 10.0]",
        "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]",
        "[2.0, 2.0, 10.0]",
        "[4.0, -4.0, 4.0]"
    );
    const LONG_STEPS: usize = 100_000;

    fn config() -> Config<Self> {
        let parts = vec![
            ellipsoid([3.0, 4.0, 5.0], 0.506_287_2),
            ellipsoid([6.0, 1.0, 1.0], -5.493_712_8),
        ];
        let inertia = Some([7.593_271_8, 9.932_643_4, 8.273_125_2]);
        paper(
            15.0,
            body(inertia, ShapeConfig::Union { parts }),
            [0.0, 0.0, 1.0],
        )
    }
}

/// Case IV.
#[derive(Debug)]
pub(crate) struct Cube;

/// Half the side $2\sqrt3$ m.
const HALF_SIDE: f64 = 1.732_050_807_568_877_2;

impl Case for Cube {
    const TOML: &'static str = toml!(
        "25.0",
        "inertia = [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]  # kg m^2, Table 3\n\
\n\
[body.shape]\n\
type = \"rounded\"\n\
eps = 1e-13                  # m\n\
\n\
[body.shape.base]\n\
type = \"box\"                 # side 2 sqrt(3) m, Table 3\n\
half_extents = [1.7320508075688772, 1.7320508075688772, 1.7320508075688772]\n",
        "[0.0, 0.0, 1.0]",
        "[0.0, 0.0, 10.0]",
        "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]",
        "[2.0, 2.0, 10.0]",
        "[4.0, -4.0, 4.0]"
    );
    const LONG_STEPS: usize = 100_000;
    const SENSITIVITY: bool = true;

    fn config() -> Config<Self> {
        let shape = ShapeConfig::Rounded {
            eps: 1e-13,
            base: Box::new(ShapeConfig::Box {
                half_extents: [HALF_SIDE; 3],
            }),
        };
        paper(25.0, body(Some([2.0; 3]), shape), [0.0, 0.0, 1.0])
    }
}

/// Two balls of radius 0.5 m.
#[derive(Debug)]
pub(crate) struct Dumbbell;

impl Case for Dumbbell {
    const TOML: &'static str = toml!(
        "10.0",
        "inertia = [[0.1, 0.0, 0.0], [0.0, 1.1, 0.0], [0.0, 0.0, 1.1]]  # kg m^2\n\
\n\
[body.shape]\n\
type = \"union\"\n\
parts = [\n\
\x20   {type = \"ellipsoid\", semi_axes = [0.5, 0.5, 0.5], center = [1.0, 0.0, 0.0]},\n\
\x20   {type = \"ellipsoid\", semi_axes = [0.5, 0.5, 0.5], center = [-1.0, 0.0, 0.0]},\n\
]\n",
        "[0.0, 0.0, 1.0]",
        "[0.0, 0.0, 2.5]",
        "[[0.9210609940028851, 0.0, 0.3894183423086505], [0.0, 1.0, 0.0], [-0.3894183423086505, 0.0, 0.9210609940028851]]",
        "[0.3, 0.0, -1.0]",
        "[0.02, 0.7, -0.3]"
    );

    fn config() -> Config<Self> {
        let parts = vec![ellipsoid([0.5; 3], 1.0), ellipsoid([0.5; 3], -1.0)];
        let (c, s) = (0.921_060_994_002_885_1, 0.389_418_342_308_650_5);
        let initial = InitialConfig {
            position: [0.0, 0.0, 2.5],
            rotation: [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]],
            linear_momentum: [0.3, 0.0, -1.0],
            angular_momentum: [0.02, 0.7, -0.3],
            case: PhantomData,
        };
        let body = body(Some([0.1, 1.1, 1.1]), ShapeConfig::Union { parts });
        above(10.0, body, [0.0, 0.0, 1.0], initial)
    }
}

/// A regular tetrahedron of edge 2 m, rounded by 1 mm.
#[derive(Debug)]
pub(crate) struct Tetrahedron;

impl Case for Tetrahedron {
    const TOML: &'static str = toml!(
        "10.0",
        "inertia = [[0.2, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.2]]  # kg m^2, of the sharp body\n\
\n\
[body.shape]\n\
type = \"rounded\"\n\
eps = 1e-3                   # m\n\
\n\
[body.shape.base]\n\
type = \"polyhedron\"\n\
vertices = [\n\
\x20   [0.7071067811865475, 0.7071067811865475, 0.7071067811865475],\n\
\x20   [0.7071067811865475, -0.7071067811865475, -0.7071067811865475],\n\
\x20   [-0.7071067811865475, 0.7071067811865475, -0.7071067811865475],\n\
\x20   [-0.7071067811865475, -0.7071067811865475, 0.7071067811865475],\n\
]\n",
        "[0.0, 0.0, 1.0]",
        "[0.0, 0.0, 3.0]",
        "[[0.8595338985586631, -0.2602267140480945, -0.4398676329582309], [0.11491695393636672, 0.9370324372849179, -0.32979433769225514], [0.49799153700292204, 0.2329211642844366, 0.8353156052067086]]",
        "[0.5, -0.25, 0.0]",
        "[0.12, -0.2, 0.3]"
    );

    fn config() -> Config<Self> {
        let a = 0.707_106_781_186_547_5;
        let shape = ShapeConfig::Rounded {
            eps: 1e-3,
            base: Box::new(ShapeConfig::Polyhedron {
                vertices: vec![[a, a, a], [a, -a, -a], [-a, a, -a], [-a, -a, a]],
            }),
        };
        let initial = InitialConfig {
            position: [0.0, 0.0, 3.0],
            rotation: [
                [
                    0.859_533_898_558_663_1,
                    -0.260_226_714_048_094_5,
                    -0.439_867_632_958_230_9,
                ],
                [
                    0.114_916_953_936_366_72,
                    0.937_032_437_284_917_9,
                    -0.329_794_337_692_255_14,
                ],
                [
                    0.497_991_537_002_922_04,
                    0.232_921_164_284_436_6,
                    0.835_315_605_206_708_6,
                ],
            ],
            linear_momentum: [0.5, -0.25, 0.0],
            angular_momentum: [0.12, -0.2, 0.3],
            case: PhantomData,
        };
        above(10.0, body(Some([0.2; 3]), shape), [0.0, 0.0, 1.0], initial)
    }
}
