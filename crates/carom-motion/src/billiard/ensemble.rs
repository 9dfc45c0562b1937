//! Ensembles of starts, keyed by seed and index.

use carom_numeric::random::uniform;

/// Perturbations of $(\Omega, \omega)$ of member `index`, each uniform in $\pm$`amplitude`.
pub fn perturbation(seed: u64, index: u64, amplitude: f64) -> [f64; 2] {
    [0, 1].map(|k| uniform(seed, 2 * index + k, -amplitude, amplitude))
}
