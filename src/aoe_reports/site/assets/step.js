// Zooms the timeline of a step: what is drawn at first stands in the page, finer blocks stand in its JSON.
(function () {
  "use strict";

  const holder = document.getElementById("step-data");
  const svg = document.querySelector("svg.timeline");
  if (!holder || !svg) return;
  const told = JSON.parse(holder.textContent);
  const frame = svg.closest(".wide");
  const { label, plot, duration, top, row, bar, mark } = told;
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const NS = "http://www.w3.org/2000/svg";
  const LEAST = 50; // ns from side to side

  // begin since the begin before it, length, kind with marks, name + 1, of several in one how many and for how long
  function blocksOf(cells) {
    const numbers = [];
    let number = 0, factor = 1;
    for (const digit of cells) {
      const value = DIGITS.indexOf(digit);
      number += (value % 32) * factor;
      if (value < 32) { numbers.push(number); number = 0; factor = 1; } else factor *= 32;
    }
    const found = [];
    for (let at = 0, start = 0; at + 3 < numbers.length;) {
      start += numbers[at];
      const length = numbers[at + 1], marks = numbers[at + 2], name = numbers[at + 3] - 1;
      at += 4;
      let count = 1, busy = length;
      if (marks & 2) { count = numbers[at]; busy = numbers[at + 1]; at += 2; }
      found.push({ start, end: start + length, kind: marks >> 2, path: marks & 1, name, count, busy });
    }
    return found;
  }

  // one rectangle for all that begins within a pixel of the first, as the page draws it
  function merged(blocks, grain) {
    const found = [];
    let one = null, longest = 0;
    for (const block of blocks) {
      if (one && block.start < one.start + grain) {
        one.end = Math.max(one.end, block.end);
        one.path |= block.path;
        one.count += block.count;
        one.busy += block.busy;
        if (block.busy > longest) { one.kind = block.kind; one.name = block.name; longest = block.busy; }
      } else {
        one = { ...block };
        longest = block.busy;
        found.push(one);
      }
    }
    return found;
  }

  const lanes = told.lanes.map(blocksOf);
  const groups = Array.from(svg.querySelectorAll("g.lane"));
  const axis = svg.querySelector("g.axis");
  const drawn = groups.map((group) => group.innerHTML), ticks = axis.innerHTML;
  const us = (ns) => (ns / 1000).toLocaleString("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  let from = 0, to = duration;

  function element(name, attributes, text) {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text) made.textContent = text;
    return made;
  }

  function drawLane(group, blocks, y) {
    const scale = plot / (to - from);
    const near = blocks.filter((one) => one.end >= from && one.start < to);
    const marks = [], made = [];
    for (const one of merged(near, Math.ceil((to - from) / plot))) {
      const start = Math.max(one.start, from), end = Math.min(Math.max(one.end, start), to);
      const x = label + (start - from) * scale, wide = Math.min(Math.max((end - start) * scale, 1), label + plot - x);
      const [kind, word] = told.kinds[one.kind];
      const title = (one.name < 0 ? word : told.names[one.name]) + ", +" + us(one.start) + " us, " + us(one.busy) + " us" +
        (one.count > 1 ? ", ×" + one.count : "");
      const rect = element("rect", { class: kind, x: x.toFixed(2), y, width: wide.toFixed(2), height: bar });
      rect.append(element("title", {}, title));
      made.push(rect);
      if (one.path) marks.push(`M${x.toFixed(2)} ${y + bar + 1}h${wide.toFixed(2)}v${mark}h-${wide.toFixed(2)}z`);
    }
    if (marks.length) made.push(element("path", { class: "route", d: marks.join("") }));
    group.replaceChildren(...made);
  }

  function drawAxis() {
    const size = duration >= 1e6 ? 1e6 : 1e3, unit = duration >= 1e6 ? "ms" : "us";
    const raw = (to - from) / size / 5, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= raw);
    const bottom = top + row * lanes.length, made = [];
    for (let at = Math.ceil(from / size / step); at * step * size <= to; at++) {
      const x = label + (at * step * size - from) * plot / (to - from);
      const side = x < label + 30 ? "start" : x > label + plot - 30 ? "end" : "middle";
      made.push(element("path", { class: "grid", d: `M${x.toFixed(1)} ${top}V${bottom}` }));
      made.push(element("text", { class: "tick " + side, x: x.toFixed(1), y: bottom + 14 }, Number((at * step).toPrecision(10)).toLocaleString("en", { maximumFractionDigits: 6 }) + " " + unit));
    }
    axis.replaceChildren(...made);
  }

  function draw() {
    const whole = from === 0 && to === duration;
    groups.forEach((group, place) => {
      if (whole) group.innerHTML = drawn[place]; else drawLane(group, lanes[place], top + row * place);
    });
    if (whole) axis.innerHTML = ticks; else drawAxis();
    state.textContent = us(from) + " – " + us(to) + " us";
  }

  function show(begin, length) {
    const wide = Math.min(Math.max(Math.round(length), Math.min(LEAST, duration)), duration);
    from = Math.round(Math.min(Math.max(begin, 0), duration - wide));
    to = from + wide;
    draw();
  }
  const zoom = (factor, at = 0.5) => show(from + (to - from) * at * (1 - factor), (to - from) * factor);
  const move = (share) => show(from + (to - from) * share, to - from);
  const all = () => show(0, duration);
  const acts = [() => zoom(0.5), () => zoom(2), () => move(-0.5), () => move(0.5), all];

  const controls = document.createElement("div");
  controls.className = "filter range";
  const buttons = told.buttons.map((word, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = word;
    button.addEventListener("click", acts[place]);
    return button;
  });
  const state = document.createElement("output");
  controls.append(...buttons, state);
  frame.before(controls);
  const hint = document.createElement("span");
  hint.textContent = told.hint;
  svg.closest("section").querySelector(".legend").append(hint);

  // how far into the plot a pointer is, as a share of its width
  function share(event) {
    const box = svg.getBoundingClientRect(), scale = box.width / svg.viewBox.baseVal.width;
    return Math.min(Math.max(((event.clientX - box.left) / scale - label) / plot, 0), 1);
  }
  const keys = { "+": acts[0], "=": acts[0], "-": acts[1], ArrowLeft: () => move(-0.1), ArrowRight: () => move(0.1), "0": all, Home: all };
  frame.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key.startsWith("Arrow") && from === 0 && to === duration) return; // the frame itself scrolls
    event.preventDefault();
    act();
  });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // without it the page scrolls
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, share(event));
  }, { passive: false });
  svg.addEventListener("dblclick", (event) => zoom(0.5, share(event)));
  let held = null;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || event.pointerType === "touch" || (from === 0 && to === duration)) return; // fingers scroll
    held = { at: share(event), from, length: to - from };
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => { if (held) show(held.from + (held.at - share(event)) * held.length, held.length); });
  svg.addEventListener("pointerup", () => { held = null; });
  svg.addEventListener("pointercancel", () => { held = null; });
  let before = null;
  window.addEventListener("beforeprint", () => { before = [from, to - from]; all(); });
  window.addEventListener("afterprint", () => { if (before) show(...before); });
  draw();
})();
