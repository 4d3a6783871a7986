// Reads a file as viewers of timelines do, by the rules of Perfetto's importer of JSON, and tells what it saw.
const PHASES = "MXBEbenisftCI";

async function contentOf(file) {
  const packed = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const stream = file.stream();
  const plain = packed[0] === 0x1f && packed[1] === 0x8b ? stream.pipeThrough(new DecompressionStream("gzip")) : stream;
  return new Response(plain).text();
}

// Microseconds, a number or a text, as nanoseconds; null for what is none.
function nanoseconds(value) {
  if (typeof value === "number") return Number.isFinite(value) ? BigInt(Math.round(value * 1000)) : null;
  const found = typeof value === "string" && /^(-?\d+)(?:\.(\d{1,3})\d*)?$/.exec(value);
  return found ? BigInt(found[1]) * 1000n + BigInt((found[2] || "").padEnd(3, "0")) : null;
}

// The id of a flow, a number or a text of hexadecimal digits, of which 64 bits count; null for what is none.
function idOf(value) {
  if (Number.isInteger(value)) return String(value);
  if (typeof value !== "string" || !/^[0-9a-f]+$/i.test(value)) return null;
  const id = BigInt(`0x${value}`);
  return String(id < 1n << 64n ? id : (1n << 64n) - 1n);
}

const trackOf = (event) => `${event.pid}/${event.tid}`;

function takeMetadata(told, event) {
  const names = { process_name: told.processes, thread_name: told.threads };
  const place = event.name === "thread_name" ? trackOf(event) : String(event.pid);
  if (event.name in names) names[event.name][place] = event.args.name;
  if (event.name === "process_sort_index") told.sorted[place] = event.args.sort_index;
}

// Slices of B and E have to nest; of X only the beginning and the duration count.
function takeSlice(told, open, slices, event) {
  const track = trackOf(event);
  const stack = (open[track] ||= []);
  const mine = (slices[track] ||= []);
  if (event.ph === "X") {
    const duration = nanoseconds(event.dur);
    if (duration === null || duration < 0n) told.errors.push(`a duration of ${event.dur}`);
    else mine.push([event.at, event.at + duration]);
  } else if (event.ph === "B") {
    stack.push(event);
  } else {
    const begun = stack.pop();
    if (!begun || (event.name !== undefined && begun.name !== event.name)) told.errors.push(`${event.name} ends without beginning`);
    else mine.push([begun.at, event.at]);
  }
}

function bindFlows(told, flows, slices) {
  for (const [key, ends] of Object.entries(flows)) {
    const phases = ends.map((event) => event.ph).join("");
    if (!phases.includes("s") || !/[tf]/.test(phases)) told.errors.push(`a flow with one end: ${key}`);
    for (const event of ends) {
      const mine = slices[trackOf(event)] || [];
      if (mine.some(([start, end]) => start <= event.at && event.at <= end)) told.bound += 1;
      else told.unbound.push(`${event.ph} of ${key}`);
    }
  }
}

async function importTrace(file) {
  const told = { events: 0, errors: [], processes: {}, threads: {}, sorted: {}, bound: 0, unbound: [], unnamed: [], marks: [] };
  const events = JSON.parse(await contentOf(file));
  if (!Array.isArray(events)) return { ...told, errors: ["no list"] };
  told.events = events.length;
  const [open, slices, flows] = [{}, {}, {}];
  const timed = [];
  for (const event of events) {
    if (typeof event.ph !== "string" || event.ph.length !== 1 || !PHASES.includes(event.ph)) told.errors.push(`phase ${event.ph}`);
    if (!["number", "string"].includes(typeof event.pid)) told.errors.push(`pid ${event.pid}`);
    if (event.ph === "M") takeMetadata(told, event);
    else if ((event.at = nanoseconds(event.ts)) === null) told.errors.push(`ts ${event.ts}`);
    else timed.push(event);
  }
  timed.sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
  for (const event of timed) {
    if (!(event.pid in told.processes)) told.unnamed.push(event.pid);
    if ("XBE".includes(event.ph)) takeSlice(told, open, slices, event);
    else if ("stf".includes(event.ph)) {
      const id = idOf(event.id);
      if (id === null) told.errors.push(`id ${event.id}`);
      (flows[[event.cat, event.name, id]] ||= []).push(event);
    } else if (event.ph === "i") told.marks.push({ name: event.name, args: event.args, process: told.processes[event.pid] });
  }
  bindFlows(told, flows, slices);
  for (const stack of Object.values(open)) for (const event of stack) told.errors.push(`${event.name} does not end`);
  told.slices = Object.values(slices).flat().length;
  told.unnamed = [...new Set(told.unnamed)];
  return told;
}
