package breaker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// FuzzState: whatever is in the ConfigMap, it is read as a state, which is written and read again
// as the same. What is no state is an empty one.
func FuzzState(f *testing.F) {
	f.Add(`{"seen":"2026-03-04T12:00:00Z","launched":"2026-03-04T11:00:00Z","stopped":{"Drift/web":"x","Garbage":"y"},"pools":{"web":{"version":"1","spec":"a","resolved":"b","changed":"2026-03-04T12:00:00Z"}}}`)
	f.Add(`{"seen":"9999-12-31T23:59:59.999999999+14:00","pools":{"":{}}}`)
	f.Add(`{"seen":"2026-03-04T12:00:00+24:00"}`)
	f.Add(`{"stopped":[]}`)
	f.Add(`null`)
	f.Add(``)
	f.Fuzz(func(t *testing.T, text string) {
		got := decode(&corev1.ConfigMap{Data: map[string]string{keyState: text}})
		data, err := got.encode()
		if err != nil {
			t.Fatal(err)
		}
		again := decode(&corev1.ConfigMap{Data: data})
		if diff := cmp.Diff(got, again, cmp.AllowUnexported(state{})); diff != "" {
			// An empty map is written as none.
			if len(got.Stopped)+len(again.Stopped)+len(got.Pools)+len(again.Pools) > 0 || !got.Seen.Equal(again.Seen) || !got.Launched.Equal(again.Launched) {
				t.Errorf("-read +read again\n%s", diff)
			}
		}
		if got.changed {
			t.Error("what was just read is to be written")
		}
		stopped := 0
		kinds := map[Kind]bool{}
		for key := range got.Stopped {
			kinds[kindOf(key)] = true
		}
		for kind := range kinds {
			stopped += got.count(kind)
		}
		if stopped != len(got.Stopped) {
			t.Errorf("%d are stopped, %d by kind", len(got.Stopped), stopped)
		}
	})
}
