package main

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A chart is a drawing and the name of its files. The function draw returns nil if the report has no measurement for
// the chart.
type chart struct {
	name string
	draw func(r *report) (*drawing, error)
}

var charts = []chart{
	{"latency", func(r *report) (*drawing, error) {
		return r.lines([]view{
			{"Put + flush", "put_flush", "sizes."}, {"Get + flush", "get_flush", "sizes."},
			{"Ping-pong, one way", "pingpong", "sizes."},
		}, bySize, quantity{"time", func(m measurement, ns float64) float64 { return ns }, duration})
	}},
	{"bandwidth", func(r *report) (*drawing, error) {
		return r.lines([]view{
			{"Put + flush", "put_flush", "sizes."}, {"Get + flush", "get_flush", "sizes."},
			{"Ping-pong, one way", "pingpong", "sizes."},
		}, bySize, quantity{"GB/s", func(m measurement, ns float64) float64 { return float64(m.X) / ns },
			plain})
	}},
	{"ranks", func(r *report) (*drawing, error) {
		return r.lines([]view{
			{"Barrier", "barrier", "ranks."}, {"Allreduce, 8 B", "allreduce", "ranks."},
			{"Fence", "fence", "ranks."},
		}, across{"ranks", plain, 1}, quantity{"time", func(m measurement, ns float64) float64 { return ns },
			duration})
	}},
	{"threads", func(r *report) (*drawing, error) {
		return r.lines([]view{
			{"Put 8 B + flush, a window each", "put", "threads."},
			{"Messages of 8 B, a communicator each", "stream", "threads."},
		}, across{"threads", plain, 1}, quantity{"million a second",
			func(m measurement, ns float64) float64 { return 1000 / ns }, plain})
	}},
	{"ratios", ratios},
	{"sweeps", sweeps},
	{"sweeps-one-sided", swept("Put + flush", "put.flush", "Get + flush", "get.flush", "Accumulate + flush",
		"accumulate.flush", "Put + flush, malloc", "put.flush.created")},
	{"sweeps-messages", swept("Ping-pong, one way", "pingpong", "64 posted: one", "bandwidth",
		"64 posted both ways: two", "both_ways", "64 posted, 4 ranks: one", "bandwidth.4")},
	{"sweeps-collectives", swept("Bcast", "bcast", "Allreduce", "allreduce", "Alltoall", "alltoall", "Allgatherv",
		"allgatherv")},
	{"sweeps-nonblocking", swept("Ibcast + Wait", "ibcast", "Iallreduce + Wait", "iallreduce", "Ialltoall + Wait",
		"ialltoall", "Iallgatherv + Wait", "iallgatherv")},
}

// swept returns the drawing function of a chart of sweeps, with a panel for each pair of title and series in `names`.
func swept(names ...string) func(r *report) (*drawing, error) {
	var views []view
	for i := 0; i < len(names); i += 2 {
		views = append(views, view{names[i], names[i+1], "sweep."})
	}
	return func(r *report) (*drawing, error) {
		return r.lines(views, bySize,
			quantity{"time", func(m measurement, ns float64) float64 { return ns }, duration})
	}
}

// A view is one panel: its title, the series and the prefix of the names of its measurements.
type view struct{ title, series, prefix string }

// across describes the x axis. The field `label` is its title, and the function `word` formats a value. Every n-th
// value has a label, where n is the field `every`.
type across struct {
	label string
	word  func(x float64) string
	every int
}

var bySize = across{"bytes", size, 3}

// quantity describes the y axis: its title `label`, the function `of` that computes a value from a measured time, and
// the function `word` that formats a value.
type quantity struct {
	label string
	of    func(m measurement, ns float64) float64
	word  func(v float64) string
}

// lines draws a panel for each view, with a line for each library. The axes are logarithmic and equal in all panels.
func (r *report) lines(views []view, x across, y quantity) (*drawing, error) {
	d := &drawing{width: vg.Length(len(views)) * 9 * vg.Centimeter, height: 8 * vg.Centimeter}
	for k, library := range r.Libraries {
		d.legend = append(d.legend, legend(library, k))
	}
	low, high := math.Inf(1), 0.0
	var xs []float64
	for i, v := range views {
		p := panel(v.title, x.label, "")
		if i == 0 {
			p.Y.Label.Text = y.label
		}
		for k, library := range r.Libraries {
			var points plotter.XYs
			for _, m := range r.Measurements {
				ns := m.Results[library].Median
				if !strings.HasPrefix(m.Name, v.prefix) || m.Series != v.series || ns <= 0 {
					continue
				}
				value := y.of(m, ns)
				points = append(points, plotter.XY{X: float64(m.X), Y: value})
				low, high = min(low, value), max(high, value)
				xs = append(xs, float64(m.X))
			}
			if err := line(p, k, points); err != nil {
				return nil, err
			}
		}
		d.panels = append(d.panels, p)
	}
	if len(xs) == 0 {
		return nil, nil
	}
	for _, p := range d.panels {
		from, to, ticks := decades(low, high, y.word)
		axis(&p.Y, from, to, ticks)
		first, last, words := x.ticks(xs)
		axis(&p.X, first, last, words)
	}
	return d, nil
}

// ticks returns a tick at each power of two in the range of the values. Some of the ticks have labels.
func (x across) ticks(values []float64) (first, last float64, ticks []plot.Tick) {
	first, last = values[0], values[0]
	for _, v := range values {
		first, last = min(first, v), max(last, v)
	}
	if first == last {
		last = 2 * first
	}
	at := map[float64]bool{}
	for _, v := range values {
		at[v] = true
	}
	n := 0
	for v := first; v <= last; v *= 2 {
		if !at[v] {
			continue
		}
		t := plot.Tick{Value: v}
		if n%x.every == 0 {
			t.Label = x.word(v)
		}
		ticks = append(ticks, t)
		n++
	}
	return first, last, ticks
}

// ratios draws a bar for the ratio of each main measurement, with a stroke at the wanted ratio. A ratio is the time of
// the better of MPICH and Open MPI divided by gompirma's time.
func ratios(r *report) (*drawing, error) {
	var rows []measurement
	for _, m := range r.Measurements {
		if m.Goal > 0 && m.Ratio > 0 && m.Series == "" {
			rows = append(rows, m)
		}
	}
	return bars("Times better than the better of MPICH and Open MPI. Stroke: the goal. Orange: not reached", rows,
		func(m measurement) (name string, value, stroke float64, good bool) {
			return short(m), m.Ratio, m.Goal, m.Ratio >= m.Goal
		})
}

// sweeps draws a bar for the median ratio of each sweep, with a stroke at the ratio of its worst size.
func sweeps(r *report) (*drawing, error) {
	rows := slices.DeleteFunc(slices.Clone(r.Sweeps), func(s sweep) bool { return s.Ratio <= 0 })
	return bars("Times better than the better peer, median over sizes. Stroke: the worst size. Orange: below 1.2",
		rows, func(s sweep) (name string, value, stroke float64, good bool) {
			if strings.Contains(s.Part, "malloc") {
				s.Label = "malloc: " + s.Label
			} else if strings.Contains(s.Part, "dynamic") {
				s.Label = "dynamic: " + s.Label
			}
			return s.Label, s.Ratio, s.Worst, s.Ratio >= 1.2
		})
}

// bars draws a bar for each row. For each row, the function `of` returns the bar's label, the value to which the bar
// extends, and the value at which its stroke is. It also returns whether the bar gets the colour of a good value.
func bars[T any](title string, rows []T, of func(row T) (name string, value, stroke float64, good bool)) (*drawing,
	error) {
	if len(rows) == 0 {
		return nil, nil
	}
	p := panel(title, "", "")
	low, high := 0.5, 2.0
	var names []plot.Tick
	for i, row := range rows {
		name, value, stroke, good := of(row)
		y := float64(len(rows) - 1 - i)
		low, high = min(low, value, stroke), max(high, value, stroke)
		names = append(names, plot.Tick{Value: y, Label: name})
		colour := colours[0]
		if !good {
			colour = colours[1]
		}
		p.Add(&bar{y: y, from: 1, to: value, stroke: stroke, colour: colour})
	}
	from, to, ticks := decades(low, high, plain)
	axis(&p.X, from, to, ticks)
	p.Y.Min, p.Y.Max = -0.7, float64(len(rows))-0.3
	p.Y.Tick.Marker = plot.ConstantTicks(names)
	p.Y.Tick.Label.Font.Size = 8
	p.Y.Tick.Length = 0
	return &drawing{panels: []*plot.Plot{p}, width: 20 * vg.Centimeter,
		height: vg.Length(len(rows))*3.6*vg.Millimeter + 22*vg.Millimeter}, nil
}

// short returns a name that fits next to a bar and differs between rows of different tables.
func short(m measurement) string {
	switch m.Part {
	case "Windows over malloc memory":
		return "malloc: " + m.Label
	case "Windows over malloc memory shared in place":
		return "shared in place: " + m.Label
	}
	return m.Label
}

// A bar is drawn at the height y between two values of x, with a stroke at a third value. It begins at x = 1, since a
// logarithmic axis has no zero, and extends to the left if the ratio is below 1.
type bar struct {
	y, from, to, stroke float64
	colour              color.Color
}

// Plot implements plot.Plotter.
func (b *bar) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	half := (y(1) - y(0)) * 0.34
	c.FillPolygon(b.colour, []vg.Point{{X: x(b.from), Y: y(b.y) - half}, {X: x(b.to), Y: y(b.y) - half},
		{X: x(b.to), Y: y(b.y) + half}, {X: x(b.from), Y: y(b.y) + half}})
	c.StrokeLine2(draw.LineStyle{Color: color.Black, Width: vg.Points(1.5)}, x(b.stroke), y(b.y)-1.3*half,
		x(b.stroke), y(b.y)+1.3*half)
}
