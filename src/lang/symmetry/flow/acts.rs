//! Operations on objects of the kinds that have files of their own ([`crate::lang::objects`]), and
//! probes.

use super::{Declaration, Flow};
use crate::lang::code::Visible;
use crate::lang::objects::{Gives, ObjectKind, cell};
use crate::lang::symmetry::kinds::Node;
use crate::model::{Probing, Value};

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

/// Passes through a probe, which may have a source and a tag. `out` is what it leaves: the source
/// and the tag of a message, in `iprobe` after a bool. Without a message both are -1.
pub(super) fn probe(
    flow: &mut Flow<'_>,
    (form, src, tag): (Probing, bool, bool),
    args: &[Node],
    out: Node,
    pc: u32,
) {
    let Some(mailbox) = flow.object(args[0], ObjectKind::Mailbox, pc) else { return };
    let Declaration { src: sources, tag: tags, .. } = flow.declarations[mailbox];
    if src {
        flow.nodes.join(sources, args[1], pc);
    }
    if tag {
        flow.nodes.join(tags, *args.last().expect("a tag"), pc);
    }
    let is_test = form.may_miss();
    let parts = flow.parts_of(out, 2 + usize::from(is_test), pc);
    for (node, &part) in [sources, tags].into_iter().zip(&parts[usize::from(is_test)..]) {
        flow.nodes.join(node, part, pc);
        if is_test {
            flow.constant(part, &Value::Int(-1), pc);
        }
    }
}
