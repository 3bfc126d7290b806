// Stops ranks in the middle of MPI_Init until a test lets them continue: held FOLDER PLACE HOST. All ranks on HOST stop
// where they query the host's addresses (PLACE is "addresses"), or where they connect to another host for the first
// time ("connect"). Each rank creates a file in FOLDER when it stops, and continues when a file named "go" exists
// there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *folder, *held_place;

static void hold(const char *place) {
	char path[512];
	if (held_place == NULL || strcmp(held_place, place) != 0)
		return;
	snprintf(path, sizeof path, "%s/held.%d", folder, (int)getpid());
	FILE *f = fopen(path, "w");
	if (f == NULL)
		_exit(3);
	fclose(f);
	snprintf(path, sizeof path, "%s/go", folder);
	while (access(path, F_OK) != 0)
		usleep(10000);
}

// Overrides the function of the C library: a program's definitions take precedence over those of libraries.
int getifaddrs(struct ifaddrs **all) {
	int (*real)(struct ifaddrs **) = (int (*)(struct ifaddrs **))dlsym(RTLD_NEXT, "getifaddrs");
	static int asked;
	if (++asked == 2)
		hold("addresses");
	return real(all);
}

int connect(int fd, const struct sockaddr *to, socklen_t length) {
	int (*real)(int, const struct sockaddr *, socklen_t) =
		(int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
	if (to->sa_family == AF_INET || to->sa_family == AF_INET6)
		hold("connect");
	return real(fd, to, length);
}

int main(int argc, char **argv) {
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	if (argc > 3 && strcmp(argv[3], host) == 0) {
		folder = argv[1];
		held_place = argv[2];
	}
	MPI_Init(&argc, &argv);
	MPI_Barrier(MPI_COMM_WORLD);
	puts("MPI_Init is over");
	MPI_Finalize();
	return 0;
}
