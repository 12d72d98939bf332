package attack

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/harness"
)

// breakers is the ConfigMap in which the controller keeps what is stopped.
const breakers = "spokeshave-breakers"

// olderEtcd restores etcd from a snapshot that was made before nodes were launched. Their
// instances have no NodeClaim then, and have to go on until somebody allows their end.
func olderEtcd(t *testing.T) {
	snapshot := backup(t)
	forgotten := launchTwo(t)
	if err := stack.Cluster.Restore(t.Context(), snapshot); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { forget(t) })
	led(t)
	untilTold(t, forgotten)
	stopped := func(ctx context.Context) (string, bool) {
		n, err := metric(ctx, "spokeshave_disruption_stopped", `kind="garbage-collection"`)
		return fmt.Sprint("stopped: ", n, ", ", err), n == 1
	}
	// It ends, because its watches cannot be trusted, and its Deployment starts it again.
	err := stack.Until(t.Context(), "the controller to end", 3*time.Minute, func(ctx context.Context) (string, bool) {
		state, _ := stack.Leads(ctx)
		return state, state == "the controller has ended"
	})
	if err != nil {
		t.Fatal(err)
	}
	led(t)
	until(t, "the metric of the alert", stopped)
	err = stack.Holds(t.Context(), "instances without a claim", time.Minute, func(ctx context.Context) (string, bool) {
		gone := ended(ctx, forgotten)
		state, still := stopped(ctx)
		return gone + state, gone == "" && still
	})
	if err != nil {
		t.Fatal(err)
	}
}

// olderEtcdUnled is olderEtcd while no controller runs: the next one reads the restored ledger, which lacks what was
// launched since.
func olderEtcdUnled(t *testing.T) {
	snapshot := backup(t)
	forgotten := launchTwo(t)
	if err := stack.StopController(t.Context(), killed); err != nil {
		t.Fatal(err)
	}
	if err := stack.Cluster.Restore(t.Context(), snapshot); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { forget(t) })
	if err := stack.StartController(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { acceptLedger(t) })
	untilTold(t, forgotten)
	doubted := func(ctx context.Context) (string, bool) {
		n, err := metric(ctx, "spokeshave_spend_in_doubt", "")
		return fmt.Sprint("in doubt: ", n, ", ", err), n == 1
	}
	until(t, "the ledger to be in doubt", doubted)
	again(t)
	until(t, "the ledger to be in doubt after a restart", doubted)
	if gone := ended(t.Context(), forgotten); gone != "" {
		t.Errorf("instance %s has ended with the older snapshot", gone)
	}
}

// acceptLedger ends the doubt about what the month has cost.
func acceptLedger(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	store := &configmap.Store{Client: stack.Client, Live: stack.Client, Namespace: harness.Namespace, Name: ledger.Name, Key: ledger.Key}
	err := stack.Until(ctx, "the doubt to be accepted", 2*time.Minute, func(ctx context.Context) (string, bool) {
		text, cm, err := store.Read(ctx)
		if err != nil || cm == nil {
			return fmt.Sprint("the ledger: ", err), false
		}
		kept, err := spend.Decode(text)
		if err != nil || kept.Doubt == nil {
			return fmt.Sprint("the ledger: ", err), err == nil
		}
		patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: %q}}}`, karpv1.AnnotationAcceptLedger, kept.Doubt.Since.Format(time.RFC3339))
		err = stack.Client.Patch(ctx, cm, client.RawPatch(types.MergePatchType, []byte(patch)))
		return fmt.Sprint("annotated: ", err), false
	})
	if err != nil {
		t.Error(err)
	}
}

// backup returns a copy of etcd from before the pods of [launchTwo].
func backup(t *testing.T) string {
	t.Helper()
	greed(t, 0, apart)
	snapshot := filepath.Join(t.TempDir(), "etcd")
	if err := stack.Cluster.BackUp(t.Context(), snapshot); err != nil {
		t.Fatal(err)
	}
	led(t)
	return snapshot
}

// launchTwo returns the ids of two new instances: as many may be ended for no other reason.
func launchTwo(t *testing.T) (ids []string) {
	t.Helper()
	before := instances(t)
	if err := stack.Scale(t.Context(), "greedy", "greedy", 2); err != nil {
		t.Fatal(err)
	}
	until(t, "two greedy pods to run", stack.Running("greedy", map[string]string{"app": "greedy"}, 2))
	for id := range instances(t) {
		if !before[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// untilTold waits until the end of forgotten instances is stopped and told.
func untilTold(t *testing.T, forgotten []string) {
	t.Helper()
	// While nothing happens, instances are compared with claims every two minutes.
	err := stack.Until(t.Context(), "what was forgotten to be told", 6*time.Minute, func(ctx context.Context) (string, bool) {
		if gone := ended(ctx, forgotten); gone != "" {
			t.Fatalf("instance %s has ended with the older snapshot", gone)
		}
		all, err := stack.Events(ctx, func(e *corev1.Event) bool {
			return e.Reason == "DisruptionStopped" && e.InvolvedObject.Name == breakers
		})
		return fmt.Sprintf("%d events, %v", len(all), err), len(all) > 0
	})
	if err != nil {
		t.Fatal(err)
	}
}

// ended returns the id of one of the instances that does not run any more, if any.
func ended(ctx context.Context, ids []string) string {
	all, err := stack.Instances(ctx)
	if err != nil {
		return ""
	}
	run := map[string]bool{}
	for i := range all {
		run[all[i].ID] = all[i].State == "running" || all[i].State == "pending"
	}
	for _, id := range ids {
		if !run[id] {
			return id
		}
	}
	return ""
}

// forget allows the end of instances without a claim for an hour, as the event says, and
// waits until there are none.
func forget(t *testing.T) {
	ctx := context.WithoutCancel(t.Context())
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: breakers}}
	annotate := func(value string) {
		patch := fmt.Sprintf(`{"metadata": {"annotations": {"spokeshave.dev/allow-garbage-collection": %s}}}`, value)
		if err := stack.Client.Patch(ctx, cm, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
			t.Error(err)
		}
	}
	annotate(fmt.Sprintf("%q", time.Now().UTC().Add(time.Hour).Format(time.RFC3339)))
	if err := stack.Until(ctx, "instances and claims to be the same", 4*time.Minute, stack.Consistent); err != nil {
		t.Error(err)
	}
	annotate("null")
}
