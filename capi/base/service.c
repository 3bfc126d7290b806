#include "base/service.h"

#include <stdlib.h>

// The registered services, in the order of registration.
enum { MOST_SERVICES = 8 };
static const struct gompi_service *services[MOST_SERVICES];
static int services_number;

void gompi_service_add(const struct gompi_service *s) {
	for (int i = 0; i < services_number; i++)
		if (services[i] == s)
			return;
	if (services_number == MOST_SERVICES)
		abort(); // for another service, only this constant must grow
	services[services_number++] = s;
}

bool gompi_serve(void) {
	bool worked = false;
	for (int i = 0; i < services_number; i++)
		if (services[i]->ready())
			worked = services[i]->serve() || worked;
	return worked;
}

bool gompi_serve_all(void) {
	bool worked = false;
	for (int i = 0; i < services_number; i++)
		worked = services[i]->serve() || worked;
	return worked;
}

void gompi_serve_last(void) {
	for (int i = 0; i < services_number; i++)
		if (services[i]->ends != NULL)
			services[i]->ends();
		else if (services[i]->ready())
			services[i]->serve();
}

int gompi_services_member(uint64_t object, int i) {
	int rank = -1;
	for (int k = 0; k < services_number && rank < 0; k++)
		if (services[k]->member != NULL)
			rank = services[k]->member(object, i);
	return rank;
}

void gompi_services_tell(const struct gompi_waiting *what, struct gompi_told *t) {
	for (int k = 0; k < services_number; k++)
		if (services[k]->tell != NULL && services[k]->tell(what, t))
			return;
}

void gompi_tell_ranks(struct gompi_told *t, const struct gompi_ranks *r) {
	t->members = r->n;
	t->stride = r->list == NULL ? r->stride : r->n > 1 ? r->list[1] - r->list[0] : 1;
	if (r->list == NULL && r->n == 1)
		t->stride = 1; // arbitrary: there is only one member
	for (int i = 0; i < r->n; i++) {
		int process = gompi_ranks_at(r, i);
		if (i < GOMPI_TOLD_MEMBERS)
			t->member[i] = process;
		else if (r->list == NULL)
			break;
		if (process != t->member[0] + i * t->stride)
			t->stride = 0;
	}
}

uint64_t gompi_services_stuck(int process) {
	uint64_t at = 0;
	for (int k = 0; k < services_number && at == 0; k++)
		if (services[k]->stuck != NULL)
			at = services[k]->stuck(process);
	return at;
}

void gompi_serve_lasts(void) {
	for (int i = 0; i < services_number; i++)
		if (services[i]->lasts != NULL)
			services[i]->lasts();
}
