package gotest

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gompirma/core/abi"
	"gompirma/tests/go/harness"
)

// This file tests every function of the ABI with one invalid handle argument; all other arguments are valid. The
// invalid handles are 0, which an uninitialized variable often holds, a handle of another kind, and a number that is no
// handle. Each call must return the error class of the handle's kind. The program is generated from the table in
// core/abi, so the test covers new functions automatically.

// handleClass maps a kind of handle to two names: the error class of an invalid handle, and a handle of another kind,
// which the test passes.
var handleClass = map[string]struct{ class, other string }{
	"COMMUNICATOR": {"MPI_ERR_COMM", "MPI_INT"},
	"DATATYPE":     {"MPI_ERR_TYPE", "MPI_COMM_WORLD"},
	"ERRHANDLER":   {"MPI_ERR_ERRHANDLER", "MPI_COMM_WORLD"},
	"FILE":         {"MPI_ERR_FILE", "MPI_COMM_WORLD"},
	"GROUP":        {"MPI_ERR_GROUP", "MPI_COMM_WORLD"},
	"INFO":         {"MPI_ERR_INFO", "MPI_COMM_WORLD"},
	"MESSAGE":      {"MPI_ERR_REQUEST", "MPI_COMM_WORLD"},
	"OPERATION":    {"MPI_ERR_OP", "MPI_COMM_WORLD"},
	"REQUEST":      {"MPI_ERR_REQUEST", "MPI_COMM_WORLD"},
	"SESSION":      {"MPI_ERR_SESSION", "MPI_COMM_WORLD"},
	"WINDOW":       {"MPI_ERR_WIN", "MPI_COMM_WORLD"},
}

// notCalled lists functions that end the program, or for which the standard has no error class for a wrong handle.
var notCalled = strings.Fields("MPI_Abort MPI_Finalize MPI_Init MPI_Init_thread MPI_Pcontrol")

// rightValue returns a valid argument, as C text, for a parameter of f.
func rightValue(f *abi.Function, p *abi.Param) string {
	kind := p.Kind.Name
	name := strings.TrimSuffix(f.Name, "_c")
	array := func(element string) string { return fmt.Sprintf("(%s)%s", p.CType(), element) }
	switch kind {
	case "FUNCTION", "POLYFUNCTION", "EVENT_CB_FUNCTION", "EVENT_DROP_CB_FUNCTION", "EVENT_FREE_CB_FUNCTION":
		return fmt.Sprintf("(%s)callback", strings.TrimPrefix(p.CType(), "const "))
	case "STRING":
		if p.Dir == abi.In {
			if p.Name == "datarep" {
				return `"external32"`
			}
			return `"1"`
		}
		return "text"
	case "COMMUNICATOR":
		comm := "MPI_COMM_SELF"
		switch {
		case strings.HasPrefix(name, "MPI_Cart"):
			comm = "cart"
		case strings.HasPrefix(name, "MPI_Graph"):
			comm = "graph"
		case strings.HasPrefix(name, "MPI_Dist_graph_n"), strings.Contains(name, "eighbor"):
			comm = "dist"
		}
		if strings.Contains(name, "_create") { // only the new communicator has a topology, not the argument
			comm = "MPI_COMM_SELF"
		}
		if p.Pointer() {
			return fmt.Sprintf("comm_at(%s)", comm)
		}
		return comm
	case "DATATYPE":
		right := "MPI_INT"
		if strings.HasPrefix(name, "MPI_Type_get_contents") {
			right = "vector"
		}
		if p.Pointer() {
			return "type_at(" + right + ")"
		}
		return right
	case "ERRHANDLER":
		if p.Pointer() {
			return "errhandler_at(MPI_ERRORS_RETURN)"
		}
		return "MPI_ERRORS_RETURN"
	case "FILE":
		if p.Pointer() {
			return "file_at(file)"
		}
		return "file"
	case "ACCESS_MODE":
		return "MPI_MODE_RDWR | MPI_MODE_CREATE"
	case "SESSION":
		if p.Pointer() {
			return "session_at(session)"
		}
		return "session"
	case "GROUP":
		if p.Pointer() {
			return "group_at(MPI_GROUP_EMPTY)"
		}
		return "MPI_GROUP_EMPTY"
	case "INFO":
		if p.Pointer() {
			return "info_at(MPI_INFO_NULL)"
		}
		if strings.HasPrefix(name, "MPI_Info_") {
			return "info"
		}
		return "MPI_INFO_NULL"
	case "MESSAGE":
		if p.Pointer() {
			return "message_at(MPI_MESSAGE_NO_PROC)"
		}
		return "MPI_MESSAGE_NO_PROC"
	case "OPERATION":
		if p.Pointer() {
			return "op_at(MPI_SUM)"
		}
		return "MPI_SUM"
	case "REQUEST":
		if p.Pointer() {
			return "request_at(MPI_REQUEST_NULL)"
		}
		return "MPI_REQUEST_NULL"
	case "WINDOW":
		if p.Pointer() {
			return "win_at(win)"
		}
		return "win"
	case "LOCK_TYPE":
		return "MPI_LOCK_SHARED"
	case "ASSERT", "RANK", "RANK_NNI", "INDEX", "TAG", "ERROR_CODE", "ERROR_CLASS":
		if !p.Pointer() {
			return "0"
		}
	case "SPLIT_TYPE":
		return "MPI_COMM_TYPE_SHARED"
	case "KEYVAL":
		if !p.Pointer() {
			switch {
			case strings.HasPrefix(name, "MPI_Type"):
				return "type_key"
			case strings.HasPrefix(name, "MPI_Win"):
				return "win_key"
			}
			return "comm_key"
		}
	}
	if p.Pointer() {
		if p.Dir == abi.In && !strings.Contains(kind, "BUFFER") && p.Kind.Fortran != "choice" {
			switch {
			case kind == "STATUS":
				return array("&status")
			case kind == "RANK" || kind == "RANK_NNI" || strings.Contains(kind, "DISPLACEMENT"):
				return array("zeros")
			}
			if strings.Contains(p.CType(), "MPI_Aint") || strings.Contains(p.CType(), "MPI_Count") {
				return array("large_ones")
			}
			return array("ones")
		}
		if p.Dir == abi.InOut && p.Kind.Fortran != "choice" {
			return array("zeros")
		}
		if strings.HasPrefix(p.Name, "recv") || strings.Contains(p.Name, "out") {
			return array("scratch2")
		}
		return array("scratch")
	}
	return fmt.Sprintf("(%s)1", p.CType())
}

// wrongCalls returns the C statements that call one function with invalid handles.
func wrongCalls(f *abi.Function) (list []string) {
	params := f.CParams()
	for i, p := range params {
		kind, ok := handleClass[p.Kind.Name]
		if !ok || p.Dir == abi.Out {
			continue
		}
		for _, value := range []string{"0", kind.other, "0x5a5a5a5a5a5a5a5a"} {
			var args []string
			for j, q := range params {
				arg := rightValue(f, q)
				if i == j {
					arg = fmt.Sprintf("(%s)%s", p.Kind.C, value)
					if p.Pointer() {
						arg = fmt.Sprintf("%s_at(%s)", map[string]string{"COMMUNICATOR": "comm",
							"DATATYPE": "type", "ERRHANDLER": "errhandler", "FILE": "file",
							"GROUP": "group",
							"INFO":  "info", "MESSAGE": "message", "OPERATION": "op",
							"REQUEST": "request", "SESSION": "session",
							"WINDOW": "win"}[p.Kind.Name], arg)
					}
				}
				args = append(args, arg)
			}
			list = append(list, fmt.Sprintf("TRY(%s, %q, %s(%s));", kind.class,
				fmt.Sprintf("%s with %s %s", f.Name, value, p.Name), f.Name, strings.Join(args, ", ")))
		}
	}
	return
}

func wrongHandlesSource(functions []*abi.Function) string {
	var b strings.Builder
	b.WriteString(`#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *now = "";
static int wrong, unsupported;

static void died(int number)
{
    (void)number;
    if (write(2, now, strlen(now)) > 0 && write(2, ": died\n", 7) > 0)
        _exit(3);
}

static void judge(int code, int want)
{
    int class = MPI_SUCCESS;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Error_class(code, &class);
    unsupported += class == MPI_ERR_UNSUPPORTED_OPERATION;
    if (class == want || class == MPI_ERR_UNSUPPORTED_OPERATION)
        return;
    int length;
    strcpy(text, "no error");
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, text, &length);
    fprintf(stderr, "%s: class %d, not %d: %s\n", now, class, want, text);
    wrong++;
}
#define TRY(class, what, call) (now = what, judge(call, class))

static long large_ones[4096], zeros[4096], scratch[4096], scratch2[4096];
static int ones[4096];
static char text[65536];
static MPI_Status status;
static MPI_Comm cart, graph, dist;
static MPI_Datatype vector;
static MPI_Info info;
static MPI_Win win;
static MPI_File file;
static MPI_Session session;
static int comm_key, type_key, win_key;

static void callback(void) {}

`)
	for _, k := range []struct{ name, c string }{{"comm", "MPI_Comm"}, {"type", "MPI_Datatype"},
		{"errhandler", "MPI_Errhandler"}, {"file", "MPI_File"}, {"group", "MPI_Group"},
		{"info", "MPI_Info"}, {"message", "MPI_Message"}, {"op", "MPI_Op"}, {"request", "MPI_Request"},
		{"session", "MPI_Session"}, {"win", "MPI_Win"}} {
		fmt.Fprintf(&b, `static %[2]s *%[1]s_at(%[2]s value)
{
    static %[2]s list[2][8];
    static int side;
    side = !side; /* a call may have two of them */
    for (int i = 0; i < 8; i++)
        list[side][i] = value;
    return list[side];
}
`, k.name, k.c)
	}
	b.WriteString(`
int main(int argc, char **argv)
{
    int one = 1, zero = 0;
    void *memory;
    signal(SIGSEGV, died);
    signal(SIGBUS, died);
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Cart_create(MPI_COMM_SELF, 1, &one, &zero, 0, &cart);
    MPI_Graph_create(MPI_COMM_SELF, 1, &one, &zero, 0, &graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &zero, MPI_UNWEIGHTED, 1, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist);
    MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_Info_create(&info);
    MPI_Info_set(info, "1", "1");
    MPI_Win_allocate(4096, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    /* What was there and is freed must not be found either: the tables of handles are not empty. */
    for (int i = 0; i < 3; i++) {
        MPI_Win w;
        MPI_Comm c;
        MPI_Datatype t;
        MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, &w);
        MPI_Win_free(&w);
        MPI_Comm_dup(MPI_COMM_SELF, &c);
        MPI_Comm_free(&c);
        MPI_Type_contiguous(2, MPI_INT, &t);
        MPI_Type_commit(&t);
        MPI_Type_free(&t);
    }
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL);
    for (int i = 0; i < 4096; i++)
        ones[i] = 1, large_ones[i] = 1;
`)
	n := 0
	for _, f := range functions {
		for _, s := range wrongCalls(f) {
			fmt.Fprintf(&b, "    %s\n", s)
			n++
		}
	}
	fmt.Fprintf(&b, `    now = "the end";
    printf("%%d wrong, %%d unsupported, of %d calls\n", wrong, unsupported);
    MPI_Win_free(&win);
    MPI_File_close(&file);
    MPI_Session_finalize(&session);
    MPI_Finalize();
    return wrong != 0;
}
`, n)
	return b.String()
}

func TestWrongHandles(t *testing.T) {
	var functions []*abi.Function
	for _, f := range abi.Functions() {
		if f.Returns == "int" && !slices.Contains(notCalled, f.Name) && !strings.HasPrefix(f.Name, "MPI_T_") &&
			!strings.HasSuffix(f.Name, "_toint") {
			functions = append(functions, f)
		}
	}
	program := compile(t, wrongHandlesSource(functions), "-O0", "-w")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out := harness.Output(t, exec.CommandContext(ctx, filepath.Join(built(t), "bin", "gompirun"), "-n", "1",
		program, filepath.Join(t.TempDir(), "file")))
	t.Logf("%s", out)
}
