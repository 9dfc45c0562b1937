//! Test that polyhedral cones cover all of space.

use super::branch::SLIVER;
use super::interior::{INTERIOR, wider};
use carom_contact::ImpactError;
use nalgebra::DVector;

/// Largest number of cones whose interior is tested in one search; each test is a small least-squares problem.
const MAX_SEARCHED: usize = 2048;

/// Part of space: the directions with a positive product with each row.
#[derive(Clone, Default)]
struct Part {
    rows: Vec<DVector<f64>>,
    /// Index of the first cone that has not been subtracted from this part.
    next: usize,
}

/// True if the union of `cones` contains all directions of space except for thin gaps; `None` if the search takes too
/// long. Each cone is given by a list of unit vectors, which have a positive product with every direction inside the
/// cone. An empty list stands for all of space.
///
/// The method removes the cones from space one after the other. A part of space minus a cone is a union of smaller parts:
/// each satisfies the first few conditions of the cone and violates the next one. No random directions are used, so that
/// the answer does not depend on coordinates.
pub(super) fn cover(cones: &[&[DVector<f64>]]) -> Result<Option<bool>, ImpactError> {
    if cones.iter().any(|rows| rows.is_empty()) {
        return Ok(Some(true));
    }
    let mut searched = 0;
    let mut open = vec![Part::default()];
    while let Some(part) = open.pop() {
        let Some(cone) = cones.get(part.next) else {
            return Ok(Some(false));
        };
        let mut has_room = |more: &[DVector<f64>], least: f64| {
            searched += 1;
            let rows: Vec<&DVector<f64>> = part.rows.iter().chain(more).collect();
            wider(&rows, least).map(|inside| inside.is_some())
        };
        let next = part.next + 1;
        // Thin cones count, too: many of them side by side fill a wide part.
        if !has_room(cone, INTERIOR)? {
            open.push(Part {
                next,
                ..part.clone()
            });
            continue;
        }
        for (k, row) in cone.iter().enumerate() {
            let mut more = cone[..k].to_vec();
            more.push(-row);
            if has_room(&more, SLIVER)? {
                let rows = part.rows.iter().cloned().chain(more).collect();
                open.push(Part { rows, next });
            }
        }
        if searched > MAX_SEARCHED {
            return Ok(None);
        }
    }
    Ok(Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::dvector;

    /// Cones of the plane between two angles in degrees, less than 180 apart.
    fn sector(from: f64, to: f64) -> Vec<DVector<f64>> {
        let at = |degrees: f64| degrees.to_radians().sin_cos();
        let ((s, c), (t, d)) = (at(from), at(to));
        vec![dvector![-s, c], dvector![t, -d]]
    }

    fn covers(cones: &[Vec<DVector<f64>>]) -> Option<bool> {
        let cones: Vec<&[DVector<f64>]> = cones.iter().map(Vec::as_slice).collect();
        cover(&cones).unwrap()
    }

    #[test]
    fn sectors_cover_the_plane_as_their_angles_say() {
        let all = [
            sector(0.0, 120.0),
            sector(100.0, 230.0),
            sector(230.0, 365.0),
        ];
        assert_eq!(covers(&all), Some(true));
        assert_eq!(covers(&all[..2]), Some(false));
        let gap = [
            sector(0.0, 120.0),
            sector(121.0, 240.0),
            sector(240.0, 360.0),
        ];
        assert_eq!(covers(&gap), Some(false));
        assert_eq!(covers(&[vec![dvector![1.0, 0.0]]]), Some(false));
        assert_eq!(
            covers(&[vec![dvector![1.0, 0.0]], vec![dvector![-1.0, 0.0]]]),
            Some(true)
        );
        assert_eq!(covers(&[Vec::new()]), Some(true));
        assert_eq!(covers(&[]), Some(false));
    }

    /// A fan of thin sectors, as the branches beside an endless chain of strikes have.
    #[test]
    fn thin_sectors_fill_a_wide_part() {
        let edge = |k: usize| 359.8 + 0.001 * k as f64;
        let mut all = vec![
            sector(0.0, 120.0),
            sector(120.0, 240.0),
            sector(240.0, edge(0)),
        ];
        all.extend((0..200).map(|k| sector(edge(k), edge(k + 1))));
        assert_eq!(covers(&all), Some(true));
        assert_eq!(covers(&all[..103]), Some(false));
    }

    /// All octants but one leave that one.
    #[test]
    fn one_octant_is_missed() {
        let octant = |code: usize| -> Vec<DVector<f64>> {
            let sign = |k: usize| if code >> k & 1 == 0 { 1.0 } else { -1.0 };
            (0..3)
                .map(|k| DVector::from_fn(3, |i, _| if i == k { sign(k) } else { 0.0 }))
                .collect()
        };
        let all: Vec<_> = (0..8).map(octant).collect();
        assert_eq!(covers(&all), Some(true));
        assert_eq!(covers(&all[1..]), Some(false));
    }
}
