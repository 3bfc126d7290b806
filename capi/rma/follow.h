// Memory of a target that has become shared in place since the window was made (win/hot.h).
#ifndef GOMPI_FOLLOW_H
#define GOMPI_FOLLOW_H

#include "win/win.h"

// Maps rank's memory if it has become shared and is not mapped yet; for the function called call.
void gompi_follow(struct gompi_win *w, int rank, const char *call);

#endif
