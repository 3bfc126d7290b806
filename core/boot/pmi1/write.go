package pmi1

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"
)

// writeString writes s to the launcher. If the launcher has ended, it returns an error. It does not raise SIGPIPE,
// because the application controls the process's signals.
func writeString(conn io.Writer, s string) error {
	socket, ok := conn.(syscall.Conn)
	if !ok { // conn is a pipe of a test
		_, err := io.WriteString(conn, s)
		return err
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	for rest := []byte(s); len(rest) > 0; {
		var n int
		var sent error
		if err := raw.Write(func(fd uintptr) bool {
			n, sent = unix.SendmsgN(int(fd), rest, nil, nil, unix.MSG_NOSIGNAL)
			return sent != unix.EAGAIN
		}); err != nil {
			return err
		}
		if sent != nil && sent != unix.EINTR {
			return sent
		}
		rest = rest[max(n, 0):]
	}
	return nil
}
