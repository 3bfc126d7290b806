package core

import (
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// joinBytes is the length of the message that each process writes to the socket of MPI_Comm_join.
const joinBytes = abi.MPI_MAX_PORT_NAME

// Join connects this process with the process at the other end of the socket fd (MPI-5.0 11.10.4). The processes
// exchange port names over the socket. The process with the lower name accepts, the other one connects. Errors:
// MPI_ERR_ARG if fd is not open; MPI_ERR_OTHER.
func (p *Instance) Join(fd int) (*comm.Comm, error) {
	if !p.IsWorldOpen() {
		return nil, mpierr.New(abi.MPI_ERR_OTHER, "MPI_Comm_join needs MPI_COMM_SELF: "+
			"call it between MPI_Init and MPI_Finalize")
	}
	copied, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, mpierr.New(abi.MPI_ERR_ARG, "fd is %d, which is not a socket: %v", fd, err)
	}
	socket := os.NewFile(uintptr(copied), "socket")
	defer socket.Close()
	mine, err := p.OpenPort()
	if err != nil {
		return nil, err
	}
	defer p.ClosePort(mine)
	theirs, err := swapText(socket, mine)
	if err != nil {
		return nil, err
	}
	if mine < theirs {
		return p.Accept(p.SelfComm, 0, ChoosePort(mine))
	}
	return p.Connect(p.SelfComm, 0, ChoosePort(theirs))
}

// swapText writes a text to a connected socket, and returns the text that the other process has written.
func swapText(socket *os.File, text string) (string, error) {
	message := make([]byte, joinBytes)
	copy(message, text)
	if _, err := socket.Write(message); err != nil {
		return "", mpierr.New(abi.MPI_ERR_OTHER, "cannot write to the socket: %v", err)
	}
	if _, err := io.ReadFull(socket, message); err != nil {
		return "", mpierr.New(abi.MPI_ERR_OTHER, "cannot read from the socket: %v", err)
	}
	return strings.TrimRight(string(message), "\x00"), nil
}
