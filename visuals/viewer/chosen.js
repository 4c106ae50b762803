// Configurations that are chosen event by event, in a page of a finite prefix.
//
// Each execution of such a page leads to an event that is no cause of another one, and most
// configurations are on the way to none of them. So the events that are taken are an execution of
// their own, with one step for each event. It has no diagram and no states. Its state is that of an
// execution of the page that passes the same configuration, if there is one.
//
// After the history of a cutoff the state is as after that of another event. From there one can go on.

const CHOSEN = -1;
let chosen = null;
const futures = (event) => closure(event, (one) => effects[one]);
const historyOf = (event) => [...closure(event, causesOf)].sort((a, b) => a - b);

/** The last event of each execution. */
const lasts = isPrefix ? events.filter(({ id }) => effects[id].length === 0).slice(0, ends.length).map(({ id }) => id) : [];

/** These events, causes first, as an execution. */
function chosenRun(list) {
  const places = new Map(list.map((event, step) => [event, step]));
  const lanes = data.unfolding.lanes.map((name) => ({ name }));
  const causes = list.map((event) => causesOf(event).map((cause) => places.get(cause)));
  return { isChosen: true, chart: { steps: list.map((event) => events[event]), lanes }, causes, events: list, before: [] };
}

/** Goes to the configuration of these events, causes first. */
function chooseEvents(list) {
  if (!chosen) {
    const item = button("Chosen by hand", () => chooseEvents(chosen.events), "");
    item.dataset.run = String(CHOSEN);
    $("runs").prepend(make("li", "", item));
  }
  chosen = chosenRun(list);
  wanted = CHOSEN;
  begin(CHOSEN, chosen);
  go(list.length);
}

/** Takes an enabled event: in the execution at hand, if it is the next one there. */
function take(event) {
  if (event === run().events[at.step]) go(run().events.lastIndexOf(event) + 1);
  else chooseEvents([...happened(), event]);
  focusNext();
}

/** The steps so far with the history of an event; `null` if they are in conflict with it. */
function joined(event) {
  const all = new Set([...(happened() ?? []), ...historyOf(event)]);
  return [...all].some((one) => rivals[one].some((rival) => all.has(rival))) ? null : [...all];
}

/** Links to the configurations that an event leads to: its history, also after the steps so far. */
function configurationsOf(event) {
  const own = historyOf(event);
  const both = joined(event);
  const isMore = both !== null && both.length > own.length && !happened().has(event);
  return [
    button("its history", () => chooseEvents(own)),
    ...(isMore ? [", or ", button("with the steps so far", () => chooseEvents(both))] : []),
  ];
}

/** For each cutoff among these events: after which event the state is the same, to go on from there. */
function waysBack(done) {
  return [...done].filter((event) => events[event].cutoff_of !== undefined).map((event) => {
    const { cutoff_of: of } = events[event];
    const own = historyOf(event);
    const when = own.length < done.size ? `After the history of cutoff ${event} alone, the state is` : "The state is";
    const same = of === "start" ? "as at the start" : `as after the history of ${of}`;
    return make("p", "", `${when} ${same}: `, button("go on from there", () => chooseEvents(of === "start" ? [] : historyOf(of))));
  });
}

/** The place where exactly these events have happened in an execution; `null` if there is none. */
function placeOf(done, { before, events: taken }) {
  const all = [...before, ...taken];
  let [met, place] = [0, 0];
  while (met < done.size && done.has(all[place])) {
    if (all[place + 1] !== all[place]) met++;
    place++;
  }
  return met === done.size && place >= before.length ? place - before.length : null;
}

/** Shows the state after the events chosen so far, as that of an execution of the page. */
async function paintChosenState() {
  const [shown, step, done] = [run(), at.step, happened()];
  const tops = [...done].filter((event) => !effects[event].some((effect) => done.has(effect))).map(futures);
  for (const [index, last] of lasts.entries()) {
    if (!tops.every((future) => future.has(last))) continue;
    const number = Math.floor(index / data.shelf);
    if (!shelf(number)) await openShelf(number);
    if (run() !== shown || at.step !== step) return;
    const execution = shelf(number)[index % data.shelf];
    const place = placeOf(done, execution);
    if (place === null) continue;
    return paintFacts(execution, place, execution.events[place - 1] === shown.events[step - 1]);
  }
  $("ending").hidden = true;
  paintPlaces(null);
  $("facts").replaceChildren(make("p", "quiet", "No execution of this page has exactly these events, so their state is not known here."));
}
