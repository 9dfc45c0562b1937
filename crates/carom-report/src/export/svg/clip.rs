//! The parts of marks that lie inside a rectangle.

use super::geometry::{Point, is_finite};

/// A rectangle with sides along the axes; `top` is the smaller ordinate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Rect {
    pub(super) fn width(self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(self) -> f64 {
        self.bottom - self.top
    }

    pub(super) fn contains(self, [x, y]: Point) -> bool {
        let slack = 0.05;
        x >= self.left - slack
            && x <= self.right + slack
            && y >= self.top - slack
            && y <= self.bottom + slack
    }
}

/// Clips a polyline to a rectangle. Returns the parts of the polyline inside the rectangle, in order. A point with a
/// coordinate that is NaN or infinite interrupts the polyline.
pub(super) fn visible_runs(points: &[Point], frame: Rect) -> Vec<Vec<Point>> {
    let mut runs: Vec<Vec<Point>> = Vec::new();
    for (a, b) in points.iter().zip(points.iter().skip(1)) {
        let Some([start, end]) = clip_segment(*a, *b, frame) else {
            continue;
        };
        match runs.last_mut() {
            Some(run) if run.last() == Some(&start) => run.push(end),
            _ => runs.push(vec![start, end]),
        }
    }
    runs
}

/// Clips the segment from `a` to `b` to a rectangle by the method of Liang and Barsky. Returns the ends of the part inside;
/// `None` if the segment lies outside.
fn clip_segment(a: Point, b: Point, frame: Rect) -> Option<[Point; 2]> {
    if !is_finite(&a) || !is_finite(&b) {
        return None;
    }
    let ([ax, ay], [bx, by]) = (a, b);
    let (dx, dy) = (bx - ax, by - ay);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    let sides = [
        (-dx, ax - frame.left),
        (dx, frame.right - ax),
        (-dy, ay - frame.top),
        (dy, frame.bottom - ay),
    ];
    for (outward, room) in sides {
        if outward == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if outward < 0.0 {
            enter = enter.max(room / outward);
        } else {
            leave = leave.min(room / outward);
        }
    }
    let at = |t: f64| [ax + t * dx, ay + t * dy];
    // Ends inside the frame stay exact, because runs are joined by comparing their ends.
    let start = if enter > 0.0 { at(enter) } else { a };
    let end = if leave < 1.0 { at(leave) } else { b };
    (enter <= leave).then_some([start, end])
}

/// Clips a polygon to a rectangle by the method of Sutherland and Hodgman. Returns the corners of the part inside.
pub(super) fn clip_polygon(corners: &[Point], frame: Rect) -> Vec<Point> {
    let sides: [(usize, f64, f64); 4] = [
        (0, 1.0, frame.left),
        (0, -1.0, -frame.right),
        (1, 1.0, frame.top),
        (1, -1.0, -frame.bottom),
    ];
    let mut polygon = corners.to_vec();
    for (axis, sign, limit) in sides {
        let depth = |[x, y]: Point| sign * if axis == 0 { x } else { y } - limit;
        let previous = polygon
            .last()
            .copied()
            .into_iter()
            .chain(polygon.iter().copied());
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (a, b) in previous.zip(polygon.iter().copied()) {
            let (da, db) = (depth(a), depth(b));
            if (da < 0.0) != (db < 0.0) {
                let t = da / (da - db);
                kept.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
            }
            if db >= 0.0 {
                kept.push(b);
            }
        }
        polygon = kept;
    }
    polygon
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Rect = Rect {
        left: 0.0,
        top: 0.0,
        right: 10.0,
        bottom: 10.0,
    };

    #[test]
    fn nan_breaks_a_line_and_clipping_cuts_it() {
        let points = [
            [1.0, 1.0],
            [2.0, 2.0],
            [f64::NAN, 2.0],
            [3.0, 3.0],
            [3.0, 30.0],
        ];
        let runs = visible_runs(&points, FRAME);
        assert_eq!(runs, [[[1.0, 1.0], [2.0, 2.0]], [[3.0, 3.0], [3.0, 10.0]]]);
    }

    #[test]
    fn clipped_polygon_stays_inside() {
        let clipped = clip_polygon(&[[-5.0, 5.0], [5.0, -5.0], [15.0, 5.0], [5.0, 15.0]], FRAME);
        assert!(clipped.len() >= 4, "{clipped:?}");
        assert!(clipped.iter().all(|p| FRAME.contains(*p)), "{clipped:?}");
    }
}
