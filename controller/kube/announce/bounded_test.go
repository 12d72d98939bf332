package announce_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/kube/announce"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
)

func TestCut(t *testing.T) {
	for name, tc := range map[string]struct{ reason, text, want string }{
		"short":       {"nothing is in the way", "é", "é"},
		"exact":       {"what fits stays", strings.Repeat("a", announce.NoteLimit), strings.Repeat("a", announce.NoteLimit)},
		"long":        {"the rest is left out", strings.Repeat("a", announce.NoteLimit+1), strings.Repeat("a", announce.NoteLimit) + "…"},
		"in a letter": {"half a letter is no text", "a" + strings.Repeat("é", announce.NoteLimit/2), "a" + strings.Repeat("é", announce.NoteLimit/2-1) + "…"},
		"no text":     {"what AWS or a policy says may be anything", "a\xffb", "a�b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := announce.Cut(tc.text, announce.NoteLimit); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestLongNotes: an event with more text than the API server accepts arrives, cut, by either
// recorder. Without the cut it was refused, and the event was lost.
func TestLongNotes(t *testing.T) {
	server := apiserver.Start(t)
	c := server.Client(t)
	unmerged, err := announce.New(c, "spokeshave", clock.RealClock{}, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- unmerged.Start(ctx) }()
	defer func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: kubernetes.NewForConfigOrDie(server.Config).EventsV1()})
	defer broadcaster.Shutdown()
	if err := broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		t.Fatal(err)
	}
	merged := announce.Bounded(broadcaster.NewRecorder(scheme.Scheme, "spokeshave"))

	long := strings.Repeat("è un messaggio 100%d ", 500)
	for reason, recorder := range map[string]events.EventRecorder{"Unmerged": unmerged, "Merged": merged} {
		about := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: strings.ToLower(reason), UID: "1"}}
		recorder.Eventf(about, nil, corev1.EventTypeWarning, reason, "Test", "%s", long)
		eventually.Ok(t, "the event "+reason, func() (string, bool) {
			var all eventsv1.EventList
			if err := c.List(t.Context(), &all); err != nil {
				t.Fatal(err)
			}
			for i := range all.Items {
				if e := &all.Items[i]; e.Reason == reason {
					if note := e.Note; !utf8.ValidString(note) || note != announce.Cut(long, announce.NoteLimit) {
						t.Errorf("%s: note %q", reason, note)
					}
					return "", true
				}
			}
			return "no event", false
		})
	}
}
