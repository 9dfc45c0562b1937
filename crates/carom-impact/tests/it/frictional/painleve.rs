//! Impact without collision.

use carom_impact::frictional::impact_without_collision;

/// A uniform rod of half length 1 m and 1 kg at the angle atan 2: threshold 4/3.
#[test]
fn a_rod_jams_beyond_the_threshold_only() {
    let (sin, cos) = 2f64.atan().sin_cos();
    let rod = [
        1.0 + 3.0 * cos * cos,
        -3.0 * sin * cos,
        1.0 + 3.0 * sin * sin,
    ];
    assert_eq!(impact_without_collision(rod, 1.3, -1.0), None);
    assert_eq!(impact_without_collision(rod, 2.0, 1.0), None);
    assert_eq!(impact_without_collision(rod, 2.0, 0.0), None);
    assert_eq!(impact_without_collision(rod, f64::NAN, -1.0), None);
    for (friction, dip) in [(1.4, -0.08 / 3.56), (2.0, -1.0 / 7.0)] {
        let impact = impact_without_collision(rod, friction, -1.0).unwrap();
        assert!((impact.dip - dip).abs() <= 1e-14);
        assert!((impact.normal_impulse - 0.3).abs() <= 1e-14);
        assert!((impact.tangential_impulse - 0.4).abs() <= 1e-14);
    }
}
