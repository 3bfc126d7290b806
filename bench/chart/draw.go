package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A drawing is a row of panels, with a legend of the libraries' colours and marks above them.
type drawing struct {
	panels        []*plot.Plot
	legend        []plot.Legend // each with a single entry
	width, height vg.Length
}

// Height of the legend, and width of one entry.
const legendHeight, legendWidth = 6 * vg.Millimeter, 32 * vg.Millimeter

func (d *drawing) write(path, kind string) error {
	var canvas vg.CanvasWriterTo
	if kind == "svg" {
		canvas = vgsvg.New(d.width, d.height)
	} else {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(d.width, d.height), vgimg.UseDPI(110))}
	}
	c := draw.New(canvas)
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	for i := range d.legend {
		left := vg.Millimeter + vg.Length(i)*legendWidth
		d.legend[i].Draw(draw.Crop(c, left, left+legendWidth-d.width, d.height-legendHeight, -vg.Millimeter))
	}
	if len(d.legend) > 0 {
		c = draw.Crop(c, 0, 0, 0, -legendHeight)
	}
	tiles := draw.Tiles{Rows: 1, Cols: len(d.panels), PadX: 6 * vg.Millimeter, PadLeft: vg.Millimeter,
		PadRight: 3 * vg.Millimeter, PadTop: vg.Millimeter, PadBottom: vg.Millimeter}
	for i, p := range d.panels {
		p.Draw(tiles.At(c, i, 0))
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return finish(f, canvas)
}

func finish(f *os.File, from io.WriterTo) error {
	_, err := from.WriteTo(f)
	if bad := f.Close(); err == nil {
		err = bad
	}
	return err
}

// Colours that the colour-blind can also distinguish, in the order of the libraries.
var colours = []color.RGBA{{R: 0x00, G: 0x72, B: 0xb2, A: 255}, {R: 0xd5, G: 0x5e, B: 0x00, A: 255},
	{R: 0x00, G: 0x9e, B: 0x73, A: 255}}

var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}}

var grey = color.Gray{Y: 0xdd}

func panel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text = title
	p.Title.TextStyle.Font.Size = font.Length(11)
	p.Title.Padding = vg.Points(4)
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size = font.Length(10)
		axis.Tick.Label.Font.Size = font.Length(9)
	}
	for _, style := range []*font.Font{&p.Title.TextStyle.Font, &p.X.Label.TextStyle.Font,
		&p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font} {
		style.Variant = "Sans"
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = grey, grey
	p.Add(grid)
	return p
}

// look returns the line style and the mark of library i.
func look(i int) (draw.LineStyle, draw.GlyphStyle) {
	colour := colours[i%len(colours)]
	return draw.LineStyle{Color: colour, Width: vg.Points(1.4)},
		draw.GlyphStyle{Color: colour, Radius: vg.Points(2.2), Shape: shapes[i%len(shapes)]}
}

// legend returns the legend entry of a library.
func legend(library string, i int) plot.Legend {
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	l.TextStyle.Font.Size, l.TextStyle.Font.Variant = font.Length(10), "Sans"
	stroke, mark := look(i)
	l.Add(library, &plotter.Line{LineStyle: stroke}, &plotter.Scatter{GlyphStyle: mark})
	return l
}

// line adds the points of library i and a line through them. It adds nothing if there are no points.
func line(p *plot.Plot, i int, points plotter.XYs) error {
	if len(points) == 0 {
		return nil
	}
	l, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	l.LineStyle, marks.GlyphStyle = look(i)
	p.Add(l, marks)
	return nil
}

// axis makes an axis logarithmic and sets its range and ticks.
func axis(a *plot.Axis, low, high float64, ticks []plot.Tick) {
	a.Min, a.Max = low, high
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

// decades returns the smallest range between powers of ten that contains the values `low` and `high`, and a tick at
// each power of ten.
func decades(low, high float64, word func(float64) string) (from, to float64, ticks []plot.Tick) {
	first, last := int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))
	if first == last {
		last++
	}
	for e := first; e <= last; e++ {
		v := math.Pow10(e)
		ticks = append(ticks, plot.Tick{Value: v, Label: word(v)})
	}
	return math.Pow10(first), math.Pow10(last), ticks
}

// duration formats a power of ten of nanoseconds.
func duration(ns float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	for ns >= 1000 && len(units) > 1 {
		ns /= 1000
		units = units[1:]
	}
	return fmt.Sprintf("%g %s", ns, units[0])
}

// size formats a power of two of bytes.
func size(bytes float64) string {
	units := []string{"B", "K", "M", "G"}
	for bytes >= 1024 && len(units) > 1 {
		bytes /= 1024
		units = units[1:]
	}
	return fmt.Sprintf("%g %s", bytes, units[0])
}

func plain(v float64) string { return fmt.Sprintf("%g", v) }
