package main

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	chunk        = 64 << 10               // bytes in a read
	maxHeld      = 1 << 20                // bytes of an unfinished line; a longer line is written in parts
	lineTimeout  = time.Second            // time for which other streams wait for the end of a started line
	promptDelay  = 100 * time.Millisecond // time after which an unfinished line of rank 0 counts as a question
	maxFinalRead = 1 << 20                // bytes that gompirun still reads from a pipe after abandon
)

var pool = sync.Pool{New: func() any { b := make([]byte, chunk); return &b }}

// output forwards the output of the ranks in whole lines. A goroutine reads each pipe of a rank.
//
// The beginning of a line is held back until the end of the line arrives. In two cases it is written earlier: if it
// grows beyond maxHeld, or if rank 0 wrote it and it may be a question to the user. The other streams then wait for the
// end of this line. If nothing arrives for lineTimeout, or if the stream ends, they write a newline and continue.
type output struct {
	stdout, stderr *sink
	tag            bool // write [rank] before each line
	single         bool // there is only one process, so lines cannot mix and bytes are forwarded as they arrive
	mayPrompt      bool // rank 0 may ask questions
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

// attach starts to forward the output from a rank's pipe to the sink `to`. If `first` is not nil, it also receives the
// output.
func (o *output) attach(rank int, tag string, pipe *os.File, to *sink, first *firstLines) {
	s := &stream{pipe: pipe, to: to, first: first, unbuffered: o.single && !o.tag,
		mayPrompt: o.mayPrompt && rank == 0}
	if o.tag {
		s.tag = tag
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

// wait waits until every pipe attached so far has ended, and then sends the event outputDone to the job.
func (o *output) wait() {
	o.pumps.Wait()
	o.mail.send(outputDone{})
}

// abandon ends the forwarding although remaining processes have not closed their ends of the pipes. Data that is
// already in the pipes is still forwarded.
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
	pipe        *os.File
	to          *sink
	tag         string
	first       *firstLines // nil if nothing but the sink receives the output
	unbuffered  bool        // forward bytes as they arrive
	mayPrompt   bool
	abandoned   atomic.Bool
	partialLine []byte // the beginning of a line, held back

	done bool // guarded by to.mu
}

func (s *stream) pump() {
	defer s.to.close(s)
	defer s.pipe.Close()
	if s.first != nil {
		defer close(s.first.ended)
	}
	raw, err := s.pipe.SyscallConn()
	if err != nil {
		return
	}
	for total := 0; ; {
		buf, n, err := s.read(raw)
		if n > 0 {
			if s.first != nil {
				s.first.add((*buf)[:n])
			}
			s.forward((*buf)[:n])
		}
		if buf != nil {
			pool.Put(buf)
		}
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.to.write(s, s.partialLine, false)
			s.partialLine = s.partialLine[:0]
		case err != nil || n == 0: // the end, or an abandoned pipe is empty
			s.to.write(s, s.partialLine, false)
			return
		case s.abandoned.Load():
			if total += n; total > maxFinalRead {
				s.to.write(s, s.partialLine, false)
				return
			}
		}
		deadline := time.Time{}
		if s.mayPrompt && len(s.partialLine) > 0 {
			deadline = time.Now().Add(promptDelay)
		}
		if s.mayPrompt && !s.abandoned.Load() {
			s.pipe.SetReadDeadline(deadline)
			// The method abandon ran meanwhile, and the call above may have overwritten its deadline.
			if s.abandoned.Load() {
				s.pipe.SetReadDeadline(time.Unix(1, 0))
			}
		}
	}
}

// read waits for data, and allocates a buffer only when data has arrived. There may be many ranks, most of which write
// nothing. The result n is 0 at the end of the stream, and when an abandoned pipe is empty.
func (s *stream) read(raw syscall.RawConn) (buf *[]byte, n int, err error) {
	if s.abandoned.Load() {
		s.pipe.SetReadDeadline(time.Time{}) // a read after its deadline fails even if data is available
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

// forward forwards the lines that `data` completes. It holds back an unfinished line at the end of `data`.
func (s *stream) forward(data []byte) {
	if s.unbuffered {
		s.to.writeBytes(s, data)
		return
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	if end > 0 {
		block := data[:end]
		if len(s.partialLine) > 0 {
			block = append(s.partialLine, block...)
		}
		s.to.write(s, block, true)
		s.partialLine = s.partialLine[:0]
		if cap(s.partialLine) > maxHeld {
			s.partialLine = nil
		}
	}
	s.partialLine = append(s.partialLine, data[end:]...)
	if len(s.partialLine) > maxHeld {
		s.to.write(s, s.partialLine, false)
		s.partialLine = s.partialLine[:0]
	}
}

// sink is a file to which several streams write lines.
type sink struct {
	file *os.File
	mail *mailbox

	mu          sync.Mutex
	changed     sync.Cond
	open        *stream   // stream that has written the beginning of a line, and not yet its end; nil if none
	since       time.Time // time of the last write by open
	writeFailed bool      // a write has failed: further data are dropped
}

func newSink(file *os.File, mail *mailbox) *sink {
	k := &sink{file: file, mail: mail}
	k.changed.L = &k.mu
	return k
}

// write writes `block`, which holds whole lines or, if `complete` is false, the beginning of a line (which may be
// empty).
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

// waitForLineLocked waits until no other stream has an unfinished line in the file. If that stream has ended, or has
// written nothing for lineTimeout, waitForLineLocked ends the line with a newline.
func (k *sink) waitForLineLocked(s *stream) {
	for k.open != nil && k.open != s {
		left := lineTimeout - time.Since(k.since)
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

// tagged inserts `tag` before each line. If `inside` is set, `block` begins inside a line that already has its tag.
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

// writeBytes writes bytes unchanged.
func (k *sink) writeBytes(s *stream, data []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.putLocked(data)
	k.open = nil
	if data[len(data)-1] != '\n' {
		k.open = s
	}
}

// close marks a stream as ended. An unfinished line of the stream gets a newline only when another stream writes.
func (k *sink) close(s *stream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.done = true
	k.changed.Broadcast()
}

// printText writes lines of gompirun itself. If `wait` is false, it drops the text if another writer holds the lock.
func (k *sink) printText(text string, wait bool) {
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
	if k.writeFailed {
		return
	}
	if _, err := k.file.Write(data); err != nil {
		k.writeFailed = true
		k.mail.send(outputLost{err})
	}
}
