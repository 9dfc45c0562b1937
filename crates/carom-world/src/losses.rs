//! Energy that a step of lasting contact removes from the bodies.
//!
//! Friction removes its impulse times the slip, and a point that lands within the step loses its normal velocity. A contact that
//! lasts and sticks removes no energy: its normal stays closed and its point stays in place. The work of its impulses, of third
//! order in the step, is therefore an error of the step and no loss.

use crate::kick::Friction;

/// One kick: its impulses, and the velocities of the rows before and after it; three rows per contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kicked<'a> {
    pub(crate) impulses: &'a [f64],
    pub(crate) before: &'a [f64],
    pub(crate) after: &'a [f64],
}

impl Kicked<'_> {
    fn impulse(&self, row: usize) -> f64 {
        self.impulses.get(row).copied().unwrap_or_default()
    }

    fn before(&self, row: usize) -> f64 {
        self.before.get(row).copied().unwrap_or_default()
    }

    fn after(&self, row: usize) -> f64 {
        self.after.get(row).copied().unwrap_or_default()
    }

    /// Returns the work (J) of the impulse on one contact row: exactly the kinetic energy that this impulse adds.
    fn work(&self, row: usize) -> f64 {
        0.5 * self.impulse(row) * (self.before(row) + self.after(row))
    }

    /// Returns the total work of all impulses of the kick (J).
    pub(crate) fn total(&self) -> f64 {
        (0..self.impulses.len()).map(|row| self.work(row)).sum()
    }
}

/// State of a contact at the start of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    pub(crate) friction: Friction,
    /// True if the point is closed at the start.
    pub(crate) closed: bool,
    /// Speed by which accelerations can change the normal velocity of the point within the step (m/s).
    pub(crate) gathered: f64,
    /// Index among the contacts of the second kick; `None` if the second kick does not contain the point.
    pub(crate) second: Option<usize>,
}

/// Returns the energy (J) that friction and landing points remove in a step that begins and ends with impulses (kicks).
///
/// A contact point counts as landing unless two conditions hold. First, it is closed at the start of the step, with a normal
/// speed of at most `still` (m/s). Second, its closing speed before the second kick is at most its speed after the first kick,
/// plus the speed `gathered` that accelerations can add within the step. The loss at landing points is at most the energy that
/// all normal impulses remove together, since energy that other points return is not an error.
pub(crate) fn loss(contacts: &[Begin], first: &Kicked<'_>, second: &Kicked<'_>, still: f64) -> f64 {
    let (mut rubbed, mut landed, mut pressed) = (0.0, 0.0, 0.0);
    for (c, contact) in contacts.iter().enumerate() {
        let at = 3 * c;
        let later = contact.second.map(|place| 3 * place);
        let both = |k: usize| first.work(at + k) + later.map_or(0.0, |row| second.work(row + k));
        let back = later.map_or(0.0, |row| -second.before(row));
        let lasts = contact.closed
            && first.before(at).abs() <= still
            && back <= first.after(at).abs() + contact.gathered;
        pressed += both(0);
        if !lasts {
            landed += both(0);
        }
        // At a point that sticks, the mean slip of the flight and the slip after it are zero.
        let sticks = later.is_some_and(|row| {
            (1..3).all(|k| {
                let mean = 0.5 * (first.after(at + k) + second.before(row + k));
                mean.abs() <= still && second.after(row + k).abs() <= still
            })
        });
        if !(lasts && sticks && contact.friction == Friction::Coulomb) {
            rubbed += both(1) + both(2);
        }
    }
    -rubbed - f64::min(f64::max(landed, pressed), 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Vector2;

    /// A block of 1 kg that slides under its weight: friction takes force times distance.
    #[test]
    fn sliding_takes_force_times_distance() {
        let (mu, g, h, v) = (0.3, 9.81, 0.01, 2.0);
        let load = 0.5 * g * h;
        let slows = mu * load;
        let first = Kicked {
            impulses: &[load, -mu * load, 0.0],
            before: &[0.0, v, 0.0],
            after: &[load, v - slows, 0.0],
        };
        let second = Kicked {
            impulses: &[load, -mu * load, 0.0],
            before: &[-load, v - slows, 0.0],
            after: &[0.0, v - 2.0 * slows, 0.0],
        };
        let contact = Begin {
            friction: Friction::Against(Vector2::x()),
            closed: true,
            gathered: g * h,
            second: Some(0),
        };
        let found = loss(&[contact], &first, &second, 1e-12);
        let distance = (v - slows) * h;
        assert!((found - mu * g * distance).abs() <= 1e-15);
    }

    /// A landing point loses the kinetic energy of its normal velocity; a point that stays closed loses no energy.
    #[test]
    fn a_landing_point_loses_its_velocity() {
        let nothing = Kicked {
            impulses: &[0.0; 3],
            before: &[-2.0, 0.0, 0.0],
            after: &[-2.0, 0.0, 0.0],
        };
        let stops = Kicked {
            impulses: &[2.0, 0.0, 0.0],
            before: &[-2.0, 0.0, 0.0],
            after: &[0.0; 3],
        };
        let open = Begin {
            friction: Friction::Frictionless,
            closed: false,
            gathered: 3.0,
            second: Some(0),
        };
        assert!((loss(&[open], &nothing, &stops, 1e-12) - 2.0).abs() <= 1e-15);
        let closed = Begin {
            closed: true,
            ..open
        };
        let pushed = Kicked {
            impulses: &[1.0, 0.0, 0.0],
            before: &[0.0; 3],
            after: &[1.0, 0.0, 0.0],
        };
        assert!(loss(&[closed], &pushed, &stops, 1e-12).abs() <= 0.0);
        // A lasting point returns 0.5 J of the energy that the landing point removes.
        let both = Kicked {
            impulses: &[2.0, 0.0, 0.0, 1.0, 0.0, 0.0],
            before: &[-2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            after: &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        };
        let idle = Kicked {
            impulses: &[0.0; 6],
            before: &[-2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            after: &[-2.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        };
        let resting = Begin {
            closed: true,
            second: Some(1),
            ..open
        };
        assert!((loss(&[open, resting], &idle, &both, 1e-12) - 1.5).abs() <= 1e-15);
        // Accelerations cannot produce this speed: another point of the pair lands.
        let other = Begin {
            gathered: 0.5,
            ..closed
        };
        assert!((loss(&[other], &pushed, &stops, 1e-12) - 1.5).abs() <= 1e-15);
    }
}
