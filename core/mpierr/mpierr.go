// Package mpierr is the one form in which the core reports that a call failed: an MPI error class and a text with
// numbers in it.
//
// The function that finds the error chooses the class with New; callers on the way up add words with Wrap and keep the
// class. Which handler then runs is not decided here but in capi, the only place that knows the object the call was
// made on.
package mpierr

import (
	"errors"
	"fmt"

	"gompirma/core/abi"
)

// Error is a failed call: Class is an MPI_ERR_ class (or one added by MPI_Add_error_class), Text says what was wrong in
// words and numbers.
type Error struct {
	Class int32
	Text  string
}

// Error returns the text alone: the class' name is put in front where the message is shown.
func (e *Error) Error() string { return e.Text }

// New makes an error of the given class.
func New(class int32, format string, args ...any) *Error {
	return &Error{Class: class, Text: fmt.Sprintf(format, args...)}
}

// Wrap puts words before the text of err and keeps its class.
func Wrap(err error, format string, args ...any) *Error {
	return &Error{Class: ClassOf(err), Text: fmt.Sprintf(format, args...) + ": " + err.Error()}
}

// ClassOf returns the class of err: MPI_SUCCESS for nil, MPI_ERR_INTERN for an error that never was given a class.
func ClassOf(err error) int32 {
	if err == nil {
		return abi.MPI_SUCCESS
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Class
	}
	return abi.MPI_ERR_INTERN
}
