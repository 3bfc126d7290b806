package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// screen is the output under test: it writes to a pipe, and `text` holds what has arrived at the pipe's other end.
type screen struct {
	out  *output
	mail *mailbox
	file *os.File

	mu   sync.Mutex
	text bytes.Buffer
	done chan struct{}
}

func newScreen(t *testing.T) *screen {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	s := &screen{mail: newMailbox(), file: w, done: make(chan struct{})}
	s.out = newOutput(s.mail, w, w)
	require.Same(t, s.out.stdout, s.out.stderr, "one file, one sink")
	go func() {
		defer close(s.done)
		buf := make([]byte, 1<<16)
		for {
			n, err := r.Read(buf)
			s.mu.Lock()
			s.text.Write(buf[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s
}

// rank attaches a pipe and returns the end to which the rank would write.
func (s *screen) rank(t *testing.T, rank int) *os.File {
	ours, theirs, err := pipe()
	require.NoError(t, err)
	s.out.attach(rank, fmt.Sprintf("[%d] ", rank), ours, s.out.stdout, nil)
	return theirs
}

// finish waits for the end of all pipes and returns all output.
func (s *screen) finish(t *testing.T) string {
	go s.out.wait()
	require.Equal(t, []any{outputDone{}}, s.mail.receive())
	s.file.Close()
	<-s.done
	return s.text.String()
}

// Waits until the output equals `want`.
func (s *screen) until(t *testing.T, want string) {
	require.Eventually(t, func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.text.String() == want },
		10*time.Second, time.Millisecond, want)
}

// Checks that lines are forwarded whole, and in the order in which each rank wrote them. Many ranks write lines of any
// length in parts of any length.
func TestLinesNotMixed(t *testing.T) {
	for _, tag := range []bool{false, true} {
		s := newScreen(t)
		s.out.tag = tag
		const ranks, linesEach = 9, 300
		var wg sync.WaitGroup
		for r := range ranks {
			to := s.rank(t, r)
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer to.Close()
				rnd := rand.New(rand.NewSource(int64(r)))
				var text []byte
				for i := range linesEach {
					text = append(text, fmt.Sprintf("%d %d %s end\n", r, i,
						strings.Repeat(string(rune('a'+r)), rnd.Intn(1<<rnd.Intn(15))))...)
				}
				for len(text) > 0 {
					n := min(len(text), 1+rnd.Intn(1<<rnd.Intn(14)))
					to.Write(text[:n])
					text = text[n:]
				}
			}()
		}
		wg.Wait()
		next := make([]int, ranks)
		for _, line := range strings.Split(strings.TrimSuffix(s.finish(t), "\n"), "\n") {
			var r, i int
			format := "%d %d "
			if tag {
				var tagged int
				_, err := fmt.Sscanf(line, "[%d] %d", &tagged, &r)
				require.NoError(t, err, line)
				require.Equal(t, tagged, r)
				line = line[strings.Index(line, "] ")+2:]
			}
			_, err := fmt.Sscanf(line, format, &r, &i)
			require.NoError(t, err, "%.80q", line)
			require.Equal(t, next[r], i)
			require.True(t, strings.HasSuffix(line, " end"), "%.80q", line)
			require.Empty(t, strings.Trim(line, fmt.Sprintf("0123456789 end%c", 'a'+r)), "%.80q", line)
			next[r]++
		}
		for r := range next {
			require.Equal(t, linesEach, next[r])
		}
	}
}

func TestUnfinishedLinesAtTheEnd(t *testing.T) {
	s := newScreen(t)
	a, b, c := s.rank(t, 0), s.rank(t, 1), s.rank(t, 2)
	io.WriteString(a, "whole\nrest of a")
	s.until(t, "whole\n")
	a.Close()
	s.until(t, "whole\nrest of a")
	io.WriteString(b, "rest of b")
	b.Close()
	s.until(t, "whole\nrest of a\nrest of b")
	io.WriteString(c, "c\n")
	c.Close()
	require.Equal(t, "whole\nrest of a\nrest of b\nc\n", s.finish(t))
}

// Checks that a question of rank 0 is shown although its line has not ended. Other streams wait a limited time for the
// end of this line, and the question never appears within another line.
func TestQuestions(t *testing.T) {
	s := newScreen(t)
	s.out.mayPrompt, s.out.tag = true, true
	a, b := s.rank(t, 0), s.rank(t, 1)
	io.WriteString(b, "held back")
	io.WriteString(a, "Name? ")
	s.until(t, "[0] Name? ")
	io.WriteString(b, ", here\n")
	io.WriteString(a, "Bob\n")
	s.until(t, "[0] Name? Bob\n[1] held back, here\n")
	io.WriteString(a, "Age? ")
	s.until(t, "[0] Name? Bob\n[1] held back, here\n[0] Age? ")
	io.WriteString(b, "late\n")
	s.until(t, "[0] Name? Bob\n[1] held back, here\n[0] Age? \n[1] late\n")
	io.WriteString(a, "7\n")
	a.Close()
	b.Close()
	require.Equal(t, "[0] Name? Bob\n[1] held back, here\n[0] Age? \n[1] late\n[0] 7\n", s.finish(t))
}

// Checks that a line too long to hold back is written in parts, and no other stream writes into it.
func TestVeryLongLines(t *testing.T) {
	s := newScreen(t)
	const length = 3*maxHeld + 12345
	var wg sync.WaitGroup
	for r := range 3 {
		to := s.rank(t, r)
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer to.Close()
			to.Write(append(bytes.Repeat([]byte{byte('a' + r)}, length), '\n'))
		}()
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(s.finish(t), "\n"), "\n")
	require.Len(t, lines, 3)
	for _, line := range lines {
		require.Len(t, line, length)
		require.Empty(t, strings.Trim(line, line[:1]))
	}
}

func TestSingleRankUnbuffered(t *testing.T) {
	s := newScreen(t)
	s.out.single = true
	a := s.rank(t, 0)
	io.WriteString(a, "no newline")
	s.until(t, "no newline")
	s.out.stderr.printText("gompirun: line\n", true)
	s.until(t, "no newline\ngompirun: line\n")
	io.WriteString(a, "\x00\xff\n")
	a.Close()
	require.Equal(t, "no newline\ngompirun: line\n\x00\xff\n", s.finish(t))
}

// Checks that output.abandon forwards the data that is already in a pipe which a remaining process holds open.
// Afterwards the process can no longer write to this pipe.
func TestAbandonedPipes(t *testing.T) {
	s := newScreen(t)
	quiet, busy, endless := s.rank(t, 0), s.rank(t, 1), s.rank(t, 2)
	defer quiet.Close()
	defer busy.Close()
	io.WriteString(busy, "a\nb")
	s.until(t, "a\n")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := io.WriteString(endless, strings.Repeat("x", 4095)+"\n"); err != nil {
				return
			}
		}
	}()
	s.out.abandon()
	require.Contains(t, s.finish(t), "\nb")
	<-ended // the writer's next write fails, since the pipe has no reader any longer
	endless.Close()
}

func TestBrokenOutputIsReportedOnce(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	r.Close()
	mail := newMailbox()
	out := newOutput(mail, w, w)
	ours, theirs, err := pipe()
	require.NoError(t, err)
	out.attach(0, "", ours, out.stdout, nil)
	io.WriteString(theirs, "a\n")
	events := mail.receive()
	require.Len(t, events, 1)
	require.ErrorIs(t, events[0].(outputLost).err, unix.EPIPE)
	io.WriteString(theirs, strings.Repeat("more\n", 100000)) // dropped: the rank must not hang
	theirs.Close()
	out.wait()
	require.Equal(t, []any{outputDone{}}, mail.receive())
}

func TestPrintDoesNotBlock(t *testing.T) {
	k := newSink(os.Stderr, newMailbox())
	k.mu.Lock()
	k.printText("never seen\n", false)
	k.mu.Unlock()
}

func TestMailbox(t *testing.T) {
	m := newMailbox()
	const senders, each = 8, 1000
	for s := range senders {
		go func() {
			for i := range each {
				m.send([2]int{s, i})
			}
		}()
	}
	next := make([]int, senders)
	for got := 0; got < senders*each; {
		for _, e := range m.receive() {
			e := e.([2]int)
			require.Equal(t, next[e[0]], e[1])
			next[e[0]]++
			got++
		}
	}
}
