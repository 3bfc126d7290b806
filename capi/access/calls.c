// The functions that gcc's instrumentation calls for loads, stores and atomic operations. The call of such a function
// replaces an atomic operation, so the function also executes the operation. This file also has wrappers of the libc
// functions that read and write whole ranges. The linker option --wrap redirects the program's calls to these wrappers.

#include <string.h>

#include "access/access.h"

#define EXPORTED __attribute__((visibility("default")))

// Records an access. A loop over memory stays on this fast path, because each program location always accesses the same
// size.
static inline __attribute__((always_inline)) void note(const void *p, uint32_t size, unsigned kind, void *place) {
	if (!gompi_access_is_enabled())
		return;
	uintptr_t address = (uintptr_t)p, key = gompi_access_key(place, kind);
	struct gompi_access_site *s = gompi_access_site(key);
	if (__builtin_expect(s->key == key && s->generation == gompi_load(&gompi_access_runtime.generation), 1)) {
		if (address - s->checked_low < s->checked_bytes) {
			if (address == s->next) {
				s->next += s->stride;
				return;
			}
			if (s->stride == 0 || (s->stride == size && address - s->low < s->next - s->low))
				return;
		}
	}
	gompi_access_record(address, size, kind, place);
}

static void note_range(const void *p, size_t size, unsigned kind, void *place) {
	if (gompi_access_is_enabled())
		gompi_access_record((uintptr_t)p, size, kind, place);
}
#define NOTE_RANGE(p, size, kind) note_range(p, size, kind, __builtin_return_address(0))
#define NOTE(p, size, kind) note(p, size, kind, __builtin_return_address(0))

EXPORTED void __tsan_init(void) {}
EXPORTED void __tsan_func_entry(void *caller) { (void)caller; }
EXPORTED void __tsan_func_exit(void) {}

#define PLAIN_ACCESS(name, n)                                                                               \
	EXPORTED void __tsan_##name##read##n(void *p) { NOTE(p, n, GOMPI_ACCESS_LOAD); }                    \
	EXPORTED void __tsan_##name##write##n(void *p) { NOTE(p, n, GOMPI_ACCESS_STORE); }                  \
	EXPORTED void __tsan_##name##read##n##_pc(void *p, void *at) { note(p, n, GOMPI_ACCESS_LOAD, at); } \
	EXPORTED void __tsan_##name##write##n##_pc(void *p, void *at) { note(p, n, GOMPI_ACCESS_STORE, at); }
#define SIZES(name) \
	PLAIN_ACCESS(name, 1) PLAIN_ACCESS(name, 2) PLAIN_ACCESS(name, 4) PLAIN_ACCESS(name, 8) PLAIN_ACCESS(name, 16)
SIZES()
SIZES(unaligned_)
SIZES(volatile_)
SIZES(unaligned_volatile_)

#define READ_WRITE(n)                                           \
	EXPORTED void __tsan_read_write##n(void *p) {           \
		NOTE(p, n, GOMPI_ACCESS_LOAD);                  \
		NOTE(p, n, GOMPI_ACCESS_STORE);                 \
	}                                                       \
	EXPORTED void __tsan_unaligned_read_write##n(void *p) { \
		NOTE(p, n, GOMPI_ACCESS_LOAD);                  \
		NOTE(p, n, GOMPI_ACCESS_STORE);                 \
	}
READ_WRITE(1)
READ_WRITE(2)
READ_WRITE(4)
READ_WRITE(8)
READ_WRITE(16)

EXPORTED void __tsan_read_range(void *p, unsigned long size) { NOTE_RANGE(p, size, GOMPI_ACCESS_LOAD); }
EXPORTED void __tsan_write_range(void *p, unsigned long size) { NOTE_RANGE(p, size, GOMPI_ACCESS_STORE); }
EXPORTED void __tsan_vptr_update(void **p, void *value) {
	(void)value;
	NOTE(p, sizeof *p, GOMPI_ACCESS_STORE);
}
EXPORTED void __tsan_vptr_read(void **p) { NOTE(p, sizeof *p, GOMPI_ACCESS_LOAD); }

// Records the accesses of a libc function and calls it. The linker redirects calls of X to __wrap_X.
EXPORTED void *__wrap_memcpy(void *to, const void *from, size_t n) {
	NOTE_RANGE(from, n, GOMPI_ACCESS_LOAD);
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return memcpy(to, from, n);
}
EXPORTED void *__wrap_memmove(void *to, const void *from, size_t n) {
	NOTE_RANGE(from, n, GOMPI_ACCESS_LOAD);
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return memmove(to, from, n);
}
EXPORTED void *__wrap_memset(void *to, int byte, size_t n) {
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return memset(to, byte, n);
}
// Declares the variants that _FORTIFY_SOURCE uses.
void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int byte, size_t n, size_t room);
EXPORTED void *__wrap___memcpy_chk(void *to, const void *from, size_t n, size_t room) {
	NOTE_RANGE(from, n, GOMPI_ACCESS_LOAD);
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return __memcpy_chk(to, from, n, room);
}
EXPORTED void *__wrap___memmove_chk(void *to, const void *from, size_t n, size_t room) {
	NOTE_RANGE(from, n, GOMPI_ACCESS_LOAD);
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return __memmove_chk(to, from, n, room);
}
EXPORTED void *__wrap___memset_chk(void *to, int byte, size_t n, size_t room) {
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return __memset_chk(to, byte, n, room);
}

// Passes the thread's recorded accesses to libgompirma-insight.so at once; that library appends them as records to its
// ring of records. The position of an atomic operation's record in the ring defines the order of the operation. A store
// is recorded before it is executed, so that a thread that loads the stored value appends its record later. A load is
// recorded after it is executed.
static void flush_recorded(void) {
	void (*flush)(void) = gompi_load(&gompi_access_runtime.flush);
	if (flush != NULL)
		flush();
}

static void notify_order(void (*_Atomic *hook)(const void *p), const void *p) {
	void (*notify)(const void *p) = gompi_load(hook);
	if (notify != NULL)
		notify(p);
}

static __attribute__((noinline)) void before_store(const void *p, size_t size, void *place) {
	if (!gompi_access_is_watched((uintptr_t)p, size)) {
		notify_order(&gompi_access_runtime.release, p);
		return;
	}
	gompi_access_record((uintptr_t)p, size, GOMPI_ACCESS_ATOMIC_STORE, place);
	flush_recorded();
}

// Caches the latest atomic loads. A load that returns the same value as the previous load, without an MPI call in
// between, adds no information and is not recorded. So a polling loop does not fill the ring.
static _Thread_local struct {
	const void *p;
	void *place;
	uint64_t value;
	uint32_t stamp;
} last_loads[4] __attribute__((tls_model("initial-exec")));

static __attribute__((noinline)) void after_load(const void *p, size_t size, uint64_t value, void *place) {
	if (!gompi_access_is_watched((uintptr_t)p, size)) {
		notify_order(&gompi_access_runtime.acquire, p);
		return;
	}
	uint32_t stamp = gompi_load(&gompi_access_runtime.generation);
	size_t i = ((uintptr_t)p >> 2) % (sizeof last_loads / sizeof *last_loads);
	if (last_loads[i].p == p && last_loads[i].place == place && last_loads[i].value == value &&
	    last_loads[i].stamp == stamp)
		return;
	last_loads[i].p = p;
	last_loads[i].place = place;
	last_loads[i].value = value;
	last_loads[i].stamp = stamp;
	gompi_access_record((uintptr_t)p, size, GOMPI_ACCESS_ATOMIC_LOAD, place);
	flush_recorded();
}
#define BEFORE(p)                      \
	if (gompi_access_is_enabled()) \
	before_store(p, sizeof *(p), __builtin_return_address(0))
#define AFTER(p, v)                    \
	if (gompi_access_is_enabled()) \
	after_load(p, sizeof *(p), (uint64_t)(v), __builtin_return_address(0))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
__extension__ typedef unsigned __int128 u128;

// All operations use seq_cst, whatever memory order the program requests. A checked program may therefore run slightly
// slower.
#define FETCH(n, name)                                                          \
	EXPORTED u##n __tsan_atomic##n##_fetch_##name(u##n *p, u##n v, int o) { \
		(void)o;                                                        \
		BEFORE(p);                                                      \
		u##n old = __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST);       \
		AFTER(p, old);                                                  \
		return old;                                                     \
	}
#define COMPARE(n, how)                                                                                  \
	EXPORTED int __tsan_atomic##n##_compare_exchange_##how(u##n *p, u##n *c, u##n v, int o, int f) { \
		(void)o, (void)f;                                                                        \
		if (gompi_access_is_enabled() && __atomic_load_n(p, __ATOMIC_RELAXED) == *c)             \
			before_store(p, sizeof *p, __builtin_return_address(0));                         \
		int is = __atomic_compare_exchange_n(p, c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
		AFTER(p, is ? v : *c);                                                                   \
		return is;                                                                               \
	}
#define ATOMIC(n)                                                                                      \
	EXPORTED u##n __tsan_atomic##n##_load(const u##n *p, int o) {                                  \
		(void)o;                                                                               \
		u##n v = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                         \
		AFTER(p, v);                                                                           \
		return v;                                                                              \
	}                                                                                              \
	EXPORTED void __tsan_atomic##n##_store(u##n *p, u##n v, int o) {                               \
		(void)o;                                                                               \
		BEFORE(p);                                                                             \
		__atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                              \
	}                                                                                              \
	EXPORTED u##n __tsan_atomic##n##_exchange(u##n *p, u##n v, int o) {                            \
		(void)o;                                                                               \
		BEFORE(p);                                                                             \
		u##n old = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                \
		AFTER(p, old);                                                                         \
		return old;                                                                            \
	}                                                                                              \
	EXPORTED u##n __tsan_atomic##n##_compare_exchange_val(u##n *p, u##n c, u##n v, int o, int f) { \
		(void)o, (void)f;                                                                      \
		BEFORE(p);                                                                             \
		__atomic_compare_exchange_n(p, &c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);          \
		AFTER(p, c);                                                                           \
		return c;                                                                              \
	}                                                                                              \
	FETCH(n, add)                                                                                  \
	FETCH(n, sub)                                                                                  \
	FETCH(n, and)                                                                                  \
	FETCH(n, or)                                                                                   \
	FETCH(n, xor)                                                                                  \
	FETCH(n, nand)                                                                                 \
	COMPARE(n, strong)                                                                             \
	COMPARE(n, weak)
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

// Updates 16 bytes by compare and swap, which does not need libatomic. Returns the old value.
static u128 update_128(u128 *p, u128 (*new)(u128 old, u128 v), u128 v) {
	u128 old = 0, seen;
	while ((seen = __sync_val_compare_and_swap(p, old, new (old, v))) != old)
		old = seen;
	return old;
}
#define FETCH_128(name, formula)                                        \
	static u128 new_##name(u128 old, u128 v) { return formula; }    \
	EXPORTED u128 __tsan_atomic128_##name(u128 *p, u128 v, int o) { \
		(void)o;                                                \
		BEFORE(p);                                              \
		u128 old = update_128(p, new_##name, v);                \
		AFTER(p, old);                                          \
		return old;                                             \
	}
FETCH_128(fetch_add, old + v)
FETCH_128(fetch_sub, old - v)
FETCH_128(fetch_and, old &v)
FETCH_128(fetch_or, old | v)
FETCH_128(fetch_xor, old ^ v)
FETCH_128(fetch_nand, ~(old &v))
FETCH_128(exchange, ((void)old, v))
EXPORTED void __tsan_atomic128_store(u128 *p, u128 v, int o) {
	(void)o;
	BEFORE(p);
	(void)update_128(p, new_exchange, v);
}
EXPORTED u128 __tsan_atomic128_load(const u128 *p, int o) {
	(void)o;
	u128 v = __sync_val_compare_and_swap((u128 *)p, 0, 0);
	AFTER(p, v);
	return v;
}
EXPORTED u128 __tsan_atomic128_compare_exchange_val(u128 *p, u128 c, u128 v, int o, int f) {
	(void)o, (void)f;
	BEFORE(p);
	u128 old = __sync_val_compare_and_swap(p, c, v);
	AFTER(p, old);
	return old;
}
EXPORTED int __tsan_atomic128_compare_exchange_strong(u128 *p, u128 *c, u128 v, int o, int f) {
	(void)o, (void)f;
	BEFORE(p);
	u128 old = __sync_val_compare_and_swap(p, *c, v);
	AFTER(p, old);
	int is = old == *c;
	*c = old;
	return is;
}
EXPORTED int __tsan_atomic128_compare_exchange_weak(u128 *p, u128 *c, u128 v, int o, int f) {
	return __tsan_atomic128_compare_exchange_strong(p, c, v, o, f);
}

EXPORTED void __tsan_atomic_thread_fence(int order) {
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
EXPORTED void __tsan_atomic_signal_fence(int order) {
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
