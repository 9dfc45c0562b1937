//! Figures of a fit.

use crate::analysis::Analysis;
use crate::fit::{Cases, LawFit};
use crate::impact::{COMPONENTS, Kind};
use crate::law::{FitLaw, Parameter};
use crate::likelihood::{SPATIAL, best_scale};
use crate::objective::Model;
use crate::simplex::Domain;
use crate::surrogate::Surrogate;
use carom_report::record::{Axis, Color, Figure, Mark};

/// Sizes of the pictures of the likelihood (a map) and of the misfits (a histogram).
struct Pictures {
    /// Number of cells of the likelihood map along each side.
    cells: usize,
    /// Number of nodes of the likelihood map along each side, at which impacts are predicted.
    nodes: usize,
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
    nodes: 9,
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
    figures.push(explained(analysis));
    figures.push(approach(analysis));
    figures
}

/// Draws the log likelihood of the best law over restitution and friction around the estimate. Shows the estimate,
/// its 95 % intervals and the published values. `None` if the law does not have both parameters.
fn map(analysis: &Analysis, best: &LawFit) -> Option<Figure> {
    let Cases { cases, .. } = analysis.cases();
    let uses = best.law.uses();
    if !(uses.contains(&Parameter::Restitution) && uses.contains(&Parameter::Friction)) {
        return None;
    }
    let (p, top) = (best.parameters, best.score.log_likelihood);
    let model = Model {
        law: best.law,
        free: &[Parameter::Restitution, Parameter::Friction],
        fixed: p,
    };
    let range = model.domain();
    let center = model.point(&p);
    let published = analysis.published();
    let ends = |side: f64| {
        range.clamp(std::array::from_fn(|k| {
            let end = center[k] + side * PICTURES.reach;
            let other = published.and_then(|point| point.get(k).copied());
            // The map is extended to include the published values.
            other.map_or(end, |x| if side * (x - end) > 0.0 { x } else { end })
        }))
    };
    let domain = Domain {
        low: ends(-1.0),
        high: ends(1.0),
        ..range
    };
    let grid = Surrogate::new(&model, cases, domain, PICTURES.nodes).ok()?;
    let axis = |k: usize| -> Vec<f64> {
        let step = (domain.high[k] - domain.low[k]) / (PICTURES.cells - 1) as f64;
        (0..PICTURES.cells)
            .map(|i| domain.low[k] + step * i as f64)
            .collect()
    };
    let (x, y) = (axis(0), axis(1));
    let mut misfits = Vec::new();
    let mut height = |restitution: f64, friction: f64| {
        misfits.clear();
        misfits.extend(
            grid.residuals(&[restitution, friction, 0.0])
                .map(|r| r.norm()),
        );
        (best_scale(&misfits, |_| SPATIAL, |_| 1.0).sum - top).max(PICTURES.deepest)
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
        format!("Log likelihood of {} below its largest value", best.law.name()),
        "Vermillion: the estimate, and its 95 % interval over tosses as a box; green, if given: what was published. Predictions are interpolated; values below -400 are drawn alike.",
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
    let interval = |parameter| {
        let found = best.estimates.iter().find(|e| e.parameter == parameter);
        found.and_then(|e| e.interval)
    };
    if let (Some([a, b]), Some([c, d])) = (
        interval(Parameter::Restitution),
        interval(Parameter::Friction),
    ) {
        let (x, y) = (vec![a, b, b, a, a], vec![c, c, d, d, c]);
        figure = figure.mark(Mark::line("95 % intervals", x, y, Color::Vermillion));
    }
    if let Some([restitution, friction]) = published {
        let point = Mark::points("published", vec![restitution], vec![friction], Color::Green);
        figure = figure.mark(point);
    }
    Some(figure.mark(Mark::points(
        "estimate",
        vec![p.restitution],
        vec![p.friction],
        Color::Vermillion,
    )))
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
            best.law.name()
        ),
        Axis::linear("misfit", "").range(0.0, last),
        Axis::linear("impacts", ""),
    );
    let fits = analysis
        .fits
        .iter()
        .chain(&analysis.baselines)
        .filter(|fit| fit.law != FitLaw::NoImpact);
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
        figure = figure.mark(Mark::line(fit.law.name(), x, counts.to_vec(), color));
    }
    figure
}

/// Draws the velocities after the impact that the best law predicts against the measured ones, in one figure per
/// velocity component.
fn panels(analysis: &Analysis, best: &LawFit) -> Vec<Figure> {
    let predictions = analysis.predictions(best);
    let components = COMPONENTS.into_iter().enumerate();
    components
        .map(|(k, (name, unit))| {
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for (impact, predicted) in analysis.census.impacts.iter().zip(&predictions) {
                if let Some(predicted) = predicted {
                    x.push(impact.velocity_plus[k]);
                    y.push(predicted[k]);
                }
            }
            let all = || x.iter().chain(&y).copied();
            let ends = vec![
                all().fold(f64::INFINITY, f64::min),
                all().fold(f64::NEG_INFINITY, f64::max),
            ];
            Figure::new(
                format!("predicted-{name}"),
                format!("{name} after the impact, by {}", best.law.name()),
                "On the line the law predicts what was measured.",
                Axis::linear("measured", unit),
                Axis::linear("predicted", unit),
            )
            .mark(Mark::line("equal", ends.clone(), ends, Color::Gray))
            .mark(Mark::points("impacts", x, y, Color::Blue))
        })
        .collect()
}

/// Draws the restitution and friction of the best law, fitted separately to each kind of impact (one, two, or more
/// touching vertices). `None` if there are no such fits.
fn by_kind(best: &LawFit) -> Option<Figure> {
    if best.by_kind.is_empty() {
        return None;
    }
    let mut figure = Figure::new(
        "by-kind",
        format!(
            "{} fitted to corners, edges and faces alone",
            best.law.name()
        ),
        "1: one vertex touches, 2: two, 3: three or more. One law should give one height.",
        Axis::linear("vertices that touch", "").range(0.5, 3.5),
        Axis::linear("coefficient", ""),
    );
    for (parameter, color) in [
        (Parameter::Restitution, Color::Blue),
        (Parameter::Friction, Color::Orange),
    ] {
        if !best.law.uses().contains(&parameter) {
            continue;
        }
        let x = best.by_kind.iter().map(|fit| match fit.kind {
            Kind::Corner => 1.0,
            Kind::Edge => 2.0,
            Kind::Face => 3.0,
        });
        let y = best.by_kind.iter().map(|fit| fit.parameters.get(parameter));
        figure = figure.mark(Mark::points(
            parameter.name(),
            x.collect(),
            y.collect(),
            color,
        ));
    }
    Some(figure)
}

/// Draws the energy ratio of each measured impact against the part of its velocity change that no impact law
/// explains.
fn explained(analysis: &Analysis) -> Figure {
    let x = analysis
        .bounds
        .iter()
        .map(|bound| bound.unexplained)
        .collect();
    let y = analysis
        .bounds
        .iter()
        .map(|bound| bound.energy_ratio)
        .collect();
    Figure::new(
        "explained",
        "What no rigid law explains",
        "Right of 0.1 or above 1.02 no impulses at the touching vertices make the measured change.",
        Axis::linear("part that no impulse makes", ""),
        Axis::linear("energy after over energy before", ""),
    )
    .mark(Mark::points("impacts", x, y, Color::Blue))
    .mark(Mark::line(
        "1.02",
        vec![0.0, 0.1],
        vec![1.02, 1.02],
        Color::Vermillion,
    ))
    .mark(Mark::line(
        "0.1",
        vec![0.1, 0.1],
        vec![0.0, 1.02],
        Color::Vermillion,
    ))
}

/// Draws the measured ratio of normal velocities after and before the impact (Newton's restitution) against the
/// approach speed, for impacts with one touching vertex.
fn approach(analysis: &Analysis) -> Figure {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for case in &analysis.cases().cases {
        if let Some([before, after]) = case.corner_speeds()
            && before < 0.0
        {
            x.push(-before);
            y.push(-after / before);
        }
    }
    Figure::new(
        "approach",
        "Restitution of single corners against the speed of approach",
        "Normal speed after over normal speed before, of the one touching vertex.",
        Axis::linear("speed of approach", "m/s"),
        Axis::linear("restitution", "").range(-0.5, 1.5),
    )
    .mark(Mark::points("corners", x, y, Color::Blue))
}
