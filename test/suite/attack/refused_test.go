package attack

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/demand"
	"spokeshave.dev/test/kit/harness"
)

// refusesTheRecord: an administrator's admission policy (Kyverno, Gatekeeper) refuses every ConfigMap that has not
// a label, and with them all that the controller keeps on record. It is started anew meanwhile. Pods get their nodes,
// except under a monthly cap; an instance without a claim, which is otherwise ended, waits for somebody; and it is
// told. With the label, all is as before.
func refusesTheRecord(t *testing.T) {
	install(t, "monthly", "hooks: [ceiling]\n", map[string]string{"p.rego": "package spokeshave.ceiling\ncap[\"namespace/greedy\"] := {\"monthly_usd\": 1000}\n"})
	status(t, "monthly", "Active")
	end := demand.Label(t, stack.Client, harness.Namespace, "owner")
	again(t)

	serve(t)
	greed(t, 1, apart)
	event(t, "FailedScheduling", "greedy", "the API server refuses ConfigMap "+harness.Namespace+"/"+ledger.Name)
	of := tags(harness.ClusterName, "nobody-2")
	delete(of, "kubernetes.io/cluster/"+harness.ClusterName) // by which machines know which cluster to join
	unclaimed := start(t, of)
	event(t, "DisruptionStopped", breakers, "the API server refuses ConfigMap")
	for _, record := range []string{breakers, ledger.Name} {
		event(t, "RecordRefused", record, "every ConfigMap needs a label owner")
		if got := number(t, "spokeshave_record_refused", `record="`+record+`"`); got != 1 {
			t.Errorf("refused %s: %v", record, got)
		}
	}
	if got := number(t, "spokeshave_spend_in_doubt", ""); got != 1 {
		t.Errorf("spend in doubt: %v", got)
	}
	err := stack.Holds(t.Context(), "an instance without a claim, and a monthly cap", 45*time.Second, func(ctx context.Context) (string, bool) {
		if gone := ended(ctx, []string{unclaimed}); gone != "" {
			return gone + " has ended", false
		}
		return greedyWaits(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	serve(t)

	// The way out: the label that is demanded.
	if err := stack.StopController(t.Context(), killed); err != nil {
		t.Fatal(err)
	}
	if err := stack.StartController(t.Context(), "--record-labels=owner=platform"); err != nil {
		t.Fatal(err)
	}
	until(t, "the greedy pod to run", stack.Running("greedy", map[string]string{"app": "greedy"}, 1))
	cm := &corev1.ConfigMap{}
	until(t, "the record of breakers with the label", func(ctx context.Context) (string, bool) {
		err := stack.Client.Get(ctx, client.ObjectKey{Namespace: harness.Namespace, Name: breakers}, cm)
		return fmt.Sprint(cm.Labels, err), err == nil && cm.Labels["owner"] == "platform"
	})
	for name, want := range map[string]float64{"spokeshave_spend_in_doubt": 0, "spokeshave_record_refused": 0} {
		if got := number(t, name, ""); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if gone := ended(t.Context(), []string{unclaimed}); gone != "" {
		t.Errorf("%s has ended: what was launched meanwhile is to be asked about", gone)
	}
	end()
	again(t)
}

// greedyWaits reports whether no pod of namespace greedy runs.
func greedyWaits(ctx context.Context) (string, bool) {
	pods, err := stack.Pods(ctx, "greedy", nil)
	for i := range pods {
		if pods[i].Status.Phase == corev1.PodRunning {
			return "pod " + pods[i].Name + " runs", false
		}
	}
	return fmt.Sprint(err), err == nil && len(pods) > 0
}
