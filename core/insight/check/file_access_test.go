package check

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/insight"
)

// Checks which bytes of a file a view shows.
func TestViewBytes(t *testing.T) {
	integer := basicTypes[abi.MPI_INT]
	tile := integer.resized(0, 10)
	all := fileView{disp: 100, etypeBytes: 1, filetype: integer}
	require.Equal(t, []span{{106, 115}}, all.bytes(6, 9))
	some := fileView{disp: 100, etypeBytes: 4, filetype: tile}
	require.Equal(t, []span{{112, 114}, {120, 124}, {130, 131}}, some.bytes(6, 7))
	require.Equal(t, []span{{100, 104}}, some.bytes(0, 4))
	require.Nil(t, some.bytes(0, 0))
	require.Nil(t, some.bytes(1<<62, 4))
	require.Nil(t, some.bytes(1<<60, 4), "beyond the maximum offset")
	require.Nil(t, some.bytes(0, 4*maxSpans+4), "too many ranges")
	require.Nil(t, (&fileView{}).bytes(0, 4), "unknown")
}

const testFile = firstDynamic + 1

// fileCalls returns a checker, and a function `call` that passes the record of a rank's call to the checker. The call
// is on a file that both ranks have opened.
func fileCalls(t *testing.T, amode uint64) (call func(rank int, name string, in values), c *Checker) {
	c = New(2, func(_ int, address uint64) insight.Location { return insight.Location{Line: int(address)} })
	p := &player{checker: c}
	for rank := range 2 {
		p.call(rank, "MPI_File_open", values{"comm": abi.MPI_COMM_WORLD, "amode": amode},
			values{"fh": testFile})
	}
	return func(rank int, name string, in values) {
		t.Helper()
		all := values{"fh": testFile, "datatype": abi.MPI_INT, "buf": uint64(1<<20 + rank<<24),
			"comm": abi.MPI_COMM_WORLD}
		for k, v := range in {
			all[k] = v
		}
		out := values{}
		if name == "MPI_File_close" {
			out["fh"] = abi.MPI_FILE_NULL
		}
		p.call(rank, name, all, out)
	}, c
}

// Checks that a loop of writes needs little memory, and that all accesses are forgotten after sync, barrier and sync.
func TestFileAccessesAreBounded(t *testing.T) {
	call, c := fileCalls(t, abi.MPI_MODE_RDWR)
	f := c.ranks[0].files[testFile]
	both := func(name string) {
		call(0, name, nil)
		call(1, name, nil)
	}
	for range 3 {
		for i := range 5000 {
			call(0, "MPI_File_write_at", values{"offset": uint64(4 * i), "count": 1})
			call(1, "MPI_File_write", values{"count": 0})
		}
		require.Equal(t, 1, f.space.count)
		for _, name := range []string{"MPI_File_sync", "MPI_Barrier", "MPI_File_sync"} {
			both(name)
		}
		call(1, "MPI_File_read_at", values{"offset": 0, "count": 5000})
		call(1, "MPI_Barrier", nil)
		call(0, "MPI_Barrier", nil)
		c.forget()
		require.Equal(t, 0, f.space.count)
	}
	require.Empty(t, c.Findings())
	both("MPI_File_close")
	require.Empty(t, c.openFiles)
	require.Empty(t, c.ranks[1].files)
	both("MPI_Finalize")
	require.Empty(t, c.Findings())
}

// Checks that the checker reports a conflict only if it knows the position of the file pointer.
func TestUnknownFilePointer(t *testing.T) {
	four := values{"count": 1}
	for _, c := range []struct {
		what  string
		amode uint64
		name  string
		in    values
		want  int // number of findings
	}{
		{"known", abi.MPI_MODE_RDWR, "MPI_File_seek", values{"offset": 0, "whence": abi.MPI_SEEK_SET}, 1},
		{"beside it", abi.MPI_MODE_RDWR, "MPI_File_seek", values{"offset": 4, "whence": abi.MPI_SEEK_CUR}, 0},
		{"the end", abi.MPI_MODE_RDWR, "MPI_File_seek", values{"whence": abi.MPI_SEEK_END}, 0},
		{"append", abi.MPI_MODE_RDWR | abi.MPI_MODE_APPEND, "MPI_File_get_size", nil, 0},
		{"unknown type", abi.MPI_MODE_RDWR, "MPI_File_write", values{"count": 1, "datatype": 1 << 40}, 0},
		{"unknown view", abi.MPI_MODE_RDWR, "MPI_File_set_view",
			values{"etype": abi.MPI_INT, "filetype": 1 << 40}, 0},
		{"read only", abi.MPI_MODE_RDONLY, "MPI_File_get_size", nil, 0},
	} {
		call, checker := fileCalls(t, c.amode)
		call(0, "MPI_File_write_at", values{"offset": 0, "count": 1})
		call(1, c.name, c.in)
		call(1, "MPI_File_write", four)
		require.Len(t, checker.Findings(), c.want, c.what)
	}
}
