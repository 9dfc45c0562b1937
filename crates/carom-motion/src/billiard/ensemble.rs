//! Ensembles of initial states, determined by seed and index.

use carom_numeric::random::uniform;

/// Returns random perturbations of the rolling rate $\Omega$ and the turning rate $\omega$ for the initial state of member
/// `index` of an ensemble. Each is uniform between $-$`amplitude` and `amplitude` (rad/s), and determined by `seed` and
/// `index`.
pub fn perturbation(seed: u64, index: u64, amplitude: f64) -> [f64; 2] {
    [0, 1].map(|k| uniform(seed, 2 * index + k, -amplitude, amplitude))
}
