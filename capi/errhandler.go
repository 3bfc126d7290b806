package main

import "C"

import (
	"fmt"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/errhandler"
	"gompirma/core/handle"
	"gompirma/core/mpierr"
	"gompirma/core/rma"
)

// Error handlers, classes, codes and strings (MPI-5.0 9.3 to 9.5).

func createErrhandler(function string, kind handle.Kind, fn, result uintptr) int32 {
	return making(function, result, func() (uintptr, error) { return errhandler.New(kind, fn) })
}

//export gompi_comm_create_errhandler
func gompi_comm_create_errhandler(fn, result uintptr) int32 {
	return createErrhandler("MPI_Comm_create_errhandler", handle.Comm, fn, result)
}

//export gompi_win_create_errhandler
func gompi_win_create_errhandler(fn, result uintptr) int32 {
	return createErrhandler("MPI_Win_create_errhandler", handle.Win, fn, result)
}

//export gompi_file_create_errhandler
func gompi_file_create_errhandler(fn, result uintptr) int32 {
	return createErrhandler("MPI_File_create_errhandler", handle.File, fn, result)
}

//export gompi_session_create_errhandler
func gompi_session_create_errhandler(fn, result uintptr) int32 {
	return createErrhandler("MPI_Session_create_errhandler", handle.Session, fn, result)
}

// setErrhandler attaches h to an object whose slot for it is at; the old one loses a reference.
func setErrhandler(function string, kind handle.Kind, object uintptr, at *atomic.Uint64, h uintptr) int32 {
	if at == nil {
		return finish(function, 0, 0, noObject(kind, object))
	}
	err := errhandler.Attach(h, kind)
	if err == nil {
		errhandler.Release(uintptr(at.Swap(uint64(h))))
	}
	return finish(function, kind, object, err)
}

func getErrhandler(function string, kind handle.Kind, object uintptr, at *atomic.Uint64, result uintptr) int32 {
	if at == nil {
		return finish(function, 0, 0, noObject(kind, object))
	}
	if err := null(result); err != nil {
		return finish(function, kind, object, err)
	}
	h := uintptr(at.Load())
	errhandler.Keep(h)
	*out[uintptr](result) = h
	return abi.MPI_SUCCESS
}

// noObject is the error for a handle that stands for no object of its kind.
func noObject(kind handle.Kind, object uintptr) error {
	if kind == handle.Win {
		return mpierr.New(abi.MPI_ERR_WIN, "%#x is no window, or one that was freed", object)
	}
	return mpierr.New(abi.MPI_ERR_COMM, "%#x is no communicator, or one that was freed", object)
}

func commErrhandler(comm uintptr) *atomic.Uint64 {
	if c := lookupComm(comm); c != nil {
		return &c.Errhandler
	}
	return nil
}

func winErrhandler(win uintptr) *atomic.Uint64 {
	if w := rma.Lookup(win); w != nil {
		return &w.Errhandler
	}
	return nil
}

// selfHandlerSet says that the program has set the error handler of MPI_COMM_SELF, which is that of errors that belong
// to no object (MPI-5.0 9.3). Most programs were written when that was MPI_COMM_WORLD's; it is for those that have
// never set the other.
var selfHandlerSet atomic.Bool

//export gompi_comm_set_errhandler
func gompi_comm_set_errhandler(comm, h uintptr) int32 {
	rc := setErrhandler("MPI_Comm_set_errhandler", handle.Comm, comm, commErrhandler(comm), h)
	if rc == abi.MPI_SUCCESS && comm == abi.MPI_COMM_SELF {
		selfHandlerSet.Store(true)
	}
	return rc
}

//export gompi_comm_get_errhandler
func gompi_comm_get_errhandler(comm, result uintptr) int32 {
	return getErrhandler("MPI_Comm_get_errhandler", handle.Comm, comm, commErrhandler(comm), result)
}

//export gompi_win_set_errhandler
func gompi_win_set_errhandler(win, h uintptr) int32 {
	return setErrhandler("MPI_Win_set_errhandler", handle.Win, win, winErrhandler(win), h)
}

//export gompi_win_get_errhandler
func gompi_win_get_errhandler(win, result uintptr) int32 {
	return getErrhandler("MPI_Win_get_errhandler", handle.Win, win, winErrhandler(win), result)
}

//export gompi_errhandler_free
func gompi_errhandler_free(at uintptr) int32 {
	return freeing("MPI_Errhandler_free", at, abi.MPI_ERRHANDLER_NULL, errhandler.Free)
}

//export gompi_comm_call_errhandler
func gompi_comm_call_errhandler(comm uintptr, code int32) int32 {
	return callErrhandler("MPI_Comm_call_errhandler", handle.Comm, comm, lookupComm(comm) != nil, code)
}

//export gompi_win_call_errhandler
func gompi_win_call_errhandler(win uintptr, code int32) int32 {
	return callErrhandler("MPI_Win_call_errhandler", handle.Win, win, rma.Lookup(win) != nil, code)
}

// callErrhandler runs the object's handler for code; the call itself has succeeded if the handler returns. Programs
// have codes of their own that MPI does not know, for handlers of their own, and other libraries hand them on.
func callErrhandler(function string, kind handle.Kind, object uintptr, exists bool, code int32) int32 {
	if !exists {
		return finish(function, 0, 0, noObject(kind, object))
	}
	if _, err := mpierr.CodeClass(code); err != nil && code < 0 {
		return finish(function, kind, object, err)
	}
	text := fmt.Sprintf("error code %d", code)
	// a class's own text tells of its latest error
	if about, err := mpierr.String(code); err == nil && about != "" && !mpierr.Predefined(code) {
		text += " (" + about + ")"
	}
	if rc := refused(code, function, text, int32(kind), object); rc < 0 {
		return asked(rc)
	}
	return abi.MPI_SUCCESS
}

//export gompi_error_class
func gompi_error_class(code int32, class uintptr) int32 {
	return making("MPI_Error_class", class, func() (int32, error) { return mpierr.CodeClass(code) })
}

//export gompi_error_string
func gompi_error_string(code int32, text, length uintptr) int32 {
	s, err := mpierr.String(code)
	if err == nil {
		err = storeString(s, abi.MPI_MAX_ERROR_STRING, text, length)
	}
	return finish("MPI_Error_string", 0, 0, err)
}

//export gompi_add_error_class
func gompi_add_error_class(class uintptr) int32 {
	defer tellLastUsed()
	return making("MPI_Add_error_class", class, func() (int32, error) { return mpierr.AddClass(), nil })
}

//export gompi_add_error_code
func gompi_add_error_code(class int32, code uintptr) int32 {
	defer tellLastUsed()
	return making("MPI_Add_error_code", code, func() (int32, error) { return mpierr.AddCode(class) })
}

//export gompi_add_error_string
func gompi_add_error_string(code int32, text uintptr) int32 {
	err := null(text)
	if err == nil {
		err = mpierr.AddString(code, cString(text))
	}
	return finish("MPI_Add_error_string", 0, 0, err)
}

//export gompi_remove_error_class
func gompi_remove_error_class(class int32) int32 {
	return finish("MPI_Remove_error_class", 0, 0, mpierr.RemoveClass(class))
}

//export gompi_remove_error_code
func gompi_remove_error_code(code int32) int32 {
	return finish("MPI_Remove_error_code", 0, 0, mpierr.RemoveCode(code))
}

//export gompi_remove_error_string
func gompi_remove_error_string(code int32) int32 {
	return finish("MPI_Remove_error_string", 0, 0, mpierr.RemoveString(code))
}
