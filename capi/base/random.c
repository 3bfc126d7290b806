#include "base/random.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

bool gompi_random(void *to, size_t bytes) {
	if (getrandom(to, bytes, 0) == (ssize_t)bytes)
		return true;
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, to, bytes);
	close(fd);
	return n == (ssize_t)bytes;
}
