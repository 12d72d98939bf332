package web

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/test/kit/browser"
)

var update = flag.Bool("update", false, "take the pictures in docs/images anew")

// pictures are taken for the documents, and must stay small enough for a
// repository.
const mostBytes = 300 << 10

// TestPage uses the page as people do: it renders, a keyboard is enough, a
// phone shows it without scrolling sideways, and it keeps itself up to date.
func TestPage(t *testing.T) {
	b := browser.Start(t)
	c := newCluster(t)
	end := c.day()
	handler, err := c.serve().Handler()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	url := server.URL + "/"
	// The page's own clock runs a hundred times as fast.
	b.Call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		window.problems = [];
		addEventListener("error", (e) => problems.push(String(e.message)));
		addEventListener("securitypolicyviolation", (e) => problems.push(e.violatedDirective + " " + e.blockedURI));
		const every = setInterval; window.setInterval = (f, ms) => every(f, ms / 100);`}, nil)

	b.Open(url, 1280, 900, false)
	b.Run(t, "renders", renders)
	if *update {
		keep(t, "page.png", b.Picture())
	}
	b.Run(t, "keyboard", keyboard)
	hour := 0
	b.Run(t, "live", func(b *browser.Browser) {
		live(b, func() { hour++; c.round(end.Add(time.Duration(hour)*time.Hour), 18) })
	})
	b.Open(url, 390, 844, true)
	b.Run(t, "phone", phone)
	if *update {
		keep(t, "page-phone.png", b.Picture())
	}
	if problems := b.Text("problems.join('; ')"); problems != "" {
		t.Errorf("the browser complains: %s", problems)
	}
}

func keep(t *testing.T, name string, png []byte) {
	t.Helper()
	if len(png) > mostBytes {
		t.Errorf("%s has %d bytes, more than %d", name, len(png), mostBytes)
	}
	if err := os.WriteFile("../../../docs/images/"+name, png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// renders: styles apply, the curve is drawn within its frame, and what stands
// there can be seen.
func renders(b *browser.Browser) {
	for what, expression := range map[string]string{
		"the style is applied":        "getComputedStyle(document.querySelector('.tiles')).display === 'grid'",
		"the script runs":             "!document.getElementById('pause').hidden",
		"the curve is drawn":          "document.querySelector('polyline.spend').getBBox().width === 600",
		"the curve stays in its box":  "(() => { const r = document.querySelector('polyline.spend').getBBox(); return r.y >= 0 && r.y + r.height <= 160; })()",
		"the cap is drawn":            "document.querySelector('path.cap') !== null",
		"every section has a height":  "[...document.querySelectorAll('section')].every((s) => s.offsetHeight > 40)",
		"nodes are listed":            "document.querySelectorAll('#nodes tbody tr').length > 2",
		"a rejected policy has words": "[...document.querySelectorAll('#policies tr')].some((r) => r.innerText.includes('prefer-arm') && r.innerText.includes('rank.rego:'))",
		"pods that wait name the cap": "document.getElementById('waiting').innerText.includes('cap hourly-budget on cluster leaves')",
		"meters show shares":          "[...document.querySelectorAll('#nodes meter')].some((m) => m.value > 30 && m.value <= 100)",
		"nothing is wider than it":    "document.documentElement.scrollWidth <= innerWidth",
	} {
		if b.Text(expression) != "true" {
			b.T.Errorf("%s: not so: %s", what, expression)
		}
	}
}

// keyboard: Tab reaches everything in the order of the page, what has the focus
// shows it, and Enter opens and closes.
func keyboard(b *browser.Browser) {
	b.Eval("document.activeElement.blur()", nil)
	b.Eval("pause.click()", nil) // while the order is looked at, nothing changes
	var order []string
	for range 200 {
		b.Press("Tab")
		at := b.Text(`(() => { const e = document.activeElement; if (e === document.body) return "";
			const s = getComputedStyle(e);
			return [e.tagName, e.closest("details") ? e.closest("details").id : e.id || e.getAttribute("href"), s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2].join(" "); })()`)
		if at == "" || slices.Contains(order, at) {
			break
		}
		order = append(order, at)
	}
	want := []string{"A #contents true", "A #spend true", "A #waiting true", "A #nodes true", "A #policies true", "A #decisions true", "BUTTON pause true"}
	if len(order) < len(want) || !slices.Equal(order[:len(want)], want) {
		b.T.Fatalf("the order of Tab begins %q", order)
	}
	rest := order[len(want):]
	var summaries []string
	b.Eval(`[...document.querySelectorAll("summary")].map((s) => ["SUMMARY", s.parentElement.id, true].join(" "))`, &summaries)
	if !slices.Equal(rest, summaries) || len(summaries) < 10 {
		b.T.Errorf("Tab reaches %d of %d places that open, or in another order, or without a visible focus:\n%s\n%s", len(rest), len(summaries), strings.Join(rest, "\n"), strings.Join(summaries, "\n"))
	}
	b.Eval(`document.querySelector("#decisions summary").focus()`, nil)
	for i, key := range []string{"Enter", " "} {
		b.Press(key)
		if want := fmt.Sprint(i == 0); b.Text("document.activeElement.parentElement.open") != want {
			b.T.Errorf("%q: open is not %s", key, want)
		}
	}
	b.Eval("scrollTo(0, 0); document.querySelector('.skip').focus()", nil)
	b.Press("Enter")
	if got := b.Text("document.activeElement.id"); got != "contents" {
		b.T.Errorf("the first link leads to %q, not to the contents", got)
	}
	b.Eval("pause.click()", nil)
}

// live: what is decided is shown without a word from the reader, and what the
// reader has opened, and where the keyboard is, stays.
func live(b *browser.Browser, decide func()) {
	before := b.Text(`document.querySelector("time").dateTime`)
	b.Eval(`(() => { const d = document.querySelector("#nodes details"); d.open = true; d.querySelector("summary").focus(); window.kept = d.id; })()`, nil)
	decide()
	b.Await("the next decision", fmt.Sprintf(`document.querySelector("time").dateTime !== %q`, before))
	if at := b.Text(`(() => { const d = document.getElementById(kept); return d === null ? "gone" : d.open + " " + (document.activeElement === d.querySelector("summary")); })()`); at != "true true" && at != "gone" {
		b.T.Errorf("after an update, what was open and focused is %q", at)
	}
	b.Eval("pause.click()", nil)
	before = b.Text(`document.querySelector("time").dateTime`)
	decide()
	b.Eval("new Promise((done) => setTimeout(done, 500))", nil)
	if now := b.Text(`document.querySelector("time").dateTime`); now != before {
		b.T.Errorf("a page that was told to pause goes on: %s", now)
	}
	b.Eval("pause.click()", nil)
}

// phone: nothing is cut off or scrolls sideways, and cells say what they are.
func phone(b *browser.Browser) {
	for what, expression := range map[string]string{
		"the page fits":                   "document.documentElement.scrollWidth <= 390 && innerWidth === 390",
		"nothing sticks out":              "[...document.querySelectorAll('main *')].every((e) => e.closest('thead, svg') || e.getBoundingClientRect().right <= 391)",
		"cells carry their column":        "getComputedStyle(document.querySelector('#nodes td'), '::before').content === '\"NodePool\"'",
		"text is large enough":            "[...document.querySelectorAll('td, li, dd')].every((e) => parseFloat(getComputedStyle(e).fontSize) >= 12)",
		"opened pods fit too":             "(() => { for (const d of document.querySelectorAll('details')) d.open = true; const ok = document.documentElement.scrollWidth <= 390; for (const d of document.querySelectorAll('details')) d.open = false; return ok; })()",
		"places to touch are high enough": "[...document.querySelectorAll('summary')].every((e) => e.getBoundingClientRect().height >= 22)",
	} {
		if b.Text(expression) != "true" {
			b.T.Errorf("%s: not so: %s", what, expression)
		}
	}
}
