package gotest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLoss: a rank is killed and the job lives on, since its launcher waits for a shell. What the others do among
// themselves goes on; what needs the dead one ends with an error that names it; on one node, two, and one for each.
func TestLoss(t *testing.T) {
	program := compileFile(t, "loss.c")
	gompirun := filepath.Join(built(t), "bin/gompirun")
	for nodes := range strings.FieldsSeq("1 2 4") {
		t.Run(nodes, func(t *testing.T) {
			over := filepath.Join(t.TempDir(), "over")
			shell := filepath.Join(t.TempDir(), "shell")
			script := fmt.Sprintf("#!/bin/sh\n%s %s %s\nwhile [ ! -e %s ]; do sleep 0.1; done\n",
				program, over, nodes, over)
			require.NoError(t, os.WriteFile(shell, []byte(script), 0o755))
			l := prepareProgram(t, gompirun, "-n", "4", "--nodes", nodes, shell)
			l.run(t)
			require.Equal(t, []string{"right 0", "right 1", "right 2"}, sorted(l.out.String()), "%s",
				&l.err)
		})
	}
}
