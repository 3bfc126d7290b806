package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sampleOutput = `axis op put
axis type int
axis type vector
axis sync fence
axis sync lock
axis kind malloc
reason e one element by definition
note SUM of pairs: MAXLOC
cell malloc fence put int ok
cell malloc lock put int ok
cell malloc fence put vector e
cell malloc lock put vector ok
PASS
`

func read(t *testing.T, text string) *table {
	m := newTable()
	require.NoError(t, m.read(strings.NewReader(text)))
	return m
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		name, more string
		kinds      []string
		want       counts
		good       bool
	}{
		{"whole", "", nil, counts{ok: 3, reasoned: 1}, true},
		{"a failure", "cell malloc lock put vector FAIL", nil, counts{ok: 2, failed: 1, reasoned: 1}, false},
		{"a window kind that did not run", "", []string{"shared"}, counts{ok: 3, reasoned: 1, holes: 4}, false},
		{"a letter that nobody explains", "cell malloc lock put vector x", nil,
			counts{ok: 2, reasoned: 1, holes: 1}, false},
		{"one more synchronization", "axis sync pscw", nil, counts{ok: 3, reasoned: 1, holes: 2}, false},
		{"a cell beside the matrix", "cell malloc fence get int ok", nil,
			counts{ok: 3, reasoned: 1, strange: 1}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := read(t, sampleOutput+test.more)
			for _, k := range test.kinds {
				m.addKind(k)
			}
			require.Equal(t, test.want, m.count())
			require.Equal(t, test.good, m.count().good())
		})
	}
	require.False(t, newTable().count().good(), "an empty matrix proves nothing")
}

func TestRead(t *testing.T) {
	for _, line := range []string{"axis color red", "axis op", "cell malloc fence put int", "reason e", "note"} {
		require.Error(t, newTable().read(strings.NewReader(line)), line)
	}
}

func TestPrint(t *testing.T) {
	var out strings.Builder
	m := read(t, sampleOutput)
	delete(m.cells, cell{"malloc", "lock", "put", "vector"})
	m.print(&out)
	require.Equal(t, `window: malloc fence lock
put  int     ok    ok
     vector  e     ?

SUM of pairs: MAXLOC
e  one element by definition
?  a hole: nobody said why
`, out.String())
}
