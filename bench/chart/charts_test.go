package main

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// small has a measurement for each chart except "threads". In one measurement a library has no value.
const small = `{"libraries": ["gompirma", "MPICH"], "measurements": [
	{"name": "put8", "label": "put 8 B", "part": "Windows", "goal": 3, "ratio": 5.5, "results": {}},
	{"name": "get8", "label": "get 8 B", "part": "Windows over malloc memory", "goal": 3, "ratio": 0.2,
		"results": {}},
	{"name": "sizes.put_flush.1", "series": "put_flush", "x": 1, "results": {"gompirma": {"median": 9},
		"MPICH": {"median": 800}}},
	{"name": "sizes.put_flush.1024", "series": "put_flush", "x": 1024, "results": {"gompirma": {"median": 30},
		"MPICH": {}}},
	{"name": "sweep.pingpong.8", "series": "pingpong", "x": 8, "results": {"gompirma": {"median": 90}}},
	{"name": "sweep.pingpong.4.8", "series": "pingpong.4", "x": 8, "results": {"gompirma": {"median": 1e9}}},
	{"name": "ranks.barrier.2", "series": "barrier", "x": 2, "results": {"gompirma": {"median": 100}}}],
	"sweeps": [{"label": "put, flush", "part": "One-sided, windows created over malloc memory", "ratio": 0.5,
		"worst": 0.1},
		{"label": "no peer"}]}`

// TestCharts checks that the charts for which there are measurements are drawn, have the right contents, and name the
// libraries and rows.
func TestCharts(t *testing.T) {
	folder := t.TempDir()
	from := filepath.Join(folder, "a.json")
	if err := os.WriteFile(from, []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(from, folder, []string{"svg", "png"}); err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string][]string{
		"latency":   {"gompirma", "MPICH", "Put + flush", "Ping-pong", "10 ns", "1 B"},
		"bandwidth": {"gompirma", "MPICH", "GB/s"},
		"ranks":     {"gompirma", "Barrier", "ranks"},
		"ratios":    {"put 8 B", "malloc: get 8 B"},
		"sweeps":    {"malloc: put, flush", "0.1"},
		// The axis covers only the 90 ns of this sweep. It must not cover the values of another sweep whose
		// name has the same prefix.
		"sweeps-messages": {"Ping-pong, one way", "10 ns", "100 ns"},
	} {
		svg, err := os.ReadFile(filepath.Join(folder, name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		said := text(t, svg)
		for _, w := range words {
			if !strings.Contains(said, w) {
				t.Errorf("%s.svg does not say %q: %s", name, w, said)
			}
		}
		picture, err := os.ReadFile(filepath.Join(folder, name+".png"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
			t.Errorf("%s.png: %v", name, err)
		}
	}
	for _, name := range []string{"threads", "sweeps-collectives"} {
		if _, err := os.Stat(filepath.Join(folder, name+".svg")); err == nil {
			t.Errorf("%s.svg without a measurement", name)
		}
	}
}

// text returns the text elements of an SVG file.
func text(t *testing.T, svg []byte) string {
	t.Helper()
	var said strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			return said.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			said.WriteString(strings.TrimSpace(string(data)) + " ")
		}
	}
}
