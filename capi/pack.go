package main

import "C"

import (
	"gompirma/core/abi"
	"gompirma/core/datatype"
	"gompirma/core/mpierr"
)

// Packing in the canonical representation (MPI-5.0 5.3). Nothing here communicates or blocks.

// externalType checks the representation and the type of a call on packed data, and returns the type with the packed
// bytes of count copies.
func externalType(datarep uintptr, count int64, h uintptr) (*datatype.Type, int64, error) {
	if rep := cString(datarep); rep != "external32" {
		return nil, 0, mpierr.New(abi.MPI_ERR_ARG, "data representation %q, only \"external32\" is there", rep)
	}
	t, err := datatype.GetCommitted(h)
	if err != nil {
		return nil, 0, err
	}
	if count < 0 {
		return nil, 0, mpierr.New(abi.MPI_ERR_COUNT, "count is %d, it must not be negative", count)
	}
	n, ok := t.ExternalSize(count)
	l := t.Layout()
	_, _, bounded := l.Bounds(count)
	if _, sized := l.Packed(count); !ok || !bounded || !sized {
		return nil, 0, mpierr.New(abi.MPI_ERR_COUNT, "%d copies of datatype %s do not fit 64 bits", count, t)
	}
	return t, n, nil
}

// external packs or unpacks count copies at buf from the position in the packed buffer on, and moves the position.
func external(function string, datarep, buf uintptr, count int64, h, packed uintptr, size int64, position uintptr,
	pack bool) int32 {
	return alone(function, func() error {
		if err := null(position); err != nil {
			return err
		}
		t, n, err := externalType(datarep, count, h)
		if err != nil {
			return err
		}
		at := out[int64](position)
		switch {
		case *at < 0 || *at > size:
			return mpierr.New(abi.MPI_ERR_ARG, "position %d is not in the packed buffer of %d bytes", *at,
				size)
		case n > size-*at:
			return mpierr.New(abi.MPI_ERR_TRUNCATE,
				"%d bytes from position %d on are not in the packed buffer of %d bytes", n, *at, size)
		case n == 0:
			return nil
		case datatype.Nowhere(packed, *at):
			return mpierr.New(abi.MPI_ERR_BUFFER,
				"the packed buffer is %#x, which is not memory for %d bytes", packed, n)
		}
		if err := t.InMemory("data's", buf, count); err != nil {
			return err
		}
		bytes := slice[byte](packed+uintptr(*at), int(n))
		if pack {
			err = t.PackExternal(bytes, buf, count)
		} else {
			t.UnpackExternal(buf, bytes, count)
		}
		if err == nil {
			*at += n
		}
		return err
	})
}

//export gompi_pack_external_c
func gompi_pack_external_c(datarep, inbuf uintptr, incount int64, h, outbuf uintptr, outsize int64,
	position uintptr) int32 {
	return external("MPI_Pack_external_c", datarep, inbuf, incount, h, outbuf, outsize, position, true)
}

//export gompi_pack_external
func gompi_pack_external(datarep, inbuf uintptr, incount int32, h, outbuf uintptr, outsize int64,
	position uintptr) int32 {
	return external("MPI_Pack_external", datarep, inbuf, int64(incount), h, outbuf, outsize, position, true)
}

//export gompi_unpack_external_c
func gompi_unpack_external_c(datarep, inbuf uintptr, insize int64, position, outbuf uintptr, outcount int64,
	h uintptr) int32 {
	return external("MPI_Unpack_external_c", datarep, outbuf, outcount, h, inbuf, insize, position, false)
}

//export gompi_unpack_external
func gompi_unpack_external(datarep, inbuf uintptr, insize int64, position, outbuf uintptr, outcount int32,
	h uintptr) int32 {
	return external("MPI_Unpack_external", datarep, outbuf, int64(outcount), h, inbuf, insize, position, false)
}

func externalSize(function string, datarep uintptr, count int64, h, size uintptr) int32 {
	return making(function, size, func() (int64, error) {
		_, n, err := externalType(datarep, count, h)
		return n, err
	})
}

//export gompi_pack_external_size_c
func gompi_pack_external_size_c(datarep uintptr, incount int64, h, size uintptr) int32 {
	return externalSize("MPI_Pack_external_size_c", datarep, incount, h, size)
}

//export gompi_pack_external_size
func gompi_pack_external_size(datarep uintptr, incount int32, h, size uintptr) int32 {
	return externalSize("MPI_Pack_external_size", datarep, int64(incount), h, size)
}
