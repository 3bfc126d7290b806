// The head of the page, and the start of all other parts. document.body.dataset.ready tells a test that the page is
// complete, or which error occurred.

function drawHead() {
	const what = facts.command || facts.source;
	document.title = what + " – gompirma report";
	page("title").textContent = what;
	const about = [plural(facts.ranks, "rank") + (facts.nodes ? " on " + plural(facts.nodes, "node") : ""),
		time(run) + " from the first call to the end of the last", plural(facts.events, "event"),
			"from " + facts.source];
	(facts.jobs || []).forEach((first, job) => {
		const last = (facts.jobs[job + 1] ?? facts.ranks) - 1;
		if (job > 0 && first <= last) about.push("job " + job + ": " + (first === last ? "rank " + first
			: "ranks " + first + "–" + last));
	});
	if (facts.started) about.push("started " + facts.started);
	if (facts.hasJob) about.push("exit status " + facts.exit);
	page("about").textContent = about.join(" · ");
	page("words").append(...facts.words.map(w => element("li", {}, w)));
	const warnings = [];
	if (facts.cut) {
		warnings.push("The trace is incomplete, because the job and gompirun were killed: " +
			"later calls are missing.");
	}
	if (facts.dropped) {
		warnings.push("The trace lacks " + plural(facts.dropped, "call") + " of " +
			plural(facts.droppedBy, "rank") + ", because the buffer for records was full: sums are too small.");
	}
	if (facts.halves) warnings.push("The page does not show " + plural(facts.halves, "arrow") +
		", because the trace lacks one end of each.");
	if (facts.ignored) warnings.push("The page does not show " + plural(facts.ignored, "event") +
		" of other kinds in the file.");
	if (!facts.events) warnings.push("The trace contains no events.");
	page("warnings").append(...warnings.map(w => element("li", {}, w)));
	page("footer").textContent = "Made by gompirun report" +
		(facts.producer ? " of a trace by " + facts.producer : "") +
		". Charts: Apache ECharts " + echarts.version + " (Apache License 2.0).";
}

function drawAll() {
	drawTimeline();
	drawLoad();
	drawMatrix();
	drawHeat();
	drawWaits();
}

async function start() {
	drawHead();
	if (!facts.lanes.length) { // nothing to draw
		document.querySelector("main").hidden = true;
		document.body.dataset.ready = 1;
		return;
	}
	await unpack();
	startTimeline();
	startWindows();
	startWaits();
	for (const e of document.querySelectorAll("#matrix-part input")) e.onchange = drawMatrix;
	for (const e of document.querySelectorAll("#windows-part input, #window")) e.onchange = drawHeat;
	drawLoad();
	drawMatrix();
	drawHeat();
	drawWaits();
	drawCalls();
	drawConflicts();
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
	let timer = 0;
	addEventListener("resize", () => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			timeline.chart.resize();
			for (const c of Object.values(charts)) c.resize();
		}, 100);
	});
	document.body.dataset.ready = Math.round(performance.now());
}

start().catch(e => {
	document.body.dataset.ready = "failed: " + e;
	page("warnings").append(element("li", {}, "The page could not be drawn: " + e));
	throw e;
});
