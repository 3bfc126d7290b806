// Package report makes a page from a trace file (cmd/internal/trace). The page is one HTML file that includes all its
// scripts and data, so that a browser shows it without a network. The package computes all sums exactly; the page's
// scripts only draw them. The package must not know how a trace is recorded. gompirun report is its only user.
//
//	gather.go   reads the trace file into memory
//	facts.go    sums
//	columns.go  events for the timeline, compressed
//	page/       HTML, style and code of the page, and the charts library
package report

import (
	"bufio"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gompirma/cmd/internal/trace"
)

//go:embed page
var files embed.FS

// scripts lists the page's own scripts, in the order in which the page runs them.
var scripts = []string{"format.js", "data.js", "rows.js", "timeline.js", "charts.js", "tables.js", "main.js"}

// File makes the page `out` from the trace file `in`. It returns a line about the content. If `in` cannot be read to
// its end, File writes nothing, and an existing page stays unchanged.
func File(in, out string) (string, error) {
	f, err := os.Open(in)
	if err != nil {
		return "", err
	}
	defer f.Close()
	g := newGathered()
	sum, err := trace.Read(bufio.NewReaderSize(f, 1<<20), g)
	if err != nil {
		return "", fmt.Errorf("%s%s: %w", in, line(f, err), err)
	}
	g.finish(sum)
	about := counted(g.events, "event") + " of " + counted(g.ranks, "rank")
	if sum.Cut {
		about += "; the trace is incomplete"
	}
	return about, replace(out, func(w io.Writer) error { return g.page(w, filepath.Base(in)) })
}

// line returns the line number of the fault `err` in the trace file, in the form ":12".
func line(f *os.File, err error) string {
	var at *trace.Error
	if !errors.As(err, &at) {
		return ""
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return ""
	}
	r := bufio.NewReader(f)
	n := 1
	for i := int64(0); ; i++ {
		c, err := r.ReadByte()
		// A comma and a newline separate events.
		if err != nil || i >= at.Offset && !strings.ContainsRune(" \t\r\n,", rune(c)) {
			return fmt.Sprintf(":%d", n)
		}
		if c == '\n' {
			n++
		}
	}
}

// replace writes a regular file completely or not at all. It writes other files, such as pipes, directly.
func replace(name string, write func(io.Writer) error) error {
	if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.OpenFile(fmt.Sprintf("%s.%d", name, os.Getpid()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		var of *fs.PathError
		if errors.As(err, &of) {
			of.Path = name
		}
		return err
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// page writes the page. The argument `source` is the name of the trace file.
func (g *traceData) page(out io.Writer, source string) error {
	// <, > and & are escaped, so that no text of the trace ends a script.
	facts, err := json.Marshal(g.facts(source))
	if err != nil {
		return err
	}
	columns, err := g.columns()
	if err != nil {
		return err
	}
	where, err := json.Marshal(columns)
	if err != nil {
		return err
	}
	text := func(name string) string {
		b, err := files.ReadFile("page/" + name)
		if err != nil {
			panic(err) // cannot happen: the file is embedded
		}
		return string(b)
	}
	own := ""
	for _, name := range scripts {
		own += text(name)
	}
	w := bufio.NewWriterSize(out, 1<<20)
	rest := text("page.html")
	for _, part := range []struct {
		mark  string
		write func() error
	}{
		{"{{style}}", func() error { _, err := w.WriteString(text("page.css")); return err }},
		{"{{facts}}", func() error { _, err := w.Write(facts); return err }},
		{"{{where}}", func() error { _, err := w.Write(where); return err }},
		{"{{columns}}", func() error { return columns.writeBase64(w) }},
		{"{{library}}", func() error { _, err := w.WriteString(text("echarts/echarts.min.js")); return err }},
		{"{{scripts}}", func() error { _, err := w.WriteString(own); return err }},
	} {
		before, after, found := strings.Cut(rest, part.mark)
		if !found {
			panic("page.html lacks " + part.mark)
		}
		_, _ = w.WriteString(before) // Flush returns the error
		if err := part.write(); err != nil {
			return err
		}
		rest = after
	}
	_, _ = w.WriteString(rest)
	return w.Flush()
}

// counted returns a number with a noun, which gets a plural "s" if the number is not 1.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
