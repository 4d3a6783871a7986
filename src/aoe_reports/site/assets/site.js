// Only comfort: everything that is said stands in the page without this.
(function () {
  "use strict";

  const page = document.body.dataset.page;
  const root = document.currentScript.getAttribute("src").replace(/assets\/.*/, "");

  // #series=ID&from=DATE&to=DATE, from any page, leads to the series
  function asked() {
    const found = {};
    for (const part of location.hash.slice(1).split("&")) {
      const at = part.indexOf("=");
      if (at < 1) continue;
      try { found[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1)); } catch { /* no such text: not asked */ }
    }
    return found;
  }

  function follow() {
    const wanted = asked();
    if (!/^[0-9A-Za-z_-]{1,64}$/.test(wanted.series || "")) return false;
    const own = location.pathname.replace(/.*\//, "");
    if (page === "series" && own === wanted.series + ".html") return false;
    location.replace(root + "series/" + wanted.series + ".html" + location.hash);
    return true;
  }

  const DAY = 86400;

  function history() {
    const holder = document.getElementById("history");
    const figure = document.querySelector("figure.history");
    if (!holder || !figure || typeof uPlot === "undefined") return;
    const told = JSON.parse(holder.textContent);
    const times = [];
    for (const [first, count] of told.days) for (let i = 0; i < count; i++) times.push((first + i) * DAY);
    if (times.length < 2) return;
    const levels = times.map(() => null), low = times.map(() => null), high = times.map(() => null);
    for (const [start, until, first, last] of told.levels) {
      for (let i = start; i < until; i++) {
        const share = until - start > 1 ? (i - start) / (until - start - 1) : 0;
        levels[i] = first + (last - first) * share;
        if (told.band) { low[i] = levels[i] / told.band; high[i] = levels[i] * told.band; }
      }
    }
    const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    const frame = figure.querySelector(".wide");
    const svg = frame.querySelector("svg");
    const words = svg.getAttribute("aria-label");
    const begin = Math.max(0, times.length - told.watched);
    const whole = [times[begin], times[times.length - 1]];
    const date = (at) => new Date(at * 1000).toISOString().slice(0, 10);
    const stepped = uPlot.paths.stepped({ align: 1 });
    let plot = null;

    function range() {
      const wanted = asked();
      const of = (text) => { const at = Date.parse(text + "T00:00:00Z"); return Number.isNaN(at) ? null : at / 1000; };
      const from = wanted.from ? of(wanted.from) : null, to = wanted.to ? of(wanted.to) : null;
      const shown = [from === null ? whole[0] : from, to === null ? whole[1] : to];
      return shown[0] > shown[1] ? whole : [shown[0], Math.max(shown[1], shown[0] + DAY)];
    }

    // the address says which nights are shown, however they were chosen: it can be passed on
    function choose(from, to) {
      location.replace("#series=" + location.pathname.replace(/.*\//, "").replace(/\.html$/, "") + "&from=" + date(from) + "&to=" + date(to));
    }
    const every = () => choose(times[0], times[times.length - 1]);

    function draw() {
      if (plot) plot.destroy();
      const soft = colour("--soft"), grid = { stroke: colour("--grid"), width: 1 };
      const shown = range();
      const names = told.names;
      fields.forEach((field, end) => { if (field !== document.activeElement) field.value = date(shown[end]); });
      plot = new uPlot({
        width: Math.max(frame.clientWidth, 320),
        height: 260,
        tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
        padding: [10, 44, 0, 0],
        cursor: { drag: { x: true, y: false, setScale: false }, bind: { dblclick: () => () => { every(); return null; } } },
        scales: { x: { min: shown[0], max: shown[1] } },
        axes: [{ stroke: soft, grid, space: 90, values: (_, ticks) => ticks.map(date) }, { stroke: soft, grid, size: 72, label: told.unit || null, labelSize: 18 }],
        series: [
          { label: names[0], value: (_, at) => (at === null ? "" : date(at)) },
          { label: names[1], stroke: colour("--plot"), width: 1.4, points: { size: 4 } },
          { label: names[2], stroke: colour("--level"), width: 1.6, paths: stepped, points: { show: false } },
          { show: Boolean(told.band), label: names[3] + " ↓", stroke: colour("--band"), paths: stepped, points: { show: false } },
          { show: Boolean(told.band), label: names[3] + " ↑", stroke: colour("--band"), paths: stepped, points: { show: false } },
        ],
        bands: told.band ? [{ series: [4, 3], fill: colour("--band") }] : [],
        hooks: {
          setSelect: [(drawn) => {
            const { left, width } = drawn.select;
            if (!width) return;
            drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            choose(drawn.posToVal(left, "x"), drawn.posToVal(left + width, "x"));
          }],
          draw: [(drawn) => {
            const context = drawn.ctx;
            context.save();
            context.strokeStyle = colour("--bad");
            context.setLineDash([5, 4]);
            for (const column of told.changes) {
              const x = drawn.valToPos(times[column], "x", true);
              if (x < drawn.bbox.left || x > drawn.bbox.left + drawn.bbox.width) continue;
              context.beginPath();
              context.moveTo(x, drawn.bbox.top);
              context.lineTo(x, drawn.bbox.top + drawn.bbox.height);
              context.stroke();
            }
            context.strokeStyle = soft;
            context.fillStyle = soft;
            context.setLineDash([1, 4]);
            const noted = [...told.versions.map((one) => [...one, 14]), ...told.past.map((one) => [...one, 28])];
            for (const [column, label, below] of noted) {
              const x = drawn.valToPos(times[column], "x", true);
              if (x < drawn.bbox.left || x > drawn.bbox.left + drawn.bbox.width) continue;
              const late = x > drawn.bbox.left + drawn.bbox.width / 2;
              context.textAlign = late ? "right" : "left";
              context.fillText(label, x + (late ? -6 : 6), drawn.bbox.top + below);
              context.beginPath();
              context.moveTo(x, drawn.bbox.top);
              context.lineTo(x, drawn.bbox.top + drawn.bbox.height);
              context.stroke();
            }
            context.restore();
          }],
        },
      }, [times, told.values, levels, low, high], frame);
      svg.setAttribute("hidden", "");
      svg.style.display = "none";
      const canvas = frame.querySelector("canvas");
      canvas.setAttribute("role", "img");
      canvas.setAttribute("aria-label", words);
    }

    const legend = document.querySelector(".legend");
    const fields = ["from", "to"].map((end) => {
      const field = document.createElement("input");
      field.type = "date";
      field.min = date(times[0]);
      field.max = date(times[times.length - 1]);
      field.setAttribute("aria-label", legend.dataset[end]);
      return field;
    });
    const all = document.createElement("button");
    all.type = "button";
    all.textContent = legend.dataset.all;
    all.addEventListener("click", every);
    for (const field of fields) {
      field.addEventListener("change", () => {
        const [from, to] = fields.map((one) => Date.parse(one.value) / 1000);
        if (fields.every((one) => one.value && one.checkValidity()) && from < to) choose(from, to);
      });
    }
    const controls = document.createElement("div");
    controls.className = "filter range";
    controls.append(legend.dataset.from, fields[0], legend.dataset.to, fields[1], all);
    frame.before(controls);

    // the keyboard goes along the nights as the pointer does
    let at = null;
    frame.addEventListener("keydown", (event) => {
      const way = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (way === undefined || !plot) return;
      event.preventDefault();
      const { min, max } = plot.scales.x;
      const first = times.findIndex((time) => time >= min), last = times.findLastIndex((time) => time <= max);
      if (first < 0 || last < first) return;
      at = Math.min(Math.max((at === null ? (way < 0 ? last + 1 : first - 1) : at) + way, first), last);
      plot.root.querySelector(".u-legend").setAttribute("aria-live", "polite");
      plot.setCursor({ left: plot.valToPos(times[at], "x"), top: plot.valToPos(told.values[at], "y") });
    });

    draw();
    const hint = document.createElement("span");
    hint.textContent = legend.dataset.hint;
    legend.append(hint);
    let width = frame.clientWidth;
    window.addEventListener("resize", () => {
      if (frame.clientWidth === width) return;
      width = frame.clientWidth;
      plot.setSize({ width: Math.max(width, 320), height: 260 });
    });
    window.addEventListener("hashchange", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    window.addEventListener("beforeprint", () => { plot.destroy(); plot = null; svg.removeAttribute("hidden"); svg.style.display = ""; });
    window.addEventListener("afterprint", draw);
  }

  if (follow()) return;
  window.addEventListener("hashchange", follow);
  history();
})();
