//! Quaternions of a configuration, whose length is 1 but for their digits.

use carom_lie::So3;
use nalgebra::Vector3;

/// Largest deviation of the length of a quaternion w, x, y, z from 1: its components have three digits at least.
const UNIT_LENGTH: f64 = 2e-3;

/// Deviation of the length of a quaternion from 1 above which its normalization is told, or refused in a state.
pub(crate) const TOLD_LENGTH: f64 = 1e-6;

/// Converts the quaternion w, x, y, z to a rotation. A length that three digits explain is normalized; the error for another one
/// has the normalized quaternion.
pub(crate) fn normalized(quaternion: [f64; 4]) -> Result<So3, String> {
    let [w, x, y, z] = quaternion;
    if let Some(value) = quaternion.iter().find(|x| !x.is_finite()) {
        return Err(format!("{value} must be finite"));
    }
    let length = length(&quaternion);
    if (length - 1.0).abs() > UNIT_LENGTH {
        let unit = quaternion.map(|x| x / length);
        let hint = if unit.iter().all(|x| x.is_finite()) {
            format!("; normalized it is {unit:?}")
        } else {
            String::new()
        };
        return Err(format!(
            "{quaternion:?} has the length {length}, not 1{hint}"
        ));
    }
    So3::from_quaternion(w, &Vector3::new(x, y, z)).ok_or_else(|| "no rotation".to_owned())
}

fn length(quaternion: &[f64; 4]) -> f64 {
    quaternion.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Returns a warning for the quaternion at the configuration key `key` if its length is not 1 and normalized.
pub(super) fn warning(key: &str, quaternion: &[f64; 4]) -> Option<String> {
    let length = length(quaternion);
    let off = (length - 1.0).abs();
    (off > TOLD_LENGTH && off <= UNIT_LENGTH)
        .then(|| format!("quaternion `{key}`: its length {length} is normalized to 1"))
}
