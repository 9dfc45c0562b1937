//! A body that lies on one end or edge lands with the other: its restitution is that of the point that lands.
//!
//! Ends at $-b$ and $b$ of a body with mass $m$ and moment of inertia $I$, the near end at rest, no friction. If $1/m - b^2/I
//! \le 0$, the near end stays closed and the landing keeps $e^2$ of the kinetic energy. Otherwise it opens, and
//! $1 - (1-e^2)(2b)^2/[(1/m + b^2/I)(mb^2 + I)]$ is kept.

use carom_scenarios::{Overrides, Record, scenario};

const FLOORS: [&str; 2] = [
    "[[planes]]\nname = \"floor\"\nnormal = [0.0, 0.0, 1.0]\noffset = 0.0\n",
    "[[bodies]]\nname = \"slab\"\nfixed = true\nposition = [0.0, 0.0, -0.1]\n\
     shape = { type = \"box\", half_extents = [2.0, 1.0, 0.1] }\n",
];

/// A joint that the landing body has, or that another body far away has.
const FREE: &str = "[[joints]]\nname = \"free\"\ntype = \"free\"\nchild = \"body\"\n";
const BYSTANDER: &str = "[[bodies]]\nname = \"far\"\nmass = 1.0\nposition = [0.0, 50.0, 1.0]\n\
    shape = { type = \"sphere\", radius = 0.1 }\n\
    [[joints]]\nname = \"hinge\"\ntype = \"revolute\"\naxis = [1, 0, 0]\nchild = \"far\"\n\
    parent_frame = { position = [0.0, 50.2, 1.0] }\nchild_frame = { position = [0.0, 0.2, 0.0] }\n";

/// A body of 1 kg that leans by `tilt` (rad) about its end or edge at `arm` (m) from the middle, `low` (m) below it.
struct Leaning {
    shape: &'static str,
    arm: f64,
    low: f64,
    tilt: f64,
}

const ROD: Leaning = Leaning {
    shape: "{ type = \"capsule\", radius = 0.01, half_length = 0.5 }",
    arm: 0.5,
    low: 0.01,
    tilt: 0.5,
};
const FLAT: Leaning = Leaning {
    shape: "{ type = \"box\", half_extents = [0.5, 0.2, 0.1] }",
    arm: 0.5,
    low: 0.1,
    tilt: 0.4,
};
const TALL: Leaning = Leaning {
    shape: "{ type = \"box\", half_extents = [0.1, 0.2, 0.5] }",
    arm: 0.1,
    low: 0.5,
    tilt: 0.1,
};

impl Leaning {
    fn run(&self, surface: [f64; 2], duration: f64, rest: &str) -> Record {
        let [friction, restitution] = surface;
        let (sin, cos) = self.tilt.sin_cos();
        // The axis of a capsule is its z axis, which lies along x after a quarter turn.
        let is_rod = self.arm == 0.5 && self.low == 0.01;
        let (height, turn) = if is_rod {
            (
                self.low + self.arm * sin,
                self.tilt + std::f64::consts::FRAC_PI_2,
            )
        } else {
            (self.low * cos + self.arm * sin, self.tilt)
        };
        let [w, y] = [(0.5 * turn).cos(), (0.5 * turn).sin()];
        let toml = format!(
            "duration = {duration:?}\ncontact = {{ friction = {friction:?}, restitution = {restitution:?} }}\n\
             [[bodies]]\nname = \"body\"\nmass = 1.0\nshape = {}\nposition = [0.0, 0.0, {height:?}]\n\
             quaternion = [{w:?}, 0.0, {y:?}, 0.0]\n{rest}",
            self.shape
        );
        let overrides = Overrides {
            toml,
            ..Overrides::default()
        };
        scenario("world").unwrap().run(&overrides).unwrap()
    }
}

/// Time and kinetic energies before and after (s, J) of the impacts of a record.
fn impacts(record: &Record) -> Vec<[f64; 3]> {
    assert_eq!(record.status, "completed");
    let list = record.results["impacts"].as_array().unwrap();
    let keys = ["time", "energy_minus_j", "energy_plus_j"];
    let of = |impact: &serde_json::Value| keys.map(|key| impact[key].as_f64().unwrap());
    list.iter().map(of).collect()
}

#[test]
fn the_landing_point_has_its_restitution() {
    for e in [0.0_f64, 0.3, 0.7, 1.0] {
        // Moments of inertia of the boxes about the axis of the fall.
        let opening =
            |b: f64, i: f64| 1.0 - (1.0 - e * e) * 4.0 * b * b / ((1.0 + b * b / i) * (b * b + i));
        let cases = [
            (ROD, e * e),
            (FLAT, e * e),
            (TALL, opening(0.1, (0.01 + 0.25) / 3.0)),
        ];
        for (body, kept) in cases {
            for (floor, text) in FLOORS.iter().enumerate() {
                let list = impacts(&body.run([0.0, e], 0.45, text));
                let told = format!("{} on floor {floor} at {e}: {list:?}", body.shape);
                let [_, before, after] = *list.first().expect(&told);
                let share = after / before;
                assert!((share - kept).abs() <= 2e-4, "{told}, expected {kept}");
            }
        }
    }
}

#[test]
fn joints_that_constrain_nothing_change_no_landing() {
    for surface in [[0.0, 0.8], [0.4, 0.6]] {
        let of = |joints: &str| impacts(&ROD.run(surface, 0.45, &format!("{}{joints}", FLOORS[0])));
        let alone = of("");
        for joints in [FREE, BYSTANDER] {
            let [[time, before, after], ..] = of(joints)[..] else {
                panic!("no impact")
            };
            let [t, minus, plus] = alone[0];
            assert!((time - t).abs() <= 1e-5, "{time} {t}");
            let (loss, expected) = (before - after, minus - plus);
            assert!(
                (loss - expected).abs() <= 1e-4 * minus,
                "{joints}: {loss} {expected}"
            );
        }
    }
}

/// The impacts of the far end accumulate while the near end lasts: each landing keeps $e^2$, and the rod ends at rest.
#[test]
fn a_rod_comes_to_rest_by_ever_smaller_landings() {
    for (floor, e) in [(0, 0.5_f64), (1, 0.5), (0, 0.3), (1, 0.3)] {
        let record = ROD.run([0.0, e], 1.0, FLOORS[floor]);
        let list = impacts(&record);
        assert!((5..40).contains(&list.len()), "{}", list.len());
        for (k, [_, before, after]) in list.iter().take(5).enumerate() {
            let share = after / list[0][1];
            let kept = e.powi(2 * k as i32 + 2);
            assert!((share / kept - 1.0).abs() <= 1e-3, "{k}: {share} {kept}");
            assert!(before > after);
        }
        let end = record.results["energy"]["final_j"].as_f64().unwrap();
        assert!((end - 9.80665 * 0.01).abs() <= 1e-9, "{end}");
    }
}

/// A rod as a mechanism in the plane: its near end slips from rest as the far end lands.
#[test]
fn a_rod_with_friction_lands_in_a_mechanism_as_in_a_world() {
    for [friction, restitution] in [[0.1, 0.9], [0.3, 0.5], [0.6, 0.3], [0.6, 0.9]] {
        let contact = |name: &str, x: f64| {
            format!(
                "[[contacts]]\nname = \"{name}\"\nlink = \"rod\"\npoint = [{x:?}, 0.0]\nradius = 0.01\n\
                 line = {{ point = [0.0, 0.0], normal = [0.0, 1.0] }}\n\
                 friction = {friction:?}\nrestitution = {restitution:?}\n"
            )
        };
        let height = ROD.low + ROD.arm * ROD.tilt.sin();
        let toml = format!(
            "duration = 0.45\ntime_step = 0.00025\ngravity = [0.0, -9.80665]\nlaw = {{ name = \"poisson\" }}\n\
             [[links]]\nname = \"rod\"\njoint = \"floating\"\nmass = 1.0\ninertia = 0.0856008552631579\n\
             position = [0.0, {height:?}, {:?}]\n{}{}",
            ROD.tilt,
            contact("near", -0.5),
            contact("far", 0.5)
        );
        let overrides = Overrides {
            toml,
            ..Overrides::default()
        };
        let record = scenario("mechanism").unwrap().run(&overrides).unwrap();
        let [[time, before, after], ..] = impacts(&record)[..] else {
            panic!("no impact")
        };
        let [[t, minus, plus], ..] =
            impacts(&ROD.run([friction, restitution], 0.45, FLOORS[0]))[..]
        else {
            panic!("no impact")
        };
        assert!((time - t).abs() <= 1e-3 * t, "{time} {t}");
        let (share, expected) = ((after / before).sqrt(), (plus / minus).sqrt());
        assert!(
            (share - expected).abs() <= 3e-2,
            "{friction} {restitution}: {share} {expected}"
        );
    }
}
