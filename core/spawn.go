package core

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/boot/pmi1"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// Dynamic processes (MPI-5.0 11.8 to 11.10). The processes on one node under one gompirun know each other by numbers:
// the index on the node. So a group of processes of several jobs needs no translation, and an intercommunicator between
// jobs is created as one within a job. Processes of other jobs are added to the table of processes (foreign.go).

// spawner returns the interface to the gompirun that starts processes, or an error of the given class.
func (p *Instance) spawner(class int32) (boot.Spawner, error) {
	s, err := boot.SpawnerOf(p.Boot, p.Node.Fd(), p.Node.Me)
	if err != nil {
		return nil, mpierr.New(class, "%v", err)
	}
	return s, nil
}

var connections atomic.Uint32 // number of connections that this process has begun; makes their tags unique

// connectionTag returns the tag of the messages of a connection, from a text that only its two leaders know.
func connectionTag(text string) int32 {
	sum := fnv.New64a()
	sum.Write([]byte(text))
	return int32(sum.Sum64() >> 33)
}

// newTag returns a tag for the messages of a new connection, and a text that identifies the connection.
func (p *Instance) newTag() (tag int32, text string) {
	text = fmt.Sprintf("%d.%d", p.Number(), connections.Add(1))
	return connectionTag(text), text
}

// Spawn implements MPI_Comm_spawn and MPI_Comm_spawn_multiple. Collective over c; the function `what`, which describes
// the processes, is called at the member of rank root only. It returns the intercommunicator with the new job. Errors:
// MPI_ERR_SPAWN, with the index of the part that cannot be started in *failedPart at the root, or -1.
//
// If this job is on one node, the new processes use its memory. Otherwise, and if this job itself has been started in
// this way, they have a memory of their own and connect to a port of the root.
func (p *Instance) Spawn(c *comm.Comm, root int, what func() (*pmi1.Spawn, error),
	failedPart *int) (*comm.Comm, error) {
	// if a member has failed, no process is started, as it could not connect
	if err := c.Synchronize(); err != nil {
		return nil, err
	}
	if p.spans || boot.IsPortName(boot.Parent(p.Boot)) {
		return p.meet(c, root, true, func(introduce func(net.Conn) error) (net.Conn, error) {
			return p.spawnApart(what, failedPart, introduce)
		})
	}
	var b []byte
	var err error
	if c.Rank() == root {
		b, err = p.spawnHere(what, failedPart)
	}
	if b, err = c.BcastFrom(root, b, err); err != nil {
		return nil, err
	}
	n, err := c.NewInter(root, p.sessionComm, int(binary.LittleEndian.Uint32(b)),
		int32(binary.LittleEndian.Uint32(b[4:])))
	p.data.ProcessesAdded(p.Node)
	return n, err
}

// startProcesses starts processes, and returns the number of the first one.
func (p *Instance) startProcesses(s *pmi1.Spawn, failedPart *int) (first int, err error) {
	launcher, err := p.spawner(abi.MPI_ERR_SPAWN)
	if err != nil {
		return 0, err
	}
	first, err = launcher.Spawn(s)
	var refused *pmi1.SpawnError
	if errors.As(err, &refused) {
		*failedPart = refused.Part
		return 0, mpierr.New(abi.MPI_ERR_SPAWN, "%s", refused.Reason)
	}
	if err != nil {
		return 0, mpierr.New(abi.MPI_ERR_SPAWN, "%v", err)
	}
	return first, nil
}

func errEndedEarly() error {
	return mpierr.New(abi.MPI_ERR_SPAWN, "a started process has ended before it called MPI_Init")
}

// spawnHere starts processes that use the memory of this node. It returns the number of the first one, and the tag of
// the messages that connect them to this job.
func (p *Instance) spawnHere(what func() (*pmi1.Spawn, error), failedPart *int) ([]byte, error) {
	*failedPart = -1
	s, err := what()
	if err != nil {
		return nil, err
	}
	tag, text := p.newTag()
	s.Parent = text
	first, err := p.startProcesses(s, failedPart)
	if err != nil {
		return nil, err
	}
	if err := p.awaitNumber(first); err != nil {
		return nil, errEndedEarly()
	}
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(first)), uint32(tag)), nil
}

// spawnApart starts processes that have a memory of their own, and returns the connection to the one of rank 0.
func (p *Instance) spawnApart(what func() (*pmi1.Spawn, error), failedPart *int,
	introduce func(net.Conn) error) (net.Conn, error) {
	*failedPart = -1
	s, err := what()
	if err != nil {
		return nil, err
	}
	port, err := boot.OpenPort(p.data.Permitted())
	if err != nil {
		return nil, mpierr.New(abi.MPI_ERR_SPAWN, "cannot open a port for the processes: %v", err)
	}
	defer port.Close()
	s.Parent, s.Apart = port.Name, true
	if _, err := p.startProcesses(s, failedPart); err != nil {
		return nil, err
	}
	launcher, err := p.spawner(abi.MPI_ERR_SPAWN)
	for err == nil {
		select {
		case link := <-port.Arrivals:
			if err := introduce(link); err != nil {
				link.Close()
				return nil, errEndedEarly()
			}
			return link, nil
		case <-time.After(endedInterval):
		}
		// gompirun publishes this name if the processes end before they have connected.
		if _, ended := launcher.Lookup(pmi1.EndedName(s.Parent)); ended == nil {
			err = errEndedEarly()
		} else if !errors.Is(ended, pmi1.ErrName) {
			err = mpierr.New(abi.MPI_ERR_SPAWN, "%v", ended)
		}
	}
	return nil, err
}

// endedInterval is the interval at which a process asks gompirun whether processes have ended that it has started.
const endedInterval = 100 * time.Millisecond

// connectToParent creates Parent, if this job was spawned. Collective over the job.
func (p *Instance) connectToParent() (err error) {
	parent := boot.Parent(p.Boot)
	var root, number int
	switch {
	case parent == "":
		return nil
	case boot.IsPortName(parent):
		p.Parent, err = p.Connect(p.WorldComm, 0, ChoosePort(parent))
	default:
		if _, err := fmt.Sscanf(parent, "%d.%d", &root, &number); err != nil {
			return mpierr.New(abi.MPI_ERR_OTHER, "%s is %q, which gompirun has not set: do not change it",
				boot.EnvParent, parent)
		}
		p.Parent, err = p.WorldComm.NewInter(0, p.sessionComm, root, connectionTag(parent))
	}
	if err != nil {
		return mpierr.Wrap(err, "while connecting to the processes that started this job")
	}
	return nil
}

// openPorts holds the ports that this process has opened, by name.
var openPorts struct {
	sync.Mutex
	byName map[string]*boot.Port
}

// OpenPort implements MPI_Open_port. It is local, and returns the name of the port. Errors: MPI_ERR_OTHER if no socket
// can be opened.
func (p *Instance) OpenPort() (string, error) {
	port, err := boot.OpenPort(p.data.Permitted())
	if err != nil {
		return "", mpierr.New(abi.MPI_ERR_OTHER, "cannot open a port: %v", err)
	}
	openPorts.Lock()
	defer openPorts.Unlock()
	if openPorts.byName == nil {
		openPorts.byName = map[string]*boot.Port{}
	}
	openPorts.byName[port.Name] = port
	return port.Name, nil
}

// portOf returns an open port of this process. Errors: MPI_ERR_PORT.
func portOf(name string) (*boot.Port, error) {
	openPorts.Lock()
	defer openPorts.Unlock()
	port := openPorts.byName[name]
	if port == nil {
		return nil, mpierr.New(abi.MPI_ERR_PORT, "%.200q is not an open port of this process", name)
	}
	return port, nil
}

// ClosePort implements MPI_Close_port. Errors: MPI_ERR_PORT if this process has not opened the port.
func (p *Instance) ClosePort(name string) error {
	port, err := portOf(name)
	if err != nil {
		return err
	}
	openPorts.Lock()
	defer openPorts.Unlock()
	delete(openPorts.byName, name)
	port.Close()
	return nil
}

// closePorts closes the ports that the application has left open.
func closePorts() {
	openPorts.Lock()
	defer openPorts.Unlock()
	for _, port := range openPorts.byName {
		port.Close()
	}
	openPorts.byName = nil
}

// PortChoice is the port of MPI_Comm_accept or MPI_Comm_connect. If Timeout is not 0, the call waits at most this long
// for the other side.
type PortChoice struct {
	Name    string
	Timeout time.Duration
}

// ChoosePort returns a function that chooses a port, without a timeout.
func ChoosePort(name string) func() (PortChoice, error) {
	return func() (PortChoice, error) { return PortChoice{Name: name}, nil }
}

// deadline returns the time until which the call waits; zero if there is no limit.
func (c PortChoice) deadline() (t time.Time) {
	if c.Timeout > 0 {
		t = time.Now().Add(c.Timeout)
	}
	return t
}

// late returns the error of a call that has waited for the whole timeout.
func (c PortChoice) late(missing string) error {
	return mpierr.New(abi.MPI_ERR_PORT, "no process has called %s for the port %.200q within the timeout of %v",
		missing, c.Name, c.Timeout)
}

// Accept implements MPI_Comm_accept. Collective over c; the function choose is called at the member of rank root only,
// which has opened the port. It waits for a call of Connect. Errors: MPI_ERR_PORT, and those of choose.
func (p *Instance) Accept(c *comm.Comm, root int, choose func() (PortChoice, error)) (*comm.Comm, error) {
	return p.meet(c, root, true, func(introduce func(net.Conn) error) (net.Conn, error) {
		choice, err := choose()
		if err != nil {
			return nil, err
		}
		port, err := portOf(choice.Name)
		if err != nil {
			return nil, err
		}
		for deadline := choice.deadline(); ; {
			link, err := port.Accept(deadline)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, choice.late("MPI_Comm_connect")
			}
			if err != nil {
				return nil, mpierr.New(abi.MPI_ERR_PORT, "the port %.200q has been closed", choice.Name)
			}
			if introduce(link) == nil {
				return link, nil
			}
			link.Close() // the process has ended or its timeout has passed
		}
	})
}

// Connect implements MPI_Comm_connect. Collective over c; the function choose is called at the member of rank root
// only. It waits for a call of Accept. Errors: MPI_ERR_PORT if there is no such port, and those of choose.
func (p *Instance) Connect(c *comm.Comm, root int, choose func() (PortChoice, error)) (*comm.Comm, error) {
	return p.meet(c, root, false, func(introduce func(net.Conn) error) (net.Conn, error) {
		choice, err := choose()
		if err != nil {
			return nil, err
		}
		link, err := boot.Dial(choice.Name)
		if errors.Is(err, boot.ErrPortName) {
			return nil, mpierr.New(abi.MPI_ERR_PORT, "%.200q is not the name of a port", choice.Name)
		}
		if err != nil {
			return nil, mpierr.New(abi.MPI_ERR_PORT, "the port %.200q is closed, or its process has ended "+
				"or cannot be reached: %v", choice.Name, err)
		}
		link.SetDeadline(choice.deadline())
		if err := introduce(link); err != nil {
			link.Close()
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, choice.late("MPI_Comm_accept")
			}
			return nil, mpierr.New(abi.MPI_ERR_PORT, "the port %.200q has been closed, or its process has "+
				"ended", choice.Name)
		}
		link.SetDeadline(time.Time{})
		return link, nil
	})
}
