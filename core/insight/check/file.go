package check

import (
	"strings"

	"gompirma/core/abi"
)

// fileAccess describes a function that accesses the data of a file (MPI-5.0 14.4).
type fileAccess struct {
	kind    kind // writes if the function writes the file
	isBegin bool // begins a split collective
	isEnd   bool // ends a split collective
	isAsync bool // the access may be active after the function has returned
}

// splitFileAccess returns the description of a function, given its name without the suffix _c. The result `is` is false
// if the function accesses no data of a file.
func splitFileAccess(name string) (a fileAccess, is bool) {
	rest, is := strings.CutPrefix(name, "MPI_File_")
	if !is {
		return a, false
	}
	rest, a.isAsync = strings.CutPrefix(rest, "i")
	if rest, is = strings.CutPrefix(rest, "write"); is {
		a.kind = writes
	} else if rest, is = strings.CutPrefix(rest, "read"); !is {
		return a, false
	}
	a.isBegin, a.isEnd = strings.HasSuffix(rest, "_begin"), strings.HasSuffix(rest, "_end")
	a.isAsync = a.isAsync || a.isBegin
	return a, true
}

// bufferKind returns how the access uses the buffer of the call: a write to the file reads the buffer.
func (a *fileAccess) bufferKind() kind {
	if a.kind == writes {
		return reads
	}
	return writes
}

// beginsSplit reports whether a call has begun a split collective.
func beginsSplit(e *event) bool {
	a, is := splitFileAccess(e.name)
	return is && a.isBegin && e.Result == abi.MPI_SUCCESS
}

// leaveFile records the beginning and the end of a split collective. A file has at most one of them at a time.
func (c *Checker) leaveFile(k *rank, e *event) {
	a, is := splitFileAccess(e.name)
	if !is {
		return
	}
	h := e.In("fh").Uint()
	if beginsSplit(e) {
		r := &request{}
		k.activate(r, e)
		k.splits[h] = r
	} else if r := k.splits[h]; r != nil && a.isEnd {
		c.finishOperation(k, r, nil)
		delete(k.splits, h)
	}
}
