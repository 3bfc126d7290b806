package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProgress(t *testing.T) {
	p := newProgress(100)
	var out strings.Builder
	p.advance(&out, 5, p.start.Add(9*time.Second))
	require.Empty(t, out.String(), "a line is printed at most every 10 s")
	p.skip(20)
	p.advance(&out, 15, p.start.Add(40*time.Second))
	require.Equal(t, "compare: 40 of 100 measurements after 40s, about 2m0s left\n", out.String())
	p.advance(&out, 60, p.start.Add(160*time.Second))
	require.Equal(t, 1, strings.Count(out.String(), "\n"), "no line at the end")
}
