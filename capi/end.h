// Ending the process from inside a call.
#ifndef GOMPI_END_H
#define GOMPI_END_H

// Ends the process at once with everything it has printed; no exit handlers, since those might call MPI.
_Noreturn void gompi_end(int status);

#endif
