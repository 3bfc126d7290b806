package main

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFresh checks that the committed files are those that the generator writes.
func TestFresh(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	require.NoError(t, generator.Check())
}
