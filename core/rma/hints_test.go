package rma

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/shm"
)

func TestAlignment(t *testing.T) {
	h := Hints{Alignment: 64, HugePages: true}
	require.EqualValues(t, 64, h.alignment(shm.HugePage-1))
	require.EqualValues(t, shm.HugePage, h.alignment(shm.HugePage))
}

func TestCommonHints(t *testing.T) {
	for _, c := range []struct{ one, other, want Common }{
		{Common{}, Common{}, Common{}},
		{Common{SameSize | SameDispUnit, 0}, Common{SameSize, 4096}, Common{SameSize, 4096}},
		{Common{Noncontiguous, 1}, Common{^uint64(0), 4096}, Common{Noncontiguous, 1}},
		{Common{0, 1<<63 - 1}, Common{0, 0}, Common{0, 1<<63 - 1}},
	} {
		var b [commonBytes]byte
		c.one.encode(b[:]) // decodeCommon must restore what encode has written
		require.Equal(t, c.want, combineCommon(slices.Values([]Common{decodeCommon(b[:]), c.other, c.other})))
		require.Equal(t, c.want, combineCommon(slices.Values([]Common{c.other, c.one})))
	}
}
