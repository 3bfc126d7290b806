package core

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/mpierr"
)

func TestSoft(t *testing.T) {
	for _, c := range []struct {
		text       string
		most, want int // want is -1 if no number is allowed
	}{
		{"3", 3, 3}, {"3", 2, -1}, {"3", 9, 3}, {"0:7", 5, 5}, {"0:7", 9, 7}, {"1,2,4,8,16", 15, 8},
		{"2:10000:2", 7, 6}, {"2:10000:2", 1, -1}, {"2:10:2,7", 7, 7}, {"2:10:2,7", 9, 8}, {"7,2:10:2", 8, 8},
		{"10:1:-3", 8, 7}, {"10:1:-3", 3, 1}, {"10:2:-3", 3, -1}, {"10:2:-3", 99, 10}, {"5:5", 5, 5},
		{"5:5:-1", 5, 5}, {"-3:2", 9, 2}, {"-5", 9, -1}, {"-4:-2", 9, -1}, {"-3:9:5", 9, 7}, {"-3:9:5", 6, 2},
		{" 1 , 2 : 4 ", 9, 4}, {"0", 9, 0}, {"2147483647", 9, -1}, {"-2147483648:2147483647", 9, 9},
	} {
		set, err := ParseSoft(c.text)
		require.NoError(t, err, c.text)
		n, ok := set.Largest(c.most)
		require.Equal(t, c.want, n, "%s up to %d", c.text, c.most)
		require.Equal(t, c.want >= 0, ok)
	}
	for _, text := range []string{"", ",", "1,", "a", "1:2:3:4", "1:2:0", "2:1", "1:2:-1", ":", "1::2", "1.5",
		"1 2", "99999999999999999999"} {
		_, err := ParseSoft(text)
		require.EqualValues(t, abi.MPI_ERR_INFO_VALUE, mpierr.ClassOf(err), text)
	}
}
