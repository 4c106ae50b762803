//! Pictures as SVG, without other programs, because we know more about them than a general layout
//! program does.
//!
//! Processes are columns, and time goes down: in the unfolding as causal depth, in a space-time
//! diagram as the order of the execution. So only the order within a column is free, and drawings
//! of one program resemble one another. In a search tree each execution followed is a column; in a
//! control flow each way through a process is one.
//!
//! In what would be higher than a few screens, straight chains are in one box each. What would be
//! wider than a screen or two is broken into bands. Instead of a line from one band to another,
//! there are numbers in the boxes at both its ends.
//!
//! Text is set in a monospaced font and measured by counting characters; what is longer than its
//! place is clipped with an ellipsis and given in full as a tooltip. Colours are those of Okabe and
//! Ito, which the colour-blind can tell apart; conflicts and waits are dashed as well.

mod canvas;
mod chains;
mod control_flow;
mod partial_order;
mod search_tree;
mod space_time;

#[cfg(feature = "cli")]
pub(super) use canvas::escaped;

use super::picture::Picture;
use super::place;

/// How large a picture may become before it is told in another way.
#[derive(Clone, Copy)]
struct Most {
    /// What would be wider is laid out in bands, one below the other.
    width: f64,
    /// In what would be higher, straight chains have one box each.
    height: f64,
}

/// For a file that is looked at as it is.
const FILE: Most = Most { width: 2_400.0, height: 2_400.0 };

/// The picture as an SVG document, to be viewed as it is.
pub fn render(picture: &Picture) -> String {
    draw(picture, FILE)
}

/// The picture in one piece, however wide, for a program that can scroll it and finds its parts by
/// their numbers.
#[cfg(feature = "cli")]
pub(super) fn whole(picture: &Picture) -> String {
    draw(picture, Most { width: f64::INFINITY, height: f64::INFINITY })
}

/// Where something is, behind what it is.
fn in_brackets(file: Option<&str>, line: Option<u32>) -> String {
    line.map_or(String::new(), |line| format!(" ({})", place(file, line)))
}

fn draw(picture: &Picture, most: Most) -> String {
    match picture {
        Picture::Order(order) => partial_order::draw(order, most),
        Picture::SpaceTime(chart) => space_time::draw(chart, most),
        Picture::Steps(tree) => search_tree::draw(tree, most),
        Picture::Processes(flow) => control_flow::draw(flow),
    }
}
