//! Pictures as SVG, without external programs, because more is known about these pictures than a
//! general layout program could use.
//!
//! Processes are columns, and time goes down: in the unfolding as causal depth, in a space-time
//! diagram as the order of the execution. So only the order within a column is free, and drawings
//! of one program resemble one another. In a search tree each explored execution is a column; in a
//! control flow each path through a process is one.
//!
//! In a picture higher than a few screens, each straight chain becomes one box. A picture wider
//! than a screen or two is broken into bands. A line from one band to another is replaced by
//! numbers in the boxes at its ends.
//!
//! Text is set in a monospaced font and measured by counting characters. A text that is too long is
//! clipped with an ellipsis, and a tooltip has all of it. Colours are those of Okabe and Ito, which
//! colour-blind people can distinguish; conflicts and waits are also dashed.

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

/// The size up to which a picture is drawn without bands and chains.
#[derive(Clone, Copy)]
struct Most {
    /// A wider picture is laid out in bands, one below the other.
    width: f64,
    /// In a higher picture each straight chain becomes one box.
    height: f64,
}

/// For a file that is viewed as it is.
const FILE: Most = Most { width: 2_400.0, height: 2_400.0 };

/// The picture as an SVG document, to be viewed as it is.
pub fn render(picture: &Picture) -> String {
    draw(picture, FILE)
}

/// The picture in one piece, however wide, for a program that scrolls it and finds its parts by
/// their numbers.
#[cfg(feature = "cli")]
pub(super) fn whole(picture: &Picture) -> String {
    draw(picture, Most { width: f64::INFINITY, height: f64::INFINITY })
}

/// A place in brackets, to follow what is at this place.
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
