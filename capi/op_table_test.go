package main

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

func TestKernelMisaligned(t *testing.T) {
	in, inout := make([]byte, 801), make([]byte, 801)
	for i := 0; i < 100; i++ {
		*(*int64)(unsafe.Pointer(&in[1+8*i])) = int64(i)
		*(*int64)(unsafe.Pointer(&inout[1+8*i])) = 1000
	}
	require.True(t, applyKernel(abi.MPI_SUM, abi.MPI_LONG, unsafe.Pointer(&in[1]), unsafe.Pointer(&inout[1]), 100))
	for i := 0; i < 100; i++ {
		require.EqualValues(t, 1000+i, *(*int64)(unsafe.Pointer(&inout[1+8*i])))
	}
	require.False(t, applyKernel(abi.MPI_SUM, abi.MPI_CHAR, unsafe.Pointer(&in[1]), unsafe.Pointer(&inout[1]), 100))
}
