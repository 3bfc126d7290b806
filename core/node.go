package core

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/limit"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// openNode opens the shared memory of this node and returns which process is on which node.
//
// gompirun passes the memory to its children. Under other launchers the lowest rank of the node creates it and the
// other ranks open it through /proc. A process without a launcher creates its own.
//
// The function `permitted` returns the addresses of this host that other processes may connect to. A process counts as
// failed if the network path to it is broken for the time `silent`; 0 means no limit.
func openNode(b boot.Client, permitted func() boot.ListenSpec, silent time.Duration) (*shm.Node, *boot.NodeMap, error) {
	places, err := boot.Nodes(b, permitted, silent)
	if err != nil {
		return nil, nil, mpierr.Wrap(err, "while waiting for the nodes of all ranks")
	}
	if places.NodeCount == 1 {
		b.Limit(0)
	}
	fd := -1
	control, handed := b.Control()
	leader := places.Local[0]
	switch {
	case handed:
		if control.NodeSize != len(places.Local) || control.NodeRank != places.LocalIndex {
			return nil, nil, mpierr.New(abi.MPI_ERR_OTHER, "gompirun assigned local rank %d of %d "+
				"to this process, but by its host and environment it is local rank %d of %d: do "+
				"not change %s (now %q) in the ranks", control.NodeRank, control.NodeSize,
				places.LocalIndex, len(places.Local), boot.EnvNode, os.Getenv(boot.EnvNode))
		}
		nd, err := shm.Open(control.Fd, control.First+places.LocalIndex)
		return nd, places, err
	case b.Rank() == leader:
		f, err := shm.CreateControl(len(places.Local), 1)
		if err != nil {
			return nil, nil, mpierr.New(abi.MPI_ERR_NO_MEM, "%v%s", err, limit.ErrorDetail("/", err))
		}
		if fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0); err != nil {
			return nil, nil, mpierr.New(abi.MPI_ERR_OTHER, "cannot duplicate the file descriptor of the "+
				"shared memory: %v%s", err,
				limit.ErrorDetail("/", err))
		}
		f.Close()
		if err := b.Put(controlKey(leader), fmt.Sprintf("%d %d", os.Getpid(), fd)); err != nil {
			return nil, nil, err
		}
	}
	if err := b.Fence(); err != nil {
		return nil, nil, mpierr.Wrap(err, "while waiting for the shared memory of all nodes")
	}
	if b.Rank() != leader {
		if fd, err = openFromLeader(b, leader); err != nil {
			return nil, nil, err
		}
	}
	// The leader must not exit before all processes of the node have opened its descriptor.
	if err := b.Fence(); err != nil {
		return nil, nil, mpierr.Wrap(err, "while waiting until all ranks have opened the shared memory of "+
			"their nodes")
	}
	nd, err := shm.Open(fd, places.LocalIndex)
	return nd, places, err
}

func controlKey(leader int) string { return fmt.Sprintf("control-%d", leader) }

// openFromLeader opens the memory that the leader of this node has created.
func openFromLeader(b boot.Client, leader int) (int, error) {
	value, err := b.Get(leader, controlKey(leader))
	if err != nil {
		return -1, err
	}
	var pid, fd int
	if _, err := fmt.Sscanf(value, "%d %d", &pid, &fd); err != nil {
		return -1, mpierr.New(abi.MPI_ERR_OTHER, "rank %d published %q, which does not identify its "+
			"shared memory: it must be a process id and a file descriptor",
			leader, value)
	}
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	f, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, mpierr.New(abi.MPI_ERR_OTHER, "cannot open the shared memory %s of rank %d: "+
			"%v%s", path, leader,
			err, limit.ErrorDetail("/", err))
	}
	return f, nil
}
