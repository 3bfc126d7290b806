package gotest

import (
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests the sockets on which a job accepts connections, and connections from processes outside of the job.

// listens is a program whose ranks print the addresses on which the library listens, as lines "at ADDRESS".
const listens = `
#include <arpa/inet.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/socket.h>
static int is_listening(int fd)
{
    int on = 0;
    socklen_t n = sizeof on;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &n) == 0 && on;
}
int main(void)
{
    enum { FILES = 1024 };
    static int launchers[FILES];
    for (int fd = 0; fd < FILES; fd++)
        launchers[fd] = is_listening(fd);
    MPI_Init(NULL, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int fd = 0; fd < FILES; fd++) {
        struct sockaddr_storage s;
        socklen_t n = sizeof s;
        char text[INET6_ADDRSTRLEN];
        if (launchers[fd] || !is_listening(fd) || getsockname(fd, (struct sockaddr *)&s, &n) != 0)
            continue;
        inet_ntop(s.ss_family, s.ss_family == AF_INET ? (void *)&((struct sockaddr_in *)&s)->sin_addr
                                                      : (void *)&((struct sockaddr_in6 *)&s)->sin6_addr,
                  text, sizeof text);
        printf("at %s\n", text);
    }
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
`

// TestListeningSockets checks that after MPI_Init the sockets of a job accept only connections between its nodes.
func TestListeningSockets(t *testing.T) {
	program := compile(t, listens)
	at := func(l *launch, env ...string) (all []net.IP) {
		l.Cmd.Env = append(l.Cmd.Env, env...)
		require.Zero(t, l.run(t), "%s", &l.Err)
		for _, address := range strings.Fields(strings.ReplaceAll(l.Out.String(), "at ", "")) {
			all = append(all, net.ParseIP(address))
		}
		return all
	}
	are := func(all []net.IP, what string, is func(net.IP) bool) {
		require.NotEmpty(t, all, what)
		for _, ip := range all {
			require.True(t, is(ip), "%s: %s of %v", what, ip, all)
		}
	}
	isFirst := func(ip net.IP) bool { return ip.Equal(net.IPv4(127, 0, 0, 1)) }
	const only = "GOMPIRMA_INTERFACE=127.0.0.0/8"
	require.Empty(t, at(prepare(t, "-n", "2", program)), "a job on one node")
	are(at(prepare(t, "--nodes", "2", "-n", "4", program)), "simulated nodes", net.IP.IsLoopback)
	are(at(prepare(t, "--nodes", "2", "-n", "2", program), only), "simulated nodes and an interface", isFirst)
	if _, err := exec.LookPath("mpiexec.mpich"); err != nil {
		t.Log("not tested: MPICH's launcher is not installed")
		return
	}
	args := hydra(t, 1, 2, program)
	require.Empty(t, at(prepareProgram(t, args[0], args[1:]...)), "one node under Hydra")
	args = hydra(t, 2, 2, program)
	are(at(prepareProgram(t, args[0], args[1:]...)), "two nodes under Hydra", net.IP.IsUnspecified)
	are(at(prepareProgram(t, args[0], args[1:]...), only), "two nodes under Hydra and an interface", isFirst)
}

// fewFiles is a program in which rank 0 opens all descriptors that its limit permits. Then rank 1 opens many
// connections to rank 0, as unknown processes could do. It sends nothing or invalid data over them. Afterwards both
// ranks communicate as before.
const fewFiles = `
#include <mpi.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
enum { STRANGERS = 30, ROUNDS = 50 };
static void take_all(void) { while (dup(0) >= 0) {} }
static int port(void)
{
    for (int fd = 0; fd < 1024; fd++) {
        struct sockaddr_storage s;
        socklen_t n = sizeof s, m = sizeof(int);
        int on = 0;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &on, &m) == 0 && on &&
            getsockname(fd, (struct sockaddr *)&s, &n) == 0 && s.ss_family != AF_UNIX)
            return ((struct sockaddr_in *)&s)->sin_port; /* of IPv6 at the same place */
    }
    return -1;
}
int main(void)
{
    int rank, to, x = 0, strangers[STRANGERS];
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    to = port();
    MPI_Bcast(&to, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        take_all();
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 1 && i < STRANGERS; i++) {
        struct sockaddr_in a = {
            .sin_family = AF_INET, .sin_port = (in_port_t)to, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        char nonsense[40] = "GET / HTTP/1.0\r\n\r\n";
        strangers[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(strangers[i], (struct sockaddr *)&a, sizeof a) != 0 ||
            (i % 3 == 0 && send(strangers[i], nonsense, sizeof nonsense, MSG_NOSIGNAL) < 0))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < ROUNDS; i++) { /* the progress thread sees them meanwhile, and what it closes is taken */
        if (rank == 0)
            take_all();
        usleep(20000);
    }
    for (int i = 0; i < ROUNDS; i++)
        MPI_Sendrecv(&i, 1, MPI_INT, 1 - rank, 0, &x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        close(0); /* MPI_Finalize may need one */
    MPI_Finalize();
    printf("%d\n", x);
    return 0;
}
`

// TestNoDescriptorsLeft checks that connections from unknown processes do not end the job while a rank has no free
// descriptors.
func TestNoDescriptorsLeft(t *testing.T) {
	program := compile(t, fewFiles)
	l := launchLimited(t, "-n 64", filepath.Join(built(t), "bin/gompirun"), "--nodes", "2", "-n", "2", program)
	l.Cmd.Env = append(l.Cmd.Env, "GOMPIRMA_PEER_TIMEOUT=20")
	require.Zero(t, l.run(t), "%s", &l.Err)
	require.Equal(t, "49\n49\n", l.Out.String())
	require.Empty(t, l.Err.String())
}
