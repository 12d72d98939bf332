// Package browser drives a headless Chromium, for tests of what people see on a page.
package browser

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"spokeshave.dev/test/kit/eventually"
)

// Browser is a headless Chromium that is spoken to in the DevTools protocol, by pipe: JSON
// objects, each ended by a zero byte. Its methods fail the test when the browser refuses.
type Browser struct {
	// T is the test that fails.
	T       *testing.T
	to      io.Writer
	session string
	id      int
	answers chan message
}

type message struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Start starts a browser, which ends with the test. Where there is none the
// test is skipped, under CI it fails.
func Start(t *testing.T) *Browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path == "" && os.Getenv("CI") != "":
		t.Fatal("there is no Chromium, which .ci/run installs")
	case path == "":
		t.Skip("there is no Chromium here: apt-get install chromium")
	}
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(context.WithoutCancel(t.Context())) // the test's ends before its cleanup
	profile := profileDir(t)
	cmd := exec.CommandContext(ctx, path,
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb",
		"--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, answers}
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		kill()
		t.Fatal(err)
	}
	_, _ = theirs.Close(), answers.Close() // the browser has its own
	b := &Browser{T: t, to: to, answers: make(chan message, 16)}
	go b.read(from)
	t.Cleanup(func() {
		// It ends when the pipe does, and by force when it will not.
		force := time.AfterFunc(10*time.Second, kill)
		_, _ = to.Close(), cmd.Wait()
		force.Stop()
		kill()
		_ = from.Close()
	})
	var target struct{ TargetID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	b.Call("Page.enable", nil, nil)
	return b
}

// profileDir is a folder for the browser's profile. Its processes may write there a
// moment longer than the first of them lives, so that t.TempDir would fail the test.
func profileDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "spokeshave-page-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var failed error
		remove := func(context.Context) (string, bool) { failed = os.RemoveAll(dir); return "", failed == nil }
		// The test's context has ended.
		if _, err := eventually.Poll(context.WithoutCancel(t.Context()), eventually.Within, remove); err != nil {
			t.Errorf("the browser's profile stays: %v", failed)
		}
	})
	return dir
}

// read hands on the answers; what happens in the browser otherwise is left out.
func (b *Browser) read(from io.Reader) {
	defer close(b.answers)
	for r := bufio.NewReader(from); ; {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) == nil && m.ID != 0 {
			b.answers <- m
		}
	}
}

// Call sends a command of the DevTools protocol, and decodes its result.
func (b *Browser) Call(method string, params map[string]any, into any) {
	b.T.Helper()
	if err := b.ask(method, params, into); err != nil {
		b.T.Fatalf("%s: %v", method, err)
	}
}

func (b *Browser) ask(method string, params map[string]any, into any) error {
	b.id++
	ask := map[string]any{"id": b.id, "method": method, "params": params}
	if params == nil {
		ask["params"] = map[string]any{}
	}
	if b.session != "" {
		ask["sessionId"] = b.session
	}
	text, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(b.T.Context(), 3*time.Minute)
	defer cancel()
	for {
		select {
		case m, ok := <-b.answers:
			switch {
			case !ok:
				return errors.New("the browser has ended")
			case m.ID != b.id:
				continue
			case m.Error != nil:
				return errors.New(m.Error.Message)
			case into == nil:
				return nil
			}
			return json.Unmarshal(m.Result, into)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Eval runs a JavaScript expression on the page, a promise to its end, and decodes its
// value.
func (b *Browser) Eval(expression string, into any) {
	b.T.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	if e := got.ExceptionDetails; e != nil {
		b.T.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(got.Result.Value, into); err != nil {
		b.T.Fatalf("%s: %v: %s", expression, err, got.Result.Value)
	}
}

// Text returns the value of an expression as a string.
func (b *Browser) Text(expression string) string {
	b.T.Helper()
	var out string
	b.Eval("String("+expression+")", &out)
	return out
}

// Await waits until an expression is true, two minutes at most. what is for the message.
func (b *Browser) Await(what, expression string) {
	b.T.Helper()
	b.Eval(fmt.Sprintf(`new Promise((done, fail) => {
		const end = Date.now() + 120000;
		const look = () => { if (%s) done(true); else if (Date.now() > end) fail(new Error(%q)); else setTimeout(look, 50); };
		look();
	})`, expression, "not in time: "+what), nil)
}

// Open loads a page at a width, in CSS pixels.
func (b *Browser) Open(url string, width, height int, mobile bool) {
	b.T.Helper()
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}, nil)
	b.Call("Page.navigate", map[string]any{"url": url}, nil)
	b.Await("the page", fmt.Sprintf("location.href === %q && document.readyState === 'complete'", url))
}

// Run runs a part of a test, which is then the browser's.
func (b *Browser) Run(t *testing.T, name string, part func(*Browser)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { b.T = t; part(b) })
	b.T = t
}

// Press sends a key, as from a keyboard: "Tab", "Enter" or " ".
func (b *Browser) Press(key string) {
	b.T.Helper()
	code, text := map[string]int{"Tab": 9, "Enter": 13, " ": 32}[key], map[string]string{"Enter": "\r", " ": " "}[key]
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": key, "code": map[string]string{" ": "Space"}[key], "windowsVirtualKeyCode": code}
		if kind == "keyDown" && text != "" {
			params["text"] = text
		}
		b.Call("Input.dispatchKeyEvent", params, nil)
	}
}

// Picture returns what the window shows, as PNG.
func (b *Browser) Picture() []byte {
	b.T.Helper()
	var shot struct{ Data string }
	b.Call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	raw, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.T.Fatal(err)
	}
	return raw
}
