package actuate

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/kube/actuate"
)

// TestCapReached: a cap that leaves nothing, or too little for pods that wait, is
// an event on its policy, once until there is room again; soft ones warn.
func TestCapReached(t *testing.T) {
	c := connect(t)
	policy := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "budget"}}
	if err := c.Create(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	told := events.NewFakeRecorder(10)
	reporter := &actuate.Reporter{Client: c, Events: told, Namespace: "default"}
	hour := decide.CapStatus{Scope: "cluster", Policy: "budget", Cap: "2.00 $/h", Period: decide.PerHour, Left: 100_000}
	full, short, soft, gone := hour, hour, hour, hour
	full.Left, short.Short, soft.Left, soft.Soft, gone.Left, gone.Policy = 0, true, 0, true, 0, "deleted"
	month := decide.CapStatus{Scope: "nodepool/gpu", Policy: "budget", Cap: "90.00 $/month", Period: decide.PerMonth}
	for _, tc := range []struct {
		reason string
		caps   []decide.CapStatus
		want   []string
	}{
		{reason: "there is room", caps: []decide.CapStatus{hour}},
		{reason: "pods wait, though something is left", caps: []decide.CapStatus{short}, want: []string{"Normal CapReached cap of 2.00 $/h on cluster leaves too little: pods that need new nodes wait"}},
		{reason: "it has been said", caps: []decide.CapStatus{short}},
		{reason: "every scope and period speaks for itself", caps: []decide.CapStatus{full, month}, want: []string{
			"Normal CapReached cap of 2.00 $/h on cluster leaves nothing: pods that need new nodes wait",
			"Normal CapReached cap of 90.00 $/month on nodepool/gpu leaves nothing: pods that need new nodes wait",
		}},
		{reason: "room again", caps: []decide.CapStatus{hour, month}},
		{reason: "and none again", caps: []decide.CapStatus{full, month}, want: []string{"Normal CapReached cap of 2.00 $/h on cluster leaves nothing: pods that need new nodes wait"}},
		{reason: "a soft cap warns", caps: []decide.CapStatus{soft}, want: []string{"Warning CapReached soft cap of 2.00 $/h on cluster is reached: launches go on"}},
		{reason: "a policy that is gone has nobody to tell", caps: []decide.CapStatus{gone}},
	} {
		reporter.TellCaps(t.Context(), &decide.Decision{Time: time.Now(), Headroom: tc.caps})
		var got []string
		for len(told.Events) > 0 {
			got = append(got, <-told.Events)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
