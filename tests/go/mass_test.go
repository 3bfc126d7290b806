package gotest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests programs that have very many objects at the same time. Each object must take little memory, and the
// memory must return to the system after the objects are freed.

// mass is a program that creates many objects of a kind and frees them. It prints the bytes of memory for each object,
// and the bytes that remain in use after all objects are freed.
const mass = `
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long resident(void)
{
    long size, pages;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld", &size, &pages) != 2)
        abort();
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}
static void **object;
static char *data;
static int n;
static void request(MPI_Request *r, int i) { MPI_Irecv(data + i, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, r); }
static void send(MPI_Request *r, int i) { MPI_Isend(data + i, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, r); }
static void persistent(MPI_Request *r, int i) { MPI_Recv_init(data + i, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, r); }
static void collective(MPI_Request *r, int i) { (void)i; MPI_Ibarrier(MPI_COMM_SELF, r); }
static void vector(MPI_Datatype *t, int i) { (void)i; MPI_Type_vector(5, 1, 3, MPI_DOUBLE, t); MPI_Type_commit(t); }
static void structure(MPI_Datatype *t, int i)
{
    int lengths[3] = {1, 2, 1};
    MPI_Aint at[3] = {0, 8, 24 + i % 2};
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_CHAR};
    MPI_Type_create_struct(3, lengths, at, types, t);
    MPI_Type_commit(t);
}
static void group(MPI_Group *g, int i)
{
    MPI_Group world;
    int none = 0;
    (void)i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &none, g);
    MPI_Group_free(&world);
}
static void info(MPI_Info *x, int i) { (void)i; MPI_Info_create(x); MPI_Info_set(*x, "key", "value"); }
static void operation(void *in, void *inout, int *len, MPI_Datatype *type) { (void)in, (void)inout, (void)len, (void)type; }
static void op(MPI_Op *o, int i) { MPI_Op_create(operation, i & 1, o); }
static void handled(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }
static void errhandler(MPI_Errhandler *e, int i) { (void)i; MPI_Comm_create_errhandler(handled, e); }
static void keyval(int *k, int i) { (void)i; MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, k, NULL); }
static void communicator(MPI_Comm *c, int i) { (void)i; MPI_Comm_dup(MPI_COMM_SELF, c); }
static void window(MPI_Win *w, int i) { MPI_Win_create(data + i, 1, 1, MPI_INFO_NULL, MPI_COMM_SELF, w); }
static void cancel(MPI_Request *r) { MPI_Cancel(r); MPI_Wait(r, MPI_STATUS_IGNORE); }
static void receive(MPI_Request *r)
{
    char c;
    MPI_Recv(&c, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(r, MPI_STATUS_IGNORE);
}
static void await(MPI_Request *r) { MPI_Wait(r, MPI_STATUS_IGNORE); }
#define KIND(name, type, make, drop) \
    if (strcmp(kind, name) == 0) { \
        for (int i = 0; i < n; i++) \
            make((type *)(void *)(object + i), i); \
        most = resident(); \
        for (int i = 0; i < n; i++) \
            drop((type *)(void *)(object + i)); \
    }
int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const char *kind = argv[1];
    long left = 0, bound = atol(argv[3]);
    n = atoi(argv[2]);
    object = malloc(n * sizeof *object);
    memset(object, 1, n * sizeof *object);
    data = malloc(n);
    memset(data, 1, n);
    MPI_Init(&argc, &argv);
    long before = resident(), most = 0;
    KIND("requests", MPI_Request, request, cancel)
    KIND("messages", MPI_Request, send, receive)
    KIND("persistent requests", MPI_Request, persistent, MPI_Request_free)
    KIND("collectives", MPI_Request, collective, await)
    KIND("vectors", MPI_Datatype, vector, MPI_Type_free)
    KIND("structs", MPI_Datatype, structure, MPI_Type_free)
    KIND("groups", MPI_Group, group, MPI_Group_free)
    KIND("infos", MPI_Info, info, MPI_Info_free)
    KIND("operations", MPI_Op, op, MPI_Op_free)
    KIND("error handlers", MPI_Errhandler, errhandler, MPI_Errhandler_free)
    KIND("keyvals", int, keyval, MPI_Comm_free_keyval)
    KIND("communicators", MPI_Comm, communicator, MPI_Comm_free)
    KIND("windows", MPI_Win, window, MPI_Win_free)
    for (int i = 0; i < 600; i++) { // the library returns memory later: wait up to a minute
        left = resident() - before;
        if (left <= bound)
            break;
        usleep(100000);
    }
    printf("%ld %ld\n", (most - before) / n, left);
    MPI_Finalize();
    return 0;
}
`

// TestBytesPerObject checks that the memory of each object is below an upper bound, which is a little larger than the
// memory that a reference MPI needs. After all objects are freed, at most a sixth of the memory may remain, plus a
// constant for each process.
func TestBytesPerObject(t *testing.T) {
	const something = 8 << 20
	program := compile(t, mass)
	for _, c := range []struct {
		kind    string
		n, most int
	}{
		{"requests", 1000000, 400}, {"messages", 1000000, 350}, {"persistent requests", 1000000, 400},
		{"collectives", 100000, 1000},
		{"vectors", 200000, 730}, {"structs", 200000, 860}, {"groups", 200000, 240}, {"infos", 200000, 240},
		{"operations", 200000, 180},
		{"error handlers", 200000, 180}, {"keyvals", 200000, 180}, {"communicators", 20000, 1200},
		{"windows", 20000, 7000},
	} {
		t.Run(c.kind, func(t *testing.T) {
			l := prepareProgram(t, program, c.kind, fmt.Sprint(c.n), fmt.Sprint(something+c.n*c.most/6))
			require.Zero(t, l.run(t), l.Err.String())
			var each, left int
			_, err := fmt.Sscan(strings.TrimSpace(l.Out.String()), &each, &left)
			require.NoError(t, err, l.Out.String())
			t.Logf("%d bytes for each object, %d of %d MiB remain", each, left>>20, c.n*each>>20)
			require.LessOrEqual(t, each, c.most, "bytes for each of %d objects", c.n)
			require.LessOrEqual(t, left, something+c.n*c.most/6, "remaining bytes of %d", c.n*each)
		})
	}
}
