//! Line plots as SVG.
//!
//! A [`Plot`] is the data; [`svg`] draws it. The caller gives the ticks of the x axis. The ticks of
//! the y axis are chosen here; it is logarithmic if the figures span more than a decade. The legend
//! has a column of its own on the right, so it never covers the data.
//!
//! Lines differ in colour and in marker. The colours are those of Okabe and Ito (*Color universal
//! design*, 2008), which colour-blind people can distinguish, without the yellow, which is too pale
//! on white. Seven colours and five markers make 35 different lines. Text is set in a font of the
//! program that shows the picture, not of this machine.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A plot.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// Its title.
    pub title: String,
    /// The label of the x axis.
    pub x_label: String,
    /// The label of the y axis.
    pub y_label: String,
    /// The ticks of the x axis with their names, from left to right.
    pub ticks: Vec<(f64, String)>,
    /// The unit of the y axis.
    pub unit: Unit,
    /// The lines.
    pub lines: Vec<Line>,
    /// The meaning of broken lines, if there are any.
    pub broken: &'static str,
}

/// The unit of figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Counts. On a logarithmic axis, counts below 1 are drawn at 1.
    #[default]
    Count,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
}

/// A line of a plot.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub dots: Vec<Dot>,
    /// A broken line in the same colour; may be empty.
    pub broken: Vec<(f64, f64)>,
    /// How its points are drawn.
    pub look: Look,
}

/// How the points of a line are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// Joined, with a marker at each.
    #[default]
    Joined,
    /// Joined, with markers at only some of them, because there are many.
    Dense,
    /// Not joined.
    Loose,
}

/// A point of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    /// Its x coordinate.
    pub x: f64,
    /// Its y coordinate.
    pub y: f64,
    /// Whether the figure is final. If not, it may grow, and the point has a ring.
    pub is_whole: bool,
}

const PLOT_WIDTH: u32 = 640;
const LEAST_HEIGHT: u32 = 440;
const LEGEND_TOP: i32 = 64;
const LEGEND_STEP: i32 = 22;
/// An upper bound for the average width of a letter in the font of the legend.
const LETTER: f64 = 7.2;
const LONGEST_NAME: usize = 40;
/// On a dense line, one of `MARKER_STEP` points has a marker.
const MARKER_STEP: usize = 10;
const FONT: (&str, i32) = ("sans-serif", 13);
const GREY: RGBColor = RGBColor(90, 90, 90);

const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

type Area<'t> = DrawingArea<SVGBackend<'t>, plotters::coord::Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;
type Pixel = (i32, i32);

/// The plot as an SVG document.
///
/// # Panics
/// Never: a text can always be written.
pub fn svg(plot: &Plot) -> String {
    let legend = Legend::of(plot);
    let size = (PLOT_WIDTH + legend.width, LEAST_HEIGHT.max(legend.height));
    let mut text = String::new();
    let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
    draw(&area, plot, &legend).expect("a text can be written");
    drop(area);
    text
}

fn draw(area: &Area<'_>, plot: &Plot, legend: &Legend) -> Drawn {
    area.fill(&WHITE)?;
    area.draw(&Text::new(plot.title.clone(), (16, 14), ("sans-serif", 17)))?;
    let scale = Scale::of(plot);
    let (body, _) = area.split_horizontally(PLOT_WIDTH);
    let mut chart = ChartBuilder::on(&body)
        .margin_top(48)
        .margin_left(14)
        .margin_right(16)
        .margin_bottom(8)
        .x_label_area_size(52)
        .y_label_area_size(96)
        .build_cartesian_2d(Axis::across(&plot.ticks), scale.axis(plot.unit))?;
    chart
        .configure_mesh()
        .x_desc(&plot.x_label)
        .y_desc(&plot.y_label)
        .axis_desc_style(("sans-serif", 14))
        .label_style(FONT)
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .x_labels(plot.ticks.len())
        .y_labels(scale.ticks.len())
        .draw()?;
    let pixel = |x: f64, y: f64| chart.backend_coord(&(x, scale.place(y)));
    for (index, line) in plot.lines.iter().enumerate() {
        let broken: Vec<_> = line.broken.iter().map(|&(x, y)| pixel(x, y)).collect();
        dashes(area, &broken, colour(index))?;
        let dots: Vec<_> = line.dots.iter().map(|dot| pixel(dot.x, dot.y)).collect();
        if line.look != Look::Loose {
            area.draw(&PathElement::new(dots.clone(), colour(index).stroke_width(2)))?;
        }
        for (place, (dot, &at)) in line.dots.iter().zip(&dots).enumerate() {
            if line.look.marks(place, index) {
                marker(area, index, at)?;
            }
            if !dot.is_whole {
                ring(area, at, colour(index))?;
            }
        }
    }
    legend.draw(area, plot)
}

impl Look {
    /// Whether the point at this index of the line with this number has a marker. Different lines
    /// have markers at different points.
    fn marks(self, place: usize, line: usize) -> bool {
        self != Look::Dense || place % MARKER_STEP == (2 * line) % MARKER_STEP
    }
}

fn colour(index: usize) -> RGBColor {
    COLOURS[index % COLOURS.len()]
}

fn marker(area: &Area<'_>, index: usize, (x, y): Pixel) -> Drawn {
    let style = colour(index).filled();
    let shape = |corners: &[Pixel]| {
        let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        area.draw(&Polygon::new(corners, style))
    };
    match index % 5 {
        0 => area.draw(&Circle::new((x, y), 5, style)),
        1 => shape(&[(-4, -4), (4, -4), (4, 4), (-4, 4)]),
        2 => shape(&[(0, -6), (6, 5), (-6, 5)]),
        3 => shape(&[(0, -6), (6, 0), (0, 6), (-6, 0)]),
        _ => area.draw(&Cross::new((x, y), 5, colour(index).stroke_width(2))),
    }
}

fn ring(area: &Area<'_>, at: Pixel, colour: RGBColor) -> Drawn {
    area.draw(&Circle::new(at, 9, colour.stroke_width(1)))
}

/// A broken line: four pixels drawn, four left out.
fn dashes(area: &Area<'_>, path: &[Pixel], colour: RGBColor) -> Drawn {
    for ends in path.windows(2) {
        let [(x0, y0), (x1, y1)] = [ends[0], ends[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
        let length = (x1 - x0).hypot(y1 - y0);
        let at = |way: f64| {
            let part = (way / length).min(1.0);
            ((x0 + part * (x1 - x0)).round() as i32, (y0 + part * (y1 - y0)).round() as i32)
        };
        for dash in 0..(length / 8.0).ceil() as u32 {
            let way = f64::from(dash) * 8.0;
            area.draw(&PathElement::new([at(way), at(way + 4.0)], colour.stroke_width(1)))?;
        }
    }
    Ok(())
}

/// The legend, a column on the right.
struct Legend {
    width: u32,
    height: u32,
    names: Vec<String>,
    /// Whether some line is broken; whether some point has a ring.
    has: (bool, bool),
}

impl Legend {
    fn of(plot: &Plot) -> Legend {
        let names: Vec<_> = plot.lines.iter().map(|line| shortened(&line.name)).collect();
        let is_broken = plot.lines.iter().any(|line| !line.broken.is_empty());
        let is_ringed = plot.lines.iter().flat_map(|line| &line.dots).any(|dot| !dot.is_whole);
        let has = (is_broken, is_ringed);
        let texts = names.iter().map(String::as_str);
        let texts = texts.chain(is_broken.then_some(plot.broken)).chain(is_ringed.then_some(RING));
        let letters = texts.clone().map(|text| text.chars().count()).max().unwrap_or(0);
        let height = LEGEND_TOP + LEGEND_STEP * (texts.count() as i32 + 2);
        let width = (48.0 + LETTER * letters as f64) as u32;
        Legend { width, height: height as u32, names, has }
    }

    fn draw(&self, area: &Area<'_>, plot: &Plot) -> Drawn {
        let x = PLOT_WIDTH as i32 + 16;
        let mut y = LEGEND_TOP;
        let mut text = |text: &str, sign: &dyn Fn(i32) -> Drawn| {
            sign(y)?;
            let style = FONT.into_text_style(area).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(text.to_owned(), (x + 18, y), style))?;
            y += LEGEND_STEP;
            Drawn::Ok(())
        };
        for (index, name) in self.names.iter().enumerate() {
            text(name, &|y| {
                if plot.lines[index].look != Look::Loose {
                    let line = [(x - 10, y), (x + 10, y)];
                    area.draw(&PathElement::new(line, colour(index).stroke_width(2)))?;
                }
                marker(area, index, (x, y))
            })?;
        }
        if self.has.0 {
            text(plot.broken, &|y| dashes(area, &[(x - 10, y), (x + 10, y)], GREY))?;
        }
        if self.has.1 {
            text(RING, &|y| ring(area, (x, y), GREY))?;
        }
        Ok(())
    }
}

const RING: &str = "a limit stopped it";

fn shortened(name: &str) -> String {
    match name.chars().count() {
        0..=LONGEST_NAME => name.into(),
        _ => name.chars().take(LONGEST_NAME - 1).chain(['…']).collect(),
    }
}

/// An axis with given ticks.
struct Axis {
    low: f64,
    high: f64,
    /// The ticks with their names.
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// The x axis, with a margin on both sides.
    fn across(ticks: &[(f64, String)]) -> Axis {
        let first = ticks.first().map_or(0.0, |(x, _)| *x);
        let last = ticks.last().map_or(0.0, |(x, _)| *x);
        let room = if last > first { (last - first) * 0.06 } else { 1.0 };
        Axis { low: first - room, high: last + room, ticks: ticks.to_vec() }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (from, to): (i32, i32)) -> i32 {
        let part = (value - self.low) / (self.high - self.low);
        from + (part * f64::from(to - from)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let places = self.ticks.iter().map(|(place, _)| *place);
        // There are no light lines: they would be between the named ticks.
        if hint.weight().allow_light_points() { Vec::new() } else { places.collect() }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(place, _)| place == value);
        tick.map_or(String::new(), |(_, name)| name.clone())
    }
}

/// The y axis.
struct Scale {
    is_log: bool,
    /// Its ends, in coordinates.
    low: f64,
    high: f64,
    /// The figures at its ticks.
    ticks: Vec<f64>,
}

impl Scale {
    fn of(plot: &Plot) -> Scale {
        let dots = plot.lines.iter().flat_map(|line| &line.dots).map(|dot| dot.y);
        let broken = plot.lines.iter().flat_map(|line| &line.broken).map(|(_, y)| *y);
        let (least, most) = dots
            .chain(broken)
            .map(|figure| figure.max(plot.unit.least()))
            .fold((f64::INFINITY, 0.0_f64), |(least, most), y| (least.min(y), most.max(y)));
        let most = most.max(plot.unit.least());
        match most > 10.0 * least {
            true => Scale::logarithmic(least, most),
            false => Scale::linear(most),
        }
    }

    fn logarithmic(least: f64, most: f64) -> Scale {
        let low = least.log10() - 0.08;
        let high = most.log10() + 0.08;
        let steps: &[f64] = match high - low {
            decades if decades < 2.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let decades = low.floor() as i32..=high.ceil() as i32;
        let every = ((high - low) / 10.0).ceil().max(1.0) as i32;
        let decades = decades.filter(|decade| decade.rem_euclid(every) == 0);
        let ticks = decades.flat_map(|decade| steps.iter().map(move |s| s * 10f64.powi(decade)));
        let ticks = ticks.filter(|tick| (low..=high).contains(&tick.log10())).collect();
        Scale { is_log: true, low, high, ticks }
    }

    fn linear(most: f64) -> Scale {
        let rough = most / 5.0;
        let decade = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|s| s * decade).find(|&s| s >= rough);
        let step = step.unwrap_or(decade * 10.0);
        let count = (most / step).ceil() as u32;
        let ticks = (0..=count).map(|n| f64::from(n) * step).collect();
        Scale { is_log: false, low: 0.0, high: f64::from(count) * step * 1.03, ticks }
    }

    /// The coordinate of a figure.
    fn place(&self, figure: f64) -> f64 {
        if self.is_log { figure.max(1e-300).log10().max(self.low) } else { figure }
    }

    fn axis(&self, unit: Unit) -> Axis {
        let ticks = self.ticks.iter().map(|&tick| (self.place(tick), unit.text(tick)));
        Axis { low: self.low, high: self.high, ticks: ticks.collect() }
    }
}

impl Unit {
    /// The least figure that is shown; smaller ones are drawn at it.
    fn least(self) -> f64 {
        match self {
            Unit::Count => 1.0,
            Unit::Seconds => 1e-6,
            Unit::Bytes => 1.0,
        }
    }

    fn text(self, figure: f64) -> String {
        match self {
            Unit::Count => rounded(figure),
            Unit::Seconds if figure <= 0.0 => "0".into(),
            Unit::Seconds if figure < 0.9995e-3 => format!("{} µs", rounded(figure * 1e6)),
            Unit::Seconds if figure < 0.9995 => format!("{} ms", rounded(figure * 1e3)),
            Unit::Seconds => format!("{} s", rounded(figure)),
            Unit::Bytes if figure < 1e3 => format!("{} B", rounded(figure)),
            Unit::Bytes if figure < 1e6 => format!("{} kB", rounded(figure / 1e3)),
            Unit::Bytes if figure < 1e9 => format!("{} MB", rounded(figure / 1e6)),
            Unit::Bytes => format!("{} GB", rounded(figure / 1e9)),
        }
    }
}

/// The ticks of a logarithmic x axis: the powers of ten around these figures. The coordinate of a
/// figure is its decimal logarithm.
pub(crate) fn decades(figures: impl Iterator<Item = f64>, unit: Unit) -> Vec<(f64, String)> {
    let logarithms = figures.map(|figure| figure.max(unit.least()).log10());
    let (low, high) = logarithms
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), l| (low.min(l), high.max(l)));
    if low > high {
        return Vec::new();
    }
    let decades = low.floor() as i32..=high.ceil() as i32;
    decades.map(|decade| (f64::from(decade), unit.text(10f64.powi(decade)))).collect()
}

/// A figure with three digits, without trailing zeros.
fn rounded(figure: f64) -> String {
    let text = match figure {
        f if f >= 100.0 => return crate::report::text::thousands(f.round() as u64),
        f if f >= 10.0 => format!("{f:.1}"),
        f => format!("{f:.2}"),
    };
    text.trim_end_matches('0').trim_end_matches('.').into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(figures: &[f64], unit: Unit) -> Plot {
        let dots = figures.iter().enumerate();
        let dots = dots.map(|(at, &y)| Dot { x: at as f64, y, is_whole: at > 0 }).collect();
        let line = Line {
            name: "a < b".into(),
            dots,
            broken: vec![(0.0, 1.0), (1.0, 2.0)],
            ..Line::default()
        };
        let ticks = (0..figures.len()).map(|at| (at as f64, format!("k{at}"))).collect();
        Plot { title: "T & U".into(), ticks, unit, lines: vec![line], ..Plot::default() }
    }

    #[test]
    fn the_axis_is_logarithmic_beyond_a_decade() {
        assert!(!Scale::of(&plot(&[1.0, 10.0], Unit::Count)).is_log);
        let wide = Scale::of(&plot(&[1.0, 12.0], Unit::Count));
        assert!(wide.is_log);
        assert_eq!(wide.ticks, [1.0, 2.0, 5.0, 10.0]);
        let far = Scale::of(&plot(&[1.0, 1e6], Unit::Count));
        assert_eq!(far.ticks, [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
    }

    #[test]
    fn ticks_of_a_linear_axis_are_round() {
        assert_eq!(Scale::linear(8.0).ticks, [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(Scale::linear(1.0).ticks.len(), 6);
    }

    #[test]
    fn figures_have_units() {
        assert_eq!(Unit::Count.text(12_345.0), "12,345");
        assert_eq!(Unit::Count.text(2.0), "2");
        assert_eq!(Unit::Seconds.text(0.000_02), "20 µs");
        assert_eq!(Unit::Seconds.text(0.001), "1 ms");
        assert_eq!(Unit::Seconds.text(0.25), "250 ms");
        assert_eq!(Unit::Seconds.text(5.0), "5 s");
        assert_eq!(Unit::Bytes.text(2_500.0), "2.5 kB");
    }

    #[test]
    fn decades_enclose_all_figures() {
        let places = |figures: &[f64]| {
            let ticks = decades(figures.iter().copied(), Unit::Seconds);
            ticks.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        assert_eq!(places(&[0.003, 0.2]), ["1 ms", "10 ms", "100 ms", "1 s"]);
        assert_eq!(places(&[]), [""; 0]);
    }

    #[test]
    fn loose_points_are_not_joined_and_dense_ones_share_markers() {
        let with = |look| {
            let mut plot = plot(&[1.0; 40], Unit::Count);
            plot.lines[0] = Line { look, broken: Vec::new(), ..plot.lines[0].clone() };
            let text = svg(&plot);
            let count = |what: &str| text.matches(what).count();
            (count("<circle"), count("stroke-width=\"2\""))
        };
        let (joined, dense, loose) = (with(Look::Joined), with(Look::Dense), with(Look::Loose));
        assert_eq!(joined.0 - dense.0, 36);
        assert_eq!((joined.0, joined.1), (loose.0, loose.1 + 2));
    }

    #[test]
    fn a_plot_shows_its_names_and_rings() {
        let text = svg(&plot(&[1.0, 3.0], Unit::Count));
        for fragment in ["<svg", "T &amp; U", "a &lt; b", "k0", "k1", RING, "#0072B2"] {
            assert!(text.contains(fragment), "{fragment}: {text}");
        }
        assert!(!svg(&Plot::default()).contains(RING));
    }
}
