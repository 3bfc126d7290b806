// Every memory order of the data path, by name. A plain name is relaxed: it orders nothing. _acquire and _release pair
// with each other; each use says with which. _total are in one order that all threads agree on, which orders nothing
// else after them but on x86: who then looks at what another thread may have written needs a barrier, see below.
//
// Nothing outside of this file names an order (tests/go/lint_test.go).
#ifndef GOMPI_ORDER_H
#define GOMPI_ORDER_H

#include <stdatomic.h>

// Two fields that have just been stored must not be loaded by one instruction: it would wait until both stores, and all
// before them, have left this core, which for a message behind another one are some 100 ns. gcc merges neighbours so
// where it copies them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic uint32_t gompi_a32;
typedef _Atomic uint64_t gompi_a64;
typedef _Atomic int32_t gompi_ai32;

#define gompi_load(p) atomic_load_explicit(p, memory_order_relaxed)
#define gompi_load_acquire(p) atomic_load_explicit(p, memory_order_acquire)
#define gompi_load_total(p) atomic_load_explicit(p, memory_order_seq_cst)

#define gompi_store(p, v) atomic_store_explicit(p, v, memory_order_relaxed)
#define gompi_store_release(p, v) atomic_store_explicit(p, v, memory_order_release)
#define gompi_store_total(p, v) atomic_store_explicit(p, v, memory_order_seq_cst)

// What was there before.
#define gompi_add(p, v) atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define gompi_add_total(p, v) atomic_fetch_add_explicit(p, v, memory_order_seq_cst)
#define gompi_sub(p, v) atomic_fetch_sub_explicit(p, v, memory_order_relaxed)
#define gompi_sub_total(p, v) atomic_fetch_sub_explicit(p, v, memory_order_seq_cst)
#define gompi_or(p, v) atomic_fetch_or_explicit(p, v, memory_order_relaxed)
#define gompi_or_total(p, v) atomic_fetch_or_explicit(p, v, memory_order_seq_cst)
#define gompi_and(p, v) atomic_fetch_and_explicit(p, v, memory_order_relaxed)
#define gompi_and_total(p, v) atomic_fetch_and_explicit(p, v, memory_order_seq_cst)
#define gompi_swap_total(p, v) atomic_exchange_explicit(p, v, memory_order_seq_cst)

// Returns true if *p was *old and is v now; otherwise *old is what is there. It may fail without a reason.
#define gompi_change(p, old, v) \
	atomic_compare_exchange_weak_explicit(p, old, v, memory_order_relaxed, memory_order_relaxed)
#define gompi_change_acq_rel(p, old, v) \
	atomic_compare_exchange_weak_explicit(p, old, v, memory_order_acq_rel, memory_order_relaxed)
#define gompi_change_total(p, old, v) \
	atomic_compare_exchange_weak_explicit(p, old, v, memory_order_seq_cst, memory_order_seq_cst)

// The same, which fails for a reason only.
#define gompi_change_once(p, old, v) \
	atomic_compare_exchange_strong_explicit(p, old, v, memory_order_seq_cst, memory_order_seq_cst)

// Returns true if *p is v. Acquire: what was stored before v was is seen. On x86 one instruction, which compilers do
// not make of a load and what is done with it.
static inline bool gompi_is(gompi_a64 *p, uint64_t v) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) // which sees no acquire in it
	bool equal;
	__asm__ __volatile__("cmpq %2, %1" : "=@cce"(equal) : "m"(*p), "re"(v) : "memory");
	return equal;
#else
	return gompi_load_acquire(p) == v;
#endif
}
static inline bool gompi_is_32(gompi_a32 *p, uint32_t v) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) // which sees no acquire in it
	bool equal;
	__asm__ __volatile__("cmpl %2, %1" : "=@cce"(equal) : "m"(*p), "ri"(v) : "memory");
	return equal;
#else
	return gompi_load_acquire(p) == v;
#endif
}

// A flag that one thread at a time has. Whether it was taken already.
#define gompi_flag_take(f) atomic_flag_test_and_set_explicit(f, memory_order_seq_cst)
#define gompi_flag_give(f) atomic_flag_clear_explicit(f, memory_order_seq_cst)

// Orders what this thread loads before and after.
static inline void gompi_load_fence(void) { atomic_thread_fence(memory_order_acquire); }

// Orders what this thread stores before and after, and what it has loaded before.
static inline void gompi_store_fence(void) { atomic_thread_fence(memory_order_release); }

// Orders what a thread does with what signal handlers on it see, or a thread for which membarrier(2) does the rest:
// nothing but the compiler.
static inline void gompi_compiler_fence(void) { atomic_signal_fence(memory_order_seq_cst); }

// Orders every store before it with every load after it. On x86 a locked instruction on the stack is cheaper than
// mfence.
static inline void gompi_full_fence(void) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) // which sees no acquire in it
	__asm__ __volatile__("lock orl $0, -8(%%rsp)" ::: "memory", "cc");
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

// The same for who has just changed a word with one of the _total functions. On x86 that was such a barrier. Elsewhere
// it is none: a load may overtake the store that a read-modify-write ends with.
static inline void gompi_full_fence_after_change(void) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) // which sees no acquire in it
	gompi_compiler_fence();
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

// Has the line of an address brought here to be written, while this thread does something else.
static inline void gompi_prefetch_to_write(void *p) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)        // which sees no acquire in it
	__asm__ __volatile__("prefetchw %0" ::"m"(*(char *)p)); // compilers make it a prefetch to read
#else
	__builtin_prefetch(p, 1);
#endif
}

// Fetches the line at p to be written to: one way for it instead of two, where it is loaded first.
static inline void gompi_own_line(void *p) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)         // which sees no acquire in it
	__asm__ __volatile__("prefetchw %0" : "+m"(*(char *)p)); // where there is none it does nothing
#else
	__builtin_prefetch(p, 1);
#endif
}

// A moment's rest for a thread that looks at a word again and again.
static inline void gompi_pause(void) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) // which sees no acquire in it
	__asm__ __volatile__("pause");
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

// Elements of window memory, which is the application's and no _Atomic: what MPI's accumulates do to them is a release
// of what the origin did before and an acquire of what others did to the element.
#define gompi_element_load(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define gompi_element_look(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define gompi_element_swap(p, v) __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL)
#define gompi_element_add(p, v) __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#define gompi_element_and(p, v) __atomic_fetch_and(p, v, __ATOMIC_ACQ_REL)
#define gompi_element_or(p, v) __atomic_fetch_or(p, v, __ATOMIC_ACQ_REL)
#define gompi_element_xor(p, v) __atomic_fetch_xor(p, v, __ATOMIC_ACQ_REL)
// For a loop that tries again, and for one try.
#define gompi_element_change(p, old, v) __atomic_compare_exchange_n(p, old, v, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
#define gompi_element_compare(p, old, v) __atomic_compare_exchange_n(p, old, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#endif
