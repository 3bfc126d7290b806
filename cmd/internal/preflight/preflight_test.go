package preflight

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Checks that connections with the job's secret are measured. Connections without a secret, or with another secret, are
// rejected.
func TestProbe(t *testing.T) {
	s := &server{secret: make(chan string, 1)}
	port, err := s.listen("", nil)
	require.NoError(t, err)
	defer s.close()
	s.secret <- "the secret"
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	for range 2 {
		r := probe(address, "the secret")
		require.Empty(t, r.Error)
		require.Positive(t, r.Latency)
		require.Positive(t, r.Bandwidth)
	}
	require.Equal(t, strangerText, probe(address, "another one").Error)

	mute, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() {
		for {
			conn, err := mute.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	require.Equal(t, strangerText, probe(mute.Addr().String(), "the secret").Error)
	mute.Close()
	require.Equal(t, "connection refused", probe(mute.Addr().String(), "the secret").Error)
}

func TestListen(t *testing.T) {
	taken, err := net.Listen("tcp", ":0")
	require.NoError(t, err)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	one := strconv.Itoa(port)
	_, err = new(server).listen(one+"-"+one, nil)
	require.ErrorContains(t, err, "no port to listen on")
	for _, wrong := range []string{"x", "20", "30-20"} {
		_, err = new(server).listen(wrong, nil)
		require.EqualError(t, err, "GOMPIRMA_PORTS="+wrong+" is not a range of ports such as 20000-20999")
	}
}

// Checks that a listener accepts connections at all given addresses and at no other address.
func TestListenAtAddresses(t *testing.T) {
	l, err := Listen("", []string{"127.0.0.1", "127.0.0.2"})
	require.NoError(t, err)
	port := strconv.Itoa(Port(l))
	for _, address := range []string{"127.0.0.1", "127.0.0.2"} {
		conn, err := net.Dial("tcp", address+":"+port)
		require.NoError(t, err)
		accepted, err := l.Accept()
		require.NoError(t, err)
		require.Equal(t, address+":"+port, accepted.LocalAddr().String())
		accepted.Close()
		conn.Close()
	}
	_, err = net.Dial("tcp", "127.0.0.3:"+port)
	require.ErrorContains(t, err, "refused")
	require.NoError(t, l.Close())
	_, err = l.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
	t.Setenv("GOMPIRMA_INTERFACE", "")
	require.Empty(t, ListenAddresses([]Address{{Address: "10.0.0.1"}}))
	t.Setenv("GOMPIRMA_INTERFACE", "eth0")
	_, err = Listen("", ListenAddresses([]Address{{Address: "fe80::1"}}))
	require.ErrorContains(t, err, "GOMPIRMA_INTERFACE excludes all addresses of this host")
	require.Equal(t, []string{"10.0.0.1"}, ListenAddresses([]Address{{Address: "10.0.0.1"}}))
}

// Checks the text on the results of the connections, and the advice.
func TestWrite(t *testing.T) {
	two := []Address{{"10.0.0.1", "eth0", ""}, {"10.1.0.1", "ib0", ""}}
	sites := []site{{Host: "a", Version: "1", Addresses: two}, {Host: "b", Version: "1", Addresses: two}}
	fast, slow := result{"", 2, 5e9}, result{"", 20, 110e6}
	none := result{Error: "timeout: no answer"}
	both := func(there, back []result) [][][]result { return [][][]result{{nil, there}, {back, nil}} }
	var out strings.Builder

	require.True(t, write(&out, sites, both([]result{slow, fast}, []result{slow, none})))
	require.Equal(t, `from  to  address   interface  latency  bandwidth
a     b   10.0.0.1  eth0       20.0 us  110.0 MB/s
a     b   10.1.0.1  ib0        2.0 us   5.00 GB/s
b     a   10.0.0.1  eth0       20.0 us  110.0 MB/s
b     a   10.1.0.1  ib0        -        timeout: no answer
GOMPIRMA_INTERFACE=ib0 would have 45.5 times the bandwidth of eth0 (a to b)
`, out.String())

	out.Reset()
	require.True(t, write(&out, sites, both([]result{none, none}, []result{slow, none})))
	require.Contains(t, out.String(), "a cannot connect to b; in a job, b connects to a instead, up to a second")

	for said, what := range map[string]string{
		none.Error:            "A firewall may block the connections",
		"connection refused":  "A firewall may block the connections",
		"no route to host":    "The hosts have no common network",
		"permission denied":   "See the errors of the system in the lines above",
		strangerText:          "Another machine has the same address",
		"network unreachable": "The hosts have no common network",
	} {
		out.Reset()
		r := []result{{Error: said}, {Error: said}}
		require.False(t, write(&out, sites, both(r, r)), said)
		require.Contains(t, out.String(), "a and b cannot connect to each other: a job cannot use both. "+
			what)
	}

	out.Reset()
	require.True(t, write(&out, sites[:1], [][][]result{{nil}}))
	require.Equal(t, "a is the only host: nothing to test. Name several with -H a,b,c\n", out.String())

	out.Reset()
	sites[1] = site{Host: "b", Version: "2", Error: "gompi-fabric: not found"}
	require.True(t, write(&out, sites, both(nil, []result{slow, slow})))
	require.Contains(t, out.String(), "b has gompirma 2, but a has 1: install the same version on all hosts\n")
	require.Contains(t, out.String(), "b: gompi-fabric: not found\n")
	require.Contains(t, out.String(), "a cannot connect to b; in a job, b connects to a instead")
}
