// Persistent requests of messages (MPI-5.0 3.9). Only application calls create and free them, in most programs on one
// thread. So they have their own (biased) lock, which costs that thread nothing, and their own handles. For everything
// else the lock of their lane guards them, as for other requests.
#include "message/lane.h"

struct gompi_objects gompi_persistent = GOMPI_OBJECTS(GOMPI_KIND_PERSISTENT, struct gompi_request);

struct gompi_request *gompi_persistent_make(struct gompi_lane *l) {
	gompi_biased_take(&gompi_persistent.lock);
	struct gompi_request *r = gompi_objects_take(&gompi_persistent);
	uintptr_t handle = r == NULL ? 0 : gompi_handles_add(&gompi_persistent.handles, r);
	if (handle == 0 && r != NULL)
		gompi_objects_give(&gompi_persistent, r);
	gompi_biased_give(&gompi_persistent.lock);
	if (handle == 0)
		return NULL;
	gompi_request_clear(r);
	r->lane = l;
	r->handle = (uint32_t)handle;
	r->handled = r->persistent = r->apart = true;
	gompi_store(&r->state, REQUEST_INACTIVE);
	return r;
}

void gompi_persistent_remove(struct gompi_request *r) {
	gompi_biased_take(&gompi_persistent.lock);
	gompi_handles_remove(&gompi_persistent.handles, r->handle);
	gompi_biased_give(&gompi_persistent.lock);
}

void gompi_persistent_give(struct gompi_request *r) {
	gompi_biased_take(&gompi_persistent.lock);
	gompi_objects_give(&gompi_persistent, r);
	gompi_biased_give(&gompi_persistent.lock);
}

bool gompi_persistent_free(struct gompi_request *r) {
	// The thread that completes a request holds the lane's lock, and may access the request until it releases that
	// lock.
	if (gompi_load_acquire(&r->state) == REQUEST_ACTIVE || gompi_biased_is_taken(&r->lane->lock))
		return false;
	if (__builtin_expect(r->buf.type != NULL, 0))
		gompi_buffer_drop(&r->buf);
	gompi_biased_take(&gompi_persistent.lock);
	gompi_handles_remove(&gompi_persistent.handles, r->handle);
	gompi_objects_give(&gompi_persistent, r);
	gompi_biased_give(&gompi_persistent.lock);
	return true;
}
