package dashboards

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// comparedHead begins the tables that compare Karpenter's metrics with those here.
const comparedHead = "## Karpenter's metrics, one by one"

// theirs are the metrics of Karpenter 1.14.1.
func theirs(t *testing.T) map[string]entry {
	t.Helper()
	text, err := os.ReadFile("testdata/karpenter-metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]entry{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := append(strings.Fields(line), "")
		out[fields[0]] = entry{fields[1], strings.FieldsFunc(fields[2], func(r rune) bool { return r == ',' })}
	}
	return out
}

// verdicts are what docs/metrics.md says about each of Karpenter's metrics: "same",
// "other" or "absent".
func verdicts(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, compared, ok := strings.Cut(string(text), comparedHead)
	compared, absent, more := strings.Cut(compared, absentHead)
	same, other, both := strings.Cut(compared, "| the same name |")
	if !ok || !more || !both {
		t.Fatal("docs/metrics.md lacks one of the tables that compare metrics")
	}
	name := regexp.MustCompile("`([a-z0-9_]+)`")
	out := map[string]string{}
	for verdict, table := range map[string]string{"same": same, "other": other, "absent": absent} {
		for line := range strings.Lines(table) {
			cells := strings.Split(line, "|")
			if len(cells) != 4 {
				continue
			}
			column := 1
			if verdict == "same" {
				column = 2 // after the subject
			}
			for _, m := range name.FindAllStringSubmatch(cells[column], -1) {
				if before, twice := out[m[1]]; twice {
					t.Errorf("docs/metrics.md says of %s that it is %s and %s", m[1], before, verdict)
				}
				out[m[1]] = verdict
			}
		}
	}
	return out
}

// TestEveryMetricOfKarpenter: docs/metrics.md says of each whether it is the same, has
// other labels or values, or is absent, and that is so.
func TestEveryMetricOfKarpenter(t *testing.T) {
	all, said, made, documented := theirs(t), verdicts(t), registered(t), written(t)
	if len(all) < 110 {
		t.Fatalf("%d metrics of Karpenter are known, want more", len(all))
	}
	for name, their := range all {
		our, ok := documented[name]
		if labels, known := made[name]; known {
			our.labels = slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == "" })
		}
		slices.Sort(their.labels)
		slices.Sort(our.labels)
		equal := ok && our.kind == their.kind && slices.Equal(our.labels, their.labels)
		switch said[name] {
		case "same":
			if !equal {
				t.Errorf("%s is not the same: %s with labels %v here, %s with %v in Karpenter", name, our.kind, our.labels, their.kind, their.labels)
			}
		case "other":
			if !ok {
				t.Errorf("%s is not served, and docs/metrics.md says that it is", name)
			}
		case "absent":
			if ok {
				t.Errorf("%s is served, and docs/metrics.md says that it is not", name)
			}
		default:
			t.Errorf("docs/metrics.md does not compare %s", name)
		}
	}
	for name, verdict := range said {
		if _, ok := all[name]; !ok && verdict != "absent" {
			t.Errorf("docs/metrics.md compares %s, which Karpenter does not have", name)
		}
	}
	for name := range documented {
		if _, ok := all[name]; !ok && !strings.HasPrefix(name, "spokeshave_") {
			t.Errorf("%s has a name of Karpenter's, which Karpenter does not have", name)
		}
	}
}
