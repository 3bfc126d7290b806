package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
	"gompirma/core/coll"
)

// TestFresh fails if a generated file differs from what the table and the sources of capi require.
func TestFresh(t *testing.T) {
	require.NoError(t, generator.Check())
}

// write creates a directory with a subdirectory capi that has the given files.
func write(t *testing.T, files map[string]string) string {
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	return root
}

func TestStyles(t *testing.T) {
	root := write(t, map[string]string{
		"capi/rma/put.c": "#include \"rma/z_calls.h\"\n\nint gompi_put_c(const void *origin_addr)\n{\n\t" +
			"return 0;\n}\n  int gompi_get(void) {}\n// int gompi_rput(\n",
		"capi/win.go": "package main\n\n//export gompi_win_fence\nfunc gompi_win_fence(assert int32, " +
			"win uintptr) int32 { return 0 }\n\n// export gompi_win_free\n//export gompi_bcast_c\n",
		"capi/rma/z_x.c":           "int gompi_accumulate(void)\n",
		"capi/win_test.go":         "//export gompi_send\n",
		"capi/environment/wtime.c": "double gompi_wtime(void)\n{\n}\nMPI_Aint gompi_aint_add(\n",
	})
	have, err := scan(filepath.Join(root, "capi"))
	require.NoError(t, err)
	for _, c := range []struct {
		name, by string
		style    style
	}{
		{"MPI_Put", "MPI_Put_c", styleC},
		{"MPI_Put_c", "MPI_Put_c", styleC},
		{"MPI_Win_fence", "MPI_Win_fence", styleGo},
		{"MPI_Bcast", "MPI_Bcast_c", styleGo},
		{"MPI_Wtime", "MPI_Wtime", styleC},
		{"MPI_Aint_add", "MPI_Aint_add", styleC},
		{"MPI_Get", "", styleNone},
		{"MPI_Rput", "", styleNone},
		{"MPI_Win_free", "", styleNone},
		{"MPI_Accumulate", "", styleNone},
		{"MPI_Send", "", styleNone},
	} {
		f, style := have.implementation(abi.FunctionByName(c.name))
		require.Equal(t, c.style, style, c.name)
		if c.by != "" {
			require.Equal(t, c.by, f.Name)
		} else {
			require.Nil(t, f)
		}
	}
}

func TestDefinedTwice(t *testing.T) {
	root := write(t, map[string]string{
		"capi/rma/a.c": "int gompi_put_c(void)\n",
		"capi/b.go":    "package main\n\n//export gompi_put_c\n",
	})
	_, err := scan(filepath.Join(root, "capi"))
	require.ErrorContains(t, err, "gompi_put_c")
}

// TestEntries compares the entry point of each style with the expected text.
func TestEntries(t *testing.T) {
	have := implementations{"gompi_put_c": styleC, "gompi_comm_rank": styleGo, "gompi_send_c": styleGo,
		"gompi_pcontrol": styleC, "gompi_t_enum_get_item": styleGo}
	for name, want := range map[string]string{
		"MPI_Put": "    return gompi_put_c(origin_addr, origin_count, origin_datatype, target_rank, " +
			"target_disp, target_count, target_datatype, win);\n",
		"MPI_Comm_rank": "    const char *outer = gompi_enter_call(\"MPI_Comm_rank\");\n" +
			"    int rc = gompi_comm_rank((uintptr_t)comm, (uintptr_t)rank);\n" +
			"    gompi_leave_call(outer);\n" +
			"    return rc < 0 ? gompi_raise_pending(rc) : rc;\n",
		"MPI_Send": "    const char *outer = gompi_enter_call(\"MPI_Send\");\n    int rc = " +
			"gompi_send_c((uintptr_t)buf, count, (uintptr_t)datatype, dest, tag, (uintptr_t)comm);\n    " +
			"gompi_leave_call(outer);\n    return rc < 0 ? gompi_raise_pending(rc) : rc;\n",
		"MPI_Pcontrol": "    return gompi_pcontrol(level);\n",
		"MPI_T_enum_get_item": "    const char *outer = gompi_enter_call(\"MPI_T_enum_get_item\");\n" +
			"    int rc = gompi_t_enum_get_item((uintptr_t)enumtype, indx, (uintptr_t)value, " +
			"(uintptr_t)name, (uintptr_t)name_len);\n" +
			"    gompi_leave_call(outer);\n    return rc < 0 ? gompi_raise_pending(rc) : rc;\n",
		"MPI_Finalize": "    return gompi_unsupported(\"MPI_Finalize\", GOMPI_ON_NONE, 0);\n",
		"MPI_Win_free": "    return gompi_unsupported(\"MPI_Win_free\", GOMPI_ON_WIN, win ? " +
			"(uintptr_t)*win : 0);\n",
		"MPI_Comm_size": "    (void)size;\n    return gompi_unsupported(\"MPI_Comm_size\", GOMPI_ON_COMM, " +
			"(uintptr_t)comm);\n",
		"MPI_File_sync": "    return gompi_unsupported(\"MPI_File_sync\", GOMPI_ON_FILE, (uintptr_t)fh);\n",
		"MPI_File_delete": "    (void)filename; (void)info;\n    return " +
			"gompi_unsupported(\"MPI_File_delete\", GOMPI_ON_FILE, (uintptr_t)MPI_FILE_NULL);\n",
		"MPI_Type_size": "    (void)datatype; (void)size;\n    return " +
			"gompi_unsupported(\"MPI_Type_size\", GOMPI_ON_NONE, 0);\n",
		"MPI_Session_init": "    (void)info; (void)errhandler; (void)session;\n    return " +
			"gompi_unsupported(\"MPI_Session_init\", GOMPI_ON_NONE, 0);\n",
	} {
		var b bytes.Buffer
		writeEntry(&b, have, abi.FunctionByName(name))
		_, body, found := strings.Cut(b.String(), "\n{\n")
		require.True(t, found)
		require.Equal(t, want+"}\nGOMPI_ALIAS("+name+")\n", body, name)
	}
	require.Panics(t, func() { var b bytes.Buffer; writeEntry(&b, have, abi.FunctionByName("MPI_Wtime")) },
		"cannot return an error")
}

// TestCollectives compares generated functions, one for each shape of parameter list, with the expected text.
func TestCollectives(t *testing.T) {
	have := map[string]string{}
	for _, text := range strings.Split(string(collectivesSource(implementations{})), "\nint ")[1:] {
		name, text, _ := strings.Cut(text, "(")
		_, text, _ = strings.Cut(text, " {\n")
		text, _, _ = strings.Cut(text, "\n}\n")
		have[name] = strings.Join(strings.Fields(text), " ")
	}
	for name, want := range map[string]string{
		"gompi_ibarrier": `.name = "MPI_Ibarrier", .kind = GOMPI_BARRIER, .comm = (uintptr_t)comm}; ` +
			"return gompi_collective_start(&a, request);",
		"gompi_bcast_init_c": `.name = "MPI_Bcast_init", .kind = GOMPI_BCAST, .root = root, ` +
			".comm = (uintptr_t)comm, .recv.buf = (uintptr_t)buffer, .recv.count = count, " +
			".recv.type = (uintptr_t)datatype}; return gompi_collective_init(&a, info, request);",
		"gompi_scatterv": `.name = "MPI_Scatterv", .kind = GOMPI_SCATTERV, .root = root, ` +
			".comm = (uintptr_t)comm, .send.buf = (uintptr_t)sendbuf, " +
			".send.counts = (uintptr_t)sendcounts, .send.displs = (uintptr_t)displs, " +
			".send.type = (uintptr_t)sendtype, .recv.buf = (uintptr_t)recvbuf, " +
			".recv.count = recvcount, .recv.type = (uintptr_t)recvtype}; return gompi_collective_run(&a);",
		"gompi_reduce_scatter_init": `.name = "MPI_Reduce_scatter_init", .kind = GOMPI_REDUCE_SCATTER, ` +
			".op = (uintptr_t)op, .comm = (uintptr_t)comm, .send.buf = (uintptr_t)sendbuf, " +
			".recv.buf = (uintptr_t)recvbuf, .recv.counts = (uintptr_t)recvcounts, " +
			".recv.type = (uintptr_t)datatype}; return gompi_collective_init(&a, info, request);",
		"gompi_ineighbor_alltoallw_c": `.name = "MPI_Ineighbor_alltoallw", ` +
			".kind = GOMPI_NEIGHBOR_ALLTOALLW, .comm = (uintptr_t)comm, .is_large = true, " +
			".send.buf = (uintptr_t)sendbuf, .send.counts = (uintptr_t)sendcounts, " +
			".send.displs = (uintptr_t)sdispls, .send.types = (uintptr_t)sendtypes, " +
			".recv.buf = (uintptr_t)recvbuf, .recv.counts = (uintptr_t)recvcounts, " +
			".recv.displs = (uintptr_t)rdispls, .recv.types = (uintptr_t)recvtypes}; " +
			"return gompi_collective_start(&a, request);",
	} {
		require.Equal(t, "struct gompi_collective a = {"+want, have[name])
	}
}

// TestEveryCollective fails if an operation of core/coll lacks a generated form: blocking, nonblocking and persistent,
// each with a large-count form.
func TestEveryCollective(t *testing.T) {
	have := implementations{}.withGenerated()
	kind := coll.Kind(0)
	for ; kind != coll.KindIdup; kind++ { // KindIdup is the last kind and has one form
		name := strings.TrimPrefix(kind.String(), "MPI_")
		for _, form := range []string{name, "I" + strings.ToLower(name[:1]) + name[1:], name + "_init"} {
			for _, form := range []string{form, form + "_c"} {
				f := abi.FunctionByName("MPI_" + form)
				if kind == coll.KindBarrier && strings.HasSuffix(form, "_c") { // a barrier has no count
					continue
				}
				require.NotNil(t, f, form)
				_, how := have.implementation(f)
				require.Equal(t, styleC, how, form)
			}
		}
	}
	require.NotZero(t, kind)
	require.NotContains(t, have, "gompi_op_create")
	require.NotContains(t, have, "gompi_reduce_local_c")
}

// TestWrittenByHand checks that functions which the sources of capi define are not generated a second time.
func TestWrittenByHand(t *testing.T) {
	text := string(collectivesSource(implementations{"gompi_ibcast_c": styleGo, "gompi_iscatterv": styleC,
		"gompi_bcast_c": styleC}))
	for name, generated := range map[string]bool{"gompi_ibarrier": true, "gompi_ibcast_c": false,
		"gompi_ibcast": false, "gompi_bcast_init_c": true, "gompi_bcast_c": false, "gompi_iscatterv": false,
		"gompi_iscatterv_c": true, "gompi_scatterv": true, "gompi_gather": false} {
		require.Equal(t, generated, strings.Contains(text, "int "+name+"("), name)
	}
}

// TestCallbacks compares the struct and the functions of three callbacks with the expected text.
func TestCallbacks(t *testing.T) {
	root := write(t, map[string]string{
		"capi/go.go": "// gompi_name stores a name.\n//\n//gompi:callback void (int peer, char *name)\n" +
			"//export gompi_name\n//gompi:callback int (const struct gompi_recipe *x) as x->call\n" +
			"//export gompi_run\n",
		"capi/add/c.h": "// Adds.\n// gompi:callback\nbool gompi_add(int a,\n\t\tint b);\n" +
			"int gompi_other(void);\n",
	})
	files, err := callbackFiles(root)
	require.NoError(t, err)
	require.Contains(t, string(files["capi/base/z_callbacks.h"]), "{\n    // Adds.\n"+
		"    bool (*add)(int a, int b);\n"+
		"    // name stores a name.\n    void (*name)(int peer, char *name);\n"+
		"    int (*run)(const struct gompi_recipe *x);\n};\n")
	source := string(files["capi/z_callbacks.c"])
	require.Contains(t, source, "#include \"add/c.h\"\n\nstatic void name(int peer, char *name) {\n"+
		"    gompi_name(peer, (uintptr_t)name);\n}\n\nstatic int run(const struct gompi_recipe *x) {\n"+
		"    const char *outer = gompi_enter_call(x->call);\n    int rc = gompi_run((uintptr_t)x);\n"+
		"    gompi_leave_call(outer);\n    return rc < 0 ? gompi_raise_pending(rc) : rc;\n}\n")
	require.Contains(t, source, ".add = gompi_add,\n        .name = name,\n        .run = run,\n")
}

func TestStaleAndLeftOver(t *testing.T) {
	root := write(t, map[string]string{
		"capi/environment/clock.c": "double gompi_wtime(void)\ndouble gompi_wtick(void)\nMPI_Aint " +
			"gompi_aint_add(void)\nMPI_Aint gompi_aint_diff(void)\n" + fromints(),
		"capi/z_entry_gone.c": "//",
		"include/mpi.h":       string(forward()),
	})
	stale, err := generator.Stale(root)
	require.NoError(t, err)
	require.NotNil(t, stale["capi/z_entry_rma.c"])
	require.NotNil(t, stale["include/mpi_rma.h"])
	require.NotNil(t, stale["capi/coll/z_collectives.c"])
	require.NotContains(t, stale, "include/mpi.h")
	require.Contains(t, stale, "capi/z_entry_gone.c")
	require.Nil(t, stale["capi/z_entry_gone.c"], "to be removed")
}

func fromints() string {
	var b strings.Builder
	for _, f := range abi.Functions() {
		if strings.HasSuffix(f.Name, "_fromint") {
			b.WriteString(f.Returns + " " + internalName(f) + "(int)\n")
		}
	}
	return b.String()
}
