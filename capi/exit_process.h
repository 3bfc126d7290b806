// Ends the process from inside a call.
#ifndef GOMPI_EXIT_PROCESS_H
#define GOMPI_EXIT_PROCESS_H

// Ends the process immediately, after flushing its output. Runs no exit handlers, since those might call MPI.
_Noreturn void gompi_exit_process(int status);

#endif
