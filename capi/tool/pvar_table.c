// The performance variables and the functions that read them.
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/state.h"
#include "base/wait_time.h"
#include "comm/comm.h"
#include "datatype/datatype.h"
#include "fabric/net.h"
#include "file/execute.h"
#include "file/file.h"
#include "group/group.h"
#include "message/vci.h"
#include "session/session.h"
#include "tcp/tcp.h"
#include "tool/tool.h"
#include "win/counts.h"

// Locks the memory that exists only while MPI runs. Returns false, without the lock, if MPI does not run.
static bool lock_running(void) {
	gompi_mutex_lock(&gompi_app_messages_lock);
	if (gompi_load_acquire(&gompi_app_messages) != NULL) // pairs with gompi_messages_attach
		return true;
	gompi_mutex_unlock(&gompi_app_messages_lock);
	return false;
}

static void unlock_running(void) { gompi_mutex_unlock(&gompi_app_messages_lock); }

// --- Counters of an object, or of all objects of its kind. arg: offset in the counters

static bool sample_count(const struct gompi_pvar *p, const struct gompi_pvar_object *o, const void *of_all,
			 uint64_t *value) {
	const void *from = o->counts == NULL ? of_all : o->counts;
	*value = gompi_load((gompi_a64 *)((uintptr_t)from + p->arg));
	return true;
}

static bool sample_operations(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	return sample_count(p, o, &gompi_all_win_counts, value);
}

static bool sample_files(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	return sample_count(p, o, &gompi_all_file_counts, value);
}

// --- Messages. arg: enum message_value

enum message_value { UNEXPECTED_COUNT, UNEXPECTED_BYTES, UNEXPECTED_ARRIVED, PENDING_LINKS, REQUESTS };

static bool sample_messages(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	if (!lock_running())
		return false;
	struct gompi_messages *m = gompi_load(&gompi_app_messages);
	*value = 0;
	for (int i = 0; i < GOMPI_VCI_COUNT; i++) {
		struct gompi_vci *l = &m->vci[i];
		gompi_vci_lock(l);
		switch ((enum message_value)p->arg) {
		case UNEXPECTED_COUNT:
			*value += (uint64_t)gompi_load(&l->unexpected_count);
			break;
		case UNEXPECTED_BYTES:
			*value += (uint64_t)l->unexpected_bytes;
			break;
		case UNEXPECTED_ARRIVED:
			*value += gompi_load(&l->unexpected_arrived);
			break;
		case PENDING_LINKS:
			*value += gompi_load(&l->pending_links);
			break;
		case REQUESTS:
			*value += (uint64_t)l->live_count.live;
		}
		gompi_vci_unlock(l);
	}
	unlock_running();
	return true;
}

// --- Messages of a communicator, whose context no other communicator ever has. arg: enum comm_value

enum comm_value { POSTED_RECEIVES, COMM_UNEXPECTED_COUNT, COMM_UNEXPECTED_ARRIVED };

static bool sample_comm(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	int64_t posted = 0, unexpected = 0;
	if (lock_running()) {
		struct gompi_vci *l = gompi_vci_of(gompi_load(&gompi_app_messages), o->context);
		gompi_vci_lock(l);
		const struct gompi_queue *q = gompi_queue_find(&l->queues, o->context);
		if (q != NULL) {
			posted = q->posted.count;
			unexpected = q->unexpected.count;
			gompi_queue_store_counts(q);
		}
		gompi_vci_unlock(l);
		unlock_running();
	}
	*value = p->arg == POSTED_RECEIVES ? (uint64_t)posted
		 : p->arg == COMM_UNEXPECTED_COUNT
			 ? (uint64_t)unexpected
			 : gompi_load(&((struct gompi_queue_counts *)o->counts)->unexpected_arrived);
	return true;
}

// Stores the context of a communicator, and a reference to the counters of its queue. Returns NULL if out of memory, or
// if MPI does not run.
static struct gompi_tool_counts *acquire_comm_counts(const struct gompi_comm *c, uint64_t *context) {
	if (!lock_running())
		return NULL;
	*context = c->id;
	struct gompi_vci *l = gompi_vci_of(gompi_load(&gompi_app_messages), c->id);
	gompi_vci_lock(l);
	struct gompi_tool_counts *counts = gompi_tool_counts_acquire(&gompi_queue_of(&l->queues, c->id)->tool_counts,
								     sizeof(struct gompi_queue_counts));
	gompi_vci_unlock(l);
	unlock_running();
	return counts;
}

int gompi_pvar_bind(int bind, const void *obj_handle, struct gompi_pvar_object *o) {
	*o = (struct gompi_pvar_object){0};
	int class = gompi_tool_find_object(bind, obj_handle, &o->handle);
	if (class != MPI_SUCCESS || bind == MPI_T_BIND_NO_OBJECT)
		return class;
	if (bind == MPI_T_BIND_MPI_COMM)
		o->counts = acquire_comm_counts(gompi_comm_get((MPI_Comm)o->handle), &o->context);
	else if (bind == MPI_T_BIND_MPI_WIN)
		o->counts = gompi_tool_counts_acquire(&gompi_win_get((MPI_Win)o->handle)->tool_counts,
						      sizeof(struct gompi_win_counts));
	else
		o->counts = gompi_tool_counts_acquire(&gompi_file_get((MPI_File)o->handle)->tool_counts,
						      sizeof(struct gompi_file_counts));
	return o->counts == NULL ? MPI_T_ERR_MEMORY : MPI_SUCCESS;
}

// --- The node's memory. arg: enum cell_value

enum cell_value {
	RESERVED_BYTES,
	RELEASING_BYTES,
	CACHED_BYTES,
	DOORBELLS,
	BLOCKED_THREADS,
	WAITS,
	WAKEUPS,
	NODE_PROCESSES,
	FAILED_PROCESSES
};

// Returns the number of waits (or, if of_wakeups, of wake-ups) that threads of this process have recorded.
static uint64_t count_waits(struct gompi_cell *me, bool of_wakeups) {
	uint64_t sum = 0;
	for (int i = 0; i < GOMPI_WAIT_THREADS; i++) {
		struct gompi_wait_record *r = &me->wait_records[i];
		sum += gompi_load(of_wakeups ? &r->wakeup_count : &r->wait_count);
	}
	return sum;
}

static uint64_t cell_value(enum cell_value which) {
	struct gompi_cell *me = gompi_my_cell();
	switch (which) {
	case RESERVED_BYTES:
		return gompi_load((gompi_a64 *)&me->reserved_bytes);
	case RELEASING_BYTES:
		return gompi_load((gompi_a64 *)&me->releasing_bytes);
	case CACHED_BYTES:
		return gompi_load((gompi_a64 *)&me->cached_bytes);
	case DOORBELLS:
		return gompi_load(&me->doorbell);
	case BLOCKED_THREADS:
		return (uint64_t)gompi_load(&me->blocked_count);
	case WAITS:
	case WAKEUPS:
		return count_waits(me, which == WAKEUPS);
	case NODE_PROCESSES:
		return (uint64_t)gompi_node_count();
	case FAILED_PROCESSES:
		return gompi_load(&gompi_node_header()->failed_count) -
		       gompi_load(&gompi_node_header()->revocation_count);
	}
	return 0;
}

static bool sample_cell(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	if (!lock_running())
		return false;
	*value = cell_value((enum cell_value)p->arg);
	unlock_running();
	return true;
}

// --- Values of the process

// Reads a counter of the network. arg: its address
static bool sample_network(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	*value = gompi_load((gompi_a64 *)p->arg);
	return true;
}

// Counts the live handles of a table. arg: address of the table
static bool sample_table(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	struct gompi_table_entries *t = gompi_load_acquire(&((struct gompi_table *)p->arg)->entries);
	*value = 0;
	for (uintptr_t i = 0; t != &gompi_table_empty && i <= t->mask; i++) {
		// Handles are positive 32-bit numbers; the value of a free entry is 0 or above them (base/table.h).
		uintptr_t h = gompi_load(&t->entry[i].handle);
		*value += h != 0 && h <= UINT32_MAX;
	}
	return true;
}

static bool sample_windows(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	*value = gompi_load(&gompi_win_count);
	return true;
}

// The largest resident memory that a tool has read. Linux computes the maximum of getrusage from approximate counters,
// so it may be less than a value of /proc/self/statm.
static gompi_a64 resident_peak;

static bool sample_resident(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	bool found = f != NULL && fscanf(f, "%*u %lu", &pages) == 1;
	if (f != NULL)
		fclose(f);
	*value = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t peak = gompi_load(&resident_peak);
	while (peak < *value && !gompi_cas_weak(&resident_peak, &peak, *value))
		;
	return found;
}

static bool sample_resident_peak(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	struct rusage usage;
	if (!sample_resident(p, o, value) || getrusage(RUSAGE_SELF, &usage) != 0)
		return false;
	*value = gompi_max_u64(gompi_load(&resident_peak), (uint64_t)usage.ru_maxrss * 1024); // Linux reports KiB
	return true;
}

// Stores an index of the enumeration ENUM_MPI_STATE.
static bool sample_state(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	*value = gompi_load(&gompi_state.running) ? 1 : gompi_load(&gompi_state.finalized) ? 2 : 0;
	return true;
}

// Reads the time of a kind of waits. arg: enum gompi_wait_kind
static bool sample_wait_time(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	*value = gompi_load(&gompi_wait_times[p->arg]);
	return true;
}

// Reads the number of the pending accesses to the file to which the handle is bound.
static bool sample_pending_accesses(const struct gompi_pvar *p, const struct gompi_pvar_object *o, uint64_t *value) {
	gompi_biased_lock(&gompi_files.lock); // MPI_File_close removes the handle under it, before it frees the file
	struct gompi_file *f = gompi_file_get((MPI_File)o->handle);
	if (f != NULL)
		*value = gompi_load(&f->queue[0].count) + (uint64_t)gompi_load(&f->queue[1].count);
	gompi_biased_unlock(&gompi_files.lock);
	return f != NULL;
}

#define COUNTER(name, category, sample, arg, desc)                                                                \
	{                                                                                                         \
		name, desc, category, MPI_T_VERBOSITY_USER_BASIC, MPI_T_PVAR_CLASS_COUNTER, MPI_T_BIND_NO_OBJECT, \
			sample, arg, NULL                                                                         \
	}
#define LEVEL(name, category, sample, arg, desc)                                                                \
	{                                                                                                       \
		name, desc, category, MPI_T_VERBOSITY_USER_BASIC, MPI_T_PVAR_CLASS_LEVEL, MPI_T_BIND_NO_OBJECT, \
			sample, arg, NULL                                                                       \
	}

#define WAIT_TIME(name, category, kind, desc)                                                                   \
	{                                                                                                       \
		name, desc, category, MPI_T_VERBOSITY_USER_BASIC, MPI_T_PVAR_CLASS_TIMER, MPI_T_BIND_NO_OBJECT, \
			sample_wait_time, kind, &gompi_wait_times_requested                                     \
	}

// A variable of the reads (0) or writes (1) of files.
#define FILE_ACCESSES(name, class, bind, is_write, field, desc)                                          \
	{                                                                                                \
		name, desc, CATEGORY_FILES, MPI_T_VERBOSITY_USER_BASIC, class, bind, sample_files,       \
			offsetof(struct gompi_file_counts, access[is_write].field), &gompi_file_counting \
	}

// A variable of the communicator to which its handle is bound.
#define COMM_VALUE(name, class, value, desc)                                                                        \
	{                                                                                                           \
		name, desc, CATEGORY_MESSAGES, MPI_T_VERBOSITY_USER_BASIC, class, MPI_T_BIND_MPI_COMM, sample_comm, \
			value, NULL                                                                                 \
	}

// The variables of the operations of one kind on one path: calls and bytes, of a window and of all windows.
#define OPERATION(prefix, text, class, bind, kind, path, field)                                          \
	{                                                                                                \
		prefix, text, CATEGORY_RMA, MPI_T_VERBOSITY_USER_DETAIL, class, bind, sample_operations, \
			offsetof(struct gompi_win_counts, count[kind][path].field), &gompi_counting      \
	}
#define OPERATIONS(name, text, kind, path)                                                                     \
	OPERATION("win_" name "_calls", "number of " text " on a window", MPI_T_PVAR_CLASS_COUNTER,            \
		  MPI_T_BIND_MPI_WIN, kind, path, calls),                                                      \
		OPERATION("win_" name "_bytes", "bytes at the target of " text " on a window",                 \
			  MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_BIND_MPI_WIN, kind, path, bytes),                  \
		OPERATION("rma_" name "_calls", "number of " text " on all windows", MPI_T_PVAR_CLASS_COUNTER, \
			  MPI_T_BIND_NO_OBJECT, kind, path, calls),                                            \
		OPERATION("rma_" name "_bytes", "bytes at the target of " text " on all windows",              \
			  MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_BIND_NO_OBJECT, kind, path, bytes)
// All paths but the direct one, which is not counted (win/counts.h).
#define PATHS(name, text, kind)                                                                                     \
	OPERATIONS(name "_ring", text " that the target's process executes", kind, MPIX_GOMPIRMA_RING),             \
		OPERATIONS(name "_cma", text " by process_vm_readv or process_vm_writev", kind, MPIX_GOMPIRMA_CMA), \
		OPERATIONS(name "_network", text " to other nodes", kind, MPIX_GOMPIRMA_NETWORK)

// New variables are added at the end, since tools may keep an index. docs/INSIGHT.md lists the names.
const struct gompi_pvar gompi_pvars[] = {
	PATHS("put", "puts", RMA_PUT),
	PATHS("get", "gets", RMA_GET),
	PATHS("accumulate", "accumulates", RMA_ACCUMULATE),
	PATHS("get_accumulate", "get-accumulates", RMA_GET_ACCUMULATE),
	PATHS("fetch_and_op", "fetch-and-ops", RMA_FETCH_AND_OP),
	PATHS("compare_and_swap", "compare-and-swaps", RMA_COMPARE_AND_SWAP),

	LEVEL("unexpected_messages", CATEGORY_MESSAGES, sample_messages, UNEXPECTED_COUNT,
	      "messages that have arrived and that no receive has matched"),
	LEVEL("unexpected_bytes", CATEGORY_MESSAGES, sample_messages, UNEXPECTED_BYTES,
	      "memory of the messages that no receive has matched"),
	COUNTER("unexpected_arrivals", CATEGORY_MESSAGES, sample_messages, UNEXPECTED_ARRIVED,
		"messages that arrived before their receive"),
	LEVEL("pending_links", CATEGORY_MESSAGES, sample_messages, PENDING_LINKS,
	      "processes for which messages wait because their inbox or the network is full"),
	LEVEL("requests", CATEGORY_MESSAGES, sample_messages, REQUESTS,
	      "requests and unexpected messages that are allocated"),

	LEVEL("memory_reserved_bytes", CATEGORY_MEMORY, sample_cell, RESERVED_BYTES,
	      "shared memory that this process is about to allocate"),
	LEVEL("memory_releasing_bytes", CATEGORY_MEMORY, sample_cell, RELEASING_BYTES,
	      "freed shared memory that is being returned to the system"),
	LEVEL("memory_cached_bytes", CATEGORY_MEMORY, sample_cell, CACHED_BYTES,
	      "unused control memory of windows and communicators"),
	LEVEL("memory_resident_bytes", CATEGORY_MEMORY, sample_resident, 0, "resident memory of the process"),
	{"memory_resident_peak_bytes", "maximum of the resident memory since the process started", CATEGORY_MEMORY,
	 MPI_T_VERBOSITY_USER_BASIC, MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_T_BIND_NO_OBJECT, sample_resident_peak, 0,
	 NULL},

	COUNTER("network_frames_sent", CATEGORY_NETWORK, sample_network, (size_t)&gompi_net_counts.frames_sent,
		"network messages with records that were sent"),
	COUNTER("network_frames_received", CATEGORY_NETWORK, sample_network, (size_t)&gompi_net_counts.frames_received,
		"network messages that were received"),
	COUNTER("network_frames_dropped", CATEGORY_NETWORK, sample_network, (size_t)&gompi_net_counts.frames_dropped,
		"network messages that were invalid"),
	COUNTER("network_credits_sent", CATEGORY_NETWORK, sample_network, (size_t)&gompi_net_counts.credits_sent,
		"network messages that only returned credits"),
	COUNTER("network_transfers", CATEGORY_NETWORK, sample_network, (size_t)&gompi_net_counts.transfers,
		"reads and writes of registered memory"),

	LEVEL("communicators", CATEGORY_OBJECTS, sample_table, (size_t)&gompi_comms,
	      "communicators other than MPI_COMM_WORLD and MPI_COMM_SELF"),
	LEVEL("windows", CATEGORY_OBJECTS, sample_windows, 0, "windows"),
	LEVEL("datatypes", CATEGORY_OBJECTS, sample_table, (size_t)&gompi_types.table, "derived datatypes"),
	LEVEL("groups", CATEGORY_OBJECTS, sample_table, (size_t)&gompi_groups.handles.table, "groups"),
	LEVEL("files", CATEGORY_OBJECTS, sample_table, (size_t)&gompi_files.handles.table, "open files"),
	LEVEL("sessions", CATEGORY_OBJECTS, sample_table, (size_t)&gompi_sessions.handles.table, "sessions"),
	LEVEL("persistent_requests", CATEGORY_OBJECTS, sample_table, (size_t)&gompi_persistent_requests.handles.table,
	      "persistent point-to-point requests"),

	COUNTER("progress_doorbells", CATEGORY_PROGRESS, sample_cell, DOORBELLS,
		"notifications of the progress thread for operations on the node"),
	COUNTER("waits", CATEGORY_PROGRESS, sample_cell, WAITS,
		"waits of threads that did not end while the thread polled"),
	COUNTER("wait_wakeups", CATEGORY_PROGRESS, sample_cell, WAKEUPS,
		"wake-ups during the waits that did not end while the thread polled"),
	LEVEL("blocked_threads", CATEGORY_PROGRESS, sample_cell, BLOCKED_THREADS, "threads inside a blocking call"),

	{"mpi_state", "state of MPI in this process", CATEGORY_LAUNCHER, MPI_T_VERBOSITY_USER_BASIC,
	 MPI_T_PVAR_CLASS_STATE, MPI_T_BIND_NO_OBJECT, sample_state, 0, NULL},
	LEVEL("node_processes", CATEGORY_LAUNCHER, sample_cell, NODE_PROCESSES,
	      "processes that exist or have existed on this node"),
	LEVEL("failed_processes", CATEGORY_LAUNCHER, sample_cell, FAILED_PROCESSES,
	      "failed processes that the processes of this node have found"),

	WAIT_TIME("lock_wait_time", CATEGORY_RMA, WAIT_FOR_LOCK, "nanoseconds of waits for locks of windows"),
	WAIT_TIME("fence_wait_time", CATEGORY_RMA, WAIT_IN_FENCE, "nanoseconds of waits in MPI_Win_fence"),
	WAIT_TIME("flush_wait_time", CATEGORY_RMA, WAIT_IN_FLUSH,
		  "nanoseconds of waits for one-sided operations, as in MPI_Win_flush and MPI_Win_unlock"),
	WAIT_TIME("pscw_wait_time", CATEGORY_RMA, WAIT_IN_PSCW,
		  "nanoseconds of waits in MPI_Win_start, MPI_Win_complete, MPI_Win_post and MPI_Win_wait"),
	WAIT_TIME("message_wait_time", CATEGORY_MESSAGES, WAIT_FOR_MESSAGE,
		  "nanoseconds of waits in functions of messages and requests"),
	WAIT_TIME("collective_wait_time", CATEGORY_MESSAGES, WAIT_IN_ANOTHER,
		  "nanoseconds of waits in all other functions, which are almost all collective"),

	FILE_ACCESSES("file_reads", MPI_T_PVAR_CLASS_COUNTER, MPI_T_BIND_NO_OBJECT, 0, calls,
		      "number of reads of files"),
	FILE_ACCESSES("file_read_bytes", MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_BIND_NO_OBJECT, 0, bytes,
		      "bytes of the reads of files"),
	FILE_ACCESSES("file_writes", MPI_T_PVAR_CLASS_COUNTER, MPI_T_BIND_NO_OBJECT, 1, calls,
		      "number of writes of files"),
	FILE_ACCESSES("file_write_bytes", MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_BIND_NO_OBJECT, 1, bytes,
		      "bytes of the writes of files"),

	FILE_ACCESSES("per_file_reads", MPI_T_PVAR_CLASS_COUNTER, MPI_T_BIND_MPI_FILE, 0, calls,
		      "number of reads of a file"),
	FILE_ACCESSES("per_file_read_bytes", MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_BIND_MPI_FILE, 0, bytes,
		      "bytes of the reads of a file"),
	FILE_ACCESSES("per_file_writes", MPI_T_PVAR_CLASS_COUNTER, MPI_T_BIND_MPI_FILE, 1, calls,
		      "number of writes of a file"),
	FILE_ACCESSES("per_file_write_bytes", MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_BIND_MPI_FILE, 1, bytes,
		      "bytes of the writes of a file"),
	{"per_file_pending_accesses", "nonblocking and split collective accesses to a file that are not complete",
	 CATEGORY_FILES, MPI_T_VERBOSITY_USER_BASIC, MPI_T_PVAR_CLASS_LEVEL, MPI_T_BIND_MPI_FILE,
	 sample_pending_accesses, 0, NULL},

	COMM_VALUE("comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, POSTED_RECEIVES,
		   "receives on a communicator that no message has matched"),
	COMM_VALUE("comm_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, COMM_UNEXPECTED_COUNT,
		   "messages on a communicator that have arrived and that no receive has matched"),
	COMM_VALUE("comm_unexpected_arrivals", MPI_T_PVAR_CLASS_COUNTER, COMM_UNEXPECTED_ARRIVED,
		   "messages on a communicator that arrived before their receive"),

	COUNTER("network_failed_connects", CATEGORY_NETWORK, sample_network, (size_t)&gompi_tcp_counts.failed_connects,
		"attempts to connect to a process of another node that have failed; gompirma makes further attempts"),
};
const int gompi_pvar_count = GOMPI_ARRAY_LENGTH(gompi_pvars);
