package rewound_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/rewound"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/eventually"
)

// counted counts the lists that were asked for, and those that were answered.
type counted struct {
	client.Reader

	asked, lists atomic.Int32
}

func (c *counted) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	err := c.Reader.List(ctx, list, opts...)
	defer c.asked.Add(1)
	if err == nil {
		c.lists.Add(1)
	}
	return err
}

// TestRewound: a backup is restored under a controller. It ends once what it remembers is on
// record, and five minutes later where that cannot be written. An API server that is away, as
// while the backup is made, ends nothing.
func TestRewound(t *testing.T) {
	control := controlplane.ForTest(t, false)
	c := apiserver.On(t, control).Client(t)
	backup := filepath.Join(t.TempDir(), "etcd")

	clock := clocktesting.NewFakeClock(time.Now())
	var recorded atomic.Bool
	live := &counted{Reader: c}
	var ends []<-chan error
	var told, untold atomic.Int32
	begun := clock.Now()
	start := func(ready func(context.Context, time.Time) bool) {
		ended := make(chan error, 1)
		w := &rewound.Watch{Live: live, Clock: clock, Namespace: "kube-system", Every: 10 * time.Second, Ready: ready}
		w.Tell = func(_ context.Context, known, good time.Time) error {
			if !known.IsZero() || !good.After(begun) || !good.Before(clock.Now()) {
				t.Errorf("known %s, last seen at %s, begun at %s, now %s", known, good, begun, clock.Now())
			}
			if untold.Add(1) == 1 {
				return errors.New("the record was written by another meanwhile")
			}
			told.Add(1)
			return nil
		}
		if w.NeedLeaderElection() {
			t.Error("a replica that does not lead keeps its caches")
		}
		go func() { ended <- w.Start(t.Context()) }()
		ends = append(ends, ended)
	}
	start(func(context.Context, time.Time) bool { return recorded.Load() })
	start(func(context.Context, time.Time) bool { return false })
	start(nil)
	running := func(when string, ended <-chan error) {
		t.Helper()
		select {
		case err := <-ended:
			t.Fatalf("%s: it has ended: %v", when, err)
		default:
		}
	}
	looks := func(n int32) {
		t.Helper()
		before := live.lists.Load()
		eventually.Ok(t, fmt.Sprintf("%d looks", n), func() (string, bool) {
			clock.Step(10 * time.Second)
			return fmt.Sprint(live.lists.Load() - before), live.lists.Load()-before >= n
		})
	}
	finished := func(what string, ended <-chan error) {
		t.Helper()
		var err error
		asked := int32(-1)
		eventually.Ok(t, what, func() (string, bool) {
			if now := live.asked.Load(); now != asked { // time stands still until somebody has looked
				asked = now
				clock.Step(10 * time.Second)
			}
			select {
			case err = <-ended:
				return "", true
			default:
				return "it goes on", false
			}
		})
		if err == nil || !strings.Contains(err.Error(), "the API server went back in time: its revision is ") {
			t.Errorf("%s: %v", what, err)
		}
	}

	if err := control.BackUp(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	for i := range 30 { // more than an API server that starts writes itself
		class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("class-%d", i)}}
		class.Spec.Role = "role"
		class.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}}
		class.Spec.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{ID: "subnet-0123456789abcdef0"}}
		class.Spec.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{ID: "sg-0123456789abcdef0"}}
		for range 10 {
			if err := c.Create(t.Context(), class); err != nil {
				t.Fatal(err)
			}
			if err := c.Delete(t.Context(), class); err != nil {
				t.Fatal(err)
			}
			class.ResourceVersion, class.UID = "", ""
		}
	}
	looks(9)
	for i, ended := range ends {
		running(fmt.Sprintf("watch %d, before the backup is restored", i), ended)
	}

	if err := control.Restore(t.Context(), backup); err != nil {
		t.Fatal(err)
	}
	finished("a replica that has nothing to write", ends[2])
	running("not on record yet", ends[0])
	recorded.Store(true)
	finished("what it remembers is on record", ends[0])
	clock.Step(5 * time.Minute)
	finished("what it remembers cannot be written", ends[1])
	if told.Load() != 3 || untold.Load() != 4 {
		t.Errorf("three replicas told it %d times and tried %d times, want 3 and 4", told.Load(), untold.Load())
	}
}

// TestRecord: what a replica found and wrote into the record ends the others. That somebody
// edits or deletes the record, or that its writer's clock steps back, ends nobody.
func TestRecord(t *testing.T) {
	noon := time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)
	at := func(seen, restored time.Time) map[string]string {
		return map[string]string{"state": fmt.Sprintf(`{"seen":%q,"restored":%q}`, seen.Format(time.RFC3339), restored.Format(time.RFC3339))}
	}
	c := apiserver.Start(t).Client(t)
	for name, tc := range map[string]struct {
		first, then map[string]string
		want        string // empty: it goes on
	}{
		"goes on":        {at(noon, noon), at(noon.Add(time.Minute), noon), ""},
		"clock is back":  {at(noon, noon), at(noon.Add(-time.Minute), noon), ""},
		"record deleted": {at(noon, noon), nil, ""},
		"leader found":   {at(noon, noon), at(noon, noon.Add(time.Second)), "a replica found at 2026-11-02T12:00:01Z"},
		"first found":    {map[string]string{"state": `{"seen":"2026-11-02T12:00:00Z"}`}, at(noon, noon), "a replica found at 2026-11-02T12:00:00Z"},
		"first record":   {nil, at(noon, time.Time{}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: breaker.Name}}
			record := func(data map[string]string) {
				t.Helper()
				if err := client.IgnoreNotFound(c.Delete(t.Context(), cm)); err != nil {
					t.Fatal(err)
				}
				if data == nil {
					return
				}
				cm = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: breaker.Name}, Data: data}
				if err := c.Create(t.Context(), cm); err != nil {
					t.Fatal(err)
				}
			}
			record(tc.first)
			clock := clocktesting.NewFakeClock(noon)
			live, ended := &counted{Reader: c}, make(chan error, 1)
			w := &rewound.Watch{Live: live, Clock: clock, Namespace: "default", Every: time.Second}
			go func() { ended <- w.Start(t.Context()) }()
			eventually.True(t, "the watch waits for the next look", func() bool { return live.asked.Load() > 0 && clock.HasWaiters() })
			record(tc.then)
			text := ""
			eventually.True(t, "two looks, or the end", func() bool {
				clock.Step(time.Second)
				select {
				case err := <-ended:
					text = err.Error()
					return true
				default:
					return live.asked.Load() > 3
				}
			})
			if (text == "") != (tc.want == "") || !strings.Contains(text, tc.want) {
				t.Errorf("it says %q, want %q", text, tc.want)
			}
		})
	}
}
