package census

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// read returns the rows that the lines of a table define.
func read(lines ...string) []Row {
	t := &table{arguments: parsed().arguments, covered: map[string]bool{}, none: map[string]string{}}
	for _, line := range lines {
		t.line("origin", line)
	}
	return t.rows
}

func TestRows(t *testing.T) {
	rows := read("Type_size; Type_get_extent(datatype=vector) | twice", "Type_size | again", "I@ Wait | @=bcast",
		"Add_error_class | loops=3 | reason=rare")
	var got []string
	for _, r := range rows {
		got = append(got, r.Name+": "+r.body)
	}
	require.Equal(t, []string{
		"Type_size-twice: MPI_Type_size(MPI_DOUBLE, &n);",
		"Type_size_c-twice: MPI_Type_size_c(MPI_DOUBLE, &n_c);",
		"Type_get_extent-twice: MPI_Type_get_extent(vector, &n_a, &n_a);",
		"Type_get_extent_c-twice: MPI_Type_get_extent_c(vector, &n_c, &n_c);",
		"Type_size-again: MPI_Type_size(MPI_DOUBLE, &n);",
		"Ibcast+Wait: MPI_Ibcast(b, 1, MPI_DOUBLE, 0, comm, &request); MPI_Wait(&request, &status);",
		"Ibcast_c+Wait: MPI_Ibcast_c(b, 1, MPI_DOUBLE, 0, comm, &request); MPI_Wait(&request, &status);",
		"Add_error_class: MPI_Add_error_class(&n);",
	}, got)
	require.Equal(t, "MPI_Type_size again", rows[4].Label)
	require.Equal(t, "rare", rows[7].Reason)

	for line, why := range map[string]string{"Nothing": "there is no MPI_Nothing",
		"Type_size(type=vector)": "MPI_Type_size has no parameter type"} {
		require.PanicsWithValue(t, why, func() { read(line) })
	}
}

// TestWrite checks that Write omits rows whose functions do not exist.
func TestWrite(t *testing.T) {
	var out strings.Builder
	require.NoError(t, Write(&out, func(function string) bool { return !strings.HasPrefix(function, "MPI_Win_") }))
	require.Contains(t, out.String(), "ROW(\"Comm_rank\", NULL, body_")
	require.Contains(t, out.String(), "{ kept_double = MPI_Wtime(); }")
	require.NotContains(t, out.String(), "MPI_Win_")
}
