package report

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"io"
)

// columns holds all events and arrows for the page as columns of LEB128 numbers. All numbers of a column precede the
// numbers of the next column. The page holds all columns compressed by gzip, in base64; page/data.js reads them. Events
// are sorted by row of the timeline, then by time.
type columns struct {
	Events []column `json:"events"`
	Arrows []column `json:"arrows"`
	packed []byte
}

// column describes the position and the encoding of a column.
type column struct {
	Name  string `json:"name"`
	Size  int    `json:"size"`  // in bytes, uncompressed
	Delta bool   `json:"delta"` // holds each difference n to the previous number, as 2n, or -2n-1 if n < 0
}

func (g *traceData) columns() (*columns, error) {
	c := &columns{}
	var packed bytes.Buffer
	zip, err := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	write := func(name string, delta bool, each func(put func(int64))) column {
		var b []byte
		size, last := 0, int64(0)
		each(func(n int64) {
			if delta {
				n, last = n-last, n
				n = n<<1 ^ n>>63
			}
			b = binary.AppendUvarint(b, uint64(n))
			if len(b) > 1<<16 {
				size += len(b)
				_, _ = zip.Write(b) // a write to memory does not fail
				b = b[:0]
			}
		})
		_, _ = zip.Write(b)
		return column{name, size + len(b), delta}
	}
	for _, of := range []struct {
		name  string
		delta bool
		value func(e *event) int64
	}{
		{"start", true, func(e *event) int64 { return e.start - g.start }},
		{"dur", false, func(e *event) int64 { return e.dur }},
		{"name", false, func(e *event) int64 { return int64(e.name) }},
		{"waited", false, func(e *event) int64 { return e.waited }},
		{"target", false, func(e *event) int64 { return int64(e.target + 1) }},
		{"dest", false, func(e *event) int64 { return int64(e.dest + 1) }},
		{"source", false, func(e *event) int64 { return int64(e.source + 1) }},
		{"tag", false, func(e *event) int64 { return int64(e.tag) + 1 }},
		{"for", false, func(e *event) int64 { return int64(e.waitedOn + 1) }},
		{"bytes", false, func(e *event) int64 { return e.bytes }},
		{"comm", false, func(e *event) int64 { return int64(e.comm) }},
		{"window", false, func(e *event) int64 { return int64(e.window) }},
		{"disp", false, func(e *event) int64 { return max(e.disp, -1) + 1 }},
		{"span", false, func(e *event) int64 { return e.span }},
	} {
		c.Events = append(c.Events, write(of.name, of.delta, func(put func(int64)) {
			for _, l := range g.lanes {
				for i := range l.events {
					put(of.value(&l.events[i]))
				}
			}
		}))
	}
	for _, of := range []struct {
		name  string
		value func(a *arrow) int64
	}{
		{"from", func(a *arrow) int64 { return a.from.time - g.start }},
		{"to", func(a *arrow) int64 { return a.to.time - g.start }},
		{"fromLane", func(a *arrow) int64 { return int64(a.from.lane) }},
		{"toLane", func(a *arrow) int64 { return int64(a.to.lane) }},
	} {
		c.Arrows = append(c.Arrows, write(of.name, true, func(put func(int64)) {
			for i := range g.arrows {
				put(of.value(&g.arrows[i]))
			}
		}))
	}
	if err := zip.Close(); err != nil {
		return nil, err
	}
	c.packed = packed.Bytes()
	return c, nil
}

func (c *columns) writeBase64(out io.Writer) error {
	e := base64.NewEncoder(base64.StdEncoding, out)
	if _, err := e.Write(c.packed); err != nil {
		return err
	}
	return e.Close()
}
