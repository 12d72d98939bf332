package web

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

// browser is a headless Chromium that is spoken to in the DevTools protocol, by
// pipe: JSON objects, each ended by a zero byte.
type browser struct {
	t       *testing.T
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

// chromium starts a browser, which ends with the test. Where there is none the
// test is skipped, under CI it fails.
func chromium(t *testing.T) *browser {
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
	b := &browser{t: t, to: to, answers: make(chan message, 16)}
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
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	b.call("Page.enable", nil, nil)
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
func (b *browser) read(from io.Reader) {
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

// call asks for one thing, and fails the test when it is refused.
func (b *browser) call(method string, params map[string]any, into any) {
	b.t.Helper()
	if err := b.ask(method, params, into); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

func (b *browser) ask(method string, params map[string]any, into any) error {
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
	ctx, cancel := context.WithTimeout(b.t.Context(), 3*time.Minute)
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

// eval runs an expression on the page, a promise to its end, and decodes its
// value.
func (b *browser) eval(expression string, into any) {
	b.t.Helper()
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	if e := got.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(got.Result.Value, into); err != nil {
		b.t.Fatalf("%s: %v: %s", expression, err, got.Result.Value)
	}
}

// text is the value of an expression as a string.
func (b *browser) text(expression string) string {
	b.t.Helper()
	var out string
	b.eval("String("+expression+")", &out)
	return out
}

// await waits until an expression is true.
func (b *browser) await(what, expression string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`new Promise((done, fail) => {
		const end = Date.now() + 120000;
		const look = () => { if (%s) done(true); else if (Date.now() > end) fail(new Error(%q)); else setTimeout(look, 50); };
		look();
	})`, expression, "not in time: "+what), nil)
}

// open loads a page at a width, in CSS pixels.
func (b *browser) open(url string, width, height int, mobile bool) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile}, nil)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.await("the page", fmt.Sprintf("location.href === %q && document.readyState === 'complete'", url))
}

// press sends a key, as from a keyboard.
func (b *browser) press(key string) {
	b.t.Helper()
	code, text := map[string]int{"Tab": 9, "Enter": 13, " ": 32}[key], map[string]string{"Enter": "\r", " ": " "}[key]
	for _, kind := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": kind, "key": key, "code": map[string]string{" ": "Space"}[key], "windowsVirtualKeyCode": code}
		if kind == "keyDown" && text != "" {
			params["text"] = text
		}
		b.call("Input.dispatchKeyEvent", params, nil)
	}
}

// picture is what the window shows, as PNG.
func (b *browser) picture() []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	raw, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}
