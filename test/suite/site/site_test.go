package site

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"spokeshave.dev/test/kit/browser"
)

const root = "../../.."

// build builds the site into a folder of its own, and returns the folder. Where there is no
// npm the test is skipped; under CI it fails.
func build(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no npm, with which the site is built")
		}
		t.Skip("there is no npm here: install Node.js 20 or later")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "make", "docs", "SITE="+dir)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func TestSite(t *testing.T) {
	dir := build(t)
	t.Run("links", func(t *testing.T) { links(t, os.DirFS(dir)) })
	server := httptest.NewServer(http.FileServerFS(os.DirFS(dir)))
	t.Cleanup(server.Close)
	t.Run("browser", func(t *testing.T) { browse(t, server.URL) })
}

var (
	hrefs = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	ids   = regexp.MustCompile(`id="([^"]+)"`)
)

// links: every link on every page leads to a file of the site, and to a heading of it where
// the link names one.
func links(t *testing.T, site fs.FS) {
	pages := map[string]string{}
	err := fs.WalkDir(site, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".html" {
			return err
		}
		text, err := fs.ReadFile(site, name)
		pages[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 100 {
		t.Fatalf("the site has %d pages", len(pages))
	}
	for name, text := range pages {
		for _, m := range hrefs.FindAllStringSubmatch(text, -1) {
			if err := leads(site, pages, name, m[1]); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// leads checks a link of a page.
func leads(site fs.FS, pages map[string]string, from, link string) error {
	u, err := url.Parse(strings.ReplaceAll(link, "&amp;", "&"))
	if err != nil {
		return fmt.Errorf("link %s: %w", link, err)
	}
	if u.IsAbs() || u.Host != "" {
		return nil // another site: a test without network cannot tell
	}
	target := from
	switch {
	case strings.HasPrefix(u.Path, "/"):
		target = strings.TrimPrefix(u.Path, "/")
	case u.Path != "":
		target = path.Join(path.Dir(from), u.Path)
	}
	if target == "" || strings.HasSuffix(u.Path, "/") {
		target = path.Join(target, "index.html")
	}
	if _, err := fs.Stat(site, target); err != nil {
		return fmt.Errorf("link %s: %w", link, err)
	}
	if u.Fragment == "" || u.Fragment == "VPContent" {
		return nil
	}
	for _, m := range ids.FindAllStringSubmatch(pages[target], -1) {
		if m[1] == u.Fragment {
			return nil
		}
	}
	return fmt.Errorf("link %s: %s has no such heading", link, target)
}

// browse looks at pages in a browser: nothing fails, nothing is wider than the window, the
// text can be read in both colour schemes, the rules of WCAG 2.2, level AA, that a program
// can check hold, and a search finds a setting.
func browse(t *testing.T, site string) {
	axe := browser.NewAxe(t, root)
	b := browser.Start(t)
	b.Call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": `
		window.problems = [];
		addEventListener("error", (e) => problems.push(String(e.message)));
		addEventListener("unhandledrejection", (e) => problems.push(String(e.reason)));`}, nil)
	for _, page := range []string{
		"/", "/docs/", "/docs/policies.html", "/docs/metrics.html", "/policies/budget/",
		"/docs/concepts/", "/docs/cookbook/rank.html", "/docs/reference/values.html", "/docs/reference/abi.html",
	} {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int{1280, 390} {
				b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
				b.Run(t, fmt.Sprintf("%s %s %d", page, scheme, width), func(b *browser.Browser) {
					readable(b, site+page, scheme, width)
					axe.Check(b, page)
				})
			}
		}
	}
	b.Run(t, "search", func(b *browser.Browser) {
		b.Open(site+"/", 1280, 900, false)
		b.Await("the search button", `document.querySelector(".DocSearch-Button") !== null && document.querySelector("#app").__vue_app__ !== undefined`)
		b.Eval(`document.querySelector(".DocSearch-Button").click()`, nil)
		b.Await("the search field", `document.querySelector("#localsearch-input") !== null`)
		b.Eval(`(() => { const i = document.querySelector("#localsearch-input"); i.value = "consolidateAfter"; i.dispatchEvent(new Event("input")); })()`, nil)
		b.Await("results", `document.querySelectorAll(".results .result").length > 0`)
	})
}

func readable(b *browser.Browser, address, scheme string, width int) {
	b.T.Helper()
	b.Open(address, width, 900, width < 500)
	b.Await("the page to come alive", `document.querySelector("#app").__vue_app__ !== undefined`)
	if problems := b.Text("problems.join('; ')"); problems != "" {
		b.T.Errorf("the browser complains: %s", problems)
	}
	if wide := b.Text("document.documentElement.scrollWidth - document.documentElement.clientWidth"); wide != "0" {
		b.T.Errorf("the page is %s pixels wider than the window, because of: %s", wide, b.Text(widest))
	}
	if title := b.Text(`document.querySelector("h1")?.textContent ?? ""`); title == "" {
		b.T.Error("the page has no title")
	}
	if broken := b.Text(`[...document.querySelectorAll("main img")].filter((i) => !i.complete || i.naturalWidth === 0 || i.alt === "").map((i) => i.src).join(" ")`); broken != "" {
		b.T.Errorf("pictures that do not load, or say nothing to those who cannot see them: %s", broken)
	}
	dark := b.Text(`document.documentElement.classList.contains("dark")`)
	if want := fmt.Sprint(scheme == "dark"); dark != want {
		b.T.Errorf("with the colour scheme %s, dark is %s", scheme, dark)
	}
	if contrast := b.Text(contrast); contrast != "" {
		b.T.Errorf("text that is hard to read: %s", contrast)
	}
}

// widest returns the element that reaches farthest to the right without a scroll bar of
// its own around it.
const widest = `[...document.querySelectorAll("body *")].filter((e) => { for (let p = e.parentElement; p !== document.body; p = p.parentElement) if (getComputedStyle(p).overflowX !== "visible") return false; return true; })
	.reduce((a, b) => b.getBoundingClientRect().right >= a.getBoundingClientRect().right ? b : a).outerHTML.slice(0, 300)`

// contrast returns the first paragraph whose text has less than 4.5 : 1 to the page's
// background (WCAG 2.2, 1.4.3).
const contrast = `(() => {
	const parse = (c) => c.match(/[\d.]+/g).map(Number);
	const light = ([r, g, b]) => { const f = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
	const back = light(parse(getComputedStyle(document.body).backgroundColor));
	for (const p of document.querySelectorAll("main p, main td, main li")) {
		const c = parse(getComputedStyle(p).color), a = c[3] ?? 1;
		const mixed = parse(getComputedStyle(document.body).backgroundColor).slice(0, 3).map((v, i) => a * c[i] + (1 - a) * v);
		const text = light(mixed), ratio = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
		if (ratio < 4.5) return ratio.toFixed(2) + ": " + p.textContent.slice(0, 60);
	}
	return "";
})()`
