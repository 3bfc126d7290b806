package main

import (
	"fmt"
	"io"
	"time"
)

// progress reports how many measurements are done, and estimates the time that the others take.
type progress struct {
	done, skipped, all int
	start, last        time.Time
}

func newProgress(all int) *progress {
	now := time.Now()
	return &progress{all: all, start: now, last: now}
}

// skip counts n measurements that take no time.
func (p *progress) skip(n int) { p.skipped += n }

// advance counts n further measurements at the time now. It prints a line if the previous one is at least 10 s old.
func (p *progress) advance(out io.Writer, n int, now time.Time) {
	p.done += n
	left := p.all - p.skipped - p.done
	if left <= 0 || now.Sub(p.last) < 10*time.Second {
		return
	}
	p.last = now
	elapsed := now.Sub(p.start)
	fmt.Fprintf(out, "compare: %d of %d measurements after %v, about %v left\n", p.done+p.skipped, p.all,
		elapsed.Round(time.Second), (elapsed * time.Duration(left) / time.Duration(p.done)).Round(time.Second))
}
