// Formats numbers for the reader. Times are in ns.

const page = id => document.getElementById(id);

// digits formats a number with three or more significant digits, without trailing zeros after the decimal point.
function digits(n) {
	const a = Math.abs(n);
	return a >= 1000 ? Math.round(n).toLocaleString("en") : String(Number(n.toPrecision(a >= 100 ? 4 : 3)));
}

const timeUnits = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];

function timeUnit(ns) {
	return timeUnits.find(u => Math.abs(ns) >= u[1]) || timeUnits[3];
}

function time(ns) {
	if (ns === 0) return "0 s";
	const [name, size] = timeUnit(ns);
	return digits(ns / size) + " " + name;
}

// exactTime formats a time with enough digits to distinguish two times that differ by `step`.
function exactTime(ns, step) {
	const [name, size] = timeUnit(Math.max(Math.abs(ns), step));
	const wanted = Math.ceil(Math.log10(size / Math.max(step, 1))), most = Math.round(Math.log10(size));
	return (ns / size).toFixed(Math.max(0, Math.min(wanted, most))) + " " + name;
}

const byteUnits = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 1024], ["B", 1]];

function bytes(n) {
	const [name, size] = byteUnits.find(u => Math.abs(n) >= u[1]) || byteUnits[4];
	return digits(n / size) + " " + name;
}

function count(n) {
	return n.toLocaleString("en");
}

function plural(n, word) {
	return count(n) + " " + word + (n === 1 ? "" : "s");
}

function percent(part, whole) {
	const p = whole > 0 ? 100 * part / whole : 0;
	return (p >= 10 || p === 0 ? p.toFixed(0) : p >= 0.1 ? p.toFixed(1) : "< 0.1") + " %";
}

// element creates an element. Its content is text or elements, never HTML: names come from the traced program.
function element(tag, attributes, ...content) {
	const e = document.createElement(tag);
	for (const [k, v] of Object.entries(attributes || {})) {
		if (k === "class") e.className = v;
		else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
		else e.setAttribute(k, v);
	}
	e.append(...content);
	return e;
}

function colour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}
