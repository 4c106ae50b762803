//! Operations on objects of the kinds that have files of their own ([`crate::lang::objects`]).

use super::{Declaration, Flow};
use crate::lang::code::Visible;
use crate::lang::objects::{Gives, ObjectKind, cell};
use crate::lang::symmetry::kinds::Node;

/// Passes through an act. `out` is what it leaves.
pub(super) fn follow(flow: &mut Flow<'_>, visible: Visible, args: &[Node], out: Node, pc: u32) {
    let Visible::Act(act, _) = visible else { unreachable!("{visible:?} is no act") };
    if act.arity.is_none() {
        for &arg in args {
            flow.object(arg, act.kind, pc);
        }
    }
    let Some(object) = args.first().and_then(|&first| flow.object(first, act.kind, pc)) else {
        return;
    };
    let Declaration { content, .. } = flow.declarations[object];
    if act.kind == ObjectKind::Cell {
        args[1..].iter().for_each(|&arg| flow.nodes.join(content, arg, pc));
        if *act == cell::FETCH_ADD {
            flow.nodes.spoil(content, "it is computed with", pc);
        }
    }
    match act.gives {
        Gives::Content => flow.nodes.join(out, content, pc),
        Gives::Place => flow.nodes.spoil(out, "this is a place in a list", pc),
        Gives::Unit | Gives::Bool => {}
    }
}
