/* Proves, with a simulated network: frames are sent complete and in order, even if the network refuses some calls.
 * Their number never exceeds the credits of the peer. Answers always find space, and a thread that waits for space is
 * notified. Frames that arrive in any order are delivered in sequence, once each. A damaged frame, and a frame from a
 * process that is no peer, is dropped. No byte outside of an arriving frame is read or delivered.
 *
 * Usage: frames N tests N damaged frames instead of 1,000,000.
 *
 * sanitizer: address (one thread)
 */
#include "../unit.h"

#include "fabric/frame.h"
#include "fabric/open.h"
#include "fabric/peer.h"
#include "fabric/progress.h"

enum { PEER = 1, RANKS = 4, HEAD = sizeof(struct gompi_frame_head), RECORD = sizeof(struct gompi_record_head) };
static uint64_t seed = 1;
static uint64_t draw(uint64_t below) { return check_random(&seed) % below; }

/* --- The simulated network */

static struct gompi_net_op *posted[256];
static int posted_n;
static struct gompi_net_completion finished[4096];
static int finished_n;
static int refuse_one_in; /* one of this many calls is refused at random; 0 if no call is refused */

/* Number of frames and of records that the peer has received. */
static uint32_t peer_frames;
static uint64_t peer_records;

static bool refused(void) { return refuse_one_in != 0 && draw((uint64_t)refuse_one_in) == 0; }

static void on_frame_at_peer(const char *bytes, size_t length) {
	struct gompi_frame_head h;
	CHECK(length >= HEAD && length <= GOMPI_FRAME_BYTES && length % 8 == 0, "%zu bytes leave", length);
	memcpy(&h, bytes, sizeof h);
	if (length == HEAD) {
		CHECK(h.sequence == GOMPI_FRAME_CREDITS, "request %u", h.sequence);
		return;
	}
	CHECK(h.sequence == peer_frames, "frame %u leaves as number %u", h.sequence, peer_frames);
	peer_frames++;
	for (size_t at = HEAD; at < length;) {
		struct gompi_record_head r;
		uint64_t number;
		memcpy(&r, bytes + at, sizeof r);
		at += sizeof r;
		CHECK(r.port < FABRIC_PORTS && r.length >= 8 && GOMPI_ALIGN8(r.length) <= length - at, "a record");
		memcpy(&number, bytes + at, 8);
		CHECK(number == peer_records, "record %llu leaves as number %llu", (unsigned long long)number,
		      (unsigned long long)peer_records);
		peer_records++;
		at += GOMPI_ALIGN8(r.length);
	}
}

static enum gompi_net_error fake_inject(int peer, char *at, size_t bytes) {
	if (refused())
		return NET_AGAIN;
	if (peer == PEER)
		on_frame_at_peer(at, bytes);
	return NET_SUCCESS;
}

static enum gompi_net_error fake_send(int peer, char *at, size_t bytes, struct gompi_net_local *local,
				      struct gompi_net_op *op) {
	if (refused())
		return NET_AGAIN;
	if (peer == PEER)
		on_frame_at_peer(at, bytes);
	finished[finished_n++] = (struct gompi_net_completion){.op = op};
	return NET_SUCCESS;
}

static enum gompi_net_error fake_post_receive(char *at, size_t bytes, struct gompi_net_local *local,
					      struct gompi_net_op *op) {
	CHECK(bytes == GOMPI_FRAME_BYTES && at == ((struct gompi_frame *)op)->bytes, "a place of %zu", bytes);
	posted[posted_n++] = op;
	return NET_SUCCESS;
}

static int fake_poll(struct gompi_net_completion *to, int most) {
	int n = finished_n < most ? finished_n : most;
	memcpy(to, finished, (size_t)n * sizeof *finished);
	finished_n -= n;
	memmove(finished, finished + n, (size_t)finished_n * sizeof *finished);
	return n;
}

/* Lets the network receive a frame: copies the frame into a posted receive buffer and adds a completion. */
static void receive_frame(int peer, const char *bytes, size_t length) {
	CHECK(posted_n > 0, "no place for a frame");
	struct gompi_frame *f = (struct gompi_frame *)posted[--posted_n];
	memcpy(f->bytes, bytes, length);
	finished[finished_n++] = (struct gompi_net_completion){.op = &f->op, .bytes = length, .peer = peer};
}

static void progress(void) {
	while (finished_n > 0 || gompi_peers_have_retries())
		gompi_fabric_progress();
}

/* --- The handlers of the ports */

static const char *frame_begin, *frame_end; /* delivered records must lie between them; not checked if NULL */
static uint64_t delivered;
static bool in_order;

static void on_record(int peer, const char *data, size_t length) {
	CHECK(peer > 0 && peer < RANKS && length <= GOMPI_MAX_RECORD_BYTES, "%zu bytes of %d", length, peer);
	if (frame_begin != NULL)
		CHECK(data >= frame_begin && data + length <= frame_end, "a record outside of its frame");
	volatile char sum = 0;
	for (size_t i = 0; i < length; i++)
		sum = (char)(sum + data[i]);
	if (in_order) {
		uint64_t number;
		memcpy(&number, data, 8);
		CHECK(number == delivered, "record %llu comes as number %llu", (unsigned long long)number,
		      (unsigned long long)delivered);
	}
	delivered++;
}

static int rooms;
static void on_room(int peer) {
	CHECK(peer == PEER, "space for %d", peer);
	rooms++;
}

static void network(void) {
	static const struct gompi_net_ops ops = {
		.inject = fake_inject, .send = fake_send, .post_receive = fake_post_receive, .poll = fake_poll};
	static const struct gompi_port_handler handler = {on_record, on_room};
	unit_node(1);
	struct gompi_node n = gompi_node;
	n.processes = unit_processes(RANKS, (int32_t[]){0, 1, 2, 3}, (int32_t[]){0, -1, -1, -1});
	gompi_node_open(&n);
	gompi_net.ops = &ops;
	gompi_net.inject_bytes = 64;
	gompi_net.size = gompi_net.capacity = RANKS;
	for (int i = 0; i < FABRIC_PORTS; i++)
		gompi_fabric_set_handler((enum gompi_port)i, &handler);
	CHECK(gompi_peers_open() && gompi_net_post_receives() && posted_n > 0, "opening");
	gompi_fabric_open_flag = true;
}

/* --- Sending */

static void deliver_credits(void) {
	struct gompi_frame_head h = {.received = peer_frames - (uint32_t)draw(4)};
	if ((int32_t)h.received < 0)
		h.received = peer_frames;
	receive_frame(PEER, (const char *)&h, sizeof h);
}

static void sending(void) {
	uint64_t number = 0, tries = 0;
	struct gompi_peer *p = gompi_peer_find(PEER);
	bool crowded = false; /* true while other peers seem to have many frames in flight */
	for (int i = 0; i < 200000; i++) {
		const uint32_t before_it = p == NULL ? 0 : p->frames_sent - p->frames_acked;
		if ((i % 7000 < 2000) != crowded) {
			crowded = !crowded;
			if (crowded)
				gompi_add(&gompi_frames_in_flight, GOMPI_CROWDED_FRAMES);
			else
				gompi_sub(&gompi_frames_in_flight, GOMPI_CROWDED_FRAMES);
		}
		size_t length = 8 + draw(i % 50 == 0 ? GOMPI_MAX_RECORD_BYTES - 7 : 100);
		enum gompi_fabric_wait wait = draw(8) == 0 ? FABRIC_ANSWER : FABRIC_TRY;
		int class;
		char *at = gompi_fabric_reserve(PEER, FABRIC_RMA, length, wait, &class);
		if (at != NULL) {
			CHECK((uintptr_t)at % 8 == 0, "a record at %p", (void *)at);
			memset(at, 7, length);
			memcpy(at, &number, 8);
			number++;
			gompi_fabric_commit(PEER, 8 + draw(length - 7), draw(10) == 0 ? FABRIC_NOW : FABRIC_PENDING);
		} else {
			CHECK(wait == FABRIC_TRY && class == MPI_ERR_PENDING, "no space: %d", class);
			tries++;
		}
		p = gompi_peer_find(PEER);
		const uint32_t out = p->frames_sent - p->frames_acked;
		CHECK(out <= before_it || out <= (crowded ? GOMPI_SEND_WINDOW_CROWDED : GOMPI_SEND_WINDOW),
		      "%u frames without a credit, %u before, crowded %d", out, before_it, crowded);
		refuse_one_in = i % 3000 < 1000 ? 0 : 3;
		if (draw(i % 5000 < 2500 ? 40 : 4000) == 0)
			deliver_credits();
		if (draw(5) == 0) {
			int before = rooms;
			uint64_t waiting = gompi_load(&p->ports_waiting);
			gompi_fabric_progress();
			CHECK(rooms == before || waiting != 0, "notified of space without a waiter");
		}
		if (draw(100) == 0)
			gompi_fabric_flush(draw(2) == 0 ? -1 : PEER);
	}
	refuse_one_in = 0;
	while (peer_records < number) {
		gompi_fabric_flush(-1);
		const struct gompi_frame_head h = {.received = peer_frames};
		receive_frame(PEER, (const char *)&h, sizeof h);
		progress();
	}
	CHECK(gompi_load(&gompi_frames_in_flight) ==
		      p->frames_sent - p->frames_acked + (crowded ? GOMPI_CROWDED_FRAMES : 0),
	      "%u frames under way at the end, %u of them to the peer", gompi_load(&gompi_frames_in_flight),
	      p->frames_sent - p->frames_acked);
	CHECK(tries > 100 && rooms > 10, "%llu times no space, %d notifications", (unsigned long long)tries, rooms);
}

/* --- Arrival */

/* Makes a frame of at most `most` records, numbered from *number on, and advances *number. Returns its length. */
static size_t make_frame(char *to, uint32_t source, uint32_t frame, uint64_t *number, uint64_t most) {
	size_t at = HEAD;
	for (uint64_t n = 1 + draw(most); n > 0; n--) {
		size_t length = 8 + draw(40);
		if (at + RECORD + GOMPI_ALIGN8(length) > GOMPI_FRAME_BYTES)
			break;
		struct gompi_record_head r = {.port = (uint16_t)draw(FABRIC_PORTS), .length = (uint32_t)length};
		memcpy(to + at, &r, RECORD);
		memset(to + at + RECORD, 3, GOMPI_ALIGN8(length));
		memcpy(to + at + RECORD, number, 8);
		at += RECORD + GOMPI_ALIGN8(length);
		++*number;
	}
	struct gompi_peer *p = gompi_peer_find((int)source);
	const struct gompi_frame_head h = {.sequence = frame, .received = p != NULL ? p->frames_acked : 0};
	memcpy(to, &h, sizeof h);
	return at;
}

/* Tests frames that arrive out of order. Some frames arrive twice. */
static void arriving(void) {
	enum { FRAMES = 5000, AHEAD = 20 };
	static char frames[AHEAD][GOMPI_FRAME_BYTES];
	static size_t length[AHEAD];
	uint64_t number = 0;
	uint32_t frame = 0;
	in_order = true;
	delivered = 0;
	uint64_t dropped = gompi_load(&gompi_net_counts.frames_dropped), twice = 0;
	while (frame < FRAMES) {
		int order[AHEAD];
		for (int i = 0; i < AHEAD; i++) {
			length[i] = make_frame(frames[i], 2, frame++, &number, 20);
			order[i] = i;
		}
		for (int i = AHEAD - 1; i > 0; i--) {
			int j = (int)draw((uint64_t)i + 1), o = order[i];
			order[i] = order[j], order[j] = o;
		}
		for (int i = 0; i < AHEAD; i++) {
			receive_frame(2, frames[order[i]], length[order[i]]);
			if (draw(4) == 0) {
				int again = order[draw((uint64_t)i + 1)];
				receive_frame(2, frames[again], length[again]);
				twice++;
			}
			if (draw(3) == 0)
				progress();
		}
		progress();
		CHECK(delivered == number, "%llu of %llu records", (unsigned long long)delivered,
		      (unsigned long long)number);
	}
	CHECK(gompi_load(&gompi_net_counts.frames_dropped) - dropped == twice, "%llu of %llu frames dropped",
	      (unsigned long long)(gompi_load(&gompi_net_counts.frames_dropped) - dropped), (unsigned long long)twice);
	in_order = false;
}

/* --- Damage */

/* Damages a frame and returns its new length. */
static size_t damage(char *bytes, size_t length) {
	for (uint64_t n = 1 + draw(3); n > 0; n--) {
		size_t at = draw(3) == 0 ? draw(HEAD) : draw(length);
		switch (draw(5)) {
		case 0:
			bytes[at] ^= (char)(1 << draw(8));
			break;
		case 1:
			bytes[at] = (char)draw(256);
			break;
		case 2: /* replaces a word, which may be a length */
			if (at / 4 * 4 + 4 <= length)
				memcpy(bytes + at / 4 * 4,
				       &(uint32_t){(uint32_t)(draw(2) == 0 ? draw(32768) : check_random(&seed))}, 4);
			break;
		case 3: /* truncates the frame */
			length = draw(length) + 1;
			if (draw(2) == 0 && length >= 8)
				length = length / 8 * 8;
			break;
		case 4:
			bytes[at] = (char)(draw(2) == 0 ? 0xff : 0);
			break;
		}
	}
	return length;
}

static void damaged(uint64_t frames) {
	static char whole[GOMPI_FRAME_BYTES];
	uint64_t number = 0, right = 0;
	for (uint64_t i = 0; i < frames; i++) {
		size_t length = damage(whole, make_frame(whole, 3, 0, &number, i % 100 == 0 ? 300 : 8));
		char *copy = aligned_alloc(8, (length + 7) / 8 * 8); /* exactly as long as the frame */
		if (copy == NULL)
			abort();
		memcpy(copy, whole, length);
		frame_begin = copy, frame_end = copy + length;
		if (gompi_frame_error(3, copy, length) == NULL) {
			gompi_frame_deliver(3, copy, length);
			right++;
		}
		frame_begin = NULL;
		free(copy);
		if (i % 64 == 0) { /* receives the frame again, through the network */
			receive_frame(3, whole, length);
			progress();
		}
	}
	CHECK(right > frames / 100 && right < frames, "%llu of %llu frames were right", (unsigned long long)right,
	      (unsigned long long)frames);
	/* Frames from this process, and from processes that do not exist. */
	const uint64_t before = delivered, dropped = gompi_load(&gompi_net_counts.frames_dropped);
	for (int i = 0; i < 3; i++) {
		receive_frame((int[]){0, -1, RANKS}[i], whole, make_frame(whole, 3, 0, &number, 2));
		progress();
	}
	CHECK(delivered == before && gompi_load(&gompi_net_counts.frames_dropped) == dropped + 3, "frames of no peer");
}

int main(int argc, char **argv) {
	network();
	sending();
	arriving();
	damaged(argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000);
	return unit_end();
}
