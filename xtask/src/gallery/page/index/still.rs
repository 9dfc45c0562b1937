//! Pictures of motion in space: one moment of an animation, which the script of the player draws without controls.

use carom_report::animation::{Animation, Scene};

/// Part of a motion that the picture shows: enough for the first impacts to have happened.
const SHOWN: f64 = 0.6;

/// Most poses in a picture: they make paths smooth, and the page heavy.
const MOST_POSES: usize = 120;

/// Fewest frames of a path.
const FEWEST_FRAMES: usize = 3;

/// Writes the HTML of a picture of an animation in space; `None` for one in the plane, or one that cannot be drawn.
pub(super) fn still(animation: &Animation) -> Option<String> {
    let mut shown = animation.clone();
    let Scene::Space { bodies, .. } = &mut shown.scene else {
        return None;
    };
    let (first, last) = (*shown.times.first()?, *shown.times.last()?);
    let moment = first + SHOWN * (last - first);
    let end = shown.times.iter().rposition(|time| *time <= moment)?;
    let wanted = (MOST_POSES / bodies.len().max(1)).max(FEWEST_FRAMES);
    let count = wanted.min(end + 1);
    // From the start to the moment, evenly in frames; the moment itself is the last one.
    let kept: Vec<usize> = (0..count)
        .map(|k| {
            if count == 1 {
                end
            } else {
                k * end / (count - 1)
            }
        })
        .collect();
    let thin = |list: &mut Vec<f64>| {
        if list.len() > 1 {
            *list = kept.iter().filter_map(|k| list.get(*k).copied()).collect();
        }
    };
    for body in bodies {
        body.label.clear();
        body.position
            .iter_mut()
            .chain(&mut body.rotation)
            .for_each(thin);
    }
    thin(&mut shown.times);
    shown.impacts.clear();
    shown.impulses.clear();
    let data = serde_json::to_string(&shown).ok()?.replace('<', "\\u003c");
    Some(format!(
        "<div class=\"still\"></div><script type=\"application/json\">{data}</script>"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gallery::golden;

    #[test]
    fn a_picture_in_space_is_light_and_ends_before_the_motion() {
        let records = golden();
        let all = records.iter().flat_map(|record| &record.animations);
        let pictures: Vec<String> = all.filter_map(still).collect();
        assert!(pictures.len() > 10, "{}", pictures.len());
        for picture in pictures {
            assert!(picture.len() < 150_000, "{} bytes", picture.len());
            assert!(!picture.contains("NaN"));
        }
    }
}
