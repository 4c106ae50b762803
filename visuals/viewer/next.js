// What can happen next: the events that are enabled after the steps so far, as buttons. Each of
// them takes one.
//
// C is the set of the events of the steps so far. An event is enabled if all its causes are in C
// and nothing in C is in immediate conflict with it. (If it is in conflict with C, then in immediate
// conflict with an event of C: its causes are in C, and C has no conflicts.)
//
// A page of a prefix shows the events taken as they are (chosen.js).
//
// A page of an unfolding has one execution of each class, with its steps in one order. So an event that is taken
// may lead to another execution, and there it may come after steps that it does not need.

const beginnings = events.filter(({ causes }) => causes.length === 0).map(({ id }) => id);

/** The events of the steps so far; `null` if not all of them are in the picture. In a prefix an event
 * may have two steps, and has happened after the second one. */
function happened() {
  if (!run() || !isPrefix && !data.unfolding.complete && run().chart.left_out.length > 0) return null;
  const all = [...run().before, ...run().events];
  const done = all.slice(0, run().before.length + at.step).filter((event, place) => event === null || event !== all[place + 1]);
  return done.includes(null) ? null : new Set(done);
}

/** The enabled events after these, ascending. */
function enabledAfter(done) {
  const candidates = new Set([...beginnings, ...[...done].flatMap((event) => effects[event])]);
  const isEnabled = (event) => !done.has(event)
    && causesOf(event).every((cause) => done.has(cause))
    && !rivals[event].some((rival) => done.has(rival));
  return [...candidates].filter(isEnabled).sort((a, b) => a - b);
}

/** The number of steps after which all of these events have happened in an execution; `null` if they
 * never have. */
function placeAfter(wanted, { before, events: taken }) {
  const missing = new Set(wanted);
  before.forEach((event) => missing.delete(event));
  let place = 0;
  while (missing.size > 0 && place < taken.length) missing.delete(taken[place++]);
  return missing.size === 0 ? place : null;
}

/** The execution of a class that has all of these events, the one nearest to the present one; -1 if
 * there is none. */
function classWith(wanted) {
  const has = ({ last }) => {
    const own = new Set(last.flatMap((event) => [...closure(event, causesOf)]));
    return [...wanted].every((event) => own.has(event));
  };
  const found = data.unfolding.configurations.slice(0, data.classes).filter(has);
  const distance = (index) => Math.abs(index - at.run);
  const indices = found.map(({ number }) => firstClass + number - 1);
  return indices.reduce((best, index) => (best < 0 || distance(index) < distance(best) ? index : best), -1);
}

/** The execution at hand in which all of these events have happened soonest, and the place: the
 * present one if possible, or one of an open shelf. `null` if there is none. */
function soonest(wanted) {
  let best = null;
  const consider = (index, execution) => {
    const place = placeAfter(wanted, execution);
    if (place !== null && (best === null || place < best.place)) best = { index, execution, place };
  };
  consider(at.run, run());
  for (const [number, runs] of shelves) runs.forEach((one, offset) => consider(number * data.shelf + offset, one));
  return best;
}

/** Takes an enabled event: goes to the first place where it and the steps so far have happened. */
function takeNext(event) {
  if (isPrefix) return take(event);
  const wanted = new Set([...happened(), event]);
  const arrive = (index, execution, place) => {
    if (index !== at.run) fetchRun(index, () => begin(index, execution));
    go(place);
    focusNext();
  };
  const known = soonest(wanted);
  if (known) return arrive(known.index, known.execution, known.place);
  const index = classWith(wanted);
  if (index >= 0) fetchRun(index, (execution) => arrive(index, execution, placeAfter(wanted, execution)));
}

function focusNext() {
  $("upcoming").querySelector("button")?.focus({ preventScroll: true });
}

/** Lists the events that are enabled after the steps so far, and marks them in the unfolding. */
function paintNext() {
  const done = happened();
  const enabled = done ? enabledAfter(done) : [];
  drawing("unfolding")?.mark("enabled", enabled.map((event) => drawing("unfolding").nodes[event]));
  const following = run()?.events[at.step];
  const items = enabled.map((event) => {
    const { outcome } = events[event];
    const item = button(eventText(event), () => takeNext(event));
    item.dataset.next = String(event);
    item.classList.toggle("following", event === following);
    if (event === following) item.title = "the next step of this execution";
    return make("li", "", item, outcome ? make("span", "quiet", ` ${outcome}`) : "");
  });
  const back = isPrefix && done ? waysBack(done) : [];
  $("upcoming").hidden = items.length + back.length === 0;
  const note = data.unfolding.complete && back.length === 0 ? "" : " (of the events in the picture)";
  $("upcoming").replaceChildren(make("h3", "", `Can happen next${note}`), make("ul", "", ...items), ...back);
}
