/* Mixed sizes of INTEGERs are found out.
 *
 * A program whose objects were compiled for INTEGERs of one size and linked with the library for the other would pass
 * halves of numbers. With mpif.h its sentinels have the names of the other size then, or the other library is there
 * too, since nothing else defines them: it ends before it has done anything. With the modules for INTEGERs of 8 bytes
 * it does not link: the functions of which each program calls one have symbols there that only the library for those
 * has. */
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
		"gompirma: this program has parts with INTEGERs of %d bytes, and runs with the Fortran library for "
		"those of %d: compile and link all of it with the same options (-fdefault-integer-8 or not). FLIBS of "
		"autoconf and the .la files of libtool name a library, too: link with gompifort and the option, "
		"or run configure with the option in FC\n",
		EIGHT ? 4 : 8, (int)sizeof(integer));
	_exit(1);
}
#endif
