package core

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/boot/pmi1"
)

// Checks that keys of the info object take precedence over those of its file, that several lines may have the key env,
// and that wrong lines are refused.
func TestSpawnKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	lookup := func(key string) (string, error) {
		return map[string]string{"file": path, "wdir": "/a"}[key], nil
	}
	for text, want := range map[string]string{
		"# comment\n\n wdir = /b \nmapby=slot:PE=2\nsoft = 1,2\n": "",
		"env = B=2\nenv = C=3\n":                                  "",
		"wdir /b\n":                                               " is not KEY=VALUE",
		"path=/b\n\npath=/c\n":                                    " repeats the key path",
		"soft = x":                                                "soft is",

		"mpi_initial_errhandler = x": "mpi_initial_errhandler: ",
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		var part pmi1.SpawnPart
		soft, err := ApplySpawnKeys(&part, lookup)
		if want != "" {
			require.ErrorContains(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "/a", part.Dir)
		if part.MapBy == "" {
			require.Subset(t, part.Env, []string{"B=2", "C=3"})
		} else {
			require.Equal(t, "slot:PE=2", part.MapBy)
			require.Len(t, soft, 2)
		}
	}
}
