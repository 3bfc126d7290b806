// The data of the page: `facts` (struct facts in facts.go), and the columns of events and arrows. A column is decoded
// when it is first used.

const facts = JSON.parse(page("facts").textContent);
const run = facts.end - facts.start;
const WAIT = facts.kinds.indexOf("wait");

const data = {events: 0, arrows: 0, first: [], columns: {}};

async function unpack() {
	const where = JSON.parse(page("where").textContent);
	const text = atob(page("columns").textContent), packed = new Uint8Array(text.length);
	page("columns").remove();
	for (let i = 0; i < packed.length; i++) packed[i] = text.charCodeAt(i);
	const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	const all = new Uint8Array(await new Response(stream).arrayBuffer());
	let at = 0;
	const lists = [[where.events, facts.events, ""], [where.arrows, facts.arrows, "arrow."]];
	for (const [list, length, prefix] of lists) {
		for (const c of list) {
			data.columns[prefix + c.name] = {bytes: all.subarray(at, at + c.size), delta: c.delta, length};
			at += c.size;
		}
	}
	data.events = facts.events;
	data.arrows = facts.arrows;
	// The events of row i are those from first[i] to first[i + 1] - 1.
	data.first = [0];
	for (const lane of facts.lanes) data.first.push(data.first[data.first.length - 1] + lane.events);
}

// column returns the numbers of the column with this name.
function column(name) {
	const c = data.columns[name];
	if (!c.values) {
		const b = c.bytes, out = new Float64Array(c.length);
		let at = 0, last = 0;
		for (let i = 0; i < c.length; i++) {
			let n = b[at++];
			if (n > 127) {
				n &= 127;
				for (let scale = 128; ; scale *= 128) {
					const x = b[at++];
					n += (x & 127) * scale;
					if (x < 128) break;
				}
			}
			if (c.delta) n = last += n % 2 ? -(n + 1) / 2 : n / 2;
			out[i] = n;
		}
		c.values = out;
		c.bytes = null;
	}
	return c.values;
}

// rowOf returns the first row of a rank; -1 if the rank has no row.
const rowsOf = new Map();
facts.lanes.forEach((l, i) => { if (!rowsOf.has(l.rank)) rowsOf.set(l.rank, i); });
const rowOf = rank => rowsOf.has(rank) ? rowsOf.get(rank) : -1;

const threaded = facts.lanes.length > rowsOf.size;
const rowName = i => facts.lanes[i].rank + (threaded ? "." + facts.lanes[i].thread : "");

// after returns the first event of a row that begins at t or later. t is the time since the start of the run.
function after(row, t) {
	const start = column("start");
	let low = data.first[row], high = data.first[row + 1];
	while (low < high) {
		const mid = (low + high) >> 1;
		if (start[mid] < t) low = mid + 1; else high = mid;
	}
	return low;
}
