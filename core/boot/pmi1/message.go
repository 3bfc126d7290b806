// Package pmi1 implements PMI-1, the text protocol between a launcher and the processes of a job. It owns the format of
// the lines and both sides of the protocol: Client is the side of a process, Server the side of the launcher. They
// share the parser below. A line holds key=value pairs; the key of the first pair is cmd. Each process has one
// connection.
//
//	process                                     launcher
//	cmd=init pmi_version=1 pmi_subversion=1     cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0
//	cmd=get_maxes                               cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024
//	cmd=get_appnum                              cmd=appnum appnum=0
//	cmd=get_universe_size                       cmd=universe_size size=4
//	cmd=get_my_kvsname                          cmd=my_kvsname kvsname=NAME
//	cmd=put kvsname=NAME key=K value=V          cmd=put_result rc=0 msg=success
//	cmd=get kvsname=NAME key=K                  cmd=get_result rc=0 msg=success value=V
//	cmd=barrier_in                              cmd=barrier_out, once every process has sent its barrier_in
//	cmd=finalize                                cmd=finalize_ack
//	cmd=abort exitcode=1                        no answer: the launcher ends the job
//	cmd=abort exitcode=1 lost=0                 no answer; only for gompirun: process 0 has failed
//	cmd=abort exitcode=1 error=1                no answer; only for gompirun: an MPI call has failed
//
// A process without an inherited descriptor connects to a port and begins with cmd=initack pmiid=ID. The answer is four
// lines: cmd=initack, cmd=set size=N, cmd=set rank=R and cmd=set debug=D.
//
// Launchers differ in the order of the pairs that they send, in additional pairs, and in how strictly they check the
// lines that they read. Therefore the client writes exactly the lines above, one at a time. The package must not depend
// on MPI, on the way in which processes are started, or on the meaning of the values.
package pmi1

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// MaxLine is the longest line in bytes that either side accepts, without its newline.
const MaxLine = 64 << 10

// Message is one line: a command and its pairs in the order they were written.
type Message struct {
	Cmd   string
	pairs []pair
}

type pair struct{ key, value string }

// New returns a message with a command and alternating keys and values. Keys and values must not contain a space or a
// newline; keys must not contain '='.
func New(cmd string, keysAndValues ...string) Message {
	m := Message{Cmd: cmd}
	for i := 0; i+1 < len(keysAndValues); i += 2 {
		m.pairs = append(m.pairs, pair{keysAndValues[i], keysAndValues[i+1]})
	}
	return m
}

// Parse reads one line without its newline. Pairs are separated by spaces; a value ends at the next space and may hold
// further '='.
func Parse(line string) (Message, error) {
	if len(line) > MaxLine {
		return Message{}, fmt.Errorf("the line has %d bytes; the maximum is %d", len(line), MaxLine)
	}
	if strings.ContainsAny(line, "\x00\n") {
		return Message{}, fmt.Errorf("line %s contains a zero byte or a newline", shorten(line))
	}
	var m Message
	for i, token := range strings.Split(strings.Trim(line, " "), " ") {
		if token == "" {
			continue
		}
		key, value, ok := strings.Cut(token, "=")
		switch {
		case !ok || key == "":
			return Message{}, fmt.Errorf("line %s: %s is not of the form key=value", shorten(line),
				shorten(token))
		case i == 0 && key != "cmd":
			return Message{}, fmt.Errorf("line %s does not begin with cmd=", shorten(line))
		case i == 0:
			m.Cmd = value
		default:
			m.pairs = append(m.pairs, pair{key, value})
		}
	}
	if m.Cmd == "" {
		return Message{}, fmt.Errorf("line %s has no command", shorten(line))
	}
	return m, nil
}

// String returns the line without its newline.
func (m Message) String() string {
	var b strings.Builder
	b.WriteString("cmd=")
	b.WriteString(m.Cmd)
	for _, p := range m.pairs {
		b.WriteByte(' ')
		b.WriteString(p.key)
		b.WriteByte('=')
		b.WriteString(p.value)
	}
	return b.String()
}

// Value returns the value of the first pair with that key.
func (m Message) Value(key string) (string, bool) {
	for _, p := range m.pairs {
		if p.key == key {
			return p.value, true
		}
	}
	return "", false
}

// Int returns the value of a key as a number.
func (m Message) Int(key string) (int, error) {
	value, ok := m.Value(key)
	if !ok {
		return 0, fmt.Errorf("line %s has no %s=", shorten(m.String()), key)
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, fmt.Errorf("line %s: %s is not a number", shorten(m.String()), key)
	}
	return n, nil
}

// shorten quotes text that came from the other side, for an error message.
func shorten(text string) string {
	const most = 80
	if len(text) > most {
		return strconv.Quote(text[:most]) + "..."
	}
	return strconv.Quote(text)
}

var errLineTooLong = errors.New("a line is longer than " + strconv.Itoa(MaxLine) + " bytes")

// lines splits a stream of bytes into lines. The zero value is ready to use.
type lines struct{ partial []byte }

// add appends data to the stream and calls the function `do` with each complete line, without its newline, until `do`
// returns an error.
func (l *lines) add(data []byte, do func(line string) error) error {
	for {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			break
		}
		line := string(data[:i])
		if len(l.partial) > 0 {
			line = string(l.partial) + line
			l.partial = l.partial[:0]
		}
		if len(line) > MaxLine {
			return errLineTooLong
		}
		if err := do(line); err != nil {
			return err
		}
		data = data[i+1:]
	}
	if len(l.partial)+len(data) > MaxLine {
		return errLineTooLong
	}
	l.partial = append(l.partial, data...)
	return nil
}
