// A list in pages: searched, filtered and sorted; the address says how. Its rows come as a script, since pages from the disk may load no JSON.
(function () {
  "use strict";

  const frame = document.querySelector(".listed");
  if (!frame) return;
  const said = frame.dataset, SHOWN = Number(said.shown), NONE = "–";
  const SVG = "http://www.w3.org/2000/svg", WIDTH = 220, HEIGHT = 44;

  const say = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  const decoded = (values) => (values.words ? values.of.map((number) => values.words[number]) : values);

  function make(tag, text, kind) {
    const made = document.createElement(tag);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function draw(tag, attributes) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  // the same as charts.sparkline draws
  function spark(code, mark) {
    const x = (place) => Math.round(3 + (place * (WIDTH - 6)) / Math.max(code.length - 1, 1));
    const points = Array.from(code, (digit, place) => `${x(place)} ${HEIGHT - 5 - parseInt(digit, 36)}`);
    const drawn = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "spark", "aria-hidden": "true" });
    if (mark >= 0) drawn.append(draw("path", { class: "mark", d: `M${x(mark)} 2V${HEIGHT - 2}` }));
    const [cx, cy] = points[points.length - 1].split(" ");
    drawn.append(draw("polyline", { class: "line", points: points.join(" ") }), draw("circle", { class: "dot", cx, cy, r: 2.5 }));
    return drawn;
  }

  function cell(column, row) {
    const text = column.texts[row], look = column.looks[row];
    const made = make(column.kind === "head" ? "th" : "td");
    if (column.kind === "head") made.scope = "row";
    else made.dataset.title = column.title;
    if (column.kind === "spark") {
      if (text) made.append(spark(text, column.marks[row]));
      return made;
    }
    made.className = column.kind === "number" ? "number" : column.kind !== "state" && text.length > 24 ? "text long" : "text";
    const link = column.links[row];
    if (!text) made.textContent = NONE;
    else if (link) {
      const led = make("a", text);
      led.href = link + ".html";
      made.append(led);
    } else if (column.kind === "state") made.append(make("span", text, "state " + look));
    else if (look) made.append(make("span", text, look));
    else made.textContent = text;
    if (column.below[row]) made.append(make("span", column.below[row], "sub"));
    return made;
  }

  function show(list) {
    const titles = [...frame.querySelectorAll("thead th")];
    const columns = list.columns.map((column, at) => ({
      ...column, title: titles[at].textContent, keys: decoded(column.keys), units: decoded(column.units), texts: decoded(column.texts),
      below: decoded(column.below), links: decoded(column.links), looks: decoded(column.looks), marks: decoded(column.marks),
    }));
    const every = columns[0].texts.map((_, row) => row);
    const searched = columns.filter((column) => column.kind === "head" || column.kind === "text");
    const haystack = every.map((row) =>
      [...searched.flatMap((column) => [column.texts[row], column.below[row] || ""]),
        ...list.facets.map((facet) => facet.values[facet.of[row]][1])].join("\n").toLowerCase());
    const body = frame.querySelector("tbody");
    const asked = () => new URLSearchParams(location.hash.slice(1));

    // the address says what is shown, however it was chosen: it can be passed on
    function ask(changes) {
      const wanted = asked();
      for (const [name, value] of Object.entries({ page: "", ...changes })) {
        if (value) wanted.set(name, value);
        else wanted.delete(name);
      }
      location.replace("#" + wanted);
    }

    function sorted(rows, wanted) {
      const downwards = wanted.startsWith("-");
      const column = columns.find((one) => one.key === wanted.replace("-", "") && one.kind !== "spark");
      if (!column) return rows;
      const way = downwards ? -1 : 1, keys = column.kind === "number" ? column.keys : column.texts;
      const missing = (key) => key === "" || key === null;
      const compared = (key, than) => (key < than ? -1 : key > than ? 1 : 0);
      return rows.sort((row, other) => {
        const [key, than] = [keys[row], keys[other]];
        if (missing(key) || missing(than)) return missing(key) - missing(than) || row - other; // at the end, both ways
        const byUnit = column.units.length ? compared(column.units[row], column.units[other]) : 0;
        return byUnit || way * compared(key, than) || row - other;
      });
    }

    function update() {
      const wanted = asked();
      const words = (wanted.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
      // of each facet the number of its value in the address: -1 for one that no row has
      const chosen = list.facets.map((facet) => wanted.get(facet.name) ? facet.values.findIndex(([key]) => key === wanted.get(facet.name)) : false);
      const rows = sorted(every.filter((row) => words.every((word) => haystack[row].includes(word))
        && list.facets.every((facet, at) => chosen[at] === false || facet.of[row] === chosen[at])), wanted.get("sort") || "");
      const pages = Math.max(1, Math.ceil(rows.length / SHOWN));
      const page = Math.min(Math.max(1, Number(wanted.get("page")) || 1), pages);
      const shown = rows.slice((page - 1) * SHOWN, page * SHOWN);
      body.replaceChildren(...shown.map((row) => {
        const line = make("tr");
        line.append(...columns.map((column) => cell(column, row)));
        return line;
      }));
      counted.textContent = rows.length ? say(said.range, { first: (page - 1) * SHOWN + 1, last: (page - 1) * SHOWN + shown.length, count: rows.length }) : said.none;
      if (search !== document.activeElement) search.value = wanted.get("q") || "";
      selects.forEach((select, at) => { select.selectedIndex = chosen[at] === false ? 0 : chosen[at] < 0 ? -1 : chosen[at] + 1; });
      for (const [button, other] of [[previous, page - 1], [next, page + 1]]) {
        button.setAttribute("aria-disabled", String(other < 1 || other > pages)); // it keeps the focus
        button.onclick = () => { if (other >= 1 && other <= pages) ask({ page: String(other) }); };
      }
      for (const [key, { title, arrow }] of heads) {
        const way = { [key]: "ascending", ["-" + key]: "descending" }[wanted.get("sort")];
        if (way) title.setAttribute("aria-sort", way);
        else title.removeAttribute("aria-sort");
        arrow.textContent = { ascending: " ↑", descending: " ↓" }[way] || " ↕";
      }
    }

    function button(text) {
      const made = make("button", text);
      made.type = "button";
      return made;
    }

    // numbers first downwards, texts upwards; then the other way; then as they were
    const heads = new Map();
    columns.forEach((column, at) => {
      if (column.kind === "spark") return;
      const title = titles[at], sorter = button(column.title), arrow = make("span");
      arrow.setAttribute("aria-hidden", "true");
      const ways = column.kind === "number" ? ["-" + column.key, column.key, ""] : [column.key, "-" + column.key, ""];
      sorter.addEventListener("click", () => ask({ sort: ways[(ways.indexOf(asked().get("sort") || "") + 1) % 3] }));
      sorter.append(arrow);
      title.replaceChildren(sorter);
      heads.set(column.key, { title, arrow });
    });

    const controls = make("div", null, "filters");
    const search = make("input");
    search.type = "search";
    search.addEventListener("input", () => ask({ q: search.value.trim() }));
    const label = make("label", said.search);
    label.append(search);
    controls.append(label);
    const selects = list.facets.map((facet) => {
      const select = make("select"), about = make("label", facet.label);
      for (const [key, text] of [["", said.all], ...facet.values]) {
        const option = make("option", text || NONE);
        option.value = key;
        select.append(option);
      }
      select.addEventListener("change", () => ask({ [facet.name]: select.value }));
      about.append(select);
      if (facet.values.length > 1) controls.append(about);
      return select;
    });
    const pager = make("nav", null, "pager"), previous = button(said.previous), next = button(said.next), counted = make("output");
    pager.setAttribute("aria-label", said.pages);
    pager.append(previous, counted, next);
    frame.prepend(controls);
    frame.append(pager);
    update();
    window.addEventListener("hashchange", update);
    performance.mark("listed");
  }

  window.aoeList = show;
})();
