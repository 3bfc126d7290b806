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

// DataPath is the part of the process that is written in C. capi implements the interface and passes it to Start.
type DataPath interface {
	rma.DataPath
	// NewProcesses creates the table of all processes that this process knows. Errors: MPI_ERR_NO_MEM.
	NewProcesses() (proc.Table, error)
	// Open passes the node's memory and the process table to C.
	Open(nd *shm.Node, all proc.Table)
	// Permitted returns the addresses of this host that other processes may connect to. It may be called before
	// Open.
	Permitted() boot.ListenSpec
	// OpenComm registers MPI_COMM_WORLD and MPI_COMM_SELF with C. CloseComm removes them.
	OpenComm(c *comm.Comm) error
	CloseComm(c *comm.Comm)
	// OpenMessages creates the carrier of this process' messages. The text of an error names the system resource
	// that is not available.
	OpenMessages(p *p2p.CarrierConfig) (p2p.Carrier, error)
	// Network returns the network between nodes. It is used only if the job has several nodes.
	Network() fabric.Network
	// All threads of this process, in C and in Go, use this Waiter to wait.
	shm.Waiter
	// NetworkOpened is called after the network has been opened for connections to other jobs.
	NetworkOpened()
	// ProcessesAdded is called after processes have been added to the node.
	ProcessesAdded(nd *shm.Node)
	// Run is the body of the progress thread: it serves arriving messages and operations until Stop is called, and
	// sleeps while there are none. Start is called before each Run.
	Start()
	Run()
	Stop()
}
