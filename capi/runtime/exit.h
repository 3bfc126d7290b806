// Notifies Go when the process exits.
#ifndef GOMPI_EXIT_H
#define GOMPI_EXIT_H

#pragma GCC visibility push(hidden)

// Makes exit(3) call gompi_go_callbacks.at_exit in this process. Later calls have no effect.
void gompi_register_exit(void);

#pragma GCC visibility pop
#endif
