//! Choice between event-driven integration and time stepping.

use super::config::Config;
use super::scheme::SchemeConfig;
use super::setup::Setup;
use crate::ScenarioError;
use carom_impact::Law;
use carom_impact::frictional::Poisson;
use carom_world::{FlightRule, OnZeno, Scheme, Surface};

impl Setup {
    /// Returns the integration scheme of a world: event-driven integration or time stepping. With the scheme `auto` that is the
    /// `suitable` one, but event-driven integration if time stepping does not support the world's impact laws, flights or treatment
    /// of accumulating impacts.
    ///
    /// # Errors
    ///
    /// [`ScenarioError`] if time stepping is requested together with a setting that it does not support.
    pub(super) fn chosen(
        &self,
        config: &Config,
        suitable: Scheme,
    ) -> Result<Scheme, ScenarioError> {
        match config.scheme {
            SchemeConfig::Events => Ok(Scheme::Events),
            SchemeConfig::TimeStepping => match self.obstacle(config) {
                Some((key, message)) => Err(ScenarioError::value(key, message)),
                None => Ok(Scheme::TimeStepping),
            },
            SchemeConfig::Auto => {
                let others = self
                    .given_of_events
                    .iter()
                    .any(|key| !self.is_of_steps(key));
                let fits = self.obstacle(config).is_none() && !others;
                let continues = self.on_zeno == OnZeno::Continue && config.has_zeno();
                if fits && !continues {
                    Ok(suitable)
                } else {
                    Ok(Scheme::Events)
                }
            }
        }
    }

    /// True if event-driven integration may switch to time stepping when events become too frequent. This requires that
    /// time stepping supports all settings, and that bodies come to rest when impacts accumulate.
    pub(super) fn hands_over(&self, config: &Config) -> bool {
        let mut given = self.given_of_events.iter();
        self.on_zeno == OnZeno::Rest
            && self.obstacle(config).is_none()
            && given.all(|key| self.is_of_steps(key))
    }

    /// True if the law that the user gives under `key` is the impact law that time stepping always uses: Poisson's law
    /// with default parameters.
    fn is_of_steps(&self, key: &str) -> bool {
        key == "law.several"
            && matches!(&self.several, Law::Poisson(law) if *law == Poisson::default())
    }

    /// Returns the key of a setting that time stepping does not support, and the reason; `None` if it supports all settings.
    fn obstacle(&self, config: &Config) -> Option<(&'static str, String)> {
        if self.on_zeno == OnZeno::Stop {
            let message =
                "steps have no accumulations to end at; choose \"rest\", or scheme = \"events\"";
            return Some(("on_zeno", message.to_owned()));
        }
        let elastic = |s: &Surface| s.collide && s.restitution == 1.0;
        let surfaces = self.spec.pairs.iter().map(|(_, surface)| surface);
        let is_elastic = surfaces.chain([&self.spec.surface]).any(elastic);
        if is_elastic && self.spec.flight != FlightRule::Exact {
            let message = "only \"exact\" flights keep the energy of elastic impacts in steps (restitution = 1)";
            return Some(("flight", message.to_owned()));
        }
        if let Law::SetValued(_) = &self.several {
            let message = format!(
                "`{}` draws samples, and steps have one answer; leave it out, or choose scheme = \"events\"",
                config.several_name()
            );
            return Some(("law.several", message));
        }
        None
    }

    /// Returns notes for the record, one for each given key that time stepping ignores.
    pub(super) fn left_out_by_steps(&self) -> Vec<String> {
        let laws = self
            .given_of_events
            .iter()
            .filter(|key| !self.is_of_steps(key));
        let mut out: Vec<String> = laws
            .map(|key| format!("{key}: steps answer with `poisson`"))
            .collect();
        if self.zeno_is_given && self.on_zeno == OnZeno::Continue {
            out.push("on_zeno: steps have no accumulations".to_owned());
        }
        out
    }
}
