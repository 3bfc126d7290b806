/* Proves: signals that arrive during calls of every kind do not disturb the calls, although most of the program's
 *   handlers run without SA_ONSTACK. The standard (MPI-5.0 2.9.2) makes the library document which signals it uses; a
 *   program may use all other signals.
 * np: 1 2
 * args: sigaction signal sysv before prof virtual created usr1 chld winch deep nested own_stack no_stack blocked jump
 * args: exit
 * ref: mpich
 * timeout: 60
 */
#define _GNU_SOURCE
#include "../calls.h"

#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static volatile sig_atomic_t may_jump;
static sigjmp_buf back;

static void on_signal(int sig) {
	caught++;
	if (sig <= 0 || use_stack(8192) == 1)
		_exit(9);
}

static void on_signal_deep(int sig, siginfo_t *info, void *context) {
	caught++;
	if (info->si_signo != sig || context == NULL || use_stack(200 << 10) == 1)
		_exit(9);
}

static void on_signal_jump(int sig) {
	caught++;
	(void)sig;
	if (may_jump)
		siglongjmp(back, 1);
}

static int status;
static void on_signal_exit(int sig) {
	(void)sig;
	exit(status);
}

/* System V's signal() resets the handler at each signal. on_signal_once installs the handler again, and then starts the
 * timer for the next signal. */
extern void (*__sysv_signal(int, void (*)(int)))(int);

static void on_signal_once(int sig) {
	struct itimerval next = {{0, 0}, {0, 1000}};
	on_signal(sig);
	__sysv_signal(sig, on_signal_once);
	setitimer(ITIMER_REAL, &next, NULL);
}

static void install(int sig, void *handler, int flags) {
	struct sigaction a;
	memset(&a, 0, sizeof a);
	a.sa_flags = flags;
	if (flags & SA_SIGINFO)
		a.sa_sigaction = (void (*)(int, siginfo_t *, void *))handler;
	else
		a.sa_handler = (void (*)(int))handler;
	if (sigaction(sig, &a, NULL) != 0)
		CHECK(0, "sigaction of %d", sig);
	CHECK(sigaction(sig, NULL, &a) == 0 && (void *)a.sa_handler == handler,
	      "the handler of signal %d is %p, not %p", sig, (void *)a.sa_handler, handler);
	CHECK((a.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER)) == flags, "flags %#x, not %#x",
	      a.sa_flags, flags);
}

static void tick(int which, int us) {
	struct itimerval t = {{0, us}, {0, us}};
	setitimer(which, &t, NULL);
}

/* Computes for a while. A handler may leave this function with longjmp. */
static double compute(void) {
	volatile double x = 0;
	for (int i = 0; i < 200000; i++)
		x += 1.0 / (i + 1);
	return x;
}

int main(int argc, char **argv) {
	const char *arg = argc > 1 ? argv[1] : "";
#define IS(name) (strcmp(arg, name) == 0)
	enum { ENOUGH = 200 };
	timer_t created;
	static char own[64 << 10];
	if (IS("before")) {
		install(SIGALRM, (void *)on_signal, SA_RESTART);
		tick(ITIMER_REAL, 1000);
	}
	if (IS("own_stack")) {
		stack_t s = {.ss_sp = own, .ss_size = sizeof own};
		sigaltstack(&s, NULL);
		install(SIGALRM, (void *)on_signal, SA_RESTART | SA_ONSTACK);
		tick(ITIMER_REAL, 1000);
	}
	sigset_t before, after, some;
	stack_t stack, now;
	sigemptyset(&some);
	sigaddset(&some, SIGSEGV);
	sigaddset(&some, SIGPROF);
	sigaddset(&some, SIGUSR2);
	if (IS("blocked"))
		pthread_sigmask(SIG_BLOCK, &some, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &before);
	sigaltstack(NULL, &stack);
	check_begin(&argc, &argv);
	pid_t child = 0;
	if (IS("sigaction")) {
		install(SIGALRM, (void *)on_signal, SA_RESTART);
		tick(ITIMER_REAL, 1000);
	} else if (IS("signal")) {
		CHECK(signal(SIGALRM, on_signal) == SIG_DFL, "there was a handler already");
		CHECK(signal(SIGALRM, on_signal) == on_signal, "the handler is another one");
		tick(ITIMER_REAL, 1000);
	} else if (IS("sysv")) {
		struct itimerval first = {{0, 0}, {0, 1000}};
		CHECK(__sysv_signal(SIGALRM, on_signal_once) == SIG_DFL, "there was a handler already");
		setitimer(ITIMER_REAL, &first, NULL);
	} else if (IS("prof")) {
		install(SIGPROF, (void *)on_signal, SA_RESTART);
		tick(ITIMER_PROF, 1000);
	} else if (IS("virtual")) {
		install(SIGVTALRM, (void *)on_signal, 0);
		tick(ITIMER_VIRTUAL, 1000);
	} else if (IS("created")) {
		struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3};
		struct itimerspec t = {{0, 1000000}, {0, 1000000}};
		install(SIGRTMIN + 3, (void *)on_signal_deep, SA_SIGINFO);
		CHECK(timer_create(CLOCK_MONOTONIC, &e, &created) == 0 && timer_settime(created, 0, &t, NULL) == 0,
		      "no timer");
	} else if (IS("usr1") || IS("winch")) {
		int sig = IS("usr1") ? SIGUSR1 : SIGWINCH;
		install(sig, (void *)on_signal, 0);
		if ((child = fork()) == 0) {
			for (int i = 0; i < 60000 && kill(getppid(), sig) == 0 && getppid() != 1; i++)
				usleep(500);
			_exit(0);
		}
	} else if (IS("chld")) {
		install(SIGCHLD, (void *)on_signal, SA_RESTART);
	} else if (IS("deep")) {
		install(SIGALRM, (void *)on_signal_deep, SA_SIGINFO);
		tick(ITIMER_REAL, 1000);
	} else if (IS("nested")) {
		install(SIGALRM, (void *)on_signal, SA_NODEFER);
		install(SIGVTALRM, (void *)on_signal_deep, SA_SIGINFO | SA_NODEFER);
		tick(ITIMER_REAL, 1000);
		tick(ITIMER_VIRTUAL, 1000);
	} else if (IS("no_stack")) {
		/* SA_ONSTACK is set, but no alternate stack exists: the handler runs on the thread's stack. */
		install(SIGALRM, (void *)on_signal_deep, SA_SIGINFO | SA_ONSTACK);
		tick(ITIMER_REAL, 1000);
	} else if (IS("blocked")) {
		install(SIGALRM, (void *)on_signal, 0);
	} else if (IS("exit")) {
		caught = ENOUGH;
	} else if (IS("jump")) {
		install(SIGALRM, (void *)on_signal_jump, 0);
		tick(ITIMER_REAL, 1000);
	}

	/* All ranks continue until each rank has received enough signals. */
	volatile int all = 0;
	for (volatile int round = 0; !all; round++) {
		calls_round(round);
		if (IS("jump")) {
			if (sigsetjmp(back, 1) == 0) {
				may_jump = 1;
				compute();
			}
			may_jump = 0;
		}
		if (IS("chld") && round % 4 == 0) {
			pid_t p = fork();
			if (p == 0)
				_exit(0);
			while (waitpid(p, NULL, 0) < 0)
				;
		}
		if (IS("blocked"))
			raise(SIGALRM);
		int enough = caught >= ENOUGH, every = 0;
		CHECK_OK(MPI_Allreduce(&enough, &every, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
		all = every;
	}
	if (child > 0) {
		kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0)
			;
	}
	struct itimerval none = {{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &none, NULL);
	setitimer(ITIMER_VIRTUAL, &none, NULL);
	setitimer(ITIMER_PROF, &none, NULL);
	if (IS("created"))
		timer_delete(created);

	/* The calls must not have changed the signal settings of the thread. */
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		CHECK(sigismember(&before, sig) == sigismember(&after, sig),
		      "the calls changed whether signal %d is blocked in their thread", sig);
	sigaltstack(NULL, &now);
	CHECK(now.ss_sp == stack.ss_sp && now.ss_flags == stack.ss_flags,
	      "the calls changed the thread's alternate stack");
	int errors = check_end();
	if (IS("exit")) { /* a handler that interrupts no MPI call may end the process */
		status = errors;
		errors = 1;
		install(SIGALRM, (void *)on_signal_exit, 0);
		raise(SIGALRM);
	}
	return errors;
}
