//! Ensembles of starts, keyed by seed and index.

/// SplitMix64 (Steele, Lea & Flood, 2014) as a function of its position, so that any member of an
/// ensemble can be drawn alone, on any thread.
fn splitmix(seed: u64, position: u64) -> u64 {
    let state = seed.wrapping_add(position.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Number `position` of the stream with this seed, uniform in \[`low`, `high`).
///
/// # Examples
///
/// ```
/// let first = carom_billiard::ensemble::uniform(2019, 0, -0.005, 0.005);
/// assert_eq!(10.0 + first, 9.998718774231328);
/// ```
pub fn uniform(seed: u64, position: u64, low: f64, high: f64) -> f64 {
    let unit = (splitmix(seed, position) >> 11) as f64 * 2f64.powi(-53);
    low + (high - low) * unit
}

/// Perturbations of $(\Omega, \omega)$ of member `index`, each uniform in $\pm$`amplitude`.
pub fn perturbation(seed: u64, index: u64, amplitude: f64) -> [f64; 2] {
    [0, 1].map(|k| uniform(seed, 2 * index + k, -amplitude, amplitude))
}
