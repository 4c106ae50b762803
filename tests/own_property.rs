//! A property of a user's own: every explorer that may not miss it finds the executions that it objects to.

use std::sync::Arc;

use mazurka::explore::{Budget, Explorer, Guarantee, NoObserver, ViolationKind, explore};
use mazurka::lang::compile;
use mazurka::model::{CellId, Contents, State, Value};
use mazurka::property::Property;

use crate::judge::{METHODS, is_refused};

/// The first cell ends with this number.
#[derive(Debug)]
struct EndsWith(i64);

impl Property for EndsWith {
    fn objection(&self, _: &State, cells: Contents<'_>) -> Option<String> {
        let end = cells(CellId(0));
        (end != Value::Int(self.0)).then(|| format!("it ends as {end:?}"))
    }
}

#[test]
fn what_it_objects_to_is_found_by_every_explorer() {
    let text = "shared x: int = 0; process P[i in 1..4] { x = i; }";
    let program = compile("last.maz", text, &[]).expect("a valid program");
    let everything = Budget { all: true, ..Budget::default() };
    for &(name, method, _) in METHODS.iter().filter(|entry| !is_refused(&program, entry.1)) {
        if method.guarantee() == Guarantee::SomeClasses {
            continue;
        }
        let outcome = explore(&program, method, everything.clone(), &mut NoObserver);
        assert!(outcome.violations.is_empty(), "{name} has nothing to object to");
        let properties: Vec<Arc<dyn Property>> = vec![Arc::new(EndsWith(2))];
        let budget = Budget { properties, ..everything.clone() };
        let outcome = explore(&program, method, budget, &mut NoObserver);
        let found: Vec<_> = outcome.violations.iter().filter_map(|v| v.failure.as_ref()).collect();
        let mut messages: Vec<_> = found.iter().map(|failure| failure.message.as_str()).collect();
        messages.sort_unstable();
        assert_eq!(messages, ["it ends as Int(1)", "it ends as Int(3)"], "{name}");
        assert!(outcome.violations.iter().all(|v| v.kind == ViolationKind::Assertion), "{name}");
    }
}
