package rewound

import (
	"strings"
	"testing"
)

// TestMoment: what tells that the API server went back in time, beside what another replica found.
func TestMoment(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		last, now moment
		want      string // empty: it has not
	}{
		"first look":     {"nothing was seen before", moment{}, moment{revision: 7, record: 5}, ""},
		"goes on":        {"revisions grow", moment{revision: 7, record: 5}, moment{revision: 9, record: 8}, ""},
		"nothing new":    {"nobody has written", moment{revision: 7, record: 5}, moment{revision: 7, record: 5}, ""},
		"restored":       {"the newest revision is an old one", moment{revision: 70, record: 60}, moment{revision: 50, record: 40}, "its revision is 50, and was 70"},
		"caught up":      {"much was written since, but not the record", moment{revision: 70, record: 60}, moment{revision: 71, record: 40}, "is of revision 40, and was of 60"},
		"record deleted": {"by somebody, or by a restore that has caught up: not known", moment{revision: 70, record: 60}, moment{revision: 71}, ""},
	} {
		got, own := tc.last.before(tc.now)
		if own != (tc.want != "") {
			t.Errorf("%s: seen by this replica itself: %v", name, own)
		}
		if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s (%s): %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}
