package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/man/help"
)

func lookup(name string) (string, bool) {
	v, ok := map[string]string{"HERE": "x=y", "EMPTY": ""}[name]
	return v, ok
}

func TestParse(t *testing.T) {
	many := cores()
	for line, want := range map[string]options{
		"prog": {parts: []part{{n: many, argv: []string{"prog"}}}},
		"-n 3 prog -n 4 a b": {parts: []part{{n: 3,
			argv: []string{"prog", "-n", "4", "a", "b"}}}},
		"-np 3 prog":    {parts: []part{{n: 3, argv: []string{"prog"}}}},
		"--np=3 prog":   {parts: []part{{n: 3, argv: []string{"prog"}}}},
		"-n 4096 prog":  {parts: []part{{n: 4096, argv: []string{"prog"}}}},
		"-n 1 -- -prog": {parts: []part{{n: 1, argv: []string{"-prog"}}}},
		"-n 1 - x":      {parts: []part{{n: 1, argv: []string{"-", "x"}}}},
		"-n 1 -x A=1 --env B= a": {parts: []part{{n: 1, env: []string{"A=1", "B="},
			argv: []string{"a"}}}},
		"-n 1 -x HERE -x GONE -x EMPTY a": {parts: []part{{n: 1, env: []string{"HERE=x=y", "EMPTY="},
			argv: []string{"a"}}}},
		"-n 1 --wdir /d a": {parts: []part{{n: 1, wdir: "/d", argv: []string{"a"}}}},
		"-l -q -n 1 a": {tag: true, quiet: true,
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"--tag-output --quiet -n 1 a": {tag: true, quiet: true,
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"-tag-output -quiet -n 1 a": {tag: true, quiet: true,
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"--output-dir d --n=1 a": {outputDir: "d",
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"--timeout 1.5 -n 1 a": {timeout: 1500 * time.Millisecond,
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"--timeout=1e-20 -n 1 a": {timeout: 1, parts: []part{{n: 1, argv: []string{"a"}}}},
		"--deadlock abort --deadlock-after=0.5 -n 1 a": {deadlock: deadlockAbort,
			deadlockAfter: 500 * time.Millisecond, parts: []part{{n: 1, argv: []string{"a"}}}},
		"--deadlock=off -n 1 a":    {deadlock: deadlockOff, parts: []part{{n: 1, argv: []string{"a"}}}},
		"--deadlock=report -n 1 a": {parts: []part{{n: 1, argv: []string{"a"}}}},
		"--bind-to core -n 1 a": {bind: "core",
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"--bind-to none -n 1 a": {bind: "none",
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"--oversubscribe --allow-run-as-root -n 1 a": {parts: []part{{n: 1, argv: []string{"a"}}},
			passed: []passed{{prrte, []string{"--allow-run-as-root"}}}},
		"-l -n 1 a x : -x V=1 -n 2 b : -n 3 c": {tag: true, parts: []part{{n: 1, argv: []string{"a", "x"}},
			{n: 2, env: []string{"V=1"}, argv: []string{"b"}},
			{n: 3, argv: []string{"c"}}}},
		"--n 2 a":           {parts: []part{{n: 2, argv: []string{"a"}}}},
		"--np 2 a":          {parts: []part{{n: 2, argv: []string{"a"}}}},
		"-c 2 a":            {parts: []part{{n: 2, argv: []string{"a"}}}},
		"-ppn 3 a":          {parts: []part{{n: 3, argv: []string{"a"}}}},
		"-npernode 3 a":     {parts: []part{{n: 3, argv: []string{"a"}}}},
		"-n 5 -perhost 3 a": {parts: []part{{n: 5, argv: []string{"a"}}}},
		"-perhost 3 -n 5 a": {parts: []part{{n: 5, argv: []string{"a"}}}},
		"-ppn 2 a : -n 1 b": {parts: []part{{n: 2, argv: []string{"a"}},
			{n: 1, argv: []string{"b"}}}},
		"--nodes 2 -ppn 3 a":             {nodes: 2, perNode: 3, parts: []part{{n: 6, argv: []string{"a"}}}},
		"-nodes=2 -ppn 3 -n 4 a":         {nodes: 2, perNode: 3, parts: []part{{n: 4, argv: []string{"a"}}}},
		"--nodes 3 -n 2 a":               {nodes: 3, parts: []part{{n: 2, argv: []string{"a"}}}},
		"-host localhost a":              {parts: []part{{n: many, argv: []string{"a"}}}},
		"--host localhost:3,127.0.0.1 a": {parts: []part{{n: 4, argv: []string{"a"}}}},
		"-hosts localhost,localhost a":   {parts: []part{{n: 2, argv: []string{"a"}}}},
		"-H localhost:3 -n 9 a":          {parts: []part{{n: 9, argv: []string{"a"}}}},
		"-n 1 -env A 1 -env B=2 a": {parts: []part{{n: 1, env: []string{"A=1", "B=2"},
			argv: []string{"a"}}}},
		"-genv A 1 -n 1 -env A 2 a : -n 1 b": {parts: []part{{n: 1, env: []string{"A=1", "A=2"},
			argv: []string{"a"}},
			{n: 1, env: []string{"A=1"}, argv: []string{"b"}}}},
		"-genvnone -n 1 a : -n 1 -envall b : -n 1 -envlist X,Y c": {parts: []part{{n: 1,
			inherit: inherit{limited: true}, argv: []string{"a"}},
			{n: 1, argv: []string{"b"}}, {n: 1, inherit: inherit{limited: true, list: []string{"X", "Y"}},
				argv: []string{"c"}}}},
		"-genvlist X -genvall -n 1 -envnone a": {parts: []part{{n: 1, inherit: inherit{limited: true},
			argv: []string{"a"}}}},
		"-n 1 -cwd /d a": {parts: []part{{n: 1, wdir: "/d",
			argv: []string{"a"}}}},
		"-prepend-rank -n 1 a": {tag: true,
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"-outfile-pattern o.%r -errfile-pattern e -n 1 a": {outFile: "o.%r", errFile: "e",
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"--output-filename d%:nocopy -n 1 a": {outFile: "d%%/1/rank.%0r/stdout",
			errFile: "d%%/1/rank.%0r/stderr",
			parts:   []part{{n: 1, argv: []string{"a"}}}},
		"-bind-to hwthread -n 1 a": {bind: "hwthread",
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"--bind-to package:overload-allowed -n 1 a": {bind: "socket",
			parts: []part{{n: 1, argv: []string{"a"}}}},
		"--bind-to numa --bind-to none -n 1 a":    {bind: "none", parts: []part{{n: 1, argv: []string{"a"}}}},
		"--map-by core --rank-by slot -n 1 a":     {parts: []part{{n: 1, argv: []string{"a"}}}},
		"--map-by ppr:4:node a":                   {parts: []part{{n: 4, argv: []string{"a"}}}},
		"--map-by slot:PE=4,OVERSUBSCRIBE -n 1 a": {bindTo: 4, parts: []part{{n: 1, argv: []string{"a"}}}},
		"--map-by :OVERSUBSCRIBE -n 1 a":          {parts: []part{{n: 1, argv: []string{"a"}}}},
		"--mca btl self,tcp -launcher ssh -iface=eth0 -v --verbose -localonly --report-bindings -n 1 a": {
			parts: []part{{n: 1, argv: []string{"a"}}},
			passed: []passed{{prrte, []string{"--mca", "btl", "self,tcp"}},
				{hydra, []string{"-launcher", "ssh"}}, {hydra, []string{"-iface", "eth0"}}}},
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
		"":              "no program",
		"-n 2":          "no program",
		"--preflight a": `--preflight takes no program, but "a" is given`,
		"--preflight :": `--preflight takes no program, but ":" is given`,
		"--preflight -n 2": "--preflight starts one process on each host: remove -n " +
			"and -ppn",
		"--preflight -ppn 2": "--preflight starts one process on each host: remove -n " +
			"and -ppn",
		"-n 2 --":                      "no program",
		"-n":                           "-n needs a number",
		"--n= prog":                    "--n= needs a number",
		"-n x prog":                    `-n must be a number from 1 to 4096, not "x"`,
		"-n 1e3 prog":                  `must be a number from 1 to 4096, not "1e3"`,
		"-n 2.5 prog":                  `must be a number from 1 to 4096, not "2.5"`,
		"-n 0 prog":                    "-n must be from 1 to 4096, not 0",
		"-n -1 prog":                   "-n must be from 1 to 4096, not -1",
		"-n 4097 prog":                 "-n must be from 1 to 4096, not 4097",
		"--nodes 0 prog":               `--nodes must be a number from 1 to 4096, not "0"`,
		"--nodes x prog":               `--nodes must be a number from 1 to 4096, not "x"`,
		"-n 5 -ppn 2 --nodes 2 prog":   "5 processes do not fit on 2 nodes with -ppn 2",
		"-n 1 a : --nodes 2 -n 1 b":    "--nodes applies to the whole job",
		"-n 99999999999999999999 prog": "from 1 to 4096",
		"--frobnicate prog": "unknown option --frobnicate (gompirun --help lists the " +
			"options)",
		"--bind-to-core prog": "unknown option --bind-to-core, which another launcher has: write " +
			"--bind-to core",
		"-N 4 prog": "unknown option -N, which another launcher has: write -ppn for the number of " +
			"processes on each host",
		"--bind-too core prog":    "unknown option --bind-too. Did you mean --bind-to?",
		"-n4 prog":                "unknown option -n4. Did you mean -n?",
		"--cheque prog":           "unknown option --cheque. Did you mean --check?",
		"-timeuot=3 prog":         "unknown option -timeuot=3. Did you mean -timeout?",
		"--evn A=1 prog":          "unknown option --evn. Did you mean --env?",
		"---l prog":               "unknown option ---l. Did you mean -l?",
		"-l=3 prog":               "takes no value",
		"--timeout":               "--timeout needs a number of seconds",
		"--deadlock":              "--deadlock needs a value: report, abort or off",
		"--deadlock= a":           "--deadlock= needs a value: report, abort or off",
		"--bind-to":               "--bind-to needs a value: none, core, hwthread, socket or numa",
		"--map-by":                "--map-by needs a value: slot, core, socket, node or ppr:N:node",
		"--rank-by":               "--rank-by needs a value: slot, core, socket or node",
		"--output-dir":            "--output-dir needs a directory",
		"--deadlock maybe a":      `--deadlock must be report, abort or off, not "maybe"`,
		"--deadlock-after 0 a":    "above 0",
		"--timeout x a":           "must be a number of seconds above 0",
		"--timeout 0 a":           "above 0",
		"--timeout -3 a":          "above 0",
		"--timeout NaN a":         "above 0",
		"--timeout inf a":         "above 0",
		"--bind-to board a":       "--bind-to must be none, core, hwthread, socket or numa, not",
		"--map-by sideways a":     `with the modifier PE=N, not "sideways"`,
		"--map-by slot:PE=x a":    `with the modifier PE=N, not "slot:PE=x"`,
		"--map-by ppr:2:socket a": `with the modifier PE=N, not "ppr:2:socket"`,
		"--rank-by sideways " +
			"a": `--rank-by must be slot, core, socket or node, not "sideways"`,
		"-host localhost:0 a": `the number of slots must be from 1 to 4096, not "0"`,
		"-host 192.0.2.1 a": "host 192.0.2.1 has no number of slots: use -n, -ppn or " +
			"-host 192.0.2.1:N",
		"-host 192.0.2.1:2 a : -H 192.0.2.2:2 b": "all programs of a job on several machines need the same " +
			"hosts",
		"--nodes 2 -host 192.0.2.1:2 a": "--nodes simulates machines; it cannot be combined with " +
			"host 192.0.2.1",
		"--map-by node -host 192.0.2.1:2 a": "--map-by node is not supported on several machines: " +
			"gompirun places the ranks in blocks",
		"--rank-by node -host 192.0.2.1:2 a": "--rank-by node",
		"-host localhost, a":                 "the name of a host is missing",
		"-f /no/such/file a":                 "/no/such/file: no such file",
		"-ppn 0 a":                           "-ppn must be from 1 to 4096, not 0",
		"-genv A":                            "-genv A needs a value",
		"-env =a b":                          "the name of the variable is missing",
		"-genv =a b":                         "the name of the variable is missing",
		"--mca btl":                          "--mca btl needs a value",
		"-n 1 a : -genv A 1 -n 1 b":          "before the first program",
		"-x =3 a":                            "the name of the variable is missing",
		"-n 1 a : b":                         "if there are several programs, each needs its own -n",
		"a : -n 1 b":                         "if there are several programs, each needs its own -n",
		"-n 1 a :":                           "no program",
		": -n 1 a":                           "no program",
		"-n 1 a : -n 1 --timeout 3 b":        "before the first program",
		"-n 4000 a : -n 4000 b":              "the job has 8000 processes; the maximum is 4096",
	} {
		_, err := parse(strings.Fields(line), lookup)
		require.ErrorContains(t, err, says, "%q", line)
		require.NotContains(t, err.Error(), "\n")
	}
	_, err := parse([]string{"-n", "1", ""}, lookup)
	require.ErrorContains(t, err, "no program")
}

// Checks that the manuals fit into a terminal of 100 columns.
func TestManualColumns(t *testing.T) {
	for line := range strings.Lines(manual + reportManual) {
		require.LessOrEqual(t, len(strings.TrimSuffix(line, "\n")), 100, line)
	}
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

// Checks that the environment's time limit applies if the command line gives none. As with other launchers, a value of
// 0 or less means no limit.
func TestTimeoutOfEnvironment(t *testing.T) {
	for value, want := range map[string]time.Duration{"": 0, "0": 0, "-1": 0, "60": time.Minute,
		"0.5": 500 * time.Millisecond} {
		get := func(name string) (string, bool) { return value, name == "MPIEXEC_TIMEOUT" }
		opts, err := parse([]string{"-n", "1", "a"}, get)
		require.NoError(t, err, value)
		require.Equal(t, want, opts.timeout, value)
		opts, err = parse([]string{"--timeout", "3", "-n", "1", "a"}, get)
		require.NoError(t, err, value)
		require.Equal(t, 3*time.Second, opts.timeout, value)
	}
	for _, value := range []string{"x", "3s", "NaN", "inf", "1e10", " "} {
		get := func(name string) (string, bool) { return value, name == "MPIEXEC_TIMEOUT" }
		_, err := parse([]string{"-n", "1", "a"}, get)
		require.EqualError(t, err, `MPIEXEC_TIMEOUT must be a number of seconds up to 1e9, not "`+value+`"`)
		_, err = parse([]string{"-n", "1", "--timeout", "3", "a"}, get)
		require.NoError(t, err, "what is not used does not matter")
	}
}

// Checks that the environment's number of nodes applies if the command line gives none, independently of -ppn.
func TestNodesOfEnvironment(t *testing.T) {
	for value, want := range map[string]int{"": 0, "1": 1, "3": 3} {
		get := func(name string) (string, bool) { return value, name == "GOMPIRMA_NODES" }
		opts, err := parse([]string{"-ppn", "1", "-n", "4", "a"}, get)
		require.NoError(t, err, value)
		require.Equal(t, want, opts.nodes, value)
		opts, err = parse([]string{"--nodes", "2", "-n", "1", "a"}, get)
		require.NoError(t, err, value)
		require.Equal(t, 2, opts.nodes, value)
	}
	for _, value := range []string{"x", "0", "-1", "4097", " "} {
		get := func(name string) (string, bool) { return value, name == "GOMPIRMA_NODES" }
		_, err := parse([]string{"-n", "1", "a"}, get)
		require.EqualError(t, err, `GOMPIRMA_NODES must be a number from 1 to 4096, not "`+value+`"`)
		_, err = parse([]string{"-n", "1", "-host", "192.0.2.1:2", "a"}, get)
		require.NoError(t, err, "what is not used does not matter")
	}
}

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

// TestOtherOptions checks that gompirun has none of the options for which it names a replacement.
func TestOtherOptions(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range otherOptions {
		require.NotEmpty(t, o.hint)
		for _, name := range strings.Fields(o.names) {
			require.Nil(t, find(name), name)
			require.False(t, seen[name], name)
			seen[name] = true
		}
	}
}

// TestHelpOptions checks that the manual describes the options as the table has them, because man/gen makes the manual
// page and the completion of shells from it.
func TestHelpOptions(t *testing.T) {
	text := help.Parse(manual)
	described := map[string]int{} // number of values by name; -1 if the value is optional
	for _, o := range text.Options() {
		for _, name := range o.Names {
			values := len(o.Values)
			if entry := find(strings.TrimLeft(name, "-")); entry != nil && entry.choice {
				values = -1
			}
			described[name] = values
		}
	}
	for _, o := range table {
		for _, n := range o.names {
			values := 0
			switch {
			case o.choice:
				values = -1
			case o.second != "":
				values = 2
			case o.value != "":
				values = 1
			}
			found := false
			for _, dashes := range []string{"-", "--"} {
				got, is := described[dashes+n]
				if strings.HasPrefix(n, "-") {
					got, is = described[n]
				} else if find(dashes+n) != nil {
					continue // this spelling is another option
				}
				if is {
					require.Equal(t, values, got, n)
					found = true
				}
			}
			require.True(t, found, "the manual does not describe -%s", n)
		}
	}
}
