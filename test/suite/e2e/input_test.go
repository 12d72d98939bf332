package e2e

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// TestNoNodeClass: a NodePool without its class says so, and so do its pods.
func TestNoNodeClass(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "classless", plan{types: "m5.large", capacity: "on-demand", class: "missing"})
	l.deploy("app", 1, "500m")
	l.until("the condition", func(ctx context.Context) (string, bool) {
		pool := &karpv1.NodePool{}
		if err := stack.Client.Get(ctx, types.NamespacedName{Name: l.name}, pool); err != nil {
			return err.Error(), false
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, karpv1.ConditionNodeClassReady)
		return harness.JSON(pool.Status.Conditions),
			c != nil && c.Status == metav1.ConditionFalse && strings.Contains(c.Message, "missing") &&
				meta.IsStatusConditionFalse(pool.Status.Conditions, karpv1.ConditionReady)
	})
	l.told("Pod", "FailedScheduling", "missing")
	if state, n := l.count(t.Context()); n != 0 {
		t.Errorf("something was launched: %s", state)
	}
}

// TestContradiction: a NodePool whose requirements contradict each other says so in an
// event and a condition, and its pods are told.
func TestContradiction(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "contradiction", plan{types: "m5.large", capacity: "on-demand"})
	_, err := stack.Kubectl(t.Context(), "patch", "nodepool", l.name, "--type=json", "-p",
		`[{"op": "add", "path": "/spec/template/spec/requirements/-", "value": {"key": "node.kubernetes.io/instance-type", "operator": "NotIn", "values": ["m5.large"]}}]`)
	if err != nil {
		t.Fatal(err)
	}
	l.until("the condition", func(ctx context.Context) (string, bool) {
		pool := &karpv1.NodePool{}
		if err := stack.Client.Get(ctx, types.NamespacedName{Name: l.name}, pool); err != nil {
			return err.Error(), false
		}
		c := meta.FindStatusCondition(pool.Status.Conditions, karpv1.ConditionValidationSucceeded)
		return harness.JSON(pool.Status.Conditions),
			c != nil && c.Status == metav1.ConditionFalse && strings.Contains(c.Message, "node.kubernetes.io/instance-type")
	})
	l.told("NodePool", karpv1.EventNoCompatibleInstanceTypes, "node.kubernetes.io/instance-type")
	l.deploy("app", 1, "500m")
	l.told("Pod", "FailedScheduling", l.name)
	if state, n := l.count(t.Context()); n != 0 {
		t.Errorf("something was launched: %s", state)
	}
}

// TestImpossiblePod: a pod that fits nothing is told why.
func TestImpossiblePod(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "impossible", plan{types: "m5.large", capacity: "on-demand"})
	l.deploy("app", 1, "64")
	l.told("Pod", "FailedScheduling", "asks for 64 cpu")
}

// TestBrokenPolicies: a policy that cannot be loaded is refused with a reason
// in the status object, and everything else goes on.
func TestBrokenPolicies(t *testing.T) {
	t.Parallel()
	l := newTenant(t, "broken", plan{types: "r6i.large", capacity: "on-demand"})
	tests := map[string]struct {
		reason string
		data   map[string]string
		module []byte
		want   []string
	}{
		"broken-wasm": {
			"not WebAssembly",
			map[string]string{"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\nengine: wasm\n"},
			[]byte("\x00asm but not really"),
			[]string{"Rejected"},
		},
		"broken-rego": {
			"Rego that does not compile, with the place",
			map[string]string{
				"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\nengine: rego\n",
				"rank.rego":   "package spokeshave.rank\n\nmultiplier[\"x\"] := nowhere.to_be_found(1)\n",
			},
			nil,
			[]string{"Rejected", "rank.rego:3"},
		},
		"broken-yaml": {
			"a field that does not exist",
			map[string]string{
				"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\nengine: rego\nfailurPolicy: Ignore\n",
				"rank.rego":   "package spokeshave.rank\n\nmultiplier[\"x\"] := 1\n",
			},
			nil,
			[]string{"Rejected", "failurPolicy"},
		},
	}
	for name, tt := range tests {
		cm := &corev1.ConfigMap{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
			ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: name, Labels: map[string]string{karpv1.LabelPolicy: "true"}},
			Data:       tt.data,
		}
		if tt.module != nil {
			cm.BinaryData = map[string][]byte{"module.wasm": tt.module}
		}
		if err := stack.ApplyPolicy(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
			defer cancel()
			if err := stack.Client.Delete(ctx, cm); err != nil {
				t.Error(err)
			}
		})
	}
	for name, tt := range tests {
		l.until("the status of "+name, func(ctx context.Context) (string, bool) {
			text, err := stack.PolicyStatus(ctx, name)
			if err != nil {
				return err.Error(), false
			}
			for _, w := range tt.want {
				if !strings.Contains(text, w) {
					return tt.reason + ": no " + w + " in " + text, false
				}
			}
			return "", true
		})
	}
	l.deploy("app", 1, "500m")
	l.run(1)
}
