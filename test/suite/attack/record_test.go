package attack

import (
	"context"
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/harness"
)

// recordAttacks are made by somebody who may change ConfigMaps, outside the policies.
func recordAttacks() map[string]attack {
	return map[string]attack{
		"editor/deletes-the-ledger": {
			story: "somebody deletes the ledger, so that the month has cost nothing", want: "it is written again with what the month has cost", keeps: "the month to date",
			run: func(t *testing.T) { loses(t, "spokeshave-ledger") },
		},
		"editor/deletes-the-breakers": {
			story: "somebody deletes what the circuit breakers remember", want: "it is written again, and nothing is ended", keeps: "instances",
			run: func(t *testing.T) { loses(t, "spokeshave-breakers") },
		},
		"editor/rewrites-the-ledger": {
			story: "somebody writes a ledger of an empty month", want: "what the controller has counted stays, in doubt until somebody accepts it", keeps: "the month to date", run: rewritesTheLedger,
		},
		"editor/policy-in-kube-system": {
			story: "somebody labels a ConfigMap of kube-system as a policy that stops everything", want: "nobody reads it", keeps: "launches", launches: true,
			run: func(t *testing.T) {
				installIn(t, metav1.NamespaceSystem, "stops", "hooks: [ceiling]\n", ceilingOn("cluster", 0))
				serve(t)
				if got, err := stack.PolicyStatus(t.Context(), "stops"); err != nil || got != "" {
					t.Errorf("a policy of kube-system was judged: %s, %v", got, err)
				}
			},
		},
		"editor/steals-the-lease": {
			story: "somebody writes another holder into the controller's lease", want: "the controller ends within seconds or takes it back; it never acts without it",
			keeps: "instances", restarts: true, run: stealsTheLease,
		},
		"editor/forged-copy": {
			story: "somebody adds an older copy of a cap, which permits everything, to those that the controller keeps for restarts", want: "it is not used while the policy is good",
			keeps: "the cap of 0.20 $/h", launches: true, run: forgedCopy,
		},
	}
}

// loses deletes a record of the controller's, and waits until it is there again.
func loses(t *testing.T, name string) {
	month := number(t, "spokeshave_spend_month_to_date_usd", `scope="cluster"`)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: name}}
	until(t, name+" to be there", func(ctx context.Context) (string, bool) {
		err := stack.Client.Get(ctx, client.ObjectKeyFromObject(cm), cm)
		return fmt.Sprint(err), err == nil
	})
	uid := cm.UID
	if err := stack.Client.Delete(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	until(t, name+" to be there again", func(ctx context.Context) (string, bool) {
		err := stack.Client.Get(ctx, client.ObjectKeyFromObject(cm), cm)
		return fmt.Sprint(err), err == nil && cm.UID != uid
	})
	if now := number(t, "spokeshave_spend_month_to_date_usd", `scope="cluster"`); now < month {
		t.Errorf("the month had cost %v, and has cost %v", month, now)
	}
}

func rewritesTheLedger(t *testing.T) {
	month := number(t, "spokeshave_spend_month_to_date_usd", `scope="cluster"`)
	store := &configmap.Store{Client: stack.Client, Live: stack.Client, Namespace: harness.Namespace, Name: ledger.Name, Key: ledger.Key}
	stored := func(ctx context.Context) (spend.Ledger, float64, error) {
		text, _, err := store.Read(ctx)
		if err != nil {
			return spend.Ledger{}, 0, err
		}
		l, err := spend.Decode(text)
		sum := l.Total()
		return l, sum.USD(), err
	}
	until(t, "the stored ledger to have something", func(ctx context.Context) (string, bool) {
		_, usd, err := stored(ctx)
		return fmt.Sprint(usd, err), err == nil && usd > 1e-4
	})
	empty := spend.New(&model.Snapshot{Time: time.Now()})
	forged, err := empty.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Write(t.Context(), forged); err != nil {
		t.Fatal(err)
	}
	var now spend.Ledger
	// The ledger is stored every minute: first over the forged one, and then with the doubt.
	err = stack.Until(t.Context(), "the ledger to be written, in doubt", 5*time.Minute, func(ctx context.Context) (string, bool) {
		l, usd, err := stored(ctx)
		now = l
		return fmt.Sprint(usd, err), err == nil && l.Doubt != nil
	})
	if err != nil {
		t.Fatal(err)
	}
	accepted := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: %q}}}`, karpv1.AnnotationAcceptLedger, now.Doubt.Since.Format(time.RFC3339))
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: ledger.Name}}
	if err := stack.Client.Patch(t.Context(), cm, client.RawPatch(types.MergePatchType, accepted)); err != nil {
		t.Fatal(err)
	}
	until(t, "the estimate to be accepted", func(ctx context.Context) (string, bool) {
		doubt, err := metric(ctx, "spokeshave_spend_in_doubt", "")
		return fmt.Sprint(doubt, err), err == nil && doubt == 0
	})
	if now := number(t, "spokeshave_spend_month_to_date_usd", `scope="cluster"`); now < month {
		t.Errorf("the month had cost %v, and has cost %v", month, now)
	}
}

func stealsTheLease(t *testing.T) {
	lease := &coordinationv1.Lease{}
	key := types.NamespacedName{Namespace: harness.Namespace, Name: "spokeshave-leader-election"}
	for {
		if err := stack.Client.Get(t.Context(), key, lease); err != nil {
			t.Fatal(err)
		}
		lease.Spec.HolderIdentity = new("thief")
		err := stack.Client.Update(t.Context(), lease)
		if err == nil {
			break
		}
		if !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
	}
	until(t, "the controller to notice", func(ctx context.Context) (string, bool) {
		state, leads := stack.Leads(ctx)
		return state, !leads
	})
	t.Cleanup(func() { again(t) })
}

// again sees to it that a controller leads.
func again(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	if err := stack.StopController(ctx, killed); err != nil {
		t.Error(err)
	}
	if err := stack.StartController(ctx); err != nil {
		t.Error(err)
	}
}

func forgedCopy(t *testing.T) {
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: harness.Namespace, Name: "spokeshave-policy-00000000deadbeef", Labels: map[string]string{"spokeshave.dev/policy-copy": "true"},
			Annotations: map[string]string{"spokeshave.dev/copy-of": harness.Namespace + "/guard", "spokeshave.dev/copy-number": "1"},
		},
		Immutable: new(true),
		Data:      map[string]string{"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [ceiling]\n", "p.rego": "package spokeshave.ceiling\ncap[\"namespace/greedy\"] := {\"hourly_usd\": 1000}\n"},
	}
	if err := stack.Client.Create(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stack.Client.Delete(context.WithoutCancel(t.Context()), cm) })
	overrun(t, 12, greedyCap, apart)
}
