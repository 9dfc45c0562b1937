//! Points and polylines, in pixels.

/// Point on the canvas (pixels).
pub(super) type Point = [f64; 2];

pub(super) fn is_finite(point: &Point) -> bool {
    point.iter().all(|v| v.is_finite())
}

/// Returns the unit vector from the first point to the second, and their distance (pixels). Returns `None` if the distance
/// is at most 0.1 pixels or not finite.
pub(super) fn direction([x0, y0]: Point, [x1, y1]: Point) -> Option<(Point, f64)> {
    let length = (x1 - x0).hypot(y1 - y0);
    let usable = length.is_finite() && length > 0.1;
    usable.then(|| ([(x1 - x0) / length, (y1 - y0) / length], length))
}

/// Omits the points of a polyline that lie within a quarter of a pixel of the last kept point. The last point stays.
pub(super) fn simplified(run: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    let last = run.len().saturating_sub(1);
    for (i, point) in run.iter().enumerate() {
        let near = |q: &Point| (q[0] - point[0]).hypot(q[1] - point[1]) < 0.25;
        if i == last || !kept.last().is_some_and(near) {
            kept.push(*point);
        }
    }
    kept
}

/// Cuts a polyline into dashes. `dash` is the length of a dash and `gap` the distance to the next one (pixels).
pub(super) fn dashes(points: &[Point], dash: f64, gap: f64) -> Vec<Vec<Point>> {
    let mut out: Vec<Vec<Point>> = Vec::new();
    let (mut drawing, mut left) = (true, dash);
    let mut current: Vec<Point> = points.first().copied().into_iter().collect();
    for (a, b) in points.iter().zip(points.iter().skip(1)) {
        let Some(([dx, dy], length)) = direction(*a, *b) else {
            continue;
        };
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let cut = [a[0] + done * dx, a[1] + done * dy];
            if drawing {
                current.push(cut);
                out.push(std::mem::take(&mut current));
            } else {
                current = vec![cut];
            }
            drawing = !drawing;
            left = if drawing { dash } else { gap };
        }
        left -= length - done;
        if drawing {
            current.push(*b);
        }
    }
    out.push(current);
    out.retain(|dash| dash.len() > 1);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_cover_their_share() {
        let pieces = dashes(&[[0.0, 0.0], [50.0, 0.0], [50.0, 50.0]], 6.0, 4.0);
        let length = |p: &Vec<Point>| -> f64 {
            p.iter()
                .zip(p.iter().skip(1))
                .map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]))
                .sum()
        };
        assert_eq!(pieces.len(), 10);
        assert!((pieces.iter().map(length).sum::<f64>() - 60.0).abs() < 1e-9);
    }
}
