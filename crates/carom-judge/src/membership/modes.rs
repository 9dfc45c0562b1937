//! Contact modes in every step of a chain.

/// Mode of a contact in one step of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum StepMode {
    /// No impulse.
    Off,
    /// The contact pushes, and its tangential velocity after the step is zero (or it has no friction).
    Stick,
    /// The contact pushes, and friction acts along this direction of the polygon.
    Slide(usize),
    /// The contact pushes, and friction acts between this direction of the polygon and the next.
    Edge(usize),
}

/// Sequence of steps, each with one mode per contact.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ModeSequence {
    n_contacts: usize,
    modes: Vec<StepMode>,
}

impl ModeSequence {
    /// Creates a sequence of contact modes without steps, for a system of `n_contacts` contacts.
    pub(super) fn new(n_contacts: usize) -> Self {
        Self {
            n_contacts: n_contacts.max(1),
            modes: Vec::new(),
        }
    }

    pub(super) fn n_steps(&self) -> usize {
        self.modes.len() / self.n_contacts
    }

    /// Iterates over the impulse steps of the sequence; each is a list with one mode (off, sticking or sliding) per
    /// contact.
    pub(super) fn steps(&self) -> impl DoubleEndedIterator<Item = &[StepMode]> {
        self.modes.chunks_exact(self.n_contacts)
    }

    /// Appends an impulse step, given by one mode per contact. Nothing is appended if all contacts are off, or if the
    /// modes equal those of the previous step, because two such steps add up to one.
    pub(super) fn push(&mut self, step: &[StepMode]) {
        let is_idle = step.iter().all(|mode| *mode == StepMode::Off);
        if !is_idle && self.steps().next_back() != Some(step) {
            self.modes.extend_from_slice(step);
        }
    }

    /// Returns the sequence of contact modes with one more impulse step at the end, given by one mode per contact.
    pub(super) fn then(&self, step: &[StepMode]) -> Self {
        let mut longer = self.clone();
        longer.push(step);
        longer
    }
}

#[cfg(test)]
mod tests {
    use super::StepMode::{Off, Slide, Stick};
    use super::*;

    #[test]
    fn idle_and_repeated_steps_are_left_out() {
        let mut sequence = ModeSequence::new(2);
        for step in [[Off, Off], [Stick, Off], [Stick, Off], [Off, Slide(1)]] {
            sequence.push(&step);
        }
        assert_eq!(sequence.n_steps(), 2);
        assert_eq!(sequence.then(&[Off, Slide(1)]), sequence);
        assert_eq!(sequence.then(&[Stick, Stick]).n_steps(), 3);
    }
}
