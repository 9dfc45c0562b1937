//! Ensembles of initial states, determined by seed and index.

use carom_numeric::random::uniform;

/// Returns the perturbations of $(\Omega, \omega)$ of ensemble member `index`, each uniform in $\pm$`amplitude` (rad/s).
pub fn perturbation(seed: u64, index: u64, amplitude: f64) -> [f64; 2] {
    [0, 1].map(|k| uniform(seed, 2 * index + k, -amplitude, amplitude))
}
