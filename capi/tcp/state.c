// The state of the network: the table of peers, and the epoll events of links.
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "tcp/link.h"

struct gompi_tcp_state gompi_tcp_state = {.epoll = -1, .timer = -1, .spare_fd = -1};

struct gompi_tcp_peer *gompi_tcp_peer(int rank) {
	struct gompi_tcp_state *t = &gompi_tcp_state;
	struct gompi_tcp_peer *p = t->peers[rank];
	if (p == NULL && (p = calloc(1, sizeof *p)) != NULL) {
		p->rank = rank;
		p->number = (uint32_t)rank;
		p->universe = t->job.universe;
		memcpy(p->secret, t->job.secret, sizeof p->secret);
		t->peers[rank] = p;
	}
	return p;
}

void gompi_link_set_events(struct gompi_tcp_link *l, bool out) {
	const uint32_t events = (l->is_stalled ? 0u : (uint32_t)EPOLLIN) | (out ? (uint32_t)EPOLLOUT : 0u);
	if (l->fd < 0 || events == l->epoll_events)
		return;
	struct epoll_event e = {.events = events, .data.ptr = l};
	epoll_ctl(gompi_tcp_state.epoll, EPOLL_CTL_MOD, l->fd, &e);
	l->epoll_events = events;
}
