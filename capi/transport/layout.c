#include "transport/layout.h"

enum { WORD = sizeof(int64_t), RUN_WORDS = 4, LIST_WORDS = 2 };

int64_t gompi_layout_encode(int64_t *words, struct gompi_cursor *c, const struct gompi_layout_limits *limits,
			    int64_t *bytes) {
	int64_t used = 0, *list = NULL; // the last group if it is a list, which can be extended; else NULL
	*bytes = 0;
	while (c->run.n != 0) {
		int64_t space = limits->words_bytes - used * WORD - (limits->is_shared ? *bytes : 0);
		int64_t limit = limits->max_data_bytes - *bytes, group = list != NULL ? WORD : RUN_WORDS * WORD;
		if (space < group)
			break;
		if (limits->is_shared && space - group < limit)
			limit = space - group;
		if (list != NULL && !(c->run.n == 1 && c->skip_bytes == 0 && c->run.block == list[0])) {
			list = NULL;
			continue;
		}
		struct gompi_run r = gompi_cursor_run(c, limit);
		if (r.n == 0) { // less than one block fits
			limit -= limit % limits->unit;
			if (limit == 0 || *bytes != 0)
				break;
			r = (struct gompi_run){.n = 1};
			r.block = gompi_cursor_next(c, limit, &r.offset);
		}
		*bytes += r.n * r.block;
		if (list != NULL) {
			list[1]--;
			words[used++] = r.offset;
		} else if (r.n == 1) {
			list = words + used;
			list[0] = r.block;
			list[1] = -1;
			list[2] = r.offset;
			used += LIST_WORDS + 1;
		} else {
			words[used++] = r.block;
			words[used++] = r.n;
			words[used++] = r.stride;
			words[used++] = r.offset;
		}
	}
	return used;
}

// Extends the range [*lo, *hi) to include the block at `offset`. Returns false if the end of the block overflows 64
// bits.
static bool include(int64_t offset, int64_t block, int64_t *lo, int64_t *hi) {
	int64_t end;
	if (__builtin_add_overflow(offset, block, &end))
		return false;
	*lo = offset < *lo ? offset : *lo;
	*hi = end > *hi ? end : *hi;
	return true;
}

bool gompi_layout_init(struct gompi_layout *l, const int64_t *words, int64_t n, int64_t unit, int64_t bytes,
		       int64_t *lo, int64_t *hi) {
	*l = (struct gompi_layout){.next = words, .end = words + n};
	*lo = INT64_MAX;
	*hi = INT64_MIN;
	for (const int64_t *p = words, *end = words + n; p < end;) {
		if (end - p <= LIST_WORDS || p[0] <= 0 || p[0] > bytes || p[0] % unit != 0)
			return false;
		int64_t block = p[0], blocks = p[1] < 0 ? -(p[1] + 1) : p[1] - 1; // number of blocks - 1
		if (blocks < 0 || blocks > bytes / block - 1)
			return false;
		bytes -= (blocks + 1) * block;
		if (p[1] > 0) {
			int64_t last;
			if (end - p < RUN_WORDS || __builtin_mul_overflow(blocks, p[2], &last) ||
			    __builtin_add_overflow(last, p[3], &last) || !include(p[3], block, lo, hi) ||
			    !include(last, block, lo, hi))
				return false;
			p += RUN_WORDS;
			continue;
		}
		if (end - p - LIST_WORDS <= blocks)
			return false;
		for (p += LIST_WORDS; blocks >= 0; blocks--, p++)
			if (!include(*p, block, lo, hi))
				return false;
	}
	return bytes == 0 && *lo < *hi;
}

struct gompi_run gompi_layout_next(struct gompi_layout *l, int64_t limit) {
	struct gompi_run *run = &l->run;
	if (run->n == 0) {
		if (l->list_left == 0) {
			if (l->next == l->end)
				return *run;
			l->block = l->next[0];
			if (l->next[1] > 0) {
				*run = (struct gompi_run){l->next[3], l->block, l->next[1], l->next[2]};
				l->next += RUN_WORDS;
			} else {
				l->list_left = -l->next[1];
				l->next += LIST_WORDS;
			}
		}
		if (l->list_left != 0) {
			l->list_left--;
			*run = (struct gompi_run){*l->next++, l->block, 1, 0};
		}
	}
	struct gompi_run r = *run;
	if (l->consumed_bytes != 0 || r.block > limit) {
		int64_t left = r.block - l->consumed_bytes;
		r = (struct gompi_run){r.offset + l->consumed_bytes, left < limit ? left : limit, 1, 0};
		l->consumed_bytes += r.block;
		if (l->consumed_bytes < run->block)
			return r;
		l->consumed_bytes = 0;
	} else if (r.n > limit / r.block) {
		r.n = limit / r.block;
	}
	run->n -= r.n;
	if (run->n != 0) // adding the stride after the last block could overflow
		run->offset += r.n * run->stride;
	return r;
}
