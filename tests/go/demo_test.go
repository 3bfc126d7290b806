package gotest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDemoPictures checks that each step of `make demo` writes its own picture.
func TestDemoPictures(t *testing.T) {
	script, err := os.ReadFile(filepath.Join(top, "scripts/demo.sh"))
	require.NoError(t, err)
	written := map[string]bool{}
	for _, m := range regexp.MustCompile(`\$out/([\w$-]+\.png)`).FindAllStringSubmatch(string(script), -1) {
		for _, sync := range []string{"fence", "pscw", "flush"} {
			name := strings.ReplaceAll(m[1], "$sync", sync)
			require.False(t, written[name], "two steps write %s", name)
			written[name] = true
			if name == m[1] {
				break
			}
		}
	}
	require.Len(t, written, 5)
}
