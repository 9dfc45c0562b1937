//! `carom laws`: describes the laws, their inputs and their options.

use crate::Failure;
use crate::text;
use carom::impact::{ContactCount, LAWS, LawInfo, Outcomes};
use serde_json::{Value, json};
use std::io::Write;

/// Arguments of `carom laws`.
#[derive(clap::Args)]
pub(crate) struct LawsArgs {
    /// One law, with its options and an example line; all laws if left out.
    name: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

pub(crate) fn laws(args: &LawsArgs) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let Some(name) = &args.name else {
        if args.json {
            let all: Vec<Value> = LAWS.iter().map(as_json).collect();
            writeln!(out, "{:#}", json!(all))?;
        } else {
            write!(out, "{}", table())?;
        }
        return Ok(());
    };
    let Some(law) = LAWS.iter().find(|law| law.name == name) else {
        let names = LAWS.iter().map(|law| law.name);
        let hint = text::did_you_mean(name, names)
            .unwrap_or_else(|| "`carom laws` tells which suits which impact".to_owned());
        return Err(Failure::Usage(format!("unknown law `{name}`; {hint}")));
    };
    if args.json {
        writeln!(out, "{:#}", as_json(law))?;
    } else {
        write!(out, "{}", details(law))?;
    }
    Ok(())
}

fn table() -> String {
    let width = LAWS.iter().map(|law| law.name.len()).max().unwrap_or(0) + 2;
    let mut lines = "Which law shall I take? Look for your situation.\n\n".to_owned();
    for (law, choice) in carom_wire::choices() {
        let text = format!(
            "{} | friction: {} | restitution: {} | answers: {} | energy: {} | cost: {}",
            choice.situation,
            choice.friction,
            choice.restitution,
            choice.answers,
            choice.energy,
            choice.cost
        );
        lines.push_str(&text::entry(law.name, width, &text));
    }
    lines.push_str("\nWhat the laws compute\n\n");
    for law in LAWS {
        lines.push_str(&text::entry(law.name, width, law.summary));
    }
    lines.push_str("\n`carom laws NAME`: the options of a law, their defaults, and an example.\n");
    lines
}

fn details(law: &LawInfo) -> String {
    let mut lines = String::new();
    let mut put = |title: &str, text: &str| lines.push_str(&text::entry(title, 12, text));
    put(law.name, law.summary);
    put("source", law.reference);
    let mut uses = vec!["normal"];
    uses.extend(law.uses.names());
    put("uses", &uses.join(", "));
    put(
        "contacts",
        match law.contacts {
            ContactCount::One => "one",
            _ => "any number",
        },
    );
    put("energy", law.energy);
    put(
        "outcomes",
        match law.outcomes {
            Outcomes::Single => "one",
            Outcomes::OneOfMany => "several; one is given unless all are asked for",
            _ => "several; all are given unless one is asked for",
        },
    );
    if law.options.is_empty() {
        put("options", "none");
    } else {
        lines.push_str("\noptions\n");
        let width = law.options.iter().map(|o| o.key.len()).max().unwrap_or(0) + 4;
        for option in law.options {
            let unit = match option.unit {
                "" => String::new(),
                unit => format!(" ({unit})"),
            };
            let text = format!("{}{unit}; {}", option.default, option.meaning);
            lines.push_str(&text::entry(&format!("  {}", option.key), width, &text));
        }
    }
    lines.push_str(&format!(
        "\nexample, a line for `carom resolve`\n{}\n",
        law.example
    ));
    lines
}

fn as_json(law: &LawInfo) -> Value {
    let uses: Vec<&str> = law.uses.names().collect();
    let options: Vec<Value> = law
        .options
        .iter()
        .map(|option| {
            json!({
                "key": option.key,
                "default": option.default,
                "unit": option.unit,
                "meaning": option.meaning,
            })
        })
        .collect();
    json!({
        "name": law.name,
        "summary": law.summary,
        "reference": law.reference,
        "uses": uses,
        "single_contact": law.contacts == ContactCount::One,
        "set_valued": law.outcomes != Outcomes::Single,
        "energy": law.energy,
        "may_gain_energy": law.may_gain_energy,
        "options": options,
        "example": law.example,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::WIDTH;

    #[test]
    fn tables_fit_the_terminal() {
        for line in table().lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        for law in LAWS {
            let text = details(law);
            let (above, _) = text.split_once("\nexample").unwrap_or((&text, ""));
            for line in above.lines() {
                assert!(line.chars().count() <= WIDTH, "{line}");
            }
        }
    }
}
