/* Functions for tests of the info key gompirma_share_in_place. With this key the library shares ordinary memory of the
 * program, such as that of malloc, with other processes. The memory keeps its address. A library that does not know the
 * key creates a normal window, and in_place_told() returns NULL. Then the tests check only what the standard
 * guarantees. */
#ifndef IN_PLACE_H
#define IN_PLACE_H

#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

/* Creates a window. `how` is the value of the info key: "true", "false" or "require". Returns the error code. */
static inline int in_place_try(void *base, MPI_Aint size, int unit, const char *how, MPI_Comm comm, MPI_Win *win) {
	MPI_Info info;
	MPI_Info_create(&info);
	MPI_Info_set(info, "gompirma_share_in_place", how);
	int rc = MPI_Win_create(base, size, unit, info, comm, win);
	MPI_Info_free(&info);
	return rc;
}

static inline MPI_Win in_place_window(void *base, MPI_Aint size, int unit) {
	MPI_Win win;
	CHECK_OK(in_place_try(base, size, unit, "true", MPI_COMM_WORLD, &win));
	return win;
}

/* Returns the library's report about the window's memory: "true", "true: bytes ...", or "false: " and the reason.
 * Returns NULL if the library does not know the key. */
static inline const char *in_place_told(MPI_Win win) {
	static char value[1025];
	MPI_Info info;
	int found;
	MPI_Win_get_info(win, &info);
	MPI_Info_get(info, "gompirma_shared_in_place", sizeof value - 1, value, &found);
	MPI_Info_free(&info);
	return found ? value : NULL;
}

#define CHECK_SHARED(win, wanted) in_place_check(__FILE__, __LINE__, win, wanted)

/* Checks that the library's report about the window begins with `wanted`, if the library knows the key. */
static inline void in_place_check(const char *file, int line, MPI_Win win, const char *wanted) {
	const char *told = in_place_told(win);
	if (told != NULL && strncmp(told, wanted, strlen(wanted)) != 0)
		check_fail(file, line, "gompirma_shared_in_place is '%s', not '%s'", told, wanted);
}

/* Returns the mode ("rw-p", "rw-s") of this process's memory mapping that contains the address, or "" if the address is
 * not mapped. Stores the number of all mappings to *mappings, and the inode of the mapped file to *file (0 if there is
 * no file). */
static inline const char *in_place_mapping(const void *address, int *mappings, unsigned long *file) {
	static char mode[8];
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");
	*mode = 0;
	*file = 0;
	*mappings = 0;
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		unsigned long lo, hi, inode;
		char m[8];
		++*mappings;
		if (sscanf(line, "%lx-%lx %7s %*x %*s %lu", &lo, &hi, m, &inode) == 4 && lo <= (unsigned long)address &&
		    (unsigned long)address < hi) {
			strcpy(mode, m);
			*file = inode;
		}
	}
	if (f != NULL)
		fclose(f);
	return mode;
}

static inline const char *in_place_mode(const void *address, int *mappings) {
	int number;
	unsigned long file;
	return in_place_mapping(address, mappings != NULL ? mappings : &number, &file);
}

static inline unsigned long in_place_file(const void *address) {
	int number;
	unsigned long file;
	in_place_mapping(address, &number, &file);
	return file;
}

static inline unsigned char in_place_byte(int rank, size_t i, int round) {
	return (unsigned char)(rank * 31 + i * 7 + i / 251 + round * 13 + 1);
}

static inline void in_place_fill(unsigned char *mem, size_t size, int rank, int round) {
	for (size_t i = 0; i < size; i++)
		mem[i] = in_place_byte(rank, i, round);
}

#define CHECK_FILLED(mem, size, rank, round, what) \
	in_place_check_filled(__FILE__, __LINE__, mem, size, rank, round, what)

static inline void in_place_check_filled(const char *file, int line, const unsigned char *mem, size_t size, int rank,
					 int round, const char *what) {
	for (size_t i = 0; i < size; i++)
		if (mem[i] != in_place_byte(rank, i, round)) {
			check_fail(file, line, "%s: byte %zu of %zu is %d, not %d", what, i, size, mem[i],
				   in_place_byte(rank, i, round));
			return;
		}
}

#endif
