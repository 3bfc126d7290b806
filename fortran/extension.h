/* Definitions for functions that are not part of MPI (include/mpix_gompirma.h). Other MPI libraries with the standard
 * ABI need not have them, so libmpifort_abi has no bindings for them. They have no names with the prefix P. */
#ifndef GOMPI_EXTENSION_H
#define GOMPI_EXTENSION_H

#include "gompi_f.h"

#include "mpix_gompirma.h"

#define EXTENSION(name) name##_
#define MPIX(name) MPIX_##name
#define SAME_EXTENSION(name, other) SAME2(EXTENSION(name), EXTENSION(other))

#endif
