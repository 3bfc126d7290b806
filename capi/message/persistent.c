// Persistent requests of messages (MPI-5.0 3.9). Only application calls create and free them, in most programs on one
// thread. So their memory and handles have their own biased lock, which that thread acquires without an atomic
// instruction. The lock of the VCI guards everything else, as for other requests.
#include "message/vci.h"

struct gompi_object_pool gompi_persistent_requests = GOMPI_OBJECT_POOL(GOMPI_KIND_PERSISTENT, struct gompi_request);

struct gompi_request *gompi_persistent_alloc(struct gompi_vci *l) {
	gompi_biased_lock(&gompi_persistent_requests.lock);
	struct gompi_request *r = gompi_pool_alloc(&gompi_persistent_requests);
	uintptr_t handle = r == NULL ? 0 : gompi_handles_add(&gompi_persistent_requests.handles, r);
	if (handle == 0 && r != NULL)
		gompi_pool_free(&gompi_persistent_requests, r);
	gompi_biased_unlock(&gompi_persistent_requests.lock);
	if (handle == 0)
		return NULL;
	gompi_request_clear(r);
	r->vci = l;
	r->handle = (uint32_t)handle;
	r->has_handle = r->persistent = r->in_persistent_table = true;
	gompi_store(&r->state, REQUEST_INACTIVE);
	return r;
}

void gompi_persistent_drop_handle(struct gompi_request *r) {
	gompi_biased_lock(&gompi_persistent_requests.lock);
	gompi_handles_remove(&gompi_persistent_requests.handles, r->handle);
	gompi_biased_unlock(&gompi_persistent_requests.lock);
}

void gompi_persistent_release(struct gompi_request *r) {
	gompi_biased_lock(&gompi_persistent_requests.lock);
	gompi_pool_free(&gompi_persistent_requests, r);
	gompi_biased_unlock(&gompi_persistent_requests.lock);
}

bool gompi_persistent_free(struct gompi_request *r) {
	// The thread that completes a request holds the VCI's lock, and may access the request until it releases the
	// lock.
	if (gompi_load_acquire(&r->state) == REQUEST_ACTIVE || gompi_biased_is_locked(&r->vci->lock))
		return false;
	if (__builtin_expect(r->buf.type != NULL, 0))
		gompi_buffer_release(&r->buf);
	gompi_biased_lock(&gompi_persistent_requests.lock);
	gompi_handles_remove(&gompi_persistent_requests.handles, r->handle);
	gompi_pool_free(&gompi_persistent_requests, r);
	gompi_biased_unlock(&gompi_persistent_requests.lock);
	return true;
}
