// All memory orders of the data path, by name. An operation with a plain name is relaxed: it orders nothing. An
// operation named _acquire pairs with one named _release; a comment at each use names the partner. All threads observe
// the operations named seq_cst (sequentially consistent) in the same order. Except on x86, a later relaxed load may
// overtake a seq_cst operation. Where that would be wrong, gompi_full_fence_after_rmw follows the operation.
//
// No other file names a memory order; tests/go/lint_test.go checks this.
#ifndef GOMPI_ATOMICS_H
#define GOMPI_ATOMICS_H

#include <stdatomic.h>

// When gcc copies neighbouring fields, it merges their loads into one. If the fields have just been stored separately,
// the merged load stalls until both stores, and all earlier stores, have left this core. That costs some 100 ns for
// each message of a series. The pragma disables this optimization.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif
#include <stdbool.h>
#include <stdint.h>

typedef _Atomic uint8_t gompi_a8;
typedef _Atomic uint32_t gompi_a32;
typedef _Atomic uint64_t gompi_a64;
typedef _Atomic int32_t gompi_ai32;

#define gompi_load(p) atomic_load_explicit(p, memory_order_relaxed)
#define gompi_load_acquire(p) atomic_load_explicit(p, memory_order_acquire)
#define gompi_load_seq_cst(p) atomic_load_explicit(p, memory_order_seq_cst)

#define gompi_store(p, v) atomic_store_explicit(p, v, memory_order_relaxed)
#define gompi_store_release(p, v) atomic_store_explicit(p, v, memory_order_release)
#define gompi_store_seq_cst(p, v) atomic_store_explicit(p, v, memory_order_seq_cst)

// The functions from gompi_add to gompi_swap_seq_cst return the previous value.
#define gompi_add(p, v) atomic_fetch_add_explicit(p, v, memory_order_relaxed)
#define gompi_add_seq_cst(p, v) atomic_fetch_add_explicit(p, v, memory_order_seq_cst)
#define gompi_sub(p, v) atomic_fetch_sub_explicit(p, v, memory_order_relaxed)
#define gompi_sub_seq_cst(p, v) atomic_fetch_sub_explicit(p, v, memory_order_seq_cst)
#define gompi_or(p, v) atomic_fetch_or_explicit(p, v, memory_order_relaxed)
#define gompi_or_seq_cst(p, v) atomic_fetch_or_explicit(p, v, memory_order_seq_cst)
#define gompi_and(p, v) atomic_fetch_and_explicit(p, v, memory_order_relaxed)
#define gompi_and_seq_cst(p, v) atomic_fetch_and_explicit(p, v, memory_order_seq_cst)
#define gompi_swap_seq_cst(p, v) atomic_exchange_explicit(p, v, memory_order_seq_cst)

// Compare-and-exchange: stores v and returns true if *p equals *old; otherwise stores the current value in *old and
// returns false. The weak form may fail spuriously.
#define gompi_cas_weak(p, old, v) \
	atomic_compare_exchange_weak_explicit(p, old, v, memory_order_relaxed, memory_order_relaxed)
#define gompi_cas_weak_acq_rel(p, old, v) \
	atomic_compare_exchange_weak_explicit(p, old, v, memory_order_acq_rel, memory_order_relaxed)
#define gompi_cas_weak_seq_cst(p, old, v) \
	atomic_compare_exchange_weak_explicit(p, old, v, memory_order_seq_cst, memory_order_seq_cst)

// The strong form of gompi_cas_weak_seq_cst: it does not fail spuriously.
#define gompi_cas_strong(p, old, v) \
	atomic_compare_exchange_strong_explicit(p, old, v, memory_order_seq_cst, memory_order_seq_cst)

// Returns true if *p equals v. The comparison is an acquire operation: stores that precede the release of v are then
// visible. On x86 the assembly is one instruction. Compilers would emit two, because they do not fuse an atomic load
// with a comparison.
static inline bool gompi_equals_acquire(gompi_a64 *p, uint64_t v) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) // ThreadSanitizer sees no acquire in assembly
	bool equal;
	__asm__ __volatile__("cmpq %2, %1" : "=@cce"(equal) : "m"(*p), "re"(v) : "memory");
	return equal;
#else
	return gompi_load_acquire(p) == v;
#endif
}
static inline bool gompi_equals_acquire_32(gompi_a32 *p, uint32_t v) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) // ThreadSanitizer sees no acquire in assembly
	bool equal;
	__asm__ __volatile__("cmpl %2, %1" : "=@cce"(equal) : "m"(*p), "ri"(v) : "memory");
	return equal;
#else
	return gompi_load_acquire(p) == v;
#endif
}

// Operations on an atomic_flag, which at most one thread holds. gompi_flag_test_and_set returns false if it has
// acquired the flag, true if another thread holds it.
#define gompi_flag_test_and_set(f) atomic_flag_test_and_set_explicit(f, memory_order_seq_cst)
#define gompi_flag_clear(f) atomic_flag_clear_explicit(f, memory_order_seq_cst)

// Orders earlier loads of this thread before its later loads and stores.
static inline void gompi_load_fence(void) { atomic_thread_fence(memory_order_acquire); }

// Orders earlier loads and stores of this thread before its later stores.
static inline void gompi_store_fence(void) { atomic_thread_fence(memory_order_release); }

// Keeps the compiler, but not the CPU, from reordering accesses across it. That suffices if the other side is a signal
// handler of this thread, or a thread that supplies the CPU fence by membarrier(2).
static inline void gompi_compiler_fence(void) { atomic_signal_fence(memory_order_seq_cst); }

// Orders every store before it with every load after it. On x86 a locked instruction on the stack is cheaper than
// mfence.
static inline void gompi_full_fence(void) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) // ThreadSanitizer sees no fence in assembly
	__asm__ __volatile__("lock orl $0, -8(%%rsp)" ::: "memory", "cc");
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

// Executes a full fence, for a caller whose last atomic operation was a seq_cst read-modify-write. On x86 that
// instruction already is a full fence, so only a compiler fence is added. On other processors a later load may overtake
// the store of the read-modify-write, so a fence instruction is added.
static inline void gompi_full_fence_after_rmw(void) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	gompi_compiler_fence();
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

// Starts to fetch the cache line at p for writing. Does not wait for the line.
static inline void gompi_prefetch_write(void *p) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__ __volatile__("prefetchw %0" ::"m"(*(char *)p)); // __builtin_prefetch would prefetch for reading
#else
	__builtin_prefetch(p, 1);
#endif
}

// Starts to fetch the cache line at p for writing, so that a load of *p and a later store to *p need one transfer of
// the line instead of two.
static inline void gompi_prefetch_rmw(void *p) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__ __volatile__("prefetchw %0" : "+m"(*(char *)p)); // a no-op on processors without this instruction
#else
	__builtin_prefetch(p, 1);
#endif
}

// Pauses the processor briefly; for loops that poll a word.
static inline void gompi_pause(void) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
	__asm__ __volatile__("pause");
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

// Operations on elements of window memory, whose types are the application's and therefore not _Atomic. An accumulate
// releases the origin's earlier stores. It also acquires the stores that other origins have released by accumulates to
// the same element.
#define gompi_element_load(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define gompi_element_load_relaxed(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define gompi_element_swap(p, v) __atomic_exchange_n(p, v, __ATOMIC_ACQ_REL)
#define gompi_element_add(p, v) __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#define gompi_element_and(p, v) __atomic_fetch_and(p, v, __ATOMIC_ACQ_REL)
#define gompi_element_or(p, v) __atomic_fetch_or(p, v, __ATOMIC_ACQ_REL)
#define gompi_element_xor(p, v) __atomic_fetch_xor(p, v, __ATOMIC_ACQ_REL)
// Compare-and-exchange, as in gompi_cas_weak. The weak form may fail spuriously, so it is for retry loops. The strong
// form is for a single attempt.
#define gompi_element_cas_weak(p, old, v) __atomic_compare_exchange_n(p, old, v, 1, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)
#define gompi_element_cas_strong(p, old, v) \
	__atomic_compare_exchange_n(p, old, v, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)

#endif
