use super::*;
use crate::animation::{Animation, Outline, PlaneBody};
use crate::record::{Axis, Color, Column, Mark, Quantity};

fn hostile() -> Record {
    let evil = "<script>&\"'";
    let axis = || Axis::linear(evil, evil);
    let line = Mark::line(evil, vec![0.0, 1.0], vec![0.0, 1.0], Color::Sky);
    let mut record = Record::new(evil, evil);
    record.parameters = serde_json::json!({ evil: evil });
    record.quantities = vec![
        Quantity::new(evil, 1.5, evil)
            .printed(1.0, 0.5, evil)
            .note(evil),
    ];
    record.tables = vec![Table {
        rows: vec![vec![-0.5]; MAX_ROWS + 1],
        ..Table::new("t", evil, vec![Column::new(evil, evil)])
    }];
    record.figures = vec![Figure::new("f", evil, evil, axis(), axis()).mark(line)];
    let disk = Outline::disk([0.0; 2], 1.0, Color::Blue);
    let body = PlaneBody::new(vec![disk], [[0.0; 3], [1.0, 0.0, 0.0]]).label("</script>");
    let motion = Animation::plane(evil, evil, evil, vec![0.0, 1.0], vec![]).body(body);
    record.animations = vec![motion];
    record
}

#[test]
fn everything_is_escaped() -> Result<(), ExportError> {
    let page = html(&hostile(), &[Format::Svg])?;
    assert!(!page.contains("<script>&"));
    assert!(page.contains("&lt;script&gt;&amp;&quot;&#39;"));
    // The data of the player, and the player.
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script>").count(), 2);
    let data = page
        .split_once("application/json\">")
        .and_then(|(_, rest)| rest.split_once("</script>"))
        .map(|(data, _)| serde_json::from_str::<Animation>(data))
        .transpose()?;
    assert_eq!(data.as_ref(), hostile().animations.first());
    Ok(())
}

#[test]
fn shows_comparison_figure_and_part_of_a_long_table() -> Result<(), ExportError> {
    let page = html(&hostile(), &[Format::Svg])?;
    assert!(page.contains("+50 %"));
    assert!(page.contains("<svg "));
    assert!(page.contains("(201 rows)"));
    assert_eq!(page.matches("\u{2212}0.5</td>").count(), MAX_ROWS);
    Ok(())
}

#[test]
fn nothing_is_fetched() -> Result<(), ExportError> {
    let page = html(&hostile(), &[Format::Svg])?;
    let namespace = "http://www.w3.org/2000/svg";
    assert!(!page.replace(namespace, "").contains("http"));
    Ok(())
}

#[test]
fn a_page_without_motion_has_no_script() -> Result<(), ExportError> {
    let mut still = hostile();
    still.animations.clear();
    assert!(!html(&still, &[Format::Svg])?.contains("<script"));
    Ok(())
}

#[test]
fn what_cannot_be_played_is_refused() {
    let mut bad = hostile();
    bad.animations.iter_mut().for_each(|a| a.times.reverse());
    assert!(matches!(
        html(&bad, &[Format::Svg]),
        Err(ExportError::Shape(_))
    ));
}

#[test]
fn the_head_names_the_law_that_the_run_followed() -> Result<(), ExportError> {
    let mut record = Record::new("world", "A tower.");
    record.parameters = serde_json::json!({"law": {"single": "two-body", "several": "sequential"}});
    record.results.insert("law".to_owned(), "sequential".into());
    assert!(html(&record, &[])?.contains("law: two-body, sequential"));
    // Time steps have one law of their own.
    record.results.insert("law".to_owned(), "poisson".into());
    assert!(html(&record, &[])?.contains("law: poisson \u{b7} numbers"));
    Ok(())
}
