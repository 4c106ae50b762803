//! The places of the calls of a search tree.

use std::collections::BTreeMap;

use super::{Drawn, GAP, LINE, PADDING, ROW, lines};
use crate::report::picture::{Node, Turn};
use crate::report::svg::canvas::{Area, MARGIN, NORMAL, SMALL, width};

/// The gap between bands.
const APART: f64 = 56.0;

/// The calls with their places.
pub(super) struct Layout {
    /// The box of each call.
    pub(super) boxes: Vec<Area>,
    /// For each call: its relation to a call of another band, in short.
    pub(super) far: Vec<Option<String>>,
    band_of: Vec<usize>,
}

impl Layout {
    /// Lays them out below `top`, in bands of at most this width.
    pub(super) fn new(tree: &Drawn, top: f64, widest: f64) -> Layout {
        let (columns, rows) = (columns(tree), rows(tree));
        let mut far = vec![None; tree.nodes.len()];
        let mut areas = sizes(tree, &far);
        let mut band_of = across(tree, &columns, &rows, &mut areas, |wide, _| wide > widest);
        if band_of.iter().any(|&band| band > 0) {
            // Texts about other bands make boxes larger, so there is a second pass. Its bands begin
            // at the same calls.
            far = elsewhere(tree, &band_of);
            areas = sizes(tree, &far);
            band_of = across(tree, &columns, &rows, &mut areas, |wide, _| wide > widest);
            far = elsewhere(tree, &band_of);
            areas = sizes(tree, &far);
            let first = |column: &[usize]| band_of[column[0]];
            across(tree, &columns, &rows, &mut areas, |_, number| {
                first(&columns[number]) != first(&columns[number - 1])
            });
        }
        down(&rows, &band_of, &mut areas, top);
        Layout { boxes: areas, far, band_of }
    }

    /// Whether the two are in one band, so that lines are drawn between them.
    pub(super) fn are_near(&self, a: usize, b: usize) -> bool {
        self.band_of[a] == self.band_of[b]
    }

    /// The lower end of the drawing.
    pub(super) fn bottom(&self) -> f64 {
        self.boxes.iter().map(Area::bottom).fold(0.0, f64::max)
    }

    /// Whether there is more than one band.
    pub(super) fn is_broken(&self) -> bool {
        self.band_of.last().is_some_and(|&band| band > 0)
    }
}

fn sizes(tree: &Drawn, far: &[Option<String>]) -> Vec<Area> {
    let size = |(node, far): (&Node, &Option<String>)| {
        let (head, small) = lines(tree, node, far.as_ref());
        let widest =
            small.iter().map(|line| width(line, SMALL)).fold(width(&head, NORMAL), f64::max);
        let height = LINE * (small.len() as f64 + 1.0) + PADDING;
        Area { x: 0.0, y: 0.0, width: widest + 2.0 * PADDING, height }
    };
    tree.nodes.iter().zip(far).map(size).collect()
}

/// The row of each call if there were only one band.
fn rows(tree: &Drawn) -> Vec<usize> {
    let mut rows: Vec<usize> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        rows.push(node.parent.map_or(0, |parent| rows[parent] + 1));
    }
    rows
}

/// The calls of each column, from the top, in the order in which the columns begin.
fn columns(tree: &Drawn) -> Vec<Vec<usize>> {
    let mut column_of = Vec::with_capacity(tree.nodes.len());
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for node in &tree.nodes {
        let above = node.parent.filter(|&parent| is_left(&tree.nodes[parent], node.id));
        let column = above.map_or(columns.len(), |above| column_of[above]);
        if column == columns.len() {
            columns.push(Vec::new());
        }
        columns[column].push(node.id);
        column_of.push(column);
    }
    columns
}

fn is_left(parent: &Node, child: usize) -> bool {
    matches!(parent.turn, Turn::Chose { left: Some(left), .. } if left == child)
}

/// Gives each column its place and width, and returns the band of each call. `is_next(end, column)`
/// says whether a column that would extend to `end` begins a band.
fn across(
    tree: &Drawn,
    columns: &[Vec<usize>],
    rows: &[usize],
    areas: &mut [Area],
    is_next: impl Fn(f64, usize) -> bool,
) -> Vec<usize> {
    let depth = rows.iter().max().map_or(0, |&last| last + 1);
    let mut taken = vec![MARGIN - GAP; depth];
    let mut band_of = vec![0; rows.len()];
    let mut band = 0;
    for (number, column) in columns.iter().enumerate() {
        let (first, last) = (column[0], column[column.len() - 1]);
        let own = rows[first]..=rows[last];
        let width = column.iter().map(|&call| areas[call].width).fold(0.0, f64::max);
        let mut x = taken[own.clone()].iter().copied().fold(0.0, f64::max) + GAP;
        if number > 0 && is_next(x + width + MARGIN, number) {
            taken.fill(MARGIN - GAP);
            x = MARGIN;
            band += 1;
        }
        taken[own].fill(x + width);
        if let Some(caller) = tree.nodes[first].parent.filter(|&caller| band_of[caller] == band) {
            taken[rows[caller]] = taken[rows[caller]].max(x + width / 2.0);
        }
        for &call in column {
            (areas[call].x, areas[call].width, band_of[call]) = (x, width, band);
        }
    }
    band_of
}

/// Gives each row of each band its place.
fn down(rows: &[usize], band_of: &[usize], areas: &mut [Area], top: f64) {
    let mut heights = BTreeMap::new();
    for (call, area) in areas.iter().enumerate() {
        let height: &mut f64 = heights.entry((band_of[call], rows[call])).or_default();
        *height = height.max(area.height);
    }
    let (mut y, mut before) = (top, 0);
    for ((band, _), height) in &mut heights {
        if *band > before {
            (y, before) = (y - ROW + APART, *band);
        }
        let next = y + *height + ROW;
        // From here on, this is where the row begins.
        *height = y;
        y = next;
    }
    for (call, area) in areas.iter_mut().enumerate() {
        area.y = heights[&(band_of[call], rows[call])];
    }
}

/// For each call: the call of another band that it makes, or that makes it.
fn elsewhere(tree: &Drawn, band_of: &[usize]) -> Vec<Option<String>> {
    let words = |node: &Node| {
        let far = |other: &usize| band_of[*other] != band_of[node.id];
        let caller =
            node.parent.filter(far).map(|caller| format!("from call {}", tree.number(caller)));
        let without = match &node.turn {
            Turn::Chose { event, right: Some(right), .. } if far(right) => {
                Some(format!("without {event}: call {}", tree.number(*right)))
            }
            _ => None,
        };
        let parts: Vec<_> = caller.into_iter().chain(without).collect();
        (!parts.is_empty()).then(|| format!("call {}, {}", tree.number(node.id), parts.join(", ")))
    };
    tree.nodes.iter().map(words).collect()
}
