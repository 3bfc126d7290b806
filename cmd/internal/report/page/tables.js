// The tables: waits by cause, calls, and conflicts.

// sortable fills a table whose columns are {title, value, text, number}. A click on a title sorts by that column.
// sortable passes the sorted rows to the function `body`.
function sortable(table, columns, rows, by, body) {
	let down = true;
	const compare = (a, b) => {
		const c = columns[by], x = c.value(a), y = c.value(b);
		return (down ? -1 : 1) * (c.number ? x - y : -x.localeCompare(y));
	};
	const title = (c, i) => {
		const sort = () => {
			down = i === by ? !down : true;
			by = i;
			draw();
		};
		const cell = element("th", {scope: "col", class: c.number ? "n" : ""},
			c.value ? element("button", {type: "button", onclick: sort}, c.title) : c.title);
		if (i === by) cell.setAttribute("aria-sort", (c.number ? down : !down) ? "descending" : "ascending");
		return cell;
	};
	const draw = () => {
		rows.sort(compare);
		table.tHead.replaceChildren(element("tr", {}, ...columns.map(title)));
		body(rows.map(r => element("tr", {}, ...columns.map(c => element("td", {class: c.number ? "n" : ""},
			c.text(r))))));
	};
	draw();
}

function drawCalls() {
	const rows = [...facts.calls], whole = run * facts.lanes.filter(l => l.events > 0).length;
	const most = rows.reduce((a, c) => Math.max(a, c.time), 1), table = page("calls");
	const bar = c => {
		const width = Math.max(Math.round(160 * c.time / most), 1), kind = facts.kinds[c.kind];
		return element("span", {class: "bar", style: "width:" + width + "px;background:var(--" + kind + ")"});
	};
	const mean = c => c.count ? c.time / c.count : 0;
	sortable(table, [
		{title: "call", value: c => c.name, text: c => c.name},
		{title: "kind", value: c => facts.kinds[c.kind], text: c => facts.kinds[c.kind]},
		{title: "number", number: true, value: c => c.count, text: c => count(c.count)},
		{title: "bytes", number: true, value: c => c.bytes, text: c => c.bytes ? bytes(c.bytes) : ""},
		{title: "time", number: true, value: c => c.time, text: c => time(c.time)},
		{title: "share", number: true, value: c => c.time, text: c => percent(c.time, whole)},
		{title: "waited in it", number: true, value: c => c.waited, text: c => c.waited ? time(c.waited) : ""},
		{title: "mean", number: true, value: mean, text: c => time(mean(c))},
		{title: "longest", number: true, value: c => c.max, text: c => time(c.max)},
		{title: "", text: bar},
	], rows, 4, body => table.tBodies[0].replaceChildren(...body));
	const sum = of => rows.reduce((a, c) => a + c[of], 0);
	const last = ["", count(sum("count")), bytes(sum("bytes")), time(sum("time")), percent(sum("time"), whole),
		time(sum("waited")), "", ""].map(text => element("td", {class: "n"}, text));
	table.tFoot.replaceChildren(element("tr", {}, element("td", {}, "all"), ...last,
		element("td", {class: "barcell"})));
	for (const of of ["count", "bytes", "time", "waited"]) table.dataset[of] = sum(of);
}

// chosenWaits returns the waits of the selected rank and call; facts.waits itself if all ranks and calls are selected.
function chosenWaits() {
	const rank = page("waits-rank").value, call = page("waits-call").value;
	if (rank === "" && call === "") return facts.waits;
	return facts.waits.filter(w => (rank === "" || w.rank === Number(rank)) && (call === "" || w.call === call));
}

let waitRows = 20;

function drawWaits() {
	const waits = chosenWaits(), all = waits === facts.waits, total = page("waits-total"), table = page("waits");
	const sum = all ? facts.waitTime : waits.reduce((a, w) => a + w.time, 0);
	const left = facts.waitsLeft ? "; the table has the largest " + count(facts.waits.length) + " causes of " +
		count(facts.waits.length + facts.waitsLeft) : "";
	total.textContent = facts.waitTime ? "waited " + time(sum) + " in all" + left :
		"The trace contains no waits.";
	total.dataset.time = sum;
	const show = w => element("button", {
		type: "button", "aria-label": "show the longest in the timeline", onclick: () => showWait(w),
	}, "show");
	sortable(table, [
		{title: "rank", number: true, value: w => w.rank, text: w => String(w.rank)},
		{title: "in", value: w => w.call, text: w => w.call},
		{title: "for rank", number: true, value: w => w.for, text: w => w.for < 0 ? "?" : String(w.for)},
		{title: "times", number: true, value: w => w.count, text: w => count(w.count)},
		{title: "waited", number: true, value: w => w.time, text: w => time(w.time)},
		{title: "of the run", number: true, value: w => w.time, text: w => percent(w.time, run)},
		{title: "longest", number: true, value: w => w.max, text: w => time(w.max)},
		{title: "", text: show},
	], [...waits], 4, body => {
		table.tBodies[0].replaceChildren(...body.slice(0, waitRows));
		page("waits-more").hidden = body.length <= waitRows;
	});
	drawWaitsMap(waits);
}

// showWait shows the longest wait of a cause in the timeline.
function showWait(w) {
	const from = w.at - facts.start, span = Math.max(w.max, 100);
	zoomTo(from - span, from + 2 * span);
	select(after(w.lane, from), w.lane);
	page("timeline").focus();
	page("timeline-part").scrollIntoView();
}

function startWaits() {
	const options = (id, list) => page(id).append(element("option", {value: ""}, "all"),
		...list.map(v => element("option", {value: v}, String(v))));
	options("waits-rank", [...new Set(facts.waits.map(w => w.rank))].sort((a, b) => a - b));
	options("waits-call", [...new Set(facts.waits.map(w => w.call))].sort());
	page("waits-rank").onchange = page("waits-call").onchange = drawWaits;
	page("waits-more").onclick = () => { waitRows = Infinity; drawWaits(); };
}

function conflict(c, i) {
	const line = a => {
		const code = text => element("code", {}, text), parts = ["rank " + a.rank + ": ", code(a.call)];
		if (a.thread) parts[0] = "rank " + a.rank + ", thread " + a.thread + ": ";
		if (a.function) parts.push(" in ", code(a.function));
		if (a.file) parts.push(", ", code(a.file + (a.line ? ":" + a.line : "")));
		if (a.epoch) parts.push("; epoch: " + a.epoch);
		return element("p", {}, ...parts);
	};
	const where = (c.window ? "Window " + c.window + ", target " : "Target ") + c.target + ", bytes " +
		count(c.from) +
		" to " + count(c.to - 1) + (c.count > 1 ? "; seen " + count(c.count) + " times" : "");
	return element("div", {class: "conflict"}, element("h3", {}, i + 1 + ". " + (c.what || "conflicting accesses")),
		element("p", {}, where), ...(c.accesses || []).map(line),
		...(c.advice ? [element("p", {}, "Advice: " + c.advice)] : []));
}

function drawConflicts() {
	const box = page("conflicts"), list = facts.conflicts || [];
	box.append(...list.map(conflict));
	if (facts.moreConflicts) box.append(element("p", {}, count(facts.moreConflicts) + " more in the trace."));
	if (!list.length) {
		box.append(facts.checked ? "--check found no conflicts in this run." :
			"This run was without --check, which finds conflicting accesses.");
	}
}
