//! Closest points of bodies that touch a plane with a face, an edge or a vertex, and of bodies rounded by a ball.

use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::config::{Input, Positive};
use carom_geometry::{Cuboid, HalfSpace, Rounded, Shape, SupportMap};
use carom_lie::{Se3, So3};
use carom_report::record::{Color, Mark, Quantity, Record};
use nalgebra::Vector3;
use serde::Deserialize;
use std::f64::consts::{FRAC_PI_4, TAU};

/// Number of directions that trace an outline.
const DIRECTIONS: usize = 180;

/// Distance, as a share of the body's size, up to which a point counts as touching.
const TOUCHING: f64 = 1e-9;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    half_extents: Positive<[f64; 3]>,
    radii: Positive<Vec<f64>>,
    tilt: [f64; 2],
}

pub(crate) fn run(input: &Input<'_>) -> Result<Record, ScenarioError> {
    let (config, mut record) = input.begin::<Config>()?;
    let [tilt_x, tilt_y] = config.tilt;
    let cuboid =
        Cuboid::new(*config.half_extents).map_err(|e| ScenarioError::value("half_extents", e))?;
    let bare = Shape::Cuboid(cuboid);
    let rounded = config
        .radii
        .iter()
        .map(|radius| {
            let rounded = Rounded::new(bare.clone(), *radius)
                .map_err(|e| ScenarioError::value("radii", e))?;
            Ok((*radius, Shape::Rounded(Box::new(rounded))))
        })
        .collect::<Result<Vec<_>, ScenarioError>>()?;
    let Some((_, smooth)) = rounded.first() else {
        return Err(ScenarioError::value("radii", "at least one is needed"));
    };
    let tilted = So3::exp(&(Vector3::y() * tilt_y)).compose(&So3::exp(&(Vector3::x() * tilt_x)));
    let on_edge = So3::exp(&(Vector3::y() * FRAC_PI_4));
    let floor =
        HalfSpace::new(Vector3::z(), 0.0).map_err(|e| ScenarioError::value("half_extents", e))?;

    let face = Pose::resting(&floor, smooth, So3::identity());
    let edge = Pose::resting(&floor, smooth, on_edge);
    let corner = Pose::resting(&floor, smooth, tilted);
    let [a, b, _] = *config.half_extents;
    record.quantities.extend([
        Quantity::new("face_area_m2", area(&face.patch()), "m^2")
            .closed_form(4.0 * a * b, "the face of the box itself"),
        Quantity::new("edge_length_m", length(&edge.patch()), "m")
            .closed_form(2.0 * b, "the edge of the box itself"),
        Quantity::new("corner_points", corner.patch().len() as f64, "")
            .note("1 if neither tilt is a multiple of a right angle"),
    ]);
    let (gap_error, point_error) = offsets(&floor, &bare, &rounded, tilted);
    record.quantities.extend([
        Quantity::new("offset_gap_error_m", gap_error, "m")
            .closed_form(0.0, "Eq. (66): the gap of the box less the radius"),
        Quantity::new("offset_point_error_m", point_error, "m").closed_form(
            0.0,
            "Eq. (65): the closest point moves by the radius along the normal",
        ),
    ]);
    for plot in [
        from_below("closest-points/fig2a_face", &face),
        from_below("closest-points/fig2b_edge", &edge),
        level_sets(&bare, &rounded),
        closest(&floor, &bare, smooth, tilted, &corner),
    ] {
        plot.draw(&mut record)?;
    }
    Ok(record)
}

/// A body in contact with the floor, in its pose.
struct Pose<'a> {
    floor: &'a HalfSpace,
    shape: &'a Shape,
    at: Se3,
}

impl<'a> Pose<'a> {
    /// Creates the pose of a shape with the given rotation, at the height at which it touches the floor.
    fn resting(floor: &'a HalfSpace, shape: &'a Shape, rotation: So3) -> Self {
        let lowest = floor
            .gap(shape, &Se3::new(rotation, Vector3::zeros()))
            .value;
        let at = Se3::new(rotation, Vector3::z() * -lowest);
        Self { floor, shape, at }
    }

    /// Returns the outline of the body seen along the normal of a plane, as points [right, up]. `right` and `up`: orthogonal
    /// unit vectors that span the plane.
    fn outline(&self, right: &Vector3<f64>, up: &Vector3<f64>) -> Vec<[f64; 2]> {
        let point = |k: usize| {
            let (sin, cos) = libm::sincos(TAU * k as f64 / DIRECTIONS as f64);
            let outward = right * cos + up * sin;
            // The support function returns the lowest point along a direction.
            let inward = self.at.rotation.rotate_back(&-outward);
            let p = self.at.act(&self.shape.support(&inward).point);
            [right.dot(&p), up.dot(&p)]
        };
        (0..=DIRECTIONS).map(point).collect()
    }

    /// Returns the points of the body that are closest to the floor, in world coordinates sorted by the angle about the
    /// mean of these points.
    fn patch(&self) -> Vec<Vector3<f64>> {
        let tolerance = TOUCHING * self.shape.bounding_radius();
        let patch = self.floor.contact_patch(self.shape, &self.at, tolerance);
        let mut points: Vec<Vector3<f64>> = patch.points_b.iter().map(|p| self.at.act(p)).collect();
        let middle = points.iter().sum::<Vector3<f64>>() / points.len() as f64;
        let angle = |p: &Vector3<f64>| libm::atan2(p.y - middle.y, p.x - middle.x);
        points.sort_by(|p, q| angle(p).total_cmp(&angle(q)));
        points
    }
}

/// Returns the area of a polygon in a horizontal plane.
fn area(corners: &[Vector3<f64>]) -> f64 {
    let next = corners.iter().cycle().skip(1);
    let cross = |(p, q): (&Vector3<f64>, &Vector3<f64>)| p.x * q.y - p.y * q.x;
    0.5 * corners.iter().zip(next).map(cross).sum::<f64>()
}

/// Returns the largest distance between two points.
fn length(points: &[Vector3<f64>]) -> f64 {
    let others = points
        .iter()
        .flat_map(|p| points.iter().map(move |q| (p - q).norm()));
    others.fold(0.0, f64::max)
}

/// Returns the largest errors of the closest-point formulas for rounded bodies, over all radii: that of Eq. (65) for the gap,
/// and that of Eq. (66) for the closest point (m). `bare`: body before rounding; `rounded`: rounding radius (m) with the
/// rounded body.
fn offsets(floor: &HalfSpace, bare: &Shape, rounded: &[(f64, Shape)], rotation: So3) -> (f64, f64) {
    let at = Se3::new(rotation, Vector3::new(0.0, 0.0, 3.0));
    let base = floor.gap(bare, &at);
    let mut errors: (f64, f64) = (0.0, 0.0);
    for (radius, shape) in rounded {
        let gap = floor.gap(shape, &at);
        let moved = base.point_b - base.normal_b * *radius;
        errors.0 = errors.0.max((gap.value - (base.value - radius)).abs());
        errors.1 = errors.1.max((gap.point_b - moved).norm());
    }
    errors
}

/// Draws the outline of a body and its closest points into the figure `path`, seen from below.
fn from_below(path: &str, pose: &Pose<'_>) -> Plot {
    let outline = pose.outline(&Vector3::x(), &Vector3::y());
    let patch: Vec<[f64; 2]> = pose.patch().iter().map(|p| [p.x, p.y]).collect();
    let mut plot = Plot::new(path).through("body", outline);
    if patch.len() > 2 {
        plot = plot.through("face", patch.iter().copied());
    } else {
        // An empty legend entry beside that of the points.
        let (x, y) = patch.iter().map(|[x, y]| (*x, *y)).unzip();
        plot.mark(Mark::line("", x, y, Color::Vermillion));
    }
    plot.through("closest points", patch)
}

/// Draws the sections of a box and of its rounded forms in the plane y = 0 through the center, as in Fig. 3(a). `bare`: box;
/// `rounded`: rounding radius (m) with the rounded box.
fn level_sets(bare: &Shape, rounded: &[(f64, Shape)]) -> Plot {
    let section = |shape: &Shape| {
        let point = |k: usize| {
            let (sin, cos) = libm::sincos(TAU * k as f64 / DIRECTIONS as f64);
            let p = shape.support(&Vector3::new(-cos, 0.0, -sin)).point;
            [p.x, p.z]
        };
        (0..=DIRECTIONS).map(point).collect::<Vec<_>>()
    };
    let mut plot = Plot::new("closest-points/fig3a_level_sets").through("box", section(bare));
    for (k, (radius, shape)) in rounded.iter().enumerate() {
        plot.numbered("radius", k, &format!("radius {radius} m"), section(shape));
    }
    plot
}

/// Draws the closest points of a box and of its rounded form over the floor, as in Fig. 3(b). The closest point of the rounded
/// box lies on a rounded corner. `bare`: box; `smooth`: rounded box; `rotation`: attitude of both; `corner`: pose of a box
/// that stands on a corner, which gives the position of both.
fn closest(
    floor: &HalfSpace,
    bare: &Shape,
    smooth: &Shape,
    rotation: So3,
    corner: &Pose<'_>,
) -> Plot {
    let side = |shape| {
        let at = Se3::new(rotation, corner.at.translation);
        Pose { floor, shape, at }.outline(&Vector3::x(), &Vector3::z())
    };
    let point = |shape| {
        let gap = floor.gap(shape, &corner.at);
        let p = corner.at.act(&gap.point_b);
        [p.x, p.z]
    };
    let (sharp, round) = (point(bare), point(smooth));
    let outlines = [side(bare), side(smooth)];
    let ends = outlines
        .iter()
        .flatten()
        .fold([0.0, 0.0], |[l, r], [x, _]| {
            [f64::min(l, *x), f64::max(r, *x)]
        });
    let [bare_outline, round_outline] = outlines;
    let mut plot = Plot::new("closest-points/fig3b_closest_point")
        .through("plane", ends.map(|x| [x, 0.0]))
        .through("box", bare_outline)
        .through("rounded", round_outline);
    plot.mark(Mark::arrow(sharp, round, Color::Black));
    plot.through("corner", [sharp])
        .through("closest point", [round])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::Overrides;

    fn quantity(toml: &str, name: &str) -> f64 {
        let overrides = Overrides {
            toml: toml.to_owned(),
            ..Overrides::default()
        };
        let record = crate::scenario("closest-points")
            .unwrap()
            .run(&overrides)
            .unwrap();
        let quantity = record.quantities.iter().find(|q| q.name == name);
        quantity.unwrap().value
    }

    #[test]
    fn a_tilted_box_touches_in_one_corner_and_a_turned_one_along_an_edge() {
        assert_eq!(quantity("", "corner_points"), 1.0);
        assert_eq!(quantity("tilt = [0.0, 0.5]", "corner_points"), 2.0);
        assert_eq!(quantity("tilt = [0.0, 0.0]", "corner_points"), 4.0);
    }

    #[test]
    fn a_body_without_a_radius_is_refused() {
        let overrides = Overrides {
            toml: "radii = []".to_owned(),
            ..Overrides::default()
        };
        let error = crate::scenario("closest-points")
            .unwrap()
            .run(&overrides)
            .unwrap_err();
        assert!(error.is_configuration());
        assert!(error.to_string().contains("radii"), "{error}");
    }
}
