//! The places of the events of a partial order.
//!
//! Causes are in higher rows, so all arrows go down. Within a row and column, events are ordered by
//! the barycentre of their causes (Sugiyama, Tagawa, Toda 1981, with the rows above fixed), and
//! each is put as near to it as the others allow. So the branches of one process stay side by side,
//! and an event stands below its causes.
//!
//! A drawing that would be too wide is laid out in bands, one below the other. A band has the
//! events of a range of numbers, as many as fit, in rows and columns of its own. Numbers ascend in
//! the order in which the search visited events. So an event mostly is in the band of its causes,
//! or the causes are in a band above. Instead of lines between bands there are numbers in the
//! boxes.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use super::{Drawn, GAP, HEIGHT, PADDING, ROW, label, outcome};
use crate::report::picture::Event;
use crate::report::svg::canvas::{Area, MARGIN, NORMAL, SMALL, clipped, width};

/// The extra height of a box with a third line.
const THIRD_LINE: f64 = 13.0;
/// The gap between bands.
const APART: f64 = 60.0;
/// The maximum number of characters for relations to events of other bands.
const LONGEST_RELATIONS: usize = 46;
/// The maximum number of events that are listed for each kind of relation.
const LISTED: usize = 5;

/// The events with their places.
pub(super) struct Layout {
    pub(super) bands: Vec<Band>,
    /// The box of each event.
    pub(super) boxes: Vec<Area>,
    /// For each event: its relations to events of other bands, in short.
    pub(super) elsewhere: Vec<Option<String>>,
    /// The band of each event.
    band_of: Vec<usize>,
}

/// The layout of a range of events.
pub(super) struct Band {
    pub(super) events: Range<usize>,
    /// The lanes that have events here, with their columns.
    pub(super) columns: Vec<(usize, Area)>,
    /// The height of the names of lanes; the lower end of the boxes.
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Layout {
    /// Lays them out below `top`, in bands of at most this width.
    pub(super) fn new(order: &Drawn, top: f64, widest: f64) -> Layout {
        let mut band_of = vec![0; order.events.len()];
        let mut far = vec![None; order.events.len()];
        let mut ranges = ranges(order, &widths(order, &far), widest);
        if ranges.len() > 1 {
            // Texts about other bands make boxes wider, so there is a second pass. Its bands begin
            // at the same events.
            set(&mut band_of, &ranges);
            far = elsewhere(order, &band_of);
            ranges = self::ranges(order, &widths(order, &far), widest);
            set(&mut band_of, &ranges);
            far = elsewhere(order, &band_of);
        }
        let widths = widths(order, &far);
        let third = if ranges.len() > 1 { THIRD_LINE } else { 0.0 };
        let empty = Area { x: 0.0, y: 0.0, width: 0.0, height: HEIGHT + third };
        let boxes = vec![empty; order.events.len()];
        let mut layout = Layout { bands: Vec::new(), boxes, elsewhere: far, band_of };
        let is_one = ranges.len() == 1;
        let mut y = top;
        for events in ranges {
            layout.add(order, &widths, events, y, is_one);
            y = layout.bottom() + APART;
        }
        layout
    }

    /// The lower end of the drawing.
    pub(super) fn bottom(&self) -> f64 {
        self.bands.last().expect("there is a band").bottom
    }

    /// Whether the two are in one band, so that lines are drawn between them.
    pub(super) fn are_near(&self, a: usize, b: usize) -> bool {
        self.band_of[a] == self.band_of[b]
    }

    fn add(&mut self, order: &Drawn, widths: &[f64], events: Range<usize>, top: f64, is_one: bool) {
        let own = &order.events[events.clone()];
        let depths: BTreeSet<usize> = own.iter().map(|event| event.depth).collect();
        let lanes: BTreeSet<usize> = match is_one {
            true => (0..order.lanes.len()).collect(),
            false => own.iter().map(|event| event.lane).collect(),
        };
        let mut cells: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
        for event in own {
            cells.entry((event.depth, event.lane)).or_default().push(event.id);
        }
        let room = |cell: &Vec<usize>| cell.iter().map(|&e| widths[e] + GAP).sum::<f64>();
        let (mut columns, mut x) = (Vec::new(), MARGIN);
        for lane in lanes {
            let own = depths.iter().filter_map(|&depth| cells.get(&(depth, lane)));
            let needed = own.map(room).fold(0.0, f64::max);
            let width = needed.max(width(&order.lanes[lane], NORMAL) + GAP);
            columns.push((lane, Area { x, y: top, width, height: 0.0 }));
            x += width;
        }
        let height = self.boxes.first().map_or(HEIGHT, |area| area.height);
        let mut bottom = top + 20.0;
        for (row, depth) in depths.into_iter().enumerate() {
            let y = top + 16.0 + row as f64 * (height + ROW);
            for (lane, column) in &columns {
                let Some(cell) = cells.remove(&(depth, *lane)) else { continue };
                place(order, *column, widths, (cell, events.start), y, &mut self.boxes);
            }
            bottom = y + height;
        }
        self.bands.push(Band { events, columns, top, bottom: bottom + 14.0 });
    }
}

/// Divides the events into bands, given the widths of their boxes: as many to a band as fit.
fn ranges(order: &Drawn, widths: &[f64], widest: f64) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut cells, mut lanes) = (0, HashMap::new(), HashMap::new());
    for event in &order.events {
        for is_new in [false, true] {
            let cell: &mut f64 = cells.entry((event.depth, event.lane)).or_default();
            *cell += widths[event.id] + GAP;
            let name = width(&order.lanes[event.lane], NORMAL) + GAP;
            let lane: &mut f64 = lanes.entry(event.lane).or_insert(name);
            *lane = lane.max(*cell);
            let is_wide = 2.0 * MARGIN + lanes.values().sum::<f64>() > widest;
            if is_new || !is_wide || event.id == start {
                break;
            }
            ranges.push(start..event.id);
            start = event.id;
            cells.clear();
            lanes.clear();
        }
    }
    ranges.push(start..order.events.len());
    ranges
}

fn set(band_of: &mut [usize], ranges: &[Range<usize>]) {
    for (band, range) in ranges.iter().enumerate() {
        band_of[range.clone()].fill(band);
    }
}

/// For each event: its causes and conflicts in other bands.
fn elsewhere(order: &Drawn, band_of: &[usize]) -> Vec<Option<String>> {
    let are_far = |a: usize, b: usize| band_of[a] != band_of[b];
    let mut rivals = vec![Vec::new(); order.events.len()];
    for &(a, b) in order.conflicts.iter().filter(|&&(a, b)| are_far(a, b)) {
        rivals[a].push(b);
        rivals[b].push(a);
    }
    let words = |(event, rivals): (&Event, Vec<usize>)| {
        let causes = event.causes.iter().copied().filter(|&cause| are_far(cause, event.id));
        let parts = [listed(order, "after", causes.collect()), listed(order, "not with", rivals)];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| clipped(&parts.join("; "), LONGEST_RELATIONS))
    };
    order.events.iter().zip(rivals).map(words).collect()
}

/// A word and these numbers, at most [`LISTED`] of them; `None` if there are no numbers.
fn listed(order: &Drawn, word: &str, mut numbers: Vec<usize>) -> Option<String> {
    numbers.sort_unstable();
    let (shown, rest) = numbers.split_at(numbers.len().min(LISTED));
    let shown: Vec<_> = shown.iter().map(|&event| order.number(event)).collect();
    let rest = if rest.is_empty() { String::new() } else { format!(", +{}", rest.len()) };
    (!numbers.is_empty()).then(|| format!("{word} {}{rest}", shown.join(", ")))
}

/// How wide each box has to be.
fn widths(order: &Drawn, far: &[Option<String>]) -> Vec<f64> {
    let box_width = |(event, far): (&Event, &Option<String>)| {
        let far = far.as_deref().unwrap_or_default();
        let small = width(&outcome(event), SMALL).max(width(far, SMALL));
        small.max(width(&label(order, event), NORMAL)) + 2.0 * PADDING
    };
    order.events.iter().zip(far).map(box_width).collect()
}

/// Puts the events of one column and row side by side, each near its causes. Causes before `first`
/// are in another band.
fn place(
    order: &Drawn,
    column: Area,
    widths: &[f64],
    (cell, first): (Vec<usize>, usize),
    y: f64,
    boxes: &mut [Area],
) {
    let wish = |event: usize| {
        let causes = order.events[event].causes.iter().filter(|&&cause| cause >= first);
        let own = causes.clone().filter(|&&c| order.events[c].lane == order.events[event].lane);
        let own: Vec<f64> = own.map(|&cause| boxes[cause].centre()).collect();
        let all: Vec<f64> = causes.map(|&cause| boxes[cause].centre()).collect();
        (mean(&own).unwrap_or(column.centre()), mean(&all).unwrap_or(column.centre()))
    };
    let mut wishes: Vec<_> = cell.into_iter().map(|event| (wish(event), event)).collect();
    wishes
        .sort_by(|a, b| a.0.0.total_cmp(&b.0.0).then(a.0.1.total_cmp(&b.0.1)).then(a.1.cmp(&b.1)));
    let mut left = column.x;
    let mut xs = Vec::new();
    for &((wish, _), event) in &wishes {
        let x = (wish - widths[event] / 2.0).max(left + GAP / 2.0);
        left = x + widths[event] + GAP / 2.0;
        xs.push(x);
    }
    // Boxes beyond the right edge are moved back. The column is wide enough for that.
    let mut right = column.right();
    for (&(_, event), x) in wishes.iter().zip(&mut xs).rev() {
        *x = x.min(right - GAP / 2.0 - widths[event]);
        right = *x - GAP / 2.0;
        boxes[event] = Area { x: *x, y, width: widths[event], ..boxes[event] };
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
