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

/// The head names the laws, and the box below it has every remark, however many there are.
#[test]
fn the_page_begins_with_laws_and_remarks() -> Result<(), ExportError> {
    let mut record = Record::new("world", "A tower.");
    record.parameters = serde_json::json!({"law": {"single": "two-body", "several": "sequential"}});
    let ignored: Vec<String> = (0..30)
        .map(|k| format!("limit velocity `{k}`: <b>"))
        .collect();
    let warnings = serde_json::json!(["it falls"]);
    let results = [("warnings", warnings), ("ignored", ignored.into())];
    for (key, value) in results {
        record.results.insert(key.to_owned(), value);
    }
    record.status = "at-rest".to_owned();
    record
        .results
        .insert("ended".to_owned(), "all is at rest".into());
    let page = html(&record, &[])?;
    assert!(page.contains("laws: two-body (one contact), sequential (several) \u{b7} all data"));
    assert!(page.contains("<strong>Warning:</strong> it falls</p>"));
    assert!(page.contains("<strong>Ended:</strong> `at-rest`: all is at rest</p>"));
    assert_eq!(
        page.matches("<strong>Ignored:</strong> limit velocity `")
            .count(),
        30
    );
    assert!(!page.contains("<b>"), "{page}");
    Ok(())
}

#[test]
fn an_embedded_page_keeps_to_its_limit() -> Result<(), ExportError> {
    let record = hostile();
    let whole = embedded(&record, 2_000_000)?;
    let (_, page) = whole.split_once(" srcdoc=\"").unwrap_or_default();
    assert_eq!(page.find('"'), page.len().checked_sub("\"></iframe>".len()));
    assert_ne!(
        page.contains("&quot;player&quot;"),
        record.animations.is_empty()
    );
    let shorter = embedded(&record, whole.len() - 1)?;
    assert!(shorter.len() < whole.len() && shorter.ends_with("</iframe>"));
    Ok(())
}
