package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// Checks isWindowOnly: it is false for calls with messages, collectives, requests or new objects.
func TestIsWindowOnly(t *testing.T) {
	number := func(name string) int {
		return slices.IndexFunc(abi.Functions(), func(f *abi.Function) bool { return f.Name == name })
	}
	for _, name := range strings.Fields("MPI_Put MPI_Get_c MPI_Fetch_and_op MPI_Win_flush_all MPI_Win_lock " +
		"MPI_Win_unlock MPI_Win_sync MPI_Win_start MPI_Win_wait MPI_Win_test MPI_Win_shared_query") {
		require.True(t, isWindowOnly()[number(name)], name)
	}
	for _, name := range strings.Fields("MPI_Win_fence MPI_Win_create MPI_Win_allocate_c MPI_Win_free MPI_Rput " +
		"MPI_Win_get_group MPI_Win_get_info MPI_Send MPI_Barrier MPI_Wait MPI_Type_free MPI_Finalize " +
		"MPI_Win_create_keyval") {
		require.False(t, isWindowOnly()[number(name)], name)
	}
}

// Checks that the checker does not report a missing receive, completion or collective call if the record of that call
// has been lost.
func TestLostRecords(t *testing.T) {
	c := New(2, func(_ int, address uint64) insight.Location { return insight.Location{Line: int(address)} })
	c.EnableSyncCheck()
	p := &player{checker: c}
	arguments := values{"buf": 1 << 20, "count": 1, "datatype": abi.MPI_INT, "dest": 1, "source": 0,
		"comm": abi.MPI_COMM_WORLD}
	p.call(0, "MPI_Isend", arguments, values{"request": firstDynamic})
	p.call(0, "MPI_Send", arguments, nil)
	p.call(1, "MPI_Recv", arguments, nil)
	c.SetRecordEnd(1, 10)
	// The lost records are a receive and a barrier of rank 1, and a completion of rank 0.
	c.RecordsLost()
	p.call(0, "MPI_Barrier", values{"comm": abi.MPI_COMM_WORLD}, nil)
	p.call(1, "MPI_Bcast", values{"buffer": 2 << 20, "count": 1, "datatype": abi.MPI_INT,
		"comm": abi.MPI_COMM_WORLD}, nil)
	for i := range 2 {
		p.call(i, "MPI_Finalize", nil, nil)
	}
	require.Empty(t, c.Findings())
	c.SetRecordEnd(1, 20)
	position, _ := c.Checked(1, 0)
	require.Equal(t, uint64(20), position, "calls are answered although they are not checked")
}

// Checks the first line of a finding of each kind.
func TestTitles(t *testing.T) {
	for _, c := range []struct {
		f    Finding
		want string
	}{
		{Finding{Kind: "collective", Name: "name", Object: "window 1"},
			"collective: ranks call different collectives on window 1\n"},
		{Finding{Kind: "collective", Name: "op", Object: "MPI_COMM_WORLD"},
			"collective: different operations on MPI_COMM_WORLD\n"},
		{Finding{Kind: "collective", Name: "amode", Object: "MPI_COMM_WORLD"},
			"collective: different access modes on MPI_COMM_WORLD\n"},
		{Finding{Kind: "signature", Window: "halo"}, "signature: datatypes do not match on window 'halo'\n"},
		{Finding{Kind: "epoch", Window: "window 2"}, "epoch: call without a suitable epoch on window 2\n"},
		{Finding{Kind: "leak", Object: "message"}, "leak: message is never received\n"},
		{Finding{Kind: "leak", Object: "group"}, "leak: group is never freed\n"},
		{Finding{Kind: "leak", Object: "file"}, "leak: file is never closed\n"},
		{Finding{Kind: "freed", Object: "file"}, "freed: file is used after it was closed\n"},
		{Finding{Kind: "freed", Object: "window"}, "freed: window is used after it was freed\n"},
		{Finding{Kind: "assertion", Name: "NOSTORE", Window: "halo"},
			"assertion: MPI_MODE_NOSTORE is violated on window 'halo'\n"},
		{Finding{Kind: "hint", Name: "mpi_assert_no_any_tag"}, "hint: mpi_assert_no_any_tag is violated\n"},
		{Finding{Kind: "race", Window: "window 1", Target: 2, First: 8, Bytes: 4},
			"race: window 1, memory of rank 2, 4 bytes at offset 8\n"},
		{Finding{Kind: "race", File: "a.dat", Target: -1, First: 8, Bytes: 4},
			"race: file 'a.dat', 4 bytes at offset 8\n"},
	} {
		first, _, _ := strings.Cut(c.f.String(), "\n")
		require.Equal(t, c.want, first+"\n")
	}
}

// Checks that objects of a session may be freed after MPI_Finalize, and are reported when the last session ends.
func TestSessionLeaks(t *testing.T) {
	for _, frees := range []bool{true, false} {
		c := New(1, func(int, uint64) insight.Location { return insight.Location{} })
		p := &player{checker: c}
		p.call(0, "MPI_Session_init", nil, values{"session": firstDynamic})
		p.call(0, "MPI_Init", nil, nil)
		p.call(0, "MPI_Group_from_session_pset", values{"session": firstDynamic},
			values{"newgroup": firstDynamic + 1})
		p.call(0, "MPI_Finalize", nil, nil)
		require.Empty(t, c.Findings())
		if frees {
			p.call(0, "MPI_Group_free", values{"group": firstDynamic + 1}, nil)
		}
		p.call(0, "MPI_Session_finalize", values{"session": firstDynamic}, nil)
		if frees {
			require.Empty(t, c.Findings())
		} else {
			require.Len(t, c.Findings(), 1)
			require.Equal(t, "leak", c.Findings()[0].Kind)
		}
	}
}
