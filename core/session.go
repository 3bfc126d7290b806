package core

import (
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gompirma/core/abi"
	"gompirma/core/boot"
	"gompirma/core/comm"
	"gompirma/core/group"
	"gompirma/core/mpierr"
	"gompirma/core/shm"
)

// Sessions (MPI-5.0 11.3). The first session opens the process' instance as MPI_Init does, if that is local
// (boot.IsLocal). Otherwise the first call that needs the instance opens it (Ensure), so that MPI_Session_init does not
// wait for other processes.

// BeginSession records a new session. It is local. Errors: MPI_ERR_OTHER if the launcher does not answer as expected.
func BeginSession(data DataPath) error {
	b, err := connect()
	if err == nil && boot.IsLocal(b) {
		_, err = Ensure(data)
	}
	if err != nil {
		return err
	}
	stateMu.Lock()
	defer stateMu.Unlock()
	if p := self.Load(); p != nil {
		if err := p.resumeLocked(); err != nil {
			return err
		}
	}
	sessions.Add(1)
	usedSessions = true
	return nil
}

// EndSession records the end of a session. After the last session, unless MPI_COMM_WORLD is in use, EndSession waits
// until the sends of this process are complete, and suspends the instance. After MPI_Finalize it also waits until the
// processes on other nodes have received all data. Errors: MPI_ERR_PROC_ABORTED if a receiver has failed; MPI_ERR_OTHER
// if the launcher does not answer as expected.
func EndSession() error {
	stateMu.Lock()
	defer stateMu.Unlock()
	inUse := func() bool { return sessions.Load() > 1 || usesWorld.Load() }
	p := self.Load()
	if p != nil {
		if err := p.waitAllSentLocked(inUse); err != nil {
			return err
		}
	}
	if p != nil && !inUse() {
		if p.spans && finalized.Load() {
			// The process may exit without a further call, which would lose data in the network. Before
			// MPI_Finalize, AtExit waits for the other processes.
			p.data.Network().Drain(true, exitTimeout)
		}
		p.suspend()
	}
	if sessions.Add(-1) == 0 && finalized.Load() {
		return release()
	}
	return nil
}

// AtExit is called when the process exits. If the process has finalized all its sessions, AtExit notifies the launcher
// that it has finished. MPI_Finalize does the same for a process that called MPI_Init.
//
// If the processes of the job open their instances together, those that need no instance must take part, and AtExit
// opens it. If the job has several nodes, AtExit waits for all processes: one that closes its connections earlier
// counts as failed.
func AtExit(data DataPath) {
	if !worldMu.TryLock() || !openMu.TryLock() || !stateMu.TryLock() {
		return // another thread is inside MPI; the locks stay held, since the process ends
	}
	defer leaveNetwork()
	// MPI_Finalize is enough for the launcher, even if a session remains.
	if !usedSessions || Running() && !finalized.Load() || released.Load() {
		return
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if b := *launcher.Load(); self.Load() == nil && !boot.IsLocal(b) {
			if _, err := Open(data, b); err != nil {
				return
			}
		}
		if p := self.Load(); p != nil && p.spans {
			p.data.Network().JobEnding()
			if p.Boot.Fence() != nil {
				return
			}
		}
		release()
	}()
	select {
	case <-ended:
	case <-time.After(exitTimeout):
	}
}

// leaveNetwork ends the progress thread of the network. Later in exit, the destructors of the network's library run.
// UCX aborts the process if a thread uses it then. If the process has finalized a session after MPI_Finalize, other
// processes may still have sessions, and leaveNetwork notifies them that this end is no failure.
func leaveNetwork() {
	if p := self.Load(); p != nil && p.networkEnded != nil {
		if p.spans && usedSessions && finalized.Load() && !hasSessions() {
			p.data.Network().NotifyEnd()
			p.data.Network().Drain(true, drainTimeout)
		}
		p.data.Network().Stop()
		select {
		case <-p.networkEnded:
		case <-time.After(time.Second):
		}
	}
}

// exitTimeout is the maximum time for which an exiting process waits for other processes.
const exitTimeout = 30 * time.Second

// jobNumbers returns the number of this process, and those of the processes of its job: `size` numbers from `first` on.
// Precondition: a session has been initialized, or MPI_Init has been called.
func jobNumbers() (number, first, size int) {
	b := *launcher.Load()
	if control, ok := b.Control(); ok {
		first = control.First
	}
	return first + b.Rank(), first, b.Size()
}

// Number returns the number of this process. Precondition: a session has been initialized, or MPI_Init has been called.
func Number() int {
	number, _, _ := jobNumbers()
	return number
}

// Names of the process sets that exist in every session. Open MPI uses the third name, too.
const (
	PsetWorld  = "mpi://WORLD"
	PsetSelf   = "mpi://SELF"
	PsetShared = "mpix://SHARED" // the processes of this process' node
)

// Psets returns the names of the process sets of a session. The processes of the node are known only after the instance
// has been opened.
func Psets() []string {
	names := []string{PsetWorld, PsetSelf}
	if self.Load() != nil {
		names = append(names, PsetShared)
	}
	return names
}

// PsetNumber returns the index of a process set in Psets; -1 if it does not exist. Names are compared without regard to
// the case of letters.
func PsetNumber(name string) int {
	return slices.IndexFunc(Psets(), func(s string) bool { return strings.EqualFold(s, name) })
}

// Pset returns the processes of a process set; nil if it does not exist.
func Pset(name string) *group.Group {
	number, first, size := jobNumbers()
	switch PsetNumber(name) {
	case 0:
		return group.Range(int32(first), int32(size), 1)
	case 1:
		return group.Range(int32(number), 1, 1)
	case 2:
		local := self.Load().NodeMap.Local
		members := make([]int32, len(local))
		for i, r := range local {
			members[i] = int32(first + r)
		}
		return group.Of(members)
	}
	return nil
}

// CreateFromGroup implements MPI_Comm_create_from_group (MPI-5.0 7.4.2). Collective over g, which must contain this
// process. It also waits until the members of the other groups can receive messages. Errors: MPI_ERR_GROUP if g does
// not contain this process; MPI_ERR_PROC_ABORTED if a process has ended or failed; MPI_ERR_NO_MEM.
func (p *Instance) CreateFromGroup(g *group.Group, stringTag string, others ...*group.Group) (*comm.Comm, error) {
	if g.Rank(p.Number()) == group.Undefined {
		return nil, mpierr.New(abi.MPI_ERR_GROUP, "the calling process (rank %d of the job) is not in the "+
			"group", p.Rank)
	}
	for _, x := range append(others, g) {
		if err := p.awaitOpen(x); err != nil {
			return nil, err
		}
	}
	c, err := p.sessionComm.CreateGroup(g, sessionTag(stringTag, g))
	if err != nil {
		return nil, err
	}
	// A member may end as soon as it returns, so it waits until no member is in awaitOpen.
	if err := c.Synchronize(); err != nil {
		c.Free()
		return nil, err
	}
	return c, nil
}

// CreateInterFromGroups implements MPI_Intercomm_create_from_groups (MPI-5.0 7.6.2). Collective over both groups. The
// leaders are ranks in their groups. Errors: MPI_ERR_GROUP if the groups overlap or this process is not in `local`;
// MPI_ERR_RANK for an invalid leader; MPI_ERR_PROC_ABORTED if a member has ended or failed; MPI_ERR_NO_MEM.
func (p *Instance) CreateInterFromGroups(local *group.Group, localLeader int, remote *group.Group, remoteLeader int,
	stringTag string) (*comm.Comm, error) {
	if local.Session != remote.Session {
		return nil, mpierr.New(abi.MPI_ERR_GROUP, "the groups are derived from different sessions")
	}
	for i := range local.Size() {
		if w := local.World(i); remote.Rank(w) != group.Undefined {
			return nil, mpierr.New(abi.MPI_ERR_GROUP, "rank %d of the job is in both groups; they must be "+
				"disjoint", w)
		}
	}
	if localLeader < 0 || localLeader >= local.Size() {
		return nil, mpierr.New(abi.MPI_ERR_RANK, "local_leader is %d; valid ranks of local_group are 0 to %d",
			localLeader, local.Size()-1)
	}
	if remoteLeader < 0 || remoteLeader >= remote.Size() {
		return nil, mpierr.New(abi.MPI_ERR_RANK, "remote_leader is %d; valid ranks of remote_group are 0 to %d",
			remoteLeader, remote.Size()-1)
	}
	// The leaders exchange messages after CreateFromGroup. So no member of either group returns while another one
	// is in awaitOpen.
	c, err := p.CreateFromGroup(local, stringTag, remote)
	if err != nil {
		return nil, err
	}
	defer c.Free()
	return c.NewInter(localLeader, p.sessionComm, int(remote.World(remoteLeader)), sessionTag(stringTag, nil))
}

// sessionTag returns the tag of the messages that create a communicator. It differs for different tags of the
// application, and for different groups, except with the probability 2^-31.
func sessionTag(text string, g *group.Group) int32 {
	sum := fnv.New64a()
	sum.Write([]byte(text))
	for i := 0; g != nil && i < g.Size(); i++ {
		w := g.World(i)
		sum.Write([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)})
	}
	return int32(sum.Sum64() >> 33)
}

// awaitOpen waits until all processes of g on this node have opened their instances. Errors: MPI_ERR_PROC_ABORTED if
// one of them has ended.
func (p *Instance) awaitOpen(g *group.Group) error {
	for i := range g.Size() {
		if err := p.awaitNumber(int(g.World(i)), nil); err != nil {
			return err
		}
	}
	return nil
}

// awaitNumber is awaitOpen for one process. It also returns an error when the channel `lost`, which may be nil, is
// closed.
func (p *Instance) awaitNumber(number int, lost <-chan struct{}) error {
	index := int(p.Processes.At(int32(number)).Index)
	if index < 0 {
		return nil // all processes of a job with several nodes open their instances together
	}
	var failure error
	err := p.Node.WaitFor(func() bool {
		select {
		case <-lost:
			failure = mpierr.New(abi.MPI_ERR_PROC_ABORTED, "the launcher of the processes has ended")
		default:
		}
		switch p.Node.State(index) {
		case shm.Running:
			return true
		case shm.Failed, shm.Finalized:
			if pid := p.Node.Pid(index); pid == 0 || unix.Kill(pid, 0) == unix.ESRCH {
				failure = mpierr.New(abi.MPI_ERR_PROC_ABORTED, "rank %d of the job has ended",
					p.Processes.At(int32(number)).Rank)
			}
		}
		return failure != nil
	}, shm.Waiting{Peer: int32(number)})
	if err == nil {
		err = failure
	}
	return err
}
