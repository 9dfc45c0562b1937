//! Figures as SVG.
//!
//! Lengths are pixels of a canvas about 900 wide. The backend takes whole
//! numbers only, which would turn curves into stairs, so everything is sent in
//! tenths of a pixel and the view box scales it back. Marks are clipped here,
//! as the backend cannot clip.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::Color as _;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::html::escape;
use super::{ExportError, with_unit};
use crate::record::{Axis, Color, Figure, LineStyle, Mark, PointShape, Scale};

type Point = [f64; 2];
type Done = Result<(), ExportError>;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 560.0;
/// Drawings with equal axes may be taller than plots.
const MAX_PLOT_HEIGHT: f64 = 640.0;
const MIN_WIDTH: f64 = 420.0;
const FINE: f64 = 10.0;

const TICK_SIZE: f64 = 13.0;
const LABEL_SIZE: f64 = 15.0;
const TITLE_SIZE: f64 = 18.0;
const LEGEND_SIZE: f64 = 13.0;
const LEGEND_TEXT_WIDTH: f64 = 190.0;
const SWATCH: f64 = 34.0;
const LINE_WIDTH: f64 = 2.0;
/// How much wider bold text is than `text_width` says.
const BOLD: f64 = 1.18;
/// Cells overlap by more than a pixel, as renderers leave seams between them.
const OVERLAP: f64 = 1.2;

const INK: RGBColor = RGBColor(34, 34, 34);
const FRAME: RGBColor = RGBColor(70, 70, 70);
const GRID: RGBColor = RGBColor(228, 228, 228);
const MINOR_GRID: RGBColor = RGBColor(243, 243, 243);
const PAPER: RGBColor = RGBColor(255, 255, 255);

/// The figure as an SVG document.
///
/// A line breaks where a coordinate is NaN, or not positive on a log axis. If
/// `equal_aspect` is set, the plot takes the shape of its ranges; a range that
/// would make it a mere strip is widened.
///
/// # Errors
///
/// Lists whose lengths disagree, an impossible axis, or a second heat map.
pub fn svg(figure: &Figure) -> Result<String, ExportError> {
    figure.marks.iter().try_for_each(check)?;
    let layout = Layout::new(figure)?;
    let size = (
        fine(layout.width).unsigned_abs(),
        fine(layout.height).unsigned_abs(),
    );
    let mut text = String::new();
    let mut canvas = Canvas {
        backend: SVGBackend::with_string(&mut text, size),
    };
    layout.draw(figure, &mut canvas)?;
    canvas.backend.present().map_err(drawing_error)?;
    drop(canvas);
    Ok(with_header(&text, figure, &layout))
}

/// Replaces the backend's opening tag by one with the true size and a title.
fn with_header(text: &str, figure: &Figure, layout: &Layout) -> String {
    let body = text.split_once('>').map_or("", |(_, body)| body);
    let title = if figure.title.is_empty() {
        &figure.name
    } else {
        &figure.title
    };
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{title}\" \
         width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\">\n<title>{title}</title>{body}",
        layout.width,
        layout.height,
        fine(layout.width),
        fine(layout.height)
    )
}

// Checks ------------------------------------------------------------------

fn check(mark: &Mark) -> Done {
    match mark {
        Mark::Line { x, y, .. } | Mark::Points { x, y, .. } | Mark::Polygon { x, y, .. } => {
            same_length("x and y", x.len(), y.len())
        }
        Mark::Heatmap { x, y, values, .. } => {
            same_length("heat map rows and y", values.len(), y.len())?;
            values
                .iter()
                .try_for_each(|row| same_length("heat map row and x", row.len(), x.len()))?;
            increasing("x", x)?;
            increasing("y", y)
        }
        Mark::Disk { .. } | Mark::Arrow { .. } | Mark::Text { .. } => Ok(()),
    }
}

fn same_length(what: &str, a: usize, b: usize) -> Done {
    if a == b {
        return Ok(());
    }
    Err(ExportError::Shape(format!("{what}: {a} and {b}")))
}

fn increasing(what: &str, centers: &[f64]) -> Done {
    let ordered = centers
        .iter()
        .zip(centers.iter().skip(1))
        .all(|(a, b)| a < b);
    if ordered && !centers.is_empty() && centers.iter().all(|v| v.is_finite()) {
        return Ok(());
    }
    Err(ExportError::Shape(format!("heat map {what} must increase")))
}

fn axis_error(axis: &Axis, problem: &str) -> ExportError {
    ExportError::Axis {
        label: axis.label.clone(),
        problem: problem.to_owned(),
    }
}

// Ranges ------------------------------------------------------------------

/// An interval of transformed values: themselves, or their decimal logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    const NOTHING: Self = Self {
        low: f64::INFINITY,
        high: f64::NEG_INFINITY,
    };

    fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let finite = values.into_iter().filter(|v| v.is_finite());
        finite.fold(Self::NOTHING, |span, v| Self {
            low: span.low.min(v),
            high: span.high.max(v),
        })
    }

    fn length(self) -> f64 {
        self.high - self.low
    }

    fn padded(self, by: f64) -> Self {
        Self {
            low: self.low - by,
            high: self.high + by,
        }
    }

    /// A drawable span even of no values, or of equal ones.
    ///
    /// Differences at the level of rounding errors count as none; a plot that
    /// magnified them would mislead.
    fn opened(self, scale: Scale) -> Self {
        if self.low > self.high {
            return Self {
                low: 0.0,
                high: 1.0,
            };
        }
        let largest = self.low.abs().max(self.high.abs());
        if self.length() > largest * 1e-10 {
            return self;
        }
        self.padded(match scale {
            Scale::Log => 0.3,
            Scale::Linear if largest > 0.0 => largest * 0.05,
            Scale::Linear => 0.5,
        })
    }
}

fn transform(scale: Scale, value: f64) -> f64 {
    match scale {
        Scale::Linear => value,
        Scale::Log if value > 0.0 => value.log10(),
        Scale::Log => f64::NAN,
    }
}

#[derive(Clone, Copy)]
enum Side {
    X,
    Y,
}

impl Side {
    fn pick<T>(self, x: T, y: T) -> T {
        match self {
            Self::X => x,
            Self::Y => y,
        }
    }
}

/// Range of an axis: the one asked for, or one that fits the marks.
fn span(figure: &Figure, side: Side) -> Result<Span, ExportError> {
    let axis = side.pick(&figure.x, &figure.y);
    if let Some([low, high]) = axis.range {
        let span = Span {
            low: transform(axis.scale, low),
            high: transform(axis.scale, high),
        };
        let usable = span.low < span.high && span.length().is_finite();
        return if usable {
            Ok(span)
        } else {
            Err(axis_error(
                axis,
                "range must increase, and be positive if logarithmic",
            ))
        };
    }
    let values = figure
        .marks
        .iter()
        .flat_map(|mark| extent(mark, axis.scale, side));
    let span = Span::of(values).opened(axis.scale);
    // Cells end where they end; everything else needs some air.
    let share = if figure
        .marks
        .iter()
        .any(|m| matches!(m, Mark::Heatmap { .. }))
    {
        0.0
    } else if figure.equal_aspect {
        0.05
    } else {
        side.pick(0.025, 0.06)
    };
    let span = span.padded(share * span.length());
    if span.length().is_finite() {
        Ok(span)
    } else {
        Err(axis_error(axis, "values are too far apart"))
    }
}

/// Transformed coordinates that an axis should show.
fn extent(mark: &Mark, scale: Scale, side: Side) -> Vec<f64> {
    let values = match mark {
        Mark::Line { x, y, .. } | Mark::Points { x, y, .. } | Mark::Polygon { x, y, .. } => {
            side.pick(x, y).clone()
        }
        Mark::Heatmap { x, y, .. } => return edges(side.pick(x, y), scale),
        Mark::Disk { x, y, radius, .. } => {
            let center = side.pick(*x, *y);
            vec![center - radius, center + radius]
        }
        Mark::Arrow {
            from: [x0, y0],
            to: [x1, y1],
            ..
        } => {
            vec![side.pick(*x0, *y0), side.pick(*x1, *y1)]
        }
        Mark::Text { x, y, .. } => vec![side.pick(*x, *y)],
    };
    values.into_iter().map(|v| transform(scale, v)).collect()
}

/// Transformed edges of cells, half way between their centers.
fn edges(centers: &[f64], scale: Scale) -> Vec<f64> {
    let at: Vec<f64> = centers.iter().map(|v| transform(scale, *v)).collect();
    let inner: Vec<f64> = at
        .iter()
        .zip(at.iter().skip(1))
        .map(|(a, b)| 0.5 * (a + b))
        .collect();
    let mirror = |end: Option<&f64>, next: Option<&f64>, alone: f64| match (end, next) {
        (Some(end), Some(next)) => 2.0 * end - next,
        (Some(end), None) => end + alone,
        _ => f64::NAN,
    };
    let first = mirror(at.first(), inner.first(), -0.5);
    let last = mirror(at.last(), inner.last(), 0.5);
    std::iter::once(first)
        .chain(inner)
        .chain(std::iter::once(last))
        .collect()
}

// Ticks -------------------------------------------------------------------

/// Ticks of an axis, at transformed values.
#[derive(Debug, Default)]
struct Ticks {
    major: Vec<(f64, String)>,
    minor: Vec<f64>,
    /// Power of ten taken out of the labels, such as "×10⁻⁵".
    factor: Option<String>,
}

impl Ticks {
    fn new(span: Span, scale: Scale, count: f64) -> Self {
        match scale {
            Scale::Linear => Self::linear(span, count),
            Scale::Log => Self::log(span, count),
        }
    }

    /// Multiples of 1, 2, or 5 times a power of ten, held as integers so that
    /// labels never show rounding errors.
    fn linear(span: Span, count: f64) -> Self {
        let (multiple, power) = step(span.length() / count.max(1.0));
        let numbers = multiples(span, multiple, power);
        let largest = numbers.iter().map(|n| n.unsigned_abs()).max().unwrap_or(0);
        if largest == 0 {
            return Self::default();
        }
        let leading = power + whole(f64::from(digit_count(largest))) - 1;
        let taken = if (-3..5).contains(&leading) {
            0
        } else {
            leading
        };
        Self {
            major: numbers
                .iter()
                .map(|n| (scaled(*n, power), decimal(*n, power - taken)))
                .collect(),
            minor: Vec::new(),
            factor: (taken != 0).then(|| format!("×10{}", superscript(taken))),
        }
    }

    /// Powers of ten; between them 2 and 5 if the span is short; and linear
    /// ticks if it is shorter still.
    fn log(span: Span, count: f64) -> Self {
        let (first, last) = (whole(span.low.floor()), whole(span.high.ceil()));
        let stride = whole((span.length() / count.max(1.0)).ceil()).max(1);
        let inside = |v: f64| v >= span.low - 1e-9 && v <= span.high + 1e-9;
        let powers: Vec<i32> = (first..=last)
            .filter(|p| p.rem_euclid(stride) == 0 && inside(f64::from(*p)))
            .collect();
        let grid = |multiples: &[i64]| -> Vec<(i64, i32)> {
            let all = (first..=last).flat_map(|p| multiples.iter().map(move |m| (*m, p)));
            all.filter(|(m, p)| inside(log_of(*m, *p))).collect()
        };
        let minor = if stride == 1 {
            grid(&[2, 3, 4, 5, 6, 7, 8, 9])
        } else {
            Vec::new()
        };
        let labeled = match powers.len() {
            3.. => powers.iter().map(|p| (1, *p)).collect(),
            _ => grid(&[1, 2, 5]),
        };
        if labeled.len() < 3 {
            return Self::short_log(span, count);
        }
        let plain = labeled.iter().all(|(_, p)| (-2..=3).contains(p));
        Self {
            major: labeled
                .iter()
                .map(|(m, p)| (log_of(*m, *p), log_label(*m, *p, plain)))
                .collect(),
            minor: minor.iter().map(|(m, p)| log_of(*m, *p)).collect(),
            factor: None,
        }
    }

    fn short_log(span: Span, count: f64) -> Self {
        let values = Span {
            low: 10_f64.powf(span.low),
            high: 10_f64.powf(span.high),
        };
        let mut ticks = Self::linear(values, count.min(7.0));
        ticks.major.retain(|(v, _)| *v > 0.0);
        ticks.major.iter_mut().for_each(|(v, _)| *v = v.log10());
        ticks
    }

    fn width(&self) -> f64 {
        let widths = self
            .major
            .iter()
            .map(|(_, label)| text_width(label, TICK_SIZE));
        widths.fold(0.0, f64::max)
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is no less than `least`.
fn step(least: f64) -> (i64, i32) {
    let power = whole(least.log10().floor());
    let ratio = least / scaled(1, power);
    match ratio {
        r if r <= 1.0 + 1e-9 => (1, power),
        r if r <= 2.0 => (2, power),
        r if r <= 5.0 => (5, power),
        _ => (1, power + 1),
    }
}

/// Multiples of the step inside the span, in units of the power of ten.
fn multiples(span: Span, multiple: i64, power: i32) -> Vec<i64> {
    let step = scaled(multiple, power);
    let first = whole_long((span.low / step - 1e-6).ceil());
    let last = whole_long((span.high / step + 1e-6).floor());
    // The limit guards against a span that is tiny next to its values.
    (first..=last)
        .take(100)
        .filter_map(|k| k.checked_mul(multiple))
        .collect()
}

/// `number × 10^power`, dividing when that is the exact way.
fn scaled(number: i64, power: i32) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "ticks have few digits")]
    let number = number as f64;
    if (-300..0).contains(&power) {
        number / 10_f64.powi(-power)
    } else {
        number * 10_f64.powi(power)
    }
}

fn log_of(multiple: i64, power: i32) -> f64 {
    scaled(multiple, 0).log10() + f64::from(power)
}

fn digit_count(number: u64) -> u32 {
    number.checked_ilog10().unwrap_or(0) + 1
}

/// `number × 10^power` as exact decimal text.
fn decimal(number: i64, power: i32) -> String {
    let sign = if number < 0 { "\u{2212}" } else { "" };
    let mut digits = number.unsigned_abs().to_string();
    if number == 0 {
        return digits;
    }
    if power >= 0 {
        digits.extend((0..power).map(|_| '0'));
        return format!("{sign}{digits}");
    }
    let places = usize::try_from(power.unsigned_abs()).unwrap_or(0);
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (integer, fraction) = digits.split_at(digits.len() - places);
    format!("{sign}{integer}.{fraction}")
}

fn log_label(multiple: i64, power: i32, plain: bool) -> String {
    match (plain, multiple) {
        (true, _) => decimal(multiple, power),
        (false, 1) => format!("10{}", superscript(power)),
        (false, _) => format!("{multiple}×10{}", superscript(power)),
    }
}

fn superscript(power: i32) -> String {
    let raise = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    power.to_string().chars().map(raise).collect()
}

// Layout ------------------------------------------------------------------

#[derive(Clone, Copy, Debug)]
struct Rect {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Rect {
    fn width(self) -> f64 {
        self.right - self.left
    }

    fn height(self) -> f64 {
        self.bottom - self.top
    }

    fn contains(self, [x, y]: Point) -> bool {
        let slack = 0.05;
        x >= self.left - slack
            && x <= self.right + slack
            && y >= self.top - slack
            && y <= self.bottom + slack
    }
}

/// Where everything goes.
struct Layout<'a> {
    width: f64,
    height: f64,
    title: Vec<String>,
    frame: Rect,
    x: Map,
    y: Map,
    x_ticks: Ticks,
    y_ticks: Ticks,
    bar: Option<Bar<'a>>,
    legend: Vec<Entry<'a>>,
    legend_left: f64,
}

/// From values to pixels along one axis.
#[derive(Clone, Copy)]
struct Map {
    scale: Scale,
    span: Span,
    start: f64,
    end: f64,
}

impl Map {
    /// Pixel of a transformed value.
    fn place(self, transformed: f64) -> f64 {
        let share = (transformed - self.span.low) / self.span.length();
        // Far beyond any canvas, yet safe to compute with.
        (self.start + share * (self.end - self.start)).clamp(-1e7, 1e7)
    }

    /// Pixel of a value; NaN if the axis cannot show it.
    fn pixel(self, value: f64) -> f64 {
        if value.is_finite() {
            self.place(transform(self.scale, value))
        } else {
            f64::NAN
        }
    }
}

/// Color bar of the heat map.
struct Bar<'a> {
    label: &'a str,
    unit: &'a str,
    span: Span,
    ticks: Ticks,
}

impl<'a> Bar<'a> {
    const GAP: f64 = 22.0;
    const WIDTH: f64 = 18.0;

    fn new(figure: &'a Figure) -> Result<Option<Self>, ExportError> {
        let mut bars = figure.marks.iter().filter_map(|mark| match mark {
            Mark::Heatmap {
                label,
                unit,
                values,
                ..
            } => {
                let span = Span::of(values.iter().flatten().copied()).opened(Scale::Linear);
                let ticks = Ticks::linear(span, 8.0);
                Some(Self {
                    label,
                    unit,
                    span,
                    ticks,
                })
            }
            _ => None,
        });
        let bar = bars.next();
        if bars.next().is_some() {
            return Err(ExportError::Shape("a figure holds one heat map".to_owned()));
        }
        Ok(bar)
    }

    fn reserve(&self) -> f64 {
        Self::GAP + Self::WIDTH + 9.0 + self.ticks.width() + 10.0 + LABEL_SIZE + 6.0
    }
}

/// Legend entry: marks that share a label share an entry.
struct Entry<'a> {
    lines: Vec<String>,
    marks: Vec<&'a Mark>,
}

impl Entry<'_> {
    const LINE_HEIGHT: f64 = LEGEND_SIZE + 4.0;
    const GAP: f64 = 7.0;

    fn height(&self) -> f64 {
        scaled(i64::try_from(self.lines.len()).unwrap_or(1), 0) * Self::LINE_HEIGHT + Self::GAP
    }

    fn width(&self) -> f64 {
        let widths = self.lines.iter().map(|line| text_width(line, LEGEND_SIZE));
        SWATCH + 9.0 + widths.fold(0.0, f64::max)
    }
}

fn legend(figure: &Figure) -> Vec<Entry<'_>> {
    let mut entries: Vec<(&str, Vec<&Mark>)> = Vec::new();
    for mark in &figure.marks {
        let (Mark::Line {
            label: Some(label), ..
        }
        | Mark::Points {
            label: Some(label), ..
        }) = mark
        else {
            continue;
        };
        if label.trim().is_empty() {
            continue;
        }
        match entries.iter_mut().find(|(known, _)| known == label) {
            // A line and its points make one sample; more of the same do not.
            Some((_, marks)) => {
                let kind = std::mem::discriminant(mark);
                if marks.iter().all(|m| std::mem::discriminant(*m) != kind) {
                    marks.push(mark);
                }
            }
            None => entries.push((label, vec![mark])),
        }
    }
    entries
        .into_iter()
        .map(|(label, marks)| Entry {
            lines: wrap(label, LEGEND_SIZE, LEGEND_TEXT_WIDTH),
            marks,
        })
        .collect()
}

impl<'a> Layout<'a> {
    fn new(figure: &'a Figure) -> Result<Self, ExportError> {
        let (x_span, y_span) = (span(figure, Side::X)?, span(figure, Side::Y)?);
        let bar = Bar::new(figure)?;
        let legend = legend(figure);
        let draft = Ticks::new(y_span, figure.y.scale, 8.0);
        let left = (LABEL_SIZE + draft.width() + 30.0).max(64.0);
        let legend_width = legend.iter().map(Entry::width).fold(0.0, f64::max);
        let bar_width = bar.as_ref().map_or(0.0, Bar::reserve);
        let legend_gap = if legend.is_empty() { 0.0 } else { 16.0 };
        let right = bar_width + legend_gap + legend_width + 20.0;

        let room = (WIDTH - left - right).max(200.0);
        let (plot_width, x_span, plot_height, y_span) = if figure.equal_aspect {
            equal_aspect(figure, room, x_span, y_span)?
        } else {
            (room, x_span, 0.0, y_span)
        };
        let width = (left + plot_width + right).max(MIN_WIDTH).ceil();
        let title = wrap_bold(&figure.title, TITLE_SIZE, width - 24.0);
        let top = title_height(&title) + 22.0;
        let below = TICK_SIZE + LABEL_SIZE + 34.0;
        let plot_height = if figure.equal_aspect {
            plot_height
        } else {
            HEIGHT - top - below
        };
        let frame = Rect {
            left,
            top,
            right: left + plot_width,
            bottom: top + plot_height,
        };
        let legend_height: f64 = legend.iter().map(Entry::height).sum();
        let height = (frame.bottom + below)
            .max(top + legend_height + 12.0)
            .ceil();
        let x_ticks = Ticks::new(
            x_span,
            figure.x.scale,
            x_tick_count(figure, x_span, plot_width),
        );
        Ok(Self {
            width,
            height,
            title,
            frame,
            x: Map {
                scale: figure.x.scale,
                span: x_span,
                start: frame.left,
                end: frame.right,
            },
            y: Map {
                scale: figure.y.scale,
                span: y_span,
                start: frame.bottom,
                end: frame.top,
            },
            x_ticks,
            y_ticks: Ticks::new(y_span, figure.y.scale, (plot_height / 50.0).max(2.0)),
            bar,
            legend,
            legend_left: frame.right + bar_width + legend_gap,
        })
    }

    fn draw(&self, figure: &Figure, canvas: &mut Canvas) -> Done {
        let page = [
            [0.0, 0.0],
            [self.width, 0.0],
            [self.width, self.height],
            [0.0, self.height],
        ];
        canvas.fill(&page, PAPER, 1.0)?;
        self.grid(canvas)?;
        for mark in figure
            .marks
            .iter()
            .filter(|m| matches!(m, Mark::Heatmap { .. }))
        {
            self.mark(mark, canvas)?;
        }
        for mark in figure
            .marks
            .iter()
            .filter(|m| !matches!(m, Mark::Heatmap { .. }))
        {
            self.mark(mark, canvas)?;
        }
        for mark in &figure.marks {
            self.annotation(figure, mark, canvas)?;
        }
        self.axes(figure, canvas)?;
        self.color_bar(canvas)?;
        self.draw_legend(canvas)
    }

    // Axes --------------------------------------------------------------

    fn grid(&self, canvas: &mut Canvas) -> Done {
        let frame = self.frame;
        let majors = |ticks: &Ticks| ticks.major.iter().map(|(v, _)| *v).collect::<Vec<_>>();
        let levels = [
            (
                self.x_ticks.minor.clone(),
                self.y_ticks.minor.clone(),
                MINOR_GRID,
            ),
            (majors(&self.x_ticks), majors(&self.y_ticks), GRID),
        ];
        for (xs, ys, color) in levels {
            for x in xs.into_iter().map(|v| self.x.place(v)) {
                canvas.path(&[[x, frame.top], [x, frame.bottom]], color, 1.0)?;
            }
            for y in ys.into_iter().map(|v| self.y.place(v)) {
                canvas.path(&[[frame.left, y], [frame.right, y]], color, 1.0)?;
            }
        }
        Ok(())
    }

    fn axes(&self, figure: &Figure, canvas: &mut Canvas) -> Done {
        canvas.outline(self.frame)?;
        self.x_axis(figure, canvas)?;
        self.y_axis(figure, canvas)?;
        for (line, y) in self.title.iter().zip(1_i32..) {
            let at = [
                12.0_f64.max(self.title_left()),
                4.0 + f64::from(y) * 23.0 - 11.0,
            ];
            canvas.text(line, at, TITLE_SIZE, Look::new(HPos::Left).bold())?;
        }
        Ok(())
    }

    /// Flush with the plot if the title fits there.
    fn title_left(&self) -> f64 {
        let widths = self
            .title
            .iter()
            .map(|line| BOLD * text_width(line, TITLE_SIZE));
        self.frame
            .left
            .min(self.width - 12.0 - widths.fold(0.0, f64::max))
    }

    fn x_axis(&self, figure: &Figure, canvas: &mut Canvas) -> Done {
        let frame = self.frame;
        for x in self.x_ticks.minor.iter().map(|v| self.x.place(*v)) {
            canvas.path(&[[x, frame.bottom], [x, frame.bottom + 3.0]], FRAME, 1.0)?;
        }
        for (value, label) in &self.x_ticks.major {
            let x = self.x.place(*value);
            canvas.path(&[[x, frame.bottom], [x, frame.bottom + 6.0]], FRAME, 1.0)?;
            let at = [x, frame.bottom + 10.0 + TICK_SIZE / 2.0];
            canvas.text(label, at, TICK_SIZE, Look::new(HPos::Center))?;
        }
        let y = frame.bottom + TICK_SIZE + 18.0 + LABEL_SIZE / 2.0;
        if let Some(factor) = &self.x_ticks.factor {
            canvas.text(factor, [frame.right, y], TICK_SIZE, Look::new(HPos::Right))?;
        }
        let middle = 0.5 * (frame.left + frame.right);
        let label = with_unit(&figure.x.label, &figure.x.unit);
        canvas.text(&label, [middle, y], LABEL_SIZE, Look::new(HPos::Center))
    }

    fn y_axis(&self, figure: &Figure, canvas: &mut Canvas) -> Done {
        let frame = self.frame;
        for y in self.y_ticks.minor.iter().map(|v| self.y.place(*v)) {
            canvas.path(&[[frame.left - 3.0, y], [frame.left, y]], FRAME, 1.0)?;
        }
        for (value, label) in &self.y_ticks.major {
            let y = self.y.place(*value);
            canvas.path(&[[frame.left - 6.0, y], [frame.left, y]], FRAME, 1.0)?;
            canvas.text(
                label,
                [frame.left - 9.0, y],
                TICK_SIZE,
                Look::new(HPos::Right),
            )?;
        }
        if let Some(factor) = &self.y_ticks.factor {
            let at = [frame.left, frame.top - 11.0];
            canvas.text(factor, at, TICK_SIZE, Look::new(HPos::Left))?;
        }
        let x = frame.left - 9.0 - self.y_ticks.width() - 9.0 - LABEL_SIZE / 2.0;
        let middle = 0.5 * (frame.top + frame.bottom);
        let label = with_unit(&figure.y.label, &figure.y.unit);
        canvas.text(
            &label,
            [x, middle],
            LABEL_SIZE,
            Look::new(HPos::Center).upright(),
        )
    }

    fn color_bar(&self, canvas: &mut Canvas) -> Done {
        let Some(bar) = &self.bar else {
            return Ok(());
        };
        let left = self.frame.right + Bar::GAP;
        let frame = Rect {
            left,
            right: left + Bar::WIDTH,
            ..self.frame
        };
        let steps = 128;
        for i in 0..steps {
            let share = (f64::from(i) + 0.5) / f64::from(steps);
            let bottom = frame.bottom - f64::from(i) / f64::from(steps) * frame.height();
            let top = (bottom - frame.height() / f64::from(steps) - OVERLAP).max(frame.top);
            canvas.cell(
                Rect {
                    top,
                    bottom,
                    ..frame
                },
                viridis(share),
            )?;
        }
        canvas.outline(frame)?;
        let map = Map {
            scale: Scale::Linear,
            span: bar.span,
            start: frame.bottom,
            end: frame.top,
        };
        for (value, label) in &bar.ticks.major {
            let y = map.place(*value);
            canvas.path(&[[frame.right, y], [frame.right + 5.0, y]], FRAME, 1.0)?;
            canvas.text(
                label,
                [frame.right + 9.0, y],
                TICK_SIZE,
                Look::new(HPos::Left),
            )?;
        }
        if let Some(factor) = &bar.ticks.factor {
            let at = [frame.left, frame.top - 11.0];
            canvas.text(factor, at, TICK_SIZE, Look::new(HPos::Left))?;
        }
        let x = frame.right + 9.0 + bar.ticks.width() + 10.0 + LABEL_SIZE / 2.0;
        let at = [x, 0.5 * (frame.top + frame.bottom)];
        let label = with_unit(bar.label, bar.unit);
        canvas.text(&label, at, LABEL_SIZE, Look::new(HPos::Center).upright())
    }

    fn draw_legend(&self, canvas: &mut Canvas) -> Done {
        let mut top = self.frame.top;
        for entry in &self.legend {
            let mut y = top + 0.5 * Entry::LINE_HEIGHT;
            entry
                .marks
                .iter()
                .try_for_each(|m| self.swatch(m, y, canvas))?;
            for line in &entry.lines {
                let at = [self.legend_left + SWATCH + 9.0, y];
                canvas.text(line, at, LEGEND_SIZE, Look::new(HPos::Left))?;
                y += Entry::LINE_HEIGHT;
            }
            top += entry.height();
        }
        Ok(())
    }

    fn swatch(&self, mark: &Mark, y: f64, canvas: &mut Canvas) -> Done {
        let left = self.legend_left;
        match mark {
            Mark::Line { style, color, .. } => {
                let line = [[left, y], [left + SWATCH, y]];
                canvas.line(&line, *style, rgb(*color))
            }
            Mark::Points { shape, color, .. } => {
                canvas.symbol([left + SWATCH / 2.0, y], *shape, rgb(*color))
            }
            _ => Ok(()),
        }
    }

    // Marks -------------------------------------------------------------

    fn pixel(&self, x: f64, y: f64) -> Point {
        [self.x.pixel(x), self.y.pixel(y)]
    }

    fn pixels(&self, x: &[f64], y: &[f64]) -> Vec<Point> {
        x.iter().zip(y).map(|(x, y)| self.pixel(*x, *y)).collect()
    }

    fn mark(&self, mark: &Mark, canvas: &mut Canvas) -> Done {
        match mark {
            Mark::Line {
                x, y, style, color, ..
            } => self.line(&self.pixels(x, y), *style, rgb(*color), canvas),
            Mark::Points {
                x, y, shape, color, ..
            } => self
                .pixels(x, y)
                .into_iter()
                .filter(|p| self.frame.contains(*p))
                .try_for_each(|p| canvas.symbol(p, *shape, rgb(*color))),
            Mark::Heatmap { x, y, values, .. } => self.heatmap(x, y, values, canvas),
            Mark::Disk {
                x,
                y,
                radius,
                color,
                ..
            } => {
                let (xs, ys) = circle(*x, *y, *radius);
                self.area(&self.pixels(&xs, &ys), rgb(*color), canvas)
            }
            Mark::Polygon { x, y, color } => self.area(&self.pixels(x, y), rgb(*color), canvas),
            Mark::Arrow {
                from: [x0, y0],
                to: [x1, y1],
                color,
                ..
            } => self.arrow(
                self.pixel(*x0, *y0),
                self.pixel(*x1, *y1),
                rgb(*color),
                canvas,
            ),
            Mark::Text { .. } => Ok(()),
        }
    }

    fn line(
        &self,
        points: &[Point],
        style: LineStyle,
        color: RGBColor,
        canvas: &mut Canvas,
    ) -> Done {
        visible_runs(points, self.frame)
            .iter()
            .try_for_each(|run| canvas.line(&simplified(run), style, color))
    }

    fn area(&self, points: &[Point], color: RGBColor, canvas: &mut Canvas) -> Done {
        let corners: Vec<Point> = points.iter().copied().filter(is_finite).collect();
        canvas.fill(&clip_polygon(&corners, self.frame), color, 0.22)?;
        let closed: Vec<Point> = corners.iter().chain(corners.first()).copied().collect();
        visible_runs(&closed, self.frame)
            .iter()
            .try_for_each(|run| canvas.path(run, color, 1.6))
    }

    fn heatmap(&self, x: &[f64], y: &[f64], values: &[Vec<f64>], canvas: &mut Canvas) -> Done {
        let Some(bar) = &self.bar else {
            return Ok(());
        };
        let columns = cell_bounds(x, self.x);
        for (row, (y0, y1)) in values.iter().zip(cell_bounds(y, self.y)) {
            for (value, (x0, x1)) in row.iter().zip(&columns) {
                let cell = Rect {
                    left: x0.max(self.frame.left),
                    right: (x1 + OVERLAP).min(self.frame.right),
                    top: (y1 - OVERLAP).max(self.frame.top),
                    bottom: y0.min(self.frame.bottom),
                };
                let share = (value - bar.span.low) / bar.span.length();
                if share.is_finite() && cell.width() > 0.0 && cell.height() > 0.0 {
                    canvas.cell(cell, viridis(share))?;
                }
            }
        }
        Ok(())
    }

    fn arrow(&self, from: Point, to: Point, color: RGBColor, canvas: &mut Canvas) -> Done {
        let Some((along, length)) = direction(from, to) else {
            return Ok(());
        };
        let [dx, dy] = along;
        let head = length.min(12.0);
        let point = |back: f64, aside: f64| {
            [
                to[0] - back * dx - aside * dy,
                to[1] - back * dy + aside * dx,
            ]
        };
        let shaft = [from, point(0.8 * head, 0.0)];
        for run in visible_runs(&shaft, self.frame) {
            canvas.path(&run, color, LINE_WIDTH)?;
        }
        let triangle = [to, point(head, 0.38 * head), point(head, -0.38 * head)];
        canvas.fill(&clip_polygon(&triangle, self.frame), color, 1.0)
    }

    // Annotations -------------------------------------------------------

    fn annotation(&self, figure: &Figure, mark: &Mark, canvas: &mut Canvas) -> Done {
        match mark {
            Mark::Text { x, y, text } => self.note(text, self.pixel(*x, *y), canvas),
            Mark::Arrow {
                from: [x0, y0],
                to: [x1, y1],
                label: Some(label),
                ..
            } => {
                let (from, to) = (self.pixel(*x0, *y0), self.pixel(*x1, *y1));
                self.arrow_label(label, from, to, canvas)
            }
            Mark::Disk {
                x,
                y,
                radius,
                label: Some(label),
                ..
            } => {
                let center = self.pixel(*x, *y);
                let edge = self.pixel(x + radius, y + radius);
                self.disk_label(label, center, edge, figure, canvas)
            }
            _ => Ok(()),
        }
    }

    /// In the disk, aside from an arrow that starts there; above it if too wide.
    fn disk_label(
        &self,
        label: &str,
        [x, y]: Point,
        [right, top]: Point,
        figure: &Figure,
        canvas: &mut Canvas,
    ) -> Done {
        let half = 0.5 * text_width(label, LEGEND_SIZE);
        if half > 0.9 * (right - x).abs() {
            let rise = (top - y).abs() + 0.5 * LEGEND_SIZE + 5.0;
            return self.note(label, [x, y - rise], canvas);
        }
        let [dx, dy] = self.arrow_from([x, y], figure);
        let reach = half * dx.abs() + 0.5 * LEGEND_SIZE * dy.abs() + 5.0;
        let at = [x - reach * dx, y - reach * dy];
        let fits = [at[0] - half, at[0] + half]
            .iter()
            .all(|x| self.frame.contains([*x, at[1]]));
        if fits {
            return canvas.text(label, at, LEGEND_SIZE, Look::new(HPos::Center));
        }
        self.note(label, at, canvas)
    }

    /// Direction of the first arrow that starts at a pixel, or zero.
    fn arrow_from(&self, start: Point, figure: &Figure) -> Point {
        let mut starting = figure.marks.iter().filter_map(|mark| match mark {
            Mark::Arrow {
                from: [x0, y0],
                to: [x1, y1],
                ..
            } => {
                let (from, to) = (self.pixel(*x0, *y0), self.pixel(*x1, *y1));
                let near = direction(start, from).is_none_or(|(_, distance)| distance < 10.0);
                direction(from, to).filter(|_| near).map(|(along, _)| along)
            }
            _ => None,
        });
        starting.next().unwrap_or_default()
    }

    /// Just beyond the tip, so that the text's box touches neither.
    fn arrow_label(&self, label: &str, from: Point, to: Point, canvas: &mut Canvas) -> Done {
        let Some(([dx, dy], _)) = direction(from, to) else {
            return Ok(());
        };
        let across = dx.abs() * (0.5 * text_width(label, LEGEND_SIZE) + 5.0);
        let up = dy.abs() * (0.5 * LEGEND_SIZE + 3.0);
        let reach = across + up + 2.0;
        self.note(label, [to[0] + reach * dx, to[1] + reach * dy], canvas)
    }

    /// Text on a translucent patch, moved inside the frame if it sticks out.
    fn note(&self, text: &str, at: Point, canvas: &mut Canvas) -> Done {
        if text.is_empty() || !self.near(at) {
            return Ok(());
        }
        let half = [
            0.5 * text_width(text, LEGEND_SIZE) + 3.0,
            0.5 * LEGEND_SIZE + 2.0,
        ];
        let keep = |v: f64, low: f64, high: f64| v.min(high).max(low);
        let x = keep(
            at[0],
            self.frame.left + half[0] + 1.0,
            self.frame.right - half[0] - 1.0,
        );
        let y = keep(
            at[1],
            self.frame.top + half[1] + 1.0,
            self.frame.bottom - half[1] - 1.0,
        );
        let patch = [
            [x - half[0], y - half[1]],
            [x + half[0], y - half[1]],
            [x + half[0], y + half[1]],
            [x - half[0], y + half[1]],
        ];
        canvas.fill(&patch, PAPER, 0.72)?;
        canvas.text(text, [x, y], LEGEND_SIZE, Look::new(HPos::Center))
    }

    /// Whether a label belongs to something in the frame, its offset allowed for.
    fn near(&self, [x, y]: Point) -> bool {
        let margin = 80.0;
        x > self.frame.left - margin
            && x < self.frame.right + margin
            && y > self.frame.top - margin
            && y < self.frame.bottom + margin
    }
}

/// Plot size and ranges that give both axes the same length per unit.
fn equal_aspect(
    figure: &Figure,
    room: f64,
    x: Span,
    y: Span,
) -> Result<(f64, Span, f64, Span), ExportError> {
    for axis in [&figure.x, &figure.y] {
        if axis.scale == Scale::Log {
            return Err(axis_error(axis, "an equal aspect needs linear axes"));
        }
    }
    let per_unit = (room / x.length()).min(MAX_PLOT_HEIGHT / y.length());
    let widen =
        |span: Span, least: f64| span.padded((0.5 * (least / per_unit - span.length())).max(0.0));
    let (x, y) = (widen(x, 180.0), widen(y, 120.0));
    Ok((x.length() * per_unit, x, y.length() * per_unit, y))
}

/// As many ticks as have room for labels like the ones they get.
fn x_tick_count(figure: &Figure, span: Span, width: f64) -> f64 {
    let draft = Ticks::new(span, figure.x.scale, (width / 80.0).max(2.0));
    (width / (draft.width() + 36.0).max(72.0)).max(2.0)
}

fn title_height(lines: &[String]) -> f64 {
    23.0 * scaled(i64::try_from(lines.len()).unwrap_or(0), 0) + 6.0
}

// Geometry ----------------------------------------------------------------

fn is_finite(point: &Point) -> bool {
    point.iter().all(|v| v.is_finite())
}

/// Unit vector and distance between two pixels, unless they are one.
fn direction([x0, y0]: Point, [x1, y1]: Point) -> Option<(Point, f64)> {
    let length = (x1 - x0).hypot(y1 - y0);
    let usable = length.is_finite() && length > 0.1;
    usable.then(|| ([(x1 - x0) / length, (y1 - y0) / length], length))
}

fn circle(x: f64, y: f64, radius: f64) -> (Vec<f64>, Vec<f64>) {
    let corners = 180_i32;
    (0..corners)
        .map(|i| std::f64::consts::TAU * f64::from(i) / f64::from(corners))
        .map(|angle| (x + radius * angle.cos(), y + radius * angle.sin()))
        .unzip()
}

/// First and last pixel of each cell.
fn cell_bounds(centers: &[f64], map: Map) -> Vec<(f64, f64)> {
    let at: Vec<f64> = edges(centers, map.scale)
        .iter()
        .map(|v| map.place(*v))
        .collect();
    at.iter().copied().zip(at.iter().skip(1).copied()).collect()
}

/// The parts of a polyline inside the frame, broken at undefined points.
fn visible_runs(points: &[Point], frame: Rect) -> Vec<Vec<Point>> {
    let mut runs: Vec<Vec<Point>> = Vec::new();
    for (a, b) in points.iter().zip(points.iter().skip(1)) {
        let Some([start, end]) = clip_segment(*a, *b, frame) else {
            continue;
        };
        match runs.last_mut() {
            Some(run) if run.last() == Some(&start) => run.push(end),
            _ => runs.push(vec![start, end]),
        }
    }
    runs
}

/// The part of a segment inside the frame (Liang and Barsky's method).
fn clip_segment(a: Point, b: Point, frame: Rect) -> Option<[Point; 2]> {
    if !is_finite(&a) || !is_finite(&b) {
        return None;
    }
    let ([ax, ay], [bx, by]) = (a, b);
    let (dx, dy) = (bx - ax, by - ay);
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    let sides = [
        (-dx, ax - frame.left),
        (dx, frame.right - ax),
        (-dy, ay - frame.top),
        (dy, frame.bottom - ay),
    ];
    for (outward, room) in sides {
        if outward == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if outward < 0.0 {
            enter = enter.max(room / outward);
        } else {
            leave = leave.min(room / outward);
        }
    }
    let at = |t: f64| [ax + t * dx, ay + t * dy];
    // Untouched ends stay exact, as runs are joined by comparing them.
    let start = if enter > 0.0 { at(enter) } else { a };
    let end = if leave < 1.0 { at(leave) } else { b };
    (enter <= leave).then_some([start, end])
}

/// The part of a polygon inside the frame (Sutherland and Hodgman's method).
fn clip_polygon(corners: &[Point], frame: Rect) -> Vec<Point> {
    let sides: [(usize, f64, f64); 4] = [
        (0, 1.0, frame.left),
        (0, -1.0, -frame.right),
        (1, 1.0, frame.top),
        (1, -1.0, -frame.bottom),
    ];
    let mut polygon = corners.to_vec();
    for (axis, sign, limit) in sides {
        let depth = |[x, y]: Point| sign * if axis == 0 { x } else { y } - limit;
        let previous = polygon
            .last()
            .copied()
            .into_iter()
            .chain(polygon.iter().copied());
        let mut kept = Vec::with_capacity(polygon.len() + 1);
        for (a, b) in previous.zip(polygon.iter().copied()) {
            let (da, db) = (depth(a), depth(b));
            if (da < 0.0) != (db < 0.0) {
                let t = da / (da - db);
                kept.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
            }
            if db >= 0.0 {
                kept.push(b);
            }
        }
        polygon = kept;
    }
    polygon
}

/// Drops points that lie too close together to be seen.
fn simplified(run: &[Point]) -> Vec<Point> {
    let mut kept: Vec<Point> = Vec::new();
    let last = run.len().saturating_sub(1);
    for (i, point) in run.iter().enumerate() {
        let near = |q: &Point| (q[0] - point[0]).hypot(q[1] - point[1]) < 0.25;
        if i == last || !kept.last().is_some_and(near) {
            kept.push(*point);
        }
    }
    kept
}

/// Cuts a polyline into dashes of the given length and gap.
fn dashes(points: &[Point], dash: f64, gap: f64) -> Vec<Vec<Point>> {
    let mut out: Vec<Vec<Point>> = Vec::new();
    let (mut drawing, mut left) = (true, dash);
    let mut current: Vec<Point> = points.first().copied().into_iter().collect();
    for (a, b) in points.iter().zip(points.iter().skip(1)) {
        let Some(([dx, dy], length)) = direction(*a, *b) else {
            continue;
        };
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let cut = [a[0] + done * dx, a[1] + done * dy];
            if drawing {
                current.push(cut);
                out.push(std::mem::take(&mut current));
            } else {
                current = vec![cut];
            }
            drawing = !drawing;
            left = if drawing { dash } else { gap };
        }
        left -= length - done;
        if drawing {
            current.push(*b);
        }
    }
    out.push(current);
    out.retain(|dash| dash.len() > 1);
    out
}

// Text --------------------------------------------------------------------

/// Estimated width; the renderer picks the font, so this errs to the wide side.
fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | 'I' => 0.4,
        '⁰'..='⁹' | '⁻' | '¹' | '²' | '³' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.93,
        'A'..='Z' => 0.7,
        '\u{300}'..='\u{36f}' => 0.0,
        _ => 0.62,
    };
    size * text.chars().map(em).sum::<f64>()
}

fn wrap_bold(text: &str, size: f64, width: f64) -> Vec<String> {
    wrap(text, size, width / BOLD)
}

/// Breaks text between words into lines that fit.
fn wrap(text: &str, size: f64, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// How a piece of text is set.
#[derive(Clone)]
struct Look {
    anchor: HPos,
    style: FontStyle,
    turn: FontTransform,
}

impl Look {
    fn new(anchor: HPos) -> Self {
        Self {
            anchor,
            style: FontStyle::Normal,
            turn: FontTransform::None,
        }
    }

    fn bold(mut self) -> Self {
        self.style = FontStyle::Bold;
        self
    }

    /// Reads from bottom to top.
    fn upright(mut self) -> Self {
        self.turn = FontTransform::Rotate270;
        self
    }
}

// Canvas ------------------------------------------------------------------

/// The backend, in pixels.
struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

impl Canvas<'_> {
    fn path(&mut self, points: &[Point], color: RGBColor, width: f64) -> Done {
        let style = ShapeStyle {
            color: color.to_rgba(),
            filled: false,
            stroke_width: fine(width).unsigned_abs(),
        };
        let points = points.iter().map(coordinates);
        self.backend
            .draw_path(points, &style)
            .map_err(drawing_error)
    }

    fn line(&mut self, points: &[Point], style: LineStyle, color: RGBColor) -> Done {
        let pieces = match style {
            LineStyle::Solid => return self.path(points, color, LINE_WIDTH),
            LineStyle::Dashed => dashes(points, 9.0, 5.0),
            LineStyle::Dotted => dashes(points, 2.2, 3.8),
        };
        pieces
            .iter()
            .try_for_each(|dash| self.path(dash, color, LINE_WIDTH))
    }

    fn fill(&mut self, corners: &[Point], color: RGBColor, opacity: f64) -> Done {
        if corners.len() < 3 {
            return Ok(());
        }
        let color = color.mix(opacity);
        let corners = corners.iter().map(coordinates);
        self.backend
            .fill_polygon(corners, &color)
            .map_err(drawing_error)
    }

    fn cell(&mut self, cell: Rect, color: RGBColor) -> Done {
        let (start, end) = ([cell.left, cell.top], [cell.right, cell.bottom]);
        self.backend
            .draw_rect(coordinates(&start), coordinates(&end), &color, true)
            .map_err(drawing_error)
    }

    fn outline(&mut self, frame: Rect) -> Done {
        let Rect {
            left,
            top,
            right,
            bottom,
        } = frame;
        // The fifth side closes the corner that an open path would leave.
        let path = [
            [left, top],
            [right, top],
            [right, bottom],
            [left, bottom],
            [left, top],
            [right, top],
        ];
        self.path(&path, FRAME, 1.0)
    }

    fn symbol(&mut self, [x, y]: Point, shape: PointShape, color: RGBColor) -> Done {
        let at = |dx: f64, dy: f64| [x + dx, y + dy];
        match shape {
            PointShape::Circle => self
                .backend
                .draw_circle(
                    coordinates(&[x, y]),
                    fine(4.0).unsigned_abs(),
                    &ShapeStyle::from(&color).filled(),
                    true,
                )
                .map_err(drawing_error),
            PointShape::Square => {
                let r = 3.8;
                let (a, b) = (at(-r, -r), at(r, -r));
                let path = [a, b, at(r, r), at(-r, r), a, b];
                self.path(&path, color, 1.7)
            }
            PointShape::Cross => {
                let r = 4.0;
                self.path(&[at(-r, -r), at(r, r)], color, 1.8)?;
                self.path(&[at(-r, r), at(r, -r)], color, 1.8)
            }
            PointShape::Triangle => {
                self.fill(&[at(0.0, -5.2), at(4.8, 3.4), at(-4.8, 3.4)], color, 1.0)
            }
        }
    }

    /// Text, vertically centered.
    fn text(&mut self, text: &str, at: Point, size: f64, look: Look) -> Done {
        let clean: String = text.chars().filter(|c| !c.is_control()).collect();
        // The backend divides sizes by 1.24.
        let font = ("sans-serif", size * FINE * 1.24).into_font();
        let style = TextStyle::from(font.style(look.style).transform(look.turn))
            .color(&INK)
            .pos(Pos::new(look.anchor, VPos::Center));
        self.backend
            .draw_text(&clean, &style, coordinates(&at))
            .map_err(drawing_error)
    }
}

fn drawing_error(error: impl std::fmt::Display) -> ExportError {
    ExportError::Drawing(error.to_string())
}

fn coordinates(point: &Point) -> (i32, i32) {
    let [x, y] = *point;
    (fine(x), fine(y))
}

/// Tenths of a pixel.
fn fine(pixels: f64) -> i32 {
    whole((pixels * FINE).round())
}

/// The conversion saturates, so no value can wrap around.
#[allow(
    clippy::cast_possible_truncation,
    reason = "callers round, and it saturates"
)]
fn whole(value: f64) -> i32 {
    value as i32
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "callers round, and it saturates"
)]
fn whole_long(value: f64) -> i64 {
    value as i64
}

// Colors ------------------------------------------------------------------

/// Okabe and Ito's palette.
fn rgb(color: Color) -> RGBColor {
    match color {
        Color::Black => RGBColor(0, 0, 0),
        Color::Blue => RGBColor(0, 114, 178),
        Color::Orange => RGBColor(230, 159, 0),
        Color::Green => RGBColor(0, 158, 115),
        Color::Vermillion => RGBColor(213, 94, 0),
        Color::Purple => RGBColor(204, 121, 167),
        Color::Sky => RGBColor(86, 180, 233),
        Color::Gray => RGBColor(128, 128, 128),
    }
}

/// Viridis at ten equal steps, interpolated between them.
fn viridis(share: f64) -> RGBColor {
    const STOPS: [[u8; 3]; 10] = [
        [68, 1, 84],
        [72, 40, 120],
        [62, 73, 137],
        [49, 104, 142],
        [38, 130, 142],
        [31, 158, 137],
        [53, 183, 121],
        [110, 206, 88],
        [181, 222, 43],
        [253, 231, 37],
    ];
    let position = share.clamp(0.0, 1.0) * 9.0;
    let index = usize::try_from(whole(position.floor())).unwrap_or(0).min(8);
    let part = position - position.floor().min(8.0);
    let stop = |i: usize| STOPS.get(i).copied().unwrap_or_default();
    let ([r0, g0, b0], [r1, g1, b1]) = (stop(index), stop(index + 1));
    let blend = |a: u8, b: u8| {
        let mixed = f64::from(a) + part * (f64::from(b) - f64::from(a));
        u8::try_from(whole(mixed.round())).unwrap_or(u8::MAX)
    };
    RGBColor(blend(r0, r1), blend(g0, g1), blend(b0, b1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(marks: Vec<Mark>) -> Figure {
        let (x, y) = (Axis::linear("Time", "s"), Axis::linear("Speed", "m/s"));
        Figure {
            marks,
            ..Figure::new("f", "A <title>", "", x, y)
        }
    }

    fn labels(ticks: &Ticks) -> Vec<&str> {
        ticks
            .major
            .iter()
            .map(|(_, label)| label.as_str())
            .collect()
    }

    #[test]
    fn linear_ticks_are_short() {
        let ticks = |low, high| Ticks::linear(Span { low, high }, 6.0);
        assert_eq!(
            labels(&ticks(0.0, 0.52)),
            ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]
        );
        assert_eq!(labels(&ticks(-10.0, 10.0)), ["−10", "−5", "0", "5", "10"]);
        let small = ticks(0.0, 3e-9);
        assert_eq!(small.factor.as_deref(), Some("×10⁻⁹"));
        assert_eq!(
            labels(&small),
            ["0", "0.5", "1.0", "1.5", "2.0", "2.5", "3.0"]
        );
    }

    #[test]
    fn log_ticks_fit_the_span() {
        let ticks = |low: f64, high: f64| {
            let span = Span {
                low: low.log10(),
                high: high.log10(),
            };
            Ticks::log(span, 8.0)
        };
        assert_eq!(labels(&ticks(1e-6, 1e-3)), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³"]);
        assert_eq!(labels(&ticks(1.0, 20.0)), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(&ticks(1e-16, 1.0)).len(), 9);
        assert!(labels(&ticks(3.0, 3.9)).len() >= 3);
    }

    #[test]
    fn nan_breaks_a_line_and_clipping_cuts_it() {
        let frame = Rect {
            left: 0.0,
            top: 0.0,
            right: 10.0,
            bottom: 10.0,
        };
        let points = [
            [1.0, 1.0],
            [2.0, 2.0],
            [f64::NAN, 2.0],
            [3.0, 3.0],
            [3.0, 30.0],
        ];
        let runs = visible_runs(&points, frame);
        assert_eq!(runs, [[[1.0, 1.0], [2.0, 2.0]], [[3.0, 3.0], [3.0, 10.0]]]);
    }

    #[test]
    fn clipped_polygon_stays_inside() {
        let frame = Rect {
            left: 0.0,
            top: 0.0,
            right: 10.0,
            bottom: 10.0,
        };
        let clipped = clip_polygon(&[[-5.0, 5.0], [5.0, -5.0], [15.0, 5.0], [5.0, 15.0]], frame);
        assert!(clipped.len() >= 4, "{clipped:?}");
        assert!(clipped.iter().all(|p| frame.contains(*p)), "{clipped:?}");
    }

    #[test]
    fn dashes_cover_their_share() {
        let pieces = dashes(&[[0.0, 0.0], [50.0, 0.0], [50.0, 50.0]], 6.0, 4.0);
        let length = |p: &Vec<Point>| -> f64 {
            p.iter()
                .zip(p.iter().skip(1))
                .map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]))
                .sum()
        };
        assert_eq!(pieces.len(), 10);
        assert!((pieces.iter().map(length).sum::<f64>() - 60.0).abs() < 1e-9);
    }

    #[test]
    fn a_label_appears_once_and_text_is_escaped() -> Result<(), ExportError> {
        let line = |y| Mark::line("run & run", vec![0.0, 1.0], vec![0.0, y], Color::Blue);
        let text = svg(&figure(vec![line(1.0), line(2.0)]))?;
        assert_eq!(text.matches("run &amp; run").count(), 1);
        assert!(text.contains("<title>A &lt;title&gt;</title>"));
        assert!(text.contains("Speed [m/s]"));
        assert_eq!(text, svg(&figure(vec![line(1.0), line(2.0)]))?);
        Ok(())
    }

    #[test]
    fn empty_constant_and_undefined_data_are_drawn() -> Result<(), ExportError> {
        let line = |y: Vec<f64>| Mark::line("v", vec![1.0, 2.0], y, Color::Blue);
        for marks in [
            vec![],
            vec![line(vec![3.0, 3.0 + 1e-15])],
            vec![line(vec![f64::NAN, f64::INFINITY])],
        ] {
            assert!(!svg(&figure(marks.clone()))?.contains("NaN"));
            let mut log = figure(marks);
            log.y.scale = Scale::Log;
            assert!(svg(&log)?.ends_with("</svg>\n"));
        }
        Ok(())
    }

    #[test]
    fn impossible_figures_are_refused() {
        let short = Mark::line("v", vec![0.0], vec![], Color::Blue);
        assert!(matches!(
            svg(&figure(vec![short])),
            Err(ExportError::Shape(_))
        ));
        let mut reversed = figure(vec![]);
        reversed.x = reversed.x.range(1.0, 0.0);
        assert!(matches!(svg(&reversed), Err(ExportError::Axis { .. })));
        let mut log = figure(vec![]).equal_aspect();
        log.y.scale = Scale::Log;
        assert!(matches!(svg(&log), Err(ExportError::Axis { .. })));
    }

    #[test]
    fn equal_aspect_gives_equal_lengths() -> Result<(), ExportError> {
        let disk = Mark::Disk {
            x: 3.0,
            y: 0.0,
            radius: 2.0,
            label: None,
            color: Color::Blue,
        };
        let figure = figure(vec![disk]).equal_aspect();
        let layout = Layout::new(&figure)?;
        let across = layout.x.pixel(5.0) - layout.x.pixel(1.0);
        let up = layout.y.pixel(-2.0) - layout.y.pixel(2.0);
        assert!((across - up).abs() < 1e-6, "{across} and {up}");
        Ok(())
    }

    #[test]
    fn every_heat_map_cell_is_drawn_and_the_map_brightens() -> Result<(), ExportError> {
        let map = Mark::Heatmap {
            label: "Loss".to_owned(),
            unit: "J".to_owned(),
            x: vec![0.0, 1.0, 2.0],
            y: vec![0.0, 1.0],
            values: vec![vec![0.0, 1.0, 2.0], vec![3.0, f64::NAN, 5.0]],
        };
        let text = svg(&figure(vec![map]))?;
        assert_eq!(text.matches("<rect ").count(), 128 + 5);
        assert!(text.contains("Loss [J]"));
        let light = |i: i32| {
            let RGBColor(r, g, b) = viridis(f64::from(i) / 100.0);
            0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b)
        };
        assert!((0..100).all(|i| light(i) < light(i + 1) + 0.5));
        assert!(light(100) > light(0) + 150.0);
        Ok(())
    }
}
