//! Status of a run in its record, and the reason in words for a run that ended early.

use carom_motion::generalized::Trajectory;
use carom_motion::hybrid::Ending;
use carom_report::Record;
use carom_report::export::shown;
use serde_json::{Value, json};
use std::fmt::Display;

/// Requested and actual extent of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// Requested number of impacts; `None` if only the time was requested.
    pub(crate) impacts: Option<usize>,
    /// Requested time (s); infinite if only a number of impacts was requested.
    pub(crate) duration: f64,
    /// Number of impacts of the run.
    pub(crate) n_impacts: usize,
    /// Time at the end of the run (s).
    pub(crate) time: f64,
}

impl Extent {
    /// Creates the extent of a run of which the time `duration` (s) was requested. It had `n_impacts` impacts and reached `time`
    /// (s).
    pub(crate) fn of_time(duration: f64, n_impacts: usize, time: f64) -> Self {
        Self {
            impacts: None,
            duration,
            n_impacts,
            time,
        }
    }

    /// Writes the status of a run of a mechanical system to its record as [`note`](Self::note) does, and the name of its impact law.
    /// The time `duration` (s) was requested.
    pub(crate) fn note_run(duration: f64, law: &str, run: &Trajectory, record: &mut Record) {
        let end = &run.end;
        let extent = Self::of_time(duration, end.n_impacts, end.state.time);
        extent.note("", &end.ending, record);
        record.results.insert("laws".to_owned(), json!([law]));
    }

    /// Writes the status of a run to its record, and under the key `ended` the reason for which it ended before the requested
    /// extent. A run of which only a number of impacts was requested is `completed` when it has reached that number. `part` names
    /// the run if the record has several; the status is then that of the last run that ended early.
    pub(crate) fn note<E: Display>(&self, part: &str, ending: &Ending<E>, record: &mut Record) {
        let Some(why) = self.reason(ending) else {
            return;
        };
        ending.name().clone_into(&mut record.status);
        let missed = match ending {
            Ending::Completed => String::new(),
            _ => format!("; {}", self.missed()),
        };
        let part = match part {
            "" => String::new(),
            part => format!("{part}: "),
        };
        let earlier = record.results.get("ended").and_then(Value::as_str);
        let earlier = earlier.map_or_else(String::new, |text| format!("{text}. "));
        let text = format!("{earlier}{part}{why}{missed}");
        record.results.insert("ended".to_owned(), text.into());
    }

    /// Returns the requested extent that the run missed, as a clause.
    fn missed(&self) -> String {
        let (time, duration) = (shown(self.time), shown(self.duration));
        match self.impacts {
            Some(impacts) if self.n_impacts < impacts => {
                format!("the run ended before its {impacts} impacts")
            }
            _ if self.time < self.duration && self.duration.is_finite() => {
                format!("the run ended at {time} s of {duration} s")
            }
            _ => format!("the run ended at {time} s"),
        }
    }

    /// Returns the reason for the end of the run as a clause; `None` if the run reached the requested extent.
    fn reason<E: Display>(&self, ending: &Ending<E>) -> Option<String> {
        let (n, time) = (self.n_impacts, shown(self.time));
        let after = match n {
            0 => "from the start on".to_owned(),
            n => format!("after impact {n}"),
        };
        Some(match ending {
            Ending::Completed => {
                let impacts = self.impacts.filter(|impacts| n < *impacts)?;
                format!("the run reached its {time} s after {n} of {impacts} impacts")
            }
            Ending::MaxImpacts if self.duration == f64::INFINITY => return None,
            Ending::MaxImpacts => format!("{n} impacts are the most that the run may have"),
            Ending::AtRest => format!("everything is at rest {after}"),
            Ending::NeverHits => format!("nothing is hit {after}"),
            Ending::NoImpactFound => {
                format!("the search found no impact {after} within the work that it may do")
            }
            Ending::GrazingCascade => format!("impacts {} and later graze the wall", n + 1),
            Ending::PressedContact => {
                format!("{after} a wall presses without an impact, which the system does not model")
            }
            Ending::DoubleContact => {
                format!("{after} two contacts are hit in turn without time between the impacts")
            }
            Ending::Zeno { accumulation } => {
                format!("impacts accumulate at {} s", shown(*accumulation))
            }
            Ending::Stopped(error) => error.to_string(),
            ending => ending.name().to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_end_has_a_reason_and_a_complete_run_has_none() {
        let extent = |impacts, duration| Extent {
            impacts,
            duration,
            n_impacts: 27,
            time: 0.5,
        };
        let note = |ending: Ending<String>, extent: Extent| {
            let mut record = Record::new("penny", "");
            extent.note("", &ending, &mut record);
            let ended = record
                .results
                .get("ended")
                .map(|text| text.as_str().unwrap().to_owned());
            (record.status, ended)
        };
        let by_impacts = extent(Some(200), f64::INFINITY);
        let (status, ended) = note(Ending::GrazingCascade, by_impacts);
        assert_eq!(status, "grazing-cascade");
        let why = "impacts 28 and later graze the wall; the run ended before its 200 impacts";
        assert_eq!(ended.as_deref(), Some(why));
        let whole = extent(Some(27), f64::INFINITY);
        assert_eq!(
            note(Ending::MaxImpacts, whole),
            ("completed".to_owned(), None)
        );
        let by_time = extent(None, 0.5);
        assert_eq!(
            note(Ending::Completed, by_time),
            ("completed".to_owned(), None)
        );
        let (status, ended) = note(Ending::MaxImpacts, extent(None, 2.0));
        assert_eq!(status, "max-impacts");
        let why = "27 impacts are the most that the run may have; the run ended at 0.5 s of 2 s";
        assert_eq!(ended.as_deref(), Some(why));
        let (_, ended) = note(Ending::Completed, extent(Some(200), 0.5));
        assert_eq!(
            ended.as_deref(),
            Some("the run reached its 0.5 s after 27 of 200 impacts")
        );
    }
}
