/* histogram: counts the words of a text in a hash table that is distributed over all ranks.
 *
 * Rank 0 reads the file into the memory of its window. Every rank gets its part of the text with MPI_Get. The table has
 * a fixed number of slots, divided evenly among the ranks' windows. To count a word, a rank computes the word's 64-bit
 * hash, which selects the first slot to try. MPI_Compare_and_swap writes the hash into the slot's key if the key is 0,
 * that is, if the slot is free. It returns the previous key. If the previous key was 0, the rank puts the word's
 * letters into the slot. If it was the word's hash, the slot already belongs to this word. Otherwise the rank tries the
 * next slot. When it has the slot, MPI_Accumulate adds 1 to the slot's count. All ranks count words concurrently, and
 * no count is lost. The lengths of the words are counted by MPI_Accumulate into an array on rank 0.
 *
 *     gompirun -n 4 histogram [FILE] [--top N] [--slots N]
 *
 * In the end rank 0 gets the whole table and compares it with a serial count.
 */
#include <errno.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 48 /* bytes stored of a word, including the final 0 */, LENGTHS = 16, BAR = 50 };

struct slot {         /* 64 bytes: a cache line */
	uint64_t key; /* hash of the word; 0 if the slot is free */
	int64_t count;
	char word[WORD];
};

struct entry { /* a word and the number of its occurrences */
	char word[WORD];
	int64_t count;
};

static int rank, ranks;
static int top = 12;
static int64_t slots; /* number of slots of each rank */
static const char *path = "/usr/share/common-licenses/GPL-3";

/* Returns whether c is an ASCII letter or a byte of a character outside of ASCII. A word consists of such bytes, and of
 * apostrophes between them. */
static int letter(unsigned char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 128; }

/* Finds the next word that begins in text[*at .. end); the word may extend beyond `end`, up to `size`. Stores the word
 * in lower case, truncated to WORD - 1 bytes. Returns its length, or 0 if no further word begins there. */
static int next_word(const char *text, int64_t size, int64_t end, int64_t *at, char word[WORD]) {
	int64_t i = *at;
	while (i < end && !letter((unsigned char)text[i]))
		i++;
	if (i >= end)
		return 0;
	int length = 0;
	memset(word, 0, WORD);
	for (; i < size; i++, length++) {
		unsigned char c = (unsigned char)text[i];
		if (!letter(c) && !(c == '\'' && i + 1 < size && letter((unsigned char)text[i + 1])))
			break;
		if (length < WORD - 1)
			word[length] = c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
	}
	*at = i;
	return length;
}

static uint64_t hash_of(const char *word) {
	uint64_t hash = 0xcbf29ce484222325u;
	for (; *word; word++)
		hash = (hash ^ (unsigned char)*word) * 0x100000001b3u;
	hash ^= hash >> 29;
	return hash ? hash : 1; /* 0 means a free slot */
}

/* Adds 1 to the word's count; returns 0 if the table is full. */
static int count_word(MPI_Win table, const char *word) {
	uint64_t hash = hash_of(word), all = (uint64_t)slots * (uint64_t)ranks, free_key = 0, found;
	for (uint64_t probe = 0; probe < all; probe++) {
		uint64_t index = (hash + probe) % all;
		int owner = (int)(index / (uint64_t)slots);
		MPI_Aint at = (MPI_Aint)(index % (uint64_t)slots * sizeof(struct slot));
		MPI_Compare_and_swap(&hash, &free_key, &found, MPI_UINT64_T, owner, at + offsetof(struct slot, key),
				     table);
		MPI_Win_flush(owner, table); /* `found` has its value now */
		if (found == 0)              /* this rank has acquired the slot, so no other rank puts letters into
		                              * it */
			MPI_Put(word, WORD, MPI_CHAR, owner, at + offsetof(struct slot, word), WORD, MPI_CHAR, table);
		if (found == 0 || found == hash) {
			static const int64_t one = 1;
			MPI_Accumulate(&one, 1, MPI_INT64_T, owner, at + offsetof(struct slot, count), 1, MPI_INT64_T,
				       MPI_SUM, table);
			MPI_Win_flush_local(owner, table); /* the caller may overwrite `word` */
			return 1;
		}
	}
	return 0;
}

static int by_word(const void *a, const void *b) {
	return strcmp(((const struct entry *)a)->word, ((const struct entry *)b)->word);
}

static int by_count(const void *a, const void *b) {
	const struct entry *x = a, *y = b;
	return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->word, y->word);
}

/* Counts the words of the text without a hash table: sorts all words and merges equal words. */
static int64_t count_serially(const char *text, int64_t size, struct entry **entries, int64_t lengths[LENGTHS],
			      int64_t *words) {
	int64_t room = 1024, n = 0, different = 0, at = 0;
	struct entry *list = malloc((size_t)room * sizeof *list);
	for (int length; (length = next_word(text, size, size, &at, list[n].word)) > 0;) {
		lengths[length < LENGTHS ? length - 1 : LENGTHS - 1]++;
		list[n++].count = 1;
		if (n == room)
			list = realloc(list, (size_t)(room *= 2) * sizeof *list);
	}
	qsort(list, (size_t)n, sizeof *list, by_word);
	for (int64_t i = 0; i < n; i++) {
		if (different > 0 && strcmp(list[different - 1].word, list[i].word) == 0)
			list[different - 1].count++;
		else
			list[different++] = list[i];
	}
	*entries = list;
	*words = n;
	return different;
}

/* Reads the entries of the table from all ranks and sorts them by word. Returns their number. */
static int64_t collect(MPI_Win table, struct entry **entries) {
	struct slot *part = malloc((size_t)slots * sizeof *part);
	struct entry *list = malloc(sizeof *list);
	int64_t n = 0;
	for (int r = 0; r < ranks; r++) {
		for (int64_t at = 0; at < slots; at += 1000000) { /* in pieces, since a count is an int */
			int piece = (int)(slots - at < 1000000 ? slots - at : 1000000) * (int)sizeof *part;
			MPI_Get(part + at, piece, MPI_BYTE, r, at * (MPI_Aint)sizeof *part, piece, MPI_BYTE, table);
		}
		MPI_Win_flush(r, table);
		list = realloc(list, (size_t)(n + slots) * sizeof *list);
		for (int64_t i = 0; i < slots; i++)
			if (part[i].key != 0) {
				memcpy(list[n].word, part[i].word, WORD);
				list[n++].count = part[i].count;
			}
	}
	free(part);
	qsort(list, (size_t)n, sizeof *list, by_word);
	*entries = list;
	return n;
}

/* Reads the file on rank 0. Returns its size on all ranks. If reading fails, prints a message and returns -1. */
static int64_t read_file(char **text) {
	int64_t size = 0, room = 1 << 16;
	FILE *file = rank == 0 ? fopen(path, "rb") : NULL;
	if (rank == 0) {
		*text = malloc((size_t)room);
		for (size_t n; file && (n = fread(*text + size, 1, (size_t)(room - size), file)) > 0;)
			if ((size += (int64_t)n) == room)
				*text = realloc(*text, (size_t)(room *= 2));
		if (!file || ferror(file)) {
			fprintf(stderr, "histogram: cannot read %s: %s\n", path, strerror(errno));
			size = -1;
		}
		if (file)
			fclose(file);
	}
	MPI_Bcast(&size, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
	return size;
}

/* Prints the result. Only rank 0 calls it. Returns 0 if the result equals the serial count. */
static int report(MPI_Win table, const char *text, int64_t size, const int64_t *lengths, double seconds) {
	struct entry *found, *serial;
	int64_t serial_lengths[LENGTHS] = {0}, words, longest = 1;
	int64_t different = collect(table, &found), want = count_serially(text, size, &serial, serial_lengths, &words);
	int wrong = different != want;
	for (int64_t i = 0; i < different && !wrong; i++)
		wrong = strcmp(found[i].word, serial[i].word) != 0 || found[i].count != serial[i].count;
	wrong |= memcmp(lengths, serial_lengths, sizeof serial_lengths) != 0;

	printf("histogram: %s, %lld bytes, %lld words in %.3f s on %d ranks\n", path, (long long)size, (long long)words,
	       seconds, ranks);
	qsort(found, (size_t)different, sizeof *found, by_count);
	for (int64_t i = 0; i < different && i < top; i++)
		printf("  %8lld  %s\n", (long long)found[i].count, found[i].word);
	for (int i = 0; i < LENGTHS; i++)
		longest = lengths[i] > longest ? lengths[i] : longest;
	printf("letters in a word\n");
	for (int i = 0; i < LENGTHS; i++) {
		printf("  %2d%c %8lld  ", i + 1, i == LENGTHS - 1 ? '+' : ' ', (long long)lengths[i]);
		for (int64_t k = 0; k < (lengths[i] * BAR + longest - 1) / longest; k++)
			putchar('#');
		putchar('\n');
	}
	if (wrong)
		printf("WRONG: the table (%lld different words) is not the serial count (%lld)\n", (long long)different,
		       (long long)want);
	else
		printf("verified: all %lld different words and their counts equal the serial count\n",
		       (long long)different);
	free(found);
	free(serial);
	return wrong;
}

static int usage(const char *what, const char *value) {
	if (rank == 0)
		fprintf(stderr, "histogram: %s '%s'\nusage: histogram [FILE] [--top N] [--slots N]\n", what, value);
	MPI_Finalize();
	return 2;
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	int all_slots = 0;
	for (int i = 1; i < argc; i++) {
		char rest;
		if (strcmp(argv[i], "--top") == 0 && i + 1 < argc) {
			if (sscanf(argv[++i], "%d%c", &top, &rest) != 1 || top < 0)
				return usage("not a number of words:", argv[i]);
		} else if (strcmp(argv[i], "--slots") == 0 && i + 1 < argc) {
			if (sscanf(argv[++i], "%d%c", &all_slots, &rest) != 1 || all_slots < 1)
				return usage("not a number of slots:", argv[i]);
		} else if (argv[i][0] == '-' && argv[i][1] != 0) {
			return usage("unknown or incomplete option", argv[i]);
		} else {
			path = argv[i];
		}
	}
	char *text = NULL;
	int64_t size = read_file(&text);
	if (size < 0) {
		MPI_Finalize();
		return 1;
	}
	/* Enough slots if every second byte of the text began a new word, but not more than a million in total. */
	slots = (all_slots ? all_slots : size / 2 + 64 < 1000000 ? size / 2 + 64 : 1000000) / ranks + 1;

	/* Three windows: rank 0's text, the word lengths on rank 0, and the table. */
	int64_t *lengths;
	struct slot *mine;
	MPI_Win input, lengths_win, table;
	MPI_Win_create(text, rank == 0 ? size : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &input);
	MPI_Win_allocate(rank == 0 ? LENGTHS * sizeof *lengths : 0, sizeof *lengths, MPI_INFO_NULL, MPI_COMM_WORLD,
			 &lengths, &lengths_win);
	MPI_Win_allocate((MPI_Aint)((size_t)slots * sizeof *mine), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &table);
	memset(mine, 0, (size_t)slots * sizeof *mine);
	if (rank == 0)
		memset(lengths, 0, LENGTHS * sizeof *lengths);
	MPI_Barrier(MPI_COMM_WORLD);
	double begin = MPI_Wtime();

	/* Gets this rank's part of the text. The two bytes before it show whether a word has begun before the part. The
	 * bytes after it are needed because the last word may extend beyond the part. */
	int64_t first = size * rank / ranks, end = size * (rank + 1) / ranks;
	int64_t from = first > 2 ? first - 2 : 0, to = end + 4096 < size ? end + 4096 : size;
	char *part = malloc((size_t)(to - from) + 1);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, input);
	for (int64_t at = from; at < to; at += 1 << 30) {
		int piece = (int)(to - at < 1 << 30 ? to - at : 1 << 30);
		MPI_Get(part + (at - from), piece, MPI_BYTE, 0, at, piece, MPI_BYTE, input);
	}
	MPI_Win_unlock(0, input);

	/* A word belongs to the rank in whose part it begins. Skips the rest of a word that began before this part. */
	int64_t at = first - from, size_here = to - from, end_here = end - from;
	if ((at > 0 && letter((unsigned char)part[at - 1])) ||
	    (at > 1 && part[at - 1] == '\'' && letter((unsigned char)part[at - 2])))
		while (at < end_here && (letter((unsigned char)part[at]) || (part[at] == '\'' && at + 1 < size_here &&
									     letter((unsigned char)part[at + 1]))))
			at++;
	int64_t my_lengths[LENGTHS] = {0};
	char word[WORD];
	int full = 0;
	MPI_Win_lock_all(0, table);
	for (int length; !full && (length = next_word(part, size_here, end_here, &at, word)) > 0;) {
		my_lengths[length < LENGTHS ? length - 1 : LENGTHS - 1]++;
		full = !count_word(table, word);
	}
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, lengths_win);
	MPI_Accumulate(my_lengths, LENGTHS, MPI_INT64_T, 0, 0, LENGTHS, MPI_INT64_T, MPI_SUM, lengths_win);
	MPI_Win_unlock(0, lengths_win);
	MPI_Win_flush_all(table);
	int any_full = 0;
	MPI_Allreduce(&full, &any_full, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); /* all ranks have flushed before */
	double seconds = MPI_Wtime() - begin;

	int bad = any_full;
	if (rank == 0 && any_full) {
		fprintf(stderr, "histogram: the table's %lld slots are full; give it more with --slots N\n",
			(long long)(slots * ranks));
	} else if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, lengths_win);
		bad = report(table, text, size, lengths, seconds);
		MPI_Win_unlock(0, lengths_win);
	}
	MPI_Win_unlock_all(table);
	MPI_Bcast(&bad, 1, MPI_INT, 0, MPI_COMM_WORLD);
	MPI_Win_free(&input);
	MPI_Win_free(&lengths_win);
	MPI_Win_free(&table);
	free(part);
	free(text);
	MPI_Finalize();
	return bad;
}
