// The charts beside the timeline: stacked bars of time by rank, and three heat maps.

const charts = {};

// chart creates the ECharts instance of an element, with a height in pixels. It replaces a previous instance.
function chart(id, height) {
	const box = page(id);
	if (charts[id]) charts[id].dispose();
	box.style.height = height + "px";
	return charts[id] = echarts.init(box, null, {renderer: "canvas"});
}

function axis(name, gap, more) {
	return {
		name, nameLocation: "middle", nameGap: gap, nameMoveOverlap: false,
			nameTextStyle: {color: colour("faint")},
		axisLine: {lineStyle: {color: colour("line")}}, axisTick: {show: false}, splitLine: {show: false},
			...more,
		axisLabel: {color: colour("faint"), hideOverlap: true, ...more.axisLabel},
	};
}

// tooltip returns the options of a tooltip. It shows text only, never HTML: names come from the traced program.
function tooltip(text) {
	return {
		confine: true, backgroundColor: colour("page"), borderColor: colour("faint"),
		textStyle: {color: colour("text"), fontSize: 13},
		formatter: p => echarts.format.encodeHTML(text(p)).replaceAll("\n", "<br>"),
	};
}

const kindWords = {
	rma: "one-sided", sync: "synchronization", message: "messages", collective: "collectives", other: "other calls",
	wait: "waiting",
};

function drawLoad() {
	const lanes = facts.lanes, kinds = Object.keys(kindWords),
		of = (lane, kind) => lane.time[facts.kinds.indexOf(kind)];
	const series = kinds.map(kind => ({
		name: kind, type: "bar", stack: "time", barCategoryGap: "15%", barMaxWidth: 80,
			itemStyle: {color: colour(kind)},
		data: lanes.map(l => run > 0 ? 100 * of(l, kind) / run : 0),
	}));
	const text = bars => {
		const row = bars[0].dataIndex, l = lanes[row], inside = l.time.reduce((a, b) => a + b, 0);
		return ["rank " + rowName(row) + (l.host ? " on " + l.host : ""),
			...kinds.map(kind => kindWords[kind] + ": " + time(of(l, kind))),
			"outside of MPI: " + time(Math.max(run - inside, 0))].join("\n");
	};
	const top = v => Math.min(100, Math.max(1, Math.ceil(v.max * 1.05)));
	chart("load", 260).setOption({
		animation: false,
		aria: {enabled: true, label: {description: "Share of the run by kind of call, for each row."}},
		grid: {left: 64, right: 18, top: 30, bottom: 44},
		legend: {
			top: 0, left: 60, data: kinds, formatter: kind => kindWords[kind],
				textStyle: {color: colour("text")},
			itemWidth: 12, itemHeight: 10,
		},
		tooltip: {trigger: "axis", axisPointer: {type: "shadow"}, ...tooltip(text)},
		xAxis: axis(threaded ? "rank.thread" : "rank", 26,
			{type: "category", data: lanes.map((_, i) => rowName(i))}),
		yAxis: axis("share of the run in MPI (%)", 40, {
			type: "value", min: 0, max: top, splitLine: {show: true,
				lineStyle: {color: colour("line"), opacity: 0.5}},
		}),
		series,
	});
}

// heatMap draws a heat map. The axes x and y have the form {name, labels}. A cell is [x, y, value, data], where data is
// for the function text(cell). The colours are logarithmic if the largest value exceeds 100 times the smallest.
function heatMap(id, height, {x, y, cells, show, text, description}) {
	if (!cells.length) height = 170;
	const c = chart(id, height), faint = colour("faint");
	let low = Infinity, high = 0;
	for (const cell of cells) {
		low = Math.min(low, cell[2]);
		high = Math.max(high, cell[2]);
	}
	if (!cells.length) low = high = 1;
	const log = high > 100 * low, scale = v => log ? Math.log10(Math.max(v, 1)) : v, back = v => log ? 10 ** v : v;
	const left = Math.max(64, 42 + 7 * Math.max(...y.labels.map(l => l.length)));
	const everyRow = Math.max(Math.ceil(13 * y.labels.length / (height - 64)) - 1, 0);
	const note = (text, place) => ({type: "text", ...place, style: {text, fill: faint}});
	c.setOption({
		animation: false,
		aria: {enabled: true, label: {description}},
		grid: {left, right: 110, top: 12, bottom: 52},
		tooltip: tooltip(p => text(p.data)),
		xAxis: axis(x.name, 30, {type: "category", data: x.labels, axisLabel: x.axisLabel}),
		yAxis: axis(y.name, left - 20, {
			type: "category", data: y.labels, inverse: true, axisLabel: {fontSize: 11, interval: everyRow},
		}),
		visualMap: {
			type: "continuous", show: cells.length > 0, dimension: 2, precision: 3, calculable: true,
			min: log ? scale(low) : high > low ? 0 : low / 2, max: scale(high),
				formatter: v => show(back(v)),
			orient: "vertical", right: 4, top: log ? 30 : 10, itemHeight: Math.min(180, height - 110),
			textStyle: {color: faint}, inRange: {color: [0, 1, 2, 3].map(i => colour("heat" + i))},
		},
		series: [{
			type: "heatmap", progressive: 0, data: cells.map(v => [v[0], v[1], scale(v[2]), v[2], v[3]]),
			itemStyle: {borderColor: colour("page"), borderWidth: cells.length > 1500 ? 0 : 1},
			emphasis: {itemStyle: {borderColor: colour("text")}},
		}],
		graphic: [
			...(cells.length ? [] : [note("no data", {left: "center", top: "middle"})]),
			...(log ? [note("logarithmic", {right: 6, top: 6})] : []),
		],
	});
}

// blockSize is the number of ranks that share a row of a matrix, so that the matrix has at most 128 rows.
const blockSize = Math.ceil(facts.ranks / 128);
const blockNames = Array.from({length: Math.ceil(facts.ranks / blockSize)}, (_, i) => {
	const first = i * blockSize, last = Math.min(first + blockSize, facts.ranks) - 1;
	return first === last ? String(first) : first + "–" + last;
});
const block = rank => Math.floor(rank / blockSize);
const blockWord = i => (blockSize === 1 ? "rank " : "ranks ") + blockNames[i];
const squareHeight = Math.min(Math.max(blockNames.length * 9 + 70, 280), 720);

// added adds up the lists of pairs. It returns [from, to, count, bytes] for each pair of ranks.
function added(lists) {
	const sums = new Map();
	for (const p of lists) {
		for (let i = 0; i < p.from.length; i++) {
			const key = p.from[i] + "," + p.to[i], s = sums.get(key) || [p.from[i], p.to[i], 0, 0];
			s[2] += p.count[i];
			s[3] += p.bytes[i];
			sums.set(key, s);
		}
	}
	return [...sums.values()];
}

// inBlocks returns a cell for each pair of blocks of ranks that has events. The cell's value is the sum over its pairs
// of ranks of element `of` (the index of the count or of the bytes). A rank of -1 is unknown. Such pairs are in the
// column `unknown`.
function inBlocks(pairs, of, unknown) {
	const cells = new Map();
	for (const p of pairs) {
		const to = p[1] < 0 ? unknown : block(p[1]), from = block(p[0]), key = from + "," + to;
		const c = cells.get(key) || [to, from, 0, [0, 0]];
		c[2] += p[of];
		c[3][0] += p[2];
		c[3][1] += p[3];
		cells.set(key, c);
	}
	return [...cells.values()].filter(c => c[2] > 0);
}

const chosen = name => document.querySelector("input[name=" + name + "]:checked").value;

function drawMatrix() {
	const lists = [];
	if (page("matrix-rma").checked) lists.push(facts.oneSided);
	if (page("matrix-messages").checked) lists.push(facts.messages);
	const pairs = added(lists), of = chosen("matrix-unit") === "bytes" ? 3 : 2;
	const sum = i => pairs.reduce((a, p) => a + p[i], 0), total = page("matrix-total");
	total.textContent = count(sum(2)) + " in all, " + bytes(sum(3));
	total.dataset.count = sum(2);
	total.dataset.bytes = sum(3);
	heatMap("matrix", squareHeight, {
		x: {name: "to: target, receiver (rank)", labels: blockNames},
		y: {name: "from: origin, sender (rank)", labels: blockNames},
		cells: inBlocks(pairs, of), show: of === 3 ? bytes : v => count(Math.round(v)),
		text: d => blockWord(d[1]) + " to " + blockWord(d[0]) + "\n" + plural(d[4][0], "time") + ", " +
			bytes(d[4][1]),
		description: "Communication matrix; the largest pairs are in the table beside it.",
	});
	pairs.sort((a, b) => b[of] - a[of] || a[0] - b[0] || a[1] - b[1]);
	page("pairs").tBodies[0].replaceChildren(...pairs.slice(0, 15).map(p => element("tr", {},
		...[String(p[0]), String(p[1]), count(p[2]),
			bytes(p[3])].map(text => element("td", {class: "n"}, text)))));
}

// heatCells returns the accesses of the selected kinds: [range, target, value, [count, bytes]].
function heatCells(w, ways, unit) {
	const h = w.heat, cells = new Map();
	for (let i = 0; i < (h.target || []).length; i++) {
		if (!ways[h.way[i]]) continue;
		const key = h.target[i] * 1000 + h.range[i], c = cells.get(key) || [h.range[i], h.target[i], 0, [0, 0]];
		c[2] += h[unit][i];
		c[3][0] += h.count[i];
		c[3][1] += h.bytes[i];
		cells.set(key, c);
	}
	return [...cells.values()].filter(c => c[2] > 0);
}

// heatRows returns the ranks that have a row in the heat map. In a job of up to 256 ranks these are all members of the
// window, otherwise only the targets that were accessed.
function heatRows(w) {
	if (facts.ranks > 256) return [...new Set(w.heat.target || [])].sort((a, b) => a - b);
	const all = Array.from({length: facts.ranks}, (_, i) => i);
	return w.sizes.length ? all.filter(i => (w.sizes[i] ?? -1) >= 0) : all;
}

function heatHelp(w, end) {
	const sizes = w.sizes.filter(s => s >= 0), low = Math.min(...sizes), high = Math.max(...sizes), parts = [];
	if (w.dynamic) parts.push("A dynamic window.");
	else if (low === high) parts.push("The window has " + bytes(low) + " at each member.");
	else if (sizes.length) parts.push("The window has " + bytes(low) + " to " + bytes(high) + " at its members.");
	parts.push("A cell stands for " + bytes(w.range) + "; " +
		(w.from > 0 ? "before " + bytes(w.from) + " and " : "") +
		"beyond " + bytes(end) + " nothing was accessed. An access counts in each cell that it touches. " +
		"If its data has gaps, its bytes are distributed evenly over these cells.");
	if (w.unplaced) parts.push("The accessed bytes of " + plural(w.unplaced, "operation") + " are unknown.");
	return parts.join(" ");
}

function drawHeat() {
	const w = facts.windows[page("window").value], total = page("heat-total");
	const ways = [0, 1, 2].map(i => page("heat-" + i).checked), unit = chosen("heat-unit");
	const sum = of => ways.reduce((a, on, i) => a + (on && w ? w[of][i] : 0), 0);
	total.textContent = w ? plural(sum("number"), "operation") + ", " + bytes(sum("bytes")) :
		"The trace contains no operations on windows.";
	total.dataset.count = sum("number");
	total.dataset.bytes = sum("bytes");
	page("heat").hidden = page("heat-help").hidden = !w;
	if (!w) return;
	const offset = range => w.from + range * w.range, rows = heatRows(w),
		place = new Map(rows.map((r, i) => [r, i]));
	const part = range => (w.dynamic ? "+" : "") + count(offset(range)) + " to " + count(offset(range + 1) - 1);
	let mark = w.range; // distance of the labels: the range times a power of two, for round numbers
	while (w.ranges * w.range / mark > 12) mark *= 2;
	page("heat-help").textContent = heatHelp(w, offset(w.ranges));
	heatMap("heat", Math.min(Math.max(rows.length * 11 + 80, 180), 800), {
		x: {
			name: w.dynamic ? "offset from the first address accessed at the target" :
				"offset in the target's memory of the window",
			labels: Array.from({length: w.ranges}, (_, range) => bytes(offset(range))),
			axisLabel: {interval: range => offset(range) % mark === 0},
		},
		y: {name: "target (rank)", labels: rows.map(String)},
		cells: heatCells(w, ways, unit).filter(c => place.has(c[1])).map(c => [c[0], place.get(c[1]), c[2],
			c[3]]),
		show: unit === "bytes" ? bytes : v => count(Math.round(v)),
		text: d => "target " + rows[d[1]] + ", bytes " + part(d[0]) + "\n" +
			(w.dynamic ? "from address " + w.base[rows[d[1]]] + "\n" : "") +
			count(d[4][0]) + (d[4][0] === 1 ? " access, " : " accesses, ") + bytes(d[4][1]),
		description: "Accesses to the window by target and offset.",
	});
}

function startWindows() {
	const moved = w => w.bytes.reduce((a, b) => a + b, 0);
	const list = facts.windows.map((w, i) => [w, i]).filter(([w]) => w.name !== "" || w.number.some(n => n > 0));
	list.sort((a, b) => moved(b[0]) - moved(a[0]));
	page("window").append(...list.map(([w, i]) => element("option", {value: i}, w.name || "(no name)")));
}

// drawWaitsMap draws the heat map of the given waits.
function drawWaitsMap(waits) {
	const list = of => waits.map(w => w[of]);
	const pairs = added([waits === facts.waits ? facts.waitPairs :
		{from: list("rank"), to: list("for"), count: list("count"), bytes: list("time")}]);
	const unknown = blockNames.length, some = pairs.some(p => p[1] < 0);
	heatMap("waits-map", squareHeight, {
		x: {name: "awaited rank" + (some ? " (?: unknown)" : ""),
			labels: some ? [...blockNames, "?"] : blockNames},
		y: {name: "waiting rank", labels: blockNames},
		cells: inBlocks(pairs, 3, unknown), show: time,
		text: d => blockWord(d[1]) + " waited for " +
			(d[0] === unknown ? "an unknown rank" : blockWord(d[0])) + "\n" +
			plural(d[4][0], "time") + ", " + time(d[4][1]),
		description: "Waiting time by waiting rank and awaited rank; the table beside it has the largest values.",
	});
}
