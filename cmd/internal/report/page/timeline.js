// The timeline: an ECharts chart with a row for each thread, and its mouse and key commands.

const timeline = {
	chart: null, view: {from: 0, to: Math.max(run, 1)}, selected: -1, row: 0, filter: "", rma: true, message: true,
	labels: 0, colours: [], reach: null,
};

// describe returns a description of an event in one line.
function describe(i, row) {
	const of = name => column(name)[i], lane = facts.lanes[row], parts = [];
	const say = (name, text) => { if (of(name) > 0) parts.push(text(of(name) - 1)); };
	parts.push("rank " + lane.rank + (lane.host ? " on " + lane.host : "") +
		(threaded ? ", thread " + lane.thread : "") + ": " + nameOf(i) + ", " + time(of("dur")) + " from " +
		exactTime(of("start"), 1));
	say("target", n => "target " + n);
	say("dest", n => "to " + n);
	say("source", n => "from " + n);
	say("tag", n => "tag " + n);
	if (of("bytes") > 0) parts.push(bytes(of("bytes")));
	if (of("bytes") >= 1024) parts[parts.length - 1] += " (" + count(of("bytes")) + ")";
	const w = facts.windows[of("window")], number = n => w.dynamic ? "0x" + n.toString(16) : count(n);
	if (of("window") > 0) parts.push("window " + w.name);
	say("disp", n => (w.dynamic ? "addresses " : "bytes ") + number(n) + " to " +
		number(n + Math.max(of("span"), 1) - 1));
	if (of("comm") > 0) parts.push("communicator " + facts.comms[of("comm")]);
	if (of("waited") > 0) parts.push("waited " + time(of("waited")));
	say("for", n => "for rank " + n);
	return parts.join(" · ");
}

// find returns the shortest event of a row within `tolerance` of a time (`best`), the number of events there (`n`), and
// the number of these events by name (`near`).
function find(t, row, tolerance) {
	const start = column("start"), dur = column("dur"), near = new Map();
	const [first, last] = within(row, t - tolerance, t + tolerance);
	let best = -1, n = 0;
	for (let i = first; i < last; i++) {
		if (start[i] + dur[i] < t - tolerance) continue;
		n++;
		near.set(nameOf(i), (near.get(nameOf(i)) || 0) + 1);
		if (best < 0 || dur[i] <= dur[best]) best = i;
	}
	return {best, n, near};
}

function tipText(t, row) {
	const tolerance = (timeline.view.to - timeline.view.from) / timeline.chart.getWidth() * 1.5;
	const {best, n, near} = find(t, row, tolerance);
	if (best < 0) return "rank " + rowName(row) + ": outside of MPI at " + exactTime(t, tolerance);
	if (n <= 3) return describe(best, row).replaceAll(" · ", "\n");
	const list = [...near].sort((a, b) => b[1] - a[1]), most = 6;
	return ["rank " + rowName(row) + ": " + count(n) + " calls and waits within " + time(2 * tolerance) + " at " +
		exactTime(t, tolerance), ...list.slice(0, most).map(([name, k]) => count(k) + " × " + name),
	...(list.length > most ? ["…"] : [])].join("\n");
}

// select selects an event, describes it, and scrolls to it.
function select(i, row) {
	timeline.selected = i;
	timeline.row = row;
	page("selected").textContent = i < 0 ? "No call is selected." : describe(i, row);
	page("timeline").dataset.selected = i;
	const rows = timeline.chart.getOption().dataZoom[2]; // absent if all rows fit
	if (i >= 0 && rows && (row < rows.startValue || row > rows.endValue)) {
		const shown = rows.endValue - rows.startValue, last = facts.lanes.length - 1 - shown;
		const startValue = Math.max(0, Math.min(row - Math.floor(shown / 2), last));
		timeline.chart.dispatchAction({type: "dataZoom", dataZoomIndex: 2, startValue, endValue: startValue + shown});
	}
	if (i >= 0) {
		const s = column("start")[i], e = s + column("dur")[i], v = timeline.view, span = v.to - v.from;
		if (e < v.from || s > v.to) {
			zoomTo(s - span / 2, s + span / 2);
			return;
		}
	}
	redraw();
}

function redraw() {
	timeline.chart.setOption({series: [{id: "calls"}, {id: "arrows"}]});
}

function zoomTo(from, to) {
	const least = 20, whole = Math.max(run, 1);
	let span = Math.min(Math.max(to - from, least), whole);
	from = Math.min(Math.max((from + to - span) / 2, 0), whole - span);
	timeline.chart.dispatchAction({type: "dataZoom", dataZoomIndex: 0, startValue: from, endValue: from + span});
}

function zoomBy(factor) {
	const v = timeline.view, mid = (v.from + v.to) / 2, half = (v.to - v.from) * factor / 2;
	zoomTo(mid - half, mid + half);
}

function zoomToSelected() {
	const i = timeline.selected;
	if (i < 0) return;
	const s = column("start")[i], d = Math.max(column("dur")[i], 20);
	zoomTo(s - d, s + 2 * d);
}

function viewChanged() {
	const z = timeline.chart.getOption().dataZoom[0], whole = Math.max(run, 1);
	const v = timeline.view = {from: z.startValue ?? z.start / 100 * whole, to: z.endValue ?? z.end / 100 * whole};
	const step = (v.to - v.from) / 1000;
	const part = exactTime(v.from, step) + " to " + exactTime(v.to, step) + " (" + time(v.to - v.from) + " of " +
		time(run) + ")";
	page("range").textContent = v.from <= 0 && v.to >= whole ? "whole run: " + time(run) : part;
	page("timeline").dataset.from = v.from;
	page("timeline").dataset.to = v.to;
}

// axisSpan returns the length of the time interval that the axis shows. It is for use during drawing, before
// timeline.view is set.
function axisSpan(chart) {
	const [from, to] = chart.getModel().getComponent("xAxis").axis.scale.getExtent();
	return Math.max(to - from, 1);
}

function drawTimeline() {
	const box = page("timeline"), rows = facts.lanes.length, shown = Math.min(rows, 96);
	const rowHeight = Math.min(Math.max(Math.round(700 / shown), 8), 34), height = shown * rowHeight;
	box.style.height = height + 78 + "px";
	if (timeline.chart) timeline.chart.dispose();
	timeline.colours = facts.kinds.map(colour);
	for (const name of ["line", "text", "faint", "field", "accent"]) timeline.colours[name] = colour(name);
	timeline.colours.on = facts.kinds.map(k => colour("on-" + k));
	const c = timeline.colours, view = timeline.view;
	const chart = timeline.chart = echarts.init(box, null, {renderer: "canvas"});
	const ends = {startValue: view.from, endValue: view.to};
	const slider = {
		type: "slider", borderColor: c.line, fillerColor: c.accent + "30", brushSelect: false,
			filterMode: "none",
		showDetail: false, handleStyle: {color: c.field, borderColor: c.accent},
			moveHandleStyle: {color: c.accent},
	};
	const time = {xAxisIndex: 0, filterMode: "none", throttle: 30, minValueSpan: 20, ...ends};
	const series = {type: "custom", clip: true, silent: true, encode: {x: 0, y: 1}, progressive: 0};
	chart.setOption({
		animation: false,
		aria: {enabled: true, label: {description: "Timeline of " + plural(rows, "row") +
			"; sums are in the tables below."}},
		grid: {left: 64, right: rows > shown ? 30 : 18, top: 8, height},
		xAxis: {
			type: "value", min: 0, max: Math.max(run, 1), splitNumber: 7, z: 1, axisTick: {show: true},
			axisLine: {show: true, lineStyle: {color: c.line}},
				splitLine: {lineStyle: {color: c.line, opacity: 0.5}},
			axisLabel: {
				color: c.faint, hideOverlap: true, showMinLabel: true, showMaxLabel: false,
				formatter: v => exactTime(v, axisSpan(chart) / 40),
			},
		},
		yAxis: {
			type: "category", inverse: true, data: facts.lanes.map((_, i) => rowName(i)),
			name: threaded ? "rank.thread" : "rank", nameLocation: "middle", nameGap: 44,
			nameTextStyle: {color: c.faint}, axisTick: {show: false},
				axisLine: {lineStyle: {color: c.line}},
			axisLabel: {color: c.faint, fontSize: 11, interval: Math.ceil(13 / rowHeight) - 1},
		},
		dataZoom: [
			{...time, type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseMove: true,
				moveOnMouseWheel: false},
			{...slider, ...time, bottom: 8, height: 22, showDataShadow: false},
			...(rows > shown ? [{...slider, yAxisIndex: 0, startValue: 0, endValue: shown - 1, right: 4,
				width: 14,
				zoomLock: true}] : []),
		],
		series: [
			{...series, id: "calls", renderItem: renderRow, z: 2, data: facts.lanes.map((_, i) => [0, i])},
			{...series, id: "arrows", renderItem: renderArrows, z: 4, data: [[0, 0]]},
		],
	});
	chart.on("datazoom", viewChanged);
	viewChanged();
	const place = e => {
		const pixel = [e.offsetX, e.offsetY];
		if (!chart.containPixel({gridIndex: 0}, pixel)) return null;
		const [t, row] = chart.convertFromPixel({gridIndex: 0}, pixel);
		return {t, row: Math.min(Math.max(Math.round(row), 0), rows - 1)};
	};
	chart.getZr().on("mousemove", e => {
		const p = place(e);
		tip(p && e.event && !e.event.buttons ? tipText(p.t, p.row) : "", e.event);
	});
	chart.getZr().on("globalout", () => tip(""));
	chart.getZr().on("click", e => {
		const p = place(e);
		const tolerance = (timeline.view.to - timeline.view.from) / chart.getWidth() * 2;
		if (p) select(find(p.t, p.row, tolerance).best, p.row);
	});
	chart.getZr().on("dblclick", e => {
		const p = place(e), span = (timeline.view.to - timeline.view.from) / 4;
		if (p) zoomTo(p.t - span / 2, p.t + span / 2);
	});
}

// tip shows text beside the mouse pointer. Empty text hides the tip.
function tip(text, event) {
	const box = page("tip");
	box.hidden = text === "";
	if (text === "" || !event) return;
	box.textContent = text;
	const x = event.clientX, y = event.clientY, height = box.offsetHeight;
	box.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.offsetWidth - 8)) + "px";
	box.style.top = (y + 18 + height > innerHeight ? y - height - 10 : y + 18) + "px";
}

// step selects the next or previous call. If no call in this row is selected, it selects the first or last visible
// call.
function step(by) {
	const row = timeline.row, v = timeline.view;
	let i = timeline.selected;
	if (i < data.first[row] || i >= data.first[row + 1]) i = by > 0 ? after(row, v.from) : after(row, v.to) - 1;
	else i += by;
	if (i >= data.first[row] && i < data.first[row + 1]) select(i, row);
}

function stepRow(by) {
	const row = Math.min(Math.max(timeline.row + by, 0), facts.lanes.length - 1), i = timeline.selected;
	const t = i >= 0 ? column("start")[i] : timeline.view.from;
	const at = Math.min(after(row, t), data.first[row + 1] - 1);
	select(at >= data.first[row] ? at : -1, row);
}

function timelineKeys(e) {
	if (e.ctrlKey || e.altKey || e.metaKey) return;
	const v = timeline.view, quarter = (v.to - v.from) / 4, move = by => () => zoomTo(v.from + by, v.to + by);
	const does = {
		ArrowLeft: move(-quarter), a: move(-quarter), ArrowRight: move(quarter), d: move(quarter),
		"+": () => zoomBy(0.5), "=": () => zoomBy(0.5), w: () => zoomBy(0.5),
		"-": () => zoomBy(2), s: () => zoomBy(2), 0: () => zoomTo(0, run), Home: () => zoomTo(0, run),
		n: () => step(1), p: () => step(-1), ArrowDown: () => stepRow(1), ArrowUp: () => stepRow(-1),
		Enter: zoomToSelected, Escape: () => select(-1, timeline.row),
	}[e.key];
	if (does) {
		e.preventDefault();
		does();
	}
}

function startTimeline() {
	const names = [...new Set(facts.calls.map(c => c.name))].sort();
	page("filter").append(element("option", {value: ""}, "all"),
		...names.map(n => element("option", {value: n}, n)));
	page("filter").onchange = e => { timeline.filter = e.target.value; redraw(); };
	page("arrows-rma").onchange = e => { timeline.rma = e.target.checked; redraw(); };
	page("arrows-message").onchange = e => { timeline.message = e.target.checked; redraw(); };
	page("zoom-in").onclick = () => zoomBy(0.5);
	page("zoom-out").onclick = () => zoomBy(2);
	page("zoom-all").onclick = () => zoomTo(0, run);
	const box = page("timeline"), wheel = how => timeline.chart.setOption({dataZoom: [{zoomOnMouseWheel: how}]});
	box.addEventListener("keydown", timelineKeys);
	box.addEventListener("focus", () => wheel(true));
	box.addEventListener("blur", () => wheel("ctrl"));
	box.addEventListener("mousedown", () => box.focus({preventScroll: true}));
	const legend = {
		rma: "one-sided operation", sync: "synchronization of a window", message: "message",
			collective: "collective",
		other: "other call", wait: "waiting within a call",
	};
	const swatch = k => element("i", {style: "background: var(--" + k + ")"});
	page("legend").append(...Object.entries(legend).map(([k, text]) => element("li", {}, swatch(k), text)),
		element("li", {}, "→ operation to target"), element("li", {}, "⇢ message to its receive"));
	drawTimeline();
}
