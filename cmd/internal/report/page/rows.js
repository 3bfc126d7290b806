// Draws the rows of the timeline and the arrows between them. It draws only the visible part of the run, so the run may
// have any number of events. A call that is wide enough is a bar. Narrower calls are combined: each step of a few pixels
// shows the share of time of each kind of call.

const NARROW = 3;      // pixels; narrower calls are combined
const STEP = 2;        // pixels of a step in which calls are combined
const MOST_ARROWS = 400;
const MOST_LABELS = 300;

for (const [name, build] of [
	["runs", (path, shape) => { // rectangles: x, y, width and height of each
		const r = shape.list;
		for (let i = 0; i < r.length; i += 4) path.rect(r[i], r[i + 1], r[i + 2], r[i + 3]);
	}],
	["arrows", (path, shape) => { // lines with an arrowhead: x, y of the start, x, y of the end
		const r = shape.list;
		for (let i = 0; i < r.length; i += 4) {
			const [x, y, u, v] = r.slice(i, i + 4), angle = Math.atan2(v - y, u - x);
			path.moveTo(x, y);
			path.lineTo(u, v);
			for (const turn of [-0.4, 0.4]) {
				path.moveTo(u, v);
				path.lineTo(u - 6 * Math.cos(angle + turn), v - 6 * Math.sin(angle + turn));
			}
		}
	}],
]) {
	echarts.graphic.registerShape(name, echarts.graphic.extendShape({shape: {list: []}, buildPath: build}));
}

// reached returns, for each event, the latest end among this event and the earlier events in its row.
function reached() {
	if (!timeline.reach) {
		const start = column("start"), dur = column("dur"), out = new Float64Array(data.events);
		for (let row = 0; row < facts.lanes.length; row++) {
			let end = -1;
			for (let i = data.first[row]; i < data.first[row + 1]; i++) {
				out[i] = end = Math.max(end, start[i] + dur[i]);
			}
		}
		timeline.reach = out;
	}
	return timeline.reach;
}

// within returns a half-open range of events of a row. It contains all events that overlap the time from `from` to `to`.
function within(row, from, to) {
	const end = reached();
	let low = data.first[row], high = data.first[row + 1];
	while (low < high) {
		const mid = (low + high) >> 1;
		if (end[mid] < from) low = mid + 1; else high = mid;
	}
	return [low, after(row, to)];
}

const kindOf = i => facts.nameKinds[column("name")[i]];
const nameOf = i => facts.names[column("name")[i]];

// rowShapes returns the shapes of a row for the time from `from` to `to`. The middle of the row is at y. The time
// `from` is at x. `scale` is the number of pixels per ns.
function rowShapes(row, from, to, x, scale, y, height) {
	const kinds = facts.kinds.length, start = column("start"), dur = column("dur"), waited = column("waited");
	const names = column("name"), top = y - height / 2;
	const bars = Array.from({length: kinds}, () => []), inner = Array.from({length: kinds}, () => []);
	const faded = [], labels = [];
	const steps = Math.ceil((to - from) * scale / STEP) + 1, sums = new Float64Array(steps * kinds);
	const used = new Uint8Array(steps);
	const perStep = STEP / scale;
	const spread = (s, e, amount, kind, sign) => { // distributes `amount` over the steps from s to e
		if (amount <= 0) return;
		const a = Math.max(s, from), b = Math.min(e, to), part = e > s ? amount / (e - s) : 0;
		let first = Math.floor((a - from) / perStep);
		const last = Math.min(Math.floor((b - from) / perStep), steps - 1);
		for (; first <= last; first++) {
			const lo = Math.max(a, from + first * perStep), hi = Math.min(b, from + (first + 1) * perStep);
			if (hi > lo) sums[first * kinds + kind] += sign * part * (hi - lo);
		}
	};
	const ends = [], outer = []; // ends and indices of the calls that contain the current call, outermost first
	const [first, last] = within(row, from, to);
	for (let i = first; i < last; i++) {
		const s = start[i], e = s + dur[i];
		if (e < from) continue;
		while (ends.length && ends[ends.length - 1] <= s) { ends.pop(); outer.pop(); }
		const parent = outer.length ? outer[outer.length - 1] : -1;
		const kind = facts.nameKinds[names[i]];
		const fade = timeline.filter !== "" && facts.names[names[i]] !== timeline.filter &&
			!(kind === WAIT && parent >= 0 && facts.names[names[parent]] === timeline.filter);
		if (dur[i] * scale >= NARROW) {
			const left = Math.max(x + (s - from) * scale, x - 2);
			const right = Math.min(x + (e - from) * scale, x + (to - from) * scale + 2);
			const w = Math.max(right - left - 0.5, 1);
			if (fade) {
				faded.push(left, top, w, height);
			} else if (parent >= 0 && kind !== WAIT) {
				inner[kind].push(left, top + height * 0.25, w, height * 0.75);
			} else {
				(parent >= 0 ? inner : bars)[kind].push(left, top, w, height);
				if (waited[i] > 0 && kind !== WAIT) {
					const h = height * Math.min(waited[i] / dur[i], 1);
					inner[WAIT].push(left, top + height - h, w, h);
				}
			}
			if (parent < 0 && !fade && height >= 12 && w > 56 && timeline.labels < MOST_LABELS) {
				timeline.labels++;
				const over = waited[i] > dur[i] / 2 ? WAIT : kind; // the kind of the background
				const text = facts.names[names[i]].replace(/^MPI_/, "");
				labels.push([left + 3, w - 6, text, timeline.colours.on[over]]);
			}
		} else if (!fade) {
			const own = dur[i] - Math.min(waited[i], dur[i]);
			spread(s, e, own, kind, 1);
			spread(s, e, dur[i] - own, WAIT, 1);
			const at = Math.floor((s - from) / perStep);
			if (at >= 0 && at < steps) used[at] |= 1 << kind;
			if (parent >= 0 && dur[parent] * scale < NARROW) {
				spread(s, e, dur[i], facts.nameKinds[names[parent]], -1);
			}
		}
		if (dur[i] > 0) { ends.push(e); outer.push(i); }
	}
	const columns = Array.from({length: kinds}, () => []);
	const least = timeline.filter === "" ? 1 : Math.ceil(height / 2);
	const open = new Array(kinds).fill(null); // last rectangle of each kind; an equal next rectangle extends it
	for (let step = 0; step < steps; step++) {
		let below = 0, sum = 0;
		for (let kind = 0; kind < kinds; kind++) {
			const share = Math.max(sums[step * kinds + kind], 0) / perStep;
			sum = Math.min(sum + share, 1);
			let to = Math.round(sum * height);
			// A call that takes almost no time gets a minimum height, so that it is visible. If the user
			// has set a filter, this minimum is half of the row's height.
			if (to - below < least && used[step] >> kind & 1) to = Math.min(below + least, height);
			const h = Math.min(to, height) - below, o = open[kind];
			if (h > 0) {
				const r = columns[kind], v = top + height - below - h;
				if (o && o.step === step - 1 && o.v === v && o.h === h) {
					r[r.length - 2] += STEP;
					o.step = step;
				} else {
					r.push(x + step * STEP, v, STEP, h);
					open[kind] = {step, v, h};
				}
			}
			below = Math.max(below, Math.min(to, height));
		}
	}
	// The list must never be empty, because ECharts does not update a group without children.
	const shapes = [{type: "runs", shape: {list: []}, silent: true}];
	const add = (list, fill) => {
		if (list.length) shapes.push({type: "runs", shape: {list}, style: {fill}, silent: true});
	};
	add(faded, timeline.colours.line);
	for (const lists of [bars, inner, columns]) lists.forEach((r, kind) => add(r, timeline.colours[kind]));
	const font = Math.min(12, height - 2) + "px sans-serif";
	for (const [left, width, text, fill] of labels) {
		shapes.push({type: "text", silent: true, style: {
			x: left, y, text, width, overflow: "truncate", ellipsis: "…", verticalAlign: "middle", fill,
				font,
		}});
	}
	return shapes;
}

// arrowShapes returns the visible arrows, or none if there are more than MOST_ARROWS.
function arrowShapes(rows, from, to, at) {
	const lists = {rma: [], message: []};
	let n = 0;
	const add = (kind, s, row, e, target) => {
		if (++n <= MOST_ARROWS) lists[kind].push(...at(s, row), ...at(e, target));
	};
	const start = column("start"), dur = column("dur"), target = column("target");
	const RMA = facts.kinds.indexOf("rma");
	if (timeline.rma) {
		for (const row of rows) {
			const [first, last] = within(row, from, to);
			for (let i = first; i < last; i++) {
				if (target[i] === 0 || kindOf(i) !== RMA || start[i] + dur[i] < from) continue;
				const other = rowOf(target[i] - 1), own = facts.lanes[row].rank === target[i] - 1;
				if (other < 0 || own || timeline.filter !== "" &&
					nameOf(i) !== timeline.filter) continue;
				add("rma", start[i], row, start[i] + dur[i], other);
			}
		}
	}
	if (timeline.message && timeline.filter === "") {
		const s = column("arrow.from"), e = column("arrow.to");
		const a = column("arrow.fromLane"), b = column("arrow.toLane"), shown = new Set(rows);
		for (let i = 0; i < data.arrows; i++) {
			const inView = Math.min(s[i], e[i]) <= to && Math.max(s[i], e[i]) >= from;
			if (inView && (shown.has(a[i]) || shown.has(b[i]))) add("message", s[i], a[i], e[i], b[i]);
		}
	}
	const many = ": they are drawn where there are at most " + MOST_ARROWS;
	page("arrows-note").textContent = n ? plural(n, "arrow") + " in view" + (n > MOST_ARROWS ? many : "") : "";
	const none = [{type: "arrows", shape: {list: []}, silent: true}]; // empty shape, as in rowShapes
	if (n > MOST_ARROWS) return none;
	const style = {fill: null, stroke: timeline.colours.text, opacity: 0.75, lineWidth: 1};
	return none.concat(Object.entries(lists).filter(([, list]) => list.length).map(([kind, list]) => ({
		type: "arrows", shape: {list}, silent: true,
			style: {...style, lineDash: kind === "rma" ? null : [5, 3]},
	})));
}

// geometry returns the position of times and rows on the screen.
function geometry(params, api) {
	const c = params.coordSys, whole = Math.max(run, 1), zero = api.coord([0, 0])[0];
	const scale = (api.coord([whole, 0])[0] - zero) / whole;
	return {x: c.x, width: c.width, scale, from: (c.x - zero) / scale, to: (c.x + c.width - zero) / scale,
		height: api.size([0, 1])[1]};
}

function renderRow(params, api) {
	const row = api.value(1), g = geometry(params, api);
	if (params.dataIndexInside === 0) timeline.labels = 0;
	const y = api.coord([0, row])[1], height = Math.max(Math.round(g.height) - (g.height >= 6 ? 1 : 0), 1);
	const c = params.coordSys, none = {type: "group", silent: true, children: [{type: "runs", shape: {list: []}}]};
	if (y + height < c.y || y - height > c.y + c.height) return none; // the row is not visible
	const from = Math.max(g.from, 0), x = g.x + (from - g.from) * g.scale;
	return {type: "group", silent: true, children: rowShapes(row, from, g.to, x, g.scale, Math.round(y), height)};
}

function renderArrows(params, api) {
	const g = geometry(params, api);
	const at = (t, row) => [g.x + (t - g.from) * g.scale, api.coord([0, row])[1]];
	const rows = [];
	for (let row = 0; row < facts.lanes.length; row++) {
		const y = at(0, row)[1];
		if (y >= params.coordSys.y - 1 && y <= params.coordSys.y + params.coordSys.height + 1) rows.push(row);
	}
	const children = arrowShapes(rows, g.from, g.to, at), i = timeline.selected;
	if (i >= 0) {
		const s = column("start")[i], e = s + column("dur")[i], target = column("target")[i] - 1,
			row = timeline.row;
		const [x, y] = at(s, row), width = Math.max((e - s) * g.scale, 3) + 2, height = g.height;
		const style = {fill: null, stroke: timeline.colours.text, lineWidth: 2};
		children.push({type: "rect", silent: true, shape: {x: x - 1, y: y - height / 2, width, height, r: 0},
			style});
		if (target >= 0 && target !== facts.lanes[row].rank && rowOf(target) >= 0) {
			children.push({type: "arrows", silent: true, shape: {list: [x, y, ...at(e, rowOf(target))]},
				style});
		}
	}
	return {type: "group", children, silent: true};
}
