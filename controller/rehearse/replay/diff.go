package replay

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// mostDifferences is how many differences are reported.
const mostDifferences = 20

// differences compares two JSON values and describes where they differ.
func differences(want, got []byte) []string {
	var a, b any
	if err := json.Unmarshal(want, &a); err != nil {
		return []string{"recorded: " + err.Error()}
	}
	if err := json.Unmarshal(got, &b); err != nil {
		return []string{"replayed: " + err.Error()}
	}
	d := &diff{}
	d.value("", a, b)
	if len(d.out) == 0 {
		return []string{"the values are equal, and written differently: the record was made by another version"}
	}
	if more := len(d.out) - mostDifferences; more > 0 {
		d.out = append(d.out[:mostDifferences], fmt.Sprintf("and %d more", more))
	}
	return d.out
}

type diff struct{ out []string }

func (d *diff) say(path, format string, args ...any) {
	d.out = append(d.out, path+": "+fmt.Sprintf(format, args...))
}

func (d *diff) value(path string, a, b any) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			d.object(path, x, y)
			return
		}
	case []any:
		if y, ok := b.([]any); ok {
			d.list(path, x, y)
			return
		}
	default:
		if a == b {
			return
		}
	}
	d.say(path, "recorded %s, replayed %s", short(a), short(b))
}

func (d *diff) object(path string, a, b map[string]any) {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	for _, k := range slices.SortedFunc(maps.Keys(keys), firstCause) {
		x, in := a[k]
		y, out := b[k]
		at := k
		if path != "" {
			at = path + "." + k
		}
		switch {
		case !in:
			d.say(at, "not recorded, replayed %s", short(y))
		case !out:
			d.say(at, "recorded %s, not replayed", short(x))
		default:
			d.value(at, x, y)
		}
	}
}

// firstCause orders keys so that possible causes, policies and caps, come before their
// effects.
func firstCause(a, b string) int {
	rank := func(key string) int { return slices.Index([]string{"headroom", "policies"}, key) }
	return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b))
}

func (d *diff) list(path string, a, b []any) {
	if len(a) != len(b) {
		d.say(path, "recorded %d, replayed %d", len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		d.value(fmt.Sprintf("%s[%d]", path, i), a[i], b[i])
	}
}

// short formats a value, cut to a few characters.
func short(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	const most = 120
	if len(raw) > most {
		return string(raw[:most]) + "…"
	}
	return string(raw)
}
