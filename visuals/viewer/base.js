// The base of the other parts of the script: the data, the present view, and small helpers.
//
// The script is several files that share one scope: base, executions, pictures, panels, next,
// chosen, frame, viewer, in this order.
//
// `data` is described in src/report/viewer.rs, except for the executions. Everything that is shown
// follows from it and from `at`: the picture, the execution, the number of steps taken, and the
// selected box of the picture; if none is selected, the last step is described. Commands
// (viewer.js) change `at` and call the painters of what they changed.

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const events = data.unfolding.events;
const isPrefix = data.unfolding.what === "prefix";
const at = { picture: null, run: 0, execution: null, step: 0, selected: null, query: "", match: -1 };

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

const plural = (n, one, more = `${one}s`) => `${n.toLocaleString("en-US")} ${n === 1 ? one : more}`;
const placeText = ({ file, line }) => (file ? `${file}:${line}` : `line ${line}`);
const isBad = (verdict) => verdict !== "ok" && verdict !== "incomplete";
const run = () => at.execution;
const steps = () => (run() ? run().chart.steps : []);

/** Scrolls a panel, and nothing else, as far as necessary to show a part of it. */
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
