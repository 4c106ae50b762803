//! Processes and actors in one program: a process starts actors and waits for one of them to fail.
//!
//! The end of an actor is a failure, and a join depends on it: this is the only dependence between
//! a handler and another action, besides the spawn.

use mazurka::explore::{Exhaustive, Verdict};
use mazurka::model::{
    Actors, Describe, Failure, FailureKind, Next, Objects, Op, Outbox, ProcessId, Response,
    Stimulus, System, Values,
};

use super::search;
use crate::judge::METHODS;
use crate::random_models::Erased;

/// A process that spawns two actors and then joins the second; actors with two internal handlers
/// each, of which the second ends them.
struct Waiting(Objects);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Local {
    Process { children: Vec<ProcessId>, has_joined: bool },
    Actor { has_worked: bool, has_failed: bool },
}

impl System for Waiting {
    type Local = Local;

    fn objects(&self) -> &Objects {
        &self.0
    }

    fn initial(&self, _: &mut Values) -> Vec<Local> {
        vec![Local::Process { children: Vec::new(), has_joined: false }]
    }

    fn next(&self, local: &Local, _: &mut Values) -> Next<Local> {
        match local {
            Local::Process { has_joined: true, .. } => Next::Done,
            Local::Process { children, .. } if children.len() < 2 => {
                Next::Spawn(Local::Actor { has_worked: false, has_failed: false })
            }
            Local::Process { children, .. } => Next::Op(Op::Join(children[1])),
            Local::Actor { has_failed: true, .. } => Next::Failed(Failure {
                kind: FailureKind::Assertion,
                message: "the end".into(),
                site: None,
            }),
            Local::Actor { .. } => Next::Op(Op::Handle { internals: 2 }),
        }
    }

    fn resume(&self, local: &Local, response: Response, _: &Values) -> Local {
        let mut local = local.clone();
        let Local::Process { children, has_joined } = &mut local else { panic!("{local:?}") };
        match response {
            Response::Spawned(child) => children.push(child),
            _ => *has_joined = true,
        }
        local
    }

    fn actors(&self) -> &dyn Actors<Local> {
        self
    }

    fn describe(&self) -> &dyn Describe<Local> {
        self
    }
}

impl Actors<Local> for Waiting {
    fn accepts(&self, local: &Local, _: ProcessId, stimulus: Stimulus, _: &Values) -> bool {
        let Local::Actor { has_worked, .. } = local else { panic!("{local:?}") };
        stimulus == Stimulus::Internal(1) || !has_worked
    }

    fn handle(
        &self,
        local: &Local,
        _: ProcessId,
        stimulus: Stimulus,
        _: &Values,
        _: &mut dyn Outbox<Local>,
    ) -> Local {
        match (local, stimulus) {
            (Local::Actor { has_failed, .. }, Stimulus::Internal(0)) => {
                Local::Actor { has_worked: true, has_failed: *has_failed }
            }
            (Local::Actor { has_worked, .. }, _) => {
                Local::Actor { has_worked: *has_worked, has_failed: true }
            }
            _ => panic!("{local:?} has no handlers"),
        }
    }
}

impl Describe<Local> for Waiting {
    fn process_name(&self, _: &Local) -> String {
        String::new()
    }
}

/// Each of the two actors works before it ends or does not.
#[test]
fn a_process_can_wait_for_an_actor_to_fail() {
    let system = Erased::new(Waiting(Objects::default()));
    let stats = search(&system, Exhaustive, Verdict::Assertion);
    assert_eq!(stats.classes, Some(4));
    for &(name, method, _) in METHODS.iter() {
        if name == "udpor" {
            let stats = search(&system, method, Verdict::Assertion);
            assert_eq!((stats.traces, stats.blocked), (4, 0), "{method:?}");
        }
    }
}
