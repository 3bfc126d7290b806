package core

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"os"
	"slices"
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

// Spawning describes a call of MPI_Comm_spawn or MPI_Comm_spawn_multiple, at the root.
type Spawning struct {
	Parts []pmi1.SpawnPart
	Soft  []Soft // the numbers of processes that each part may have; nil for its N only
}

// SpawnCount is the number of processes of a part that were requested, and that have been started.
type SpawnCount struct{ Requested, Count int }

// Spawn implements MPI_Comm_spawn and MPI_Comm_spawn_multiple. Collective over c; the function `what`, which describes
// the processes, is called at the member of rank root only. It returns the intercommunicator with the new job, and the
// numbers of processes of each part. Errors: MPI_ERR_SPAWN, with the index of the part that cannot be started in
// *failedPart at the root, or -1.
//
// If this job is on one node, the new processes on this host use its memory. Otherwise, and if this job itself has been
// started in this way, they have a memory of their own and connect to a port of the root.
func (p *Instance) Spawn(c *comm.Comm, root int, what func() (*Spawning, error),
	failedPart *int) (n *comm.Comm, started []SpawnCount, err error) {
	// if a member has failed, no process is started, as it could not connect
	if err := c.Synchronize(); err != nil {
		return nil, nil, err
	}
	le := binary.LittleEndian
	var b []byte
	var job *spawnedJob
	defer func() {
		if job != nil {
			_ = job.launcher.SpawnDone(job.parent, err == nil)
		}
	}()
	if c.Rank() == root {
		*failedPart = -1
		var s *Spawning
		if s, err = what(); err == nil {
			job, err = p.startJob(s, failedPart)
		}
		if err == nil {
			defer job.close()
			b = le.AppendUint32(le.AppendUint32(nil, uint32(job.first)), uint32(job.tag))
			for _, n := range job.started {
				b = le.AppendUint32(le.AppendUint32(b, uint32(n.Requested)), uint32(n.Count))
			}
		}
	}
	if b, err = c.BcastFrom(root, b, err); err != nil {
		return nil, nil, err
	}
	for at := b[8:]; len(at) > 0; at = at[8:] {
		started = append(started, SpawnCount{int(le.Uint32(at)), int(le.Uint32(at[4:]))})
	}
	if first := int32(le.Uint32(b)); first < 0 {
		n, err = p.meet(c, root, true, func(introduce func(net.Conn) error) (net.Conn, error) {
			return job.await(introduce)
		})
	} else {
		n, err = c.NewInter(root, p.sessionComm, int(first), int32(le.Uint32(b[4:])))
		p.data.ProcessesAdded(p.Node)
	}
	if err != nil {
		return nil, nil, err
	}
	return n, started, nil
}

// spawnedJob is a job that this process has started.
type spawnedJob struct {
	launcher boot.Spawner
	parent   string // Parent or Port of the request
	first    int    // number of the job's first process; -1 if the job has a memory of its own
	tag      int32  // tag of the messages that connect the job to this one, if it has no memory of its own
	started  []SpawnCount
	port     *boot.Port // port to which the job connects if it has a memory of its own; nil if it cannot connect
}

// startJob starts processes. The argument failedPart is that of Spawn.
func (p *Instance) startJob(s *Spawning, failedPart *int) (*spawnedJob, error) {
	launcher, err := p.spawner(abi.MPI_ERR_SPAWN)
	if err != nil {
		return nil, err
	}
	job := &spawnedJob{launcher: launcher}
	request := &pmi1.Spawn{Parts: slices.Clone(s.Parts), Apart: p.spans || boot.IsPortName(boot.Parent(p.Boot))}
	if *failedPart, err = s.choose(request.Parts); err != nil {
		return nil, err
	}
	job.tag, request.Parent = p.newTag()
	job.parent = request.Parent
	isPlaced := func(part pmi1.SpawnPart) bool { return part.Hosts+part.HostFile+part.MapBy != "" }
	if request.Apart || slices.ContainsFunc(request.Parts, isPlaced) {
		if job.port, err = boot.OpenPort(p.data.Permitted()); err != nil {
			return nil, mpierr.New(abi.MPI_ERR_SPAWN, "cannot open a port for the processes: %v", err)
		}
		request.Port = job.port.Name
	}
	job.first, *failedPart, err = s.request(launcher, request)
	switch {
	case err != nil:
	case request.Apart:
		job.first, job.parent = -1, request.Port
	case p.awaitNumber(job.first, launcher.Lost()) != nil:
		err = errEndedEarly()
	}
	if err != nil {
		job.close()
		return nil, err
	}
	for i, part := range s.Parts {
		job.started = append(job.started, SpawnCount{part.N, request.Parts[i].N})
	}
	return job, nil
}

// close releases the port.
func (job *spawnedJob) close() {
	if job.port != nil {
		job.port.Close()
	}
}

// choose sets the numbers of processes of parts with the info key soft to the largest ones that are allowed. Errors:
// MPI_ERR_SPAWN with the index of a part that allows none.
func (s *Spawning) choose(parts []pmi1.SpawnPart) (failedPart int, err error) {
	for i := range parts {
		if s.Soft[i] == nil {
			continue
		}
		n, ok := s.Soft[i].Largest(parts[i].N)
		if !ok {
			return i, mpierr.New(abi.MPI_ERR_SPAWN, "the info key soft allows no number of processes from "+
				"0 to maxprocs, which is %d", parts[i].N)
		}
		parts[i].N = n
	}
	return -1, nil
}

// request asks the launcher for processes, and for fewer ones if it cannot start that many and the info key soft allows
// it. It returns the number of the first process.
func (s *Spawning) request(launcher boot.Spawner, request *pmi1.Spawn) (first, failedPart int, err error) {
	for {
		total := sum(request.Parts)
		if total == 0 {
			return 0, -1, mpierr.New(abi.MPI_ERR_SPAWN,
				"the info key soft leaves 0 processes to start; at least 1 is needed")
		}
		first, err = launcher.Spawn(request)
		var refused *pmi1.SpawnError
		switch {
		case err == nil:
			return first, -1, nil
		case !errors.As(err, &refused):
			return 0, -1, mpierr.New(abi.MPI_ERR_SPAWN, "%v", err)
		case refused.Most < 1 || refused.Most >= total || !s.shrinkTo(request.Parts, refused.Most):
			return 0, refused.Part, mpierr.New(abi.MPI_ERR_SPAWN, "%s", refused.Reason)
		}
	}
}

// sum returns the number of processes of all parts.
func sum(parts []pmi1.SpawnPart) (n int) {
	for _, part := range parts {
		n += part.N
	}
	return n
}

// shrinkTo lowers the numbers of processes of those parts that have the info key soft, so that their sum is at most
// `maxProcesses`. It returns false if this is not possible.
func (s *Spawning) shrinkTo(parts []pmi1.SpawnPart, maxProcesses int) bool {
	for i := len(parts) - 1; i >= 0 && sum(parts) > maxProcesses; i-- {
		if s.Soft[i] == nil {
			continue
		}
		limit := max(parts[i].N-(sum(parts)-maxProcesses), 0)
		n, ok := s.Soft[i].Largest(limit)
		for ; !ok; limit++ { // the smallest allowed number
			n, ok = s.Soft[i].Largest(limit)
		}
		parts[i].N = n
	}
	// The values of soft may have lowered the sum below maxProcesses. Other parts get the remaining processes.
	for i := range parts {
		if free := maxProcesses - sum(parts); s.Soft[i] != nil && free > 0 {
			parts[i].N, _ = s.Soft[i].Largest(min(parts[i].N+free, s.Parts[i].N))
		}
	}
	return sum(parts) <= maxProcesses
}

func errEndedEarly() error {
	return mpierr.New(abi.MPI_ERR_SPAWN, "a started process has ended before it called MPI_Init")
}

// await returns the connection to rank 0 of a job that has a memory of its own.
func (job *spawnedJob) await(introduce func(net.Conn) error) (net.Conn, error) {
	for {
		select {
		case link := <-job.port.Arrivals:
			if err := introduce(link); err != nil {
				link.Close()
				return nil, errEndedEarly()
			}
			_ = job.launcher.Publish(pmi1.ConnectedName(job.port.Name), "")
			return link, nil
		case <-time.After(endedInterval):
		}
		// gompirun publishes this name if the processes end before they have connected.
		reason, err := job.launcher.Lookup(pmi1.EndedName(job.port.Name))
		switch {
		case err == nil && reason != "":
			return nil, mpierr.New(abi.MPI_ERR_SPAWN, "%s", reason)
		case err == nil:
			return nil, errEndedEarly()
		case !errors.Is(err, pmi1.ErrName):
			return nil, mpierr.New(abi.MPI_ERR_SPAWN, "%v", err)
		}
	}
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
