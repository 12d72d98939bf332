package attack

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// tenantAttacks are pods that open nodes for nearly nothing. Each is tried in a namespace
// that is capped at 0.20 $/h.
func tenantAttacks() map[string]attack {
	const keeps, want = "the cap of 0.20 $/h, at every moment", "nodes are launched up to the cap, and the other pods wait"
	over := func(trick func(*pod)) func(*testing.T) {
		return func(t *testing.T) { overrun(t, 12, greedyCap, trick) }
	}
	return map[string]attack{
		"tenant/node-for-each-pod": {
			story: "twelve pods of a millicore want a node each, by anti-affinity", want: want, keeps: keeps, launches: true, run: over(apart),
		},
		"tenant/host-ports": {
			story: "twelve pods of a millicore want the same port of their hosts", want: want, keeps: keeps, launches: true,
			run: over(func(p *pod) {
				p.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}}
			}),
		},
		"tenant/spread-by-hostname": {
			story: "twelve pods of a millicore want to be spread over twelve hosts", want: want, keeps: keeps, launches: true,
			run: over(func(p *pod) {
				p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
					MaxSkew: 1, MinDomains: new(int32(12)), TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule,
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "greedy"}},
				}}
			}),
		},
		"tenant/largest-type": {
			story: "a pod of a millicore selects the largest instance type", want: "nothing is launched", keeps: keeps,
			run: func(t *testing.T) {
				greed(t, 1, func(p *pod) { p.Spec.NodeSelector = map[string]string{corev1.LabelInstanceTypeStable: "m5.24xlarge"} })
				waits(t)
			},
		},
		"tenant/keeps-its-nodes": {
			story: "pods of a millicore forbid the disruption of their nodes, and pretend to be critical to the system", want: want, keeps: keeps, launches: true,
			run: over(both(apart, func(p *pod) {
				p.Annotations = map[string]string{karpv1.AnnotationDoNotDisrupt: "true"}
				p.Spec.PriorityClassName = "system-cluster-critical"
			})),
		},
		"tenant/flapping": {
			story: "a tenant scales its pods up and down again and again, faster than nodes come and go", want: "the nodes of its pods cost no more than the cap at every moment, and those left behind go", keeps: "the cap of 0.20 $/h on nodes with its pods",
			launches: true, run: flapping,
		},
		"tenant/pod-flood": {
			story: "a tenant creates 400 pods at once", want: "nodes are launched up to the cap, and pods of others get theirs", keeps: keeps, launches: true,
			run: func(t *testing.T) {
				overrun(t, 400, greedyCap, apart)
				serve(t)
			},
		},
	}
}

// flapping scales the pods up and down. Nodes whose pods are gone are nobody's until they are
// removed (docs/spend.md), so that what must not cost more than the cap are the nodes that
// pods of the tenant are on.
func flapping(t *testing.T) {
	greed(t, 12, apart)
	for range 6 {
		for _, n := range []int{0, 12} {
			if err := stack.Scale(t.Context(), "greedy", "greedy", n); err != nil {
				t.Fatal(err)
			}
			err := stack.Holds(t.Context(), "the cap", time.Second, func(ctx context.Context) (string, bool) { return occupied(ctx, greedyCap) })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	until(t, "the nodes left behind to go", func(ctx context.Context) (string, bool) { return capped(ctx, greedyCap) })
	capHolds(t, greedyCap)
}

// occupied reports whether the nodes of NodePool general that have pods cost no more than the cap.
func occupied(ctx context.Context, limit float64) (string, bool) {
	fleet, err := general(ctx)
	usd := 0.0
	for i := range fleet {
		if fleet[i].Pods > 0 && !fleet[i].Deleting {
			usd += fleet[i].Price
		}
	}
	return fmt.Sprintf("%d nodes, those with pods for %.4f $/h, %v", len(fleet), usd, err), err != nil || usd <= limit
}
