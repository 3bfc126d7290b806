package browser

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tab is a page in a Chromium browser. The test controls the browser by Chromium's debugger protocol over a pipe.
// Messages are JSON and end with a zero byte.
type tab struct {
	t       *testing.T
	in      io.Writer
	session string
	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	faults  []string      // errors of JavaScript, and requests to a network
	ended   chan struct{} // closed when the browser's output ends
}

type reply struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// limit is the time after which a test gives up waiting for the browser.
const limit = 3 * time.Minute

// open starts a browser for one test.
func open(t *testing.T) *tab {
	t.Helper()
	path := chromium(t)
	fromUs, in, err := os.Pipe()
	require.NoError(t, err)
	out, toUs, err := os.Pipe()
	require.NoError(t, err)
	dir := t.TempDir()
	cmd := exec.Command(path, "--headless=new", "--no-sandbox", "--remote-debugging-pipe",
		"--user-data-dir="+dir+"/profile",
		"--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--force-device-scale-factor=1", "--hide-scrollbars", "about:blank")
	cmd.ExtraFiles = []*os.File{fromUs, toUs}
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir, "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	_, _, _ = fromUs.Close(), toUs.Close(), log.Close()
	b := &tab{t: t, in: in, waiting: map[int]chan reply{}, ended: make(chan struct{})}
	go b.listen(out)
	t.Cleanup(func() {
		b.close(cmd)
		_, _ = in.Close(), out.Close()
		if t.Failed() {
			said, _ := os.ReadFile(log.Name())
			t.Logf("the browser said:\n%s", said)
		}
	})
	var made struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	b.size(1400, 1000)
	return b
}

// close asks the browser to end, so that the browser ends its processes and removes its files. If the browser does not
// end, close kills it.
func (b *tab) close(cmd *exec.Cmd) {
	gone := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		<-b.ended
		close(gone)
	}()
	_, _ = b.in.Write([]byte(`{"id":1000000,"method":"Browser.close"}` + "\x00"))
	select {
	case <-gone:
	case <-time.After(20 * time.Second):
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // also kills remaining processes of the browser
	<-gone
}

// chromium returns the path of the browser. If no browser exists, it skips the test, or fails the test if the browser
// is required.
func chromium(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("GOMPIRMA_BROWSER") != "" {
		require.NoError(t, err)
	}
	if err != nil {
		t.Skip("chromium is not installed")
	}
	return path
}

func (b *tab) listen(out io.Reader) {
	defer close(b.ended)
	for r := bufio.NewReaderSize(out, 1<<20); ; {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			ID     int
			Method string
			Params json.RawMessage
			reply
		}
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if c := b.waiting[m.ID]; c != nil {
			delete(b.waiting, m.ID)
			c <- m.reply
		}
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
			b.faults = append(b.faults, m.Method+": "+string(m.Params))
		case "Network.requestWillBeSent":
			var p struct{ Request struct{ URL string } }
			_ = json.Unmarshal(m.Params, &p)
			if !strings.HasPrefix(p.Request.URL, "file:") && !strings.HasPrefix(p.Request.URL, "data:") &&
				!strings.HasPrefix(p.Request.URL, "blob:") {
				b.faults = append(b.faults, "asked for "+p.Request.URL)
			}
		}
		b.mu.Unlock()
	}
}

// call calls a method of the debugger protocol, and waits for the result.
func (b *tab) call(method string, params any, result any) {
	b.t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	b.mu.Lock()
	b.next++
	id, c := b.next, make(chan reply, 1)
	b.waiting[id] = c
	b.mu.Unlock()
	message := map[string]any{"id": id, "method": method, "params": params}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	require.NoError(b.t, err)
	_, err = b.in.Write(append(text, 0))
	require.NoError(b.t, err)
	select {
	case r := <-c:
		require.Nil(b.t, r.Error, "%s: %v", method, r.Error)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(r.Result, result), "%s: %s", method, r.Result)
		}
	case <-b.ended:
		require.Fail(b.t, "the browser has ended", method)
	case <-time.After(limit):
		require.Fail(b.t, "no answer", method)
	}
}

// eval returns the value of a JavaScript expression. If the value is a promise, eval waits for its result.
func (b *tab) eval(expression string) any {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true,
		"awaitPromise": true}, &r)
	require.Empty(b.t, string(r.ExceptionDetails), expression)
	return r.Result.Value
}

// show opens a file and waits until its page is drawn. It returns the time from the start of loading, in ms.
func (b *tab) show(file string) float64 {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	ready := b.eval(`new Promise(done => {
		const look = () => {
			const r = document.body && location.href !== "about:blank" && document.body.dataset.ready;
			r ? done(r) : setTimeout(look, 20);
		};
		look();
	})`)
	var ms float64
	_, err := fmt.Sscanf(ready.(string), "%f", &ms)
	require.NoError(b.t, err, "%v", ready)
	return ms
}

func (b *tab) size(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height,
		"deviceScaleFactor": 1,
		"mobile":            false}, nil)
}

// dark selects dark or light colours.
func (b *tab) dark(on bool) {
	b.t.Helper()
	value := "light"
	if on {
		value = "dark"
	}
	b.call("Emulation.setEmulatedMedia",
		map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme",
			"value": value}}}, nil)
	b.settle()
}

// settle waits until pending changes are drawn.
func (b *tab) settle() {
	b.t.Helper()
	b.eval(`new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 100))`)
}

// key presses a key. The element with the focus receives it.
func (b *tab) key(name string) {
	b.t.Helper()
	params := map[string]any{"type": "keyDown", "key": name}
	if len(name) == 1 {
		params["text"] = name
	}
	b.call("Input.dispatchKeyEvent", params, nil)
	params["type"] = "keyUp"
	b.call("Input.dispatchKeyEvent", params, nil)
	b.settle()
}

func (b *tab) mouse(kind string, x, y float64, more map[string]any) {
	b.t.Helper()
	params := map[string]any{"type": kind, "x": x, "y": y}
	for k, v := range more {
		params[k] = v
	}
	b.call("Input.dispatchMouseEvent", params, nil)
}

// picture takes a screenshot of the window, or of the whole page, and returns it as PNG.
func (b *tab) picture(name string, whole bool) []byte {
	b.t.Helper()
	b.settle()
	var r struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": whole}, &r)
	png, err := base64.StdEncoding.DecodeString(r.Data)
	require.NoError(b.t, err)
	if dir := os.Getenv("GOMPIRMA_SCREENSHOTS"); dir != "" {
		require.NoError(b.t, os.MkdirAll(dir, 0o755))
		require.NoError(b.t, os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644))
	}
	return png
}

// noFaults fails the test if the page had an error or accessed a network.
func (b *tab) noFaults() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	require.Empty(b.t, b.faults)
}
