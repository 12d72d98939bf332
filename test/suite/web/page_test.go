package web

import (
	"flag"
	"fmt"
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
	url := c.url()
	// The page's own clock runs a hundred times as fast.
	b.Call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		window.problems = [];
		addEventListener("error", (e) => problems.push(String(e.message)));
		addEventListener("securitypolicyviolation", (e) => problems.push(e.violatedDirective + " " + e.blockedURI));
		const every = setInterval; window.setInterval = (f, ms) => every(f, ms / 100);`}, nil)

	scheme(b, "light")
	b.Open(url, 1280, 1160, false)
	b.Run(t, "renders", renders)
	keep(b, "page.png")
	b.Run(t, "theme", theme)
	b.Run(t, "pause", func(b *browser.Browser) { pause(b, func() { c.round(end.Add(time.Minute), 18) }) })
	b.Run(t, "keyboard", keyboard)
	b.Open(url+"?view=decisions", 1280, 900, false)
	b.Run(t, "filter", filter)
	scheme(b, "dark")
	b.Open(url+"?view=nodes", 1280, 900, false)
	keep(b, "page-nodes.png")
	scheme(b, "light")
	for _, view := range []string{"", "?view=spend", "?view=waiting", "?view=nodes", "?view=decisions", "?view=policies", "?view=savings"} {
		b.Open(url+view, 390, 844, true)
		b.Run(t, "phone"+view, phone)
		if view == "" {
			keep(b, "page-phone.png")
		}
	}
	b.Open(url, 1280, 900, false)
	hour := 0
	b.Run(t, "live", func(b *browser.Browser) {
		live(b, func() { hour++; c.round(end.Add(time.Duration(hour)*time.Hour), 18) })
	})
	if problems := b.Text("problems.join('; ')"); problems != "" {
		t.Errorf("the browser complains: %s", problems)
	}
}

// TestAccessibility holds every view against the rules of WCAG 2.2, level AA, that a
// program can check: in both themes, at a desk and on a phone.
func TestAccessibility(t *testing.T) {
	axe := browser.NewAxe(t, "../../..")
	b := browser.Start(t)
	c := newCluster(t)
	c.day()
	url := c.url()
	views := []string{
		"", "?view=spend", "?view=waiting", "?view=nodes", "?view=decisions", "?view=decisions&q=spot&kind=launch", "?view=policies", "?view=savings",
		"?view=namespace&name=shop", "?view=pod&name=data/db-1", "?view=node&name=" + c.nodes[0].Name, "?view=nodepool&name=general",
		"?view=policy&name=spokeshave/trial-limits", "?view=decision&name=" + c.journal.Entries()[0].ID,
	}
	for _, view := range views {
		for _, each := range []struct {
			scheme string
			width  int
		}{{"light", 1280}, {"dark", 1280}, {"light", 390}, {"dark", 390}} {
			scheme(b, each.scheme)
			b.Open(url+view, each.width, 900, each.width < 400)
			axe.Check(b, fmt.Sprintf("/%s, %s, %d wide", view, each.scheme, each.width))
		}
	}
}

// scheme sets what the system says of light and dark.
func scheme(b *browser.Browser, value string) {
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// keep takes a picture for the documents, when they are to be taken anew.
func keep(b *browser.Browser, name string) {
	b.T.Helper()
	if !*update {
		return
	}
	png := b.Picture()
	if len(png) > mostBytes {
		b.T.Errorf("%s has %d bytes, more than %d", name, len(png), mostBytes)
	}
	if err := os.WriteFile("../../../docs/images/"+name, png, 0o644); err != nil {
		b.T.Fatal(err)
	}
}

// holds checks expressions by what they mean.
func holds(b *browser.Browser, all map[string]string) {
	b.T.Helper()
	for what, expression := range all {
		if b.Text(expression) != "true" {
			b.T.Errorf("%s: not so: %s", what, expression)
		}
	}
}

// renders: styles apply, the curve is drawn within its frame, and what stands
// there can be seen.
func renders(b *browser.Browser) {
	holds(b, map[string]string{
		"the style is applied":        "getComputedStyle(document.querySelector('.tiles')).display === 'grid'",
		"the script runs":             "!document.getElementById('pause').hidden",
		"the curve is drawn":          "document.querySelector('polyline.spend').getBBox().width === 600",
		"the curve stays in its box":  "(() => { const r = document.querySelector('polyline.spend').getBBox(); return r.y >= 0 && r.y + r.height <= 160; })()",
		"the cap is drawn":            "document.querySelector('path.cap') !== null",
		"every section has a height":  "[...document.querySelectorAll('section')].every((s) => s.offsetHeight > 40)",
		"nodes are drawn":             "[...document.querySelectorAll('.strip path')].some((p) => p.getBBox().width > 2 && p.getBBox().height > 30)",
		"a rejected policy has words": "[...document.querySelectorAll('#policies li')].some((r) => r.innerText.includes('prefer-arm') && r.innerText.includes('rank.rego:'))",
		"pods that wait name the cap": "document.getElementById('waiting').innerText.includes('cap hourly-budget on cluster leaves')",
		"teams are listed":            "['shop', 'data', 'reports', 'Idle'].every((t) => document.getElementById('teams').innerText.includes(t))",
		"nothing is wider than it":    "document.documentElement.scrollWidth <= innerWidth",
	})
}

// theme: the system's setting holds until the reader chooses, and the choice stays
// without a cookie.
func theme(b *browser.Browser) {
	colour := "getComputedStyle(document.body).backgroundColor"
	light := b.Text(colour)
	scheme(b, "dark")
	dark := b.Text(colour)
	if light == dark {
		b.T.Errorf("the page is %s in either scheme", light)
	}
	b.Eval("document.getElementById('theme').click()", nil)
	if got := b.Text(colour); got != light {
		b.T.Errorf("after the switch the page is %s, want %s", got, light)
	}
	reload(b)
	if got := b.Text(colour + " + document.cookie"); got != light {
		b.T.Errorf("after a reload the page is %s, want %s and no cookie", got, light)
	}
	b.Eval("localStorage.clear(); delete document.documentElement.dataset.theme", nil)
	scheme(b, "light")
}

// reload loads the page again.
func reload(b *browser.Browser) {
	b.T.Helper()
	b.Open(b.Text("location.href"), 1280, 900, false)
}

// pause: an update that is under way when the reader pauses the page is not shown. When the
// reader goes on, updates come again.
func pause(b *browser.Browser, change func()) {
	b.Eval(`(() => { const ask = window.fetch; window.held = []; window.came = 0;
		window.fetch = (...what) => new Promise((go) => held.push(go)).then(() => ask(...what)).then((answer) => { came++; return answer; }); })()`, nil)
	b.Await("a request of the page's own", "held.length > 0")
	change()
	b.Eval(`(() => { pause.click(); contents.firstElementChild.dataset.old = "1"; held.forEach((go) => go()); held = { push: (go) => go() }; })()`, nil)
	b.Await("the answer", "came > 0")
	b.Eval("new Promise((done) => setTimeout(done, 300))", nil)
	if b.Text("document.querySelectorAll('[data-old]').length") != "1" {
		b.T.Error("the contents were replaced after the page was paused")
	}
	b.Eval("pause.click()", nil)
	b.Await("an update", "document.querySelectorAll('[data-old]').length === 0")
	reload(b)
}

// keyboard: Tab reaches everything in the order of the page, what has the focus
// shows it, and Enter opens and closes.
func keyboard(b *browser.Browser) {
	b.Eval("document.activeElement.blur(); pause.click(); document.querySelectorAll('a, button, summary, input, select').forEach((e, i) => { e.dataset.at = i; })", nil)
	var order []string
	for range 400 {
		b.Press("Tab")
		at := b.Text(`(() => { const e = document.activeElement; if (e === document.body) return "";
			const s = getComputedStyle(e);
			return e.dataset.at + " " + (s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2); })()`)
		if at == "" || slices.Contains(order, at) {
			break
		}
		order = append(order, at)
	}
	var want []string
	b.Eval(`[...document.querySelectorAll("[data-at]")].filter((e) => !e.closest("details:not([open])") || e.matches("summary")).map((e) => e.dataset.at + " true")`, &want)
	if !slices.Equal(order, want) || len(want) < 30 {
		b.T.Errorf("Tab reaches %d of %d places, or in another order, or without a visible focus:\n%s\n%s", len(order), len(want), strings.Join(order, "\n"), strings.Join(want, "\n"))
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

// filter: the list follows while one types, the address with it, the caret stays, and
// the address alone shows the same.
func filter(b *browser.Browser) {
	matches := "[...document.querySelectorAll('.actions > li')].every((e) => e.innerText.includes('c7gd'))"
	b.Eval(`(() => { const i = document.getElementById("filter-q"); i.focus(); i.value = "c7gd"; i.dispatchEvent(new Event("input", {bubbles: true})); })()`, nil)
	b.Await("the list to follow", "location.search.includes('q=c7gd') && "+matches)
	holds(b, map[string]string{
		"the caret stays": "document.activeElement.id === 'filter-q' && document.activeElement.selectionStart === 4",
		"some are left":   "document.querySelectorAll('.actions > li').length > 0",
	})
	list := "[...document.querySelectorAll('article.decision')].map((e) => e.id).join()"
	before := b.Text(list)
	reload(b)
	if got := b.Text(list); got != before || got == "" {
		b.T.Errorf("the address shows %s, the list was %s", got, before)
	}
}

// live: what is decided is shown without a word from the reader, and what the
// reader has opened, and where the keyboard is, stays.
func live(b *browser.Browser, decide func()) {
	before := b.Text(`document.querySelector("time").dateTime`)
	b.Eval(`(() => { const d = document.querySelector("#decisions details"); d.open = true; d.querySelector("summary").focus(); window.kept = d.id; })()`, nil)
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
	holds(b, map[string]string{
		"the page fits":                   "document.documentElement.scrollWidth <= 390 && innerWidth === 390",
		"nothing sticks out":              "[...document.querySelectorAll('main *')].every((e) => e.closest('thead, svg') || e.getBoundingClientRect().right <= 391)",
		"cells carry their column":        "[...document.querySelectorAll('td')].every((e) => getComputedStyle(e, '::before').content === JSON.stringify(e.dataset.label))",
		"text is large enough":            "[...document.querySelectorAll('td, li, dd, p')].every((e) => parseFloat(getComputedStyle(e).fontSize) >= 12)",
		"what opens fits too":             "(() => { for (const d of document.querySelectorAll('details')) d.open = true; const ok = document.documentElement.scrollWidth <= 390; for (const d of document.querySelectorAll('details')) d.open = false; return ok; })()",
		"places to touch are high enough": "[...document.querySelectorAll('summary, button, select, nav a')].every((e) => e.getBoundingClientRect().height >= 24)",
	})
}
