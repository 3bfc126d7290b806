package shm

import "time"

// Policy is how threads of this node's processes wait, in Go (wait.go) and in C (capi/base/wait.c, which is handed
// what is here when the node is opened): they look for a while, then look and offer their core in turn, then sleep.
type Policy struct {
	// Poll is how long a wait looks before it sleeps. To be woken takes longer than most answers, 100 us and more
	// where an idle core has been switched off: two that wait in turn must not send each other to sleep.
	Poll time.Duration
	// LongYield is how long an offered core must stay away for the thread to stop offering it and to sleep: it went
	// to somebody who computes, of this job or another, and would go there each time. Asleep the thread is woken in
	// time.
	LongYield time.Duration
	// Slice is how long a thread sleeps before it looks whether the others still live.
	Slice time.Duration
	// QuietLooks is how often a wait looks at first without doing anything else: a partner on another core answers
	// within some 100 ns. None if the partner may need this very core.
	QuietLooks int32
	// Crowded says that there are fewer cores than processes: a waiting thread offers its core each time that it
	// looks. With a core for each it does so only after a while, since the system may still have put two on one
	// core, and others may use the rest.
	Crowded bool
}

// policyFor decides how to wait on a node of n processes that may use so many cores together.
func policyFor(n, cores int) Policy {
	p := Policy{
		Poll:       400 * time.Microsecond,
		LongYield:  100 * time.Microsecond,
		Slice:      200 * time.Millisecond,
		QuietLooks: 200,
		Crowded:    n > cores,
	}
	if p.Crowded {
		p.QuietLooks = 0
	}
	return p
}
