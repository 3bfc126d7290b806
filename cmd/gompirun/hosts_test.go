package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func fake(name string) *hosts {
	return &hosts{
		name: name,
		lookup: func(name string) ([]string, error) {
			addresses := map[string][]string{"alias": {"10.0.0.7"}, "other": {"10.0.0.8"},
				"loop": {"127.0.1.1"}}[name]
			if addresses == nil {
				return nil, errors.New("no such host")
			}
			return addresses, nil
		},
		localAddrs: func() []string { return []string{"127.0.0.1", "10.0.0.7", "fe80::1"} },
	}
}

func TestHostsOfThisMachine(t *testing.T) {
	for name, here := range map[string]bool{
		"localhost": true, "LOCALHOST": true, "127.0.0.1": true, "127.0.3.4": true, "::1": true,
		"10.0.0.7": true, "fe80::1": true,
		"node": true, "Node": true, "node.cluster": true, "alias": true, "loop": true,
		"10.0.0.8": false, "other": false, "nobody": false, "node2": false, "nod": false,
	} {
		require.Equal(t, here, fake("node").isLocal(name), name)
	}
	full := fake("node.cluster")
	require.True(t, full.isLocal("node"))
	require.True(t, full.isLocal("node.cluster"))
	require.False(t, full.isLocal("node.elsewhere"))
}

func TestHostLists(t *testing.T) {
	for text, want := range map[string]int{"node": 0, "node:4": 4, "node,localhost": 2, "node:2,node:3": 5,
		"node:2, alias": 3, "[::1]:3": 3, "::1": 0, "[::1]": 0, "[fe80::1%lo]:2,::1": 3, "127.0.0.1:4": 4} {
		list, err := readHosts(text)
		require.NoError(t, err, text)
		require.Equal(t, want, total(list), text)
		h := fake("node")
		require.Empty(t, h.firstRemote(list), text)
	}
	h := fake("node")
	list, err := readHosts("node,other:2,nobody")
	require.NoError(t, err)
	require.Equal(t, "other", h.firstRemote(list))
	for text, says := range map[string]string{
		"": "the name of a host is missing", "node,": "the name of a host is missing", ":3": "the name of a " +
			"host",
		"-n": "the name of a host is missing", "node:x": "number of slots",
		"node:-1": "number of slots", "node:5000": "number of slots",
		"[::1": "not a host", "[node]:2": "not a host", "[::1]2": "not a host", "::1::2": "not a host",
	} {
		_, err := readHosts(text)
		require.ErrorContains(t, err, says, text)
	}
}

func TestHostFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hosts")
	for text, want := range map[string]int{
		"node\n": 0, "# all\n\nnode slots=4 max_slots=8 # here\n": 4, "node:3": 3, "node\nnode\nnode\n": 3,
		"localhost slots=2\nalias:2\n": 4, "[::1] slots=2\n": 2, "::1 slots=3\n": 3, "[::1]:2\n::1\n": 3,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		list, err := readHostFile(path)
		require.NoError(t, err, text)
		require.Equal(t, want, total(list), text)
	}
	for text, says := range map[string]string{
		"": "the file names no host", "# none\n": "the file names no host",
		"node slots=x": "line 1: the number of slots must be from 1 to 4096, not \"x\"",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := readHostFile(path)
		require.ErrorContains(t, err, says, text)
	}
}
