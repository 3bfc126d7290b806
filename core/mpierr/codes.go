package mpierr

import (
	"sync"

	"gompirma/core/abi"
)

// Classes and codes that the application adds (MPI-5.0 9.5) come behind the predefined ones: numbers above
// MPI_ERR_LASTCODE. The error codes that this library returns are the predefined classes themselves.
type code struct {
	class   int32
	text    string
	hasText bool // text was added; it may be empty
	codes   int  // of a class: codes of it that exist
	isClass bool
	dead    bool // removed: the number is in unused
}

var (
	codesMu sync.Mutex
	added   []code           // code i is number MPI_ERR_LASTCODE + 1 + i
	unused  []int32          // numbers of removed classes and codes, which are given out again
	recent  map[int32]string // class -> text of the latest error of that class
)

const firstAdded = abi.MPI_ERR_LASTCODE + 1

func lookupLocked(n int32) *code {
	if i := int(n) - firstAdded; i >= 0 && i < len(added) && !added[i].dead {
		return &added[i]
	}
	return nil
}

// Predefined returns whether n is one of the standard's error classes.
func Predefined(n int32) bool { return abi.ErrorClassName(n) != "" }

func addLocked(c code) int32 {
	if last := len(unused) - 1; last >= 0 {
		n := unused[last]
		unused = unused[:last]
		added[n-firstAdded] = c
		return n
	}
	added = append(added, c)
	return firstAdded + int32(len(added)) - 1
}

func removeLocked(n int32) {
	added[n-firstAdded] = code{dead: true}
	unused = append(unused, n)
}

// AddClass is MPI_Add_error_class.
func AddClass() int32 {
	codesMu.Lock()
	defer codesMu.Unlock()
	n := addLocked(code{isClass: true})
	added[n-firstAdded].class = n
	return n
}

// AddCode is MPI_Add_error_code. MPI_ERR_ARG: class is no error class.
func AddCode(class int32) (int32, error) {
	codesMu.Lock()
	defer codesMu.Unlock()
	c := lookupLocked(class)
	if !Predefined(class) && (c == nil || !c.isClass) {
		return 0, New(abi.MPI_ERR_ARG, "%d is no error class", class)
	}
	if c != nil {
		c.codes++
	}
	return addLocked(code{class: class}), nil
}

// AddString is MPI_Add_error_string. MPI_ERR_ARG: n is not a class or code that was added, or the text is too long.
func AddString(n int32, text string) error {
	codesMu.Lock()
	defer codesMu.Unlock()
	c := lookupLocked(n)
	if c == nil {
		return New(abi.MPI_ERR_ARG, "%d is no error class or code that was added", n)
	}
	if len(text) >= abi.MPI_MAX_ERROR_STRING {
		return New(abi.MPI_ERR_ARG, "an error string of %d bytes: at most %d are possible", len(text),
			abi.MPI_MAX_ERROR_STRING-1)
	}
	c.text, c.hasText = text, true
	return nil
}

// RemoveClass is MPI_Remove_error_class. MPI_ERR_ARG: not a class that was added, or codes of it are left.
func RemoveClass(n int32) error {
	codesMu.Lock()
	defer codesMu.Unlock()
	c := lookupLocked(n)
	if c == nil || !c.isClass {
		return New(abi.MPI_ERR_ARG, "%d is no error class that was added", n)
	}
	if c.codes > 0 {
		return New(abi.MPI_ERR_ARG, "error class %d still has %d error codes", n, c.codes)
	}
	removeLocked(n)
	return nil
}

// RemoveCode is MPI_Remove_error_code. MPI_ERR_ARG: not a code that was added, or it still has a string.
func RemoveCode(n int32) error {
	codesMu.Lock()
	defer codesMu.Unlock()
	c := lookupLocked(n)
	if c == nil || c.isClass {
		return New(abi.MPI_ERR_ARG, "%d is no error code that was added", n)
	}
	if c.hasText {
		return New(abi.MPI_ERR_ARG, "error code %d still has its string %q", n, c.text)
	}
	if class := lookupLocked(c.class); class != nil {
		class.codes--
	}
	removeLocked(n)
	return nil
}

// RemoveString is MPI_Remove_error_string. MPI_ERR_ARG: n is not a class or code that was added, or has no string.
func RemoveString(n int32) error {
	codesMu.Lock()
	defer codesMu.Unlock()
	c := lookupLocked(n)
	if c == nil {
		return New(abi.MPI_ERR_ARG, "%d is no error class or code that was added", n)
	}
	if !c.hasText {
		return New(abi.MPI_ERR_ARG, "error code %d has no string", n)
	}
	c.text, c.hasText = "", false
	return nil
}

// CodeClass is MPI_Error_class. MPI_ERR_ARG: n is no error code.
func CodeClass(n int32) (int32, error) {
	if Predefined(n) || n == abi.MPI_ERR_LASTCODE {
		return n, nil
	}
	codesMu.Lock()
	defer codesMu.Unlock()
	if c := lookupLocked(n); c != nil {
		return c.class, nil
	}
	return 0, New(abi.MPI_ERR_ARG, "%d is no error class or code", n)
}

// LastUsed is the value of the attribute MPI_LASTUSEDCODE.
func LastUsed() int32 {
	codesMu.Lock()
	defer codesMu.Unlock()
	return abi.MPI_ERR_LASTCODE + int32(len(added))
}

// Remember keeps text as what the latest error of its class was about, for String: only of MPI's classes, since
// applications have any number of codes.
func Remember(class int32, text string) {
	if !Predefined(class) {
		return
	}
	codesMu.Lock()
	defer codesMu.Unlock()
	if recent == nil {
		recent = map[int32]string{}
	}
	recent[class] = text
}

// String is MPI_Error_string: name and meaning of a class, and what the latest error of it in this process was about.
// An added code without a string has the empty string. MPI_ERR_ARG: n is no error code.
func String(n int32) (string, error) {
	codesMu.Lock()
	defer codesMu.Unlock()
	var s string
	if Predefined(n) {
		s = abi.ErrorClassName(n) + ": " + abi.ErrorClassText(n)
		if about := recent[n]; about != "" {
			s += " (" + about + ")"
		}
	} else if n == abi.MPI_ERR_LASTCODE { // no error is of this class, but MPI's table of classes ends with it
		s = "MPI_ERR_LASTCODE: last error code"
	} else if c := lookupLocked(n); c != nil {
		s = c.text
	} else {
		return "", New(abi.MPI_ERR_ARG, "%d is no error class or code", n)
	}
	if len(s) >= abi.MPI_MAX_ERROR_STRING {
		s = s[:abi.MPI_MAX_ERROR_STRING-4] + "..."
	}
	return s, nil
}
