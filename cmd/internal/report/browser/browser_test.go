package browser

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/cmd/internal/report"
	"gompirma/cmd/internal/trace"
)

// number returns the value of a data- attribute of an element.
func (b *tab) number(id, attribute string) int64 {
	b.t.Helper()
	text, _ := b.eval(fmt.Sprintf("document.getElementById(%q).dataset[%q]", id, attribute)).(string)
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(b.t, err, "%s.%s: %q", id, attribute, text)
	return int64(n)
}

// text returns the visible text of an element.
func (b *tab) text(id string) string {
	b.t.Helper()
	text, _ := b.eval(fmt.Sprintf("document.getElementById(%q).innerText", id)).(string)
	return text
}

// click clicks on an element like a user.
func (b *tab) click(id string) {
	b.t.Helper()
	at := b.eval(fmt.Sprintf(`(() => {
		const e = document.getElementById(%q);
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect();
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`, id)).([]any)
	b.press(at[0].(float64), at[1].(float64))
}

func (b *tab) press(x, y float64) {
	b.t.Helper()
	b.mouse("mouseMoved", x, y, nil)
	b.mouse("mousePressed", x, y, map[string]any{"button": "left", "clickCount": 1})
	b.mouse("mouseReleased", x, y, map[string]any{"button": "left", "clickCount": 1})
	b.settle()
}

// view returns the interval that the timeline shows, in ns.
func (b *tab) view() (from, to int64) {
	return b.number("timeline", "from"), b.number("timeline", "to")
}

// numbers checks that the page shows the numbers in `want`.
func (b *tab) numbers(want expected) {
	b.t.Helper()
	set := func(id string, on bool) {
		if b.eval(fmt.Sprintf("document.getElementById(%q).checked", id)) != on {
			b.click(id)
		}
	}
	for _, c := range []struct {
		rma, messages bool
		want          sums
	}{{true, false, want.oneSided}, {false, true, want.messages}, {false, false, sums{}},
		{true, true, sums{want.oneSided.number + want.messages.number, want.oneSided.bytes +
			want.messages.bytes}}} {
		set("matrix-rma", c.rma)
		set("matrix-messages", c.messages)
		require.Equal(b.t, c.want, sums{b.number("matrix-total", "count"), b.number("matrix-total", "bytes")})
		// In both units, the sum over all cells of the matrix equals the displayed number.
		for unit, sum := range map[string]int64{"bytes": c.want.bytes, "count": c.want.number} {
			b.eval(fmt.Sprintf(`document.querySelector("input[name=matrix-unit][value=%s]").click()`, unit))
			require.EqualValues(b.t, sum,
				b.eval(`charts.matrix.getOption().series[0].data.reduce((a, c) => a + c[3], 0)`))
		}
	}
	require.Equal(b.t, want.waited, b.number("waits-total", "time"))
	require.EqualValues(b.t, want.waited,
		b.eval(`charts["waits-map"].getOption().series[0].data.reduce((a, c) => a + c[3], 0)`))
	rows := b.eval(`[...document.getElementById("calls").tBodies[0].rows].map(r => [r.cells[0].innerText, r.cells[2].innerText,
		r.cells[3].innerText])`).([]any)
	bytes := func(n int64) string {
		if n == 0 {
			return ""
		}
		return b.eval(fmt.Sprintf("bytes(%d)", n)).(string)
	}
	require.Len(b.t, rows, len(want.calls))
	for _, row := range rows {
		cells := row.([]any)
		of, found := want.calls[cells[0].(string)]
		require.True(b.t, found, "%v", cells)
		require.Equal(b.t, []any{cells[0], b.eval(fmt.Sprintf("count(%d)", of.number)), bytes(of.bytes)}, cells)
	}
	number := int64(0)
	for _, c := range want.calls {
		number += c.number
	}
	require.Equal(b.t, number, b.number("calls", "count"))
	require.EqualValues(b.t, want.events, b.eval("data.events"))
}

// colours counts the pixels of a picture that nearly have the given colour.
func colours(t *testing.T, picture []byte, r, g, b uint32) int {
	img, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	n := 0
	near := func(a, b uint32) bool { return math.Abs(float64(a>>8)-float64(b)) < 4 }
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			u, v, w, _ := img.At(x, y).RGBA()
			if near(u, r) && near(v, g) && near(w, b) {
				n++
			}
		}
	}
	return n
}

// pixel returns the colour of a pixel of a picture.
func pixel(t *testing.T, picture []byte, x, y float64) color.RGBA {
	img, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	return color.RGBAModel.Convert(img.At(int(x), int(y))).(color.RGBA)
}

func TestSmall(t *testing.T) {
	page, want := small(t)
	b := open(t)
	b.dark(false)
	b.show(page)
	b.numbers(want)
	b.eval("scrollTo(0, 0)")

	// Text that would be harmful as HTML is shown as text.
	require.Contains(t, b.text("conflicts"), "halo </script><b>")
	require.Contains(t, b.text("conflicts"), "<img src=x onerror=alert(1)>")
	require.Contains(t, b.text("conflicts"), "bytes 1,024 to 1,031; seen 3 times")
	require.Contains(t, b.text("conflicts"), "halo.c:41")
	require.Equal(t, "gompirun -n 2 ./halo", b.text("title"))
	require.Contains(t, b.text("about"), " · job 1: rank 1 · ")
	require.Contains(t, b.text("words"), "Rank 0 waited 27.8 % of the run in MPI_Win_fence for rank 1.")
	require.Equal(t, "21 arrows in view", b.text("arrows-note"))

	// Operations on the window: of all kinds, then of all kinds but one.
	require.Equal(t, sums{20, 10 * (512 + 64)}, sums{b.number("heat-total", "count"), b.number("heat-total",
		"bytes")})
	b.click("heat-0")
	require.Equal(t, sums{10, 10 * 64}, sums{b.number("heat-total", "count"), b.number("heat-total", "bytes")})
	require.EqualValues(t, 40, b.eval(`charts.heat.getOption().series[0].data.reduce((a, c) => a + c[3], 0)`),
		"5 gets at each of 2 targets touch 4 ranges of 16 bytes each")
	b.click("heat-0")

	// Bars, waits and arrows are drawn: there are pixels of their colours.
	b.eval("scrollTo(0, 0)")
	light := b.picture("small", true)
	for _, c := range [][3]uint32{{0x00, 0x72, 0xb2}, {0xe6, 0x9f, 0x00}, {0x00, 0x9e, 0x73}, {0xa5, 0x5a, 0x9b},
		{0xd1, 0x24, 0x2f}} {
		require.Greater(t, colours(t, light, c[0], c[1], c[2]), 500, "%x", c)
	}

	// A fence of 220 microseconds with 150 microseconds of waiting is drawn in both colours.
	x, y := b.at(740_000, 0)
	require.Equal(t, color.RGBA{0xe6, 0x9f, 0x00, 0xff}, pixel(t, light, x, y-12))
	require.Equal(t, color.RGBA{0xd1, 0x24, 0x2f, 0xff}, pixel(t, light, x, y+10))

	// Uses only the keyboard: selects the first call in the timeline, shows its description, zooms in and out.
	b.eval(`document.getElementById("timeline").focus()`)
	b.key("n")
	require.Contains(t, b.text("selected"), "rank 0 on host0: MPI_Init, 300 µs from 0 ns")
	for range 2 {
		b.key("n")
	}
	require.Contains(t, b.text("selected"),
		"MPI_Put, 30 µs from 450.000 µs · target 1 · 512 B · window halo </script><b> · bytes 0 to 511")
	b.key("Enter")
	from, to := b.view()
	require.EqualValues(t, 420_000, from)
	require.EqualValues(t, 510_000, to)
	b.picture("small-zoomed", false)
	b.key("ArrowDown")
	require.Contains(t, b.text("selected"), "rank 1 on host0: MPI_Put, 30 µs from 470.000 µs · target 0")
	b.key("ArrowRight")
	from, to = b.view()
	require.EqualValues(t, 442_500, from)
	require.EqualValues(t, 532_500, to)
	b.key("-")
	from, to = b.view()
	require.EqualValues(t, 397_500, from)
	require.EqualValues(t, 577_500, to)
	b.key("0")
	from, to = b.view()
	require.EqualValues(t, 0, from)
	require.EqualValues(t, 2_700_000, to)
	b.key("Escape")
	require.Equal(t, "No call is selected.", b.text("selected"))

	// Uses the mouse: a click selects a call and shows its wait; the wheel zooms around the pointer.
	x, y = b.at(600_000, 0)
	b.press(x, y)
	require.Contains(t, b.text("selected"), "MPI_Win_fence, 220 µs from 550.000 µs")
	require.Contains(t, b.text("selected"), "waited 150 µs · for rank 1")
	b.mouse("mouseWheel", x, y, map[string]any{"deltaX": 0, "deltaY": -240})
	b.settle()
	from, to = b.view()
	require.Less(t, to-from, int64(2_700_000))
	require.Less(t, from, int64(600_000))
	require.Greater(t, to, int64(600_000))
	b.mouse("mouseMoved", x+1, y, nil)
	require.Contains(t, b.text("tip"), "MPI_Win_fence")
	held := map[string]any{"button": "left", "buttons": 1}
	b.mouse("mousePressed", x, y, held)
	for i := range 10 {
		b.mouse("mouseMoved", x+float64(20*i), y, held)
	}
	b.mouse("mouseReleased", x+180, y, map[string]any{"button": "left"})
	b.settle()
	moved, movedTo := b.view()
	require.Less(t, moved, from, "dragged to the right, an earlier time is seen")
	require.InEpsilon(t, to-from, movedTo-moved, 0.001)

	// A click on a cause of waiting selects its longest wait.
	b.eval(`document.querySelector("#waits tbody button").click()`)
	b.settle()
	require.Contains(t, b.text("selected"), "MPI_Win_fence, 220 µs")

	b.dark(true)
	b.eval("scrollTo(0, 0)")
	dark := b.picture("small-dark", true)
	require.Greater(t, colours(t, dark, 0x12, 0x16, 0x1c), 200_000)
	require.Less(t, colours(t, dark, 0xff, 0xff, 0xff), 2000)
	b.noFaults()
}

// at returns the position of a time and a row on the screen.
func (b *tab) at(time int64, row int) (x, y float64) {
	b.t.Helper()
	place := b.eval(fmt.Sprintf(`(() => {
		const box = document.getElementById("timeline");
		scrollTo(0, 0);
		const r = box.getBoundingClientRect(), p = timeline.chart.convertToPixel({gridIndex: 0}, [%d, %d]);
		return [r.x + p[0], r.y + p[1]];
	})()`, time, row)).([]any)
	return place[0].(float64), place[1].(float64)
}

// Checks a page with a million events of 64 ranks.
func TestLarge(t *testing.T) {
	page, want := large(t)
	require.GreaterOrEqual(t, want.events, 1_000_000)
	b := open(t)
	b.dark(false)
	ms := b.show(page)
	st, err := os.Stat(page)
	require.NoError(t, err)
	t.Logf("%d events: a page of %d MB, drawn after %.0f ms", want.events, st.Size()>>20, ms)
	b.numbers(want)
	b.eval("scrollTo(0, 0)")
	require.Contains(t, b.text("warnings"), "The trace lacks 12 calls of 1 rank")
	require.Contains(t, b.text("arrows-note"), "they are drawn where there are at most 400")
	whole := b.picture("large", false)
	require.Greater(t, colours(t, whole, 0xd1, 0x24, 0x2f), 20_000)
	for _, part := range []string{"load", "matrix", "windows", "waits", "calls"} {
		b.eval(`document.getElementById("` + part + `-part").scrollIntoView()`)
		b.picture("large-"+part, false)
	}

	// Zooms in until single calls and their arrows are visible.
	for i, part := range []float64{0.1, 0.001, 0.0003} {
		b.eval(fmt.Sprintf("scrollTo(0, 0); zoomTo(run * 0.5, run * (0.5 + %g))", part))
		zoomed := b.picture(fmt.Sprint("large-zoomed-", i+1), false)
		require.NotEqual(t, whole, zoomed)
		from, to := b.view()
		require.InEpsilon(t, part, float64(to-from)/b.eval("run").(float64), 0.001)
	}
	require.NotContains(t, b.text("arrows-note"), "they are drawn where")
	t.Logf("drawn anew in %.0f ms", b.eval(`(() => {
		zoomTo(0, run);
		const t = performance.now();
		redraw();
		timeline.chart.getZr().flush();
		return performance.now() - t;
	})()`))
	b.eval(`document.getElementById("filter").value = "MPI_Recv"; document.getElementById("filter").onchange({target: {value: "MPI_Recv"}})`)
	b.picture("large-filtered", false)
	b.noFaults()
}

// Checks that traces with little or incomplete content still make pages.
func TestOdd(t *testing.T) {
	b := open(t)
	for name, text := range map[string]string{
		"empty":   `{"traceEvents":[]}`,
		"instant": `[{"ph":"X","pid":0,"tid":0,"ts":5,"dur":0,"name":"MPI_Init"}]`,
		"cut":     `[{"ph":"X","pid":2,"tid":7,"ts":5,"dur":3,"name":"MPI_Barrier","cat":"collective"},`,
		"far":     `[{"ph":"X","pid":0,"tid":0,"ts":1e12,"dur":3,"name":"a"},{"ph":"X","pid":0,"tid":0,"ts":-1e12,"dur":0.001,"name":"b"}]`,
	} {
		dir := t.TempDir()
		in, out := filepath.Join(dir, name+".json"), filepath.Join(dir, name+".html")
		require.NoError(t, os.WriteFile(in, []byte(text), 0o644))
		_, err := report.File(in, out)
		require.NoError(t, err)
		b.show(out)
		require.Equal(t, name == "cut", bytes.Contains([]byte(b.text("warnings")),
			[]byte("The trace is incomplete")))
		require.Equal(t, name == "empty", bytes.Contains([]byte(b.text("warnings")),
			[]byte("contains no events")))
		if name == "empty" {
			continue
		}
		b.eval(`document.getElementById("timeline").focus()`)
		for _, key := range []string{"n", "Enter", "+", "+", "-", "ArrowLeft", "p", "ArrowDown", "0"} {
			b.key(key)
		}
		b.picture("odd-"+name, false)
		b.noFaults()
	}
}

// Checks the page of a trace with many ranks and several threads on a small screen.
func TestManyRanks(t *testing.T) {
	page, want := made(t, "many", jobOf(600, 100), func(s *sample) {
		for rank := range 600 {
			for i := range 10 {
				e := trace.NewEvent(trace.RMA, "MPI_Get", rank, i%2, int64(rank*100+i*5000), 4000)
				e.Target, e.Bytes, e.Window, e.Disp = (rank+i*i)%600, 64, "w", int64(64*rank)
				s.event(e)
			}
		}
	})
	b := open(t)
	b.size(900, 700)
	b.show(page)
	b.numbers(want)
	img, err := png.DecodeConfig(bytes.NewReader(b.picture("many", true)))
	require.NoError(t, err)
	require.Equal(t, image.Pt(900, 0), image.Pt(img.Width, 0), "nothing is wider than the screen")
	// A selected call outside the visible rows is scrolled into view.
	rows := `(() => { const z = timeline.chart.getOption().dataZoom[2]; return z.startValue + " " + z.endValue; })()`
	require.Equal(t, "0 95", b.eval(rows))
	b.eval("select(data.first[1000], 1000)")
	require.Equal(t, "953 1048", b.eval(rows))
	b.eval("select(data.first[1199], 1199)")
	require.Equal(t, "1104 1199", b.eval(rows))
	require.Contains(t, b.text("selected"), "rank 599 on host5, thread 1: MPI_Get")
	b.picture("many-end", false)
	b.noFaults()
}
