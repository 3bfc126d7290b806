package gotest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/tests/go/harness"
)

// completions lists command lines and what a shell inserts for all completions of their last word. A line that ends in
// a blank has an empty last word.
var completions = []struct{ line, want string }{
	{"gompirun --deadlock ", "abort off report"},
	{"gompirun --deadlock-a", "--deadlock-after"},
	{"gompirun --bind-to n", "none numa"},
	{"gompirun -n 2 -map-by s", "slot socket"},
	{"gompirun -out", "-outfile-pattern"},
	{"gompirun --output-dir ", "directory"},
	{"gompirun --hostfile h", "hosts.txt"},
	{"gompirun -x HOM", "HOME"},
	{"gompirun -n 2 ./p", "./program ./program.f90"},
	{"gompirun -n 2 gompi-inf", "gompi-info"},
	{"gompirun -n 2 --env A=1 ./program -n h", "hosts.txt"},
	{"gompirun -env A 1 -q ./p", "./program ./program.f90"},
	{"gompi-info --fa", "--fabric"},
	{"gompicc -showme:l", "-showme:libdirs -showme:libs -showme:link"},
	{"gompicc -compile", "-compile-info"},
	{"gompicxx -CC=gompi-inf", "-CC=gompi-info"},
	{"gompifort_abi -O2 p", "program program.f90"},
	{"gompicc -O2 --check p", "program program.f90"},
}

// terminalShell is a shell on a terminal.
type terminalShell struct {
	keys   io.Writer
	screen *harness.Buffer
	insert string // keys that insert all completions
}

// startShell starts a shell in a directory with some files, with PATH beginning with the tools.
func startShell(t *testing.T, insert string, setup []string, name string, args ...string) *terminalShell {
	dir := t.TempDir()
	for _, file := range []string{"program", "program.f90", "hosts.txt"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), nil, 0o755))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "directory"), 0o755))
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "TERM=dumb", "PS1=> ",
		"PATH=" + filepath.Join(built(t), "bin") + ":/usr/bin:/bin"}
	s := &terminalShell{insert: insert}
	s.keys, s.screen = harness.Terminal(t, cmd)
	s.run(t, strings.Join(setup, "\n")+"\n")
	return s
}

// run types text and a command that prints a mark, and returns what the shell has printed before the mark.
func (s *terminalShell) run(t *testing.T, text string) string {
	t.Helper()
	before := len(s.screen.String())
	fmt.Fprint(s.keys, text+"echo ma''rk\n")
	require.Eventually(t, func() bool {
		return regexp.MustCompile(`\nmark\r`).MatchString(s.screen.String()[before:])
	}, 30*time.Second, 10*time.Millisecond, "%s", s.screen)
	return s.screen.String()[before:]
}

var shownWord = regexp.MustCompile(`<([^<>\r\n]*)>`)

// complete returns the words that the shell inserts for the last word of a line.
func (s *terminalShell) complete(t *testing.T, line string) string {
	t.Helper()
	out := s.run(t, line+s.insert+"\x01printf '<%s>' \n")
	var words []string
	for _, m := range shownWord.FindAllStringSubmatch(out, -1) {
		if m[1] != "%s" {
			words = append(words, m[1])
		}
	}
	typed := len(strings.Fields(line))
	if !strings.HasSuffix(line, " ") {
		typed--
	}
	require.GreaterOrEqual(t, len(words), typed, "%q\n%s", line, out)
	words = words[typed:]
	slices.Sort(words)
	return strings.Join(words, " ")
}

// TestCompletionBash tries the completion in bash on a terminal.
func TestCompletionBash(t *testing.T) {
	t.Parallel()
	setup := []string{"bind 'set bell-style none'", "bind 'set enable-bracketed-paste off'"}
	for _, tool := range []string{"gompirun", "gompi-info", "gompicc", "gompicxx", "gompifort"} {
		setup = append(setup, ". "+filepath.Join(built(t), "share/bash-completion/completions", tool))
	}
	s := startShell(t, "\x1b*", setup, "bash", "--norc", "--noprofile", "-i")
	for _, c := range completions {
		want := c.want
		if strings.Contains(c.line, "showme:") {
			want = "-showme:libdirs libs link" // bash inserts the words after the colon
		}
		require.Equal(t, strings.TrimSuffix(want, "/"), strings.TrimSuffix(s.complete(t, c.line), "/"), c.line)
	}
	require.Equal(t, "--check=hosts.txt", s.complete(t, "gompirun --check=ho"))
	require.Equal(t, "--check=strict", s.complete(t, "gompirun --check=s"))
	require.Equal(t, "--deadlock=report", s.complete(t, "gompirun --deadlock=re"))
	require.Equal(t, "core hwthread none numa socket", s.complete(t, "gompirun -n 1 ./program : -n 2 --bind-to "))
	options := s.complete(t, "gompirun -")
	for _, name := range []string{"-n", "--stats", "--stats=", "--help", "--mca"} {
		require.Contains(t, strings.Fields(options), name)
	}
}

// TestCompletionZsh tries the completion in zsh.
func TestCompletionZsh(t *testing.T) {
	t.Parallel()
	harness.NeedCommand(t, "zsh")
	s := startShell(t, "\x18a", []string{
		"PS1='> '; unsetopt zle_bracketed_paste prompt_sp prompt_cr; unset zle_bracketed_paste",
		"fpath=(" + filepath.Join(built(t), "share/zsh/site-functions") + " $fpath)",
		"autoload -Uz compinit; compinit -u -D; zstyle ':completion:*' list-prompt ''",
		"zle -C all-matches complete-word _generic; zstyle ':completion:all-matches:*' insert yes",
		"zstyle ':completion:all-matches::::' completer _all_matches _complete; bindkey '^Xa' all-matches",
		"bindkey '^A' beginning-of-line"}, "zsh", "-f", "-i")
	for _, c := range completions {
		got := strings.TrimSuffix(s.complete(t, c.line), "/")
		require.Equal(t, strings.TrimSuffix(c.want, "/"), got, c.line)
	}
}
