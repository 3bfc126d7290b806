package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func lookup(name string) (string, bool) {
	v, ok := map[string]string{"HERE": "x=y", "EMPTY": ""}[name]
	return v, ok
}

func TestParse(t *testing.T) {
	many := cores()
	for line, want := range map[string]options{
		"prog":                                       {parts: []part{{n: many, argv: []string{"prog"}}}},
		"-n 3 prog -n 4 a b":                         {parts: []part{{n: 3, argv: []string{"prog", "-n", "4", "a", "b"}}}},
		"-np 3 prog":                                 {parts: []part{{n: 3, argv: []string{"prog"}}}},
		"--np=3 prog":                                {parts: []part{{n: 3, argv: []string{"prog"}}}},
		"-n 4096 prog":                               {parts: []part{{n: 4096, argv: []string{"prog"}}}},
		"-n 1 -- -prog":                              {parts: []part{{n: 1, argv: []string{"-prog"}}}},
		"-n 1 - x":                                   {parts: []part{{n: 1, argv: []string{"-", "x"}}}},
		"-n 1 -x A=1 --env B= a":                     {parts: []part{{n: 1, env: []string{"A=1", "B="}, argv: []string{"a"}}}},
		"-n 1 -x HERE -x GONE -x EMPTY a":            {parts: []part{{n: 1, env: []string{"HERE=x=y", "EMPTY="}, argv: []string{"a"}}}},
		"-n 1 --wdir /d a":                           {parts: []part{{n: 1, wdir: "/d", argv: []string{"a"}}}},
		"-l -q -n 1 a":                               {tag: true, quiet: true, parts: []part{{n: 1, argv: []string{"a"}}}},
		"--tag-output --quiet -n 1 a":                {tag: true, quiet: true, parts: []part{{n: 1, argv: []string{"a"}}}},
		"-tag-output -quiet -n 1 a":                  {tag: true, quiet: true, parts: []part{{n: 1, argv: []string{"a"}}}},
		"--output-dir d --n=1 a":                     {outputDir: "d", parts: []part{{n: 1, argv: []string{"a"}}}},
		"--timeout 1.5 -n 1 a":                       {timeout: 1500 * time.Millisecond, parts: []part{{n: 1, argv: []string{"a"}}}},
		"--timeout=1e-20 -n 1 a":                     {timeout: 1, parts: []part{{n: 1, argv: []string{"a"}}}},
		"--bind-to core -n 1 a":                      {bind: true, parts: []part{{n: 1, argv: []string{"a"}}}},
		"--bind-to none -n 1 a":                      {parts: []part{{n: 1, argv: []string{"a"}}}},
		"--oversubscribe --allow-run-as-root -n 1 a": {parts: []part{{n: 1, argv: []string{"a"}}}},
		"-l -n 1 a x : -x V=1 -n 2 b : -n 3 c": {tag: true, parts: []part{{n: 1, argv: []string{"a", "x"}}, {n: 2, env: []string{"V=1"}, argv: []string{"b"}},
			{n: 3, argv: []string{"c"}}}},
		"-n 1 a ::": {parts: []part{{n: 1, argv: []string{"a", "::"}}}},
	} {
		got, err := parse(strings.Fields(line), lookup)
		require.NoError(t, err, line)
		require.Equal(t, &want, got, line)
	}
	got, err := parse([]string{"-n", "2", "a", "", ":x"}, lookup)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "", ":x"}, got.parts[0].argv)
}

func TestParseRefuses(t *testing.T) {
	for line, says := range map[string]string{
		"":                             "no program",
		"-n 2":                         "no program",
		"-n 2 --":                      "no program",
		"-n":                           "-n needs a number",
		"--n= prog":                    "--n= needs a number",
		"-n x prog":                    "-n x: not a number",
		"-n 1e3 prog":                  "not a number",
		"-n 2.5 prog":                  "not a number",
		"-n 0 prog":                    "from 1 to 4096",
		"-n -1 prog":                   "from 1 to 4096",
		"-n 4097 prog":                 "from 1 to 4096",
		"-n 99999999999999999999 prog": "from 1 to 4096",
		"--frobnicate prog":            "unknown option --frobnicate",
		"-n4 prog":                     "unknown option -n4",
		"---l prog":                    "unknown option ---l",
		"-l=3 prog":                    "takes no value",
		"--timeout":                    "--timeout needs a number of seconds",
		"--timeout x a":                "not a number of seconds",
		"--timeout 0 a":                "above 0",
		"--timeout -3 a":               "above 0",
		"--timeout NaN a":              "above 0",
		"--timeout inf a":              "above 0",
		"--bind-to socket a":           "core and none",
		"-x =3 a":                      "not a variable",
		"-n 1 a : b":                   "-n is needed",
		"a : -n 1 b":                   "-n is needed",
		"-n 1 a :":                     "no program",
		": -n 1 a":                     "no program",
		"-n 1 a : -n 1 --timeout 3 b":  "before the first program",
		"-n 4000 a : -n 4000 b":        "8000 processes: at most 4096",
	} {
		_, err := parse(strings.Fields(line), lookup)
		require.ErrorContains(t, err, says, "%q", line)
		require.NotContains(t, err.Error(), "\n")
	}
	_, err := parse([]string{"-n", "1", ""}, lookup)
	require.ErrorContains(t, err, "no program")
}

func TestHelpAndVersion(t *testing.T) {
	for _, arg := range []string{"-h", "--help", "-help"} {
		_, err := parse([]string{"-n", "2", arg, "prog"}, lookup)
		require.True(t, errors.Is(err, errHelp))
	}
	_, err := parse([]string{"-V"}, lookup)
	require.True(t, errors.Is(err, errVersion))
	for _, o := range table {
		for _, n := range o.names {
			require.True(t, strings.Contains(manual, "-"+n), "%s is not in the manual", n)
		}
	}
}

// FuzzParse: no command line makes the parser panic or accept an impossible job.
func FuzzParse(f *testing.F) {
	f.Add("-n\n2\nprog\n:\n-n\n3\n-x\nA=B\nb")
	f.Add("--timeout=3\n-l\n--\n-x")
	f.Fuzz(func(t *testing.T, text string) {
		opts, err := parse(strings.Split(text, "\n"), lookup)
		if err != nil {
			return
		}
		require.GreaterOrEqual(t, opts.size(), 1)
		require.LessOrEqual(t, opts.size(), 4096)
		for _, p := range opts.parts {
			require.NotEmpty(t, p.argv)
			require.GreaterOrEqual(t, p.n, 1)
		}
	})
}
