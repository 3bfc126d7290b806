package pmi1

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]Message{
		"cmd=get_maxes":                       New("get_maxes"),
		" cmd=finalize  ":                     New("finalize"),
		"cmd=init pmi_version=1 a=b":          New("init", "pmi_version", "1", "a", "b"),
		"cmd=put key=k value=a=b==":           New("put", "key", "k", "value", "a=b=="),
		"cmd=get_result  rc=0   msg= value":   {},
		"cmd=get_result rc=0 msg= value=":     New("get_result", "rc", "0", "msg", "", "value", ""),
		"":                                    {},
		"   ":                                 {},
		"cmd=":                                {},
		"get_maxes":                           {},
		"key=k cmd=put":                       {},
		"cmd=put =k":                          {},
		"cmd=put \x00=k":                      {},
		"cmd=put k=\n":                        {},
		"cmd=" + strings.Repeat("x", MaxLine): {},
	} {
		m, err := Parse(line)
		if want.Cmd == "" {
			require.Error(t, err, "%.60q", line)
			continue
		}
		require.NoError(t, err, "%q", line)
		require.Equal(t, want, m, "%q", line)
	}
}

func TestMessageValues(t *testing.T) {
	m, err := Parse("cmd=maxes a=12 b=x a=13")
	require.NoError(t, err)
	n, err := m.Int("a")
	require.NoError(t, err)
	require.Equal(t, 12, n)
	for _, key := range []string{"b", "c"} {
		_, err := m.Int(key)
		require.ErrorContains(t, err, key)
	}
	_, ok := m.Value("c")
	require.False(t, ok)
	require.Equal(t, "cmd=maxes a=12 b=x a=13", m.String())
}

func TestLineSplitting(t *testing.T) {
	text := "cmd=a\ncmd=b x=1\n\ncmd=c"
	for step := 1; step <= len(text); step++ {
		var l lines
		var got []string
		for i := 0; i < len(text); i += step {
			require.NoError(t, l.add([]byte(text[i:min(i+step, len(text))]),
				func(line string) error { got = append(got, line); return nil }))
		}
		require.Equal(t, []string{"cmd=a", "cmd=b x=1", ""}, got, "step %d", step)
		require.Equal(t, "cmd=c", string(l.partial))
	}
	var l lines
	part := make([]byte, MaxLine)
	require.NoError(t, l.add(part, nil))
	require.ErrorIs(t, l.add([]byte{'x'}, nil), errLineTooLong)
}

// FuzzParse checks that no line makes the parser panic. It also checks that String returns a line that is parsed to an
// equal message.
func FuzzParse(f *testing.F) {
	for _, line := range []string{
		"cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
		"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024", "cmd=put kvsname=k key=a value=b=c",
		" cmd=x  y=  ", "cmd==", "mcmd=spawn", "cmd", "=",
		"cmd=get_result rc=-1 msg=key_x_not_found value=unknown", "cmd=abort exitcode=99999999999999999999",
		"cmd=a\x00b=c", "cmd=\xff\xfe=\xff",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		m, err := Parse(line)
		if err != nil {
			return
		}
		require.NotContains(t, m.String(), "\n")
		again, err := Parse(m.String())
		require.NoError(t, err)
		require.Equal(t, m, again)
		for _, p := range m.pairs {
			_, ok := m.Value(p.key)
			require.True(t, ok)
		}
	})
}
