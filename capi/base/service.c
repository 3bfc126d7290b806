#include "base/service.h"

#include <stdlib.h>

// The registered services, in the order of registration.
enum { MAX_SERVICES = 8 };
static const struct gompi_service *services[MAX_SERVICES];
static int service_count;

void gompi_service_add(const struct gompi_service *s) {
	for (int i = 0; i < service_count; i++)
		if (services[i] == s)
			return;
	if (service_count == MAX_SERVICES)
		abort(); // increase MAX_SERVICES
	services[service_count++] = s;
}

bool gompi_serve(void) {
	bool worked = false;
	for (int i = 0; i < service_count; i++)
		if (services[i]->has_work())
			worked = services[i]->serve() || worked;
	return worked;
}

bool gompi_serve_all(void) {
	bool worked = false;
	for (int i = 0; i < service_count; i++)
		worked = services[i]->serve() || worked;
	return worked;
}

void gompi_serve_at_wait_end(void) {
	for (int i = 0; i < service_count; i++)
		if (services[i]->on_wait_end != NULL)
			services[i]->on_wait_end();
		else if (services[i]->has_work())
			services[i]->serve();
}

int gompi_services_member(uint64_t object, int i) {
	int rank = -1;
	for (int k = 0; k < service_count && rank < 0; k++)
		if (services[k]->member_process != NULL)
			rank = services[k]->member_process(object, i);
	return rank;
}

bool gompi_services_revoked(uint64_t object) {
	for (int k = 0; k < service_count; k++)
		if (services[k]->is_revoked != NULL && services[k]->is_revoked(object))
			return true;
	return false;
}

void gompi_fill_wait_details(const struct gompi_wait_desc *desc, struct gompi_wait_details *t) {
	for (int k = 0; k < service_count; k++)
		if (services[k]->fill_details != NULL && services[k]->fill_details(desc, t))
			return;
}

void gompi_fill_wait_ranks(struct gompi_wait_details *t, const struct gompi_ranks *r) {
	t->member_count = r->n;
	t->stride = r->list == NULL ? r->stride : r->n > 1 ? r->list[1] - r->list[0] : 1;
	if (r->list == NULL && r->n == 1)
		t->stride = 1; // arbitrary: there is only one member
	for (int i = 0; i < r->n; i++) {
		int process = gompi_ranks_at(r, i);
		if (i < GOMPI_WAIT_RECORD_MEMBERS)
			t->member[i] = process;
		else if (r->list == NULL)
			break;
		if (process != t->member[0] + i * t->stride)
			t->stride = 0;
	}
}

uint64_t gompi_services_stuck_entry(int process) {
	uint64_t at = 0;
	for (int k = 0; k < service_count && at == 0; k++)
		if (services[k]->stuck_entry != NULL)
			at = services[k]->stuck_entry(process);
	return at;
}

void gompi_notify_long_wait(void) {
	for (int i = 0; i < service_count; i++)
		if (services[i]->on_long_wait != NULL)
			services[i]->on_long_wait();
}
