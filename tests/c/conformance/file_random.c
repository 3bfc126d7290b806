/* Runs random sequences of file functions and compares every result with a model: an array of bytes, and for each rank
 * a view and a file pointer. The sequences set views, write, read, move pointers, change the size, and open the file
 * again. They use blocking, nonblocking and split collective calls, all kinds of file pointers, and random hints for
 * collective writes. The environment variable FILE_SEED selects one sequence, and FILE_SEEDS the number of sequences.
 * MPI-5.0 14.
 *
 * np: 1 3 4
 * nodes: 2
 * timeout: 120
 * ref: mpich
 */
#include "../files.h"

enum {
	WORD = 4, /* all sizes and offsets are multiples of this many bytes */
	MAX_WORDS = 1 << 14,
	MAX_SEGMENTS = 24, /* limit of segments in a tile */
	MAX_COUNT = 700,   /* limit of words in an access */
	MAX_RANKS = 8,
	STEPS = 40,
};

/* The views of all ranks repeat one tile, which consists of segments in ascending order. At most one rank sees each
 * segment, unless is_common is set. */
static struct {
	int segments, owner[MAX_SEGMENTS], words[MAX_SEGMENTS];
	int tile_words, disp_words;
	int is_common; /* if true, all ranks see only the segments of owner 0 */
	int is_big_endian, etype_words;
} view;

static uint32_t model[MAX_WORDS], content[MAX_WORDS];
static char is_written[MAX_WORDS];
static long file_words;                  /* size of the file */
static long pointers[MAX_RANKS], shared; /* positions of the file pointers in etypes */
static uint64_t state;                   /* state of the random numbers, the same at all ranks */
static int amode, step, is_sequence_ok;
static uint64_t seed;
static MPI_File file;

static int draw(int n) { return (int)(check_random(&state) % (uint64_t)n); }

static void wrong(const char *what, long found, long expected) {
	if (is_sequence_ok)
		CHECK(0, "FILE_SEED=%llu step %d: %s is %ld, not %ld", (unsigned long long)seed, step, what, found,
		      expected);
	is_sequence_ok = 0;
}

/* Returns whether a word of the file differs from the model. In gompirma words that no access has written are 0. The
 * standard does not require this, and MPICH stores other values. */
static int differs(long at, uint32_t word, uint32_t expected) {
#ifdef MPICH_VERSION
	return is_written[at] && word != expected;
#else
	(void)at;
	return word != expected;
#endif
}

static int owner_seen_by(int rank) { return view.is_common ? 0 : rank; }

/* Returns the number of words of a tile that the rank sees. */
static int visible(int rank) {
	int n = 0;
	for (int s = 0; s < view.segments; s++)
		n += view.owner[s] == owner_seen_by(rank) ? view.words[s] : 0;
	return n;
}

/* Returns the index in the file of word number `position` among the words that the rank sees. */
static long word_at(int rank, long position) {
	int n = visible(rank), left = (int)(position % n);
	long at = view.disp_words + position / n * view.tile_words;
	for (int s = 0;; at += view.words[s++]) {
		if (view.owner[s] != owner_seen_by(rank))
			continue;
		if (left < view.words[s])
			return at + left;
		left -= view.words[s];
	}
}

static uint32_t swapped(uint32_t x) { return view.is_big_endian ? __builtin_bswap32(x) : x; }

/* Sets a random view, with the same tile at all ranks. Every rank sees at least one segment. */
static void set_view(void) {
	static const int etypes[] = {1, 1, 2, 3};
	int lengths[MAX_SEGMENTS], count = 0, at = 0;
	MPI_Aint displacements[MAX_SEGMENTS];
	MPI_Datatype etype = MPI_INT, filetype, blocks;
	view.etype_words = etypes[draw(4)];
	view.is_common = draw(3) == 0;
	view.is_big_endian = draw(4) == 0;
#ifdef MPICH_VERSION /* MPICH has no external32 */
	view.is_big_endian = 0;
#endif
	view.disp_words = draw(3) == 0 ? draw(200) : 0;
	view.tile_words = 0;
	view.segments = check_size + draw(MAX_SEGMENTS - check_size);
	for (int s = 0; s < view.segments; s++) {
		view.owner[s] = s < check_size ? s : draw(check_size + 1);
		view.words[s] = view.etype_words * (1 + draw(draw(4) == 0 ? 40 : 5));
	}
	int is_regular = draw(3) == 0, length = view.words[0]; /* if true: segments of one length, owners alternate */
	view.segments -= is_regular ? view.segments % check_size : 0;
	for (int s = 0; s < view.segments && is_regular; s++)
		view.owner[s] = s % check_size, view.words[s] = length;
	for (int s = 0; s < view.segments && !is_regular; s++) { /* shuffle the segments */
		int other = draw(view.segments), owner = view.owner[s], words = view.words[s];
		view.owner[s] = view.owner[other], view.words[s] = view.words[other];
		view.owner[other] = owner, view.words[other] = words;
	}
	for (int s = 0; s < view.segments; s++) {
		if (view.owner[s] == owner_seen_by(check_rank)) {
			lengths[count] = view.words[s] / view.etype_words;
			displacements[count++] = (MPI_Aint)at * WORD;
		}
		at += view.words[s];
	}
	view.tile_words = at;
	if (view.etype_words > 1) {
		MPI_Type_contiguous(view.etype_words, MPI_INT, &etype);
		MPI_Type_commit(&etype);
	}
	if (is_regular) {
		MPI_Datatype vector;
		MPI_Type_create_hvector(count, lengths[0], (MPI_Aint)length * check_size * WORD, etype, &vector);
		MPI_Type_create_hindexed_block(1, 1, displacements, vector, &blocks);
		MPI_Type_free(&vector);
	} else {
		MPI_Type_create_hindexed(count, lengths, displacements, etype, &blocks);
	}
	MPI_Type_create_resized(blocks, 0, (MPI_Aint)view.tile_words * WORD, &filetype);
	MPI_Type_commit(&filetype);
	CHECK_OK(MPI_File_set_view(file, (MPI_Offset)view.disp_words * WORD, etype, filetype,
				   view.is_big_endian ? "external32"
				   : draw(2)          ? "native"
						      : "internal",
				   MPI_INFO_NULL));
	MPI_Type_free(&blocks), MPI_Type_free(&filetype);
	if (etype != MPI_INT)
		MPI_Type_free(&etype);
	for (int r = 0; r < check_size; r++)
		pointers[r] = 0;
	shared = 0;
}

/* Returns a random number of etypes for an access of the rank that begins at etype number `first`. The access ends
 * inside the model. */
static long draw_count(int rank, long first) {
	long etypes = draw(5) == 0 ? 0 : draw(MAX_COUNT) / view.etype_words;
	while (etypes > 0 && word_at(rank, (first + etypes) * view.etype_words) >= MAX_WORDS)
		etypes /= 2;
	return etypes;
}

enum pointer { EXPLICIT, INDIVIDUAL, SHARED };
enum blocking { BLOCKING, NONBLOCKING, SPLIT };

/* Calls the function that an access needs. */
static void call(int writes, enum pointer pointer, int collective, enum blocking blocking, MPI_Offset at, void *data,
		 int n, MPI_Datatype type, MPI_Status *status) {
	MPI_Request request = MPI_REQUEST_NULL;
	int rc;
#define EITHER(suffix, ...) \
	(writes ? MPI_File_write##suffix(file, __VA_ARGS__) : MPI_File_read##suffix(file, __VA_ARGS__))
#define STARTED(suffix, ...) \
	(writes ? MPI_File_iwrite##suffix(file, __VA_ARGS__) : MPI_File_iread##suffix(file, __VA_ARGS__))
	if (blocking == SPLIT) {
		if (pointer == EXPLICIT) {
			CHECK_OK(EITHER(_at_all_begin, at, data, n, type));
			rc = EITHER(_at_all_end, data, status);
		} else if (pointer == INDIVIDUAL) {
			CHECK_OK(EITHER(_all_begin, data, n, type));
			rc = EITHER(_all_end, data, status);
		} else {
			CHECK_OK(EITHER(_ordered_begin, data, n, type));
			rc = EITHER(_ordered_end, data, status);
		}
	} else if (blocking == NONBLOCKING) {
		if (pointer == EXPLICIT)
			rc = collective ? STARTED(_at_all, at, data, n, type, &request)
					: STARTED(_at, at, data, n, type, &request);
		else if (pointer == INDIVIDUAL)
			rc = collective ? STARTED(_all, data, n, type, &request) : STARTED(, data, n, type, &request);
		else
			rc = STARTED(_shared, data, n, type, &request);
		CHECK_OK(rc);
		rc = MPI_Wait(&request, status);
	} else {
		if (pointer == EXPLICIT)
			rc = collective ? EITHER(_at_all, at, data, n, type, status)
					: EITHER(_at, at, data, n, type, status);
		else if (pointer == INDIVIDUAL)
			rc = collective ? EITHER(_all, data, n, type, status) : EITHER(, data, n, type, status);
		else
			rc = collective ? EITHER(_ordered, data, n, type, status)
					: EITHER(_shared, data, n, type, status);
	}
	CHECK_OK(rc);
}

/* Makes one access at each rank, or at one rank, and compares it with the model. */
static void access_file(void) {
	enum pointer pointer = (enum pointer)draw(view.is_common ? 3 : 2);
	enum blocking blocking = (enum blocking)draw(3);
	int collective = blocking == SPLIT || draw(2), writes = draw(2), strided = draw(2), only = draw(check_size);
	if (pointer == SHARED && blocking == NONBLOCKING)
		collective = 0; /* nonblocking ordered accesses do not exist */
	long first[MAX_RANKS], etypes[MAX_RANKS];
	for (int r = 0; r < check_size; r++) {
		/* In a common view, accesses of several ranks would conflict. So only one rank takes part, except in
		 * ordered accesses, in which the ranks access the file one after another. */
		int takes_part = pointer == SHARED && collective ? 1 : view.is_common ? r == only : 1;
		first[r] = pointer == EXPLICIT ? draw(300) : pointer == INDIVIDUAL ? pointers[r] : shared;
		if (word_at(r, first[r] * view.etype_words) >= MAX_WORDS)
			first[r] = pointer == EXPLICIT ? 0 : first[r];
		etypes[r] = takes_part ? draw_count(r, first[r]) : 0;
		if (pointer == INDIVIDUAL)
			pointers[r] += etypes[r];
		else if (pointer == SHARED)
			shared += etypes[r];
	}
	int words = (int)etypes[check_rank] * view.etype_words, stride = strided ? 3 : 1;
	int *data = malloc(sizeof(int) * ((size_t)words * (size_t)stride + 1));
	MPI_Datatype type = MPI_INT;
	if (strided && words > 0) {
		MPI_Type_create_resized(MPI_INT, 0, 3 * WORD, &type);
		MPI_Type_commit(&type);
	}
	for (int i = 0; i < words * stride; i++)
		data[i] = writes ? step << 20 ^ check_rank << 16 ^ i / stride : -1;
	int mine = view.is_common && !(pointer == SHARED && collective) ? check_rank == only : 1;
	MPI_Status status;
	if (collective || mine)
		call(writes, pointer, collective, blocking, first[check_rank], data, words, type, &status);
	if (writes) {
		for (int r = 0; r < check_size; r++)
			for (long i = 0; i < etypes[r] * view.etype_words; i++) {
				long at = word_at(r, first[r] * view.etype_words + i);
				model[at] = swapped((uint32_t)(step << 20 ^ r << 16 ^ (int)i));
				is_written[at] = 1;
				file_words = at >= file_words ? at + 1 : file_words;
			}
	}
	if (collective || mine) {
		int done = -1, expected = words;
		MPI_Get_elements(&status, type, &done);
		for (int i = 0; i < words && !writes; i++) {
			long at = word_at(check_rank, first[check_rank] * view.etype_words + i);
			if (at >= file_words) {
				expected = i;
				break;
			}
			if (differs(at, (uint32_t)data[i * stride], swapped(model[at])))
				wrong("a word that was read", data[i * stride], (int)swapped(model[at]));
		}
#ifdef MPICH_VERSION
		/* At the end of the file, MPICH counts too many elements in strided reads, and moves the pointer too
		 * little in other reads. So the test accepts any count there and sets the pointer itself. */
		expected = expected < words ? done : words;
		if (pointer == INDIVIDUAL)
			MPI_File_seek(file, pointers[check_rank], MPI_SEEK_SET);
#endif
		if (done != expected)
			wrong("the number of elements", done, expected);
		for (int i = 0; i < words && !writes && strided; i++)
			if (data[i * stride + 1] != -1 || data[i * stride + 2] != -1)
				wrong("a word between the elements in memory", data[i * stride + 1], -1);
	}
	if (type != MPI_INT)
		MPI_Type_free(&type);
	free(data);
	CHECK_OK(MPI_File_sync(file));
	MPI_Barrier(MPI_COMM_WORLD);
}

static void move_pointers(void) {
	MPI_Offset found = -1;
	for (int r = 0; r < check_size; r++) {
		int whence = draw(2), by = draw(200);
		long to = whence == 0 ? by : pointers[r] - pointers[r] / 2;
		if (r == check_rank)
			CHECK_OK(whence == 0 ? MPI_File_seek(file, by, MPI_SEEK_SET)
					     : MPI_File_seek(file, -(pointers[r] / 2), MPI_SEEK_CUR));
		pointers[r] = to;
	}
	CHECK_OK(MPI_File_get_position(file, &found));
	if (found != pointers[check_rank])
		wrong("the position", (long)found, pointers[check_rank]);
	if (view.is_common) {
		shared = draw(200);
		CHECK_OK(MPI_File_seek_shared(file, shared, MPI_SEEK_SET));
		CHECK_OK(MPI_File_get_position_shared(file, &found));
		if (found != shared)
			wrong("the shared position", (long)found, shared);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void change_size(void) {
	long words = draw(MAX_WORDS / 2);
	if (draw(2)) {
		CHECK_OK(MPI_File_set_size(file, words * WORD));
		for (long i = words; i < MAX_WORDS; i++)
			model[i] = 0, is_written[i] = 0;
		file_words = words;
	} else {
		CHECK_OK(MPI_File_preallocate(file, words * WORD));
		file_words = words > file_words ? words : file_words;
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void default_view(void) {
	memset(&view, 0, sizeof view);
	view.segments = view.words[0] = view.tile_words = view.etype_words = view.is_common = 1;
	CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	memset(pointers, 0, sizeof pointers);
	shared = 0;
}

static void open_file(const char *name) {
	static const char *const choices[] = {"automatic", "enable", "enable", "disable"};
	static const char *const sizes[] = {"512", "4096", "10000", "1048576"}, *const counts[] = {"1", "2", "3"},
				 *const units[] = {"4096", "12288", "100"};
	MPI_Info hints;
	MPI_Info_create(&hints);
	MPI_Info_set(hints, "romio_cb_write", choices[draw(4)]);
	if (draw(2))
		MPI_Info_set(hints, "cb_buffer_size", sizes[draw(4)]);
	if (draw(2))
		MPI_Info_set(hints, "cb_nodes", counts[draw(3)]);
	if (draw(2))
		MPI_Info_set(hints, "striping_unit", units[draw(3)]);
	CHECK_OK(MPI_File_open(MPI_COMM_WORLD, name, amode, hints, &file));
	MPI_Info_free(&hints);
	default_view();
}

/* Compares the whole file with the model. */
static void compare(void) {
	MPI_Offset size = -1;
	MPI_Status status;
	int n = -1;
	CHECK_OK(MPI_File_get_size(file, &size));
	if (size != file_words * WORD)
		wrong("the size of the file", (long)size, file_words * WORD);
	default_view();
	CHECK_OK(MPI_File_read_at(file, 0, content, MAX_WORDS, MPI_INT, &status));
	MPI_Get_count(&status, MPI_INT, &n);
	if (n != file_words)
		wrong("the number of words", n, file_words);
	for (long i = 0; i < file_words && is_sequence_ok; i++)
		if (differs(i, content[i], model[i]))
			wrong("a word of the file", (int)content[i], (int)model[i]);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void run_sequence(uint64_t number) {
	static char name[600];
	strcpy(name, file_name("random"));
	state = seed = number;
	memset(model, 0, sizeof model);
	memset(is_written, 0, sizeof is_written);
	file_words = 0;
	is_sequence_ok = 1;
	amode = MPI_MODE_RDWR | MPI_MODE_CREATE;
	open_file(name);
	for (step = 1; step <= STEPS; step++) {
		int what = draw(20);
		if (what < 4)
			set_view();
		else if (what < 14)
			access_file();
		else if (what < 16)
			move_pointers();
		else if (what < 17)
			change_size();
		else if (what < 18)
			compare();
		else if (what < 19)
			CHECK_OK(MPI_File_set_atomicity(file, draw(2)));
		else {
			CHECK_OK(MPI_File_close(&file));
			open_file(name);
		}
	}
	compare();
	CHECK_OK(MPI_File_close(&file));
	if (check_rank == 0)
		CHECK_OK(MPI_File_delete(name, MPI_INFO_NULL));
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
	check_begin(&argc, &argv);
	const char *one = getenv("FILE_SEED"), *many = getenv("FILE_SEEDS");
	if (one != NULL)
		run_sequence(strtoull(one, NULL, 10));
	for (int s = 1; one == NULL && s <= (many != NULL ? atoi(many) : 40) && check_errors == 0; s++)
		run_sequence((uint64_t)s);
	return check_end();
}
