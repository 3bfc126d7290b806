package version

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestString(t *testing.T) {
	require.Regexp(t, `^\d+\.\d+\.\d+$`, String)
}
