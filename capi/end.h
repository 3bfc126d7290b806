// Ending the process from inside a call.
#ifndef GOMPI_END_H
#define GOMPI_END_H

// Ends the process immediately, after flushing its output. Runs no exit handlers, since those might call MPI.
_Noreturn void gompi_end(int status);

#endif
