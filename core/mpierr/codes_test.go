package mpierr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"gompirma/core/abi"
)

// An error handler may be called with any number of codes that the application has made up. Nobody asks what they were
// about, so nothing is kept of them.
func TestRemember(t *testing.T) {
	Remember(abi.MPI_ERR_TAG, "the tag is 7")
	s, err := String(abi.MPI_ERR_TAG)
	require.NoError(t, err)
	require.Contains(t, s, "the tag is 7")
	before := len(recent)
	for code := int32(abi.MPI_ERR_LASTCODE); code < abi.MPI_ERR_LASTCODE+1000; code++ {
		Remember(code, "of the application's own")
	}
	require.Len(t, recent, before)
}
