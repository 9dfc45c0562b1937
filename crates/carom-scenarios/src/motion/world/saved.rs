//! Snapshots of sessions: all that their future depends on, and what was recorded so far.

use super::session::{Kind, Session, Track, on};
use super::several::Comparison;
use super::whole::{SessionEvent, Tape, Whole};
use carom_world::saved::{Digest, before, digest, memory, open, seal, split};
use carom_world::{Machine, SessionError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Session as it is stored, with lists `T` and `E` of recorded and of fresh events.
#[derive(Serialize, Deserialize)]
struct Saved<T, E, C> {
    records: bool,
    samples: usize,
    comparison: Comparison,
    tape: T,
    fresh: E,
    control: C,
}

impl<M: Machine, W: Whole<M>> Track<M, W>
where
    M::Event: Serialize + DeserializeOwned,
    M::State: Serialize + DeserializeOwned,
{
    /// Returns the bytes of the session, the first `told` of whose events were returned.
    fn save(&self, told: usize, control: &[f64]) -> Vec<u8> {
        let saved = Saved {
            records: self.records,
            samples: self.samples,
            comparison: self.comparison.clone(),
            tape: &self.tape,
            fresh: &self.fresh[told..],
            control,
        };
        before(&saved, &self.session.save())
    }

    /// Reads a session of this world, with the events that were not returned and the forces of the caller.
    fn load(&self, payload: &[u8]) -> Result<(Self, Vec<SessionEvent>, Vec<f64>), SessionError> {
        let memory = memory(payload, self.session.origin().size());
        type Read<M> = Saved<Tape<M>, Vec<<M as Machine>::Event>, Vec<f64>>;
        let (saved, session): (Read<M>, _) = split(payload, memory)?;
        let mut track = Self::new(Arc::clone(&self.whole), self.session.clone(), saved.records);
        track.session.load(session)?;
        let machine = self.session.origin();
        let fits = saved.tape.iter().all(|item| item.is_of(machine))
            && saved.fresh.iter().all(|event| machine.has_event(event))
            && saved.control.len() == self.whole.coordinates().len()
            && saved.control.iter().all(|force| force.is_finite());
        if !fits {
            let what = "its world cannot have this record".to_owned();
            return Err(SessionError::SnapshotDamaged { what });
        }
        let events = saved.fresh.iter().map(|event| self.whole.entry(event));
        let events = events.collect();
        track.samples = saved.samples;
        track.comparison = saved.comparison;
        track.tape = saved.tape;
        track.fresh = saved.fresh;
        Ok((track, events, saved.control))
    }

    fn digests(&self) -> [Digest; 3] {
        let machine = self.session.origin();
        [
            ("world", digest(machine.world())),
            ("laws", digest(&self.whole.laws())),
            ("seed", digest(&self.whole.setup().seed())),
        ]
    }
}

impl Session {
    fn digests(&self) -> &[Digest; 3] {
        self.digests.get_or_init(|| match &self.kind {
            Kind::Free(track) => track.digests(),
            Kind::Jointed(track) => track.digests(),
        })
    }

    /// Returns a snapshot: digests of the world, its laws and its seed, all that the future of the session depends on, and what was
    /// recorded so far. Snapshots of two sessions of one history at one time are equal, whatever was looked at in between.
    ///
    /// # Examples
    ///
    /// ```
    /// # use carom_scenarios::{Overrides, Session};
    /// let overrides = Overrides::default();
    /// let mut session = Session::start(&overrides, false)?;
    /// session.advance_to(0.3)?;
    /// let snapshot = session.snapshot();
    /// session.advance_to(0.5)?;
    /// let mut other = Session::start(&overrides, false)?;
    /// other.restore(&snapshot)?;
    /// other.advance_to(0.5)?;
    /// assert_eq!(other.snapshot(), session.snapshot());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Vec<u8> {
        let payload = match &self.kind {
            Kind::Free(track) => track.save(self.told, &self.control),
            Kind::Jointed(track) => track.save(self.told, &self.control),
        };
        seal(self.digests(), &payload)
    }

    /// Goes on from a [`snapshot`](Self::snapshot) of another session of this world, its laws and its seed, whatever became of this
    /// one. A refusal changes nothing. Bytes may come from strangers: they take memory as a session of this world does, and lists a
    /// budget that grows with their length.
    ///
    /// # Errors
    ///
    /// [`SessionError::SnapshotDamaged`], [`SessionError::SnapshotForeign`], [`SessionError::SnapshotVersion`],
    /// [`SessionError::Finished`].
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), SessionError> {
        if on!(self, track => track.session.is_finished()) {
            return Err(SessionError::Finished);
        }
        let payload = open(self.digests(), snapshot)?;
        let (events, control) = on!(self, track => {
            let (read, events, control) = track.load(payload)?;
            **track = read;
            (events, control)
        });
        (self.events, self.told, self.control) = (events, 0, control);
        Ok(())
    }
}
