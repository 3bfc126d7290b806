package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gompirma/cmd/internal/report"
)

// This file implements gompirun report, which makes a page from a trace file without a job.

// reportWord as the first argument selects gompirun report. After an option, the same word is the name of a program,
// and so is a path that contains a slash, such as ./report.
const reportWord = "report"

const reportManual = `usage: gompirun report FILE.json [-o PAGE.html]

Makes a page of a trace that gompirun --trace=FILE.json has written: a timeline, a matrix of the
data that ranks sent and accessed, waits by cause, time by call, and the findings of --check. The
page is one file and needs no network. Default of -o: FILE.html beside the trace.

To start a program that is named report: gompirun ./report, or write an option before it:
gompirun -n 4 report.

Exit status: 0; 1 if the trace cannot be read or the page cannot be written (an existing page is not
changed then); 2 if the command line is wrong.
`

// pageOptions holds the arguments after reportWord.
type pageOptions struct{ in, out string }

func parseReport(args []string) (*pageOptions, error) {
	o := &pageOptions{}
	for options := true; len(args) > 0; args = args[1:] {
		arg := args[0]
		name, value, attached := strings.Cut(arg, "=")
		switch {
		case options && arg == "--":
			options = false
		case options && (name == "-o" || name == "--output" || name == "-output"):
			if !attached && len(args) > 1 {
				args = args[1:]
				value = args[0]
			}
			switch {
			case value == "":
				return nil, fmt.Errorf("%s needs a file", name)
			case o.out != "":
				return nil, fmt.Errorf("%s may be given only once", name)
			}
			o.out = value
		case options && (arg == "-h" || arg == "-help" || arg == "--help"):
			return nil, errHelp
		case options && len(arg) > 1 && arg[0] == '-':
			return nil, fmt.Errorf("unknown option "+
				"%s%s", arg, similar(arg, strings.TrimLeft(name, "-"), "output", "help"))
		case arg == "":
			return nil, errors.New("the name of the trace file is empty")
		case o.in != "":
			return nil, fmt.Errorf("a page needs exactly one trace, but %s and %s are given", o.in, arg)
		default:
			o.in = arg
		}
	}
	if o.in == "" {
		return nil, errors.New("no trace file given")
	}
	if o.out == "" {
		o.out = strings.TrimSuffix(o.in, filepath.Ext(o.in)) + ".html"
	}
	if isSameFile(o.in, o.out) {
		return nil, fmt.Errorf("the page %s would overwrite the trace: choose another name with -o", o.out)
	}
	return o, nil
}

// isSameFile reports whether two names refer to the same file.
func isSameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// runReport makes the page. It returns the exit status.
func runReport(args []string) int {
	o, err := parseReport(args)
	switch {
	case errors.Is(err, errHelp):
		fmt.Print(reportManual)
		return 0
	case err != nil:
		return refuse(fmt.Errorf("report: %w (see gompirun report --help; to start a program that is named "+
			"report, write ./report)", err))
	}
	about, err := report.File(o.in, o.out)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gompirun: report:", err)
		return statusFailed
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", o.out, about) // the page may be the standard output
	return 0
}
