// Any two runs: compare.html#a=BASELINE&b=CANDIDATE. Their numbers come as scripts, since pages from the disk may load no JSON.
(function () {
  "use strict";

  const texts = JSON.parse(document.getElementById("texts").textContent);
  const mustMatch = Object.entries(texts.must_match);
  const runs = new Map(), keys = new Map();
  const SAFE = /^[0-9A-Za-z_-]{1,64}$/;
  const SHOWN = 50;
  const NONE = "–";
  const PARTS = ["step", "computing", "communication", "free"];

  window.aoeRun = (keysName, name, told) => runs.set(name, { ...told, keys: keysName });
  window.aoeKeys = (name, told) => keys.set(name, told);
  window.aoeRuns = (told) => choose(told);

  const say = (key, values) => texts[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  const number = (value, digits) => value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  const signed = (value) => (value < 0 || Object.is(value, -0) ? "-" : "+") + number(Math.abs(value), 3);

  function load(name) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = "runs/" + name + ".js";
      script.onload = resolve;
      script.onerror = () => reject(new Error(name));
      document.head.append(script);
    });
  }

  async function run(name) {
    if (!runs.has(name)) await load(name);
    const told = runs.get(name);
    if (!keys.has(told.keys)) await load("keys." + told.keys);
    return { ...told, groups: keys.get(told.keys).map((key, at) => ({ key, count: told.counts[at], total: told.totals_ns[at] })) };
  }

  function make(tag, words, kind) {
    const made = document.createElement(tag);
    if (words !== undefined && words !== null) made.textContent = words;
    if (kind) made.className = kind;
    return made;
  }

  function table(title, columns, rows) {
    const frame = make("div", null, "wide"), held = make("table");
    frame.setAttribute("role", "region");
    frame.setAttribute("aria-label", say("scroll", { what: title }));
    frame.tabIndex = 0;
    held.append(make("caption", title));
    const heads = held.createTHead().insertRow();
    for (const [words, kind] of columns) {
      const cell = make("th", words, kind === "number" ? "number" : "");
      cell.scope = "col";
      heads.append(cell);
    }
    const body = held.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      row.forEach(([words, below], at) => {
        const kind = columns[at][1];
        const cell = make(at ? "td" : "th", words === null ? NONE : words, kind === "text" && words && words.length > 24 ? "text long" : kind);
        if (!at) cell.scope = "row";
        if (below) cell.append(make("span", below, "sub"));
        line.append(cell);
      });
    }
    frame.append(held);
    return frame;
  }

  const columns = (first, unit) => [[texts[first], "text"],
    ...["difference_" + unit + "_c", "ratio", "baseline_" + unit, "candidate_" + unit].map((name) => [texts[name], "number"])];
  const ratio = (was, became) => (was && became !== null ? (became / was).toFixed(4) : null);
  const shown = (value) => (value === null ? null : number(value, 3));
  const pairs = (before, after) => {
    const found = new Map();
    before.forEach(([key, value]) => found.set(key, [value, null]));
    after.forEach(([key, value]) => found.set(key, [found.has(key) ? found.get(key)[0] : null, value]));
    return found;
  };

  function steps(before, after) {
    const side = (told) => told.steps.map((step) => [JSON.stringify(step.slice(0, 3)), step]);
    const rows = [];
    for (const [key, [was, became]] of pairs(side(before), side(after))) {
      const [rank, device] = JSON.parse(key);
      const where = [rank === null ? "" : texts.rank + " " + rank, device === null ? "" : texts.device + " " + device].filter(Boolean).join(" · ");
      PARTS.forEach((part, at) => {
        const values = [was, became].map((step) => (step ? step[4 + at] : null));
        if (values[0] === null && values[1] === null) return;
        const counts = [was, became].map((step) => (step ? say("of_steps", { count: step[3] }) : null));
        rows.push([[texts["part_" + part], where], [values.includes(null) ? null : signed(values[1] - values[0])], [ratio(...values)],
          [shown(values[0]), counts[0]], [shown(values[1]), counts[1]]]);
      });
    }
    return rows;
  }

  function groups(before, after, scope) {
    const side = (told) => told.groups.filter((one) => one.key[0] === scope).map((one) => [JSON.stringify(one.key), one]);
    const sides = [side(before), side(after)];
    const stored = sides.every((one) => one.length);
    const rows = [];
    for (const [key, [was, became]] of pairs(...sides)) {
      const [, rank, , type, name, told] = JSON.parse(key);
      const args = JSON.parse(told || "{}");
      const totals = [was, became].map((one) => (one ? one.total : null));
      const difference = ((totals[1] || 0) - (totals[0] || 0)) / 1000;
      const more = [name ? type : "", rank === null ? "" : texts.rank + " " + rank, args.task_type, args.input_shapes].filter(Boolean).join(" · ");
      const counts = [was, became].map((one) => (one ? say("tasks_of", { count: one.count }) : null));
      const us = totals.map((total) => (total === null ? null : number(total / 1000, 3)));
      rows.push({ size: Math.abs(difference), key, cells: [[name || type || "?", more], [stored ? signed(difference) : null], [ratio(...totals)],
        [us[0], counts[0]], [us[1], counts[1]], [texts[was && became ? "both_sides" : was ? "only_baseline" : "only_candidate"]]] });
    }
    rows.sort((one, other) => other.size - one.size || (one.key < other.key ? -1 : 1));
    const sums = sides.map((one) => (one.length ? one.reduce((sum, [, group]) => sum + group.total, 0) : null));
    return { rows, sums };
  }

  // What the command line refuses to compare; what a side does not tell is no reason.
  function reasons(before, after) {
    const told = [before, after].map((run) => [
      ...mustMatch.map(([name, key]) => [name, run.facts[key] ?? null]),
      ["steps", run.steps.reduce((most, step) => Math.max(most, step[3] || 0), 0) || null],
      ["ranks", [...new Set(run.groups.map((one) => (one.key[1] === null ? "?" : String(one.key[1]))))].sort().join(", ") || null],
    ]);
    const found = told[0].flatMap(([name, was], at) => {
      const became = told[1][at][1];
      if (was === became || [was, became].some((value) => value === null || value === "unknown")) return [];
      return [say("fact_differs", { fact: texts["fact_" + name], baseline: was, candidate: became })];
    });
    const counts = [before, after].map((run) => run.groups.filter((one) => one.key[0] !== "communication").length);
    if (counts.includes(0) && counts.some(Boolean))
      found.push(say(counts[0] ? "records_missing_candidate" : "records_missing_baseline", { count: Math.max(...counts) }));
    return found;
  }

  function warn(found) {
    const held = make("div", null, "warned"), first = make("p"), list = make("ul");
    held.setAttribute("role", "note");
    first.append(make("b", texts.not_comparable));
    list.append(...found.map((reason) => make("li", reason)));
    held.append(first, list, make("p", texts.not_comparable_about));
    return held;
  }

  function compare(before, after) {
    const out = document.getElementById("compared");
    out.textContent = "";
    const against = reasons(before, after);
    if (against.length) out.append(warn(against));
    const sides = make("p");
    for (const [name, told, file] of [["baseline", before, before.file], ["candidate", after, after.file]]) {
      const link = make("a", told.model + " · " + told.night + " · " + told.run);
      link.href = "runs/" + file + ".html";
      sides.append(texts[name] + ": ", link, make("br"));
    }
    out.append(sides);
    const untimed = { baseline: before.untimed, candidate: after.untimed };
    if (untimed.baseline || untimed.candidate) out.append(make("p", say("untimed", untimed)));
    const ofSteps = steps(before, after);
    if (ofSteps.length) out.append(make("h2", texts.steps), table(texts.steps, columns("part", "ms"), ofSteps));
    for (const scope of ["op_type", "op", "communication"]) {
      const { rows, sums } = groups(before, after, scope);
      if (!rows.length) continue;
      const title = texts["compare_" + scope];
      const [baseline, candidate] = sums.map((sum) => (sum === null ? texts.not_stored : number(sum / 1000, 3)));
      out.append(make("h2", title), make("p", say(sums.includes(null) ? "compare_one_side" : "compare_sums", {
        shown: Math.min(rows.length, SHOWN), count: rows.length, difference: signed((sums[1] - sums[0]) / 1000), baseline, candidate,
      })), table(title, [...columns("what", "us"), [texts.side, "text"]], rows.slice(0, SHOWN).map((row) => row.cells)));
    }
    const facts = [...new Set([...Object.keys(before.facts), ...Object.keys(after.facts)])].sort()
      .filter((name) => before.facts[name] !== after.facts[name])
      .map((name) => [[name], [before.facts[name] ?? null], [after.facts[name] ?? null]]);
    out.append(make("h2", texts.compare_metadata));
    out.append(facts.length ? table(texts.compare_metadata, [[texts.fact, "text"], [texts.baseline, "text"], [texts.candidate, "text"]], facts)
      : make("p", texts.compare_same));
  }

  function asked() {
    const found = new URLSearchParams(location.hash.slice(1));
    return [found.get("a"), found.get("b")];
  }

  async function follow() {
    const names = asked();
    if (!names.every((name) => SAFE.test(name || ""))) return;
    try {
      const told = [await run(names[0]), await run(names[1])];
      if (names.join() !== asked().join()) return;
      told.forEach((one, at) => { one.file = names[at]; });
      compare(...told);
    } catch (error) {
      const out = document.getElementById("compared");
      out.textContent = "";
      out.append(make("p", texts.chosen_missing));
    }
  }

  function choose(all) {
    const holder = document.getElementById("chooser");
    const given = asked();
    const selects = ["baseline", "candidate"].map((side, at) => {
      const label = make("label", texts[side] + " ", "filter"), select = make("select");
      for (const [file, night, model, name] of all) {
        const option = make("option", night + " · " + model + " · " + name);
        option.value = file;
        select.append(option);
      }
      const start = given[at] || (all[at ? 0 : 1] || all[0] || [""])[0];
      select.value = start;
      label.append(select);
      holder.append(label);
      return select;
    });
    const button = make("button", texts.choose);
    button.type = "button";
    button.addEventListener("click", () => { location.hash = "a=" + selects[0].value + "&b=" + selects[1].value; });
    holder.append(button);
  }

  load("all.list").catch(() => {});
  window.addEventListener("hashchange", follow);
  follow();
})();
