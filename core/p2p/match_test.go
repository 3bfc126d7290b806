package p2p

import (
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

// TestListsAgainstSlices adds and takes at random, short lists and long ones, and compares with a search from the
// front.
func TestListsAgainstSlices(t *testing.T) {
	for _, messages := range []bool{false, true} {
		for seed := int64(0); seed < 30; seed++ {
			rnd := rand.New(rand.NewSource(seed))
			l := list[Message]{messages: messages}
			var model []*entry[Message]
			length := []int{5, 30, 400}[seed%3]
			wild := func(x, any int32) int32 {
				if rnd.Intn(4) == 0 {
					return any
				}
				return x
			}
			for step := 0; step < 4000; step++ {
				src, tag := int32(rnd.Intn(4)), int32(rnd.Intn(6))
				psrc, ptag := wild(src, abi.MPI_ANY_SOURCE), wild(tag, abi.MPI_ANY_TAG)
				grow := step/length%2 == 0
				switch {
				case grow == (rnd.Intn(8) != 0):
					e := &entry[Message]{src: src, tag: tag}
					if !messages {
						e.src, e.tag = psrc, ptag
					}
					l.add(e)
					model = append(model, e)
				case rnd.Intn(8) == 0 && len(model) > 0: // cancelled
					i := rnd.Intn(len(model))
					l.remove(model[i])
					model = append(model[:i], model[i+1:]...)
				default:
					var got, want *entry[Message]
					for _, e := range model {
						if messages && accepts(psrc, ptag, e.src, e.tag) ||
							!messages && accepts(e.src, e.tag, src, tag) {
							want = e
							break
						}
					}
					if messages {
						got = l.message(psrc, ptag)
					} else {
						got = l.receiver(src, tag)
					}
					require.Same(t, want, got, "seed %d step %d", seed, step)
					if got != nil {
						l.remove(got)
						for i, e := range model {
							if e == got {
								model = append(model[:i], model[i+1:]...)
								break
							}
						}
					}
				}
				require.Equal(t, len(model), l.n)
				if messages && len(model) > 0 {
					require.Same(t, model[0], l.oldest(), "seed %d step %d", seed, step)
				}
			}
			for _, e := range model {
				l.remove(e)
			}
			require.Zero(t, l.n)
			require.Nil(t, l.index)
			require.Nil(t, l.all.first)
		}
	}
}

// TestLongListsAreFast takes 100,000 entries out from the far end: quadratic work would take minutes.
func TestLongListsAreFast(t *testing.T) {
	const n = 100_000
	start := time.Now()
	for _, messages := range []bool{false, true} {
		l := list[Message]{messages: messages}
		for i := int32(0); i < n; i++ {
			l.add(&entry[Message]{src: i % 3, tag: i})
		}
		for i := int32(n - 1); i >= 0; i-- {
			var e *entry[Message]
			if messages {
				e = l.message(i%3, i)
			} else {
				e = l.receiver(i%3, i)
			}
			require.Equal(t, i, e.tag)
			l.remove(e)
		}
	}
	require.Less(t, time.Since(start), 20*time.Second)
}
