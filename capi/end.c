#include "end.h"

#include <stdio.h>
#include <unistd.h>

void gompi_end(int status) {
	fflush(NULL);
	_exit(status);
}
