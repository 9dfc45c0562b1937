//! Figures of a fit.

use super::analysis::Analysis;
use super::case::Case;
use super::contacts::{Touched, contacts};
use super::law_fit::LawFit;
use super::likelihood::best_scale;
use super::model::{Model, point};
use super::parameter::{Coefficient, Parameter};
use super::simplex::{Domain, Point};
use super::surrogate::Surrogate;
use carom_report::record::{Axis, Color, Figure, Mark};

/// Sizes of the pictures of the likelihood (a map) and of the misfits (a histogram).
struct Pictures {
    /// Number of cells of the likelihood map along each side.
    cells: usize,
    /// Distance from the estimate to each side of the map.
    reach: f64,
    /// Log likelihoods are drawn down to this difference from the best one; lower ones look alike.
    deepest: f64,
    /// Number of bins of the histogram of misfits.
    bins: usize,
    /// Upper end of the histogram of misfits.
    last_bin: f64,
}

/// Values of [`Pictures`].
const PICTURES: Pictures = Pictures {
    cells: 41,
    reach: 0.2,
    deepest: -400.0,
    bins: 40,
    last_bin: 0.6,
};

const COLORS: [Color; 6] = [
    Color::Blue,
    Color::Orange,
    Color::Green,
    Color::Vermillion,
    Color::Purple,
    Color::Gray,
];

/// Creates all figures of an analysis. The list is empty if no impact law was fitted.
pub(crate) fn figures(analysis: &Analysis) -> Vec<Figure> {
    let ranking = analysis.ranking();
    let Some(best) = ranking.first() else {
        return Vec::new();
    };
    let mut figures = Vec::new();
    figures.extend(map(analysis, best));
    figures.push(histogram(analysis, best));
    figures.extend(panels(analysis, best));
    figures.extend(by_kind(best));
    figures.push(directions(analysis));
    figures.push(explained(analysis));
    figures.push(approach(analysis));
    figures.extend(against(analysis, best));
    figures
}

/// Points of a figure: abscissas, ordinates.
type Points = (Vec<f64>, Vec<f64>);

/// Draws one point for each impact.
fn scatter(id: &str, title: &str, caption: &str, axes: [Axis; 2], (x, y): Points) -> Figure {
    let [horizontal, vertical] = axes;
    let figure = Figure::new(id, title, caption, horizontal, vertical);
    figure.mark(Mark::points("impacts", x, y, Color::Blue))
}

/// Draws the log likelihood of the best law over restitution and friction around the estimate. Shows the estimate,
/// its 95 % intervals and the published values. `None` if the two are not parameters of all contacts.
fn map(analysis: &Analysis, best: &LawFit) -> Option<Figure> {
    let free = [Coefficient::Restitution, Coefficient::Friction].map(Parameter::shared);
    let is_there = |p: &Parameter| best.rule.has(p) && best.parameters.iter().any(|(q, _)| p == q);
    if !free.iter().all(is_there) {
        return None;
    }
    let cases: Vec<&Case> = best
        .places
        .iter()
        .filter_map(|k| analysis.case_at(*k))
        .collect();
    let (p, top) = (&best.parameters, best.score.log_likelihood);
    let model = Model {
        rule: &best.rule,
        free: &free,
        fixed: p.clone(),
    };
    let range = model.domain();
    let center = point(&free, p);
    let published = analysis
        .measured
        .origin
        .as_ref()
        .and_then(|o| o.published.as_ref());
    let published = published.map(|published| point(&free, published));
    let ends = |side: f64| -> Point {
        let end = |(k, center): (usize, &f64)| {
            let end = center + side * PICTURES.reach;
            let other = published.as_ref().map(|point| point[k]);
            // The map is extended to include the published values.
            other.map_or(end, |x| if side * (x - end) > 0.0 { x } else { end })
        };
        range.clamp(center.iter().enumerate().map(end).collect())
    };
    let domain = Domain {
        low: ends(-1.0),
        high: ends(1.0),
    };
    let axis = |k: usize| -> Vec<f64> {
        let step = (domain.high[k] - domain.low[k]) / (PICTURES.cells - 1) as f64;
        (0..PICTURES.cells)
            .map(|i| domain.low[k] + step * i as f64)
            .collect()
    };
    let (x, y) = (axis(0), axis(1));
    let grid = Surrogate::new(&model, &cases, domain, &center).ok()?;
    let mut misfits = Vec::new();
    let mut height = |restitution: f64, friction: f64| {
        grid.misfits(&[restitution, friction], &[], &mut misfits);
        (best_scale(&misfits, |i| cases[i].dim, |_| 1.0).sum - top).max(PICTURES.deepest)
    };
    let mut values = Vec::with_capacity(PICTURES.cells);
    for &friction in &y {
        values.push(
            x.iter()
                .map(|&restitution| height(restitution, friction))
                .collect(),
        );
    }
    let mut figure = Figure::new(
        "likelihood",
        format!("Log likelihood of {} below its largest value", best.rule.name()),
        "Vermillion: the estimate, and its 95 % interval as a box; green, if given: what was published. Predictions are interpolated; values below -400 are drawn alike.",
        Axis::linear("restitution", ""),
        Axis::linear("friction", ""),
    )
    .mark(Mark::Heatmap {
        label: "log likelihood below the best".to_owned(),
        unit: String::new(),
        x,
        y,
        values,
    });
    let interval = |parameter: &Parameter| {
        let found = best.estimates.iter().find(|e| e.parameter == *parameter);
        found.and_then(|e| e.interval)
    };
    if let (Some([a, b]), Some([c, d])) = (interval(&free[0]), interval(&free[1])) {
        let (x, y) = (vec![a, b, b, a, a], vec![c, c, d, d, c]);
        figure = figure.mark(Mark::line("95 % intervals", x, y, Color::Vermillion));
    }
    for (name, at, color) in [
        ("published", published, Color::Green),
        ("estimate", Some(center), Color::Vermillion),
    ] {
        if let Some(at) = at {
            figure = figure.mark(Mark::points(name, vec![at[0]], vec![at[1]], color));
        }
    }
    Some(figure)
}

/// Draws the histogram of the misfits (relative distances of predicted and measured velocity after the impact) of all
/// laws.
fn histogram(analysis: &Analysis, best: &LawFit) -> Figure {
    let last = PICTURES.last_bin;
    let mut figure = Figure::new(
        "misfits",
        "How far each law is from the measured velocity",
        format!(
            "Impacts per bin of the misfit, relative to the speed before; misfits above {last} stand in the last bin. \
             The best law is {}.",
            best.rule.name()
        ),
        Axis::linear("misfit", "").range(0.0, last),
        Axis::linear("impacts", ""),
    );
    let fits = analysis
        .fits
        .iter()
        .chain(&analysis.baselines)
        .filter(|fit| fit.rule.name() != "no-impact");
    for (fit, color) in fits.zip(COLORS.into_iter().cycle()) {
        let mut counts = [0.0; PICTURES.bins];
        for d in &fit.score.misfits {
            let bin = (d / PICTURES.last_bin * PICTURES.bins as f64) as usize;
            counts[bin.min(PICTURES.bins - 1)] += 1.0;
        }
        let width = PICTURES.last_bin / PICTURES.bins as f64;
        let x = (0..PICTURES.bins)
            .map(|i| (i as f64 + 0.5) * width)
            .collect();
        figure = figure.mark(Mark::line(fit.rule.name(), x, counts.to_vec(), color));
    }
    figure
}

/// Draws the velocities after the impact that the best law predicts against the measured ones, in one figure per
/// velocity component.
fn panels(analysis: &Analysis, best: &LawFit) -> Vec<Figure> {
    let predictions = analysis.predictions(best);
    let panel = |(k, (name, unit)): (usize, (String, &'static str))| {
        let cases = analysis.cases.iter().zip(&predictions);
        let points = cases.filter_map(|(case, p)| Some((case.state.plus[k], p.as_ref()?[k])));
        let (x, y): Points = points.unzip();
        let all = || x.iter().chain(&y).copied();
        let ends = vec![
            all().fold(f64::INFINITY, f64::min),
            all().fold(f64::NEG_INFINITY, f64::max),
        ];
        scatter(
            &format!("predicted-{name}"),
            &format!("{name} after the impact, by {}", best.rule.name()),
            "On the line the law predicts what was measured.",
            [
                Axis::linear("measured", unit),
                Axis::linear("predicted", unit),
            ],
            (x, y),
        )
        .mark(Mark::line("equal", ends.clone(), ends, Color::Gray))
    };
    let components = analysis.components().into_iter().enumerate();
    components.map(panel).collect()
}

/// Draws the restitution and friction of the best law, fitted separately to each kind of impact. `None` if there are no such
/// fits.
fn by_kind(best: &LawFit) -> Option<Figure> {
    if best.by_kind.is_empty() {
        return None;
    }
    let kinds = best.by_kind.iter().enumerate();
    let names: Vec<String> = kinds
        .map(|(k, fit)| format!("{}: {}", k + 1, fit.name))
        .collect();
    let last = names.len() as f64 + 0.5;
    let mut figure = Figure::new(
        "by-kind",
        format!("{} fitted to each kind of impacts alone", best.rule.name()),
        format!("{}. One law should give one height.", names.join(", ")),
        Axis::linear("kind", "").range(0.5, last),
        Axis::linear("coefficient", ""),
    );
    let colors = COLORS.into_iter().cycle();
    for ((parameter, _), color) in best.parameters.iter().zip(colors) {
        if parameter.coefficient == Coefficient::Inertia || !best.rule.has(parameter) {
            continue;
        }
        let x = (0..best.by_kind.len()).map(|k| k as f64 + 1.0);
        let y = best.by_kind.iter().map(|fit| fit.parameters.get(parameter));
        let name = parameter.to_string();
        figure = figure.mark(Mark::points(&name, x.collect(), y.collect(), color));
    }
    Some(figure)
}

/// Draws the median parts of the misfit along the normal rows, the other rows and no row, law by law.
fn directions(analysis: &Analysis) -> Figure {
    let fits: Vec<&LawFit> = analysis.fits.iter().chain(&analysis.baselines).collect();
    let names = fits.iter().enumerate();
    let names: Vec<String> = names
        .map(|(k, fit)| format!("{}: {}", k + 1, fit.rule.name()))
        .collect();
    let mut figure = Figure::new(
        "directions",
        "Misfit by direction",
        format!(
            "Median parts; no law can be better than the part that no contact reaches. {}.",
            names.join(", ")
        ),
        Axis::linear("law", "").range(0.5, fits.len() as f64 + 0.5),
        Axis::linear("part of the misfit", ""),
    );
    let parts = [
        ("normal", Color::Blue),
        ("tangential", Color::Orange),
        ("no contact", Color::Gray),
    ];
    for (k, (name, color)) in parts.into_iter().enumerate() {
        let x = (0..fits.len()).map(|k| k as f64 + 1.0).collect();
        let y = fits.iter().map(|fit| fit.residual_by[k][1]).collect();
        figure = figure.mark(Mark::points(name, x, y, color));
    }
    figure
}

/// Draws the misfits of the best law against the speed of approach, the angle and the ratio of impulses, for impacts with one
/// contact.
fn against(analysis: &Analysis, best: &LawFit) -> Vec<Figure> {
    type Measure = fn(&Touched) -> Option<f64>;
    let measures: [(&str, &str, Measure); 3] = [
        ("misfit-speed", "speed of approach", |c| Some(c.approach)),
        ("misfit-angle", "tangential over normal velocity", |c| {
            Some(c.sliding / c.approach)
        }),
        ("misfit-impulses", "tangential over normal impulse", |c| {
            c.impulse_ratio
        }),
    ];
    let single = best
        .places
        .iter()
        .zip(&best.score.misfits)
        .filter_map(|(k, misfit)| {
            let case = analysis.case_at(*k)?;
            let [contact] = &contacts(case)[..] else {
                return None;
            };
            (contact.approach > 0.0).then(|| (contact.clone(), *misfit))
        });
    let single: Vec<(Touched, f64)> = single.collect();
    let figure = |(id, name, measure): (&str, &str, Measure)| {
        let points = single
            .iter()
            .filter_map(|(c, misfit)| Some((measure(c)?, *misfit)));
        let points: Points = points.unzip();
        let title = format!("Misfit of {} against the {name}", best.rule.name());
        let axes = [Axis::linear(name, ""), Axis::linear("misfit", "")];
        let is_there = !points.0.is_empty();
        is_there.then(|| scatter(id, &title, "Impacts with one contact.", axes, points))
    };
    measures.into_iter().filter_map(figure).collect()
}

/// Draws the energy ratio of each measured impact against the part of its velocity change that no impact law
/// explains.
fn explained(analysis: &Analysis) -> Figure {
    let bounds = analysis.bounds.iter();
    let limit = |name, x, y| Mark::line(name, x, y, Color::Vermillion);
    scatter(
        "explained",
        "What no rigid law explains",
        "Right of 0.1 or above 1.02 no impulses at the contacts make the measured change.",
        [
            Axis::linear("part that no impulse makes", ""),
            Axis::linear("energy after over energy before", ""),
        ],
        bounds
            .map(|bound| (bound.unexplained, bound.energy_ratio))
            .unzip(),
    )
    .mark(limit("1.02", vec![0.0, 0.1], vec![1.02, 1.02]))
    .mark(limit("0.1", vec![0.1, 0.1], vec![0.0, 1.02]))
}

/// Draws the measured ratio of normal velocities after and before the impact (Newton's restitution) against the
/// approach speed, for impacts with one contact.
fn approach(analysis: &Analysis) -> Figure {
    let single = analysis
        .cases
        .iter()
        .filter_map(|case| match &contacts(case)[..] {
            [contact] => Some((contact.approach, contact.restitution?)),
            _ => None,
        });
    scatter(
        "approach",
        "Restitution of single contacts against the speed of approach",
        "Normal speed after over normal speed before, of impacts with one contact.",
        [
            Axis::linear("speed of approach", "m/s"),
            Axis::linear("restitution", "").range(-0.5, 1.5),
        ],
        single.unzip(),
    )
}
