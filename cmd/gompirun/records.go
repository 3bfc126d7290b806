package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gompirma/core/insight"
)

// recordWriter writes every record as a line of text. It is the listener of --records.
type recordWriter struct {
	path    string
	job     *job
	file    *os.File
	to      *bufio.Writer
	decoded insight.Record
}

func (w *recordWriter) option() string { return "--records" }

func (w *recordWriter) mode() insight.Mode {
	return insight.Records | insight.Entries | insight.WaitForSpace
}

func (w *recordWriter) begin(j *job) (err error) {
	w.job = j
	w.file, err = os.Create(w.path)
	w.to = bufio.NewWriter(w.file)
	return err
}

func (w *recordWriter) added(*startedJob) {}

// record writes one line. It contains rank (after the job, if it is not that of the command line) and thread, time
// since the rank's first call, caller and duration. Then follow the call with its inputs, and after "=" the result and
// the outputs. The record that a rank writes on entry to a call has ">" in place of the duration.
func (w *recordWriter) record(rank int, words []uint64) error {
	r := &w.decoded
	if err := r.Decode(words); err != nil {
		return err
	}
	part := w.job.observation.memory.Rank(rank)
	began, _ := part.Clocks()
	fmt.Fprintf(w.to, "%s.%d %d %s ", shortName(w.job.observation.known().Of(rank)), r.Thread,
		int64(r.Start-began), where(part, r.Caller))
	if r.Entry {
		fmt.Fprintf(w.to, "> %s(%s)\n", r.Function.Name, valueTexts(r.Inputs))
		return nil
	}
	fmt.Fprintf(w.to, "%d %s(%s) = %d", int64(r.End-r.Start), r.Function.Name, valueTexts(r.Inputs), r.Result)
	if len(r.Outputs) > 0 {
		fmt.Fprintf(w.to, " (%s)", valueTexts(r.Outputs))
	}
	fmt.Fprintln(w.to)
	return nil
}

// shortName returns the name of a rank as --tag-output writes it: "2", or "1:2" for a job that a rank has started.
func shortName(job, rank int) string {
	if job > 0 {
		return fmt.Sprintf("%d:%d", job, rank)
	}
	return fmt.Sprint(rank)
}

// where returns the mapped file (program or library) that contains an address, and the offset in that file.
func where(part *insight.Rank, address uint64) string {
	objects := part.Objects()
	for _, o := range slices.Backward(objects) {
		if o.Low <= address && address < o.High {
			return fmt.Sprintf("%s+%#x", filepath.Base(o.Name), address-o.Bias)
		}
	}
	return fmt.Sprintf("%#x", address)
}

func valueTexts(values []insight.Value) string {
	var parts []string
	for i := range values {
		parts = append(parts, values[i].Item.Param.Name+"="+valueText(&values[i]))
	}
	return strings.Join(parts, ", ")
}

func valueText(v *insight.Value) string {
	number := func(w uint64) string {
		if v.Item.Param.Pointer() && v.Item.Form == insight.Word {
			return fmt.Sprintf("%#x", w)
		}
		if is, _ := v.Item.Param.Handle(); is {
			return fmt.Sprintf("%#x", w)
		}
		return fmt.Sprint(int64(w))
	}
	switch {
	case v.State == insight.Null:
		return "NULL"
	case v.State == insight.Absent:
		return "-"
	case v.State == insight.Special:
		return fmt.Sprintf("special %d", v.Int())
	case v.Item.Form == insight.Word:
		return number(v.Uint())
	case v.Item.Form == insight.Text:
		return fmt.Sprintf("%q", v.Text())
	}
	var parts []string
	if v.Item.Form == insight.Statuses {
		for i := range v.Statuses() {
			s := v.Status(i)
			parts = append(parts, fmt.Sprintf("{source %d tag %d error %d}", s.Source, s.Tag, s.Error))
		}
	} else {
		for _, word := range v.Words {
			parts = append(parts, number(word))
		}
	}
	if v.State == insight.Truncated {
		parts = append(parts, "...")
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func (w *recordWriter) end() error {
	memory := w.job.observation.memory
	for i := range memory.Ranks() {
		if n := memory.Rank(i).Dropped(); n > 0 {
			fmt.Fprintf(w.to, "%s lost %d calls\n", shortName(w.job.observation.known().Of(i)), n)
		}
	}
	err := w.to.Flush()
	if e := w.file.Close(); err == nil {
		err = e
	}
	return err
}
