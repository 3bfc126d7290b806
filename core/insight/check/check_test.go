package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

// What is taken for a call about a window alone is one: no message, collective, request or new object is missed.
func TestOfWindow(t *testing.T) {
	number := func(name string) int {
		return slices.IndexFunc(abi.Functions(), func(f *abi.Function) bool { return f.Name == name })
	}
	for _, name := range strings.Fields("MPI_Put MPI_Get_c MPI_Fetch_and_op MPI_Win_flush_all MPI_Win_lock " +
		"MPI_Win_unlock MPI_Win_sync MPI_Win_start MPI_Win_wait MPI_Win_test MPI_Win_shared_query") {
		require.True(t, ofWindow()[number(name)], name)
	}
	for _, name := range strings.Fields("MPI_Win_fence MPI_Win_create MPI_Win_allocate_c MPI_Win_free MPI_Rput " +
		"MPI_Win_get_group MPI_Win_get_info MPI_Send MPI_Barrier MPI_Wait MPI_Type_free MPI_Finalize " +
		"MPI_Win_create_keyval") {
		require.False(t, ofWindow()[number(name)], name)
	}
}
