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
)

var update = flag.Bool("update", false, "take the pictures in docs/images anew")

// pictures are taken for the documents, and must stay small enough for a
// repository.
const mostBytes = 300 << 10

// TestPage uses the page as people do: it renders, a keyboard is enough, a
// phone shows it without scrolling sideways, and it keeps itself up to date.
func TestPage(t *testing.T) {
	b := chromium(t)
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
	b.call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		window.problems = [];
		addEventListener("error", (e) => problems.push(String(e.message)));
		addEventListener("securitypolicyviolation", (e) => problems.push(e.violatedDirective + " " + e.blockedURI));
		const every = setInterval; window.setInterval = (f, ms) => every(f, ms / 100);`}, nil)

	b.open(url, 1280, 900, false)
	b.run(t, "renders", renders)
	if *update {
		keep(t, "page.png", b.picture())
	}
	b.run(t, "keyboard", keyboard)
	hour := 0
	b.run(t, "live", func(b *browser) {
		live(b, func() { hour++; c.round(end.Add(time.Duration(hour)*time.Hour), 18) })
	})
	b.open(url, 390, 844, true)
	b.run(t, "phone", phone)
	if *update {
		keep(t, "page-phone.png", b.picture())
	}
	if problems := b.text("problems.join('; ')"); problems != "" {
		t.Errorf("the browser complains: %s", problems)
	}
}

// run runs a part of the test, which is then the browser's.
func (b *browser) run(t *testing.T, name string, part func(*browser)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { b.t = t; part(b) })
	b.t = t
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
func renders(b *browser) {
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
		if b.text(expression) != "true" {
			b.t.Errorf("%s: not so: %s", what, expression)
		}
	}
}

// keyboard: Tab reaches everything in the order of the page, what has the focus
// shows it, and Enter opens and closes.
func keyboard(b *browser) {
	b.eval("document.activeElement.blur()", nil)
	b.eval("pause.click()", nil) // while the order is looked at, nothing changes
	var order []string
	for range 200 {
		b.press("Tab")
		at := b.text(`(() => { const e = document.activeElement; if (e === document.body) return "";
			const s = getComputedStyle(e);
			return [e.tagName, e.closest("details") ? e.closest("details").id : e.id || e.getAttribute("href"), s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2].join(" "); })()`)
		if at == "" || slices.Contains(order, at) {
			break
		}
		order = append(order, at)
	}
	want := []string{"A #contents true", "A #spend true", "A #waiting true", "A #nodes true", "A #policies true", "A #decisions true", "BUTTON pause true"}
	if len(order) < len(want) || !slices.Equal(order[:len(want)], want) {
		b.t.Fatalf("the order of Tab begins %q", order)
	}
	rest := order[len(want):]
	var summaries []string
	b.eval(`[...document.querySelectorAll("summary")].map((s) => ["SUMMARY", s.parentElement.id, true].join(" "))`, &summaries)
	if !slices.Equal(rest, summaries) || len(summaries) < 10 {
		b.t.Errorf("Tab reaches %d of %d places that open, or in another order, or without a visible focus:\n%s\n%s", len(rest), len(summaries), strings.Join(rest, "\n"), strings.Join(summaries, "\n"))
	}
	b.eval(`document.querySelector("#decisions summary").focus()`, nil)
	for i, key := range []string{"Enter", " "} {
		b.press(key)
		if want := fmt.Sprint(i == 0); b.text("document.activeElement.parentElement.open") != want {
			b.t.Errorf("%q: open is not %s", key, want)
		}
	}
	b.eval("scrollTo(0, 0); document.querySelector('.skip').focus()", nil)
	b.press("Enter")
	if got := b.text("document.activeElement.id"); got != "contents" {
		b.t.Errorf("the first link leads to %q, not to the contents", got)
	}
	b.eval("pause.click()", nil)
}

// live: what is decided is shown without a word from the reader, and what the
// reader has opened, and where the keyboard is, stays.
func live(b *browser, decide func()) {
	before := b.text(`document.querySelector("time").dateTime`)
	b.eval(`(() => { const d = document.querySelector("#nodes details"); d.open = true; d.querySelector("summary").focus(); window.kept = d.id; })()`, nil)
	decide()
	b.await("the next decision", fmt.Sprintf(`document.querySelector("time").dateTime !== %q`, before))
	if at := b.text(`(() => { const d = document.getElementById(kept); return d === null ? "gone" : d.open + " " + (document.activeElement === d.querySelector("summary")); })()`); at != "true true" && at != "gone" {
		b.t.Errorf("after an update, what was open and focused is %q", at)
	}
	b.eval("pause.click()", nil)
	before = b.text(`document.querySelector("time").dateTime`)
	decide()
	b.eval("new Promise((done) => setTimeout(done, 500))", nil)
	if now := b.text(`document.querySelector("time").dateTime`); now != before {
		b.t.Errorf("a page that was told to pause goes on: %s", now)
	}
	b.eval("pause.click()", nil)
}

// phone: nothing is cut off or scrolls sideways, and cells say what they are.
func phone(b *browser) {
	for what, expression := range map[string]string{
		"the page fits":                   "document.documentElement.scrollWidth <= 390 && innerWidth === 390",
		"nothing sticks out":              "[...document.querySelectorAll('main *')].every((e) => e.closest('thead, svg') || e.getBoundingClientRect().right <= 391)",
		"cells carry their column":        "getComputedStyle(document.querySelector('#nodes td'), '::before').content === '\"NodePool\"'",
		"text is large enough":            "[...document.querySelectorAll('td, li, dd')].every((e) => parseFloat(getComputedStyle(e).fontSize) >= 12)",
		"opened pods fit too":             "(() => { for (const d of document.querySelectorAll('details')) d.open = true; const ok = document.documentElement.scrollWidth <= 390; for (const d of document.querySelectorAll('details')) d.open = false; return ok; })()",
		"places to touch are high enough": "[...document.querySelectorAll('summary')].every((e) => e.getBoundingClientRect().height >= 22)",
	} {
		if b.text(expression) != "true" {
			b.t.Errorf("%s: not so: %s", what, expression)
		}
	}
}
