package core

import (
	"gompirma/core/boot"
	"gompirma/core/comm"
	"gompirma/core/fabric"
	"gompirma/core/p2p"
	"gompirma/core/proc"
	"gompirma/core/rma"
	"gompirma/core/shm"
)

// DataPath is the part of the process that is written in C. capi provides it before MPI_Init.
type DataPath interface {
	rma.DataPath
	// NewProcesses makes the table of all that this process knows. MPI_ERR_NO_MEM.
	NewProcesses() (proc.Table, error)
	// Open tells it where the node's memory is; all are the processes.
	Open(nd *shm.Node, all proc.Table)
	// Permitted is what others may connect to on this host; may be called before Open.
	Permitted() boot.Where
	// OpenComm tells it of MPI_COMM_WORLD and MPI_COMM_SELF, CloseComm that they are gone.
	OpenComm(c *comm.Comm) error
	CloseComm(c *comm.Comm)
	// OpenMessages makes what carries the messages of this process. An error: what the system has none of.
	OpenMessages(p *p2p.Place) (p2p.Carrier, error)
	// Network is the network between nodes, which nothing is done with unless the job spans some.
	Network() fabric.Network
	// Waiter is how all threads of this process wait, in C or in Go.
	shm.Waiter
	// Run is the progress thread: it serves whatever arrives until Stop, and sleeps while there is nothing.
	Run()
	Stop()
}
