package attack

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// grown is how many bytes the controller may grow by a bomb.
const grown = 20 << 20

// doubled returns forty rules, each of which has the one before twice.
func doubled(first string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "a0 := %s\n", first)
	for i := 1; i <= 40; i++ {
		fmt.Fprintf(&b, "a%d := [a%d, a%d]\n", i, i-1, i-1)
	}
	return b.String()
}

// install applies a Rego policy, and removes it when the test ends.
func install(t *testing.T, name, settings string, files map[string]string) {
	t.Helper()
	cm := apply(t, name, settings, files)
	t.Cleanup(func() {
		if err := stack.Client.Delete(context.WithoutCancel(t.Context()), cm); err != nil {
			t.Error(err)
		}
	})
}

// apply applies a Rego policy in place of the one of that name.
func apply(t *testing.T, name, settings string, files map[string]string) *corev1.ConfigMap {
	t.Helper()
	cm := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: name, Labels: map[string]string{karpv1.LabelPolicy: "true"}},
		Data:       map[string]string{"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\n" + settings},
	}
	maps.Copy(cm.Data, files)
	if err := stack.ApplyPolicy(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	return cm
}

// status waits until the status of a policy contains a text.
func status(t *testing.T, name, text string) {
	t.Helper()
	err := stack.Until(t.Context(), name+" to be "+text, 2*time.Minute, func(ctx context.Context) (string, bool) {
		got, err := stack.PolicyStatus(ctx, name)
		return fmt.Sprint(got, err), strings.Contains(got, text)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBombAtLoad: a policy author applies a policy that takes all memory when it is
// compiled or tested. It is rejected and says so; the controller does not grow; the
// process that answers goes on; the good version before it stays in force.
func TestBombAtLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	const good = "package spokeshave.rank\nmultiplier[\"x\"] := 1.1 if input.offering.arch == \"arm64\"\n"
	for name, files := range map[string]map[string]string{
		"compile": {"p.rego": "package spokeshave.rank\n" + doubled("[1, 1]") + "exclude contains \"x\" if json.marshal(a40) == input.offering.zone\n"},
		"test":    {"p.rego": good, "p_test.rego": "package spokeshave.rank\n" + doubled("[1, 1]") + "test_a if json.marshal(a40) == \"\"\n"},
		"parse":   {"p.rego": "package spokeshave.rank\nx := " + strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000) + "\n" + good},
	} {
		t.Run(name, func(t *testing.T) {
			policy := "bomb-" + name
			install(t, policy, "hooks: [rank]\n", map[string]string{"p.rego": good})
			status(t, policy, "Active")
			before := resident(t)
			restarts, err := metric(t.Context(), "spokeshave_policy_process_restarts_total", "")
			if err != nil {
				t.Fatal(err)
			}
			apply(t, policy, "hooks: [rank]\n", files)
			status(t, policy, "Rejected")
			status(t, policy, "stays in force")
			said, err := stack.PolicyStatus(t.Context(), policy)
			if err != nil {
				t.Fatal(err)
			}
			after := resident(t)
			t.Logf("%.400s\nfrom %.1f to %.1f MB", said, before/1e6, after/1e6)
			if after > before+grown {
				t.Errorf("the controller grew from %.1f to %.1f MB", before/1e6, after/1e6)
			}
			if now, err := metric(t.Context(), "spokeshave_policy_process_restarts_total", ""); err != nil || now != restarts {
				t.Errorf("the process that answers was started again: %v, %v", now-restarts, err)
			}
		})
	}
}

// TestBombAtQuestions: a policy author applies a rank policy that takes all memory
// whenever it is asked. Pods get their nodes, another policy is heard, the controller
// does not grow, and the policy is named and soon not asked any more.
func TestBombAtQuestions(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	work(t, 2) // what the controller takes for its work, it takes once
	work(t, 0)
	install(t, "heard", "hooks: [rank]\npriority: 200\n", map[string]string{"p.rego": "package spokeshave.rank\nexclude contains \"not arm\" if input.offering.arch != \"arm64\"\n"})
	install(t, "bomb", "hooks: [rank]\npriority: 50\n", map[string]string{
		"p.rego": "package spokeshave.rank\nexclude contains \"x\" if { s := concat(\"\", [\"abcdefghijklmnop\" | some i in numbers.range(1, 20000000 + input.pool.pendingPods)]); contains(s, input.offering.zone) }\n",
	})
	status(t, "heard", "Active")
	status(t, "bomb", "Active")
	before := resident(t)
	work(t, 2)
	after := resident(t)
	t.Logf("from %.1f to %.1f MB", before/1e6, after/1e6)
	if after > before+grown {
		t.Errorf("the controller grew from %.1f to %.1f MB", before/1e6, after/1e6)
	}
	// It ends its process, or is stopped before, by the deadline: that depends on the machine.
	if n, err := metric(t.Context(), "spokeshave_policy_faults_total", `policy="bomb"`); err != nil || n == 0 {
		t.Errorf("faults of the bomb: %v, %v", n, err)
	}
	if n, err := metric(t.Context(), "spokeshave_policy_faults_total", `policy="heard"`); err != nil || n != 0 {
		t.Errorf("faults of the other policy: %v, %v", n, err)
	}
	if n, err := metric(t.Context(), "spokeshave_policy_denied_total", `policy="heard"`); err != nil || n == 0 {
		t.Errorf("the other policy was not heard: %v, %v", n, err)
	}
	nodes := &corev1.NodeList{}
	if err := stack.Client.List(t.Context(), nodes); err != nil {
		t.Fatal(err)
	}
	for i := range nodes.Items {
		labels := nodes.Items[i].Labels
		if labels[karpv1.LabelNodePool] == "general" && labels[corev1.LabelArchStable] != "arm64" {
			t.Errorf("node %s is %s: the other policy was not obeyed", nodes.Items[i].Name, labels[corev1.LabelArchStable])
		}
	}
	work(t, 0)
}
