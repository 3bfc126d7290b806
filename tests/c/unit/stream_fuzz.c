/* Proves: whatever another node sends for a window (way/stream.h), nothing outside of the window, of the record and of
 * what waits for a result is read or written, and what is kept for a lock has an end. The window ends where memory
 * does, and a record is as long as it is. */
#include "loop.h"

enum { RECORDS = 100000, ROUND = 100, MOST = 20 << 10 };

static uint64_t dice = 11;
static uint64_t draw(uint64_t n) { return check_random(&dice) % n; }

static uint64_t any_number(void) {
	static const uint64_t some[] = {0, 1, 8, 63, 64, 976, STREAM_DATA, SIZE, 1 << 16, 1u << 31, INT64_MAX};
	uint64_t x = some[draw(sizeof some / sizeof *some)] + draw(3) - 1;
	return draw(2) ? x : draw(2) ? 0 - x : check_random(&dice);
}

static void change(struct gompi_message *m, size_t *length) {
	for (uint64_t changes = draw(3); changes > 0; changes--) {
		uint64_t word = any_number();
		switch (draw(12)) {
		case 0:
			m->window = (uint32_t)(draw(2) ? word : w->handle);
			break;
		case 1:
			m->kind = (uint8_t)(draw(2) ? STREAM_LOCK + draw(8) : m->kind ^ (1u << draw(8)));
			break;
		case 2:
			m->op = (uint16_t)(draw(2) ? 0x20 + draw(32) : word);
			break;
		case 3:
			m->type = (uint16_t)(draw(2) ? 0x200 + draw(256) : word);
			break;
		case 4:
			m->length = (uint16_t)word;
			break;
		case 5:
			m->offset = word;
			break;
		case 6:
			m->bytes = word;
			break;
		case 7:
			m->wants_reply = (uint8_t)word;
			break;
		case 8:
			if (draw(4) == 0)
				m->origin = (int32_t)(word - 1);
			break;
		case 9:
			if (draw(4) == 0)
				m->status += draw(3) - 1;
			break;
		case 10:
			if (draw(4) == 0)
				*length = draw(*length + 1);
			break;
		default: /* a word: of the pieces, say */
			if (*length >= sizeof *m + 8 * 11)
				memcpy(m->data + 8 * draw(10), &word, 8);
		}
	}
}

/* Sends some operation and waits for nothing. */
static void operate(char *back) {
	static int64_t data[MOST / 8];
	static int64_t words[GOMPI_ELEMENTS_WORDS(16)];
	size_t bytes = 8 * (1 + draw(draw(20) == 0 ? MOST / 8 : 8));
	int64_t n = (int64_t)bytes / 8;
	MPI_Aint at = (MPI_Aint)(8 * draw((SIZE - MOST) / 8));
	MPI_Datatype type = MPI_INT64_T;
	int64_t count = n;
	if (draw(3) == 0) {
		n = 16;
		int64_t *where = gompi_type_of_elements(words, gompi_type_get(MPI_INT64_T), n, 0);
		for (int64_t i = 0; i < n; i++)
			where[i] = 24 * i;
		struct gompi_type *t = (struct gompi_type *)(void *)words;
		t->root = t->elem_root;
		t->extent = t->true_ub = where[n - 1] + 8;
		type = (MPI_Datatype)0x20001;
		count = 1;
		gompi_type_remove((uintptr_t)type);
		gompi_type_install((uintptr_t)type, (struct gompi_facts){0}, words, t->words);
	}
	switch (draw(8)) {
	case 0:
		FINE(gompi_put_c(data, n, MPI_INT64_T, OTHER, at, count, type, win));
		break;
	case 1:
		FINE(gompi_get_c(back, n, MPI_INT64_T, OTHER, at, count, type, win));
		break;
	case 2:
		FINE(gompi_accumulate_c(data, n, MPI_INT64_T, OTHER, at, count, type, MPI_SUM, win));
		break;
	case 3:
		FINE(gompi_get_accumulate_c(data, n, MPI_INT64_T, back, n, MPI_INT64_T, OTHER, at, count, type, MPI_MAX,
					    win));
		break;
	case 4:
		FINE(gompi_compare_and_swap(data, data, back, MPI_INT64_T, OTHER, at, win));
		break;
	case 5:
		FINE(gompi_way_fabric.post(w, OTHER, "post"));
		break;
	case 6:
		if (draw(4) == 0)
			FINE(gompi_way_fabric.lock(w, OTHER, draw(2), "lock"));
		break;
	default:
		FINE(gompi_put_c(data, 1, MPI_INT64_T, OTHER, at, 1, MPI_INT64_T, win));
	}
}

static uint64_t changed, stopped, broken, kept, came;

/* Gives what is in the queue to who listens, changed. Half of the time the numbers are right all the same. */
static void deliver(void) {
	bool numbers = draw(2);
	while (queue != NULL) {
		struct record *r = queue;
		struct gompi_stream *s = gompi_stream_known(w, OTHER);
		queue = r->next;
		if (queue == NULL)
			queue_end = &queue;
		size_t length = r->length;
		struct gompi_message *m = (struct gompi_message *)(void *)r->data;
		bool answer = m->kind == STREAM_DONE || m->kind == STREAM_RESULT;
		if (draw(answer ? 20 : 2) == 0)
			change(m, &length);
		if (numbers && !answer)
			m->status = s->arrived + 1;
		char *copy = malloc(length);
		memcpy(copy, r->data, length);
		free(r);
		rma->record(PEER, copy, length);
		free(copy);
		changed++;
		kept = s->kept_end > kept ? s->kept_end : kept;
	}
}

int main(void) {
	unit_types();
	while (changed < RECORDS && check_errors == 0) {
		fresh(false, false);
		struct gompi_win_member *m = gompi_member(w, 0);
		char *back = malloc(MOST); /* after which nothing may be written */
		uint64_t locked = draw(3), before = changed;
		if (locked == 1)
			CHECK(gompi_lock_try(m, true, false), "no lock");
		gompi_store(&w->access, ACCESS_LOCK_ALL);
		while (changed - before < ROUND) {
			struct gompi_stream *s = gompi_stream_of(w, OTHER);
			for (int i = 0; i < 10; i++) {
				gompi_store(&s->ahead, 0); /* nobody waits for a lock */
				if (gompi_load(&s->results_out) < STREAM_RESULTS / 2)
					operate(back);
			}
			deliver();
			if (s->stopped || gompi_load(&s->broken) || gompi_load(&s->results_out) >= STREAM_RESULTS / 2)
				break;
		}
		if (locked == 1)
			gompi_unlock(w, 0, true);
		gompi_serve_all();
		deliver();
		struct gompi_stream *s = gompi_stream_known(w, OTHER);
		stopped += s->stopped;
		broken += gompi_load(&s->broken) != 0;
		came += gompi_load(&s->results_first);
		gompi_store(&w->access, 0);
		gompi_win_close(w->handle);
		w = NULL;
		free(back);
	}
	CHECK(stopped > 100 && broken > 100 && kept > 10000 && came > RECORDS / 100,
	      "%d stopped, %d broken, %d bytes kept, %d results", (int)stopped, (int)broken, (int)kept, (int)came);
	return unit_end();
}
