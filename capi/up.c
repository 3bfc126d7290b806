// Fills in the table of functions that the packages below capi call: base/up.h.
#include "base/up.h"

#include "_cgo_export.h"
#include "base/call.h"
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

static int tell_members(uintptr_t win, const void *mine, size_t bytes, void *all, char *text) {
	return gompi_tell_members(win, (uintptr_t)mine, (int64_t)bytes, (uintptr_t)all, (uintptr_t)text);
}

static void host_of(int peer, char *name, int size) { gompi_host_of(peer, (uintptr_t)name, size); }

static int barrier_by_messages(uintptr_t comm) {
	const char *outer = gompi_enter("MPI_Barrier");
	int rc = gompi_barrier_messages(comm);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}

static int make_type(const struct gompi_recipe *recipe, uintptr_t newtype) {
	const char *outer = gompi_enter(recipe->call);
	int rc = gompi_make_type((uintptr_t)recipe, newtype);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}

static void forget_type(uintptr_t number) { gompi_forget_type(number); }

static int contents_in_go(const struct gompi_contents *contents, uintptr_t datatype) {
	const char *outer = gompi_enter("MPI_Type_get_contents");
	int rc = gompi_get_contents((uintptr_t)contents, datatype);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}

static int create_f90(const char *call, int combiner, int p, int r, MPI_Datatype *newtype) {
	const char *outer = gompi_enter(call);
	int rc = gompi_create_f90((uintptr_t)call, combiner, p, r, (uintptr_t)newtype);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}

static bool elements_in(uintptr_t datatype, int64_t bytes, int64_t *elements) {
	return gompi_elements_in(datatype, bytes, (uintptr_t)elements) != 0;
}

static bool bytes_of(uintptr_t datatype, int64_t elements, int64_t *bytes) {
	return gompi_bytes_of(datatype, elements, (uintptr_t)bytes) != 0;
}

static int request(uintptr_t object, enum gompi_request_what what, char *text) {
	return gompi_other_request(object, (int)what, (uintptr_t)text);
}

static int collective(const struct gompi_collective *call) {
	const char *outer = gompi_enter(call->name);
	int rc = gompi_run_collective((uintptr_t)call);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}

static int slots_differ(uintptr_t comm, const char *call, const struct gompi_slots_differ *differ) {
	int rc = gompi_refuse_slots(comm, (uintptr_t)call, (uintptr_t)differ);
	return rc < 0 ? gompi_raise(rc) : rc;
}

static int start_collective(const struct gompi_collective *call, bool persistent, uintptr_t info, uintptr_t request) {
	int rc = gompi_start_collective((uintptr_t)call, persistent, info, request);
	return rc < 0 ? gompi_raise(rc) : rc;
}

static int explain_differ(const struct gompi_slots_differ *differ, char *text) {
	return gompi_tell_differ((uintptr_t)differ, (uintptr_t)text);
}

static int idup_told(uintptr_t number, const char *told) {
	int rc = gompi_take_idup(number, (uintptr_t)told);
	return rc < 0 ? gompi_raise(rc) : rc;
}

static int idup_over(uintptr_t number, const char *told, int failed, int worst, char *text) {
	int rc = gompi_end_idup(number, (uintptr_t)told, failed, worst, (uintptr_t)text);
	return rc < 0 ? gompi_raise(rc) : rc;
}

static void board_left(uintptr_t owner) { gompi_let_comm_go(owner); }

static void *more_slots(uintptr_t owner, uint64_t bytes) { return (void *)gompi_more_slots(owner, bytes); }

static bool take_block(uintptr_t owner, uint64_t bytes, uint64_t *name) {
	*name = gompi_take_block(owner, bytes);
	return *name != 0;
}

static void *open_block(uintptr_t owner, uint64_t name, uint64_t bytes) {
	return (void *)gompi_open_block(owner, name, bytes);
}

static void give_block(uintptr_t owner, uint64_t name, uint64_t bytes) { gompi_give_block(owner, name, bytes); }

static int combine(uintptr_t reduction, const void *in, void *inout, uint64_t bytes) {
	return gompi_combine_in_go(reduction, (uintptr_t)in, (uintptr_t)inout, bytes);
}

static int reduce_local(uintptr_t in, uintptr_t inout, int64_t count, uintptr_t datatype, uintptr_t op) {
	const char *outer = gompi_enter("MPI_Reduce_local");
	int rc = gompi_reduce_local_checked(in, inout, count, datatype, op);
	gompi_leave(outer);
	return rc < 0 ? gompi_raise(rc) : rc;
}

// Runs when the library is loaded, before any MPI call.
static __attribute__((constructor)) void fill(void) {
	gompi_up = (struct gompi_up){
		.called_text = gompi_called_text,
		.raise = gompi_raise_error,
		.find_dead = gompi_find_dead,
		.attached_table = attached_table,
		.map_attached = map_attached,
		.grow_attached = grow_attached,
		.tell_members = tell_members,
		.host_of = host_of,
		.barrier_by_messages = barrier_by_messages,
		.make_type = make_type,
		.forget_type = forget_type,
		.get_contents = contents_in_go,
		.create_f90 = create_f90,
		.elements_in = elements_in,
		.bytes_of = bytes_of,
		.collective = collective,
		.slots_differ = slots_differ,
		.start_collective = start_collective,
		.explain_differ = explain_differ,
		.idup_told = idup_told,
		.idup_over = idup_over,
		.board_left = board_left,
		.more_slots = more_slots,
		.take_block = take_block,
		.open_block = open_block,
		.give_block = give_block,
		.call_operation = gompi_op_call_user,
		.combine = combine,
		.reduce_local = reduce_local,
		.request = request,
	};
}
