package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/explain"
	"spokeshave.dev/test/kit/harness"
	"spokeshave.dev/test/kit/user"
)

// explainCap allows one node of the cheapest type and not two, in a scope that no other
// test spends in.
const explainCap = `apiVersion: v1
kind: ConfigMap
metadata: {name: explain-cap, namespace: spokeshave, labels: {spokeshave.dev/policy: "true"}}
data:
  policy.yaml: |
    apiVersion: policy.spokeshave.dev/v1alpha1
    hooks: [ceiling]
    engine: rego
  cap.rego: |
    package spokeshave.ceiling

    cap["nodepool/explain"] := {"hourly_usd": 0.2}
    cap["nodepool/nowhere"] := {"hourly_usd": 7}
`

// TestExplain asks a controller that runs about a pod with a node, one that a cap
// keeps waiting, the node by both its names, and the NodePool: with kubectl, the
// plugin and a user's own rights through the API server, and with --server.
func TestExplain(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "explain", plan{types: "r6i.large, r6i.xlarge, r6id.large", capacity: "on-demand", after: "1s", policy: "WhenEmptyOrUnderutilized"})
	a := l.asker() // first: it builds a program, and the journal keeps the latest only
	l.apply(explainCap)
	t.Cleanup(func() {
		policy := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: "explain-cap"}}
		if err := stack.Client.Delete(context.WithoutCancel(t.Context()), policy); err != nil {
			t.Error(err)
		}
	})
	l.until("the cap in force", func(ctx context.Context) (string, bool) {
		text, err := stack.PolicyStatus(ctx, "explain-cap")
		return fmt.Sprint(text, err), err == nil && strings.Contains(text, "Active")
	})
	l.deploy("app", 1, "1500m")
	l.run(1)
	l.until("one machine", l.machines(1))
	l.deploy("more", 1, "1500m")
	l.told("Pod", "FailedScheduling", "explain-cap")
	placed, waits, machine := l.pod("app"), l.pod("more"), l.only()

	launch := []string{
		"r6i.large (on-demand) in us-west-2", "from NodePool explain", // why this, and from what
		"r6id.large (on-demand) in us-west-2", "would have cost", "more in effect", // and not another type
		"    not on ", // nodes that there were
		"policies asked: ", "explain-cap", "EFFECTIVE $/H",
	}
	stays := append([]string{"it stays: no cheaper place was found for its pods", "it was launched: "}, launch...)
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   []string
		not    string
	}{
		"placed": {
			reason: "why this type and zone, and not on a node that there was", args: []string{"pod", placed, "-n", l.name},
			want: append([]string{"a node was launched for it: "}, launch...),
		},
		"waits": {
			reason: "the cap, the policy, what is left, what would fit and what would have to change", args: []string{"pod", l.name + "/" + waits},
			want: []string{
				"it waits: no node could be planned for it", "NodePool explain: cap explain-cap on nodepool/explain leaves 0.0", "cheapest fitting offering 0.126", "(r6i.large, us-west-2",
				"policy explain-cap caps nodepool/explain at 0.20 $/h, of which 0.0", "to change that: policy explain-cap would have to cap nodepool/explain at 0.25", " be freed there",
			},
			not: "nowhere",
		},
		"node":  {reason: "why it is kept, and why it came", args: []string{"node", machine.Node}, want: stays},
		"claim": {reason: "the same by its other name", args: []string{"nodeclaim", machine.Claim}, want: stays},
		"pool": {
			reason: "what it launched and whom it could not serve", args: []string{"nodepool", l.name},
			want: append([]string{"node " + machine.Claim + " was launched: ", "1 pod could not use it: cap explain-cap on nodepool/explain"}, launch...),
		},
	} {
		t.Run(name, func(t *testing.T) {
			for how, extra := range a.ways {
				l.until(how+" to explain", func(ctx context.Context) (string, bool) {
					code, stdout, stderr := a.Kubectl(ctx, t, a.kubeconfig, slices.Concat([]string{"explain"}, tc.args, extra)...)
					missing := slices.DeleteFunc(slices.Clone(tc.want), func(w string) bool { return strings.Contains(stdout, w) })
					if tc.not != "" && strings.Contains(stdout, tc.not) {
						missing = append(missing, "nothing about "+tc.not)
					}
					return fmt.Sprintf("%s: exit %d, without %q:\n%s%s", tc.reason, code, missing, stdout, stderr), code == 0 && len(missing) == 0
				})
			}
		})
	}
	t.Run("json", func(t *testing.T) { a.data(t, l, waits, machine.Claim) })
	t.Run("unknown", func(t *testing.T) {
		for how, extra := range a.ways {
			code, stdout, stderr := a.Kubectl(t.Context(), t, a.kubeconfig, append([]string{"explain", "nodepool", "none"}, extra...)...)
			if code != 3 || !strings.Contains(stderr, "is about NodePool none") {
				t.Errorf("%s: exit %d, want 3: %s%s", how, code, stdout, stderr)
			}
		}
	})
	if err := stack.Scale(t.Context(), l.name, "app", 0); err != nil {
		t.Fatal(err)
	}
	l.until("the pod that waits to get the room", stack.Running(l.name, map[string]string{"app": "more"}, 1))
}

// asker is a user who may do what explain needs and nothing else.
type asker struct {
	*user.Tools

	kubeconfig string
	// ways are the flags by which the controller is reached.
	ways map[string][]string
}

// asker makes the user, and what the cluster would have if the controller ran in
// a pod: the pod, its node, and a lease that names it.
func (l *tenant) asker() asker {
	l.Helper()
	at, err := url.Parse(stack.MetricsURL())
	if err != nil {
		l.Fatal(err)
	}
	account := user.Account(harness.Namespace, "asks", user.Rules(l, user.Asking), nil)
	user.Create(l, stack.Client, account...)
	made := append(account, user.Lead(l, stack.Client, user.Leader{Namespace: harness.Namespace, Lease: "explain-lead", Pod: "explain-leader", Target: at.Host})...)
	l.Cleanup(func() {
		for _, o := range made {
			if err := stack.Client.Delete(context.WithoutCancel(l.Context()), o); err != nil {
				l.Error(err)
			}
		}
	})
	path, err := stack.Cluster.KubeconfigFor(l.Context(), harness.Namespace, "asks")
	if err != nil {
		l.Fatal(err)
	}
	return asker{user.Install(l, stack.Cluster.Binaries.Kubectl, "../../../cmd/spokeshave"), path, map[string][]string{
		"forwarding a port": {"--lease", "explain-lead"}, "--server": {"--server", stack.MetricsURL()},
	}}
}

// data asks for JSON. Facts are the latest first: before the cap was the reason, and after, the pod may have
// waited for workloads of other tests.
func (a *asker) data(t *testing.T, l *tenant, waits, claim string) {
	t.Helper()
	ask := func(args ...string) []explain.Fact {
		t.Helper()
		code, stdout, stderr := a.Kubectl(t.Context(), t, a.kubeconfig, append(append([]string{"explain"}, args...), "-o", "json", "--lease", "explain-lead")...)
		var got explain.Answer
		if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || len(got.Facts) == 0 {
			t.Fatalf("%v: exit %d: %v: %s%s", args, code, err, stdout, stderr)
		}
		return got.Facts
	}
	capped := func(f explain.Fact) bool {
		at := slices.IndexFunc(f.Reasons, func(r model.Reason) bool { return r.Code == model.CeilingReached })
		return at >= 0 && f.Reasons[at].Policy == "explain-cap" && f.Reasons[at].Short > 0 && len(f.Headroom) == 1 && f.Headroom[0].Limit == 0.2
	}
	l.until("the cap as the reason, in JSON", func(context.Context) (string, bool) {
		facts := ask("pod", waits, "-n", l.name)
		return harness.JSON(facts), slices.ContainsFunc(facts, capped)
	})
	facts := ask("nodeclaim", claim)
	f := facts[len(facts)-1]
	if len(f.Options) != 4 || f.Options[0].InstanceType != "r6i.large" || len(f.OtherTypes) == 0 || f.OtherTypes[0].Price <= f.Options[0].Price || time.Since(f.Time) > time.Hour {
		t.Errorf("a launch: %s", harness.JSON(f))
	}
}

// pod is the name of a Deployment's one pod.
func (l *tenant) pod(app string) string {
	l.Helper()
	pods, err := stack.Pods(l.Context(), l.name, map[string]string{"app": app})
	if err != nil {
		l.Fatal(err)
	}
	if len(pods) != 1 {
		l.Fatalf("%d pods of %s, want 1", len(pods), app)
	}
	return pods[0].Name
}
