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
	installIn(t, harness.Namespace, name, settings, files)
}

// installIn is install in another namespace.
func installIn(t *testing.T, namespace, name, settings string, files map[string]string) {
	t.Helper()
	cm := applyIn(t, namespace, name, settings, files)
	t.Cleanup(func() {
		if err := stack.Client.Delete(context.WithoutCancel(t.Context()), cm); err != nil {
			t.Error(err)
		}
	})
}

// apply applies a Rego policy in place of the one of that name.
func apply(t *testing.T, name, settings string, files map[string]string) {
	t.Helper()
	applyIn(t, harness.Namespace, name, settings, files)
}

// applyIn is apply in another namespace.
func applyIn(t *testing.T, namespace, name, settings string, files map[string]string) *corev1.ConfigMap {
	t.Helper()
	cm := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{karpv1.LabelPolicy: "true"}},
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
