package model

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFloats checks that the fast path of reduce for float and double gives the same results as the general path.
func TestFloats(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(3, 4))}
	for range 2000 {
		b := pick(g, float32Type, float64Type)
		op := pick(g, opSum, opProd, opMin, opMax)
		x, y, want := make([]byte, 8), make([]byte, 8), make([]byte, 8)
		g.value(b, "", false, x)
		g.value(b, op, false, y)
		b.storeFloat(want, reduceFloat(op, b.loadFloat(x), b.loadFloat(y)))
		b.reduce(op, x, y, nil)
		require.Equal(t, want, x, "%s %s", b.Name, op)
	}
}
