package main

import (
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// library returns the path of the C library, which has call frame information from compilers and from hand-written
// assembly.
func library(t *testing.T) string {
	t.Helper()
	for _, pattern := range []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[0]
		}
	}
	t.Fatal("there is no C library")
	return ""
}

// Checks that the call frame information of the C library can be interpreted at each function.
func TestFramesOfLibrary(t *testing.T) {
	f := readFrames(library(t))
	require.Greater(t, len(f.frames), 1000)
	for i := range f.frames {
		e := &f.frames[i]
		require.Less(t, e.low, e.high)
		require.Same(t, e, f.at(e.high-1))
		_, err := e.rules(e.high - 1)
		require.NoError(t, err, "%#x to %#x", e.low, e.high)
	}
	require.Nil(t, f.at(0))
	require.Empty(t, readFrames("/dev/null").frames)
}

// Checks that caller finds the calling frame at each step of the prologue of a function with a frame pointer.
func TestCallerOfFrame(t *testing.T) {
	e := frameEntry{low: 0x100, high: 0x200, common: &frameCommon{codeAlign: 1, dataAlign: -8, program: []byte{
		0x0c, 7, 8, // the CFA is the stack pointer + 8
		0x80 | regRA, 1}},
		program: []byte{
			0x41,     // at offset 1, after the push of the frame pointer:
			0x0e, 16, // the CFA is the stack pointer + 16
			0x80 | regBP, 2, // the frame pointer is saved at the CFA - 16
			0x43,         // at offset 4, after the frame pointer has been set:
			0x0d, regBP}} // the CFA is the frame pointer + 16
	memory := map[uint64]uint64{0x7000: 0x7100, 0x7008: 0x5555}
	word := func(at uint64) (uint64, bool) { value, ok := memory[at]; return value, ok }
	for at, sp := range map[uint64]uint64{0x100: 0x7008, 0x102: 0x7000, 0x104: 0x6f00} {
		var regs registers
		regs.set(regSP, sp)
		regs.set(regBP, 0x7000)
		c, ok := e.caller(at, &regs, word)
		require.True(t, ok, "%#x", at)
		require.Equal(t, uint64(0x5555), c.value[regRA], "%#x", at)
		require.Equal(t, uint64(0x7010), c.value[regSP], "%#x", at)
		if at != 0x100 {
			require.Equal(t, uint64(0x7100), c.value[regBP], "%#x", at)
		}
	}
	var regs registers
	regs.set(regSP, 0x6f00)
	_, ok := e.caller(0x104, &regs, word)
	require.False(t, ok, "the frame pointer is not known")
}

// Checks that damaged files cause no panic.
func TestDamagedFrames(t *testing.T) {
	e, err := elf.Open(library(t))
	require.NoError(t, err)
	defer e.Close()
	data, err := e.Section(".eh_frame").Data()
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		part := append([]byte{}, data[:min(len(data), 4096)]...)
		for range 50 {
			part[r.IntN(len(part))] = byte(r.Uint32())
		}
		if r.IntN(2) == 0 {
			binary.LittleEndian.PutUint32(part, uint32(r.IntN(64)))
		}
		var f frameInfo
		f.parse(part, 0x1000)
		for i := range f.frames {
			f.frames[i].rules(f.frames[i].low + 5)
		}
	}
}
