package nearest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWord(t *testing.T) {
	known := []string{"check", "stats", "trace", "timeout-report", "timeout", "n", "np", "wdir"}
	for word, want := range map[string]string{"cheque": "check", "stat": "stats", "tarce": "trace",
		"timout": "timeout", "tim": "timeout", "ti": "", "timeout-": "timeout", "wdri": "wdir",
		"check": "check", "hceck": "check", "nnp": "np", "xtace": "",
		"frobnicate": "", "x": "", "xy": "", "": ""} {
		require.Equal(t, want, Word(word, known), word)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"cheque", "check", 3}, {"ab", "ba", 1},
		{"kitten", "sitting", 3}, {"stats", "stat", 1}} {
		require.Equal(t, c.want, distance(c.a, c.b), "%s %s", c.a, c.b)
		require.Equal(t, c.want, distance(c.b, c.a), "%s %s", c.b, c.a)
	}
}
