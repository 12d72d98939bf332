package policies

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/remote"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/rehearse/author"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/controlplane"
)

// folder writes a policy's folder.
func folder(t *testing.T, source string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "budget")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range budgetPolicy(source).Data {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPush takes a policy from a folder to a cluster, and sees every verdict.
func TestPush(t *testing.T) {
	plane := controlplane.ForTest(t, false)
	server := apiserver.On(t, plane)
	c := server.Client(t)
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	cluster, err := remote.Connect(remote.Access{Kubeconfig: plane.Kubeconfig}, namespace)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := cluster.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("an empty cluster has %v, %v", all, err)
	}
	push := func(source string, within time.Duration) (policy.Status, string, error) {
		t.Helper()
		sources, err := author.Open(t.Context(), folder(t, source))
		if err != nil {
			t.Fatal(err)
		}
		cm := sources[0].ConfigMap
		if err := cluster.Apply(t.Context(), cm, nil); err != nil {
			t.Fatal(err)
		}
		s, err := cluster.Await(t.Context(), cm, within)
		return s, load.Hash(cm), err
	}
	if _, _, err := push(good, time.Second); !errors.Is(err, remote.ErrSilent) {
		t.Errorf("without a controller: %v", err)
	}
	r := start(t, server)
	defer r.stop()
	s, first, err := push(good, 30*time.Second)
	if err != nil || s.State != policy.StateActive || s.Hash != first {
		t.Errorf("good: %+v, %v", s, err)
	}
	// What is rejected twice for the same reason is told apart all the same.
	for _, source := range []string{broken, broken + "\n"} {
		if s, _, err = push(source, 30*time.Second); err != nil || s.State != policy.StateRejected || s.Hash != first {
			t.Errorf("broken: %+v, %v", s, err)
		}
	}
	if s, _, err = push(good, 30*time.Second); err != nil || s.State != policy.StateActive || s.Hash != first {
		t.Errorf("good again: %+v, %v", s, err)
	}
	other := &corev1.ConfigMap{}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "budget"}, other); err != nil {
		t.Fatal(err)
	}
	other.Data["budget.rego"] += "# edited\n"
	if err := c.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	sources, err := author.Open(t.Context(), folder(t, good))
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Apply(t.Context(), sources[0].ConfigMap, nil); err == nil {
		t.Error("what somebody edited is overwritten without being asked to")
	}
	force := true
	if err := cluster.Apply(t.Context(), sources[0].ConfigMap, &force); err != nil {
		t.Error(err)
	}
	all, err := cluster.List(t.Context())
	if err != nil || len(all) != 1 || all[0].Name != "budget" {
		t.Errorf("list: %+v, %v", all, err)
	}
}
