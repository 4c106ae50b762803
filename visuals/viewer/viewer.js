// The actions of the user: stepping, selecting, searching, by mouse and by keys. This is the last
// part of the script: it ends by showing the first picture.

// ---- the line below the picture

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
  if (picture === "search") return nodes.map((node, id) => `${nodeText(id)} ${node.message ?? ""} ${whereText(PLACES.search(id))}`.toLowerCase());
  const lanes = picture === "unfolding" ? data.unfolding.lanes : run()?.chart.lanes.map(({ name }) => name);
  const items = picture === "unfolding" ? events : steps();
  return items.map((item) => `${lanes[item.lane]} ${item.label} ${item.outcome ?? ""} ${whereText(item)}`.toLowerCase());
}

/** The text by which a place is found: its line, and the file with the line. */
const whereText = (place) => (place?.line ? `line ${place.line}. ${placeText(place)}.` : "");

let matches = [];

function search(query) {
  at.query = query.trim().toLowerCase();
  if ($("query").value !== query) $("query").value = query;
  at.match = -1;
  paintMatches();
}

function paintMatches() {
  // A line number is matched as a whole: line 7 does not match line 70.
  const wanted = /^line \d+$|:\d+$/.test(at.query) ? `${at.query}.` : at.query;
  matches = wanted === "" ? [] : texts(at.picture).flatMap((text, number) => (text.includes(wanted) ? [number] : []));
  drawing()?.mark("match", matches.map((number) => drawing().nodes[number]).filter(Boolean));
  const count = at.match < 0 ? plural(matches.length, "match", "matches") : `${at.match + 1} of ${matches.length}`;
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
  paintLine(PLACES[picture](number));
  if (at.picture === picture) reveal(number);
}

function selectNothing() {
  at.selected = null;
  paintSelection();
  paintAbout();
  paintLine(steps()[at.step - 1]);
}

/** Goes to the state after this number of steps, and selects nothing else. */
function go(step) {
  at.step = Math.min(Math.max(step, 0), steps().length);
  paintSteps();
  paintState();
  paintNext();
  paintPlayer();
  selectNothing();
  if (lastBox() >= 0) reveal(lastBox());
}

/** The box of the last step in the picture shown, or -1. */
function lastBox() {
  const boxes = { unfolding: run()?.events[at.step - 1], "space-time": at.step - 1 };
  return boxes[at.picture] ?? -1;
}

/** The effect of a click on a box, or of Enter. */
function pick(number) {
  if (at.picture === "space-time") go(number + 1);
  select(at.picture, number);
}

/**
 * Starts another execution, at its end if the previous one was at its end. Selections in pictures
 * other than its own stay.
 */
function choose(index) {
  fetchRun(index, (execution) => begin(index, execution));
}

function begin(index, execution) {
  const isAtEnd = steps().length > 0 && at.step === steps().length;
  const selected = at.selected?.picture === "space-time" ? null : at.selected;
  const before = drawing("space-time")?.place;
  at.run = index;
  at.execution = execution;
  at.selected = null;
  at.step = isAtEnd ? steps().length : 0;
  if (at.picture === "space-time") {
    const one = openDrawing("space-time");
    if (one && before && !before.isOurs) one.place ??= before;
    show("space-time");
  }
  paintExecution();
  go(at.step);
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
  const one = openDrawing(picture);
  const none = run() ? "There is no diagram of events that were chosen one by one." : "There is no execution to draw.";
  paper.replaceChildren(one ? one.svg : make("p", "quiet", none));
  if (one?.place) place(one.place);
  else if (one) settle();
  else paper.style.transform = `translate(${EDGE}px, ${EDGE}px)`;
  map.hidden = !one;
  paintSteps();
  paintNext();
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
  if (focus() < 0 || !drawing()) return;
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
  "]": () => turn(1),
  "[": () => turn(-1),
  "+": () => zoom(1.25),
  "=": () => zoom(1.25),
  "-": () => zoom(0.8),
  0: () => fit(SMALLEST),
  g: () => $("class").focus(),
  n: () => $("upcoming").querySelector("button")?.focus(),
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
  if (event.target === $("class") || event.target === $("filter")) return onFormKey(event);
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

/** In the fields for the class number and the endings, keys have their usual meaning. */
function onFormKey(event) {
  if (event.key === "Enter" && event.target === $("class")) jump($("class").value);
  else if (event.key === "Escape") paintExecution();
  else return;
  stage.focus();
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
  $("whole").addEventListener("click", () => fit(SMALLEST));
  $("first").addEventListener("click", () => go(0));
  $("back").addEventListener("click", () => go(at.step - 1));
  $("forth").addEventListener("click", () => go(at.step + 1));
  $("last").addEventListener("click", () => go(steps().length));
  $("slider").addEventListener("input", () => go(Number($("slider").value)));
  listenToMouse();
  listenToFrame();
}

/** Shows the first execution, and its violation if it has one. */
function start() {
  show(data.start);
  paintExecution();
  go(run() && isBad(run().chart.verdict) ? steps().length : 0);
  // Drawn, that is; timings count up to here.
  requestAnimationFrame(() => setTimeout(() => performance.mark("ready")));
}

listTabs();
listExecutions();
paintSource();
listen();
if (ends.length === 0) start();
else {
  fetchRun(data.first, (execution) => {
    [at.run, at.execution] = [data.first, execution];
    start();
  });
}
