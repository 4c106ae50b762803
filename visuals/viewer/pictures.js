// Pictures that were laid out before, moved about and lit up by toggling classes.
//
// A drawing names its parts: `data-event`, `data-step` or `data-node` for boxes, `data-from` and `data-to` for
// lines. Nothing here depends on how large a drawing is but what looks at all of it on purpose: opening it,
// showing it whole. A step touches what it changes.

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
