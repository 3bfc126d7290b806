package coll

import (
	"gompirma/core/abi"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
)

// noRoom is what room panics with.
type noRoom struct{ error }

// room returns n bytes of the library's own for data of a call. Without memory for them it panics, which whoever began
// the call turns into its error (orNoRoom).
func room(n int) []byte {
	b, err := limit.Bytes(int64(n))
	if err != nil {
		panic(noRoom{mpierr.New(abi.MPI_ERR_NO_MEM, "%v", err)})
	}
	return b
}

// orNoRoom is deferred where a call begins. MPI_ERR_NO_MEM.
func orNoRoom(err *error) {
	switch p := recover().(type) {
	case nil:
	case noRoom:
		*err = p.error
	default:
		panic(p)
	}
}
