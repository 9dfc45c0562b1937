//! Fig. 4: the body along its path, from the side and from above.

use super::System;
use super::outline::{Camera, outline};
use crate::ScenarioError;
use crate::record::{Axis, Color, Figure, LineStyle, Mark, PointShape, Quantity, Record};
use carom_geometry::HalfSpace;
use carom_variational::{Flight, State, Trajectory};
use nalgebra::Vector3;

/// Impacts drawn; later ones would cover them.
const IMPACTS: usize = 3;

/// Points of the path.
const PATH_POINTS: usize = 240;

pub(super) fn snapshots<F: Flight>(
    system: &System,
    run: &Trajectory<'_, F>,
    record: &mut Record,
) -> Result<(), ScenarioError> {
    let hits = run.impacts();
    // Up to the flight after the last impact drawn.
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

    let camera = Camera::beside(last - first);
    let (x, y) = camera.project(&path);
    let mut figure = Figure::new(
        "snapshots",
        "Snapshots",
        "Fig. 4: the body at the start, at its first impacts and between them, in parallel \
         projection from 15 degrees above; the center of mass in gray.",
        Axis::linear("along the path", "m"),
        Axis::linear("height and depth", "m"),
    )
    .equal_aspect()
    .mark(ground(system, &camera, &path))
    .mark(Mark::Line {
        label: None,
        x,
        y,
        style: LineStyle::Solid,
        color: Color::Gray,
    });
    let colors = [Color::Blue, Color::Vermillion];
    for (time, is_impact) in drawn_times(run, end) {
        let state = run.state_at(time)?;
        for line in outline(&system.shape) {
            let (x, y) = camera.project(&in_space(&state, &line));
            figure = figure.mark(Mark::Line {
                label: None,
                x,
                y,
                style: LineStyle::Solid,
                color: colors[usize::from(is_impact)],
            });
        }
    }
    record.figures.push(figure);
    top_view(run, record)
}

/// The start, the impacts, and the middle of every flight.
fn drawn_times<F: Flight>(run: &Trajectory<'_, F>, end: f64) -> Vec<(f64, bool)> {
    let mut drawn = vec![(0.0, false)];
    let mut previous = 0.0;
    for impact in run.impacts().iter().take(IMPACTS) {
        // Hits in quick succession would only blacken the picture.
        if impact.time - previous > 0.3 {
            drawn.push((0.5 * (previous + impact.time), false));
            drawn.push((impact.time, true));
        }
        previous = impact.time;
    }
    drawn.push((end, false));
    drawn
}

fn in_space(state: &State, line: &[Vector3<f64>]) -> Vec<Vector3<f64>> {
    let configuration = state.configuration();
    line.iter().map(|point| configuration.act(point)).collect()
}

/// A piece of the plane under the path.
fn ground(system: &System, camera: &Camera, path: &[Vector3<f64>]) -> Mark {
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
    let corners = corners.map(|corner| drop_onto(&system.plane, &corner));
    let (x, y) = camera.project(&corners);
    Mark::Polygon {
        x,
        y,
        color: Color::Gray,
    }
}

/// The point of the plane vertically below or above; the point itself for a vertical plane.
fn drop_onto(plane: &HalfSpace, point: &Vector3<f64>) -> Vector3<f64> {
    let slope = plane.normal().z;
    if slope.abs() < 1e-6 {
        return point - plane.normal() * plane.height(point);
    }
    point - Vector3::z() * (plane.height(point) / slope)
}

/// The path of the center of mass from above, and how far it is from straight.
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
    let (x, y) = camera.project(nodes.iter().step_by(stride));
    let (hit_x, hit_y) = camera.project(run.impacts().iter().map(|i| &i.after.position));
    let figure = Figure::new(
        "top_view",
        "Path from above",
        "Fig. 4, seen from above: straight over a level plane, because the impulse is vertical. Over \
         a tilted plane it has a kink at every impact and is straight between them: a polygon, where \
         the paper speaks of a curve (and calls the tilted case III; it is II).",
        Axis::linear("x", "m"),
        Axis::linear("y", "m"),
    )
    .equal_aspect()
    .mark(Mark::line("center of mass", x, y, Color::Blue))
    .mark(Mark::Points {
        label: Some("impacts".to_owned()),
        x: hit_x,
        y: hit_y,
        shape: PointShape::Circle,
        color: Color::Vermillion,
    });
    record.figures.push(figure);
    Ok(())
}
