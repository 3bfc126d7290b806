package boot

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/boot/pmi1"
)

func connectionPort(t *testing.T) *Port {
	p, err := OpenPort(ListenSpec{Addresses: []string{"127.0.0.1"}})
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

func TestConnectionPort(t *testing.T) {
	p := connectionPort(t)
	require.Less(t, len(p.Name), 256)
	require.NotContains(t, p.Name, " ")
	local := p.Name
	fields := strings.Split(p.Name, ":")
	remote := strings.Replace(p.Name, fields[2], strings.Repeat("0", len(fields[2])), 1) // no such Unix socket
	for _, name := range []string{local, remote} {
		c, err := Dial(name)
		require.NoError(t, err)
		other, err := p.Accept(time.Time{})
		require.NoError(t, err)
		long := strings.Repeat("x", 1<<20)
		got := make(chan string, 1)
		go func() {
			b, err := Exchange(other, []byte(long), 10)
			got <- string(b)
			_ = err
		}()
		b, err := Exchange(c, []byte("short"), 1<<20)
		require.NoError(t, err)
		require.Equal(t, long, string(b))
		require.Equal(t, "short", <-got)
		c.Close()
		other.Close()
	}
	for _, name := range []string{"", "gompirma:", "gompirma:1:2:3:4", "gompirma:zz:::", "x" + p.Name} {
		_, err := Dial(name)
		require.ErrorIs(t, err, ErrPortName, name)
	}
	p.Close()
	_, err := p.Accept(time.Time{})
	require.Error(t, err)
	_, err = Dial(local)
	require.Error(t, err)
}

// TestConnectionPortStrangers checks that a process that finds a port but does not know its name cannot connect. Its
// connection is closed, and others can connect meanwhile.
func TestConnectionPortStrangers(t *testing.T) {
	p := connectionPort(t)
	fields := strings.Split(p.Name, ":")
	fields[1] = strings.Repeat("0", len(fields[1]))
	wrong := strings.Join(fields, ":")
	_, err := Dial(wrong)
	require.Error(t, err)
	var silent []net.Conn
	for _, text := range []string{"", "GET / HTTP/1.0\r\n\r\n", strings.Repeat("x", 4096)} {
		addresses := map[string]string{"unix": "@gompirma-" + fields[2], "tcp": "127.0.0.1:" + fields[3]}
		for network, at := range addresses {
			c, err := net.Dial(network, at)
			require.NoError(t, err)
			defer c.Close()
			io.WriteString(c, text)
			silent = append(silent, c)
		}
	}
	c, err := Dial(p.Name)
	require.NoError(t, err)
	c.Close()
	for _, c := range silent {
		c.SetDeadline(time.Now().Add(30 * time.Second)) // bounds a hang
		_, err := io.Copy(io.Discard, c)
		require.False(t, isTimeout(err), "the connection has not been closed")
	}
	accepted, err := p.Accept(time.Time{}) // only the connection of the process that knows the name
	require.NoError(t, err)
	accepted.Close()
	require.Empty(t, p.Arrivals)
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}

func TestNames(t *testing.T) {
	service := fmt.Sprint("TestNames ", os.Getpid())
	_, err := LookupName(service)
	require.ErrorIs(t, err, pmi1.ErrName)
	require.NoError(t, PublishName(service, "a port"))
	require.ErrorIs(t, PublishName(service, "another port"), pmi1.ErrName)
	for range 3 {
		port, err := LookupName(service)
		require.NoError(t, err)
		require.Equal(t, "a port", port)
	}
	require.NoError(t, UnpublishName(service))
	require.ErrorIs(t, UnpublishName(service), pmi1.ErrName)
	_, err = LookupName(service)
	require.ErrorIs(t, err, pmi1.ErrName)
	require.NoError(t, PublishName(service, "a port"))
	UnpublishAll()
	_, err = LookupName(service)
	require.ErrorIs(t, err, pmi1.ErrName)
}
