// The panels beside the picture: the state, the source, and details of the selection.
//
// A state is stored as differences, as in the model; going back undoes them. The rows of a state
// are made once for each execution, and a step paints those that it changes.

// ---- states

/** The facts of an execution at each of its steps: differences, forward and back. */
class States {
  constructor({ start, changes, topics }) {
    this.values = topics.map((_, topic) => start[topic] ?? null);
    this.changes = changes;
    this.undo = [];
    for (const list of changes) {
      this.undo.push(list.map(([topic]) => [topic, this.values[topic]]));
      list.forEach(([topic, value]) => (this.values[topic] = value));
    }
    this.at = changes.length;
  }

  /** Goes to a step, and returns the topics that changed on the way. */
  go(step) {
    const touched = new Set();
    const set = ([topic, value]) => {
      this.values[topic] = value;
      touched.add(topic);
    };
    while (this.at < step) this.changes[this.at++].forEach(set);
    while (this.at > step) this.undo[--this.at].forEach(set);
    return touched;
  }
}

const GROUPS = [
  ["mailbox", "Mailboxes"],
  ["mutex", "Mutexes"],
  ["semaphore", "Semaphores"],
  ["barrier", "Barriers and latches"],
  ["cell", "Shared cells"],
  ["final", "Final"],
];
const WORDS = { place: "at", wait: "waits for", inbox: "messages" };
const OF_PROCESS = ["place", "wait", "inbox", "variable"];
const QUIET = ["none", "free", "nobody", "ended", "at rest"];
const panels = new WeakMap();

/** The state of an execution as rows, one for each topic. */
function panel(execution) {
  if (!panels.has(execution)) panels.set(execution, makePanel(execution));
  return panels.get(execution);
}

function makePanel({ chart, topics, ...rest }) {
  const states = new States({ topics, ...rest });
  const rows = topics.map(({ kind, name }) =>
    make("div", "fact", make("span", "topic", name || WORDS[kind]), make("span", "value")));
  const root = make("div");
  const lanes = chart.lanes.map(({ name }) => make("h3", "", name));
  const add = (heading, kinds, lane) => {
    const own = kinds.flatMap((kind) => topics.flatMap((topic, number) =>
      topic.kind === kind && topic.lane === lane ? [rows[number]] : []));
    if (own.length > 0) root.append(heading, ...own);
  };
  lanes.forEach((heading, lane) => add(heading, OF_PROCESS, lane));
  GROUPS.forEach(([kind, title]) => add(make("h3", "", title), [kind], null));
  const made = { states, rows, root, lanes, topics, changed: [] };
  topics.forEach((_, topic) => paintFact(made, topic));
  return made;
}

function paintFact({ states, rows, lanes, topics }, topic, before) {
  const { kind, lane } = topics[topic];
  const value = states.values[topic];
  const row = rows[topic];
  if (kind === "place") lanes[lane].hidden = value === null;
  row.hidden = value === null;
  const cell = row.lastChild;
  cell.className = `value ${kind === "wait" ? "wait" : ""} ${QUIET.includes(value) ? "quiet" : ""}`;
  cell.replaceChildren(...(before ? [make("del", "", before), make("ins", "", value ?? "")] : [value ?? ""]));
  row.classList.toggle("changed", before !== undefined);
}

function paintState() {
  if (run()?.isChosen) paintChosenState();
  else if (run()) paintFacts(run(), at.step);
}

/** Shows the state of an execution after a step, and, if wished, what this step changed. */
function paintFacts(execution, step, isMarked = true) {
  const shown = panel(execution);
  const touched = shown.states.go(step);
  for (const topic of [...shown.changed, ...touched]) paintFact(shown, topic);
  const undo = (isMarked && shown.states.undo[step - 1]) || [];
  shown.changed = undo.map(([topic]) => topic);
  undo.forEach(([topic, before]) => paintFact(shown, topic, before ?? ""));
  const mover = isMarked ? execution.chart.steps[step - 1]?.lane : null;
  shown.lanes.forEach((heading, lane) => heading.classList.toggle("mover", lane === mover));
  if ($("facts").firstChild !== shown.root) $("facts").replaceChildren(shown.root);
  paintEnding(execution, step);
  if (shown.changed.length > 0) scrollTo($("facts"), shown.rows[shown.changed[0]]);
  paintPlaces(execution);
}

/** Shows the violation at the end, and which process waits for which. */
function paintEnding({ chart }, step) {
  const { verdict, message, file, line, variables, cycle, lanes } = chart;
  const words = { ok: "Everything is done, and nothing is wrong.", incomplete: "Something can still move." };
  const box = $("ending");
  box.hidden = step < chart.steps.length;
  box.classList.toggle("bad", isBad(verdict));
  const shown = message ?? words[verdict] ?? "";
  const word = isBad(verdict) && !shown.startsWith(verdict) ? `${verdict}: ` : "";
  const where = line ? [" (", button(placeText({ file, line }), () => paintLine({ file, line })), ")"] : [];
  const text = make("p", "", make("strong", "", word), shown, ...where);
  const values = variables.map(({ name, value }) => make("span", "value", `${name} = ${value}`));
  if (values.length > 0) text.append(make("span", "values", ...values));
  box.replaceChildren(text, ...(cycle.length > 0 ? [make("p", "cycle", circle({ cycle, lanes }))] : []));
}

function circle({ cycle, lanes }) {
  const next = (lane) => lanes[lane].end.helpers ?? [];
  const names = cycle.map((lane) => lanes[lane].name);
  const isCircle = cycle.every((lane, index) => next(lane).length === 1 && next(lane)[0] === cycle[(index + 1) % cycle.length]);
  return isCircle
    ? `Each waits for the next: ${[...names, names[0]].join(" \u2192 ")}`
    : `No process outside could help these: ${names.join(", ")}`;
}

// ---- source

/** The lines of all sources by place. */
const lines = new Map();
const key = ({ file, line }) => `${file ?? ""}:${line}`;

function paintSource() {
  const busy = new Set([...data.places.map(([file, line]) => key({ file, line })), ...events.map(key)]);
  for (const { file, text } of data.sources) {
    if (file) $("lines").append(make("h3", "", file));
    if (text === null) $("lines").append(make("p", "quiet", "This file could not be read when the page was made."));
    inComment = false;
    (text?.split("\n") ?? []).forEach((text, index) => paintSourceLine({ file, line: index + 1 }, text, busy));
  }
}

function paintSourceLine(place, text, busy) {
  const number = make("span", "number", String(place.line));
  if (busy.has(key(place))) {
    number.classList.add("busy");
    number.title = "Find what is done here";
    number.addEventListener("click", () => search(placeText(place)));
  }
  const code = make("code", "", ...coloured(text, place.file ? OF_C : OF_SPEC));
  const line = make("div", "line", number, code, make("span", "there"));
  lines.set(key(place), line);
  $("lines").append(line);
}

let inComment = false;
const token = (words) => new RegExp(`(/\\*.*?(?:\\*/|$)|//.*$|"(?:[^"\\\\]|\\\\.)*"|\\b(?:${words})\\b)`);
const OF_SPEC = token("const|mailbox|mutex|semaphore|barrier|shared|enum|fn|process|actor|on|when|internal|init|final|let|var|if|else|while|for|in|match|break|continue|return|spawn|true|false");
const OF_C = token("auto|bool|break|case|char|class|const|continue|default|do|double|else|enum|extern|false|float|for|goto|if|inline|int|long|namespace|new|return|short|signed|sizeof|static|struct|switch|template|true|typedef|union|unsigned|using|void|while");

/** A line of the source as pieces of text and spans. */
function coloured(text, words) {
  if (inComment) {
    const end = text.indexOf("*/");
    inComment = end < 0;
    return end < 0 ? [make("span", "comment", text)] : [make("span", "comment", text.slice(0, end + 2)), ...coloured(text.slice(end + 2), words)];
  }
  return text.split(words).map((piece, index) => {
    if (index % 2 === 0) return piece;
    if (piece.startsWith("/*")) inComment = !piece.endsWith("*/");
    const kind = piece.startsWith("/") ? "comment" : piece.startsWith('"') ? "text" : "word";
    return make("span", kind, piece);
  });
}

let here = null;

function paintLine(place) {
  here?.classList.remove("here");
  here = (place && lines.get(key(place))) ?? null;
  if (!here) return;
  here.classList.add("here");
  scrollTo($("lines"), here);
}

let occupied = [];

/** Shows beside each line the processes that are there, if an execution is given. */
function paintPlaces(execution) {
  const { topics, states } = execution ? panel(execution) : { topics: [] };
  const there = new Map();
  topics.forEach(({ kind, lane }, topic) => {
    const [, file, number] = (kind === "place" && /^(?:line |(.+?):)(\d+): /.exec(states.values[topic] ?? "")) || [];
    const line = lines.get(key({ file, line: number }));
    if (line) there.set(line, [...(there.get(line) ?? []), execution.chart.lanes[lane].name]);
  });
  occupied.forEach((line) => (line.lastChild.textContent = ""));
  occupied = [...there.keys()];
  for (const [line, names] of there) {
    line.lastChild.textContent = names.length === 1 ? names[0] : `${names.length} processes`;
    line.lastChild.title = names.join(", ");
  }
}

// ---- the selection

const causesOf = (event) => events[event].causes;
const effects = events.map(() => []);
events.forEach(({ id, causes }) => causes.forEach((cause) => effects[cause].push(id)));
const rivals = events.map(() => []);
data.unfolding.conflicts.forEach(([a, b]) => {
  rivals[a].push(b);
  rivals[b].push(a);
});

function paintAbout() {
  const { picture, number } = at.selected ?? { picture: "space-time", number: at.step - 1 };
  const shown = number < 0 ? [make("p", "quiet", "Click an event, or step through an execution: j and k.")] : ABOUT[picture](number);
  $("about").replaceChildren(...shown);
}

function table(pairs) {
  const list = make("dl");
  for (const [term, value] of pairs) {
    if (value === null || value === undefined || value.length === 0) continue;
    list.append(make("dt", "", term), make("dd", "", ...[value].flat()));
  }
  return list;
}

const MOST_LINKS = 12;

/** Links to events or steps, one a line, up to a maximum number. */
function links(numbers, text, action) {
  if (numbers.length === 0) return [];
  const items = numbers.slice(0, MOST_LINKS).map((number) => make("li", "", button(text(number), () => action(number))));
  const rest = numbers.length - items.length;
  if (rest > 0) items.push(make("li", "quiet", `and ${rest} more`));
  return [make("ul", "", ...items)];
}

const WHOLE = isPrefix ? "prefix" : "unfolding";
const eventText = (id) => `${id} ${data.unfolding.lanes[events[id].lane]}: ${events[id].label}`;
const stepText = (id) => `${id + 1} ${run().chart.lanes[steps()[id].lane].name}: ${steps()[id].label}`;
const FATES = {
  open: null,
  deadlock: "every execution with it ends in a deadlock",
  failure: "every execution with it ends in a violation",
};

/** A place, as a row of a table. */
const placeRow = ({ file, line }) => [file ? ["Place", `${file}:${line}`] : ["Line", line && String(line)]];

const selectEvent = (event) => select("unfolding", event);

function aboutEvent(id) {
  const event = events[id];
  const step = run()?.events.lastIndexOf(event.id) ?? -1;
  const history = closure(event.id, causesOf).size;
  return [
    make("h3", "", event.label),
    table([
      ["Event", `${event.id}, at depth ${event.depth}`],
      ["Process", data.unfolding.lanes[event.lane]],
      ["Outcome", event.outcome],
      ...placeRow(event),
      ["History", `${plural(history - 1, "event")} before it`],
      ["Causes", links(event.causes, eventText, selectEvent)],
      ["Cutoff", cutoff(event)],
      ["Conflicts", links(rivals[event.id], eventText, selectEvent)],
      ["Leads to", links(effects[event.id], eventText, selectEvent)],
      ["Go to", isPrefix && run() ? configurationsOf(event.id) : null],
      ["Step", step < 0 ? "no step of this execution" : button(`step ${step + 1} of this execution`, () => go(step + 1))],
      ["Traces", traces(event.id)],
      ["Fate", FATES[event.fate]],
    ]),
  ];
}

/** The event that leads to the same state as a cutoff, so that nothing after the cutoff is drawn. */
function cutoff({ cutoff_of: of }) {
  if (of === undefined) return null;
  const other = of === "start" ? "at the start" : button(`after ${eventText(of)}`, () => selectEvent(of));
  return ["the state is as ", other];
}

function aboutStep(step) {
  const { label, lane, outcome } = steps()[step];
  const event = run().events[step];
  return [
    make("h3", "", label),
    table([
      ["Step", `${step + 1} of ${steps().length}`],
      ["Process", run().chart.lanes[lane].name],
      ["Outcome", outcome],
      ...placeRow(steps()[step]),
      ["Event", event === null ? `not in the picture of the ${WHOLE}` : inUnfolding(event)],
      ["Needs", links(run().causes[step], stepText, (cause) => go(cause + 1))],
      ["Fate", event === null ? null : FATES[events[event].fate]],
    ]),
  ];
}

/** A link to an event in its picture. */
function inUnfolding(event) {
  return button(`${event} of the ${WHOLE}`, () => {
    show("unfolding");
    selectEvent(event);
  });
}

/** A call of UDPOR. */
function aboutNode(id) {
  const node = nodes[id];
  const chose = node.turn === "chose";
  const call = (child) => [child].filter((one) => one !== null && one !== undefined);
  const selectNode = (child) => select("search", child);
  return [
    make("h3", "", nodeText(id)),
    table([
      ["Call", `${id + 1} of ${nodes.length}`],
      ["C", set(node.c)],
      ["D", set(node.d)],
      ["A", set(node.a)],
      ["Chooses", chose ? (events[node.event] ? inUnfolding(node.event) : String(node.event)) : null],
      ["J", chose ? (node.alternative ? set(node.alternative) : node.asked ? "there is none" : "not searched for") : null],
      ["With it", links(call(node.left), nodeText, selectNode)],
      ["Without it", links(call(node.right), nodeText, selectNode)],
      ["Enabled", node.enabled ? set(node.enabled) : null],
      ["Ends in", node.verdict],
      ["Why", node.message],
      ["Called by", links(call(node.parent), nodeText, selectNode)],
    ]),
  ];
}

const nodes = data.search?.nodes ?? [];
const searched = new Map((data.search?.events ?? []).map((event) => [event.id, event]));
const set = (numbers) => (numbers.length === 0 ? "\u2205" : [...numbers].sort((a, b) => a - b).join(", "));
const TURNS = { blocked: "blocked: all enabled events are in D", cut: "cut: too deep" };

function nodeText(id) {
  const { turn, event, configuration, verdict } = nodes[id];
  if (turn === "maximal") return `configuration ${configuration}: ${verdict}`;
  if (turn !== "chose") return TURNS[turn];
  const { lane, label } = searched.get(event);
  return `${event} ${data.search.lanes[lane]}: ${label}`;
}

const ABOUT = { unfolding: aboutEvent, "space-time": aboutStep, search: aboutNode };
const PAST = {
  unfolding: causesOf,
  "space-time": (step) => run().causes[step],
  search: (id) => (nodes[id].parent === null ? [] : [nodes[id].parent]),
};
const PLACES = {
  unfolding: (event) => events[event],
  "space-time": (step) => steps()[step],
  search: (id) => searched.get(nodes[id].event),
};

/** The maximal configurations that an event is in, as links where there is an execution of it. */
function traces(event) {
  const future = closure(event, (one) => effects[one]);
  const found = data.unfolding.configurations.filter(({ last }) => last.some((one) => future.has(one)));
  const items = found.slice(0, 40).flatMap(({ number }) => {
    const index = firstClass + number - 1;
    return [number <= data.classes ? button(figures(number), () => choose(index)) : figures(number), ", "];
  });
  if (found.length > 40) return [...items, `and ${figures(found.length - 40)} more`];
  return items.slice(0, -1);
}

/** Highlights the causes of what was selected by hand, and the events in conflict with it. */
function paintSelection() {
  for (const picture of Object.keys(PICTURES)) {
    const one = drawing(picture);
    if (!one) continue;
    const number = at.selected?.picture === picture ? at.selected.number : -1;
    const node = one.nodes[number];
    one.mark("history", node ? one.withLines(closure(number, PAST[picture]), ".cause, .arrow, .call") : []);
    one.mark("selected", node ? [node] : []);
    const against = node && picture === "unfolding" ? new Set([number, ...rivals[number]]) : new Set();
    one.mark("rival", one.withLines(against, ".conflict").filter((part) => part !== node));
  }
}
