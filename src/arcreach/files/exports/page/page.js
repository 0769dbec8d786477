"use strict";

/* Vectors and 3 x 3 matrices as arrays; matrices row by row. */
const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const sub = (a, b) => add(a, b, -1);
const scale = (a, s) => [s * a[0], s * a[1], s * a[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => scale(a, 1 / (norm(a) || 1));
const column = (R, k) => [R[k], R[3 + k], R[6 + k]];
const turned = (R, v) => [dot(R.slice(0, 3), v), dot(R.slice(3, 6), v), dot(R.slice(6, 9), v)];
const IDENTITY = [1, 0, 0, 0, 1, 0, 0, 0, 1];

function product(A, B) {
  const C = [];
  for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) C.push(dot(A.slice(3 * i, 3 * i + 3), column(B, j)));
  return C;
}

function rotation(axis, angle) {
  const [x, y, z] = axis, s = Math.sin(angle), c = Math.cos(angle), v = 1 - c;
  return [c + x * x * v, x * y * v - z * s, x * z * v + y * s, y * x * v + z * s, c + y * y * v, y * z * v - x * s,
    z * x * v - y * s, z * y * v + x * s, c + z * z * v];
}

/* The shortest rotation that takes unit vector a to unit vector b. */
function rotationBetween(a, b) {
  const axis = cross(a, b), sine = norm(axis);
  if (sine > 1e-9) return rotation(scale(axis, 1 / sine), Math.atan2(sine, dot(a, b)));
  if (dot(a, b) > 0) return IDENTITY;
  const across = Math.abs(a[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0];
  return rotation(unit(cross(a, across)), Math.PI);
}

/* Kinematics, for drawing: a list of pieces, each a polyline of frames with a radius. */
const sinc = (u) => (Math.abs(u) < 1e-6 ? 1 - u * u / 6 : Math.sin(u) / u);
const RINGS = 28;
// Bodies without a radius are drawn with this share of the reach.
const DRAWN_RADIUS = 0.012;

function sectionFrames(element, q, frame) {
  const [bend, direction] = q, length = element.stretch > 0 ? q[2] : element.length;
  const plane = product(frame.R, rotation([0, 0, 1], direction));
  const frames = [];
  for (let k = 0; k <= RINGS; k++) {
    let x = 0, z = 0, angle = 0, rest = k / RINGS;
    for (const [share, bendShare] of element.arcs) {
      // A sub-arc without length bends at a point: the frames after it, and the last one, are bent.
      const part = Math.min(rest, share), passed = rest > 0 || k === RINGS;
      const turn = bend * bendShare * (share > 0 ? part / share : Number(passed));
      x += part * sinc(turn / 2) * Math.sin(angle + turn / 2);
      z += part * sinc(turn / 2) * Math.cos(angle + turn / 2);
      angle += turn;
      rest -= part;
    }
    let R = product(plane, rotation([0, 1, 0], angle));
    if (!element.twist) R = product(R, rotation([0, 0, 1], -direction));
    frames.push({ R, p: add(frame.p, turned(plane, scale([x, 0, z], length))) });
  }
  return frames;
}

function elementFrames(element, q, frame) {
  const moved = (v) => add(frame.p, turned(frame.R, v));
  switch (element.kind) {
    case "section": return sectionFrames(element, q, frame);
    case "revolute": return [frame, { R: product(frame.R, rotation(element.axis, q[0])), p: frame.p }];
    case "prismatic": return [frame, { R: frame.R, p: moved(scale(element.axis, q[0])) }];
    case "parallelogram":
      return [frame, { R: frame.R, p: moved(turned(rotation(element.axis, q[0]), element.link)) }];
    default: return [frame, { R: product(frame.R, element.rotation), p: moved(element.translation) }];
  }
}

function body(q) {
  let frame = { R: IDENTITY, p: [0, 0, 0] };
  const pieces = [];
  for (const element of ROBOT.elements) {
    const own = q.slice(element.first, element.first + element.count);
    const frames = elementFrames(element, own, frame);
    pieces.push({ element, frames, radius: element.radius || DRAWN_RADIUS * ROBOT.reach });
    frame = frames[frames.length - 1];
  }
  return { pieces, tip: frame };
}

/* The solver. */
const STATUS = { 0: "reached", 1: "stalled", 2: "iteration limit", 4: "out of reach" };
const STATUS_TEXT = { reached: "Reached", stalled: "Not reached: nothing closer was found",
  "iteration limit": "Not reached within the step budget", "out of reach": "Out of reach", "bad input": "Not a target" };
const MODES = ["position", "axis", "rotation"];
const solver = (() => {
  const bytes = Uint8Array.from(atob(MODULE), (c) => c.charCodeAt(0));
  const wasm = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  const Real = ROBOT.precision === "float64" ? Float64Array : Float32Array;
  const buffer = (address, n) => new Real(wasm.memory.buffer, address, n);
  const target = buffer(wasm.page_target(), 12), start = buffer(wasm.page_start(), ROBOT.dof);
  const q = buffer(wasm.page_q(), ROBOT.dof), errors = buffer(wasm.page_errors(), 2);

  /* Solve for a position and, by mode, an axis or rotation; `from` is the start or null. */
  function solve(position, R = IDENTITY, mode = "position", from = null) {
    target.set(R);
    target.set(position, 9);
    if (from) start.set(from);
    const code = wasm.page_solve(MODES.indexOf(mode), from ? 1 : 0, ROBOT.position_tol, ROBOT.angle_tol);
    return { status: STATUS[code] || "bad input", q: Array.from(q), position_error: errors[0], angle_error: errors[1],
      steps: wasm.page_steps() };
  }
  return { solve, bytes: bytes.length };
})();

/* State of the page. */
const state = { q: ROBOT.neutral.slice(), position: [0, 0, 0], R: IDENTITY, mode: MODES[0], found: null };
const view = { azimuth: -0.9, elevation: 0.35, distance: 1, centre: [0, 0, 0] };

function clip(q) {
  const clipped = q.map((value, k) => Math.min(Math.max(value, ROBOT.lower[k]), ROBOT.upper[k]));
  for (const element of ROBOT.elements) {
    if (element.kind !== "section" || !(element.stretch > 0) || !element.coupled) continue;
    const drawn = (clipped[element.first + 2] - element.length) / element.stretch;
    clipped[element.first] = Math.min(clipped[element.first], element.bend_max * drawn);
  }
  return clipped;
}

function solveNow() {
  state.found = solver.solve(state.position, state.R, state.mode, state.q);
  if (state.found.status !== "bad input") state.q = state.found.q;
  show();
}

function takeTip() {
  const { tip } = body(state.q);
  state.position = tip.p;
  state.R = tip.R;
  solveNow();
}

/* Panel. */
const byId = (id) => document.getElementById(id);
const inDegrees = (k) => ROBOT.quantities[k] === "angle";
const shown = (k, value) => (inDegrees(k) ? value * 180 / Math.PI : value * 1e3);
const text = (k, value) => `${shown(k, value).toFixed(1)}${inDegrees(k) ? "°" : " mm"}`;
const sliders = ROBOT.coordinates.map((name, k) => {
  const row = document.createElement("label");
  row.className = "slider";
  row.append(Object.assign(document.createElement("span"), { textContent: name }));
  const value = row.appendChild(document.createElement("output"));
  const low = shown(k, ROBOT.lower[k]), high = shown(k, ROBOT.upper[k]);
  const input = row.appendChild(Object.assign(document.createElement("input"),
    { type: "range", min: low, max: high, step: (high - low) / 1000 || 1 }));
  input.addEventListener("input", () => {
    const q = state.q.slice();
    q[k] = input.valueAsNumber / shown(k, 1);
    state.q = clip(q);
    takeTip();
  });
  byId("sliders").append(row);
  return { input, value };
});
const numbers = ["x", "y", "z"].map((name, k) => {
  const label = Object.assign(document.createElement("label"), { textContent: `${name}, mm` });
  const input = label.appendChild(Object.assign(document.createElement("input"), { type: "number", step: "any" }));
  input.addEventListener("change", () => {
    if (!Number.isFinite(input.valueAsNumber)) return show();
    state.position = state.position.slice();
    state.position[k] = input.valueAsNumber / 1e3;
    solveNow();
  });
  byId("position").append(label);
  return input;
});
for (const mode of MODES) {
  const label = document.createElement("label");
  const input = label.appendChild(Object.assign(document.createElement("input"),
    { type: "radio", name: "mode", value: mode, checked: mode === state.mode }));
  label.append({ position: "Position", axis: "Direction", rotation: "Whole pose" }[mode]);
  input.addEventListener("change", () => { state.mode = mode; solveNow(); });
  byId("modes").append(label);
}
byId("reset").addEventListener("click", () => { state.q = ROBOT.neutral.slice(); takeTip(); });
byId("copy").addEventListener("click", async () => {
  const line = state.q.join(",");
  // The clipboard is closed to pages opened from disk in some browsers.
  try { await navigator.clipboard.writeText(line); } catch { window.prompt("Configuration, in rad and m", line); }
});

function length(metres) {
  const mm = metres * 1e3;
  return mm < 0.001 ? "below 0.001 mm" : `${mm < 1 ? mm.toFixed(3) : mm.toFixed(1)} mm`;
}

function show() {
  const found = state.found, status = byId("status");
  status.className = found.status === "reached" ? "reached" : "missed";
  status.textContent = STATUS_TEXT[found.status];
  const angle = state.mode === "position" ? "" : `, ${(found.angle_error * 180 / Math.PI).toFixed(3)}°`;
  byId("detail").textContent =
    `Error ${length(found.position_error)}${angle}; ${found.steps} ${found.steps === 1 ? "step" : "steps"}`;
  sliders.forEach(({ input, value }, k) => {
    input.value = shown(k, state.q[k]);
    value.textContent = text(k, state.q[k]);
  });
  numbers.forEach((input, k) => {
    if (document.activeElement !== input) input.value = (state.position[k] * 1e3).toFixed(1);
  });
  requestDraw();
}

/* Drawing. */
const canvas = byId("view");
const gl = canvas.getContext("webgl", { antialias: true, stencil: true });
const SIDES = 24;
const FIELD = 0.6;
const VERTEX = `
  attribute vec3 position, normal; uniform mat4 camera; uniform float flat_z; varying vec3 n;
  void main() { vec3 p = position; if (flat_z > 0.5) p.z = 0.0; n = normal; gl_Position = camera * vec4(p, 1.0); }`;
const FRAGMENT = `
  precision mediump float; varying vec3 n; uniform vec4 colour; uniform vec3 light; uniform float shaded;
  void main() {
    float l = mix(1.0, 0.45 + 0.55 * max(dot(normalize(n), light), 0.0), shaded);
    gl_FragColor = vec4(colour.rgb * l * colour.a, colour.a);
  }`;
let program, place, buffers;

function prepare() {
  const compiled = (kind, source) => {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    return shader;
  };
  program = gl.createProgram();
  gl.attachShader(program, compiled(gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(program, compiled(gl.FRAGMENT_SHADER, FRAGMENT));
  gl.linkProgram(program);
  place = {};
  for (const name of ["camera", "colour", "light", "shaded", "flat_z"]) place[name] = gl.getUniformLocation(program, name);
  for (const name of ["position", "normal"]) place[name] = gl.getAttribLocation(program, name);
  buffers = { position: gl.createBuffer(), normal: gl.createBuffer() };
}

/* Triangles between rings of points, capped at both ends. */
function tube(rings) {
  const vertices = [], normals = [];
  const corner = (ring, k) => {
    const a = 2 * Math.PI * k / SIDES, out = add(scale(ring.x, Math.cos(a)), ring.y, Math.sin(a));
    return [add(ring.p, out, ring.radius), out];
  };
  const put = (...corners) => corners.forEach(([p, n]) => { vertices.push(...p); normals.push(...n); });
  for (let i = 0; i + 1 < rings.length; i++) {
    for (let k = 0; k < SIDES; k++) {
      const a = corner(rings[i], k), b = corner(rings[i], k + 1);
      const c = corner(rings[i + 1], k), d = corner(rings[i + 1], k + 1);
      put(a, b, c, b, d, c);
    }
  }
  for (const [ring, side] of [[rings[0], -1], [rings[rings.length - 1], 1]]) {
    const outward = scale(cross(ring.x, ring.y), side);
    for (let k = 0; k < SIDES; k++) put([ring.p, outward], [corner(ring, k)[0], outward], [corner(ring, k + 1)[0], outward]);
  }
  return { vertices, normals };
}

function rod(a, b, radius, end = radius) {
  const z = unit(sub(b, a)), x = unit(cross(z, Math.abs(z[0]) < 0.7 ? [1, 0, 0] : [0, 1, 0])), y = cross(z, x);
  return tube([{ p: a, x, y, radius }, { p: b, x, y, radius: end }]);
}

function ball(p, radius) {
  const rings = [];
  for (let k = 0; k <= 12; k++) {
    const a = Math.PI * k / 12;
    rings.push({ p: add(p, [0, 0, -Math.cos(a) * radius]), x: [1, 0, 0], y: [0, 1, 0], radius: Math.sin(a) * radius });
  }
  const mesh = tube(rings);
  for (let i = 0; i < mesh.vertices.length; i += 3) {
    const n = unit(sub(mesh.vertices.slice(i, i + 3), p));
    mesh.normals.splice(i, 3, ...n);
  }
  return mesh;
}

const SECTIONS = [[0, 0.447, 0.698], [0.902, 0.624, 0], [0, 0.62, 0.451], [0.8, 0.475, 0.655], [0.337, 0.706, 0.914]];
const LINK = [0.8, 0.82, 0.85], JOINT = [0.33, 0.35, 0.39], BASE = [0.25, 0.27, 0.3], TARGET = [0.835, 0.369, 0];

function meshes() {
  const drawn = [];
  let bending = 0;
  const { pieces } = body(state.q);
  for (const { element, frames, radius } of pieces) {
    const first = frames[0], last = frames[frames.length - 1];
    if (element.kind === "section") {
      const rings = frames.map(({ R, p }) => ({ p, x: column(R, 0), y: column(R, 1), radius }));
      drawn.push({ ...tube(rings), colour: SECTIONS[bending++ % SECTIONS.length] });
      continue;
    }
    if (element.kind === "revolute") {
      const axis = turned(first.R, element.axis), half = 1.3 * radius;
      drawn.push({ ...rod(add(first.p, axis, -half), add(first.p, axis, half), 1.3 * radius), colour: JOINT });
    } else if (norm(sub(last.p, first.p)) > 1e-9) {
      drawn.push({ ...rod(first.p, last.p, radius), colour: element.kind === "prismatic" ? JOINT : LINK });
    }
  }
  const size = 0.03 * ROBOT.reach;
  drawn.push({ ...rod([0, 0, -0.2 * size], [0, 0, 0], 1.6 * size), colour: BASE });
  drawn.push({ ...ball(state.position, Math.max(0.55 * size, 1.15 * pieces[pieces.length - 1].radius)),
    colour: TARGET, target: true });
  if (state.mode !== "position") {
    const tip = arrowTip(), neck = add(state.position, sub(tip, state.position), 0.72);
    drawn.push({ ...rod(state.position, neck, 0.14 * size), colour: TARGET, target: true });
    drawn.push({ ...rod(neck, tip, 0.42 * size, 0.01 * size), colour: TARGET, target: true });
    if (state.mode === "rotation") {
      const side = add(state.position, column(state.R, 0), 1.6 * size);
      drawn.push({ ...rod(state.position, side, 0.14 * size), colour: TARGET, target: true });
    }
  }
  return drawn;
}

const arrowTip = () => add(state.position, column(state.R, 2), 0.16 * ROBOT.reach);

function eyeAxes() {
  const ce = Math.cos(view.elevation), back = [ce * Math.cos(view.azimuth), ce * Math.sin(view.azimuth), Math.sin(view.elevation)];
  const right = [-Math.sin(view.azimuth), Math.cos(view.azimuth), 0];
  return { right, up: cross(back, right), back };
}

/* Rows of the camera matrix, in the column order of WebGL. */
function camera() {
  const { right, up, back } = eyeAxes(), eye = add(view.centre, back, view.distance);
  const f = 1 / Math.tan(FIELD / 2), aspect = canvas.width / canvas.height;
  const near = 0.05 * view.distance, far = 20 * view.distance, c = (far + near) / (near - far), d = 2 * far * near / (near - far);
  // A narrow view keeps its width.
  const fy = aspect < 1 ? f * aspect : f, fx = fy / aspect;
  const rows = [[...scale(right, fx), -fx * dot(right, eye)], [...scale(up, fy), -fy * dot(up, eye)],
    [...scale(back, c), -c * dot(back, eye) + d], [...scale(back, -1), dot(back, eye)]];
  return [0, 1, 2, 3].flatMap((k) => rows.map((row) => row[k]));
}

function pixel(point) {
  const M = camera(), p = [...point, 1], clip4 = [0, 1, 2, 3].map((r) => p.reduce((sum, v, k) => sum + v * M[4 * k + r], 0));
  return [(clip4[0] / clip4[3] + 1) / 2 * canvas.clientWidth, (1 - clip4[1] / clip4[3]) / 2 * canvas.clientHeight];
}

/* Metres per pixel in the plane through a point, across the line of sight. */
function resolution(point) {
  const { right } = eyeAxes(), a = pixel(point), b = pixel(add(point, right, 0.01 * ROBOT.reach));
  return 0.01 * ROBOT.reach / Math.hypot(b[0] - a[0], b[1] - a[1]);
}

function upload(mesh) {
  for (const [name, values] of [["position", mesh.vertices], ["normal", mesh.normals]]) {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(values), gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(place[name]);
    gl.vertexAttribPointer(place[name], 3, gl.FLOAT, false, 0, 0);
  }
  return mesh.vertices.length / 3;
}

function grid() {
  const half = Math.ceil(1.2 * ROBOT.reach / gridStep()) * gridStep(), vertices = [];
  for (let v = -half; v <= half + 1e-9; v += gridStep()) vertices.push(-half, v, 0, half, v, 0, v, -half, 0, v, half, 0);
  return { vertices, normals: vertices };
}

/* A round number of millimetres, about a tenth of the reach. */
function gridStep() {
  const raw = ROBOT.reach / 8, power = 10 ** Math.floor(Math.log10(raw));
  return power * (raw / power < 2 ? 1 : raw / power < 5 ? 2 : 5);
}

function draw() {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = canvas.clientHeight * ratio;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clearColor(...(dark ? [0.09, 0.098, 0.114, 1] : [0.961, 0.965, 0.973, 1]));
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
  gl.useProgram(program);
  gl.enable(gl.DEPTH_TEST);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  gl.uniformMatrix4fv(place.camera, false, camera());
  const { right, up, back } = eyeAxes();
  gl.uniform3fv(place.light, unit(add(add(back, up, 0.6), right, -0.4)));
  const colour = (rgb, alpha, shaded, flat) => {
    gl.uniform4f(place.colour, ...rgb, alpha);
    gl.uniform1f(place.shaded, shaded ? 1 : 0);
    gl.uniform1f(place.flat_z, flat ? 1 : 0);
  };
  gl.depthMask(false);
  colour(dark ? [0.6, 0.65, 0.7] : [0.45, 0.5, 0.55], dark ? 0.22 : 0.28, false, false);
  gl.drawArrays(gl.LINES, 0, upload(grid()));
  const drawn = meshes();
  // Shadows on the floor. The stencil darkens each pixel once.
  gl.enable(gl.STENCIL_TEST);
  gl.stencilFunc(gl.EQUAL, 0, 1);
  gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
  for (const mesh of drawn.filter(({ target }) => !target)) {
    colour([0, 0, 0], dark ? 0.35 : 0.13, false, true);
    gl.drawArrays(gl.TRIANGLES, 0, upload(mesh));
  }
  gl.disable(gl.STENCIL_TEST);
  gl.depthMask(true);
  for (const mesh of drawn) {
    colour(mesh.colour, 1, true, false);
    gl.drawArrays(gl.TRIANGLES, 0, upload(mesh));
  }
}

let drawing = 0;
function requestDraw() {
  if (gl && !drawing) drawing = requestAnimationFrame(() => { drawing = 0; draw(); });
}

/* Pointers: one drags the target or turns the view, two zoom and shift it. */
// Pixels around a handle that catch it: a fingertip needs more than a mouse.
const CATCH = { mouse: 18, pen: 24, touch: 36 };
const pointers = new Map();
let grip = null;

function caught(event) {
  const near = (point) => {
    const [x, y] = pixel(point);
    return Math.hypot(x - event.offsetX, y - event.offsetY) < (CATCH[event.pointerType] || 24);
  };
  if (near(state.position)) return "position";
  return state.mode !== "position" && near(arrowTip()) ? "axis" : "view";
}

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, [event.offsetX, event.offsetY]);
  grip = pointers.size === 1 ? caught(event) : "view";
  canvas.classList.add("dragging");
});
canvas.addEventListener("pointermove", (event) => {
  const before = pointers.get(event.pointerId);
  if (!before) return;
  const now = [event.offsetX, event.offsetY], dx = now[0] - before[0], dy = now[1] - before[1];
  const { right, up } = eyeAxes();
  const shifted = (point) => {
    const size = resolution(point);
    return add(add(point, right, dx * size), up, -dy * size);
  };
  if (pointers.size === 2) {
    const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
    const span = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
    view.distance *= span(before) / Math.max(span(now), 1);
    view.centre = add(add(view.centre, right, -0.5 * dx * resolution(view.centre)), up, 0.5 * dy * resolution(view.centre));
  } else if (grip === "position") {
    state.position = shifted(state.position);
    solveNow();
  } else if (grip === "axis") {
    const wanted = unit(sub(shifted(arrowTip()), state.position));
    state.R = product(rotationBetween(column(state.R, 2), wanted), state.R);
    solveNow();
  } else {
    view.azimuth -= 0.008 * dx;
    view.elevation = Math.min(Math.max(view.elevation + 0.008 * dy, -1.5), 1.5);
  }
  pointers.set(event.pointerId, now);
  requestDraw();
});
for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    pointers.delete(event.pointerId);
    if (!pointers.size) canvas.classList.remove("dragging");
  });
}
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  view.distance *= Math.exp(0.001 * event.deltaY);
  requestDraw();
}, { passive: false });
// Arrow keys and Page Up/Down move the target by a hundredth of the reach.
canvas.addEventListener("keydown", (event) => {
  const { right, up, back } = eyeAxes();
  const way = { ArrowRight: right, ArrowLeft: scale(right, -1), ArrowUp: up, ArrowDown: scale(up, -1), PageUp: back, PageDown: scale(back, -1) }[event.key];
  if (!way) return;
  event.preventDefault();
  state.position = add(state.position, way, 0.01 * ROBOT.reach);
  solveNow();
});

/* For programs that embed this page, and for its tests. */
window.arcreach = { solve: solver.solve, bytes: solver.bytes, state, pixel, arrowTip, tip: (q) => body(q).tip };

if (gl) prepare();
else byId("hint").textContent = "This browser has no WebGL, so the robot is not drawn. Numbers and sliders work.";
view.distance = 2.9 * ROBOT.reach;
view.centre = [0, 0, 0.4 * ROBOT.reach];
window.addEventListener("resize", requestDraw);
state.q = clip(ROBOT.opening);
takeTip();
