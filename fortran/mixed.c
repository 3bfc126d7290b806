/* Detects programs that mix sizes of INTEGERs.
 *
 * Suppose that objects compiled for INTEGERs of one size are linked with the library for the other size. Calls would
 * then transfer wrong numbers. A program with mpif.h refers to the sentinels (sentinel.c) by the symbol names for its
 * own size, which differ from those of the library. So either the program itself defines these symbols, or the library
 * for its size is loaded too. The constructor below searches for such a symbol. If it finds one, it ends the program
 * before main.
 *
 * A program that uses the modules for INTEGERs of 8 bytes does not link with the library for 4 bytes. In these modules,
 * the initialization functions have symbols that only the library for 8 bytes defines, and every program calls one of
 * these functions. */
#include <stdio.h>
#include <unistd.h>

#include "gompi_f.h"

#ifdef GOMPI_F_INTEGER_8
ENTRY extern void NAME(init)(integer *ierror);
ENTRY extern void NAME(init_thread)(const integer *required, integer *provided, integer *ierror);
ENTRY extern void NAME(session_init)(const integer *info, const integer *errhandler, integer *session, integer *ierror);

ENTRY void NAME(init_i8)(integer *ierror) { NAME(init)(ierror); }
SAME(init_i8, init_i8_f08)

ENTRY void NAME(init_thread_i8)(const integer *required, integer *provided, integer *ierror) {
	NAME(init_thread)(required, provided, ierror);
}
SAME(init_thread_i8, init_thread_i8_f08)

ENTRY void NAME(session_init_i8)(const integer *info, const integer *errhandler, integer *session, integer *ierror) {
	NAME(session_init)(info, errhandler, session, ierror);
}
SAME(session_init_i8, session_init_i8_f08)
#endif

#ifndef GOMPI_F_PROFILING

#ifdef GOMPI_F_INTEGER_8
extern char other __asm__("gompi_f_bottom_") __attribute__((weak));
#else
extern char other __asm__("gompi_f_i8_bottom_") __attribute__((weak));
#endif

__attribute__((constructor)) static void look_for_mixed_sizes(void) {
	char *volatile found = &other;
	if (!found)
		return;
	fprintf(stderr,
		"gompirma: this program has parts with INTEGERs of %d bytes, but runs with the Fortran library for "
		"INTEGERs of %d bytes. Compile and link all parts with -fdefault-integer-8, or all parts without "
		"it. If autoconf or libtool selects the library (FLIBS, .la files), link with gompifort and the same "
		"option, or run configure with the option in FC\n",
		EIGHT ? 4 : 8, (int)sizeof(integer));
	_exit(1);
}
#endif
