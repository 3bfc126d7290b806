package rma

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/comm"
	"gompirma/core/mpierr"
)

// oneNode is the comm.Host of a process that shares memory with all others. The tests use nothing else of it.
type oneNode struct{ comm.Host }

// TestAbandonedCreation checks that a member leaves the shared memory of a window allocated if an exchange fails during
// the creation, because other members may use it. If the members agree on an error, the memory is freed.
func TestAbandonedCreation(t *testing.T) {
	const members = 2
	for _, test := range []struct {
		name   string
		failed int   // number of the exchange that fails; 0 if none
		class  int32 // error class that the other member reports in the last exchange
		inUse  int
	}{
		{"first exchange fails", 1, abi.MPI_SUCCESS, 1},
		{"second exchange fails", 2, abi.MPI_SUCCESS, 1},
		{"last exchange fails", 3, abi.MPI_SUCCESS, 1},
		{"other member reports an error", 0, abi.MPI_ERR_NO_MEM, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			nd := newNode(t, members)
			exchanges := 0
			h := &Host{Node: nd, Data: &pretended{}, NodeIndex: func(world int32) int { return int(world) },
				NodeOf: func(int32) int32 { return 0 }}
			h.Allgather = func(_ *comm.Comm, mine []byte) ([]byte, error) {
				if exchanges++; exchanges == test.failed {
					return nil, errors.New("a process has failed")
				}
				theirs := bytes.Clone(mine)
				if exchanges == 3 {
					theirs[0] = byte(test.class)
				}
				return append(bytes.Clone(mine), theirs...), nil
			}
			c := comm.NewWorld(oneNode{}, 0, 0, members)
			w, err := Create(h, c, Spec{Flavor: abi.MPI_WIN_FLAVOR_ALLOCATE, Size: 100, DispUnit: 1,
				Hints: DefaultHints()})
			require.Nil(t, w)
			require.Error(t, err)
			if test.class != abi.MPI_SUCCESS {
				require.Equal(t, test.class, mpierr.ClassOf(err))
			}
			require.Equal(t, test.inUse, nd.BlocksInUse())
			require.Len(t, windows.used, test.inUse, "other members may use this index")
			clear(windows.used)
		})
	}
}
