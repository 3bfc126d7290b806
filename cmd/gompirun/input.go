package main

import (
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// input returns the standard input of rank 0. Rank 0 inherits a file or a pipe directly. So gompirun consumes only the
// input that rank 0 reads, and a shell loop around gompirun can read the remaining input. Rank 0 cannot read a
// terminal, since its process group is not the terminal's foreground group. gompirun then reads the terminal and writes
// to a pipe.
func (j *job) input() (*os.File, error) {
	if !isTerminal(0) {
		return os.Stdin, nil
	}
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	unix.SetNonblock(fds[1], true)
	go forwardTerminal(os.NewFile(uintptr(fds[1]), "input"))
	return os.NewFile(uintptr(fds[0]), "input"), nil
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// inputMayPrompt reports whether gompirun's input may be interactive: its writer may wait for output of rank 0 before
// it writes the next input.
func inputMayPrompt() bool {
	var st unix.Stat_t
	if unix.Fstat(0, &st) != nil {
		return false
	}
	kind := st.Mode & unix.S_IFMT
	return kind == unix.S_IFIFO || kind == unix.S_IFSOCK || isTerminal(0)
}

// forwardTerminal copies typed input until its end, or until rank 0 stops reading. While gompirun runs in the
// background it leaves the terminal to the foreground process group.
func forwardTerminal(to *os.File) {
	defer to.Close()
	// If SIGTTIN is blocked, a read in the background fails with EIO. Otherwise the signal would stop gompirun, and
	// with it the ranks' output.
	runtime.LockOSThread()
	var set unix.Sigset_t
	set.Val[0] = 1 << (unix.SIGTTIN - 1)
	unix.PthreadSigmask(unix.SIG_BLOCK, &set, nil)
	buf := make([]byte, 4096)
	for {
		poll := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
		if _, err := unix.Poll(poll, -1); err == unix.EINTR {
			continue
		}
		n, err := 0, error(unix.EIO)
		if front, e := unix.IoctlGetInt(0, unix.TIOCGPGRP); e != nil || front == unix.Getpgrp() {
			n, err = unix.Read(0, buf)
		}
		switch err {
		case nil:
			if n == 0 {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		case unix.EINTR, unix.EAGAIN:
		case unix.EIO:
			// The input belongs to another process group. A change of the foreground group causes no event,
			// so poll for it.
			time.Sleep(200 * time.Millisecond)
		default:
			return
		}
	}
}
