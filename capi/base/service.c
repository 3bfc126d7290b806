#include "base/service.h"

#include <stdlib.h>

// The registered services, in the order of registration. service_count is at most the number of entries in use.
enum { MAX_SERVICES = 8 };
static const struct gompi_service *_Atomic services[MAX_SERVICES];
static gompi_ai32 service_count;

void gompi_service_add(const struct gompi_service *s) {
	for (int i = 0; i < MAX_SERVICES; i++) {
		const struct gompi_service *used = NULL;
		if (gompi_cas_strong(&services[i], &used, s)) {
			// seq_cst, hence a release: pairs with the acquire loads of threads that already wait
			gompi_add_seq_cst(&service_count, 1);
			return;
		}
		if (used == s)
			return;
	}
	abort(); // increase MAX_SERVICES
}

static inline int count_services(void) { return gompi_load_acquire(&service_count); }
static inline const struct gompi_service *service(int i) { return gompi_load(&services[i]); }

bool gompi_serve(void) {
	bool worked = false;
	for (int i = 0; i < count_services(); i++)
		if (service(i)->has_work())
			worked = service(i)->serve() || worked;
	return worked;
}

bool gompi_serve_all(void) {
	bool worked = false;
	for (int i = 0; i < count_services(); i++)
		worked = service(i)->serve() || worked;
	return worked;
}

void gompi_serve_at_wait_end(void) {
	for (int i = 0; i < count_services(); i++)
		if (service(i)->on_wait_end != NULL)
			service(i)->on_wait_end();
		else if (service(i)->has_work())
			service(i)->serve();
}

int gompi_services_member(uint64_t object, int i) {
	int rank = -1;
	for (int k = 0; k < count_services() && rank < 0; k++)
		if (service(k)->member_process != NULL)
			rank = service(k)->member_process(object, i);
	return rank;
}

bool gompi_services_revoked(uint64_t object) {
	for (int k = 0; k < service_count; k++)
		if (services[k]->is_revoked != NULL && services[k]->is_revoked(object))
			return true;
	return false;
}

void gompi_fill_wait_details(const struct gompi_wait_desc *desc, struct gompi_wait_details *t) {
	for (int k = 0; k < count_services(); k++)
		if (service(k)->fill_details != NULL && service(k)->fill_details(desc, t))
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
	for (int k = 0; k < count_services() && at == 0; k++)
		if (service(k)->stuck_entry != NULL)
			at = service(k)->stuck_entry(process);
	return at;
}

void gompi_notify_long_wait(void) {
	for (int i = 0; i < count_services(); i++)
		if (service(i)->on_long_wait != NULL)
			service(i)->on_long_wait();
}
