//! Animation of the contact velocities during the impact, for each way to resolve it.

use super::system::FrictionalSystem;
use crate::ScenarioError;
use carom_contact::{Diagnostics, ImpactLaw};
use carom_impact::frictional::Sequential;
use carom_report::animation::{Animation, Outline, PlaneBody};
use carom_report::record::{Color, Record};

/// Largest number of impacts in a path with one contact after another.
const MOST_IMPACTS: usize = 20;

/// Radius of a moving point, divided by the largest velocity.
const POINT: f64 = 0.02;

/// Adds an animation of an impact's velocities in the plane of two contact rows (normal or tangential directions of
/// contacts). The animation shows one path for each contact that acts first, and one for each outcome with all contacts
/// at once. `simultaneous`: velocities along the contact rows in these outcomes; `[x, y]`: indices of the two rows. The
/// clock of the animation is the completed fraction of each path.
pub(super) fn playback(
    record: &mut Record,
    system: &FrictionalSystem,
    simultaneous: &[Vec<f64>],
    [x, y]: [usize; 2],
) -> Result<(), ScenarioError> {
    let names = system.row_names();
    let place = |rows: &[f64]| [x, y].map(|k| rows.get(k).copied().unwrap_or(0.0));
    let before = place(&system.contact_velocity(&system.velocity));
    let mut paths = Vec::new();
    for (first, contact) in system.contacts.iter().enumerate() {
        let path = one_by_one(system, first)?;
        let path: Vec<[f64; 2]> = path.iter().map(|rows| place(rows)).collect();
        paths.push((format!("{} first", contact.name), path));
    }
    for rows in simultaneous {
        paths.push(("together".to_owned(), vec![before, place(rows)]));
    }
    // There is a frame at every corner of a path, and evenly spaced frames between for smooth motion.
    let turns = paths
        .iter()
        .flat_map(|(_, path)| (0..path.len()).map(|k| share(k, path.len())));
    let times = Animation::frames(0.0, 1.0, 20, &turns.collect::<Vec<f64>>());
    let reach = paths.iter().flat_map(|(_, path)| path.iter().flatten());
    let size = POINT * reach.fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut animation = Animation::plane(
        "paths",
        "Contact velocities through the impact",
        "Normal or tangential velocities of the contacts from before to after the impact: one \
         contact after another, each first in turn, and all together. The samples of the set of \
         outcomes lie between.",
        times.clone(),
        Vec::new(),
    )
    .clock("share of the impact", "");
    if let (Some(x), Some(y)) = (names.get(x), names.get(y)) {
        animation = animation.axes(format!("{x} [m/s]"), format!("{y} [m/s]"));
    }
    let colors = [Color::Blue, Color::Vermillion, Color::Green, Color::Purple];
    for (k, (label, path)) in paths.into_iter().enumerate() {
        let color = colors.get(k % colors.len()).copied().unwrap_or_default();
        let point = Outline::disk([0.0; 2], size, color);
        let poses = times.iter().map(|t| {
            let [u, v] = along(&path, *t);
            [u, v, 0.0]
        });
        animation = animation.body(PlaneBody::new(vec![point], poses).label(label).trail());
    }
    record.animations.push(animation);
    Ok(())
}

/// Returns the velocities along the contact rows (normal and tangential directions) before the impact, and after each impact
/// of a single contact. `first`: index of the contact that acts first.
fn one_by_one(system: &FrictionalSystem, first: usize) -> Result<Vec<Vec<f64>>, ScenarioError> {
    let resolve = |system: &FrictionalSystem, order: Vec<usize>| {
        let law = Sequential::default().with_order(order);
        Ok::<_, ScenarioError>(law.resolve(&system.problem()?)?)
    };
    let outcome = resolve(system, vec![first])?;
    let Diagnostics::Sequential { sequence, .. } = &outcome.diagnostics else {
        return Ok(Vec::new());
    };
    let mut velocity = system.velocity.clone();
    let mut rows = vec![system.contact_velocity(&velocity)];
    for contact in sequence.iter().take(MOST_IMPACTS) {
        // The system with this contact alone.
        let alone = FrictionalSystem {
            contacts: system
                .contacts
                .iter()
                .skip(*contact)
                .take(1)
                .cloned()
                .collect(),
            velocity: velocity.clone(),
            ..system.clone()
        };
        velocity = resolve(&alone, vec![0])?
            .velocity_plus
            .0
            .as_slice()
            .to_vec();
        rows.push(system.contact_velocity(&velocity));
    }
    Ok(rows)
}

/// Returns the fraction of a path, from 0 to 1, at its point `k` of `n` evenly spaced points.
fn share(k: usize, n: usize) -> f64 {
    k as f64 / (n.max(2) - 1) as f64
}

/// Returns the point at the fraction `share` of a path whose straight pieces take equal times. `path`: its corners.
fn along(path: &[[f64; 2]], share: f64) -> [f64; 2] {
    let position = share * path.len().saturating_sub(1) as f64;
    let piece = position.floor().min(path.len().saturating_sub(2) as f64);
    let at = |k: usize| path.get(k).or(path.last()).copied().unwrap_or_default();
    // The number is between 0 and the small number of points, so the cast is safe.
    let k = piece.max(0.0) as usize;
    let ([x0, y0], [x1, y1], part) = (at(k), at(k + 1), position - piece);
    [x0 + part * (x1 - x0), y0 + part * (y1 - y0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_passes_its_points() {
        let path = [[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]];
        assert_eq!(along(&path, 0.0), [0.0, 0.0]);
        assert_eq!(along(&path, 0.25), [0.5, 0.0]);
        assert_eq!(along(&path, share(1, 3)), [1.0, 0.0]);
        assert_eq!(along(&path, 1.0), [1.0, 2.0]);
        assert_eq!(along(&path[..1], 0.5), [0.0, 0.0]);
    }
}
