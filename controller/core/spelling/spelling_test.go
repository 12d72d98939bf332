package spelling

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"batch-idle-duration", "batch-max-duration", "mode", "workers", "log-level"}
	for name, tc := range map[string]struct{ reason, word, want string }{
		"a letter":    {"a missing letter", "worker", "workers"},
		"exchanged":   {"two letters have changed places", "mdoe", "mode"},
		"case":        {"case does not count", "Mode", "mode"},
		"the nearest": {"two are near, one is nearer", "batch-mix-duration", "batch-max-duration"},
		"a beginning": {"too many letters are missing, but it begins alike", "batch-idle", "batch-idle-duration"},
		"more":        {"the known word is the beginning", "log-level-global-default", "log-level"},
		"none":        {"nothing is near", "prometheus", ""},
		"short":       {"two letters begin many words", "ba", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Nearest(tc.word, words); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b string
		want int
	}{
		"equal":   {"abc", "abc", 0},
		"changed": {"abc", "abd", 1},
		"added":   {"abc", "xabc", 1},
		"swapped": {"rnak", "rank", 1},
		"twice":   {"abcd", "badc", 2},
		"empty":   {"", "abc", 3},
		"all":     {"kitten", "sitting", 3},
	} {
		t.Run(name, func(t *testing.T) {
			if got, back := Distance(tc.a, tc.b), Distance(tc.b, tc.a); got != tc.want || back != tc.want {
				t.Errorf("%d and %d back, want %d", got, back, tc.want)
			}
		})
	}
}
