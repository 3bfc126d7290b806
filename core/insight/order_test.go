package insight

import (
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

// Records come by their times, those of one rank in its order, and none is given on before its time has come.
func TestOrderByTime(t *testing.T) {
	var got []string
	o := Order{Use: func(rank int, r *Record) { got = append(got, fmt.Sprint(rank, " ", r.time().Nanoseconds())) }}
	f := abi.Functions()[0]
	o.Add(1, &Record{Function: f, Start: 1, End: 30})
	o.Add(1, &Record{Function: f, Entry: true, Start: 40})
	o.Add(0, &Record{Function: f, Entry: true, Start: 10})
	o.Add(0, &Record{Function: f, Start: 10, End: 35})
	o.Until(30)
	require.Equal(t, []string{"0 10", "1 30"}, got)
	// of which a call that had begun before was written down late
	o.Add(1, &Record{Function: f, Start: 40, End: 45})
	o.Add(0, &Record{Function: f, Start: 36, End: 41})
	o.Until(time.Hour)
	require.Equal(t, []string{"0 10", "1 30", "0 35", "1 40", "0 41", "1 45"}, got)
}

// What two ranks tell each other comes behind what was told, whenever the reader has looked at whom.
func TestOrderOfCauses(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	f := abi.Functions()[0]
	for range 200 {
		type written struct {
			rank int
			at   time.Duration // when it was in the ring
			r    Record
		}
		// Ranks take turns: each step is entered after the one before was written down, some time after its
		// entry.
		var all []written
		now := time.Duration(0)
		for i := range 40 {
			now += time.Duration(1 + r.Intn(10))
			w := written{rank: r.Intn(3), r: Record{Function: f, Number: i, Entry: true, Start: now}}
			now += time.Duration(r.Intn(30))
			w.at = now
			all = append(all, w)
		}
		next := 0
		o := Order{Use: func(_ int, r *Record) {
			require.Equal(t, next, r.Number)
			next++
		}}
		for looked, i := time.Duration(0), 0; i < len(all); {
			looked += time.Duration(r.Intn(60))
			began := looked
			looked += time.Duration(r.Intn(20)) // rank by rank; more may be written meanwhile
			for ; i < len(all) && all[i].at <= looked; i++ {
				o.Add(all[i].rank, &all[i].r)
			}
			o.Until(began)
		}
		o.Until(now)
		require.Equal(t, len(all), next)
	}
}

// A copy of a record stays as it was when the words are used again.
func TestClone(t *testing.T) {
	words := []uint64{7, 8}
	r := Record{Function: abi.Functions()[0], Inputs: []Value{{Words: words[:1]}},
		Outputs: []Value{{Words: words[1:]}}}
	c := r.Clone()
	words[0], words[1] = 0, 0
	require.Equal(t, []uint64{7}, c.Inputs[0].Words)
	require.Equal(t, []uint64{8}, c.Outputs[0].Words)
}
