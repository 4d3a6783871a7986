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
  const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
  const { floor, room, parts: SHOWN_PARTS, named: NAMED, max_span: MAX_SPAN, rounding: ROUNDING } = texts.numbers;
  const FLOOR = (100 * floor).toFixed(1) + "%";
  const [COMMA, SPACE] = texts.separators;

  window.aoeRun = (keysName, name, numbers) => runs.set(name, { ...numbers, keys: keysName });
  window.aoeKeys = (name, groups) => keys.set(name, groups);
  window.aoeRuns = (listed) => choose(listed);

  const say = (key, values) => texts[key].replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  // toFixed rounds what a number is, as the prebuilt pages do; toLocaleString rounds its shortest decimals
  const number = (value, digits) => {
    const [whole, ...decimals] = value.toFixed(digits).split(".");
    return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...decimals].join(".");
  };
  const isSmall = (share) => share !== null && Math.abs(share) < floor;

  // a change with two digits that count, and no sign of nothing
  function percent(share) {
    const value = 100 * share;
    const exponent = Number(value.toExponential(1).split("e")[1]);
    const shown = number(Math.abs(value), Math.min(Math.max(0, 1 - exponent), 3));
    return /[1-9]/.test(shown) ? (value < 0 ? "-" : "+") + shown + "%" : "0%";
  }

  const unitOf = (time) => UNITS.find(([size]) => Math.abs(time) >= size) || UNITS[3];
  const decimals = (value, digits) => (value ? Math.max(0, digits - 1 - Number(value.toExponential(digits - 1).split("e")[1])) : 0);
  const significant = (value) => number(value, decimals(value, 4));
  const significantDifference = (value) => (value > 0 ? "+" : "") + number(value, decimals(value, 3));

  // times in the one unit that the largest of them asks for
  function inOneUnit(...times) {
    const largest = Math.max(...times.map(Math.abs)), [scale, unit] = unitOf(largest);
    return [times.map((time) => number(time / scale, decimals(largest / scale, 4))), unit];
  }
  const inOwnUnit = (time) => significant(time / unitOf(time)[0]) + " " + unitOf(time)[1];
  // nanoseconds are whole where they were measured so
  function signed(time) {
    const [scale, unit] = unitOf(time), isWhole = scale === 1 && Number.isInteger(time);
    return (isWhole ? (time > 0 ? "+" : "") + number(time, 0) : significantDifference(time / scale)) + " " + unit;
  }

  // how a column shows its times (ns): in one unit, or each in its own
  function timeColumn(times) {
    const sizes = times.filter(Boolean).map(Math.abs);
    const largest = sizes.reduce((one, other) => Math.max(one, other), 0), smallest = sizes.reduce((one, other) => Math.min(one, other), Infinity);
    const whole = largest > MAX_SPAN * smallest ? null : sizes.length ? unitOf(largest) : UNITS[2];
    return {
      title: (words) => [whole ? words + " (" + whole[1] + ")" : words, "number"],
      show: (time) => (time === null ? null : whole ? significant(time / whole[0]) : inOwnUnit(time)),
      difference: (time) => (time === null ? null : whole ? significantDifference(time / whole[0]) : signed(time)),
    };
  }

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
    const numbers = runs.get(name);
    if (!keys.has(numbers.keys)) await load("keys." + numbers.keys);
    return { ...numbers, groups: keys.get(numbers.keys).map((key, at) => ({ key, count: numbers.counts[at], total: numbers.totals_ns[at] })) };
  }

  function make(tag, words, kind) {
    const made = document.createElement(tag);
    if (words !== undefined && words !== null) made.textContent = words;
    if (kind) made.className = kind;
    return made;
  }

  function table(title, columns, rows) {
    const frame = make("div", null, "wide"), held = make("table", null, "stacks");
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
      row.forEach(([words, below, tone], at) => {
        const kind = columns[at][1];
        const cell = make(at ? "td" : "th", words === null ? NONE : null, kind === "text" && words && words.length > 24 ? "text long" : kind);
        if (words !== null) cell.append(tone ? make("span", words, tone) : words);
        if (!at) cell.scope = "row";
        else cell.dataset.title = columns[at][0];
        if (below) cell.append(make("span", below, "sub"));
        line.append(cell);
      });
    }
    frame.append(held);
    return frame;
  }

  const pairs = (before, after) => {
    const found = new Map();
    before.forEach(([key, value]) => found.set(key, [value, null]));
    after.forEach(([key, value]) => found.set(key, [found.has(key) ? found.get(key)[0] : null, value]));
    return found;
  };
  const listsBy = (all, keyOf) => {
    const lists = new Map();
    for (const item of all) {
      if (!lists.has(keyOf(item))) lists.set(keyOf(item), []);
      lists.get(keyOf(item)).push(item);
    }
    return lists;
  };
  const placeOf = (rank, device) => [rank === null ? "" : texts.rank + " " + rank, device === null ? "" : texts.device + " " + device].filter(Boolean).join(" · ");
  const isOf = (step, rank, device) => rank === step[0] && (device === step[1] || device === null || step[1] === null);

  // The effect on the step by which a difference has its colour: none where the step is the same.
  const colourOf = (share, change) => (isSame(change) ? 0 : share);
  const shareOf = (change) => (change.before ? change.after / change.before - 1 : 0);
  const isSame = (change) => change !== null && change.ofStep && isSmall(shareOf(change));
  const isMinor = (difference, whole) => isSmall(whole ? difference / whole : null);

  // A share of the step in the colour of the effect on it.
  function effect(share, ofStep) {
    if (share === null) return [null];
    const shown = percent(share);
    return [shown, null, shown === "0%" ? null : isSmall(ofStep) ? "minor" : share > 0 ? "slower-word" : "quicker-word"];
  }

  // Why calls take more or less: what explains more of it, their number or how long they take.
  function causeOf(before, after) {
    if (!before || !after) return before ? "vanished" : "new";
    if (!before[0] || !after[0] || before[1] === after[1]) return null;
    const longer = after[1] - before[1] * after[0] / before[0], more = after[1] - before[1] - longer;
    if (Math.abs(longer) >= Math.abs(more)) return longer > 0 ? "slower-calls" : "faster-calls";
    return more > 0 ? "more-calls" : "fewer-calls";
  }
  const perStep = (calls, steps) => (calls ? [(calls[0] || 0) / steps, calls[1] / steps] : null);

  const stepEntries = (run) => run.steps.map((step) => [JSON.stringify(step.slice(0, 3)), step]);

  function steps(before, after) {
    const rows = [];
    for (const [key, [was, became]] of pairs(stepEntries(before), stepEntries(after))) {
      const [rank, device] = JSON.parse(key);
      PARTS.forEach((part, at) => {
        const values = [was, became].map((step) => (step && step[4 + at] !== null ? step[4 + at] * 1e6 : null));
        if (values[0] === null && values[1] === null) return;
        const difference = values.includes(null) ? null : values[1] - values[0];
        const share = difference !== null && was && was[4] ? difference / (was[4] * 1e6) : null;
        rows.push({ rank, device, part, values, difference, share, counts: [was, became].map((step) => (step ? say("of_steps", { count: step[3] }) : null)) });
      });
    }
    return rows;
  }

  function stepsTable(title, rows, change) {
    const times = timeColumn(rows.flatMap((row) => row.values)), differences = timeColumn(rows.map((row) => row.difference));
    const columns = [[texts.part, "text"], [texts.effect, "number"], differences.title(texts.difference), [texts.change, "number"],
      times.title(texts.baseline), times.title(texts.candidate)];
    return table(title, columns, rows.map((row) => [
      [texts["part_" + row.part], placeOf(row.rank, row.device)], effect(row.share, colourOf(row.share, change)), [differences.difference(row.difference)],
      effect(row.values[0] && row.values[1] !== null ? row.values[1] / row.values[0] - 1 : null, colourOf(row.share, change)),
      [times.show(row.values[0]), row.counts[0]], [times.show(row.values[1]), row.counts[1]],
    ]));
  }

  // The mean step of the device of tasks; what is of all ranks of a run of many is of the median one.
  function stepsByPlace(all) {
    const byRank = listsBy(all, (step) => step[0]), timed = all.filter((step) => step[4]).sort((one, other) => one[4] - other[4]);
    const median = timed.length ? timed[Math.floor((timed.length - 1) / 2)] : null;
    return (rank, device) => {
      const same = (byRank.get(rank) || []).filter((step) => isOf(step, rank, device));
      return same.length === 1 ? same[0] : rank === null && !same.length ? median : null;
    };
  }

  function groups(before, after, scope) {
    const side = (run) => run.groups.filter((one) => one.key[0] === scope).map((one) => [JSON.stringify(one.key), one]);
    const sides = [side(before), side(after)];
    const stored = sides.every((one) => one.length);
    const known = new Map(), stepOn = [before, after].map((run) => stepsByPlace(run.steps));
    const stepsOf = (rank, device) => {
      const place = rank + "," + device;
      if (!known.has(place)) {
        const both = stepOn.map((of) => of(rank, device));
        known.set(place, both[0] && both[1] && both[0][3] && both[1][3] && both[0][4] ? both : null);
      }
      return known.get(place);
    };
    const rows = [];
    for (const [key, [was, became]] of pairs(...sides)) {
      const [, rank, device, type, called, inputs] = JSON.parse(key);
      const args = JSON.parse(inputs || "{}"), name = called || type || "?";
      const of = stored ? stepsOf(rank, device) : null;
      const counts = of ? [of[0][3], of[1][3]] : [1, 1];
      const calls = [was, became].map((one, at) => perStep(one && [one.count, one.total], counts[at]));
      const difference = (calls[1] ? calls[1][1] : 0) - (calls[0] ? calls[0][1] : 0);
      rows.push({ key, name, totals: [was, became].map((one) => (one ? one.total : null)), steps: of ? counts : null,
        more: [type !== name ? type : "", placeOf(rank, null), args.task_type, args.input_shapes].filter(Boolean).join(" · "),
        share: of ? difference / (of[0][4] * 1e6) : null, size: stored ? Math.abs((became ? became.total : 0) - (was ? was.total : 0)) : 0,
        counts: [was, became].map((one) => (one ? say("tasks_of", { count: one.count }) : null)), cause: causeOf(...calls) });
    }
    rows.sort((one, other) => Math.abs(other.share) - Math.abs(one.share) || other.size - one.size || (one.key < other.key ? -1 : 1));
    const sums = sides.map((one) => (one.length ? one.reduce((sum, [, group]) => sum + group.total, 0) : null));
    return { rows, sums };
  }

  function groupsTable(title, rows, stored, change) {
    const every = rows.every((row) => row.steps), each = every ? "_step" : "";
    const sidesOf = (row) => row.totals.map((total, at) => (total === null ? null : every ? total / row.steps[at] : total));
    const differenceOf = (sides) => (stored ? sides[1] - sides[0] : null); // null counts as 0
    const times = timeColumn(rows.flatMap(sidesOf)), differences = timeColumn(rows.map((row) => differenceOf(sidesOf(row))));
    const columns = [[texts.what, "text"], ...(every ? [[texts.effect, "number"]] : []), differences.title(texts["difference" + each]),
      [texts.change, "number"], times.title(texts["baseline" + each]), times.title(texts["candidate" + each]), [texts.cause, "text"]];
    return table(title, columns, rows.map((row) => {
      const sides = sidesOf(row);
      const side = sides[0] === null ? texts.only_candidate : sides[1] === null ? texts.only_baseline : null;
      const ofStep = colourOf(row.share, change), cause = isSmall(ofStep) ? null : row.cause;
      return [[row.name, row.more], ...(every ? [effect(row.share, ofStep)] : []), [differences.difference(differenceOf(sides))],
        effect(sides[0] && sides[1] !== null ? sides[1] / sides[0] - 1 : null, ofStep),
        [times.show(sides[0]), row.counts[0]], [times.show(sides[1]), row.counts[1]],
        side ? [side, null, "state suspect"] : [cause && texts["cause_" + cause]]];
    }));
  }

  // (count, total ns) of operators by place; of a run without operators its types
  function byPlace(run) {
    const scopes = { op: new Map(), op_type: new Map() };
    for (const { key: [scope, rank, device, type, name], count, total } of run.groups) {
      if (!scopes[scope]) continue;
      const place = JSON.stringify([rank, device]), call = JSON.stringify([type, name]);
      if (!scopes[scope].has(place)) scopes[scope].set(place, new Map());
      const calls = scopes[scope].get(place), known = calls.get(call) || [0, 0];
      calls.set(call, [known[0] + (count || 0), known[1] + total]);
    }
    return scopes.op.size ? scopes.op : scopes.op_type;
  }

  // The operators that differ most in a step, and all others together; what is minor is among the others.
  function operators(before, after, stepsBefore, stepsAfter, whole) {
    const differing = [];
    for (const key of new Set([...before.keys(), ...after.keys()])) {
      const [type, name] = JSON.parse(key), was = perStep(before.get(key), stepsBefore), became = perStep(after.get(key), stepsAfter);
      const difference = Math.round(became ? became[1] : 0) - Math.round(was ? was[1] : 0);
      if (difference) differing.push({ name: name || type || "?", cause: causeOf(was, became), difference });
    }
    differing.sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference) || (one.name < other.name ? -1 : 1));
    const large = differing.slice(0, SHOWN_PARTS).filter((part) => !isMinor(part.difference, whole));
    const others = differing.slice(large.length), rest = others.reduce((sum, part) => sum + part.difference, 0);
    if (others.length === 1) return differing;
    const part = others.length && isMinor(others[0].difference, whole) ? "small_others" : "others";
    return [...large, ...(rest ? [{ part, difference: rest, count: others.length }] : [])];
  }

  // The parts of the difference of the step that differs most: they add up to it.
  function changeOf(before, after) {
    const timed = [...pairs(stepEntries(before), stepEntries(after)).values()].filter(([was, became]) => was && became && was[4] && became[4]);
    const sides = [byPlace(before), byPlace(after)];
    if (!timed.length) {
      const sum = (calls) => [...calls.values()].reduce((whole, call) => whole + call[1], 0);
      const differs = (place) => Math.abs(sum(sides[1].get(place)) - sum(sides[0].get(place)));
      const places = [...sides[0].keys()].filter((place) => sides[1].has(place));
      if (!places.length) return null;
      const place = places.reduce((most, other) => (differs(other) > differs(most) ? other : most));
      const [rank, device] = JSON.parse(place), calls = sides.map((one) => one.get(place));
      const hasSteps = [before, after].every((run) => run.steps.some((step) => step[4])), whole = sum(calls[0]);
      return { rank, device, ofStep: false, hasSteps, before: whole, after: sum(calls[1]), parts: operators(...calls, 1, 1, whole) };
    }
    const differs = ([was, became]) => Math.abs(became[4] - was[4]);
    const [was, became] = timed.reduce((most, other) => (differs(other) > differs(most) ? other : most));
    const whole = [was, became].map((step) => Math.round(step[4] * 1e6));
    const between = (part, at) => (was[at] === null || became[at] === null || was[at] === became[at] ? []
      : [{ part, difference: Math.round(became[at] * 1e6) - Math.round(was[at] * 1e6) }]);
    const calls = sides.map((one) => ([...one].find(([place]) => isOf(was, ...JSON.parse(place))) || [])[1]);
    const parts = [...(calls[0] && calls[1] && was[3] && became[3] ? operators(...calls, was[3], became[3], whole[0]) : between("computing", 5)),
      ...between("communication", 6), ...between("free", 7)];
    const left = whole[1] - whole[0] - parts.reduce((sum, part) => sum + part.difference, 0);
    if (Math.abs(left) > ROUNDING) parts.push({ part: "unattributed", difference: left });
    return { rank: was[0], device: was[1], ofStep: true, before: whole[0], after: whole[1], parts };
  }

  function changeWords(change, several) {
    if (!change) return texts.change_none;
    const [[before, after], unit] = inOneUnit(change.before, change.after);
    const share = shareOf(change), place = several ? placeOf(change.rank, change.device) : "";
    const kind = !change.ofStep ? (change.hasSteps ? "other_steps" : "tasks") : isSame(change) ? "same" : share > 0 ? "slower" : "faster";
    const said = say("change_" + kind, { where: place ? say("of_place", { place }) : "", before: before + " " + unit, after: after + " " + unit,
      change: percent(share), floor: FLOOR });
    const parts = isSame(change) ? [] : change.parts.filter((part) => !isMinor(part.difference, change.before));
    const named = parts.sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference)).slice(0, NAMED)
      .map((part) => nameOf(change, part) + " " + signed(part.difference));
    return named.length ? said + SPACE + say("largest_parts", { parts: named.join(COMMA) }) : said;
  }

  function nameOf(change, { part, name, count }) {
    if (name) return name;
    return say("part_" + part + (part === "small_others" && !change.ofStep ? "_of_tasks" : ""), { count, floor: FLOOR });
  }

  function waterfall(change) {
    const rows = [{ label: texts.before_bar, start: 0, end: change.before, kind: "whole" }];
    let reached = change.before;
    for (const part of change.parts) {
      const { cause, difference } = part, minor = isSame(change) || isMinor(difference, change.before), name = nameOf(change, part);
      const label = part.name && cause && !minor ? say("named_cause", { name, cause: texts["cause_" + cause] }) : name;
      rows.push({ label, start: reached, end: reached += difference, kind: minor ? "minor" : difference > 0 ? "longer" : "shorter" });
    }
    rows.push({ label: texts.after_bar, start: 0, end: change.after, kind: "whole" });
    const levels = rows.flatMap((row) => [row.start, row.end].filter((level) => row.kind !== "whole" || level));
    const least = levels.reduce((one, other) => Math.min(one, other)), most = levels.reduce((one, other) => Math.max(one, other));
    const begin = Math.max(least - Math.round(Math.max(most - least, 1) * room), 0), scale = 1000 / Math.max(most - begin, 1);
    const list = make("ol", null, "bars");
    for (const row of rows) {
      const item = make("li"), svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      for (const [name, value] of [["viewBox", "0 0 1000 10"], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]]) svg.setAttribute(name, value);
      const rect = document.createElementNS(svg.namespaceURI, "rect");
      const [left, right] = [row.start, row.end].map((time) => (Math.max(time, begin) - begin) * scale).sort((one, other) => one - other);
      for (const [name, value] of [["class", row.kind], ["x", left.toFixed(1)], ["width", Math.max(right - left, 2).toFixed(1)], ["height", 10]]) rect.setAttribute(name, value);
      svg.append(rect);
      item.append(make("span", row.label, "what"), svg, make("span", row.kind === "whole" ? inOwnUnit(row.end) : signed(row.end - row.start), "value"));
      list.append(item);
    }
    const figure = make("figure"), legend = make("p", null, "legend");
    figure.append(make("figcaption", say("axis", { time: inOwnUnit(begin) })), list);
    for (const kind of ["whole", "longer", "shorter", "minor"].filter((kind) => rows.some((row) => row.kind === kind))) {
      const entry = make("span", null, "entry");
      entry.append(make("span", null, "key " + kind), kind === "whole" ? texts[change.ofStep ? "whole_step" : "whole_tasks"] : texts["bar_" + kind]);
      legend.append(entry, " ");
    }
    return [figure, legend];
  }

  // What the command line refuses to compare; what a side does not tell is no reason.
  function reasons(before, after) {
    const facts = [before, after].map((run) => [
      ...mustMatch.map(([name, key]) => [name, run.facts[key] ?? null]),
      ["steps", run.steps.reduce((most, step) => Math.max(most, step[3] || 0), 0) || null],
      ["ranks", [...new Set(run.groups.map((one) => (one.key[1] === null ? "?" : String(one.key[1]))))].sort().join(", ") || null],
    ]);
    const found = facts[0].flatMap(([name, was], at) => {
      const became = facts[1][at][1];
      if (was === became || [was, became].some((value) => value === null || value === "unknown")) return [];
      return [say("fact_differs", { fact: texts["fact_" + name], baseline: was, candidate: became })];
    });
    const counts = [before, after].map((run) => run.groups.filter((one) => one.key[0] !== "communication").length);
    if (counts.includes(0) && counts.some(Boolean))
      found.push(say(counts[0] ? "records_missing_candidate" : "records_missing_baseline", { count: Math.max(...counts) }));
    return found;
  }

  function warn(found, ofModels) {
    const box = make("div", null, "warned"), first = make("p"), list = make("ul");
    box.setAttribute("role", "note");
    first.append(make("b", ofModels ? texts.other_models : texts.not_comparable));
    list.append(...found.map((reason) => make("li", reason)));
    box.append(first, list, ...(ofModels ? [] : [make("p", texts.not_comparable_about)]));
    return box;
  }

  function compare(before, after) {
    const out = document.getElementById("compared");
    out.textContent = "";
    const against = reasons(before, after);
    const ofModels = before.model !== after.model;
    if (ofModels) against.unshift(say("fact_differs", { fact: texts.model, baseline: before.model, candidate: after.model }));
    if (against.length) out.append(warn(against, ofModels));
    const change = changeOf(before, after), ofSteps = steps(before, after);
    const places = new Set(ofSteps.map((row) => placeOf(row.rank, row.device)));
    out.append(make("h2", texts.waterfall), make("p", changeWords(change, places.size > 1), "lead"));
    if (change && change.parts.some((part) => !isMinor(part.difference, change.before))) out.append(...waterfall(change));
    const sides = make("p");
    for (const [name, side, file] of [["baseline", before, before.file], ["candidate", after, after.file]]) {
      const link = make("a", side.model + " · " + side.night + " · " + side.run);
      link.href = "runs/" + file + ".html";
      sides.append(texts[name] + ": ", link, make("br"));
    }
    out.append(sides);
    const untimed = { baseline: before.untimed, candidate: after.untimed };
    if (untimed.baseline || untimed.candidate) out.append(make("p", say("untimed", untimed)));
    if (ofSteps.length) {
      const first = ofSteps.filter((row) => !change || (row.rank === change.rank && row.device === change.device));
      out.append(make("h2", texts.steps), stepsTable(texts.steps, first, change));
      if (first.length < ofSteps.length) {
        const more = make("details");
        more.append(make("summary", texts.all_ranks), stepsTable(texts.all_ranks, ofSteps, change));
        out.append(more);
      }
    }
    for (const scope of ["op_type", "op", "communication"]) {
      const { rows, sums } = groups(before, after, scope);
      if (!rows.length) continue;
      const title = texts["compare_" + scope], stored = !sums.includes(null);
      const [baseline, candidate] = sums.map((sum) => (sum === null ? texts.not_stored : inOwnUnit(sum)));
      out.append(make("h2", title), make("p", say(stored ? "compare_sums" : "compare_one_side", {
        shown: Math.min(rows.length, SHOWN), count: rows.length, difference: signed(sums[1] - sums[0]), baseline, candidate,
      })), groupsTable(title, rows.slice(0, SHOWN), stored, change));
    }
    const factOf = (run, name) => (run.facts[name] === "unknown" ? null : run.facts[name] ?? null);
    const facts = [...new Set([...Object.keys(before.facts), ...Object.keys(after.facts)])].sort()
      .filter((name) => factOf(before, name) !== factOf(after, name))
      .map((name) => [[name], [factOf(before, name)], [factOf(after, name)]]);
    out.append(make("h2", texts.compare_metadata));
    out.append(facts.length ? table(texts.compare_metadata, [[texts.fact, "text"], [texts.baseline, "text"], [texts.candidate, "text"]], facts)
      : make("p", texts.compare_same));
  }

  function asked() {
    const found = new URLSearchParams(location.hash.slice(1));
    return found.has("a") || found.has("b") ? [found.get("a"), found.get("b")] : texts.preselected;
  }

  async function follow() {
    const names = asked();
    if (names.length < 2 || !names.every((name) => SAFE.test(name || ""))) return;
    try {
      const sides = [await run(names[0]), await run(names[1])];
      if (names.join() !== asked().join()) return;
      sides.forEach((side, at) => { side.file = names[at]; });
      compare(...sides);
    } catch (error) {
      const out = document.getElementById("compared");
      out.textContent = "";
      out.append(make("p", texts.chosen_missing));
    }
  }

  function choose(all) {
    const holder = document.getElementById("chooser");
    const given = asked();
    const models = listsBy(all, (run) => run[2]);
    const selects = ["baseline", "candidate"].map((side, at) => {
      const label = make("label", texts[side] + " ", "filter"), select = make("select");
      for (const [model, ofModel] of models) {
        const group = make("optgroup");
        group.label = model;
        for (const [file, night, , name] of ofModel) {
          const option = make("option", model + " · " + night + " · " + name);
          option.value = file;
          group.append(option);
        }
        select.append(group);
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
