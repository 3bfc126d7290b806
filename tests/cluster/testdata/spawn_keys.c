/* The program of the test of info keys on one host. */
#include "../../go/testdata/spawn_keys.c"
