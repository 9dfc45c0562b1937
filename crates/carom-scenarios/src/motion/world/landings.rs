//! Warning about landings beside a point at rest, which have no restitution.

use carom_world::ImpactContact;

/// Landings of bodies beside a point at rest in one run.
#[derive(Clone, Debug, Default)]
pub(super) struct Landings {
    /// Time (s) of the first one, and the names of its two bodies.
    first: Option<(f64, [String; 2])>,
    count: usize,
    /// Energy that the impacts with such landings lost (J).
    loss: f64,
}

impl Landings {
    /// Notes an impact at `time` (s) with the energy `loss` (J), if a body landed in it without restitution beside a point at rest.
    /// `name` returns the name of a body or plane.
    pub(super) fn note<'n>(
        &mut self,
        time: f64,
        loss: f64,
        contacts: &[ImpactContact],
        name: impl Fn(usize) -> &'n str,
    ) {
        if let Some(landed) = contacts.iter().find(|c| c.without_restitution) {
            let names = [landed.first, landed.second].map(|thing| name(thing).to_owned());
            self.first.get_or_insert((time, names));
            self.count += 1;
            self.loss += loss;
        }
    }

    /// Returns the warning about these landings; `None` if there were none.
    pub(super) fn warning(&self) -> Option<String> {
        let (time, [first, second]) = self.first.as_ref()?;
        let all = match self.count {
            1 => format!("the impact took {:.4} J", self.loss),
            n => format!("{n} such impacts took {:.4} J", self.loss),
        };
        Some(format!(
            "at {time:.4} s `{first}` landed on `{second}` beside a point at rest: such a landing has no restitution; {all}"
        ))
    }
}
