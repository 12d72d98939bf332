package e2e

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// instance is the one that belongs to a claim.
func (l *tenant) instance(claim string) harness.Instance {
	l.Helper()
	all, err := l.instances(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	for _, i := range all {
		if i.Claim == claim {
			return i
		}
	}
	l.Fatalf("no instance of %s", claim)
	return harness.Instance{}
}

// TestInterruption: EC2 takes a spot instance back, by a message on the queue.
// The node's pods get a new node, of another offering than the one that was lost.
func TestInterruption(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		reason, types, capacity, kind, event string
	}{
		"spot":    {reason: "two minutes' notice", types: "c5a.large,c6a.large", capacity: "spot", kind: "spot", event: "SpotInterrupted"},
		"retired": {reason: "AWS Health announces the end of the hardware", types: "c6i.large", capacity: "on-demand", kind: "scheduled", event: "InstanceUnhealthy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTenant(t, "interruption-"+name, plan{types: tt.types, capacity: tt.capacity})
			l.deploy("app", 2, "500m")
			l.run(2)
			l.until("one machine", l.machines(1))
			old, lost := l.only(), l.instance(l.only().Claim)
			if err := stack.Control(t.Context(), "/_sim/interrupt", map[string]string{"instanceId": lost.ID, "kind": tt.kind}, nil); err != nil {
				t.Fatal(err)
			}
			l.told("NodeClaim", tt.event)
			l.told("NodeClaim", "TerminatingOnInterruption")
			l.until("a replacement", func(ctx context.Context) (string, bool) {
				fleet, err := l.fleet(ctx)
				if err != nil {
					return err.Error(), false
				}
				for i := range fleet {
					if fleet[i].Claim != old.Claim && fleet[i].Initialized {
						return "", true
					}
				}
				return fmt.Sprintf("%d machines", len(fleet)), false
			})
			l.until("the old machine to go", gone(old.Claim))
			l.run(2)
			l.until("one machine again", l.machines(1))
			next := l.instance(l.only().Claim)
			if tt.capacity == "spot" && next.Type == lost.Type && next.Zone == lost.Zone {
				t.Errorf("%s: the lost offering %s in %s was bought again", tt.reason, lost.Type, lost.Zone)
			}
		})
	}
}

// TestInterruptionOfStrangers: messages about instances of others, and what
// nobody can read, leave the queue and change nothing.
func TestInterruptionOfStrangers(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "stranger", plan{types: "m5n.large", capacity: "on-demand"})
	l.deploy("app", 1, "500m")
	l.run(1)
	l.until("one machine", l.machines(1))
	old := l.only()
	if err := stack.SendInterruption(t.Context(), `{"detail-type":"EC2 Spot Instance Interruption Warning","source":"aws.ec2","time":"2026-01-01T00:00:00Z","detail":{"instance-id":"i-0123456789abcdef0","instance-action":"terminate"}}`); err != nil {
		t.Fatal(err)
	}
	if err := stack.SendInterruption(t.Context(), "this is no event"); err != nil {
		t.Fatal(err)
	}
	l.until("the queue to be read", func(ctx context.Context) (string, bool) {
		var state struct {
			Messages map[string]int `json:"messages"`
		}
		if err := stack.Control(ctx, "/_sim/state", nil, &state); err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("%v", state.Messages), state.Messages[harness.ClusterName] == 0
	})
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: old.Claim}}
	if err := stack.Client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil || claim.DeletionTimestamp != nil {
		t.Errorf("claim %s: %v, deleted %v", old.Claim, err, claim.DeletionTimestamp)
	}
}
