package group

import (
	"sync"

	"gompirma/core/abi"
	"gompirma/core/handle"
)

// A group has one handle, however often it is asked for: MPI_Comm_group and MPI_Win_get_group of one object give the
// same each time, and each time one more MPI_Group_free is due. Programs that ask before every operation and never free
// cost nothing.

// handles holds the groups that the application has handles of; MPI_GROUP_EMPTY is not among them.
var handles = handle.NewTable[Group](handle.Group)

var handlesMu sync.Mutex

// MostHandles is how many groups can have one.
const MostHandles = handle.MaxLive

// Lookup returns the group behind a handle, nil if there is none.
func Lookup(h uintptr) *Group {
	if h == abi.MPI_GROUP_EMPTY {
		return Empty
	}
	return handles.Get(h)
}

// Hold returns the handle of g for one more holder. ok is false when MostHandles groups have one.
func (g *Group) Hold() (h uintptr, ok bool) {
	if g.n == 0 {
		return abi.MPI_GROUP_EMPTY, true
	}
	handlesMu.Lock()
	defer handlesMu.Unlock()
	if g.holders == 0 {
		if g.handle, ok = handles.Add(g); !ok {
			return 0, false
		}
	}
	g.holders++
	return g.handle, true
}

// Release takes one holder of a handle away (MPI_Group_free). ok is false if h is no group's handle; gone says that it
// stands for no group from now on.
func Release(h uintptr) (gone, ok bool) {
	if h == abi.MPI_GROUP_EMPTY {
		return false, true
	}
	handlesMu.Lock()
	defer handlesMu.Unlock()
	g := handles.Get(h)
	if g == nil {
		return false, false
	}
	if g.holders--; g.holders == 0 {
		handles.Remove(h)
		return true, true
	}
	return false, true
}
