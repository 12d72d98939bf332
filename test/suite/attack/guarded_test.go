package attack

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/test/kit/harness"
)

// guarded is what is compared before and after every attack.
type guarded struct {
	// started is when the controller's process began.
	started, resident float64
	// headroom is what is left of the cap on namespace shop, whose pods are others'.
	headroom float64
	// pods are the nodes of the pods of namespace shop, by the pod's UID.
	pods map[string]string
	// instances are those of EC2, by id.
	instances map[string]bool
	// faults counts the faults of the administrator's own policy.
	faults float64
	// refused is how often the API server had refused the controller something.
	refused int
}

func look(t *testing.T, a *attack) *guarded {
	t.Helper()
	g := &guarded{
		started: number(t, "process_start_time_seconds", ""), headroom: number(t, "spokeshave_headroom_usd", `scope="namespace/shop"`),
		faults: number(t, "spokeshave_policy_faults_total", `policy="guard"`), pods: shop(t), instances: instances(t),
	}
	if a.memory {
		g.resident = settledMemory(t)
	}
	refused, err := stack.Refused()
	if err != nil {
		t.Fatal(err)
	}
	g.refused = len(refused)
	return g
}

// compare wants everything as it was.
func (g *guarded) compare(t *testing.T, a *attack) {
	t.Helper()
	if state, leads := stack.Leads(t.Context()); !leads {
		t.Fatalf("the controller does not lead: %s\n%s", state, stack.Diagnosis(t.Context()))
	}
	if now := number(t, "process_start_time_seconds", ""); now != g.started && !a.restarts {
		t.Error("the controller's process has ended, and another one runs")
	}
	if now := shop(t); !maps.Equal(now, g.pods) {
		t.Errorf("pods of others and their nodes were %v, and are %v", g.pods, now)
	}
	if n := number(t, "spokeshave_policy_faults_total", `policy="guard"`); n > g.faults {
		t.Errorf("the administrator's policy has met %v faults", n-g.faults)
	}
	if !a.launches {
		for id := range instances(t) {
			if !g.instances[id] {
				t.Errorf("instance %s was launched", id)
			}
		}
	}
	refused, err := stack.Refused()
	if err != nil {
		t.Fatal(err)
	}
	if len(refused) > g.refused && !a.refusals {
		t.Errorf("the API server has refused the controller something: %.600s", refused[len(refused)-1])
	}
	if a.memory {
		if grew(t, g.resident) > grown {
			t.Error("the controller grew by more than an attack may cost")
		}
	}
	g.settled(t)
}

// settled waits until the headroom of others is what it was, and the controller's spend is
// what EC2 bills.
func (g *guarded) settled(t *testing.T) {
	t.Helper()
	until(t, "the headroom of others and the true spend", func(ctx context.Context) (string, bool) {
		left, err := metric(ctx, "spokeshave_headroom_usd", `scope="namespace/shop"`)
		if err != nil {
			return err.Error(), false
		}
		told, err := metric(ctx, "spokeshave_spend_running_usd", "")
		if err != nil {
			return err.Error(), false
		}
		billed, err := bill(ctx)
		return fmt.Sprintf("headroom %.6f, was %.6f; spend %.4f, EC2 bills %.4f; %v", left, g.headroom, told, billed, err),
			err == nil && math.Abs(left-g.headroom) < 1e-6 && tells(told, billed)
	})
}

// tells reports whether a spend is the bill of the instances and what their volumes cost
// besides, in dollars an hour.
func tells(spend, billed float64) bool { return spend >= billed && spend <= billed*1.2+0.01 }

// prices are the prices of instances in dollars an hour, by type, zone and capacity type.
var prices map[string]float64

// bill returns what the instances of the cluster cost, by EC2's own list of them.
func bill(ctx context.Context) (float64, error) {
	all, err := stack.Instances(ctx)
	sum := 0.0
	for i := range all {
		in := &all[i]
		if in.Pool == "" || in.State != "pending" && in.State != "running" {
			continue
		}
		price, known := prices[offering(in)]
		if !known {
			return 0, fmt.Errorf("no price of %s is known", offering(in))
		}
		sum += price
	}
	return sum, err
}

func offering(in *harness.Instance) string {
	capacity := "on-demand"
	if in.Spot {
		capacity = "spot"
	}
	return in.Type + " " + in.Zone + " " + capacity
}

func number(t *testing.T, name, labels string) float64 {
	t.Helper()
	n, err := metric(t.Context(), name, labels)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func instances(t *testing.T) map[string]bool {
	t.Helper()
	all, err := stack.Instances(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for i := range all {
		out[all[i].ID] = true
	}
	return out
}

func shop(t *testing.T) map[string]string {
	t.Helper()
	pods, err := stack.Pods(t.Context(), "shop", nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i := range pods {
		if pods[i].Status.Phase == corev1.PodRunning {
			out[string(pods[i].UID)] = pods[i].Spec.NodeName
		}
	}
	if len(out) == 0 {
		t.Fatal("no pod of namespace shop runs")
	}
	return out
}

// victim returns the node of namespace shop, and its machine.
func victim(t *testing.T) harness.Machine {
	t.Helper()
	nodes := slices.Collect(maps.Values(shop(t)))
	fleet, err := stack.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range fleet {
		if fleet[i].Node == nodes[0] {
			return fleet[i]
		}
	}
	t.Fatalf("node %s has no NodeClaim", nodes[0])
	return harness.Machine{}
}

// until waits for two minutes at most.
func until(t *testing.T, what string, check harness.Check) {
	t.Helper()
	if err := stack.Until(t.Context(), what, 2*time.Minute, check); err != nil {
		t.Fatal(err)
	}
}

// holds wants a check to be satisfied all the time, for some seconds.
func holds(t *testing.T, what string, check harness.Check) {
	t.Helper()
	if err := stack.Holds(t.Context(), what, 5*time.Second, check); err != nil {
		t.Fatal(err)
	}
}

// event waits for an event on an object whose message contains a text.
func event(t *testing.T, reason, object, text string) {
	t.Helper()
	until(t, "event "+reason+" on "+object, func(ctx context.Context) (string, bool) {
		all, err := stack.Events(ctx, func(e *corev1.Event) bool {
			return e.Reason == reason && strings.HasPrefix(e.InvolvedObject.Name, object) && strings.Contains(e.Message, text)
		})
		return fmt.Sprint(err), len(all) > 0
	})
}
