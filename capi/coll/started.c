// Progress of nonblocking and persistent collectives.
#include "coll/started.h"

#include "base/call.h"
#include "errors/codes.h"
#include "message/call.h"

// Publishes the current part as soon as there is space. Returns false if there is none yet.
static bool publish_part(struct gompi_started *s) {
	struct gompi_board *b = s->board;
	if (s->now == 0 && !gompi_board_room(b, s->number / 2, gompi_takes_space(s)))
		return false;
	struct gompi_board_head *h = gompi_board_head(b, b->me, s->number);
	bool directly = gompi_pieces(s) > 1 && gompi_node.cma;
	s->state = STARTED_RUNNING;
	s->piece = 0;
	s->read = s->awaited = false;
	for (int i = 0; i < b->n; i++)
		s->taken[i] = 0;
	gompi_write_piece(s, directly ? BOARD_DIRECT : 0);
	s->wrote = directly ? BOARD_DIRECT : 1;
	gompi_store(&h->what, gompi_part_what(s, b->me));
	gompi_store(&h->plan, gompi_part_plan(s));
	gompi_store(&h->read, 0);
	gompi_store(&h->wrote, s->wrote);
	// Release: pairs with the acquire in is_all_there and take_what_is_there, so that a reader of number sees the
	// data.
	gompi_store_release(&h->number, s->number);
	gompi_board_tell(b, gompi_is_much(s));
	return true;
}

// Returns true if all readers of this member's data have read this many segments. Sets *refused if one needs segments.
static bool is_taken(struct gompi_started *s, uint32_t pieces, bool *refused) {
	const struct gompi_board *b = s->board;
	bool all = true;
	*refused = false;
	for (int i = 0; i < b->n; i++) {
		if (!gompi_is_read_by(s, i))
			continue;
		struct gompi_board_head *h = gompi_board_head(b, i, s->number);
		// Acquire: pairs with the release in tell_read.
		uint64_t there = gompi_load_acquire(&h->number);
		uint32_t read = there == s->number ? gompi_load_acquire(&h->read) : there > s->number ? BOARD_DONE : 0;
		*refused = *refused || read == BOARD_REFUSED;
		all = all && (read == BOARD_DONE || (read != BOARD_REFUSED && read >= pieces));
	}
	return all;
}

static void write_more(struct gompi_started *s) {
	gompi_write_piece(s, s->wrote);
	s->wrote++;
	// Release: pairs with the acquire in is_all_there and take_what_is_there.
	gompi_store_release(&gompi_board_head(s->board, s->board->me, s->number)->wrote, s->wrote);
	gompi_board_tell(s->board, gompi_is_much(s));
}

// Writes segments while there is space. Returns true if the other members need nothing more from this one.
static bool write_pieces(struct gompi_started *s) {
	bool refused;
	if (s->wrote == BOARD_DIRECT) {
		if (is_taken(s, BOARD_DONE, &refused))
			return true;
		if (!refused)
			return false;
		s->wrote = 0;
		// Fully ordered: pairs with the fence in copy_directly. Without it, write_more could overwrite the
		// address while a reader still sees BOARD_DIRECT and takes the data for the address.
		gompi_store_total(&gompi_board_head(s->board, s->board->me, s->number)->wrote, 0);
		write_more(s);
	}
	uint32_t most = gompi_pieces(s);
	while (s->wrote < most && is_taken(s, s->wrote, &refused))
		write_more(s);
	if (s->wrote < most)
		return false;
	return s->now + 1 == s->parts || is_taken(s, BOARD_DONE, &refused);
}

// Returns true if the next step calls a user-defined function, which the progress thread must not do.
static bool is_for_application(const struct gompi_started *s) {
	return s->asks && gompi_progress_thread && !s->read && s->part[s->now].kind != GOMPI_ALLGATHER &&
	       s->part[s->now].kind != GOMPI_GATHER;
}

// Handles the description from member 0 in an MPI_Comm_idup.
static void take_told(struct gompi_started *s) {
	struct gompi_idup *d = s->idup;
	if (d->told[0] != 0)
		s->parts = 1;
	else
		d->class = gompi_up.idup_told(d->number, d->told);
}

static void end_idup(struct gompi_started *s) {
	struct gompi_idup *d = s->idup;
	int32_t worst = d->class;
	for (int i = 0; i < s->board->n; i++) {
		const int32_t class = d->worst[i] != 0 ? gompi_error_class_of_peer((uint32_t)d->worst[i]) : 0;
		worst = class > worst ? class : worst;
	}
	s->why.class = gompi_up.idup_over(d->number, d->told, s->why.class, worst, s->why.text);
}

bool gompi_started_advance(struct gompi_started *s) {
	if (s->state == STARTED_OVER)
		return false;
	for (;;) {
		if (s->state == STARTED_QUEUED && !publish_part(s))
			return false;
		bool wrote, read;
		uint32_t before;
		do {
			before = s->piece;
			read = !is_for_application(s) && gompi_take_pieces(s);
			wrote = write_pieces(s);
		} while (s->piece != before && !read);
		if (!read || !wrote)
			return false;
		if (s->idup != NULL && s->now == 0 && s->differ.rank < 0)
			take_told(s);
		if (s->now + 1 == s->parts || s->differ.rank >= 0)
			break;
		s->now++;
		s->number++;
		s->state = STARTED_QUEUED;
	}
	if (s->differ.rank < 0)
		gompi_started_store(s);
	s->state = STARTED_OVER;
	return true;
}

int gompi_started_missing(const struct gompi_started *s, uint64_t *missing, int words) {
	const struct gompi_board *b = s->board;
	if (s->state != STARTED_RUNNING)
		return -1; // it waits until older collectives complete
	bool gives = s->now + 1 < s->parts || s->wrote == BOARD_DIRECT || s->wrote < gompi_pieces(s);
	int n = 0;
	for (int i = 0; i < b->n; i++) {
		bool needed = gompi_reads(s, i) || (gives && gompi_is_read_by(s, i));
		// Acquire: pairs with the release in publish_part.
		if (!needed || gompi_load_acquire(&gompi_board_head(b, i, s->number)->number) >= (s->number & ~1ULL))
			continue;
		n++;
		if (i < 64 * words)
			missing[i / 64] |= 1ULL << i % 64;
	}
	return n;
}

void gompi_started_over(struct gompi_started *s) {
	struct gompi_request *r = s->request;
	if (s->differ.rank >= 0)
		s->why.class = gompi_up.explain_differ(&s->differ, s->why.text);
	else if (s->failed != 0)
		gompi_error(&s->why, s->failed, "the reduction failed");
	else if (s->why.class == MPI_SUCCESS && s->wrong.class != MPI_SUCCESS)
		s->why = s->wrong;
	if (s->idup != NULL)
		end_idup(s);
	r->result = (struct gompi_result){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .class = s->why.class};
	gompi_request_complete(r);
}
