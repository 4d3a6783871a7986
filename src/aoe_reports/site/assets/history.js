// Charts of histories: zoomed together, with values at the pointer and by keyboard. Everything that is said stands in the page without this.
(function () {
  "use strict";

  const DAY = 86400;
  const legend = document.querySelector(".legend[data-hint]");
  const charts = [...document.querySelectorAll("figure.history:has(script)")].map(read).filter((chart) => chart.times.length > 1);
  if (!charts.length || !legend || typeof uPlot === "undefined") return;

  const asked = () => new URLSearchParams(location.hash.slice(1));
  const date = (at) => new Date(at * 1000).toISOString().slice(0, 10);
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const stepped = uPlot.paths.stepped({ align: 1 });
  const first = Math.min(...charts.map((chart) => chart.times[0])), last = Math.max(...charts.map((chart) => chart.times.at(-1)));
  const whole = charts[0].stored.span.map((day) => day * DAY);

  // the nights of a figure; between runs of dates lies a date without a value, where a night was missed
  function read(figure) {
    const stored = JSON.parse(figure.querySelector("script").textContent);
    const times = [], places = [], gaps = [];
    let last = null;
    for (const [first, count] of stored.days) {
      if (stored.gaps && last !== null) {
        gaps.push([last + 1, first - last - 1]);
        times.push((last + 1) * DAY);
      }
      for (let i = 0; i < count; i++) {
        places.push(times.length);
        times.push((first + i) * DAY);
      }
      last = first + count - 1;
    }
    const nothing = () => times.map(() => null);
    const values = nothing(), levels = nothing(), low = nothing(), high = nothing();
    places.forEach((place, night) => { values[place] = stored.values[night]; });
    for (const [start, until, from, to] of stored.levels) {
      const begin = places[start], end = places[until - 1];
      for (let i = begin; i <= end; i++) {
        levels[i] = from + (to - from) * (end > begin ? (i - begin) / (end - begin) : 0);
        if (stored.band) { low[i] = levels[i] / stored.band; high[i] = levels[i] * stored.band; }
      }
    }
    const baseline = times.map(() => stored.baseline);
    const frame = figure.querySelector(".wide"), svg = frame.querySelector("svg");
    const height = figure.classList.contains("small") ? 150 : figure.classList.contains("large") ? 340 : 260;
    const at = (night) => times[places[night]];
    return { stored, times, gaps, at, data: [times, values, levels, low, high, baseline], frame, svg, height, plot: null };
  }

  function range() {
    const wanted = asked();
    const of = (text) => { const at = Date.parse(text + "T00:00:00Z"); return Number.isNaN(at) ? null : at / 1000; };
    const from = of(wanted.get("from")), to = of(wanted.get("to"));
    const shown = [from === null ? whole[0] : from, to === null ? whole[1] : to];
    return shown[0] > shown[1] ? whole : [shown[0], Math.max(shown[1], shown[0] + DAY)];
  }

  // the address says which nights are shown, however they were chosen: it can be passed on
  function choose(from, to) {
    const series = document.body.dataset.page === "series" ? "series=" + location.pathname.replace(/.*\//, "").replace(/\.html$/, "") + "&" : "";
    location.replace("#" + series + "from=" + date(from) + "&to=" + date(to));
  }
  const every = () => choose(first, last);

  function drawMarks(chart, drawn) {
    const { stored, at, gaps } = chart, context = drawn.ctx, { left, top, width, height } = drawn.bbox;
    const x = (time) => drawn.valToPos(time, "x", true), soft = colour("--soft");
    function line(time, stroke, dash, label, below) {
      const here = x(time);
      if (here < left || here > left + width) return;
      context.strokeStyle = stroke;
      context.setLineDash(dash);
      if (label) {
        const late = here > left + width / 2;
        context.fillStyle = soft;
        context.textAlign = late ? "right" : "left";
        context.fillText(label, here + (late ? -6 : 6), top + below);
      }
      context.beginPath();
      context.moveTo(here, top);
      context.lineTo(here, top + height);
      context.stroke();
    }
    context.save();
    for (const night of stored.changes) line(at(night), colour("--bad"), [5, 4]);
    stored.versions.forEach(([night, label]) => line(at(night), soft, [1, 4], label, 14));
    stored.past.forEach(([night, label]) => line(at(night), soft, [1, 4], label, 28));
    stored.incidents.forEach(([night, label]) => line(at(night), soft, [1, 4], label, 42));
    context.fillStyle = soft;
    for (const [day, count] of gaps) {
      const start = Math.max(x((day - 0.5) * DAY), left), end = Math.min(x((day + count - 0.5) * DAY), left + width);
      if (start < end) context.fillRect(start, top + height - 4, end - start, 4);
    }
    context.restore();
  }

  function draw(chart) {
    const { stored, frame, svg, height } = chart, names = stored.names;
    if (chart.plot) chart.plot.destroy();
    const soft = colour("--soft"), grid = { stroke: colour("--grid"), width: 1 };
    const [min, max] = range();
    const band = { show: Boolean(stored.band), stroke: colour("--band"), paths: stepped, points: { show: false } };
    chart.plot = new uPlot({
      width: Math.max(frame.clientWidth, 240),
      height,
      tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
      padding: [10, 44, 0, 0],
      cursor: {
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => { every(); return null; } },
        sync: { key: "nights", scales: ["x", null], filters: { pub: (type) => type === "mousemove" || type === "mouseleave" } },
      },
      scales: { x: { min, max } },
      axes: [{ stroke: soft, grid, space: 90, values: (_, ticks) => ticks.map(date) }, { stroke: soft, grid, size: 72, label: stored.unit || null, labelSize: 18, space: height < 200 ? 20 : 30 }],
      series: [
        { label: names[0], value: (_, at) => (at === null ? "" : date(at)) },
        { label: names[1], stroke: colour("--plot"), width: 1.4, points: { size: 4 } },
        { label: names[2], stroke: colour("--level"), width: 1.6, paths: stepped, points: { show: false } },
        { ...band, label: names[3] + " ↓" },
        { ...band, label: names[3] + " ↑" },
        { show: stored.baseline !== null, label: names[4], stroke: soft, width: 1.2, dash: [7, 4], points: { show: false } },
      ],
      bands: stored.band ? [{ series: [4, 3], fill: colour("--band") }] : [],
      hooks: {
        setSelect: [(drawn) => {
          const { left, width } = drawn.select;
          if (!width) return;
          drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          choose(drawn.posToVal(left, "x"), drawn.posToVal(left + width, "x"));
        }],
        draw: [(drawn) => drawMarks(chart, drawn)],
      },
    }, chart.data, frame);
    svg.setAttribute("hidden", "");
    svg.style.display = "none";
    const canvas = frame.querySelector("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", svg.getAttribute("aria-label"));
  }

  function drawAll() {
    const shown = range();
    fields.forEach((field, end) => { if (field !== document.activeElement) field.value = date(shown[end]); });
    charts.forEach(draw);
  }

  // the keyboard goes along the nights as the pointer does, in all charts
  function step(chart, event) {
    const way = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (way === undefined || !chart.plot) return;
    event.preventDefault();
    const { min, max } = chart.plot.scales.x, [times, values] = chart.data;
    const nights = times.filter((time, place) => time >= min && time <= max && values[place] !== null);
    if (!nights.length) return;
    const here = nights.indexOf(chart.night);
    const next = here < 0 ? (way < 0 ? nights.length - 1 : 0) : Math.min(Math.max(here + way, 0), nights.length - 1);
    const night = nights[way === -Infinity ? 0 : way === Infinity ? nights.length - 1 : next];
    for (const other of charts) {
      other.night = night;
      const value = other.data[1][other.times.indexOf(night)];
      if (!other.plot || value === undefined || value === null) continue;
      other.plot.setCursor({ left: other.plot.valToPos(night, "x"), top: other.plot.valToPos(value, "y") }, true, false);
    }
    chart.plot.root.querySelector(".u-legend").setAttribute("aria-live", "polite");
  }

  const fields = ["from", "to"].map((end) => {
    const field = document.createElement("input");
    field.type = "date";
    field.min = date(first);
    field.max = date(last);
    field.setAttribute("aria-label", legend.dataset[end]);
    field.addEventListener("change", () => {
      const [from, to] = fields.map((one) => Date.parse(one.value) / 1000);
      if (fields.every((one) => one.value && one.checkValidity()) && from < to) choose(from, to);
    });
    return field;
  });
  const all = document.createElement("button");
  all.type = "button";
  all.textContent = legend.dataset.all;
  all.addEventListener("click", every);
  const controls = document.createElement("div");
  controls.className = "filter range";
  controls.append(legend.dataset.from, fields[0], legend.dataset.to, fields[1], all);
  charts[0].frame.before(controls);
  const hint = document.createElement("span");
  hint.textContent = legend.dataset.hint;
  legend.append(hint);

  drawAll();
  for (const chart of charts) {
    chart.frame.addEventListener("keydown", (event) => step(chart, event));
    chart.width = chart.frame.clientWidth;
  }
  window.addEventListener("resize", () => {
    for (const chart of charts) {
      if (!chart.plot || chart.frame.clientWidth === chart.width) continue;
      chart.width = chart.frame.clientWidth;
      chart.plot.setSize({ width: Math.max(chart.width, 240), height: chart.height });
    }
  });
  window.addEventListener("hashchange", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  window.addEventListener("beforeprint", () => {
    for (const chart of charts) {
      chart.plot.destroy();
      chart.plot = null;
      chart.svg.removeAttribute("hidden");
      chart.svg.style.display = "";
    }
  });
  window.addEventListener("afterprint", drawAll);
})();
