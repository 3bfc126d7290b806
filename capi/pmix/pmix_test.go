package pmix

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"gompirma/core/boot"
)

// underMpirun is an environment variable. If it is set, this test program runs as one process of a job and executes
// `process` instead of the tests. The value of the variable is the mode of `process`, for example "abort".
const underMpirun = "GOMPIRMA_TEST_UNDER_MPIRUN"

func TestMain(m *testing.M) {
	if os.Getenv(underMpirun) == "" {
		os.Exit(m.Run())
	}
	if err := process(os.Getenv(underMpirun)); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func value(rank int) string {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i + rank)
	}
	return strings.Repeat(string(all), 40*rank)
}

func process(mode string) error {
	l, err := Load()
	if err != nil {
		return err
	}
	rank, err := l.Init()
	if err != nil {
		return err
	}
	size, ok := l.Number("pmix.job.size", true)
	if !ok || rank < 0 || rank >= size {
		return fmt.Errorf("rank %d of %d", rank, size)
	}
	if n, ok := l.Number("pmix.appnum", false); !ok || n != 0 {
		return fmt.Errorf("appnum %d, %v", n, ok)
	}
	if _, ok := l.Number("gompirma.none", true); ok {
		return fmt.Errorf("a number that there is not")
	}
	for round := range 2 {
		if err := l.Put(fmt.Sprint("gompirma.v", round), value(rank)); err != nil {
			return err
		}
		if err := l.Fence(); err != nil {
			return err
		}
		for r := range size {
			if got, err := l.Get(r, fmt.Sprint("gompirma.v", round)); err != nil || got != value(r) {
				return fmt.Errorf("of rank %d: %d bytes, %v", r, len(got), err)
			}
		}
	}
	switch {
	case mode == "abort" && rank == 1:
		l.Abort(23, "as asked")
	case mode == "abort":
		return l.Fence() // does not return
	case mode == "die":
		return waitForDeath(l, rank, size)
	}
	if err := l.Finalize(); err != nil {
		return err
	}
	fmt.Println("fine", rank, "of", size)
	return nil
}

// waitForDeath makes rank 1 kill the launcher, and creates the file "lost.RANK" when the library reports the loss.
func waitForDeath(l boot.PMIx, rank, size int) error {
	files := os.Getenv("GOMPIRMA_TEST_FILE")
	touch := func(name string) error { return os.WriteFile(fmt.Sprint(files, name, rank), nil, 0o600) }
	if err := touch("ready."); err != nil {
		return err
	}
	// Rank 1 waits until no rank needs the launcher. A rank that still needs the launcher would fail before it
	// notices the launcher's end.
	for rank == 1 {
		if ready, err := filepath.Glob(files + "ready.*"); err != nil || len(ready) == size {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if parent, err := os.FindProcess(os.Getppid()); err == nil && rank == 1 {
		parent.Kill() // the parent is the launcher
	}
	select {
	case <-l.Lost():
		return touch("lost.")
	case <-time.After(20 * time.Second):
		return nil
	}
}

func TestUnderMpirun(t *testing.T) {
	mpirun, err := exec.LookPath("mpirun.openmpi")
	if err != nil {
		t.Skip("mpirun.openmpi is not installed (Debian package openmpi-bin)")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	tmp := t.TempDir()
	run := func(mode string) (string, *os.ProcessState) {
		bound, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		cmd := exec.CommandContext(bound, mpirun, "--oversubscribe", "-n", "3", self)
		cmd.Env = append(os.Environ(), underMpirun+"="+mode, "OMPI_ALLOW_RUN_AS_ROOT=1",
			"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "TMPDIR="+tmp, "GOMPIRMA_TEST_FILE="+tmp+"/")
		cmd.WaitDelay = 10 * time.Second // ranks that outlive mpirun keep its output open
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState
	}
	out, state := run("run")
	require.Equal(t, 0, state.ExitCode(), out)
	for rank := range 3 {
		require.Contains(t, out, fmt.Sprintf("fine %d of 3\n", rank))
	}
	out, state = run("abort")
	// This mpirun sometimes crashes or hangs after it has ended the job, while it closes its PMIx server.
	for tries := 0; tries < 5 && state.ExitCode() == -1; tries++ {
		out, state = run("abort")
	}
	require.Equal(t, 23, state.ExitCode(), out)
	run("die")
	for rank := range 3 {
		lossReported := func() bool { _, err := os.Stat(tmp + "/lost." + fmt.Sprint(rank)); return err == nil }
		require.Eventually(t, lossReported, 20*time.Second, 10*time.Millisecond,
			"rank %d has not heard that the launcher is gone", rank)
	}
}

func TestWithoutLauncher(t *testing.T) {
	l, err := Load()
	if err != nil {
		require.ErrorContains(t, err, "libpmix")
		t.Skip("libpmix is not installed (Debian package libpmix2)")
	}
	require.NotNil(t, l.Lost())
}
