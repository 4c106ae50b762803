// The viewer: pictures that were laid out before, lit up by toggling classes.
//
// `data` is what src/report/viewer.rs describes. A drawing names its parts: `data-event`, `data-step` or
// `data-node` for boxes, `data-from` and `data-to` for lines. Nothing here depends on how large a drawing is but what looks at
// all of it on purpose: opening it, searching it, going to the nearest box. A step touches what it changes.
//
// Everything that is shown follows from `at`: which picture, which execution, how many of its steps were
// taken, and which box of which picture is selected; if none is, the last step is told. Commands change
// `at` and call the painters of what they changed.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const events = data.unfolding.events;
  const at = { picture: null, run: 0, step: 0, selected: null, query: "", match: -1 };

  // ---- small things

  /** An element with a class and children, which are elements or text. */
  function make(tag, className, ...children) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function button(text, action, className = "link") {
    const element = make("button", className, text);
    element.type = "button";
    element.addEventListener("click", action);
    return element;
  }

  const plural = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
  const isBad = (verdict) => verdict !== "ok" && verdict !== "incomplete";
  const run = () => data.runs[at.run];
  const steps = () => (run() ? run().chart.steps : []);

  /** Scrolls a panel, and nothing else, as far as it takes to see a part of it. */
  function scrollTo(panel, part) {
    const [frame, box] = [panel.getBoundingClientRect(), part.getBoundingClientRect()];
    if (box.top < frame.top) panel.scrollTop += box.top - frame.top;
    else if (box.bottom > frame.bottom) panel.scrollTop += box.bottom - frame.bottom + 20;
  }

  /** All that can be reached from `start` along `next`, itself included. */
  function closure(start, next) {
    const met = new Set([start]);
    for (const item of met) for (const other of next(item)) met.add(other);
    return met;
  }

  // ---- drawings

  /** A drawing with its parts by number. It remembers what it has marked, to unmark it. */
  class Drawing {
    constructor(template, attribute) {
      this.svg = document.importNode(template.content, true).querySelector("svg");
      this.nodes = [];
      this.lines = [];
      this.marks = {};
      this.done = 0;
      this.place = null;
      for (const node of this.svg.querySelectorAll(`[data-${attribute}]`)) {
        this.nodes[Number(node.dataset[attribute])] = node;
      }
      for (const line of this.svg.querySelectorAll("[data-to]")) {
        for (const end of [line.dataset.from, line.dataset.to]) if (end) (this.lines[end] ??= []).push(line);
      }
      this.ends = [...this.svg.querySelectorAll(".end, .wait")];
      this.nodes.forEach((node) => {
        node.classList.add("box");
        node.tabIndex = -1;
        node.setAttribute("role", "button");
        node.setAttribute("aria-label", node.querySelector("title").textContent);
      });
    }

    mark(name, elements) {
      for (const element of this.marks[name] ?? []) element.classList.remove(name);
      for (const element of elements) element.classList.add(name);
      this.marks[name] = elements;
    }

    /** These boxes and the lines between them. */
    withLines(numbers, kind) {
      const found = [...numbers].map((number) => this.nodes[number]).filter(Boolean);
      for (const number of numbers) {
        for (const line of this.lines[number] ?? []) {
          const ends = [Number(line.dataset.from), Number(line.dataset.to)];
          if (line.matches(kind) && ends.every((end) => numbers.has(end))) found.push(line);
        }
      }
      return found;
    }

    /** Where a box is, in the units of the drawing. */
    box(number) {
      const node = this.nodes[number].querySelector("rect");
      const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(node.getAttribute(name)));
      return { x, y, width, height };
    }

    get size() {
      return [this.svg.viewBox.baseVal.width, this.svg.viewBox.baseVal.height];
    }
  }

  /** The pictures: how each is called, which template it has, and what its boxes are. */
  const PICTURES = {
    unfolding: { name: "Unfolding", template: () => "unfolding", attribute: "event" },
    "space-time": { name: "Space-time diagram", template: () => `space-time-${at.run}`, attribute: "step" },
    search: { name: "Search tree", template: () => "search", attribute: "node" },
  };
  const opened = new Map();

  function drawing(picture = at.picture) {
    const name = PICTURES[picture].template();
    if (!opened.has(name)) {
      const template = $(`drawing-${name}`);
      opened.set(name, template && new Drawing(template, PICTURES[picture].attribute));
    }
    return opened.get(name);
  }

  // ---- pan and zoom

  const stage = $("stage");
  const paper = $("paper");
  const LARGEST = 4;
  const READABLE = 0.75;

  function place({ x, y, scale }) {
    drawing().place = { x, y, scale };
    paper.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
  }

  function wholeScale() {
    const [width, height] = drawing().size;
    return Math.min(stage.clientWidth / width, stage.clientHeight / height, 1.5);
  }

  /** All of it, or from its beginning on at a size at which it can be read. */
  function fit(least) {
    const scale = Math.max(wholeScale(), least);
    const [width, height] = drawing().size;
    const middle = (room, size) => Math.max((room - size * scale) / 2, 0);
    place({ x: middle(stage.clientWidth, width), y: middle(stage.clientHeight, height), scale });
  }

  function zoom(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
    const old = drawing().place;
    const scale = Math.min(Math.max(old.scale * factor, Math.min(wholeScale(), 0.2)), LARGEST);
    const ratio = scale / old.scale;
    place({ x: x - (x - old.x) * ratio, y: y - (y - old.y) * ratio, scale });
  }

  function pan(dx, dy) {
    const { x, y, scale } = drawing().place;
    place({ x: x + dx, y: y + dy, scale });
  }

  /** Moves the picture as far as it takes to see a box; or until it is in the middle. */
  function reveal(number, toMiddle = false) {
    if (!drawing()?.nodes[number]) return;
    const box = drawing().box(number);
    const { x, y, scale } = drawing().place;
    const move = (start, size, room) => {
      const margin = Math.min(40, Math.max(room - size, 0) / 2);
      if (toMiddle) return (room - size) / 2 - start;
      return Math.max(margin - start, 0) || Math.min(room - margin - size - start, 0);
    };
    const dx = move(box.x * scale + x, box.width * scale, stage.clientWidth);
    const dy = move(box.y * scale + y, box.height * scale, stage.clientHeight);
    if (dx !== 0 || dy !== 0) pan(dx, dy);
  }

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

    /** Goes there; the topics that it came by. */
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
    ["barrier", "Barriers"],
    ["cell", "Shared cells"],
  ];
  const WORDS = { place: "at", wait: "waits for", inbox: "messages" };
  const OF_PROCESS = ["place", "wait", "inbox", "variable"];
  const QUIET = ["none", "free", "nobody", "ended", "at rest"];
  const panels = new Map();

  /** The state of an execution as rows, one for each topic. */
  function panel() {
    if (!panels.has(at.run)) panels.set(at.run, makePanel(run()));
    return panels.get(at.run);
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
    if (!run()) return;
    const shown = panel();
    const touched = shown.states.go(at.step);
    for (const topic of [...shown.changed, ...touched]) paintFact(shown, topic);
    const undo = shown.states.undo[at.step - 1] ?? [];
    shown.changed = undo.map(([topic]) => topic);
    undo.forEach(([topic, before]) => paintFact(shown, topic, before ?? ""));
    const mover = steps()[at.step - 1]?.lane;
    shown.lanes.forEach((heading, lane) => heading.classList.toggle("mover", lane === mover));
    if ($("facts").firstChild !== shown.root) $("facts").replaceChildren(shown.root);
    paintEnding();
    if (shown.changed.length > 0) scrollTo($("facts"), shown.rows[shown.changed[0]]);
    paintPlaces(shown);
  }

  /** What is wrong at the end, and who waits for whom. */
  function paintEnding() {
    const { verdict, message, cycle, lanes } = run().chart;
    const words = { ok: "Nothing is left to be done, and nothing is wrong.", incomplete: "Something can still move." };
    const box = $("ending");
    box.hidden = at.step < steps().length;
    box.classList.toggle("bad", isBad(verdict));
    const told = message ?? words[verdict] ?? "";
    const word = isBad(verdict) && !told.startsWith(verdict) ? `${verdict}: ` : "";
    const text = make("p", "", make("strong", "", word), told);
    box.replaceChildren(text, ...(cycle.length > 0 ? [make("p", "cycle", circle({ cycle, lanes }))] : []));
  }

  function circle({ cycle, lanes }) {
    const next = (lane) => lanes[lane].end.helpers ?? [];
    const names = cycle.map((lane) => lanes[lane].name);
    const isCircle = cycle.every((lane, index) => next(lane).length === 1 && next(lane)[0] === cycle[(index + 1) % cycle.length]);
    return isCircle
      ? `Each waits for the next: ${[...names, names[0]].join(" \u2192 ")}`
      : `No one outside could help these: ${names.join(", ")}`;
  }

  // ---- source

  const lines = [];

  function paintSource() {
    const busy = new Set([...events, ...data.runs.flatMap((one) => one.chart.steps)].map(({ line }) => line));
    data.source.split("\n").forEach((text, index) => {
      const number = make("span", "number", String(index + 1));
      if (busy.has(index + 1)) {
        number.classList.add("busy");
        number.title = "Find what is done here";
        number.addEventListener("click", () => search(`line ${index + 1}`));
      }
      const line = make("div", "line", number, make("code", "", ...coloured(text)), make("span", "there"));
      lines.push(line);
    });
    $("lines").append(...lines);
  }

  let inComment = false;
  const TOKEN = /(\/\*.*?(?:\*\/|$)|\/\/.*$|"(?:[^"\\]|\\.)*"|\b(?:const|mailbox|mutex|semaphore|barrier|shared|enum|fn|process|actor|on|when|internal|init|final|let|var|if|else|while|for|in|match|break|continue|return|spawn|true|false)\b)/;

  /** A line of the source as pieces of text and spans. */
  function coloured(text) {
    if (inComment) {
      const end = text.indexOf("*/");
      inComment = end < 0;
      return end < 0 ? [make("span", "comment", text)] : [make("span", "comment", text.slice(0, end + 2)), ...coloured(text.slice(end + 2))];
    }
    return text.split(TOKEN).map((piece, index) => {
      if (index % 2 === 0) return piece;
      if (piece.startsWith("/*")) inComment = !piece.endsWith("*/");
      const kind = piece.startsWith("/") ? "comment" : piece.startsWith('"') ? "text" : "word";
      return make("span", kind, piece);
    });
  }

  let here = null;

  function paintLine(line) {
    here?.classList.remove("here");
    here = lines[line - 1] ?? null;
    if (!here) return;
    here.classList.add("here");
    scrollTo($("lines"), here);
  }

  let occupied = [];

  /** Beside each line the processes that are there. */
  function paintPlaces({ topics, states }) {
    const there = new Map();
    topics.forEach(({ kind, lane }, topic) => {
      const line = kind === "place" && /^line (\d+):/.exec(states.values[topic] ?? "")?.[1];
      if (line) there.set(line, [...(there.get(line) ?? []), run().chart.lanes[lane].name]);
    });
    occupied.forEach((line) => (lines[line - 1].lastChild.textContent = ""));
    occupied = [...there.keys()].filter((line) => lines[line - 1]);
    for (const line of occupied) {
      const names = there.get(line);
      lines[line - 1].lastChild.textContent = names.length === 1 ? names[0] : `${names.length} processes`;
      lines[line - 1].lastChild.title = names.join(", ");
    }
  }

  // ---- what is selected

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
    const told = number < 0 ? [make("p", "quiet", "Click an event, or step through an execution: j and k.")] : ABOUT[picture](number);
    $("about").replaceChildren(...told);
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

  /** Links to events or steps, one a line, not too many. */
  function links(numbers, text, action) {
    if (numbers.length === 0) return [];
    const items = numbers.slice(0, MOST_LINKS).map((number) => make("li", "", button(text(number), () => action(number))));
    const rest = numbers.length - items.length;
    if (rest > 0) items.push(make("li", "quiet", `and ${rest} more`));
    return [make("ul", "", ...items)];
  }

  const eventText = (id) => `${id} ${data.unfolding.lanes[events[id].lane]}: ${events[id].label}`;
  const stepText = (id) => `${id + 1} ${run().chart.lanes[steps()[id].lane].name}: ${steps()[id].label}`;
  const FATES = {
    open: null,
    deadlock: "every execution with it ends in a deadlock",
    failure: "every execution with it ends in a violation",
  };

  const selectEvent = (event) => select("unfolding", event);

  function aboutEvent(id) {
    const event = events[id];
    const step = run()?.events.indexOf(event.id) ?? -1;
    const history = closure(event.id, causesOf).size;
    return [
      make("h3", "", event.label),
      table([
        ["Event", `${event.id}, at depth ${event.depth}`],
        ["Process", data.unfolding.lanes[event.lane]],
        ["Outcome", event.outcome],
        ["Line", event.line && String(event.line)],
        ["History", `${plural(history - 1, "event")} before it`],
        ["Causes", links(event.causes, eventText, selectEvent)],
        ["Conflicts", links(rivals[event.id], eventText, selectEvent)],
        ["Leads to", links(effects[event.id], eventText, selectEvent)],
        ["Step", step < 0 ? "no step of this execution" : button(`step ${step + 1} of this execution`, () => go(step + 1))],
        ["Traces", traces(event.id)],
        ["Fate", FATES[event.fate]],
      ]),
    ];
  }

  function aboutStep(step) {
    const { label, lane, outcome, line } = steps()[step];
    const event = run().events[step];
    return [
      make("h3", "", label),
      table([
        ["Step", `${step + 1} of ${steps().length}`],
        ["Process", run().chart.lanes[lane].name],
        ["Outcome", outcome],
        ["Line", line && String(line)],
        ["Event", event === null ? "not in the picture of the unfolding" : inUnfolding(event)],
        ["Needs", links(run().causes[step], stepText, (cause) => go(cause + 1))],
        ["Fate", event === null ? null : FATES[events[event].fate]],
      ]),
    ];
  }

  /** A link to an event in its picture. */
  function inUnfolding(event) {
    return button(`${event} of the unfolding`, () => {
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
        ["J", chose ? (node.alternative ? set(node.alternative) : node.asked ? "there is none" : "not looked for") : null],
        ["With it", links(call(node.left), nodeText, selectNode)],
        ["Without it", links(call(node.right), nodeText, selectNode)],
        ["Enabled", node.enabled ? set(node.enabled) : null],
        ["Ends in", node.verdict],
        ["Why", node.message],
        ["Called by", links(call(node.parent), nodeText, selectNode)],
      ]),
    ];
  }

  const nodes = data.search.nodes;
  const searched = new Map(data.search.events.map((event) => [event.id, event]));
  const set = (numbers) => (numbers.length === 0 ? "\u2205" : [...numbers].sort((a, b) => a - b).join(", "));
  const TURNS = { blocked: "blocked: all enabled is in D", cut: "cut: too deep" };

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
  const LINES = {
    unfolding: (event) => events[event].line,
    "space-time": (step) => steps()[step]?.line,
    search: (id) => searched.get(nodes[id].event)?.line,
  };

  /** The maximal configurations that an event is in, as links where there is an execution of it. */
  function traces(event) {
    const future = closure(event, (one) => effects[one]);
    const found = data.unfolding.configurations.filter(({ last }) => last.some((one) => future.has(one)));
    const runs = new Map(data.runs.map(({ configuration }, index) => [configuration, index]));
    const items = found.slice(0, 40).flatMap(({ number }) => {
      const text = String(number);
      return [runs.has(number) ? button(text, () => choose(runs.get(number))) : text, ", "];
    });
    if (found.length > 40) return [...items, `and ${found.length - 40} more`];
    return items.slice(0, -1);
  }

  /** Lights up what had to come before what was selected by hand, and its rivals. */
  function paintSelection() {
    for (const picture of Object.keys(PICTURES)) {
      const one = opened.get(PICTURES[picture].template());
      if (!one) continue;
      const number = at.selected?.picture === picture ? at.selected.number : -1;
      const node = one.nodes[number];
      one.mark("history", node ? one.withLines(closure(number, PAST[picture]), ".cause, .arrow, .call") : []);
      one.mark("selected", node ? [node] : []);
      const against = node && picture === "unfolding" ? new Set([number, ...rivals[number]]) : new Set();
      one.mark("rival", one.withLines(against, ".conflict").filter((part) => part !== node));
    }
  }

  // ---- steps in the pictures

  function paintSteps() {
    const one = drawing();
    if (!one || !run()) return;
    if (at.picture === "unfolding") paintReached(one);
    if (at.picture === "space-time") paintChart(one);
  }

  /** The configuration reached: what was done since the picture was last painted, and no more. */
  function paintReached(one) {
    if (one.run !== at.run) {
      one.mark("reached", []);
      one.run = at.run;
      one.done = 0;
      const before = run().before.map((event) => one.nodes[event]);
      before.forEach((node) => node.classList.add("reached"));
      one.marks.reached = new Set(before);
    }
    const reached = one.marks.reached;
    const toggle = (step, isReached) => {
      const node = one.nodes[run().events[step]];
      node?.classList.toggle("reached", isReached);
      if (node) reached[isReached ? "add" : "delete"](node);
    };
    while (one.done < at.step) toggle(one.done++, true);
    while (one.done > at.step) toggle(--one.done, false);
    one.mark("current", [one.nodes[run().events[at.step - 1]]].filter(Boolean));
  }

  function paintChart(one) {
    if (one.run === undefined) {
      one.run = at.run;
      one.done = steps().length;
    }
    const toggle = (step, isFuture) => {
      one.nodes[step].classList.toggle("future", isFuture);
      for (const line of one.lines[step] ?? []) {
        if (Number(line.dataset.to) === step) line.classList.toggle("future", isFuture);
      }
    };
    while (one.done < at.step) toggle(one.done++, false);
    while (one.done > at.step) toggle(--one.done, true);
    const isEnd = at.step === steps().length;
    one.ends.forEach((end) => end.classList.toggle("future", !isEnd));
    one.mark("lit", isEnd ? one.ends : []);
    one.mark("current", at.step > 0 ? [one.nodes[at.step - 1]] : []);
  }

  function paintPlayer() {
    const total = steps().length;
    $("slider").max = total;
    $("slider").value = at.step;
    $("slider").disabled = total === 0;
    for (const id of ["first", "back"]) $(id).disabled = at.step === 0;
    for (const id of ["forth", "last"]) $(id).disabled = at.step === total;
    const last = steps()[at.step - 1];
    const words = last
      ? `step ${at.step} of ${total}: ${run().chart.lanes[last.lane].name}: ${last.label}${last.outcome ? ` \u2013 ${last.outcome}` : ""}`
      : run() ? `before the first of ${plural(total, "step")}` : "no execution";
    $("now").textContent = words;
    $("now").title = words;
    $("slider").setAttribute("aria-valuetext", words);
    const title = $("state-title");
    title.replaceChildren("State", make("small", "", run() ? `after ${at.step} of ${plural(total, "step")}` : "of no execution"));
  }

  // ---- search

  function texts(picture) {
    if (picture === "search") return nodes.map((node, id) => `${nodeText(id)} ${node.message ?? ""} line ${LINES.search(id) ?? ""}.`.toLowerCase());
    const lanes = picture === "unfolding" ? data.unfolding.lanes : run()?.chart.lanes.map(({ name }) => name);
    const items = picture === "unfolding" ? events : steps();
    return items.map(({ lane, label, outcome, line }) => `${lanes[lane]} ${label} ${outcome ?? ""} line ${line ?? ""}.`.toLowerCase());
  }

  let matches = [];

  function search(query) {
    at.query = query.trim().toLowerCase();
    if ($("query").value !== query) $("query").value = query;
    at.match = -1;
    paintMatches();
  }

  function paintMatches() {
    // A line is meant as a whole: line 7 is not line 70.
    const wanted = /^line \d+$/.test(at.query) ? `${at.query}.` : at.query;
    matches = wanted === "" ? [] : texts(at.picture).flatMap((text, number) => (text.includes(wanted) ? [number] : []));
    drawing()?.mark("match", matches.map((number) => drawing().nodes[number]).filter(Boolean));
    const count = at.match < 0 ? plural(matches.length, "match").replace("matchs", "matches") : `${at.match + 1} of ${matches.length}`;
    $("matches").textContent = at.query === "" ? "" : count;
  }

  function nextMatch(direction) {
    if (matches.length === 0) return;
    const start = at.match < 0 && direction < 0 ? 0 : at.match;
    at.match = (start + direction + matches.length) % matches.length;
    pick(matches[at.match]);
    paintMatches();
  }

  // ---- commands

  /** Selects a box. */
  function select(picture, number) {
    at.selected = { picture, number };
    paintSelection();
    paintAbout();
    paintLine(LINES[picture](number));
    if (at.picture === picture) reveal(number);
  }

  function selectNothing() {
    at.selected = null;
    paintSelection();
    paintAbout();
    paintLine(steps()[at.step - 1]?.line);
  }

  /** After so many steps; nothing else is selected then. */
  function go(step) {
    at.step = Math.min(Math.max(step, 0), steps().length);
    paintSteps();
    paintState();
    paintPlayer();
    selectNothing();
    if (lastBox() >= 0) reveal(lastBox());
  }

  /** The box of the last step in the picture shown, or -1. */
  function lastBox() {
    const boxes = { unfolding: run()?.events[at.step - 1], "space-time": at.step - 1 };
    return boxes[at.picture] ?? -1;
  }

  /** What a click on a box, or Enter on it, does. */
  function pick(number) {
    if (at.picture === "space-time") go(number + 1);
    select(at.picture, number);
  }

  /** Begins another execution. What is selected in other pictures than its own stays so. */
  function choose(index) {
    const selected = at.selected?.picture === "space-time" ? null : at.selected;
    at.run = index;
    [...$("runs").querySelectorAll("button")].forEach((item, number) => item.setAttribute("aria-current", String(number === index)));
    if (at.picture === "space-time") show("space-time");
    go(0);
    if (selected) select(selected.picture, selected.number);
  }

  /** Changes the picture. */
  function show(picture) {
    at.picture = picture;
    for (const tab of $("tabs").children) {
      const isShown = tab.dataset.picture === picture;
      tab.setAttribute("aria-selected", String(isShown));
      tab.tabIndex = isShown ? 0 : -1;
      if (isShown) stage.setAttribute("aria-labelledby", tab.id);
    }
    const one = drawing();
    paper.replaceChildren(one ? one.svg : make("p", "quiet", "There is no execution to draw."));
    if (one?.place) place(one.place);
    else if (one) fit(READABLE);
    paintSteps();
    paintSelection();
    if (focus() >= 0) reveal(focus());
    search($("query").value);
  }

  /** The box that is selected in the picture shown, or else that of the last step; or -1. */
  function focus() {
    return at.selected?.picture === at.picture ? at.selected.number : lastBox();
  }

  /** The box that is nearest in a direction, preferring those straight ahead. */
  function neighbour(dx, dy) {
    const one = drawing();
    const from = focus();
    if (!one.nodes[from]) return one.nodes.findIndex(Boolean);
    const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
    const [x, y] = middle(one.box(from));
    let [best, least] = [-1, Infinity];
    one.nodes.forEach((_, number) => {
      const [a, b] = middle(one.box(number));
      const ahead = (a - x) * dx + (b - y) * dy;
      const aside = Math.abs((a - x) * dy) + Math.abs((b - y) * dx);
      if (ahead > 1 && ahead + 3 * aside < least) [best, least] = [number, ahead + 3 * aside];
    });
    return best;
  }

  function walk(dx, dy) {
    const number = neighbour(dx, dy);
    if (number < 0) return;
    pick(number);
    drawing().nodes[number].focus({ preventScroll: true });
  }

  function centre() {
    if (focus() < 0) return;
    zoom(Math.max(1, READABLE / drawing().place.scale));
    reveal(focus(), true);
  }

  function toggleTheme() {
    const isDark = getComputedStyle(document.documentElement).colorScheme === "dark"
      || (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = isDark ? "light" : "dark";
  }

  // ---- keys, mouse, and the frame of the page

  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const KEYS = {
    j: () => go(at.step + 1),
    k: () => go(at.step - 1),
    Home: () => go(0),
    End: () => go(steps().length),
    "]": () => choose(Math.max(Math.min(at.run + 1, data.runs.length - 1), 0)),
    "[": () => choose(Math.max(at.run - 1, 0)),
    "+": () => zoom(1.25),
    "=": () => zoom(1.25),
    "-": () => zoom(0.8),
    0: () => fit(0),
    c: centre,
    t: toggleTheme,
    "/": () => $("query").select(),
    "?": () => $("help").showModal(),
    Escape: () => {
      search("");
      selectNothing();
    },
  };

  function onKey(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || $("help").open) return;
    if (event.target === $("query")) return onQueryKey(event);
    const isOnStage = stage.contains(event.target);
    const arrow = ARROWS[event.key];
    const tab = Number(event.key) >= 1 ? $("tabs").children[Number(event.key) - 1] : null;
    if (arrow && isOnStage && event.shiftKey) pan(-80 * arrow[0], -80 * arrow[1]);
    else if (arrow && isOnStage && drawing()) walk(...arrow);
    else if (arrow && event.target.getAttribute("role") === "tab") turnTab(arrow[0] + arrow[1]);
    else if (event.key === "Enter" && drawing()?.nodes.includes(event.target)) pick(drawing().nodes.indexOf(event.target));
    else if (tab) show(tab.dataset.picture);
    else if (KEYS[event.key] && !(event.target === $("slider") && event.key.length > 1)) KEYS[event.key]();
    else return;
    event.preventDefault();
  }

  function onQueryKey(event) {
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      KEYS.Escape();
      stage.focus();
    } else return;
    event.preventDefault();
  }

  function turnTab(by) {
    const tabs = [...$("tabs").children];
    const next = tabs[(tabs.findIndex((tab) => tab.tabIndex === 0) + by + tabs.length) % tabs.length];
    show(next.dataset.picture);
    next.focus();
  }

  function listenToMouse() {
    let from = null;
    stage.addEventListener("pointerdown", (event) => {
      if (event.button === 0) from = { x: event.clientX, y: event.clientY, moved: false };
    });
    stage.addEventListener("pointermove", (event) => {
      if (!from) return;
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      if (!from.moved && Math.hypot(dx, dy) < 4) return;
      if (!from.moved) stage.setPointerCapture(event.pointerId);
      stage.classList.add("dragging");
      from = { x: event.clientX, y: event.clientY, moved: true };
      if (drawing()) pan(dx, dy);
    });
    stage.addEventListener("pointerup", (event) => {
      stage.classList.remove("dragging");
      const wasClick = from && !from.moved;
      from = null;
      const node = wasClick && event.target.closest(".box");
      if (node) {
        pick(drawing().nodes.indexOf(node));
        node.focus({ preventScroll: true });
      } else if (wasClick) selectNothing();
    });
    stage.addEventListener("pointercancel", () => (from = null));
    stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (!drawing()) return;
      const frame = stage.getBoundingClientRect();
      if (event.shiftKey) pan(-event.deltaY - event.deltaX, 0);
      else zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - frame.x, event.clientY - frame.y);
    }, { passive: false });
  }

  function listRuns() {
    data.runs.forEach(({ name, chart, configuration }, index) => {
      const isTrace = configuration === null || name === `Trace ${configuration}`;
      const meta = [plural(chart.steps.length, "step"), isTrace ? null : `trace ${configuration}`].filter(Boolean);
      const verdict = make("span", `verdict ${isBad(chart.verdict) ? "bad" : chart.verdict}`, chart.verdict);
      const item = button("", () => choose(index), "");
      item.append(make("span", "name", name), verdict, make("span", "meta", meta.join(", ")));
      if (chart.message) item.append(make("span", "message", chart.message));
      $("runs").append(make("li", "", item));
    });
    if (data.runs.length === 0) $("runs").append(make("li", "quiet", "None was followed to its end."));
    const missing = [...data.left_out, ...new Set(data.runs.flatMap(({ chart }) => chart.left_out))];
    $("left-out").append(...missing.map((note) => make("p", "", `Left out: ${note}.`)));
  }

  function listTabs() {
    Object.entries(PICTURES).forEach(([picture, { name }], index) => {
      const tab = button(name, () => show(picture), "");
      tab.id = `tab-${picture}`;
      tab.dataset.picture = picture;
      tab.title = `${name} (${index + 1})`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", "stage");
      $("tabs").append(tab);
    });
  }

  function listen() {
    document.addEventListener("keydown", onKey);
    $("search").addEventListener("submit", (event) => event.preventDefault());
    $("query").addEventListener("input", () => search($("query").value));
    $("theme").addEventListener("click", toggleTheme);
    $("ask").addEventListener("click", KEYS["?"]);
    $("closer").addEventListener("click", () => zoom(1.25));
    $("wider").addEventListener("click", () => zoom(0.8));
    $("whole").addEventListener("click", () => fit(0));
    $("first").addEventListener("click", () => go(0));
    $("back").addEventListener("click", () => go(at.step - 1));
    $("forth").addEventListener("click", () => go(at.step + 1));
    $("last").addEventListener("click", () => go(steps().length));
    $("slider").addEventListener("input", () => go(Number($("slider").value)));
    listenToMouse();
  }

  listTabs();
  listRuns();
  paintSource();
  listen();
  show(data.start);
  choose(0);
  // Drawn, that is; timings count up to here.
  requestAnimationFrame(() => setTimeout(() => performance.mark("ready")));
})();
