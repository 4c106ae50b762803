//! Draws the ratios: a line for each program, a mark for each engine, on a logarithmic axis.

use plotters::coord::combinators::IntoLogRange;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::measure::{Comparison, Engine, Measured};

/// The colours of Okabe and Ito (*Color universal design*, 2008), which colour-blind people can
/// distinguish.
const COLOURS: [(Engine, RGBColor); 9] = [
    (Engine::Model, RGBColor(86, 180, 233)),
    (Engine::Must, RGBColor(213, 94, 0)),
    (Engine::TraceForge, RGBColor(0, 158, 115)),
    (Engine::Loom, RGBColor(204, 121, 167)),
    (Engine::Shuttle, RGBColor(230, 159, 0)),
    (Engine::StaterightDepth, RGBColor(0, 114, 178)),
    (Engine::StaterightBreadth, RGBColor(0, 0, 0)),
    (Engine::HashedStates, RGBColor(90, 90, 90)),
    (Engine::Mazurka, RGBColor(200, 200, 200)),
];

const WIDTH: u32 = 860;
const STEP: u32 = 22;
const GREY: RGBColor = RGBColor(90, 90, 90);

type Drawn = Result<(), Box<dyn std::error::Error>>;

/// Writes the picture.
pub fn write(path: &str, rows: &[Comparison]) -> Drawn {
    let marks: Vec<_> = rows.iter().map(|row| &row.all[1..]).collect();
    let ratios = || marks.iter().copied().flatten().flat_map(|one| one.ratio);
    let least = ratios().fold(0.5, f64::min);
    let greatest = ratios().fold(2.0, f64::max);
    let height = STEP * rows.len() as u32 + 130;
    let area = SVGBackend::new(path, (WIDTH, height)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("Time by that of Mazurka in the same run", ("sans-serif", 17))
        .margin(14)
        .margin_right(190)
        .x_label_area_size(44)
        .y_label_area_size(150)
        .build_cartesian_2d(
            (least * 0.8..greatest * 1.25).log_scale(),
            -0.5..rows.len() as f64 - 0.5,
        )?;
    let place = |row: usize| (rows.len() - 1 - row) as f64;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .x_desc(
            "above 1 Mazurka is faster; lines go from the least to the greatest ratio of a round",
        )
        .x_label_formatter(&|ratio| {
            if *ratio < 1.0 { format!("{ratio:.1}") } else { format!("{ratio:.0}") }
        })
        .draw()?;
    let bottom = (1.0, -0.5);
    let top = (1.0, rows.len() as f64 - 0.5);
    chart.draw_series([PathElement::new(vec![bottom, top], GREY)])?;
    for (row, comparison) in rows.iter().enumerate() {
        let y = place(row);
        for one in &comparison.all[1..] {
            draw(&mut chart, one, y)?;
        }
        let (_, pixel) = chart.backend_coord(&(1.0, y));
        let style =
            ("sans-serif", 13).into_font().color(&BLACK).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(comparison.program.clone(), (154, pixel), style))?;
    }
    legend(&area, &marks)?;
    area.present()?;
    Ok(())
}

type Chart<'a, 'b> = ChartContext<
    'a,
    SVGBackend<'b>,
    Cartesian2d<
        plotters::coord::combinators::LogCoord<f64>,
        plotters::coord::types::RangedCoordf64,
    >,
>;

fn draw(chart: &mut Chart<'_, '_>, one: &Measured, y: f64) -> Drawn {
    let colour = colour(one.engine);
    let [ratio, least, greatest] = one.ratio;
    chart
        .draw_series([PathElement::new(vec![(least, y), (greatest, y)], colour.stroke_width(2))])?;
    // A ring: the search was cut, and would take longer.
    let fill = if one.is_cut { WHITE.filled() } else { colour.filled() };
    chart.draw_series([Circle::new((ratio, y), 4, fill)])?;
    chart.draw_series([Circle::new((ratio, y), 4, colour.stroke_width(2))])?;
    Ok(())
}

fn legend(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    marks: &[&[Measured]],
) -> Drawn {
    let is_there = |engine| marks.iter().copied().flatten().any(|one| one.engine == engine);
    let left = WIDTH as i32 - 182;
    for (place, &(engine, colour)) in
        COLOURS.iter().filter(|(engine, _)| is_there(*engine)).enumerate()
    {
        let y = 60 + 20 * place as i32;
        area.draw(&Circle::new((left, y), 4, colour.filled()))?;
        let style =
            ("sans-serif", 13).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(engine.name(), (left + 10, y), style))?;
    }
    Ok(())
}

fn colour(engine: Engine) -> RGBColor {
    COLOURS.iter().find(|(other, _)| *other == engine).map_or(GREY, |&(_, colour)| colour)
}
