//! Whether the dependence relation is an independence relation (FORTE 2019, definition 2).

use mazurka::model::{Action, Locals, Parts, System, dependent};

use super::{Run, Snapshot, Structure};

/// Checks at every configuration that any two actions that can follow one another, and that the
/// relation calls independent, can be swapped: the other order is possible, they are independent in
/// it too, and it leads to the same state. This covers all of definition 2: an action that enables
/// or disables another can follow or precede it, but not both.
pub fn check_swaps<S: System>(
    locals: &mut Locals<'_, S>,
    structure: &Structure,
) -> Result<(), String> {
    let parts = &mut Parts::default();
    for configuration in &structure.configurations {
        let run = &configuration.run;
        for first in run.enabled(locals) {
            let after_first = run.step(locals, first);
            for second in after_first.enabled(locals) {
                let both = after_first.step(locals, second);
                if second.process != first.process && independent(&both) {
                    check_swapped(locals, parts, run, &both, [second, first]).map_err(|what| {
                        let way: Vec<_> = run.state.schedule().collect();
                        format!(
                            "after {way:?}, {first:?} and {second:?} are independent, but {what}"
                        )
                    })?;
                }
            }
        }
    }
    Ok(())
}

fn check_swapped<S: System>(
    locals: &mut Locals<'_, S>,
    parts: &mut Parts,
    run: &Run,
    expected: &Run,
    [first, second]: [Action; 2],
) -> Result<(), String> {
    if !run.enabled(locals).contains(&first) {
        return Err("the second is enabled by the first".into());
    }
    let after_first = run.step(locals, first);
    if !after_first.enabled(locals).contains(&second) {
        return Err("the first is disabled by the second".into());
    }
    let both = after_first.step(locals, second);
    if !independent(&both) {
        return Err(format!("not the other way round: {:?}", last_two(&both)));
    }
    let [found, expected] = [&both, expected].map(|run| Snapshot::of(locals, parts, &run.state));
    if found != expected {
        return Err(format!("they lead to {expected:#?}, the other way round to {found:#?}"));
    }
    Ok(())
}

fn last_two(run: &Run) -> [(mazurka::model::ProcessId, &mazurka::model::Effect); 2] {
    let [.., (p, a), (q, b)] = run.effects.as_slice() else {
        panic!("two actions, not {:?}", run.effects)
    };
    [(*p, a), (*q, b)]
}

fn independent(run: &Run) -> bool {
    let [a, b] = last_two(run);
    !dependent(a, b)
}
