package core

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"sync/atomic"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/boot/pmi1"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// Dynamic processes (MPI-5.0 11.8 to 11.10). The processes on one node know each other by numbers: the index on the
// node. So a group of processes of several jobs needs no translation, and an intercommunicator between jobs is created
// as one within a job. The leaders of the two groups find each other by gompirun: a spawned job receives the number of
// the process that started it, and a port name contains the number of the process that opened it.

// spawner returns the interface to the gompirun that starts processes, or an error of the given class.
func (p *Instance) spawner(class int32, what string) (boot.Spawner, error) {
	if p.NodeMap.NodeCount > 1 {
		return nil, mpierr.New(class, "%s is possible only if the job is on one node", what)
	}
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

// Spawn implements MPI_Comm_spawn and MPI_Comm_spawn_multiple. Collective over c; the function `what`, which describes
// the processes, is called at the member of rank root only. It returns the intercommunicator with the new job. Errors:
// MPI_ERR_SPAWN, with the index of the part that cannot be started in *failedPart at the root, or -1.
func (p *Instance) Spawn(c *comm.Comm, root int, what func() (*pmi1.Spawn, error),
	failedPart *int) (*comm.Comm, error) {
	n, err := c.NewInterTo(root, func() (comm.Leader, error) {
		*failedPart = -1
		s, err := what()
		if err != nil {
			return comm.Leader{}, err
		}
		launcher, err := p.spawner(abi.MPI_ERR_SPAWN, "starting processes")
		if err != nil {
			return comm.Leader{}, err
		}
		s.Parent = fmt.Sprintf("%d.%d", p.Number(), connections.Add(1))
		first, err := launcher.Spawn(s)
		var refused *pmi1.SpawnError
		if errors.As(err, &refused) {
			*failedPart = refused.Part
			return comm.Leader{}, mpierr.New(abi.MPI_ERR_SPAWN, "%s", refused.Reason)
		}
		if err != nil {
			return comm.Leader{}, mpierr.New(abi.MPI_ERR_SPAWN, "%v", err)
		}
		if err := p.awaitNumber(first); err != nil {
			return comm.Leader{}, mpierr.New(abi.MPI_ERR_SPAWN, "a started process has ended before it "+
				"called MPI_Init")
		}
		return comm.Leader{Peer: p.sessionComm, Rank: first, Tag: connectionTag(s.Parent)}, nil
	})
	p.data.ProcessesAdded(p.Node)
	return n, err
}

// connectToParent creates Parent, if this job was spawned. Collective over the job.
func (p *Instance) connectToParent() (err error) {
	control, _ := p.Boot.Control()
	if control.Parent == "" {
		return nil
	}
	var root, number int
	if _, err := fmt.Sscanf(control.Parent, "%d.%d", &root, &number); err != nil {
		return mpierr.New(abi.MPI_ERR_OTHER, "%s is %q, which gompirun has not set: do not change it",
			boot.EnvParent, control.Parent)
	}
	p.Parent, err = p.WorldComm.NewInter(0, p.sessionComm, root, connectionTag(control.Parent))
	if err != nil {
		return mpierr.Wrap(err, "while connecting to the processes that started this job")
	}
	return nil
}

// Ports. A port name is "gompirma:JOB:NUMBER:COUNT": the name of gompirun's job, the number of the process that opened
// the port, and a count. gompirun's table of names has each open port.
type port struct {
	name   string
	number int
}

const portPrefix = "gompirma:"

// openPorts holds the names of the ports that this process has opened.
var openPorts struct {
	sync.Mutex
	count int
	names map[string]bool
}

// OpenPort implements MPI_Open_port. It is local, and returns the name of the port. Errors: MPI_ERR_PORT if the
// launcher is not gompirun.
func (p *Instance) OpenPort() (string, error) {
	s, err := p.spawner(abi.MPI_ERR_PORT, "a port")
	if err != nil {
		return "", err
	}
	openPorts.Lock()
	defer openPorts.Unlock()
	openPorts.count++
	name := fmt.Sprintf("%s%s:%d:%d", portPrefix, boot.JobName(p.Boot), p.Number(), openPorts.count)
	if err := s.Publish(name, name); err != nil {
		return "", mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
	}
	if openPorts.names == nil {
		openPorts.names = map[string]bool{}
	}
	openPorts.names[name] = true
	return name, nil
}

// ClosePort implements MPI_Close_port. Errors: MPI_ERR_PORT if this process has not opened the port.
func (p *Instance) ClosePort(name string) error {
	openPorts.Lock()
	defer openPorts.Unlock()
	if !openPorts.names[name] {
		return mpierr.New(abi.MPI_ERR_PORT, "%.200q is not an open port of this process", name)
	}
	delete(openPorts.names, name)
	if s, err := p.spawner(abi.MPI_ERR_PORT, "a port"); err == nil {
		s.Unpublish(name)
	}
	return nil
}

// parsePort returns the process that has opened a port. Errors: MPI_ERR_PORT if the text is not the name of a port of
// this gompirun, or if the port is closed.
func (p *Instance) parsePort(name string) (port, error) {
	s, err := p.spawner(abi.MPI_ERR_PORT, "a port")
	if err != nil {
		return port{}, err
	}
	x := port{name: name}
	fields := strings.Split(strings.TrimPrefix(name, portPrefix), ":")
	if !strings.HasPrefix(name, portPrefix) || len(fields) != 3 {
		return port{}, mpierr.New(abi.MPI_ERR_PORT, "%.200q is not the name of a port", name)
	}
	if _, err := fmt.Sscanf(fields[1], "%d", &x.number); err != nil || x.number < 0 || x.number >= p.Node.Slots {
		return port{}, mpierr.New(abi.MPI_ERR_PORT, "%.200q is not the name of a port", name)
	}
	if _, err := s.Lookup(name); errors.Is(err, pmi1.ErrName) {
		return port{}, mpierr.New(abi.MPI_ERR_PORT, "the port %.200q is closed, or belongs to the job of "+
			"another gompirun", name)
	} else if err != nil {
		return port{}, mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
	}
	return x, nil
}

// Accept implements MPI_Comm_accept. Collective over c; the function portName is called at the member of rank root
// only, which has opened the port. It waits for a call of Connect. Errors: MPI_ERR_PORT, and those of portName.
func (p *Instance) Accept(c *comm.Comm, root int, portName func() (string, error)) (*comm.Comm, error) {
	return c.NewInterTo(root, func() (comm.Leader, error) {
		name, err := portName()
		if err != nil {
			return comm.Leader{}, err
		}
		openPorts.Lock()
		known := openPorts.names[name]
		openPorts.Unlock()
		if !known {
			return comm.Leader{}, mpierr.New(abi.MPI_ERR_PORT, "%.200q is not an open port of this "+
				"process", name)
		}
		source, tag, err := p.Messages.RecvNumber(p.sessionComm, comm.Creation, connectionTag(name))
		return comm.Leader{Peer: p.sessionComm, Rank: source, Tag: tag}, err
	})
}

// Connect implements MPI_Comm_connect. Collective over c; the function portName is called at the member of rank root
// only. It waits for a call of Accept. Errors: MPI_ERR_PORT if there is no such port, and those of portName.
func (p *Instance) Connect(c *comm.Comm, root int, portName func() (string, error)) (*comm.Comm, error) {
	return c.NewInterTo(root, func() (comm.Leader, error) {
		name, err := portName()
		if err != nil {
			return comm.Leader{}, err
		}
		x, err := p.parsePort(name)
		if err != nil {
			return comm.Leader{}, err
		}
		if err := p.awaitNumber(x.number); err != nil {
			return comm.Leader{}, mpierr.New(abi.MPI_ERR_PORT, "the process that opened the port %.200q "+
				"has ended", name)
		}
		tag := connectionTag(fmt.Sprintf("%s %d.%d", name, p.Number(), connections.Add(1)))
		err = p.Messages.SendNumber(p.sessionComm, comm.Creation, x.number, connectionTag(name), tag)
		return comm.Leader{Peer: p.sessionComm, Rank: x.number, Tag: tag}, err
	})
}

// nameError converts an error of the table of names to an MPI error of the given class.
func nameError(err error, class int32, format string, args ...any) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pmi1.ErrName):
		return mpierr.New(class, format, args...)
	}
	return mpierr.New(abi.MPI_ERR_OTHER, "%v", err)
}

// serviceKey returns the key of a service name in the table of names, which also has ports.
func serviceKey(service string) string { return "service:" + service }

// PublishName, LookupName and UnpublishName implement MPI_Publish_name and related calls. Names are known to all jobs
// of one gompirun. Errors: MPI_ERR_SERVICE if the name is published already, or cannot be unpublished because it is not
// published; MPI_ERR_NAME if LookupName does not find it; MPI_ERR_OTHER if the launcher is not gompirun.
func (p *Instance) PublishName(service, port string) error {
	s, err := p.spawner(abi.MPI_ERR_OTHER, "MPI_Publish_name")
	if err != nil {
		return err
	}
	return nameError(s.Publish(serviceKey(service), port), abi.MPI_ERR_SERVICE,
		"the service name %.200q is published already", service)
}

// LookupName returns the port that is published under a service name.
func (p *Instance) LookupName(service string) (string, error) {
	s, err := p.spawner(abi.MPI_ERR_OTHER, "MPI_Lookup_name")
	if err != nil {
		return "", err
	}
	port, err := s.Lookup(serviceKey(service))
	return port, nameError(err, abi.MPI_ERR_NAME, "the service name %.200q is not published", service)
}

// UnpublishName removes a service name.
func (p *Instance) UnpublishName(service string) error {
	s, err := p.spawner(abi.MPI_ERR_OTHER, "MPI_Unpublish_name")
	if err != nil {
		return err
	}
	return nameError(s.Unpublish(serviceKey(service)), abi.MPI_ERR_SERVICE,
		"the service name %.200q is not published", service)
}
