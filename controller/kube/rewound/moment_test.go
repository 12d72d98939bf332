package rewound

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"spokeshave.dev/controller/kube/reconcile/breaker"
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

// TestRefusedMark: a mark that the API server forbids is tried again, since one that starts forbids
// everything for a while, and is given up when that lasts.
func TestRefusedMark(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, breaker.Name, errors.New("no role"))
	for name, tc := range map[string]struct {
		reason string
		err    error
		after  time.Duration
		want   bool // it is settled
	}{
		"written":         {"as ever", nil, 0, true},
		"forbidden":       {"the API server may just have started", forbidden, 50 * time.Second, false},
		"still forbidden": {"it has read who may do what by now", forbidden, time.Minute, true},
		"no answer":       {"it may answer later", errors.New("no answer"), 4 * time.Minute, false},
	} {
		clock := clocktesting.NewFakeClock(time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC))
		w := &Watch{Clock: clock, own: true, found: clock.Now(), Tell: func(context.Context, time.Time, time.Time) error { return tc.err }}
		clock.Step(tc.after)
		if got := w.settled(t.Context()); got != tc.want {
			t.Errorf("%s (%s): settled %v", name, tc.reason, got)
		}
	}
}
