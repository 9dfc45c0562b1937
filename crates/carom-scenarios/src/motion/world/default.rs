//! The default world.

pub(super) const WORLD: &str = r#"duration = 2.0                     # s
gravity = [0.0, 0.0, -9.80665]     # m/s^2
flight = "exact"                   # "exact", "lgvi" (order 2), "lgvi4", "lgvi6"
time_step = 0.001                  # s: variational flights, lasting contact
# max_impacts = 1000
# on_zeno = "rest"                 # where impacts accumulate: "rest", "stop", "error", "continue"
seed = 0                           # of laws that draw samples

[law]
single = "two-body"                # any law of `carom resolve`, for one contact
several = "moreau-newton"          # and for several at once
restitution_law = "energetic"      # of "two-body" and "routh": "energetic", "poisson", "newton"
options = {}                       # of `several`

[contact]                          # every pair, unless [[pairs]] says otherwise
friction = 0.3
restitution = 0.5

[[pairs]]
between = ["ball", "floor"]        # names of bodies or planes; collide = false ignores the pair
friction = 0.1
restitution = 0.8

[[bodies]]
name = "ball"
mass = 1.0                         # kg
shape = { type = "sphere", radius = 0.1 }  # and every shape of bouncing-body
position = [-0.4, 0.0, 1.0]        # m, center of mass
velocity = [0.8, 0.1, 0.0]         # m/s
angular_velocity = [0.0, 20.0, 3.0]  # rad/s, world axes

[[bodies]]
name = "egg"
mass = 0.5
shape = { type = "ellipsoid", semi_axes = [0.12, 0.09, 0.08] }
position = [0.3, 0.25, 0.8]
velocity = [-0.5, -0.3, 0.0]
angular_velocity = [3.0, -2.0, 4.0]

[[bodies]]
name = "box"
mass = 0.8
shape = { type = "box", half_extents = [0.12, 0.1, 0.08] }
position = [0.2, -0.2, 0.4]
quaternion = [0.9, 0.1, 0.3, 0.3]  # w, x, y, z, body to space; or `rotation` = rows
angular_velocity = [1.0, 2.0, 0.0]

[[bodies]]
name = "step"
fixed = true                       # never moves
shape = { type = "box", half_extents = [0.2, 0.2, 0.1] }
position = [-0.5, 0.0, 0.1]

[[planes]]
name = "floor"
normal = [0.0, 0.0, 1.0]           # free where normal . z + offset > 0
offset = 0.0

[[planes]]
name = "left"
normal = [1.0, 0.0, 0.0]
offset = 0.8

[[planes]]
name = "right"
normal = [-1.0, 0.0, 0.0]
offset = 0.8

[[planes]]
name = "front"
normal = [0.0, 1.0, 0.0]
offset = 0.6

[[planes]]
name = "back"
normal = [0.0, -1.0, 0.0]
offset = 0.6

[output]
sample_step = 0.01                 # s; 0: start and end only
impacts = "all"                    # or "none"
"#;
