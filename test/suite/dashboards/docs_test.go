package dashboards

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// entry is a row of docs/metrics.md.
type entry struct {
	kind   string
	labels []string
}

// row matches a metric's line: name, type, labels, meaning.
var row = regexp.MustCompile("(?m)^\\| `((?:karpenter|spokeshave|operator)_[a-z0-9_]+)` \\| (counter|gauge|histogram|summary) \\| ([^|]*) \\| [^|]+ \\|$")

// written are the rows of the document.
func written(t *testing.T) map[string]entry {
	t.Helper()
	text, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]entry{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		e := entry{kind: m[2]}
		for l := range strings.SplitSeq(m[3], ",") {
			if l = strings.Trim(strings.TrimSpace(l), "`"); l != "" {
				e.labels = append(e.labels, l)
			}
		}
		if _, twice := out[m[1]]; twice {
			t.Errorf("docs/metrics.md has %s twice", m[1])
		}
		out[m[1]] = e
	}
	measured, _, ok := strings.Cut(string(text), comparedHead)
	if rows := strings.Count(measured, "\n| `"); !ok || rows != len(out) {
		t.Errorf("docs/metrics.md has %d rows, of which %d can be read", rows, len(out))
	}
	return out
}

// absentHead begins the table of what Karpenter measures and the controller does
// not.
const absentHead = "## Metrics of Karpenter that are absent"

// TestAbsent: what the document says is not measured is not, and has a reason.
func TestAbsent(t *testing.T) {
	text, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, absent, _ := strings.Cut(string(text), absentHead)
	made, named := registered(t), sourced(t)
	rows := regexp.MustCompile("(?m)^\\| (`[^|]+) \\| ([^|]{20,}) \\|$").FindAllStringSubmatch(absent, -1)
	if len(rows) < 5 || len(rows) != strings.Count(absent, "\n| `") {
		t.Fatalf("%d rows can be read, of %d", len(rows), strings.Count(absent, "\n| `"))
	}
	for _, r := range rows {
		for name := range strings.SplitSeq(r[1], ",") {
			name = strings.Trim(name, "` ")
			if _, ok := made[name]; ok || named[name] {
				t.Errorf("%s is measured, and docs/metrics.md says that it is not", name)
			}
		}
	}
}

// sourced are the metrics that the controller's source names.
func sourced(t *testing.T) map[string]bool {
	t.Helper()
	named := regexp.MustCompile(`(?:Name:\s*|NewDesc\(|desc\(|counter\(&r, |duration\(&r, |gauge\()"((?:karpenter|spokeshave)_[a-z0-9_]*[a-z0-9])"`)
	out := map[string]bool{}
	err := filepath.WalkDir("../../../controller", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			out[m[1]] = true
		}
		return err
	})
	if err != nil || len(out) < 20 {
		t.Fatalf("found %d metrics in the source: %v", len(out), err)
	}
	return out
}

// TestDocumented: docs/metrics.md lists every metric there is, with its labels,
// and none that there is not.
func TestDocumented(t *testing.T) {
	docs, made, named := written(t), registered(t), sourced(t)
	for name := range named {
		if _, ok := docs[name]; !ok {
			t.Errorf("%s is in the source, and not in docs/metrics.md", name)
		}
	}
	for name, labels := range made {
		e, ok := docs[name]
		labels = slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == "" })
		slices.Sort(labels)
		slices.Sort(e.labels)
		switch {
		case !ok:
			t.Errorf("%s is registered, and not in docs/metrics.md: labels %v", name, labels)
		case !slices.Equal(labels, e.labels):
			t.Errorf("%s has labels %v, docs/metrics.md says %v", name, labels, e.labels)
		}
	}
	for name, e := range docs {
		if _, ok := made[name]; !ok && !named[name] {
			t.Errorf("docs/metrics.md has %s, and nobody registers it", name)
		}
		if kind := kinds[name]; kind != "" && kind != e.kind {
			t.Errorf("%s is a %s, docs/metrics.md says %s", name, kind, e.kind)
		}
	}
}
