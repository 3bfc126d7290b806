// Fills in the table of functions that the packages below capi call: base/go_callbacks.h.
#include "base/go_callbacks.h"

#include "_cgo_export.h"
#include "base/call_name.h"
#include "cross.h"
#include "datatype/recipe.h"
#include "error.h"
#include "op_user.h"

static void *attached_table(uintptr_t win, int rank) { return (void *)gompi_attached_table(win, rank); }

static void *map_attached(uintptr_t win, int64_t offset, int64_t size) {
	return (void *)gompi_map_attached(win, offset, size);
}

static int grow_attached(uintptr_t win, uint64_t *bytes, char *text) {
	return gompi_grow_attached(win, (uintptr_t)bytes, (uintptr_t)text);
}

static int exchange_with_members(uintptr_t win, const void *mine, size_t bytes, void *all, char *text) {
	return gompi_exchange_with_members(win, (uintptr_t)mine, (int64_t)bytes, (uintptr_t)all, (uintptr_t)text);
}

static void host_of(int peer, char *name, int size) { gompi_host_of(peer, (uintptr_t)name, size); }

static int barrier_messages(uintptr_t comm) {
	const char *outer = gompi_enter_call("MPI_Barrier");
	int rc = gompi_barrier_messages(comm);
	gompi_leave_call(outer);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

static int construct_type(const struct gompi_recipe *recipe, uintptr_t newtype) {
	const char *outer = gompi_enter_call(recipe->call);
	int rc = gompi_construct_type((uintptr_t)recipe, newtype);
	gompi_leave_call(outer);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

static void type_freed(uintptr_t number) { gompi_type_freed(number); }

static int get_contents(const struct gompi_contents *contents, uintptr_t datatype) {
	const char *outer = gompi_enter_call("MPI_Type_get_contents");
	int rc = gompi_get_contents((uintptr_t)contents, datatype);
	gompi_leave_call(outer);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

static int create_f90(const char *call, int combiner, int p, int r, MPI_Datatype *newtype) {
	const char *outer = gompi_enter_call(call);
	int rc = gompi_create_f90((uintptr_t)call, combiner, p, r, (uintptr_t)newtype);
	gompi_leave_call(outer);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

static bool count_elements(uintptr_t datatype, int64_t bytes, int64_t *elements) {
	return gompi_count_elements(datatype, bytes, (uintptr_t)elements) != 0;
}

static bool element_bytes(uintptr_t datatype, int64_t elements, int64_t *bytes) {
	return gompi_element_bytes(datatype, elements, (uintptr_t)bytes) != 0;
}

static int run_collective(const struct gompi_collective *call) {
	const char *outer = gompi_enter_call(call->name);
	int rc = gompi_run_collective((uintptr_t)call);
	gompi_leave_call(outer);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

static int raise_mismatch(uintptr_t comm, const char *call, const struct gompi_coll_mismatch *mismatch) {
	int rc = gompi_raise_mismatch(comm, (uintptr_t)call, (uintptr_t)mismatch);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

static int start_collective(const struct gompi_collective *call, bool persistent, uintptr_t info, uintptr_t request) {
	int rc = gompi_start_collective((uintptr_t)call, persistent, info, request);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

static int mismatch_text(const struct gompi_coll_mismatch *mismatch, char *text) {
	return gompi_mismatch_text((uintptr_t)mismatch, (uintptr_t)text);
}

static int idup_deliver(uintptr_t number, const char *offer) {
	int rc = gompi_idup_deliver(number, (uintptr_t)offer);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

static int idup_finish(uintptr_t number, const char *offer, int failed, int worst, char *text) {
	int rc = gompi_idup_finish(number, (uintptr_t)offer, failed, worst, (uintptr_t)text);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

static void release_comm(uintptr_t owner) { gompi_release_comm(owner); }

static void *grow_shm(uintptr_t owner, uint64_t bytes) { return (void *)gompi_grow_shm(owner, bytes); }

static bool alloc_block(uintptr_t owner, uint64_t bytes, uint64_t *name) {
	*name = gompi_alloc_block(owner, bytes);
	return *name != 0;
}

static void *map_block(uintptr_t owner, uint64_t name, uint64_t bytes) {
	return (void *)gompi_map_block(owner, name, bytes);
}

static void free_block(uintptr_t owner, uint64_t name, uint64_t bytes) { gompi_free_block(owner, name, bytes); }

static int reduce_in_go(uintptr_t reduction, const void *in, void *inout, uint64_t bytes) {
	return gompi_reduce_in_go(reduction, (uintptr_t)in, (uintptr_t)inout, bytes);
}

static int reduce_local(uintptr_t in, uintptr_t inout, int64_t count, uintptr_t datatype, uintptr_t op) {
	const char *outer = gompi_enter_call("MPI_Reduce_local");
	int rc = gompi_reduce_local_checked(in, inout, count, datatype, op);
	gompi_leave_call(outer);
	return rc < 0 ? gompi_raise_pending(rc) : rc;
}

// Runs when the library is loaded, before any MPI call.
static __attribute__((constructor)) void register_callbacks(void) {
	gompi_go_callbacks = (struct gompi_go_callbacks){
		.called_error_text = gompi_called_error_text,
		.raise = gompi_raise_error,
		.find_failed = gompi_find_failed,
		.attached_table = attached_table,
		.map_attached = map_attached,
		.grow_attached = grow_attached,
		.exchange_with_members = exchange_with_members,
		.host_of = host_of,
		.barrier_messages = barrier_messages,
		.construct_type = construct_type,
		.type_freed = type_freed,
		.get_contents = get_contents,
		.create_f90 = create_f90,
		.count_elements = count_elements,
		.element_bytes = element_bytes,
		.run_collective = run_collective,
		.raise_mismatch = raise_mismatch,
		.start_collective = start_collective,
		.mismatch_text = mismatch_text,
		.idup_deliver = idup_deliver,
		.idup_finish = idup_finish,
		.release_comm = release_comm,
		.grow_shm = grow_shm,
		.alloc_block = alloc_block,
		.map_block = map_block,
		.free_block = free_block,
		.call_user_op = gompi_op_call_user,
		.reduce_in_go = reduce_in_go,
		.reduce_local = reduce_local,
	};
}
