// The functions that gcc's instrumentation calls: for loads and stores, for atomic operations, which they also execute,
// and, by the linker's --wrap, wrappers of the libc functions that read and write whole ranges.

#include <string.h>

#include "access/access.h"

#define CALLED __attribute__((visibility("default")))

// Records an access. A loop over memory stays on the fast path here, since each program location accesses the same size
// each time.
static inline __attribute__((always_inline)) void note(const void *p, uint32_t size, unsigned kind, void *place) {
	if (!gompi_access_on())
		return;
	uintptr_t address = (uintptr_t)p, key = gompi_access_key(place, kind);
	struct gompi_access_spot *s = gompi_access_spot(key);
	if (__builtin_expect(s->key == key && s->stamp == gompi_load(&gompi_access_runtime.stamp), 1)) {
		if (address - s->floor < s->span) {
			if (address == s->next) {
				s->next += s->stride;
				return;
			}
			if (s->stride == 0 || (s->stride == size && address - s->low < s->next - s->low))
				return;
		}
	}
	gompi_access_note(address, size, kind, place);
}

static void note_range(const void *p, size_t size, unsigned kind, void *place) {
	if (gompi_access_on())
		gompi_access_note((uintptr_t)p, size, kind, place);
}
#define NOTE_RANGE(p, size, kind) note_range(p, size, kind, __builtin_return_address(0))
#define NOTE(p, size, kind) note(p, size, kind, __builtin_return_address(0))

CALLED void __tsan_init(void) {}
CALLED void __tsan_func_entry(void *caller) { (void)caller; }
CALLED void __tsan_func_exit(void) {}

#define PLAIN(name, n)                                                                                    \
	CALLED void __tsan_##name##read##n(void *p) { NOTE(p, n, GOMPI_ACCESS_LOAD); }                    \
	CALLED void __tsan_##name##write##n(void *p) { NOTE(p, n, GOMPI_ACCESS_STORE); }                  \
	CALLED void __tsan_##name##read##n##_pc(void *p, void *at) { note(p, n, GOMPI_ACCESS_LOAD, at); } \
	CALLED void __tsan_##name##write##n##_pc(void *p, void *at) { note(p, n, GOMPI_ACCESS_STORE, at); }
#define SIZES(name) PLAIN(name, 1) PLAIN(name, 2) PLAIN(name, 4) PLAIN(name, 8) PLAIN(name, 16)
SIZES()
SIZES(unaligned_)
SIZES(volatile_)
SIZES(unaligned_volatile_)

#define BOTH(n)                                               \
	CALLED void __tsan_read_write##n(void *p) {           \
		NOTE(p, n, GOMPI_ACCESS_LOAD);                \
		NOTE(p, n, GOMPI_ACCESS_STORE);               \
	}                                                     \
	CALLED void __tsan_unaligned_read_write##n(void *p) { \
		NOTE(p, n, GOMPI_ACCESS_LOAD);                \
		NOTE(p, n, GOMPI_ACCESS_STORE);               \
	}
BOTH(1)
BOTH(2)
BOTH(4)
BOTH(8)
BOTH(16)

CALLED void __tsan_read_range(void *p, unsigned long size) { NOTE_RANGE(p, size, GOMPI_ACCESS_LOAD); }
CALLED void __tsan_write_range(void *p, unsigned long size) { NOTE_RANGE(p, size, GOMPI_ACCESS_STORE); }
CALLED void __tsan_vptr_update(void **p, void *value) {
	(void)value;
	NOTE(p, sizeof *p, GOMPI_ACCESS_STORE);
}
CALLED void __tsan_vptr_read(void **p) { NOTE(p, sizeof *p, GOMPI_ACCESS_LOAD); }

// Records the accesses of a libc function and calls it. The linker redirects calls of X to __wrap_X.
CALLED void *__wrap_memcpy(void *to, const void *from, size_t n) {
	NOTE_RANGE(from, n, GOMPI_ACCESS_LOAD);
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return memcpy(to, from, n);
}
CALLED void *__wrap_memmove(void *to, const void *from, size_t n) {
	NOTE_RANGE(from, n, GOMPI_ACCESS_LOAD);
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return memmove(to, from, n);
}
CALLED void *__wrap_memset(void *to, int byte, size_t n) {
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return memset(to, byte, n);
}
// Declares the variants that _FORTIFY_SOURCE uses.
void *__memcpy_chk(void *to, const void *from, size_t n, size_t room);
void *__memmove_chk(void *to, const void *from, size_t n, size_t room);
void *__memset_chk(void *to, int byte, size_t n, size_t room);
CALLED void *__wrap___memcpy_chk(void *to, const void *from, size_t n, size_t room) {
	NOTE_RANGE(from, n, GOMPI_ACCESS_LOAD);
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return __memcpy_chk(to, from, n, room);
}
CALLED void *__wrap___memmove_chk(void *to, const void *from, size_t n, size_t room) {
	NOTE_RANGE(from, n, GOMPI_ACCESS_LOAD);
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return __memmove_chk(to, from, n, room);
}
CALLED void *__wrap___memset_chk(void *to, int byte, size_t n, size_t room) {
	NOTE_RANGE(to, n, GOMPI_ACCESS_STORE);
	return __memset_chk(to, byte, n, room);
}

// Passes the recorded accesses on at once. The position of an atomic operation's record defines its order. A store is
// recorded before its execution, so that a thread which sees its value records later. A load is recorded after its
// execution.
static void hand_on(void) {
	void (*now)(void) = gompi_load(&gompi_access_runtime.pass_on);
	if (now != NULL)
		now();
}

static void tell_order(void (*_Atomic *how)(const void *p), const void *p) {
	void (*now)(const void *p) = gompi_load(how);
	if (now != NULL)
		now(p);
}

static __attribute__((noinline)) void before_store(const void *p, size_t size, void *place) {
	if (!gompi_access_wanted((uintptr_t)p, size)) {
		tell_order(&gompi_access_runtime.release, p);
		return;
	}
	gompi_access_note((uintptr_t)p, size, GOMPI_ACCESS_ATOMIC_STORE, place);
	hand_on();
}

// Remembers the last loads. A load that finds the same value as the previous one, without an MPI call in between, adds
// no information.
static _Thread_local struct {
	const void *p;
	void *place;
	uint64_t value;
	uint32_t stamp;
} access_found[4] __attribute__((tls_model("initial-exec")));

static __attribute__((noinline)) void after_load(const void *p, size_t size, uint64_t value, void *place) {
	if (!gompi_access_wanted((uintptr_t)p, size)) {
		tell_order(&gompi_access_runtime.acquire, p);
		return;
	}
	uint32_t stamp = gompi_load(&gompi_access_runtime.stamp);
	size_t i = ((uintptr_t)p >> 2) % (sizeof access_found / sizeof *access_found);
	if (access_found[i].p == p && access_found[i].place == place && access_found[i].value == value &&
	    access_found[i].stamp == stamp)
		return;
	access_found[i].p = p;
	access_found[i].place = place;
	access_found[i].value = value;
	access_found[i].stamp = stamp;
	gompi_access_note((uintptr_t)p, size, GOMPI_ACCESS_ATOMIC_LOAD, place);
	hand_on();
}
#define BEFORE(p)              \
	if (gompi_access_on()) \
	before_store(p, sizeof *(p), __builtin_return_address(0))
#define AFTER(p, v)            \
	if (gompi_access_on()) \
	after_load(p, sizeof *(p), (uint64_t)(v), __builtin_return_address(0))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
__extension__ typedef unsigned __int128 u128;

// All operations use the strongest memory order: a checked program may run a little slower.
#define FETCH(n, name)                                                        \
	CALLED u##n __tsan_atomic##n##_fetch_##name(u##n *p, u##n v, int o) { \
		(void)o;                                                      \
		BEFORE(p);                                                    \
		u##n old = __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST);     \
		AFTER(p, old);                                                \
		return old;                                                   \
	}
#define COMPARE(n, how)                                                                                \
	CALLED int __tsan_atomic##n##_compare_exchange_##how(u##n *p, u##n *c, u##n v, int o, int f) { \
		(void)o, (void)f;                                                                      \
		if (gompi_access_on() && __atomic_load_n(p, __ATOMIC_RELAXED) == *c)                   \
			before_store(p, sizeof *p, __builtin_return_address(0));                       \
		int is = __atomic_compare_exchange_n(p, c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
		AFTER(p, is ? v : *c);                                                                 \
		return is;                                                                             \
	}
#define ATOMIC(n)                                                                                    \
	CALLED u##n __tsan_atomic##n##_load(const u##n *p, int o) {                                  \
		(void)o;                                                                             \
		u##n v = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                       \
		AFTER(p, v);                                                                         \
		return v;                                                                            \
	}                                                                                            \
	CALLED void __tsan_atomic##n##_store(u##n *p, u##n v, int o) {                               \
		(void)o;                                                                             \
		BEFORE(p);                                                                           \
		__atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                            \
	}                                                                                            \
	CALLED u##n __tsan_atomic##n##_exchange(u##n *p, u##n v, int o) {                            \
		(void)o;                                                                             \
		BEFORE(p);                                                                           \
		u##n old = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                              \
		AFTER(p, old);                                                                       \
		return old;                                                                          \
	}                                                                                            \
	CALLED u##n __tsan_atomic##n##_compare_exchange_val(u##n *p, u##n c, u##n v, int o, int f) { \
		(void)o, (void)f;                                                                    \
		BEFORE(p);                                                                           \
		__atomic_compare_exchange_n(p, &c, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
		AFTER(p, c);                                                                         \
		return c;                                                                            \
	}                                                                                            \
	FETCH(n, add)                                                                                \
	FETCH(n, sub)                                                                                \
	FETCH(n, and)                                                                                \
	FETCH(n, or)                                                                                 \
	FETCH(n, xor)                                                                                \
	FETCH(n, nand)                                                                               \
	COMPARE(n, strong)                                                                           \
	COMPARE(n, weak)
ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

// Updates 16 bytes by compare and swap, which needs no library. Returns the old value.
static u128 update_128(u128 *p, u128 (*new)(u128 old, u128 v), u128 v) {
	u128 old = 0, seen;
	while ((seen = __sync_val_compare_and_swap(p, old, new (old, v))) != old)
		old = seen;
	return old;
}
#define FETCH_128(name, formula)                                      \
	static u128 new_##name(u128 old, u128 v) { return formula; }  \
	CALLED u128 __tsan_atomic128_##name(u128 *p, u128 v, int o) { \
		(void)o;                                              \
		BEFORE(p);                                            \
		u128 old = update_128(p, new_##name, v);              \
		AFTER(p, old);                                        \
		return old;                                           \
	}
FETCH_128(fetch_add, old + v)
FETCH_128(fetch_sub, old - v)
FETCH_128(fetch_and, old &v)
FETCH_128(fetch_or, old | v)
FETCH_128(fetch_xor, old ^ v)
FETCH_128(fetch_nand, ~(old &v))
FETCH_128(exchange, ((void)old, v))
CALLED void __tsan_atomic128_store(u128 *p, u128 v, int o) {
	(void)o;
	BEFORE(p);
	(void)update_128(p, new_exchange, v);
}
CALLED u128 __tsan_atomic128_load(const u128 *p, int o) {
	(void)o;
	u128 v = __sync_val_compare_and_swap((u128 *)p, 0, 0);
	AFTER(p, v);
	return v;
}
CALLED u128 __tsan_atomic128_compare_exchange_val(u128 *p, u128 c, u128 v, int o, int f) {
	(void)o, (void)f;
	BEFORE(p);
	u128 old = __sync_val_compare_and_swap(p, c, v);
	AFTER(p, old);
	return old;
}
CALLED int __tsan_atomic128_compare_exchange_strong(u128 *p, u128 *c, u128 v, int o, int f) {
	(void)o, (void)f;
	BEFORE(p);
	u128 old = __sync_val_compare_and_swap(p, *c, v);
	AFTER(p, old);
	int is = old == *c;
	*c = old;
	return is;
}
CALLED int __tsan_atomic128_compare_exchange_weak(u128 *p, u128 *c, u128 v, int o, int f) {
	return __tsan_atomic128_compare_exchange_strong(p, c, v, o, f);
}

CALLED void __tsan_atomic_thread_fence(int order) {
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
CALLED void __tsan_atomic_signal_fence(int order) {
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
