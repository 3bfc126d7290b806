/* Proves: memory of MPI_Win_allocate, MPI_Win_allocate_shared and MPI_Alloc_mem has the alignment that the info key
 *   mpi_minimum_memory_alignment requests, up to a gibibyte. This holds at every member with memory, also if members
 *   request different alignments. For contiguous shared windows it holds at the first member with memory. Without the
 *   key, the alignment fits every predefined type. If huge pages are requested, memory of 2 MiB or more is aligned to 2
 *   MiB. All ranks can write this memory to the last byte. The info of the window reports "true" or "false" for huge
 *   pages. Two allocations of MPI_Alloc_mem never overlap, and freeing an allocation twice is MPI_ERR_BASE. Memory of
 *   windows is zeroed even if the library reuses freed memory. MPI-5.0 9.2, 12.2.2, 12.2.3
 * np: 1 2 4
 * ref: none (gompirma zeroes memory and takes gompirma_huge_pages; MPICH 4.0 takes no notice of alignments)
 * args: plain alignments huge again
 * timeout: 60
 */
#include "../windows.h"

static const MPI_Aint alignments[] = {1, 16, 64, 256, 4096, 65536, 1 << 21, 1 << 30};

static MPI_Info ask(const char *key, MPI_Aint value) {
	MPI_Info info;
	char text[30];
	MPI_Info_create(&info);
	snprintf(text, sizeof text, "%lld", (long long)value);
	MPI_Info_set(info, key, value < 0 ? "true" : text);
	return info;
}

static void aligned(const void *p, MPI_Aint to, const char *what) {
	CHECK((uintptr_t)p % (uintptr_t)to == 0, "%s: %p is not aligned to %lld", what, p, (long long)to);
}

static void zeroed(const char *mem, MPI_Aint size, MPI_Aint step, const char *what) {
	for (MPI_Aint i = 0; i < size; i += step)
		if (mem[i] != 0) {
			CHECK(0, "%s: byte %lld is %d at first", what, (long long)i, mem[i]);
			break;
		}
}

/* Writes all memory of this rank (`mem`), and reads the last byte of every rank's memory through the window. */
static void touch(MPI_Win win, char *mem, MPI_Aint size, const char *what) {
	zeroed(mem, size, 511, what);
	memset(mem, check_rank + 1, (size_t)size);
	MPI_Win_fence(0, win);
	for (int r = 0; r < check_size; r++) {
		char got = 0;
		MPI_Win_fence(0, win);
		if (size > 0)
			MPI_Get(&got, 1, MPI_CHAR, r, size - 1, 1, MPI_CHAR, win);
		MPI_Win_fence(0, win);
		CHECK(size == 0 || got == r + 1, "%s: rank %d's last byte is %d", what, r, got);
	}
}

static void windows(MPI_Info info, MPI_Aint size, MPI_Aint align, const char *what) {
	char *mem;
	MPI_Win win;
	MPI_Info both;
	MPI_Win_allocate(size, 1, info, MPI_COMM_WORLD, &mem, &win);
	if (size > 0)
		aligned(mem, align, what);
	touch(win, mem, size, what);
	MPI_Win_free(&win);
	if (!windows_one_node(MPI_COMM_WORLD))
		return;
	MPI_Win_allocate_shared(size, 1, info, MPI_COMM_WORLD, &mem, &win);
	if (size > 0 && check_rank == 0)
		aligned(mem, align, what);
	touch(win, mem, size, what);
	MPI_Win_free(&win);
	if (info == MPI_INFO_NULL)
		MPI_Info_create(&both);
	else
		MPI_Info_dup(info, &both);
	MPI_Info_set(both, "alloc_shared_noncontig", "true");
	MPI_Win_allocate_shared(size, 1, both, MPI_COMM_WORLD, &mem, &win);
	if (size > 0)
		aligned(mem, align, what);
	touch(win, mem, size, what);
	MPI_Win_free(&win);
	MPI_Info_free(&both);
	for (int time = 0; time < 3; time++) {
		MPI_Alloc_mem(size, info, &mem);
		if (size > 0) {
			aligned(mem, align, what);
			if (size > 1 << 20) /* a smaller allocation may reuse freed memory, which is not zeroed */
				zeroed(mem, size, 511, what);
			memset(mem, 1, (size_t)size);
		}
		MPI_Win_create(mem, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
		if (size > 0)
			memset(mem, 0, (size_t)size);
		touch(win, mem, size, what);
		MPI_Win_free(&win);
		MPI_Free_mem(mem);
	}
}

static void again(void) {
	enum { ROUNDS = 400, LIVE = 7 };
	static const MPI_Aint sizes[] = {1, 64, 100, 1000, 4096, 5000, 70000, 1 << 20, (1 << 20) + 1};
	char *mem[LIVE] = {NULL};
	MPI_Aint size[LIVE];
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int i = 0; i < ROUNDS; i++) {
		int k = i % LIVE;
		if (mem[k] != NULL) {
			CHECK(mem[k][0] == (char)~k && mem[k][size[k] - 1] == (char)~k, "memory of two");
			CHECK_OK(MPI_Free_mem(mem[k]));
			CHECK_CLASS(MPI_Free_mem(mem[k]), MPI_ERR_BASE);
		}
		size[k] = sizes[i * 5 % 9];
		CHECK_OK(MPI_Alloc_mem(size[k], MPI_INFO_NULL, &mem[k]));
		if (i % 10 == 0) {
			char *own;
			MPI_Win win;
			CHECK_OK(MPI_Win_allocate(size[k], 1, MPI_INFO_NULL, MPI_COMM_SELF, &own, &win));
			zeroed(own, size[k], 1, "a window's");
			memset(own, k, (size_t)size[k]);
			CHECK_OK(MPI_Win_free(&win));
		}
		memset(mem[k], ~k, (size_t)size[k]);
	}
	for (int k = 0; k < LIVE; k++)
		CHECK_OK(MPI_Free_mem(mem[k]));
}

static void huge(void) {
	static const MPI_Aint sizes[] = {0, 100, (2 << 20) - 1, 2 << 20, (5 << 20) + 3};
	MPI_Info info = ask("gompirma_huge_pages", -1), used;
	for (int i = 0; i < 5; i++)
		windows(info, sizes[i], sizes[i] >= 2 << 20 ? 2 << 20 : 64, "huge pages");
	char *mem, value[10] = "";
	int flag, len = sizeof value;
	MPI_Win win;
	MPI_Win_allocate(4 << 20, 1, info, MPI_COMM_WORLD, &mem, &win);
	MPI_Win_get_info(win, &used);
	MPI_Info_get_string(used, "gompirma_huge_pages", &len, value, &flag);
	CHECK(flag && (strcmp(value, "true") == 0 || strcmp(value, "false") == 0), "gompirma_huge_pages is \"%s\"",
	      value);
	if (check_rank == 0)
		printf("huge pages: %s\n", value);
	MPI_Info_free(&used);
	MPI_Info_free(&info);
	MPI_Win_free(&win);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	if (strcmp(check_arg, "huge") == 0) {
		huge();
		return check_end();
	}
	if (strcmp(check_arg, "again") == 0) {
		again();
		return check_end();
	}
	windows(MPI_INFO_NULL, 100, _Alignof(max_align_t), "default");
	for (int i = 0; strcmp(check_arg, "alignments") == 0 && i < (int)(sizeof alignments / sizeof *alignments);
	     i++) {
		MPI_Info info = ask("mpi_minimum_memory_alignment", alignments[i]);
		windows(info, 1000, alignments[i], "alignment");
		windows(info, 0, alignments[i], "alignment");
		MPI_Info_free(&info);
		/* each member asks for a different alignment */
		MPI_Aint mine = alignments[(i + check_rank) % 7];
		char *mem;
		MPI_Win win;
		info = ask("mpi_minimum_memory_alignment", mine);
		MPI_Win_allocate(1000 + 77 * check_rank, 1, info, MPI_COMM_WORLD, &mem, &win);
		aligned(mem, mine, "own alignment");
		touch(win, mem, 1000, "own alignment");
		MPI_Win_free(&win);
		MPI_Info_free(&info);
	}
	return check_end();
}
