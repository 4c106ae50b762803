//! The specs that tables and experiments need. They are built in, so that any directory will do.

macro_rules! specs {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../specs/", $name)))),*]
    };
}

/// The specs by their paths below `specs`.
const SPECS: &[(&str, &str)] = specs![
    "actor/chameneos.maz",
    "actor/dining.maz",
    "actor/fib.maz",
    "actor/leader.maz",
    "actor/pi.maz",
    "actor/pipesort.maz",
    "actor/quicksort.maz",
    "actor/regsim-2-level.maz",
    "actor/regsim.maz",
    "actor/shortpath4.maz",
    "actor/shortpath5.maz",
    "mailbox/any_src-can-deadlock3.maz",
    "mailbox/complex-deadlock.maz",
    "mailbox/dtg.maz",
    "mailbox/master-worker.maz",
    "mailbox/no-error-wait-any_src.maz",
    "mailbox/rmq-receiving.maz",
    "mailbox/wait-deadlock.maz",
    "mailbox/waitall-deadlock.maz",
    "mutex/dispatcher.maz",
    "mutex/mpat.maz",
    "mutex/multiprodcon.maz",
    "mutex/poke.maz",
    "mutex/ssbexp.maz",
    "structures/coarse-list.maz",
    "structures/coarse-map.maz",
    "structures/lazy-list.maz",
    "structures/queue.maz",
    "structures/stack.maz",
    "structures/striped-map.maz",
    "structures/tree-set.maz",
];

/// The text of a spec.
pub(super) fn source(name: &str) -> Option<&'static str> {
    SPECS.iter().find(|(known, _)| *known == name).map(|(_, source)| *source)
}
