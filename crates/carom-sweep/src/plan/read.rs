//! Reads a plan from TOML.

use super::axis::{Axis, MAX_VALUES, Random};
use super::column::Column;
use super::own::{ConfigFile, ScenarioCells};
use super::states::States;
use super::template::{Template, cell_names};
use super::{CellKind, MAX_CELLS, MAX_SHARDS, Plan, manifest};
use crate::SweepError;
use crate::source::{self, Fault, Fields, Node, START};
use crate::table::Schema;
use carom_impact::LAWS;
use carom_numeric::expression::{Expression, FUNCTIONS, Names, Type};
use carom_scenarios::{SCENARIOS, scenario};
use carom_wire::{Command, Problem, keys, nearest_name};
use serde_json::Value;
use std::path::{Path, PathBuf};

const KEYS: [&str; 11] = [
    "name",
    "seed",
    "command",
    "cells_per_shard",
    "problem",
    "scenario",
    "states",
    "let",
    "axes",
    "random",
    "columns",
];

/// Names with a fixed meaning, which a plan cannot define.
const RESERVED: [&str; 8] = [
    "cell",
    "state",
    "draw",
    "draws",
    "seed",
    "pi",
    "error_kind",
    "error_message",
];

/// Plan that is read except for the file of states, which needs access to the file system.
struct Draft {
    plan: Parts,
    states: Option<Node>,
    config: Option<Node>,
}

struct Parts {
    name: String,
    seed: u64,
    command: Command,
    cells_per_shard: u64,
    problem: Option<Node>,
    scenario: Option<ScenarioCells>,
    axes: Vec<Axis>,
    random: Option<Random>,
    names: Names,
    lets: Vec<(String, Expression)>,
    template: Option<Template>,
    columns: Vec<Column>,
    cells_at: Node,
}

pub(super) fn plan(text: &str, base: &Path) -> Result<Plan, SweepError> {
    let draft = draft(text).map_err(|fault| fault.located(text))?;
    let states = draft.states.map(|node| {
        let file = PathBuf::from(node.text().map_err(|fault| fault.located(text))?);
        States::read(&base.join(file)).map_err(|error| match error {
            SweepError::File { .. } => node.fault(error.to_string()).located(text),
            other => other,
        })
    });
    let states = states.transpose()?;
    let mut parts = draft.plan;
    if let Some(cells) = &mut parts.scenario {
        let config = draft.config.as_ref();
        let file = config.map(|node| ConfigFile::read(node, base, cells.scenario));
        cells.file = file.transpose().map_err(|fault| fault.located(text))?;
        cells
            .complete(parts.seed, &parts.axes, parts.random.as_mut())
            .map_err(|fault| fault.located(text))?;
    }
    let plan = finish(parts, states).map_err(|fault| fault.located(text))?;
    Ok(Plan {
        text: text.to_owned(),
        ..plan
    })
}

fn draft(text: &str) -> Result<Draft, Fault> {
    let mut fields = source::parse(text)?;
    let name = fields.require("name")?;
    check_plan_name(&name)?;
    let seed = fields.take("seed");
    let seed = seed.map_or(Ok(0), |node| node.count(0, (1 << 53) - 1))?;
    let per_shard = fields.take("cells_per_shard");
    let cells_per_shard = per_shard
        .as_ref()
        .map_or(Ok(1000), |node| node.count(1, 10_000_000))?;
    let command_node = fields.take("command");
    let command = command_node
        .as_ref()
        .map_or(Ok(Command::Resolve), command)?;
    let problem = fields.take("problem");
    let scenario_node = fields.take("scenario");
    let states = fields.take("states");
    let [lets, axes, random, columns] =
        ["let", "axes", "random", "columns"].map(|key| fields.take(key));
    let (has_problem, has_states) = (problem.is_some(), states.is_some());
    if !has_problem && !has_states && scenario_node.is_none() {
        return Err(fields.fault("one of [problem], [scenario] and [states] is needed"));
    }
    fields.finish(&KEYS)?;
    if let Some(node) = &scenario_node {
        if has_problem || has_states {
            return Err(node.fault("give one of [problem], [scenario] and [states]"));
        }
        check_no_problem_keys(command_node.as_ref(), lets.as_ref())?;
    }
    let scenario = scenario_node.map(read_scenario).transpose()?;
    let (scenario, config) = scenario.unzip();
    let config = config.flatten();
    let states = states.map(read_states).transpose()?;

    let is_scenario = scenario.is_some();
    let mut taken = Taken::default();
    let mut names = cell_names();
    if has_states {
        names.add("state", Type::Integer);
    }
    let axes_node = axes.clone();
    let axes = read_axes(axes, is_scenario, &mut taken)?;
    for axis in &axes {
        names.add(&axis.name, axis.kind());
    }
    let random_at = random.clone();
    let random = random
        .map(|node| node.into_table().and_then(Random::read))
        .transpose()?;
    if let (Some(random), Some(node)) = (&random, &random_at) {
        names.add("draw", Type::Integer);
        for column in &random.columns {
            taken.add(&column.name, node, !is_scenario)?;
            names.add(&column.name, Type::Float);
        }
    }
    if axes.is_empty() && random.is_none() && !has_states {
        return Err(no_axis(axes_node.as_ref()));
    }
    let lets = read_lets(lets, &mut names, &mut taken)?;
    if let Some(node) = &problem {
        check_problem_keys(node, command)?;
    }
    let template = problem
        .as_ref()
        .map(|node| Template::read(node, &names))
        .transpose()?;
    if let (Some(node), Some(template), false, Command::Resolve) =
        (&problem, &template, has_states, command)
    {
        check_problem(node, &template.example())?;
    }
    let has_outcomes = !is_scenario && command == Command::Resolve;
    let columns = read_columns(columns, has_outcomes, &mut taken)?;
    let cells_at = per_shard
        .or(random_at)
        .or(axes_node)
        .unwrap_or(name.clone());
    Ok(Draft {
        plan: Parts {
            name: name.text()?.to_owned(),
            seed,
            command,
            cells_per_shard,
            problem,
            scenario,
            axes,
            random,
            names,
            lets,
            template,
            columns,
            cells_at,
        },
        states,
        config,
    })
}

/// Returns the error of a plan that varies nothing: it has no axes, no random draws and no file of states (impact problems,
/// one per line). `axes` is the plan's empty table of axes, at whose position the error is reported; `None` if there is no
/// such table.
fn no_axis(axes: Option<&Node>) -> Fault {
    axes.map_or_else(
        || Fault {
            place: START,
            key: String::new(),
            message: "the key `axes` is missing".to_owned(),
        },
        |node| node.fault("at least one axis is needed"),
    )
}

/// Returns an error if a plan that runs a scenario has a command or named expressions. `command` and `lets` are these
/// entries of the plan if they are present.
fn check_no_problem_keys(command: Option<&Node>, lets: Option<&Node>) -> Result<(), Fault> {
    if let Some(node) = command {
        return Err(node.fault("a scenario has no command"));
    }
    if let Some(node) = lets {
        return Err(node.fault("nothing in [scenario] uses an expression"));
    }
    Ok(())
}

fn finish(parts: Parts, states: Option<States>) -> Result<Plan, Fault> {
    let too_many = |what: &str, limit: u64| {
        parts
            .cells_at
            .fault(format!("the plan has more than {limit} {what}"))
    };
    let lengths = parts.axes.iter().map(Axis::len);
    let lengths = lengths.chain(parts.random.iter().map(|random| random.draws));
    let mut lengths = lengths.chain(states.iter().map(States::len));
    let n_cells = lengths
        .try_fold(1u64, u64::checked_mul)
        .filter(|n| *n <= MAX_CELLS)
        .ok_or_else(|| too_many("cells", MAX_CELLS))?;
    if n_cells.div_ceil(parts.cells_per_shard) > MAX_SHARDS {
        return Err(too_many("shards; raise cells_per_shard", MAX_SHARDS));
    }
    let (manifest, digest) = manifest::write(&manifest::Contents {
        name: &parts.name,
        seed: parts.seed,
        command: parts.scenario.is_none().then_some(parts.command),
        problem: parts.problem.as_ref().map(|node| node.value.json()),
        scenario: parts.scenario.as_ref().map(|cells| cells.scenario.name),
        config: parts
            .scenario
            .as_ref()
            .and_then(|cells| cells.file.as_ref()),
        states: states.as_ref(),
        lets: &parts.lets,
        axes: &parts.axes,
        random: parts.random.as_ref(),
        columns: &parts.columns,
        cells: n_cells,
        cells_per_shard: parts.cells_per_shard,
    });
    let schema =
        Schema::of_plan(&manifest).ok_or_else(|| parts.cells_at.fault("the plan has no table"))?;
    let kind = match (parts.scenario, parts.template) {
        (Some(cells), _) => CellKind::Scenario(cells),
        (None, template) => CellKind::Problem {
            command: parts.command,
            template: template.unwrap_or_else(Template::empty),
            states,
        },
    };
    Ok(Plan {
        name: parts.name,
        seed: parts.seed,
        uses_seed: uses_seed(&parts.names, &parts.lets, &kind),
        kind,
        axes: parts.axes,
        random: parts.random,
        lets: parts.lets,
        columns: parts.columns,
        schema,
        n_cells,
        cells_per_shard: parts.cells_per_shard,
        manifest,
        digest,
        text: String::new(),
        file: None,
    })
}

/// True if an expression of the plan uses `seed`, the random integer of a cell (point of the sweep). `names` are the
/// names known to expressions, `lets` the named expressions, and `kind` holds the expressions inside the problem.
fn uses_seed(names: &Names, lets: &[(String, Expression)], kind: &CellKind) -> bool {
    let Some((seed, _)) = names.find("seed") else {
        return false;
    };
    let in_template = match kind {
        CellKind::Problem { template, .. } => template.uses(seed),
        CellKind::Scenario(_) => false,
    };
    in_template || lets.iter().any(|(_, expression)| expression.uses(seed))
}

fn check_plan_name(node: &Node) -> Result<(), Fault> {
    let name = node.text()?;
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if (1..=64).contains(&name.len()) && name.chars().all(is_part) {
        return Ok(());
    }
    Err(node.fault("expected 1 to 64 of the letters a-z, 0-9 and -"))
}

fn command(node: &Node) -> Result<Command, Fault> {
    match node.text()? {
        "resolve" => Ok(Command::Resolve),
        "judge" => Ok(Command::Judge),
        "lcp" => Ok(Command::Lcp),
        other => Err(node.fault(format!(
            "unknown command `{other}`; known: resolve, judge, lcp"
        ))),
    }
}

/// Reads the scenario of a plan, and the node with the path of a configuration of one's own.
fn read_scenario(node: Node) -> Result<(ScenarioCells, Option<Node>), Fault> {
    let mut fields = node.into_table()?;
    let name = fields.require("name")?;
    let config = fields.take("config");
    fields.finish(&["name", "config"])?;
    let text = name.text()?;
    let found = scenario(text).ok_or_else(|| {
        let hint = nearest_name(text, SCENARIOS.iter().map(|scenario| scenario.name));
        let hint = hint.map_or_else(
            || "; see `carom list`".to_owned(),
            |near| format!("; did you mean `{near}`?"),
        );
        name.fault(format!("unknown scenario `{text}`{hint}"))
    })?;
    let cells = ScenarioCells {
        scenario: found,
        file: None,
    };
    Ok((cells, config))
}

fn read_states(node: Node) -> Result<Node, Fault> {
    let mut fields = node.into_table()?;
    let file = fields.require("file")?;
    fields.finish(&["file"])?;
    Ok(file)
}

/// Names in use; each may be used only once.
#[derive(Default)]
struct Taken(Vec<String>);

impl Taken {
    /// Adds a name to the names in use. Fails if the name is reserved, used already, or has invalid characters. `node`
    /// gives the position for messages; with `in_expressions` the name must be an identifier.
    fn add(&mut self, name: &str, node: &Node, in_expressions: bool) -> Result<(), Fault> {
        if RESERVED.contains(&name) || FUNCTIONS.contains(&name) {
            return Err(node.fault(format!("the name `{name}` is reserved")));
        }
        if self.0.iter().any(|taken| taken == name) {
            return Err(node.fault(format!("the name `{name}` is used twice")));
        }
        if in_expressions {
            let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
            let is_part = |c: char| is_start(c) || c.is_ascii_digit();
            if !name.starts_with(is_start) || !name.chars().all(is_part) {
                return Err(node.fault(format!(
                    "the name `{name}` must be a letter followed by letters, digits and _"
                )));
            }
        } else if name.is_empty() || name.len() > 256 || name.chars().any(char::is_control) {
            return Err(node.fault("a name has 1 to 256 letters"));
        }
        self.0.push(name.to_owned());
        Ok(())
    }
}

fn rest(node: Option<Node>) -> Result<Vec<Node>, Fault> {
    let fields: Option<Fields> = node.map(Node::into_table).transpose()?;
    Ok(fields.map_or_else(Vec::new, |fields| fields.rest))
}

fn read_axes(node: Option<Node>, is_scenario: bool, taken: &mut Taken) -> Result<Vec<Axis>, Fault> {
    let (mut axes, mut values) = (Vec::new(), 0u64);
    for node in rest(node)? {
        taken.add(&node.name, &node, !is_scenario)?;
        let at = node.clone();
        let axis = Axis::read(node)?;
        values += axis.len();
        if values > MAX_VALUES {
            return Err(at.fault(format!(
                "all axes together have more than {MAX_VALUES} values"
            )));
        }
        axes.push(axis);
    }
    Ok(axes)
}

fn read_lets(
    node: Option<Node>,
    names: &mut Names,
    taken: &mut Taken,
) -> Result<Vec<(String, Expression)>, Fault> {
    let mut lets = Vec::new();
    for node in rest(node)? {
        taken.add(&node.name, &node, true)?;
        let expression = Expression::parse(node.text()?, names).map_err(|m| node.fault(m))?;
        names.add(&node.name, expression.kind());
        lets.push((node.name, expression));
    }
    Ok(lets)
}

fn read_columns(
    node: Option<Node>,
    has_outcomes: bool,
    taken: &mut Taken,
) -> Result<Vec<Column>, Fault> {
    let mut columns = Vec::new();
    for node in rest(node)? {
        taken.add(&node.name, &node, false)?;
        columns.push(Column::read(node, has_outcomes)?);
    }
    Ok(columns)
}

/// Returns an error if the plan's table of the impact problem has a key that an input line of `command` does not accept.
fn check_problem_keys(node: &Node, command: Command) -> Result<(), Fault> {
    let fields = node.clone().into_table()?;
    let known = keys(command).iter().map(|info| info.key);
    let known: Vec<&str> = known.filter(|key| *key != "id").collect();
    for entry in fields.rest {
        if entry.name == "id" {
            return Err(entry.fault("the id of a cell is its number"));
        }
        if !known.contains(&entry.name.as_str()) {
            let hint = nearest_name(&entry.name, known.iter().copied());
            let hint = hint.map_or_else(
                || format!("; known: {}", known.join(", ")),
                |near| format!("; did you mean `{near}`?"),
            );
            return Err(entry.fault(format!("unknown key{hint}")));
        }
    }
    Ok(())
}

/// Returns an error if the impact problem of the plan names an unknown law or option, or has values of a wrong type. Such
/// errors do not depend on the varied values. `example` is the problem with arbitrary values for its expressions.
fn check_problem(node: &Node, example: &Value) -> Result<(), Fault> {
    let fields = node.clone().into_table()?.rest;
    let law = fields.iter().find(|field| field.name == "law");
    let literal = law.and_then(|law| law.text().ok().map(|text| (law, text)));
    if let Some((node, text)) = literal.filter(|(_, text)| !text.starts_with('=')) {
        let Some(law) = LAWS.iter().find(|law| law.name == text) else {
            let hint = nearest_name(text, LAWS.iter().map(|law| law.name));
            let hint = hint.map_or_else(
                || "; see `carom laws`".to_owned(),
                |near| format!("; did you mean `{near}`?"),
            );
            return Err(node.fault(format!("unknown law `{text}`{hint}")));
        };
        let options = fields.iter().find(|field| field.name == "options");
        let options = options.map(|node| node.clone().into_table()).transpose()?;
        let known: Vec<&str> = law.options.iter().map(|option| option.key).collect();
        for option in options.into_iter().flat_map(|options| options.rest) {
            if !known.contains(&option.name.as_str()) {
                let known = known.join(", ");
                return Err(option.fault(format!("the law `{text}` has the options: {known}")));
            }
        }
    }
    // Two-body problems have another form, which is checked in each cell.
    if example.get("body1").is_some() {
        return Ok(());
    }
    let read: Result<Problem, _> = serde_path_to_error::deserialize(example);
    read.map(|_| ()).map_err(|error| {
        let path = error.path().to_string();
        let fault = node.fault(error.into_inner().to_string());
        match path.as_str() {
            "." => fault,
            path => Fault {
                key: format!("{}.{path}", fault.key),
                ..fault
            },
        }
    })
}
