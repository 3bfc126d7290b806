#define _GNU_SOURCE
#include "handlers.h"

#include <errno.h>
#include <signal.h>
#include "base/order.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cross.h"
#include "base/node.h"

// Interposition. A program or library that calls one of these functions finds them here first if gompirma comes before
// the C library among what the program was linked to, as with -lgompirma. What the kernel gets is the application's
// action with `take` in the place of its handler. A signal that finds its thread in Go is held: blocked in the thread,
// and sent to it again; the kernel delivers it when the thread has left Go and unblocks it. So the handler runs on the
// stack, with the flags, the mask and the information that it asked for, may call MPI, and may leave by longjmp, as in
// C.
//
// Where they are not found (dlopen), handlers run where the signal meets the thread: see cross.h for why that is
// harmless too.

// glibc's sigaction under the name that nobody interposes.
extern int __sigaction(int sig, const struct sigaction *new, struct sigaction *old);

enum { SIGNALS = 64 };

// The application's action of a signal, where it differs from what the kernel has. handler: NULL where `take` has never
// been installed.
static struct {
	_Atomic(void *) handler;
	atomic_bool siginfo, once; // its SA_SIGINFO and SA_RESETHAND
} actions[SIGNALS + 1];

static void take(int sig, siginfo_t *info, void *context);

// Signals that stay as they are: faults belong to the instruction that caused them; a profiler wants to know where the
// program is; abort(3) does not come back.
static bool taken(int sig) {
	switch (sig) {
	case SIGSEGV:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGTRAP:
	case SIGSYS:
	case SIGABRT:
	case SIGPROF:
		return false;
	}
	return sig >= 1 && sig <= SIGNALS;
}

static uint64_t bit(int sig) { return 1ULL << (sig - 1); }

// false: it cannot be held, since too many signals are queued for this user.
static bool hold(int sig, siginfo_t *info, ucontext_t *context) {
	int saved = errno;
	bool held = true;
	sigset_t one;
	sigemptyset(&one);
	sigaddset(&one, sig);
	pthread_sigmask(SIG_BLOCK, &one, NULL); // SA_NODEFER
	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig, info) == 0) {
		sigaddset(&context->uc_sigmask, sig); // from the end of this handler on
		gompi_or_total(&gompi_signals.held, bit(sig));
		if (gompi_node.control != NULL) // a wait that was just about to sleep
			gompi_add_total(&gompi_my_cell()->wait.wake, 1);
	} else {
		held = false;
	}
	errno = saved;
	return held;
}

static void take(int sig, siginfo_t *info, void *context) {
	bool waits = gompi_is_in_go() || gompi_signals_wait();
	if (waits && hold(sig, info, context))
		return;
	void *handler = gompi_load_total(&actions[sig].handler);
	if (gompi_load_total(&actions[sig].once)) {
		struct sigaction none = {.sa_handler = SIG_DFL};
		__sigaction(sig, &none, NULL);
	}
	((void (*)(int, siginfo_t *, void *))handler)(sig, info, context);
}

void gompi_release_signals(void) {
	uint64_t held = gompi_swap_total(&gompi_signals.held, 0);
	sigset_t set;
	sigemptyset(&set);
	for (int sig = 1; sig <= SIGNALS; sig++)
		if (held & bit(sig))
			sigaddset(&set, sig);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

// The application's action from what the kernel has.
static void translate(int sig, struct sigaction *a) {
	if (a->sa_sigaction != take)
		return;
	a->sa_handler = (void (*)(int))gompi_load_total(&actions[sig].handler);
	if (!gompi_load_total(&actions[sig].siginfo))
		a->sa_flags &= ~SA_SIGINFO;
	if (gompi_load_total(&actions[sig].once))
		a->sa_flags |= SA_RESETHAND;
}

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int sigaction(int sig, const struct sigaction *new, struct sigaction *old) {
	if (!taken(sig))
		return __sigaction(sig, new, old);
	// Signals wait meanwhile: the kernel's action and the table change in two steps.
	sigset_t all, mask;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	struct sigaction was, a;
	int rc = __sigaction(sig, NULL, &was);
	if (rc == 0) {
		translate(sig, &was);
		if (new != NULL) {
			a = *new;
			// `take` itself comes back from whoever has read it by a way that is not interposed.
			if (a.sa_handler != SIG_DFL && a.sa_handler != SIG_IGN && a.sa_sigaction != take) {
				gompi_store_total(&actions[sig].siginfo, (a.sa_flags & SA_SIGINFO) != 0);
				gompi_store_total(&actions[sig].once, (a.sa_flags & SA_RESETHAND) != 0);
				gompi_store_total(&actions[sig].handler, (void *)a.sa_handler);
				a.sa_sigaction = take;
				a.sa_flags = (a.sa_flags | SA_SIGINFO) & ~SA_RESETHAND;
			}
			rc = __sigaction(sig, &a, NULL);
		}
	}
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (rc == 0 && old != NULL)
		*old = was;
	return rc;
}

// Signals that siginterrupt has marked: signal() leaves SA_RESTART away.
static _Atomic uint64_t interrupting;

static void (*install(int sig, void (*handler)(int), int flags))(int) {
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags}, old;
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	return sigaction(sig, &a, &old) == 0 ? old.sa_handler : SIG_ERR;
}

PUBLIC __sighandler_t signal(int sig, __sighandler_t handler) {
	bool interrupts = sig >= 1 && sig <= SIGNALS && (gompi_load_total(&interrupting) & bit(sig)) != 0;
	return install(sig, handler, interrupts ? 0 : SA_RESTART);
}
extern __sighandler_t bsd_signal(int sig, __sighandler_t handler)
	__attribute__((nothrow, leaf, alias("signal"), visibility("default")));
extern __sighandler_t ssignal(int sig, __sighandler_t handler)
	__attribute__((nothrow, leaf, alias("signal"), visibility("default")));

extern __sighandler_t __sysv_signal(int sig, __sighandler_t handler);
PUBLIC __sighandler_t __sysv_signal(int sig, __sighandler_t handler) {
	return install(sig, handler, SA_RESETHAND | SA_NODEFER);
}
extern __sighandler_t sysv_signal(int sig, __sighandler_t handler)
	__attribute__((nothrow, leaf, alias("__sysv_signal"), visibility("default")));

PUBLIC int siginterrupt(int sig, int interrupt) {
	struct sigaction a;
	if (sigaction(sig, NULL, &a) != 0)
		return -1;
	if (interrupt) {
		gompi_or_total(&interrupting, bit(sig));
		a.sa_flags &= ~SA_RESTART;
	} else {
		gompi_and_total(&interrupting, ~bit(sig));
		a.sa_flags |= SA_RESTART;
	}
	return sigaction(sig, &a, NULL);
}
