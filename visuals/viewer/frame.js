// The frame: panes with movable borders, the names of processes when a picture is scrolled past
// them, and a map of a picture that is larger than its pane.
//
// The positions of borders are stored in the address of the page, after the #, and nowhere else.

// ---- borders

/** The borders: for each, the property of an element that it sets, its axis, and whether the
 * element that it sizes is after it. */
const BORDERS = {
  left: { grid: "main", axis: "x", isAfter: false, least: 150 },
  right: { grid: "main", axis: "x", isAfter: true, least: 200 },
  runs: { grid: "left", axis: "y", isAfter: false, least: 80 },
  source: { grid: "right", axis: "y", isAfter: false, least: 80 },
};

const sizes = new URLSearchParams(location.hash.slice(1));

function paintBorder(name) {
  const { grid, axis } = BORDERS[name];
  const size = Number(sizes.get(name));
  if (size > 0) $(grid).style.setProperty(`--${name}`, `${size}px`);
  else $(grid).style.removeProperty(`--${name}`);
  const pane = $(`pane-${name}`) ?? $(name);
  const now = axis === "x" ? pane.clientWidth : pane.clientHeight;
  $(`border-${name}`).setAttribute("aria-valuenow", String(Math.round(now)));
}

/** Sets the size that a border bounds; without a size, the element gets its own. */
function resize(name, size) {
  const { grid, axis, least } = BORDERS[name];
  const room = axis === "x" ? $(grid).clientWidth : $(grid).clientHeight;
  const most = axis === "x" ? room * 0.45 : room - 80;
  if (size === null) sizes.delete(name);
  else sizes.set(name, String(Math.round(Math.max(Math.min(size, most), least))));
  history.replaceState(null, "", `#${sizes}`);
  paintBorder(name);
}

function listenToBorder(name) {
  const { axis, isAfter } = BORDERS[name];
  const border = $(`border-${name}`);
  const pane = $(`pane-${name}`) ?? $(name);
  const size = () => (axis === "x" ? pane.offsetWidth : pane.offsetHeight);
  const towards = isAfter ? -1 : 1;
  let from = null;
  border.addEventListener("pointerdown", (event) => {
    border.setPointerCapture(event.pointerId);
    from = { at: event[axis], size: size() };
    event.preventDefault();
    border.focus();
  });
  border.addEventListener("pointermove", (event) => {
    if (from) resize(name, from.size + towards * (event[axis] - from.at));
  });
  for (const kind of ["pointerup", "pointercancel"]) border.addEventListener(kind, () => (from = null));
  border.addEventListener("dblclick", () => resize(name, null));
  border.addEventListener("keydown", (event) => {
    const [less, more] = axis === "x" ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    if (event.key === less || event.key === more) resize(name, size() + towards * (event.key === more ? 24 : -24));
    else if (event.key === "Enter") resize(name, null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  paintBorder(name);
}

// ---- the names of the processes

const strip = $("names");
const NAMES_HEIGHT = 22;

/** Shows the names above their columns when those of the picture are out of sight. */
function paintNames() {
  const one = drawing();
  const { x, y, scale } = one?.place ?? {};
  strip.hidden = !one?.place || one.lanes.length === 0 || one.lanes[0].y * scale + y > NAMES_HEIGHT / 2;
  if (strip.hidden) return;
  if (strip.firstChild !== one.lanes[0].label) strip.replaceChildren(...one.lanes.map(({ label }) => label));
  for (const { label, left, right } of one.lanes) {
    const start = Math.max(left * scale + x, 4);
    label.style.left = `${start}px`;
    label.style.maxWidth = `${Math.max(right * scale + x - start - 4, 0)}px`;
  }
}

// ---- the map

const map = $("map");
let isMapDue = false;

/** Draws the map in the next frame. */
function paintMapSoon() {
  if (isMapDue) return;
  isMapDue = true;
  requestAnimationFrame(() => {
    isMapDue = false;
    paintMap();
  });
}

/** A quarter of the pane, but large enough to be useful. */
function mapScale() {
  const [width, height] = drawing().size;
  const room = (pane, least, share) => Math.min(Math.max(least, pane * share), pane - 24);
  return Math.min(room(stage.clientWidth, 160, 0.25) / width, room(stage.clientHeight, 110, 0.4) / height);
}

function paintMap() {
  const one = drawing();
  map.hidden = !one?.place || isWhole();
  if (map.hidden) return;
  const scale = mapScale();
  const [width, height] = one.size.map((size) => Math.max(size * scale, 24));
  const ratio = devicePixelRatio || 1;
  [map.width, map.height] = [width * ratio, height * ratio];
  [map.style.width, map.style.height] = [`${width}px`, `${height}px`];
  // The value of a colour that depends on the theme is known when some element has it.
  const colour = (name) => {
    map.style.color = `var(${name})`;
    return getComputedStyle(map).color;
  };
  const context = map.getContext("2d");
  context.scale(ratio, ratio);
  const block = (box, fill) => {
    context.fillStyle = fill;
    context.fillRect(box.x * scale, box.y * scale, Math.max(box.width * scale, 1.5), Math.max(box.height * scale, 1.5));
  };
  const [plain, lit] = [colour("--rule"), colour("--blue")];
  one.nodes.forEach((_, number) => block(one.box(number), plain));
  for (const number of reachedBoxes()) if (one.nodes[number]) block(one.box(number), lit);
  const { x, y, scale: zoomed } = one.place;
  context.strokeStyle = colour("--red");
  context.lineWidth = 1.5;
  // What is beside the picture is not on the map, so the frame of what is seen ends with the
  // picture.
  const seen = (start, length, most) => {
    const ends = [-start, length - start].map((end) => Math.min(Math.max((end / zoomed) * scale, 1), most - 1));
    return [ends[0], ends[1] - ends[0]];
  };
  const [left, across] = seen(x, stage.clientWidth, width);
  const [top, down] = seen(y, stage.clientHeight, height);
  context.strokeRect(left, top, across, down);
}

function listenToMap() {
  const look = (event) => {
    const frame = map.getBoundingClientRect();
    const { scale } = drawing().place;
    const middle = (room, offset) => room / 2 - (offset / mapScale()) * scale;
    const [x, y] = [event.clientX - frame.x, event.clientY - frame.y];
    move({ x: middle(stage.clientWidth, x), y: middle(stage.clientHeight, y), scale });
  };
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    event.stopPropagation();
    look(event);
  });
  map.addEventListener("pointermove", (event) => event.buttons > 0 && look(event));
  // A click on the map must not reach the picture behind it.
  map.addEventListener("pointerup", (event) => event.stopPropagation());
}

function listenToFrame() {
  Object.keys(BORDERS).forEach(listenToBorder);
  listenToMap();
  // A picture that was placed automatically is placed again when its pane changes.
  new ResizeObserver(() => {
    if (!drawing()?.place) return;
    if (drawing().place.isOurs) settle();
    else paintMapSoon();
  }).observe(stage);
}
