/*
 * Simulates another MPI's libmpi_abi.so.1 with the functions that the test programs need: the standard ABI on top of
 * Debian's MPICH, whose own ABI differs. It has no Fortran types of its own; it prints the Fortran values that it
 * receives. At the end it prints whether gompirma is loaded in the process.
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD = 0x44000000, NO_INFO = 0x1c000000, LONG = 0x4c000807, INTEGER = 0x4c00041b, SUM = 0x58000003 };

#define ALSO_AS_MPI(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)));

static void *function(const char *name) {
	void *mpich = dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	void *f = mpich != NULL ? dlsym(mpich, name) : NULL;

	if (f == NULL) {
		fprintf(stderr, "MPICH: %s\n", dlerror());
		exit(3);
	}
	return f;
}
#define OTHER(name, ...) ((int (*)(__VA_ARGS__))function("PMPI_" #name))

static int number(MPI_Datatype type) {
	if (type != MPI_LONG && type != MPI_INTEGER) {
		fprintf(stderr, "no such datatype here: %p\n", (void *)type);
		exit(3);
	}
	return type == MPI_LONG ? LONG : INTEGER;
}

int PMPI_Init(int *argc, char ***argv) { return OTHER(Init, int *, char ***)(argc, argv); }
ALSO_AS_MPI(MPI_Init)

int PMPI_Finalize(void) {
	char line[1000];
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof line, maps) != NULL)
		if (strstr(line, "libgompirma.so") != NULL)
			printf("gompirma is here: %s", line);
	fclose(maps);
	return OTHER(Finalize, void)();
}
ALSO_AS_MPI(MPI_Finalize)

int PMPI_Comm_rank(MPI_Comm comm, int *rank) {
	return comm == MPI_COMM_WORLD ? OTHER(Comm_rank, int, int *)(WORLD, rank) : MPI_ERR_COMM;
}
ALSO_AS_MPI(MPI_Comm_rank)

int PMPI_Comm_size(MPI_Comm comm, int *size) {
	return comm == MPI_COMM_WORLD ? OTHER(Comm_size, int, int *)(WORLD, size) : MPI_ERR_COMM;
}
ALSO_AS_MPI(MPI_Comm_size)

int PMPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
	if (op != MPI_SUM || comm != MPI_COMM_WORLD)
		return MPI_ERR_OTHER;
	return OTHER(Allreduce, const void *, void *, int, int, int, int)(in, out, count, number(type), SUM, WORLD);
}
ALSO_AS_MPI(MPI_Allreduce)

int PMPI_Allreduce_c(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
	return PMPI_Allreduce(in, out, (int)count, type, op, comm);
}
ALSO_AS_MPI(MPI_Allreduce_c)

int PMPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win) {
	int w, rc;

	if (info != MPI_INFO_NULL || comm != MPI_COMM_WORLD)
		return MPI_ERR_OTHER;
	rc = OTHER(Win_allocate, MPI_Aint, int, int, int, void *, int *)(size, unit, NO_INFO, WORLD, base, &w);
	*win = (MPI_Win)(intptr_t)w;
	return rc;
}
ALSO_AS_MPI(MPI_Win_allocate)

int PMPI_Win_fence(int assert, MPI_Win win) { return OTHER(Win_fence, int, int)(assert, (int)(intptr_t)win); }
ALSO_AS_MPI(MPI_Win_fence)

int PMPI_Put(const void *origin, int n, MPI_Datatype type, int rank, MPI_Aint disp, int m, MPI_Datatype there,
	     MPI_Win win) {
	return OTHER(Put, const void *, int, int, int, MPI_Aint, int, int, int)(origin, n, number(type), rank, disp, m,
										number(there), (int)(intptr_t)win);
}
ALSO_AS_MPI(MPI_Put)

int PMPI_Win_free(MPI_Win *win) {
	int w = (int)(intptr_t)*win;
	*win = MPI_WIN_NULL;
	return OTHER(Win_free, int *)(&w);
}
ALSO_AS_MPI(MPI_Win_free)

/* Functions for Fortran's sizes, and for the info object with which inform.c reports them. The handle of every new info
 * object is 5000. There are no sizes yet, so the first function returns no info object. */
int PMPI_Abi_get_fortran_info(MPI_Info *info) {
	*info = MPI_INFO_NULL;
	return MPI_SUCCESS;
}
int PMPI_Info_create(MPI_Info *info) {
	*info = (MPI_Info)5000;
	return MPI_SUCCESS;
}
int PMPI_Info_free(MPI_Info *info) {
	*info = MPI_INFO_NULL;
	return MPI_SUCCESS;
}
int PMPI_Info_set(MPI_Info info, const char *key, const char *value) {
	return printf("told: %s %s %d\n", key, value, (int)(intptr_t)info) < 0;
}
int PMPI_Abi_set_fortran_info(MPI_Info info) { return printf("told all: %d\n", (int)(intptr_t)info) < 0; }
int PMPI_Abi_get_fortran_booleans(int size, void *yes, void *no, int *set) {
	(void)size, (void)yes, (void)no;
	*set = 0;
	return MPI_SUCCESS;
}
int PMPI_Abi_set_fortran_booleans(int size, void *yes, void *no) {
	return printf("told: booleans %d %d %d\n", size, *(int *)yes, *(int *)no) < 0;
}
