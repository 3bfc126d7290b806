package main

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	chunk     = 64 << 10               // read at once
	maxHeld   = 1 << 20                // of an unfinished line, in bytes; a longer line is written as it comes
	patience  = time.Second            // how long others wait for the end of a line that was begun
	promptLag = 100 * time.Millisecond // after which an unfinished line of rank 0 is taken for a question
	lastGulp  = 1 << 20                // read at most from a pipe that something left behind still holds open
)

var pool = sync.Pool{New: func() any { b := make([]byte, chunk); return &b }}

// output passes on what the ranks write, whole lines at a time. Each of the ranks' pipes has a goroutine.
//
// An unfinished line is held back until its end comes, with two exceptions: it grows beyond maxHeld, or it is rank 0's
// and may be a question to whoever types the input. Then it is written as it is, others wait for its end, and if that
// does not come within patience a newline is put in.
type output struct {
	stdout, stderr *sink
	tag            bool // put [rank] before each line
	single         bool // one process only: nothing can mix, so pass on bytes as they come
	asks           bool // rank 0 may ask questions
	mail           *mailbox

	pumps sync.WaitGroup

	mu      sync.Mutex
	streams []*stream // guarded by mu
}

func newOutput(mail *mailbox, stdout, stderr *os.File) *output {
	o := &output{mail: mail, stdout: newSink(stdout, mail)}
	o.stderr = o.stdout
	if !sameFile(stdout, stderr) {
		o.stderr = newSink(stderr, mail)
	}
	return o
}

func sameFile(a, b *os.File) bool {
	x, err1 := a.Stat()
	y, err2 := b.Stat()
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// attach begins to pass on what comes out of a rank's pipe.
func (o *output) attach(rank int, pipe *os.File, to *sink) {
	s := &stream{pipe: pipe, to: to, whole: o.single && !o.tag, asks: o.asks && rank == 0}
	if o.tag {
		s.tag = "[" + strconv.Itoa(rank) + "] "
	}
	o.mu.Lock()
	o.streams = append(o.streams, s)
	o.mu.Unlock()
	o.pumps.Add(1)
	go func() {
		defer o.pumps.Done()
		s.pump()
	}()
}

// wait says outputDone when every pipe attached so far has come to its end.
func (o *output) wait() {
	o.pumps.Wait()
	o.mail.send(outputDone{})
}

// abandon stops waiting for the ends of pipes that somebody still holds open; what lies in them is passed on.
func (o *output) abandon() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.streams {
		s.abandoned.Store(true)
		s.pipe.SetReadDeadline(time.Unix(1, 0))
	}
}

// stream is one pipe of a rank.
type stream struct {
	pipe      *os.File
	to        *sink
	tag       string
	whole     bool // pass on bytes as they come
	asks      bool
	abandoned atomic.Bool
	held      []byte // the beginning of a line

	done bool // guarded by to.mu
}

func (s *stream) pump() {
	defer s.to.close(s)
	defer s.pipe.Close()
	raw, err := s.pipe.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; ; {
		buf, n, err := s.read(raw)
		if n > 0 {
			s.take((*buf)[:n])
		}
		if buf != nil {
			pool.Put(buf)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.to.write(s, s.held, false)
			s.held = s.held[:0]
		case err != nil || n == 0: // the end, or an abandoned pipe is empty
			s.to.write(s, s.held, false)
			return
		case s.abandoned.Load():
			if total += n; total > lastGulp {
				s.to.write(s, s.held, false)
				return
			}
		}
		deadline := time.Time{}
		if s.asks && len(s.held) > 0 {
			deadline = time.Now().Add(promptLag)
		}
		if s.asks && !s.abandoned.Load() {
			s.pipe.SetReadDeadline(deadline)
			if s.abandoned.Load() { // meanwhile, and its deadline may be overwritten
				s.pipe.SetReadDeadline(time.Unix(1, 0))
			}
		}
	}
}

// read waits for data and takes a buffer only then: ranks may be many, and most are silent. n is 0 at the end, and when
// an abandoned pipe is empty.
func (s *stream) read(raw syscall.RawConn) (buf *[]byte, n int, err error) {
	if s.abandoned.Load() {
		s.pipe.SetReadDeadline(time.Time{}) // Go refuses to read after a deadline
	}
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		buf = pool.Get().(*[]byte)
		for {
			n, failed = syscall.Read(int(fd), *buf)
			if failed != syscall.EINTR {
				break
			}
		}
		if failed == syscall.EAGAIN {
			n, failed = 0, nil
			if s.abandoned.Load() {
				return true
			}
			pool.Put(buf)
			buf = nil
			return false
		}
		return true
	})
	if failed != nil {
		n, err = 0, failed
	}
	return buf, n, err
}

// take passes on the lines that data completes and holds back the rest.
func (s *stream) take(data []byte) {
	if s.whole {
		s.to.writeBytes(s, data)
		return
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	if end > 0 {
		block := data[:end]
		if len(s.held) > 0 {
			block = append(s.held, block...)
		}
		s.to.write(s, block, true)
		s.held = s.held[:0]
		if cap(s.held) > maxHeld {
			s.held = nil
		}
	}
	s.held = append(s.held, data[end:]...)
	if len(s.held) > maxHeld {
		s.to.write(s, s.held, false)
		s.held = s.held[:0]
	}
}

// sink is a file that several streams write lines to.
type sink struct {
	file *os.File
	mail *mailbox

	mu      sync.Mutex
	changed sync.Cond
	open    *stream   // has written the beginning of a line
	since   time.Time // when it last did
	lost    bool      // writing has failed: the rest is thrown away
}

func newSink(file *os.File, mail *mailbox) *sink {
	k := &sink{file: file, mail: mail}
	k.changed.L = &k.mu
	return k
}

// write puts out whole lines, or, if not complete, the beginning of one (which may be nothing).
func (k *sink) write(s *stream, block []byte, complete bool) {
	if len(block) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waitForLineLocked(s)
	if s.tag != "" {
		block = tagged(block, s.tag, k.open == s)
	}
	k.open, k.since = nil, time.Time{}
	k.putLocked(block)
	if !complete {
		k.open, k.since = s, time.Now()
	}
	k.changed.Broadcast()
}

// waitForLineLocked returns when no other stream is inside a line.
func (k *sink) waitForLineLocked(s *stream) {
	for k.open != nil && k.open != s {
		left := patience - time.Since(k.since)
		if k.open.done || left <= 0 {
			k.putLocked([]byte{'\n'})
			k.open = nil
			return
		}
		timer := time.AfterFunc(left, k.changed.Broadcast)
		k.changed.Wait()
		timer.Stop()
	}
}

// tagged puts tag before each line; inside says that the first one was begun before.
func tagged(block []byte, tag string, inside bool) []byte {
	out := make([]byte, 0, len(block)+len(tag)*(1+bytes.Count(block, []byte{'\n'})))
	for len(block) > 0 {
		if !inside {
			out = append(out, tag...)
		}
		inside = false
		end := bytes.IndexByte(block, '\n') + 1
		if end == 0 {
			end = len(block)
		}
		out = append(out, block[:end]...)
		block = block[end:]
	}
	return out
}

// writeBytes puts out bytes as they are.
func (k *sink) writeBytes(s *stream, data []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.putLocked(data)
	k.open = nil
	if data[len(data)-1] != '\n' {
		k.open = s
	}
}

// close says that a stream will write no more. A line that it left unfinished stays so, unless somebody else writes
// after it.
func (k *sink) close(s *stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.done = true
	k.changed.Broadcast()
}

// say writes lines of gompirun's own. wait=false: not if somebody is stuck in writing.
func (k *sink) say(text string, wait bool) {
	if !wait && !k.mu.TryLock() {
		return
	} else if wait {
		k.mu.Lock()
	}
	defer k.mu.Unlock()
	if k.open != nil {
		text = "\n" + text
		k.open = nil
	}
	k.putLocked([]byte(text))
}

func (k *sink) putLocked(data []byte) {
	if k.lost {
		return
	}
	if _, err := k.file.Write(data); err != nil {
		k.lost = true
		k.mail.send(outputLost{err})
	}
}
