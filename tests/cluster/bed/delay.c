/* Delays the packets that a host sends: delay DEVICE MILLISECONDS, run in the network namespace of the host. It serves
 * systems without netem. It creates DEVICE, to which the host's packets must be routed. It sends each packet to the
 * wire (eth0) after the delay, through a raw socket bound to eth0. It ends when the device is deleted. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PACKETS = 1 << 14, LONGEST = 2048 };

static struct packet {
	int64_t due;
	ssize_t length;
	char bytes[LONGEST];
} packets[PACKETS]; /* ring of packets from `first` to `last`; if it is full, arriving packets are lost */
static unsigned first, last;

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void die(const char *what) {
	perror(what);
	exit(1);
}

int main(int argc, char **argv) {
	if (argc != 3)
		return 2;
	const int64_t delay = (int64_t)(strtod(argv[2], NULL) * 1e6);
	struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI};
	snprintf(r.ifr_name, sizeof r.ifr_name, "%s", argv[1]);
	int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (tun < 0 || ioctl(tun, TUNSETIFF, &r) < 0)
		die("/dev/net/tun");
	int wire = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
	if (wire < 0 || setsockopt(wire, SOL_SOCKET, SO_BINDTODEVICE, "eth0", sizeof "eth0") < 0)
		die("eth0");
	for (;;) {
		int64_t wait = first == last ? -1 : packets[first % PACKETS].due - now();
		struct timespec t = {wait > 0 ? wait / 1000000000 : 0, wait > 0 ? wait % 1000000000 : 0};
		struct pollfd on = {.fd = tun, .events = POLLIN};
		ppoll(&on, 1, first == last ? NULL : &t, NULL);
		for (;;) {
			static char spilt[LONGEST];
			struct packet *p = &packets[last % PACKETS];
			const int full = last - first == PACKETS;
			ssize_t n = read(tun, full ? spilt : p->bytes, LONGEST);
			if (n < 0 && errno != EAGAIN && errno != EINTR)
				return 0; /* the device is deleted, or down */
			if (n <= 0)
				break;
			if (full)
				continue;
			p->length = n;
			p->due = now() + delay;
			last++;
		}
		for (; first != last && packets[first % PACKETS].due <= now(); first++) {
			struct packet *p = &packets[first % PACKETS];
			struct sockaddr_in to = {.sin_family = AF_INET};
			if ((p->bytes[0] & 0xf0) != 0x40)
				continue; /* drops packets that are not IPv4 */
			memcpy(&to.sin_addr, p->bytes + 16, 4);
			sendto(wire, p->bytes, (size_t)p->length, 0, (struct sockaddr *)&to, sizeof to);
		}
	}
}
