//! Drawings of the body along its path, from the side and from above: Tran & Leok, Fig. 4.

use super::System;
use super::outline::views;
use crate::ScenarioError;
use crate::common::plot::Plot;
use crate::common::projection::Camera;
use carom_geometry::HalfSpace;
use carom_motion::flying::Trajectory;
use carom_report::record::{Quantity, Record};
use carom_variational::Flight;
use nalgebra::Vector3;

/// Largest number of impacts drawn; later ones would cover the earlier ones.
const IMPACTS: usize = 3;

/// Least distance of two drawn bodies, in bounding radii.
const APART: f64 = 0.6;

/// Number of points on the path.
const PATH_POINTS: usize = 240;

pub(super) fn snapshots<F: Flight>(
    system: &System,
    run: &Trajectory<'_, F>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let hits = run.impacts();
    // The drawing ends at the impact that follows the last one drawn.
    let end = hits.get(IMPACTS).map_or(run.end().time, |next| {
        0.5 * (next.time + hits[IMPACTS - 1].time)
    });
    let times = (0..=PATH_POINTS).map(|k| end * k as f64 / PATH_POINTS as f64);
    let mut times: Vec<f64> = times.chain(hits.iter().map(|i| i.time)).collect();
    times.retain(|time| *time <= end);
    times.sort_by(f64::total_cmp);
    let path: Vec<Vector3<f64>> = times
        .iter()
        .map(|&time| run.state_at(time).map(|state| state.position))
        .collect::<Result<_, _>>()?;
    let (first, last) = (path[0], path[path.len() - 1]);

    let camera = Camera::beside(last - first, 15.0);
    let place = |p: &Vector3<f64>| camera.place(p);
    let mut plot = Plot::new("bouncing/snapshots")
        .through("ground", ground(system, &path).iter().map(place))
        .through("center of mass", path.iter().map(place));
    for (time, is_impact) in drawn_times(system, run, &camera, end)? {
        let state = run.state_at(time)?;
        let k = usize::from(is_impact);
        for view in views(&system.shape, &state, &camera) {
            plot.numbered("body", k, "", view.silhouette.iter().map(place));
            for line in view.lines {
                plot.numbered("edges of the body", k, "", line.iter().map(place));
            }
        }
    }
    plot.draw(record)?;
    top_view(run, record)
}

/// Returns the times (s) at which the body is drawn, each with true if an impact happens then. Candidates are the start, the
/// impacts, the end and the middle of every flight, in this order. A candidate is omitted if the body would cover an earlier
/// one in the picture.
fn drawn_times<F: Flight>(
    system: &System,
    run: &Trajectory<'_, F>,
    camera: &Camera,
    end: f64,
) -> Result<Vec<(f64, bool)>, ScenarioError> {
    let hits: Vec<f64> = run.impacts().iter().take(IMPACTS).map(|i| i.time).collect();
    let bounds = std::iter::once(&0.0).chain(&hits).zip(&hits);
    let middles = bounds.map(|(from, to)| 0.5 * (from + to));
    let impacts = hits.iter().map(|time| (*time, true));
    let candidates = std::iter::once((0.0, false))
        .chain(impacts)
        .chain(std::iter::once((end, false)))
        .chain(middles.map(|t| (t, false)));
    let apart = APART * carom_geometry::SupportMap::bounding_radius(&system.shape);
    let mut drawn: Vec<(f64, bool, [f64; 2])> = Vec::new();
    for (time, is_impact) in candidates {
        let [x, y] = camera.place(&run.state_at(time)?.position);
        if drawn
            .iter()
            .all(|(_, _, [a, b])| libm::hypot(x - a, y - b) >= apart)
        {
            drawn.push((time, is_impact, [x, y]));
        }
    }
    drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(drawn
        .into_iter()
        .map(|(time, is_impact, _)| (time, is_impact))
        .collect())
}

/// Draws a strip of the contact plane below the path of a body. `path`: positions of the center of mass.
fn ground(system: &System, path: &[Vector3<f64>]) -> [Vector3<f64>; 4] {
    let radius = carom_geometry::SupportMap::bounding_radius(&system.shape);
    let along = (path[path.len() - 1] - path[0])
        .component_mul(&Vector3::new(1.0, 1.0, 0.0))
        .try_normalize(1e-12)
        .unwrap_or_else(Vector3::x);
    let across = Vector3::z().cross(&along) * radius;
    let (begin, end) = (
        path[0] - along * radius,
        path[path.len() - 1] + along * radius,
    );
    let corners = [begin - across, end - across, end + across, begin + across];
    corners.map(|corner| drop_onto(&system.plane, &corner))
}

/// Projects a point vertically onto the plane. If the plane is nearly vertical, the projection is along its normal instead.
fn drop_onto(plane: &HalfSpace, point: &Vector3<f64>) -> Vector3<f64> {
    let slope = plane.normal().z;
    if slope.abs() < 1e-6 {
        return point - plane.normal() * plane.height(point);
    }
    point - Vector3::z() * (plane.height(point) / slope)
}

/// Draws the path of the body's center of mass seen from above. Reports the largest distance of this path from the straight
/// line between its ends (m).
fn top_view<F: Flight>(run: &Trajectory<'_, F>, record: &mut Record) -> Result<(), ScenarioError> {
    let nodes: Vec<Vector3<f64>> = run.nodes().map(|(_, state)| state.position).collect();
    let begin = nodes[0];
    let chord = (run.end().state.position - begin).component_mul(&Vector3::new(1.0, 1.0, 0.0));
    let direction = chord.try_normalize(1e-12).unwrap_or_else(Vector3::x);
    let off = |p: &Vector3<f64>| direction.x * (p.y - begin.y) - direction.y * (p.x - begin.x);
    let bend = nodes
        .iter()
        .fold(0.0, |most: f64, p| most.max(off(p).abs()));
    record.quantities.push(
        Quantity::new("top_view_bend_m", bend, "m")
            .note("largest distance of the path, seen from above, from its chord"),
    );
    let camera = Camera::above();
    let stride = (nodes.len() / PATH_POINTS).max(1);
    let place = |p: &Vector3<f64>| camera.place(p);
    let hits = run.impacts().iter().map(|i| place(&i.after.position));
    Plot::new("bouncing/top_view")
        .through("center of mass", nodes.iter().step_by(stride).map(place))
        .through("impacts", hits)
        .draw(record)
}
