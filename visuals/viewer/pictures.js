// Pictures, whose layout is given, are moved and highlighted by toggling classes.
//
// A drawing names its parts: `data-event`, `data-step` or `data-node` for boxes, `data-from` and
// `data-to` for lines. The cost of each function is independent of the size of a drawing, except
// for those that must look at all of it: opening it, showing it whole. A step touches only what it
// changes.

/** A drawing with its parts by number. It records what it has marked, to unmark it. */
class Drawing {
  constructor(svg, attribute) {
    this.svg = svg;
    this.nodes = [];
    this.lines = [];
    this.marks = {};
    this.done = 0;
    this.place = null;
    this.boxes = [];
    for (const node of this.svg.querySelectorAll(`[data-${attribute}]`)) {
      this.nodes[Number(node.dataset[attribute])] = node;
    }
    for (const line of this.svg.querySelectorAll("[data-to]")) {
      for (const end of [line.dataset.from, line.dataset.to]) if (end) (this.lines[end] ??= []).push(line);
    }
    this.lanes = this.columns();
    this.ends = [...this.svg.querySelectorAll(".end, .wait")];
    this.nodes.forEach((node) => {
      node.classList.add("box");
      node.tabIndex = -1;
      node.setAttribute("role", "button");
      node.setAttribute("aria-label", node.querySelector("title").textContent);
    });
  }

  /** The processes that have columns: their names, and the left edges of their columns and of the
   * next ones. */
  columns() {
    const heads = [...this.svg.querySelectorAll("g[data-lane]:not([class]) > text")];
    const at = (head, name) => Number(head.getAttribute(name));
    return heads.map((head, lane) => {
      const right = heads[lane + 1] ? at(heads[lane + 1], "x") : this.size[0];
      const label = make("span", "", head.textContent);
      return { label, y: at(head, "y"), left: at(head, "x"), right };
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

  /** The place of a box, in the units of the drawing. */
  box(number) {
    return (this.boxes[number] ??= this.measure(number));
  }

  measure(number) {
    const node = this.nodes[number].querySelector("rect");
    const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(node.getAttribute(name)));
    return { x, y, width, height };
  }

  get size() {
    return [this.svg.viewBox.baseVal.width, this.svg.viewBox.baseVal.height];
  }
}

/** The pictures: the name, the kind of boxes, and the first box of each. */
const PICTURES = {
  unfolding: { name: isPrefix ? "Finite prefix" : "Unfolding", attribute: "event", start: () => run()?.events.find((event) => event !== null) ?? 0 },
  "space-time": { name: "Space-time diagram", attribute: "step", start: () => 0 },
  ...(data.search && { search: { name: "Search tree", attribute: "node", start: () => 0 } }),
};
const opened = new Map();
const charts = new WeakMap();

/** A picture that was opened; by default the one that is shown. */
function drawing(picture = at.picture) {
  if (picture === "space-time") return run() && charts.get(run());
  return opened.get(picture);
}

/** A picture, which is opened if necessary. */
function openDrawing(picture) {
  const known = drawing(picture);
  if (known || (picture === "space-time" && !run()?.drawing)) return known;
  const { attribute } = PICTURES[picture];
  if (picture === "space-time") {
    const parsed = new DOMParser().parseFromString(run().drawing(), "image/svg+xml").documentElement;
    charts.set(run(), new Drawing(document.importNode(parsed, true), attribute));
  } else {
    const { content } = $(`drawing-${picture}`);
    opened.set(picture, new Drawing(document.importNode(content, true).querySelector("svg"), attribute));
  }
  return drawing(picture);
}

// ---- pan and zoom

const stage = $("stage");
const paper = $("paper");
const LARGEST = 4;
const READABLE = 0.75;

// At a smaller scale, boxes cannot be distinguished.
const SMALLEST = 0.22;
const EDGE = 30;

/** Puts the picture at a place; `isOurs` if the user did not choose the place. */
function place({ x, y, scale, isOurs = false }) {
  drawing().place = { x, y, scale, isOurs };
  paper.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
  paper.classList.toggle("far", scale < 0.45);
  paintNames();
  paintMapSoon();
}

const move = ({ x, y, scale }) => place({ x, y, scale });

function wholeScale() {
  const [width, height] = drawing().size;
  return Math.min(stage.clientWidth / width, stage.clientHeight / height, 1.5);
}

/** Whether all of the picture is visible. */
function isWhole() {
  const { x, y, scale } = drawing().place;
  const [width, height] = drawing().size;
  const fits = (start, size, room) => start >= -1 && start + size * scale <= room + 1;
  return fits(x, width, stage.clientWidth) && fits(y, height, stage.clientHeight);
}

/** Centres the picture; at a scale of at least `least`, around a box if it does not fit. */
function fit(least, number = around(), isOurs = false) {
  if (!drawing()) return;
  const scale = Math.max(wholeScale(), least);
  const box = drawing().nodes[number] ? drawing().box(number) : { x: 0, y: 0, width: 0, height: 0 };
  const [width, height] = drawing().size;
  const start = (room, size, from, length, share) => {
    if (size * scale <= room) return (room - size * scale) / 2;
    const wish = room * share - (from + length / 2) * scale;
    return Math.max(Math.min(wish, EDGE), room - size * scale - EDGE);
  };
  const x = start(stage.clientWidth, width, box.x, box.width, 0.5);
  const y = start(stage.clientHeight, height, box.y, box.height, 0.3);
  place({ x, y, scale, isOurs });
}

/** The box around which a picture that does not fit is shown: the selected one, the last step, or
 * the beginning. */
function around() {
  return focus() >= 0 ? focus() : PICTURES[at.picture].start();
}

/** The initial place of a picture: all of it, or its beginning at a readable scale. */
function settle() {
  fit(READABLE, around(), true);
}

function zoom(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
  if (!drawing()) return;
  const old = drawing().place;
  const scale = Math.min(Math.max(old.scale * factor, Math.min(wholeScale(), 0.2)), LARGEST);
  const ratio = scale / old.scale;
  move({ x: x - (x - old.x) * ratio, y: y - (y - old.y) * ratio, scale });
}

function pan(dx, dy) {
  if (!drawing()) return;
  const { x, y, scale } = drawing().place;
  move({ x: x + dx, y: y + dy, scale });
}

/** Moves the picture as far as necessary to show a box, or until the box is in the middle. */
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
  if (dx !== 0 || dy !== 0) place({ ...drawing().place, x: x + dx, y: y + dy });
}

// ---- steps in the pictures

function paintSteps() {
  const one = drawing();
  if (!one || !run()) return;
  if (at.picture === "unfolding") paintReached(one);
  if (at.picture === "space-time") paintChart(one);
  paintMapSoon();
}

/** The boxes of the steps taken so far. */
function reachedBoxes() {
  if (!run() || at.picture === "search") return [];
  if (at.picture === "space-time") return Array.from({ length: at.step }, (_, step) => step);
  return [...run().before, ...run().events.slice(0, at.step)];
}

/** Marks the configuration that is reached; only what changed since the picture was last
 * painted. */
function paintReached(one) {
  if (one.run !== run()) {
    one.mark("reached", []);
    one.run = run();
    one.done = 0;
    const before = run().before.map((event) => one.nodes[event]);
    before.forEach((node) => node.classList.add("reached"));
    one.marks.reached = new Set(before);
  }
  const reached = one.marks.reached;
  const toggle = (step, isReached) => {
    // An event of two steps is reached after the second one.
    const isBegun = run().events[step + 1] === run().events[step];
    const node = isBegun ? null : one.nodes[run().events[step]];
    node?.classList.toggle("reached", isReached);
    if (node) reached[isReached ? "add" : "delete"](node);
  };
  while (one.done < at.step) toggle(one.done++, true);
  while (one.done > at.step) toggle(--one.done, false);
  one.mark("current", [one.nodes[run().events[at.step - 1]]].filter(Boolean));
}

function paintChart(one) {
  if (one.run === undefined) {
    one.run = run();
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
