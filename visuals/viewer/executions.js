// The list of executions, how they end, and the shelves that contain them.
//
// There may be thousands. The end of each is known; its steps, states and drawing are on a
// compressed shelf of fifty executions. A shelf is opened when one of its executions is needed, and
// a few shelves stay open.

/** How each execution ends: those of no class, then one of each class. */
const ends = [...data.others, ...data.unfolding.configurations.slice(0, data.classes)];
const names = new Map(data.asked);
const firstClass = data.others.length;
const figures = (n) => n.toLocaleString("en-US");

const shelves = new Map();
const KEPT = 6;

/** The shelf with this number, if it is open. */
function shelf(number) {
  const open = shelves.get(number);
  if (!open) return null;
  // The least recently used one is the first in the map.
  shelves.delete(number);
  shelves.set(number, open);
  return open;
}

async function openShelf(number) {
  const bytes = Uint8Array.from(atob($(`shelf-${number}`).textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  const { runs, lines, drawings } = await new Response(stream).json();
  runs.forEach((one, place) => (one.drawing = () => drawings[place].map((line) => lines[line]).join("\n")));
  shelves.set(number, runs);
  if (shelves.size > KEPT) shelves.delete(shelves.keys().next().value);
}

// The execution asked for last; `at.run` follows when its shelf is open.
let wanted = 0;

/** Calls `then` with an execution: at once if its shelf is open, and not at all if another one is
 * requested before that. */
function fetchRun(index, then) {
  wanted = index;
  const number = Math.floor(index / data.shelf);
  const found = () => then(shelf(number)[index % data.shelf]);
  if (shelf(number)) found();
  else openShelf(number).then(() => wanted === index && found());
}

// ---- the executions that are gone through

const endingOf = ({ verdict, message }) => {
  if (!message) return verdict;
  return message.startsWith(verdict) ? message : `${verdict}: ${message}`;
};

/**
 * The kinds of ends with their executions, preceded by all executions and by those that end badly.
 * Executions without a class are not counted: they are only a beginning of one, or the search has
 * not visited their class.
 */
function listEndings() {
  const every = ends.map((_, index) => index).slice(data.classes > 0 ? firstClass : 0);
  const kinds = new Map();
  every.forEach((index) => {
    const kind = endingOf(ends[index]);
    if (!kinds.has(kind)) kinds.set(kind, []);
    kinds.get(kind).push(index);
  });
  const bad = every.filter((index) => isBad(ends[index].verdict));
  const choices = [["all executions", every]];
  if (bad.length > 0 && bad.length < every.length) choices.push(["those that end badly", bad]);
  if (kinds.size > 1) choices.push(...kinds);
  return choices;
}

const endings = listEndings();
let filter = 0;

/** The next or previous execution among those gone through. */
function turn(by) {
  const list = endings[filter][1];
  const next = by > 0 ? list.find((index) => index > wanted) : list.findLast((index) => index < wanted);
  if (next !== undefined) choose(next);
}

function goThrough(number) {
  filter = number;
  const list = endings[filter][1];
  if (list.length > 0 && !list.includes(wanted)) choose(list.find((index) => index > wanted) ?? list[0]);
  else paintExecution();
}

/** Goes to the class with this number. */
function jump(text) {
  const number = Math.round(Number(text.replaceAll(/[\s,.]/g, "")));
  if (!Number.isFinite(number) || number < 1 || data.classes === 0) return paintExecution();
  const index = firstClass + Math.min(number, data.classes) - 1;
  if (index === wanted) paintExecution();
  else choose(index);
}

/** Shows which execution is shown, and its place among those gone through. */
function paintExecution() {
  const list = endings[filter][1];
  const isClass = at.run >= firstClass;
  $("class").value = isClass && ends.length > 0 ? figures(at.run - firstClass + 1) : "";
  $("filter").value = String(filter);
  $("previous").disabled = !list.some((index) => index < at.run);
  $("next").disabled = !list.some((index) => index > at.run);
  for (const item of $("runs").querySelectorAll("button")) {
    item.setAttribute("aria-current", String(Number(item.dataset.run) === at.run));
  }
  const notes = [...data.left_out, ...(run()?.chart.left_out ?? [])];
  $("left-out").replaceChildren(...notes.map((note) => make("p", "", `Left out: ${note}.`)));
  if (!run()) return $("run").replaceChildren(make("p", "quiet", "None was followed to its end."));
  if (run().isChosen) return $("run").replaceChildren(make("p", "quiet", `${plural(steps().length, "event")}, chosen one by one`));
  const place = list.indexOf(at.run);
  const among = filter > 0 && place >= 0 ? `${figures(place + 1)} of ${figures(list.length)} of this kind, ` : "";
  const { verdict, message } = ends[at.run];
  $("run").replaceChildren(
    make("span", `verdict ${isBad(verdict) ? "bad" : verdict}`, verdict),
    make("span", "meta", `${among}${plural(steps().length, "step")}`),
    message ? make("p", "message", message) : "",
  );
}

function listExecutions() {
  $("classes").textContent = figures(data.classes);
  $("turn").hidden = ends.length === 0;
  for (const part of $("turn").querySelectorAll("label, span")) part.hidden = data.classes === 0;
  $("filter").hidden = endings.length === 1;
  endings.forEach(([kind, list], number) => {
    const option = make("option", "", `${kind} (${figures(list.length)})`);
    option.value = String(number);
    $("filter").append(option);
  });
  for (const [index, name] of names) {
    const item = button(name, () => choose(index), "");
    item.dataset.run = String(index);
    item.append(make("span", "meta", index >= firstClass ? `class ${figures(index - firstClass + 1)}` : isPrefix ? "" : "no class of its own"));
    $("runs").append(make("li", "", item));
  }
  $("filter").addEventListener("change", () => goThrough(Number($("filter").value)));
  $("previous").addEventListener("click", () => turn(-1));
  $("next").addEventListener("click", () => turn(1));
  $("turn").addEventListener("submit", (event) => event.preventDefault());
  $("class").addEventListener("change", () => jump($("class").value));
  $("class").addEventListener("focus", () => $("class").select());
}
