// Package mpierr owns the form in which the core reports that a call failed: an MPI error class and a text with values.
//
// The function that finds the error chooses the class with New. Callers add context with Wrap and keep the class. The
// package must not depend on error handlers. capi chooses the handler, because it knows the object of the call.
package mpierr

import (
	"errors"
	"fmt"

	"gompirma/core/abi"
)

// Error is a failed call. Class is an MPI_ERR_ class (or one added by MPI_Add_error_class). Text describes the error
// with its values.
type Error struct {
	Class int32
	Text  string
}

// Error returns the text alone. The code that prints the message puts the name of the class in front.
func (e *Error) Error() string { return e.Text }

// New returns an error of the given class.
func New(class int32, format string, args ...any) *Error {
	return &Error{Class: class, Text: fmt.Sprintf(format, args...)}
}

// Wrap prepends context to the text of err and keeps its class.
func Wrap(err error, format string, args ...any) *Error {
	return &Error{Class: ClassOf(err), Text: fmt.Sprintf(format, args...) + ": " + err.Error()}
}

// ClassOf returns the class of err: MPI_SUCCESS for nil, MPI_ERR_INTERN for an error without a class.
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
