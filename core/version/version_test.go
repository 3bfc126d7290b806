package version

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLibrary parses the text as bindings do: the first word is the name, and the number follows. The text must not
// contain the words by which bindings recognize other libraries.
func TestLibrary(t *testing.T) {
	text := Library()
	var major, minor, patch int
	n, err := fmt.Sscanf(text, "gompirma %d.%d.%d, ", &major, &minor, &patch)
	require.NoError(t, err, text)
	require.Equal(t, 3, n)
	require.Equal(t, String, fmt.Sprintf("%d.%d.%d", major, minor, patch))
	require.Equal(t, []string{"gompirma", String},
		regexp.MustCompile(`^([A-Za-z][\w() -]*?)(?: Version:)?\s+v?(\d+(?:\.\d+)*)\b`).FindStringSubmatch(
			text)[1:])
	require.NotRegexp(t, `(?i)mpich|open ?mpi|intel|microsoft|spectrum|fujitsu|cray|wrapper`, text)
	require.NotContains(t, text, "\n")
	require.Less(t, len(text), 256)
}

func TestString(t *testing.T) {
	require.Regexp(t, `^\d+\.\d+\.\d+$`, String)
}
