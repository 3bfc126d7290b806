package main

import (
	"fmt"
	"strings"

	"gompirma/core/insight"
)

// shownFunctions is the largest number of functions in the table. The JSON file lists all functions.
const shownFunctions = 20

// table returns the text that --stats prints.
func (s *summary) table() string {
	var b strings.Builder
	ofJobs := ""
	if last := s.Ranks[len(s.Ranks)-1].Job; last > 0 {
		ofJobs = fmt.Sprintf(" of %d jobs", last+1)
	}
	fmt.Fprintf(&b, "gompirun: %d %s%s, %s, %.3g %% of the time in MPI\n\n", len(s.Ranks),
		plural(len(s.Ranks), "rank"), ofJobs, formatSeconds(s.Seconds), 100*s.Mpi)
	fmt.Fprintf(&b, "  %-30s %12s %10s %10s %8s\n", "call", "count", "bytes", "time", "share")
	rest := functionSummary{}
	for i, f := range s.Functions {
		if i >= shownFunctions {
			rest.Calls += f.Calls
			rest.Bytes += f.Bytes
			rest.Seconds += f.Seconds
			rest.Share += f.Share
			continue
		}
		f.writeRow(&b)
	}
	if rest.Calls > 0 {
		rest.Name = fmt.Sprintf("%d other %s", len(s.Functions)-shownFunctions,
			plural(len(s.Functions)-shownFunctions, "function"))
		rest.writeRow(&b)
	}
	for i := range s.Windows {
		w := &s.Windows[i]
		if len(w.Uses) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n  %-30s %12s %10s %10s\n", w.title(), "count", "bytes", "waited")
		for u := range insight.Uses {
			c, some := w.Uses[u.String()]
			if !some {
				continue
			}
			if len(c.Paths) > 0 {
				c.Paths.writeRows(&b, u)
				continue
			}
			waited := "-"
			if u.MayWait() {
				waited = formatSeconds(c.Seconds)
			}
			fmt.Fprintf(&b, "    %-28s %12d %10s %10s\n", u, c.Calls, formatBytes(c.Bytes), waited)
		}
	}
	if len(s.Accesses) > 0 {
		fmt.Fprintf(&b, "\n  %-30s %12s %10s %10s %12s\n", "files", "count", "bytes", "time", "bandwidth")
	}
	for _, a := range s.Accesses {
		fmt.Fprintf(&b, "    %-28s %12d %10s %10s %10s/s\n", a.Kind, a.Calls, formatBytes(a.Bytes),
			formatSeconds(a.Seconds), formatBytes(uint64(a.Bandwidth)))
	}
	if f := s.Files; f.Calls > 0 {
		fmt.Fprintf(&b, "\n  Collective file writes executed by aggregators: %d %s, %s; written in %d %s, %s\n",
			f.Calls, plural(int(f.Calls), "call"), formatBytes(f.Bytes), f.Writes,
			plural(int(f.Writes), "range"), formatBytes(f.WrittenBytes))
	}
	s.writeBalance(&b)
	if len(s.Costs) > 0 {
		b.WriteString("\n  Largest costs:\n")
	}
	for i, line := range s.Costs {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, line)
	}
	return b.String()
}

// writeRows writes a table row for each path that operations of kind u have used.
func (w pathCounts) writeRows(b *strings.Builder, u insight.Use) {
	for way := range insight.Paths {
		if c, some := w[way.String()]; some {
			fmt.Fprintf(b, "    %-17s%-11s %12d %10s %10s\n", u, way, c.Calls, formatBytes(c.Bytes), "-")
		}
	}
}

func (f *functionSummary) writeRow(b *strings.Builder) {
	fmt.Fprintf(b, "  %-30s %12d %10s %10s %6.2f %%\n", f.Name, f.Calls, formatBytes(f.Bytes),
		formatSeconds(f.Seconds),
		100*f.Share)
}

// writeBalance writes how evenly the ranks compute, and which threads and processes the table does not count.
func (s *summary) writeBalance(b *strings.Builder) {
	least, most := 0, 0
	threads, others := 0, 0
	for i := range s.Ranks {
		if s.Ranks[i].outside() < s.Ranks[least].outside() {
			least = i
		}
		if s.Ranks[i].outside() > s.Ranks[most].outside() {
			most = i
		}
		threads += s.Ranks[i].Uncounted
		others += s.Ranks[i].Others
	}
	if len(s.Ranks) > 1 {
		fmt.Fprintf(b, "\n  Outside of MPI: from %s (%s) to %s (%s); imbalance %.3g %%\n",
			formatSeconds(s.Ranks[least].outside()), s.Ranks[least].name(),
			formatSeconds(s.Ranks[most].outside()), s.Ranks[most].name(), 100*s.Imbalance)
	}
	if threads > 0 {
		fmt.Fprintf(b, "  Not counted: %d %s: more than %d threads of a rank called MPI at the same "+
			"time\n", threads,
			plural(threads, "thread"), insight.Slots)
	}
	if others > 0 {
		fmt.Fprintf(b, "  Not counted: %d %s that called MPI but did not belong to the job\n", others,
			plural(others, "process"))
	}
}

func plural(n int, word string) string {
	switch {
	case n == 1:
		return word
	case strings.HasSuffix(word, "s"):
		return word + "es"
	}
	return word + "s"
}

// formatSeconds returns a time with three digits.
func formatSeconds(s float64) string {
	switch {
	case s == 0:
		return "-"
	case s < 1e-6:
		return fmt.Sprintf("%.3g ns", s*1e9)
	case s < 1e-3:
		return fmt.Sprintf("%.3g us", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.3g ms", s*1e3)
	case s < 1000:
		return fmt.Sprintf("%.3g s", s)
	}
	return fmt.Sprintf("%.0f s", s)
}

// formatBytes returns a number of bytes with three digits.
func formatBytes(n uint64) string {
	if n == 0 {
		return "-"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	x, i := float64(n), 0
	for ; x >= 1000 && i < len(units)-1; i++ {
		x /= 1024
	}
	return fmt.Sprintf("%.3g %s", x, units[i])
}
