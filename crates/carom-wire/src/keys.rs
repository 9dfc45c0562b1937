//! Keys of a problem in JSON, for help and documentation. A test compares them with the keys that the parser accepts.

use crate::Command;

/// Key that a problem in JSON may have, with the meaning of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// Name of the key.
    pub key: &'static str,
    /// Meaning of the value: shape, unit, default.
    pub meaning: &'static str,
}

const fn key(key: &'static str, meaning: &'static str) -> KeyInfo {
    KeyInfo { key, meaning }
}

const RESOLVE: &[KeyInfo] = &[
    key("id", "echoed in the answer"),
    key("group", "label for `carom data` and `carom fit`, not used"),
    key("kind", "label for `carom data` and `carom fit`, not used"),
    key("law", "name of the law"),
    key("mass_matrix", "n rows of n"),
    key("velocity", "n, before the impact"),
    key(
        "contacts",
        "list of {normal (n), tangents (rows of n: none, one or two), friction, restitution, and the \
         labels surface, gap}; coefficients are 0 if left out",
    ),
    key("constraints", "rows of n, nonholonomic one-forms"),
    key("options", "of the law"),
    key(
        "derivative",
        "true, or {wrt: list of \"velocity\", \"friction\", \"restitution\" (all of them by default), \
         directions, tolerance of near ties (1e-9)}: the key `jacobian` of the answer; a direction \
         is {velocity, mass_matrix, contacts (list of {normal, tangents, friction, restitution}), \
         constraints, restitution}, changes of what the problem has",
    ),
    key(
        "body1",
        "law two-body instead of mass_matrix, velocity and contacts: {mass, inertia, center, \
         velocity, angular_velocity}, world axes",
    ),
    key("body2", "the same; a fixed half-space if left out"),
    key(
        "contact",
        "of two bodies: {point, normal}, from body 2 into body 1",
    ),
    key("friction", "of two bodies"),
    key("restitution", "of two bodies"),
];

const JUDGE: &[KeyInfo] = &[
    key("id", "echoed in the answer"),
    key("group", "label for `carom data` and `carom fit`, not used"),
    key("kind", "label for `carom data` and `carom fit`, not used"),
    key("law", "law that the outcome is claimed to follow, optional"),
    key("mass_matrix", "n rows of n"),
    key("velocity", "n, before the impact"),
    key("velocity_plus", "n, after the impact: what is judged"),
    key(
        "velocity_free",
        "n, what a time step would have had without contact; stands in for velocity",
    ),
    key(
        "external_impulse",
        "n, instead of velocity_free: what gravity and actuators add in the step",
    ),
    key(
        "steps",
        "several time steps instead of one: objects with these keys",
    ),
    key("contacts", "as for resolve"),
    key("constraints", "as for resolve"),
    key(
        "options",
        "laws, friction_directions, tolerance, samples, seed, max_nodes, max_work",
    ),
    key(
        "body1",
        "as for resolve, with velocity1_plus and angular_velocity1_plus",
    ),
    key(
        "body2",
        "as for resolve, with velocity2_plus and angular_velocity2_plus",
    ),
    key("contact", "of two bodies"),
    key("friction", "of two bodies"),
    key("restitution", "of two bodies"),
    key("velocity1_plus", "of body 1 after the impact"),
    key("angular_velocity1_plus", "of body 1 after the impact"),
    key("velocity2_plus", "of body 2 after the impact"),
    key("angular_velocity2_plus", "of body 2 after the impact"),
];

const LCP: &[KeyInfo] = &[
    key("id", "echoed in the answer"),
    key("matrix", "M, n rows of n"),
    key(
        "vector",
        "q, n: find z >= 0 with w = Mz + q >= 0 and z.w = 0",
    ),
    key("method", "\"lemke\" (default), \"auto\" or \"enumerate\""),
    key(
        "max_pivots",
        "limit of pivots; null: enough for all problems met",
    ),
    key(
        "max_work",
        "limit of elementary multiply-adds over all attempts, 2e10 by default",
    ),
    key(
        "max_solutions",
        "of \"enumerate\": solutions that are listed, 1000 by default",
    ),
];

/// Returns the keys that a JSON problem for the given command must have, as a list for each form of problem.
pub(crate) fn required(command: Command) -> &'static [&'static [&'static str]] {
    match command {
        Command::Resolve => &[
            &["law", "mass_matrix", "velocity", "contacts"],
            &["law", "contact", "body1"],
        ],
        Command::Judge => &[
            &["mass_matrix", "velocity", "velocity_plus", "contacts"],
            &[
                "contact",
                "body1",
                "velocity1_plus",
                "angular_velocity1_plus",
            ],
            &["steps"],
        ],
        Command::Lcp => &[&["matrix", "vector"]],
    }
}

/// Returns the keys that a JSON problem for the given command may have, for help texts.
pub fn keys(command: Command) -> &'static [KeyInfo] {
    match command {
        Command::Resolve => RESOLVE,
        Command::Judge => JUDGE,
        Command::Lcp => LCP,
    }
}

/// Returns an example problem for the given command as a line of JSON. The problem has an answer.
pub fn example(command: Command) -> &'static str {
    match command {
        Command::Resolve => {
            r#"{"id":"cradle","law":"propagative","mass_matrix":[[1,0,0],[0,1,0],[0,0,1]],"velocity":[1,0,0],"contacts":[{"normal":[-1,1,0]},{"normal":[0,-1,1]}]}"#
        }
        Command::Judge => {
            r#"{"id":"cradle","mass_matrix":[[1,0,0],[0,1,0],[0,0,1]],"velocity":[1,0,0],"velocity_plus":[0,0,1],"contacts":[{"normal":[-1,1,0]},{"normal":[0,-1,1]}]}"#
        }
        Command::Lcp => r#"{"id":"two","matrix":[[2,1],[1,2]],"vector":[-5,-6]}"#,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::answer_line;
    use std::collections::BTreeSet;

    /// Returns the keys that an input line of `command` may have, as the error message for the unknown key in `line` lists
    /// them.
    fn accepted(command: Command, line: &str) -> Vec<String> {
        let line = answer_line(command, 1, line).text;
        let (_, expected) = line.split_once("expected one of ").unwrap();
        let names = expected.split('`').skip(1).step_by(2);
        names.map(str::to_owned).collect()
    }

    #[test]
    fn every_key_that_is_read_is_documented_and_no_other() {
        for (command, forms) in [
            (
                Command::Resolve,
                vec![r#"{"law":"plastic","?":0}"#, r#"{"law":"two-body","?":0}"#],
            ),
            (
                Command::Judge,
                vec![
                    r#"{"?":0}"#,
                    r#"{"body1":0,"?":0}"#,
                    r#"{"?":0,"steps":[]}"#,
                ],
            ),
            (Command::Lcp, vec![r#"{"?":0}"#]),
        ] {
            // The unknown key must come first, so that its error is reported and not that of another key.
            let read: BTreeSet<String> = forms
                .into_iter()
                .map(|form| form.replace(r#""body1":0,"?":0"#, r#""?":0,"body1":0"#))
                .flat_map(|form| accepted(command, &form))
                .collect();
            let known = keys(command).iter().map(|info| info.key.to_owned());
            assert_eq!(read, known.collect(), "{command:?}");
        }
    }

    #[test]
    fn every_example_is_answered() {
        for command in [Command::Resolve, Command::Judge, Command::Lcp] {
            assert!(answer_line(command, 1, example(command)).is_solved);
        }
    }
}
