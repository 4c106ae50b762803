//! Pictures as SVG, without other programs: we know more about them than a general layout does.
//!
//! Processes are columns and time goes down, in the unfolding as causal depth, in a space-time diagram as the
//! order of the execution. So the only freedom is the order within a column, and drawings of one program
//! resemble one another. In a search tree each execution followed is a column; in a control
//! flow each way through a process.
//!
//! Text is set in a monospaced font and measured by counting characters; what is longer than its place is
//! clipped with an ellipsis and given in full as a tooltip. Colours are those of Okabe and Ito, which the
//! colour-blind can tell apart; conflicts and waits are dashed as well.

mod canvas;
mod control_flow;
mod partial_order;
mod search_tree;
mod space_time;

pub(super) use canvas::escaped;

use super::picture::Picture;

/// The picture as an SVG document.
pub fn render(picture: &Picture) -> String {
    match picture {
        Picture::Order(order) => partial_order::draw(order),
        Picture::SpaceTime(chart) => space_time::draw(chart),
        Picture::Steps(tree) => search_tree::draw(tree),
        Picture::Processes(flow) => control_flow::draw(flow),
    }
}
