package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Checks that a hang is reported only after the same waits have lasted for some time, without a wake-up in between.
func TestUnchangedWaits(t *testing.T) {
	const between, patience = time.Second, 3 * time.Second
	start := time.Now()
	for name, poll := range map[string]func(second int) (waits []waitID, at time.Duration){
		"the same": func(s int) ([]waitID, time.Duration) { return []waitID{{rank: 1}}, 0 },
		"a wait more": func(s int) ([]waitID, time.Duration) {
			return []waitID{{rank: 1, number: uint32(s / 3)}}, 0
		},
		"woken": func(s int) ([]waitID, time.Duration) {
			return []waitID{{rank: 1, wakes: uint32(s / 3)}}, 0
		},
		"another one": func(s int) ([]waitID, time.Duration) { return []waitID{{rank: s / 3}}, 0 },
		"none": func(s int) ([]waitID, time.Duration) {
			if s%3 == 0 {
				return nil, 0
			}
			return []waitID{{rank: 1}}, 0
		},
		"gompirun has stood still": func(s int) ([]waitID, time.Duration) {
			return []waitID{{rank: 1}}, time.Duration(s/3) * time.Hour
		},
	} {
		h, still := hang{}, false
		for s := range 12 {
			waits, later := poll(s)
			now := start.Add(later + time.Duration(s)*time.Second)
			still = h.unchanged(waits, now, between, patience) || still
			require.False(t, still && s < 3, name)
		}
		require.Equal(t, name == "the same", still, name)
	}
}

// Checks that allSleep requires the same sleeping threads at two successive inspections, and that inspections become
// rarer while a thread runs.
func TestThreadsSleepTwice(t *testing.T) {
	h, now := hang{}, time.Now()
	sleeps := func(on ...string) bool { return h.allSleep(otherThreads{asleep: on}, now, time.Second) }
	require.False(t, sleeps("a"))
	require.True(t, sleeps("a"))
	require.False(t, sleeps("b"), "another sleep")
	require.False(t, h.allSleep(otherThreads{active: true}, now, time.Second), "one does not sleep")
	require.False(t, sleeps("b"), "the poll before reported nothing")
	require.True(t, sleeps("b"))
	require.False(t, sleeps())
	require.True(t, sleeps(), "there are none")
	for range 10 {
		h.allSleep(otherThreads{active: true}, now, time.Second)
	}
	require.Equal(t, maxBackoff, h.next.Sub(now))
}
