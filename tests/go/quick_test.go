package gotest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQuick checks which tests `make quick DIR=...` selects for a directory.
func TestQuick(t *testing.T) {
	selection := func(dirs ...string) ([]string, error) {
		words := append([]string{"-n", "unused"}, dirs...)
		out, err := exec.Command(filepath.Join(top, "scripts/quick.sh"), words...).CombinedOutput()
		return strings.Split(strings.TrimSpace(string(out)), "\n"), err
	}
	for dir, wanted := range map[string][]string{
		"coll":     {"./core/coll", "unit_coll_nbc_address", "conformance_coll_bcast"},
		"rma":      {"./core/rma", "conformance_put", "conformance_win_info", "litmus_torn_elements"},
		"fabric":   {"unit_fabric_fabric_address"},
		"info":     {"unit_info_info_address", "conformance_info", "conformance_info_changes"},
		"gompirun": {"./cmd/gompirun"},
	} {
		got, err := selection(dir)
		require.NoError(t, err, "%s: %s", dir, got)
		require.Subset(t, got, wanted, dir)
	}
	got, err := selection("coll", "fabric")
	require.NoError(t, err)
	require.Subset(t, got, []string{"unit_coll_nbc_address", "unit_fabric_fabric_address"})
	got, err = selection("nowhere")
	require.Error(t, err)
	require.Contains(t, got[0], "no tests belong to nowhere")
	_, err = selection() // without DIR: the changed files, or the files of the last commit
	require.NoError(t, err)
}
