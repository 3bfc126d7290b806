package gotest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSanitizers checks programs compiled with AddressSanitizer (with leak detection) or ThreadSanitizer. They must get
// no reports about the library, whatever calls they make. A program's own errors must be reported.
func TestSanitizers(t *testing.T) {
	for _, sanitizer := range []string{"address", "thread"} {
		t.Run(sanitizer, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			out, err := exec.Command(filepath.Join(built(t), "bin/gompicc"), "-g", "-O1", "-Wall",
				"-Wextra", "-Werror", "-fsanitize="+sanitizer, "-pthread", "-o", program,
				"testdata/sanitized.c").CombinedOutput()
			if err != nil && strings.Contains(string(out), "cannot find") {
				t.Skipf("%s", out)
			}
			require.NoError(t, err, "%s", out)
			for _, args := range []string{"-n 1", "-n 2", "--nodes 2 -n 2"} {
				for _, what := range []string{"", "little"} {
					status, _, stderr := gompirun(t, append(strings.Fields(args), program, what)...)
					require.Zero(t, status, "%s %s: %s", args, what, stderr)
					require.Empty(t, stderr)
				}
			}
			status, _, stderr := gompirun(t, "-n", "1", program, "wrong")
			require.NotZero(t, status)
			require.Contains(t, stderr, map[string]string{
				"address": "LeakSanitizer: detected memory leaks",
				"thread":  "WARNING: ThreadSanitizer: data race",
			}[sanitizer])
			require.Equal(t, 1, strings.Count(stderr, map[string]string{
				"address": " leak of ", "thread": "SUMMARY"}[sanitizer]), stderr)
			require.Contains(t, stderr, "sanitized.c")
		})
	}
}
