package lifecycle

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/cloud/sim"
	"spokeshave.dev/controller/kube/condition"
)

// forge writes a condition of a claim as somebody does who may write nodeclaims/status.
func (w *launchingCluster) forge(t *testing.T, name, kind string, status metav1.ConditionStatus) {
	t.Helper()
	w.eventually(t, "the forged condition to be written", func() bool {
		claim := w.getClaim(t, name)
		base := claim.DeepCopy()
		for i := range claim.Status.Conditions {
			if claim.Status.Conditions[i].Type == kind {
				claim.Status.Conditions[i].Status = status
			}
		}
		if base.Status.Conditions == nil || !hasCondition(claim, kind) {
			claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: kind, Status: status, Reason: "Forged", LastTransitionTime: metav1.NewTime(time.Now())})
		}
		return w.client.Status().Patch(t.Context(), claim, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})) == nil
	})
}

func hasCondition(claim *karpv1.NodeClaim, kind string) bool {
	for _, c := range claim.Status.Conditions {
		if c.Type == kind {
			return true
		}
	}
	return false
}

// forgedSteps: somebody writes that a claim has not been launched, and that its node has not
// registered or is not initialized. Nothing is launched or ended, and the conditions come back.
func forgedSteps(t *testing.T, w *launchingCluster) {
	w.claim(t, "forged", option("m5.large"))
	w.registered(t, "forged")
	w.lift(t, "node-forged")
	w.initialized(t, "forged")
	id := w.getClaim(t, "forged").Status.ProviderID
	// A launch would find nothing on sale, and the claim would make way for a new plan.
	w.cloud.Fail(sim.CallLaunch, &provider.Error{Kind: provider.InsufficientCapacity, Err: errors.New("sold out")})
	for _, kind := range []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized} {
		w.forge(t, "forged", kind, metav1.ConditionFalse)
		w.eventually(t, kind+" to come back", func() bool {
			claim := w.getClaim(t, "forged")
			if claim == nil || !claim.DeletionTimestamp.IsZero() {
				t.Fatalf("the claim is ended, since somebody has written %s=False", kind)
			}
			return condition.IsTrue(claim.Status.Conditions, kind)
		})
	}
	if n, now := w.living("forged"), w.getClaim(t, "forged").Status.ProviderID; n != 1 || now != id {
		t.Errorf("%d instances run, and the claim's is %s; it was %s", n, now, id)
	}
	w.end(t, "forged")
	w.claim(t, "forged-not", option("m5.large"))
	w.told(t, "forged-not", karpv1.EventInsufficientCapacityError) // the fault is used up; before, the cache may not show the claim at all
	w.eventually(t, "another launch to find nothing on sale", func() bool { return w.getClaim(t, "forged-not") == nil })
}

// forgedLaunch: somebody writes that a claim is launched which has no instance. It is launched
// all the same.
func forgedLaunch(t *testing.T, w *launchingCluster) {
	w.cloud.Fail(sim.CallLaunch, denied())
	w.claim(t, "forged-launch", option("m5.large"))
	w.told(t, "forged-launch", "LaunchFailed")
	w.forge(t, "forged-launch", karpv1.ConditionLaunched, metav1.ConditionTrue)
	w.launched(t, "forged-launch")
	w.end(t, "forged-launch")
}

// forgedEnd: somebody writes that the instance of a claim is terminating, before its node
// joins. It is terminated when the claim is deleted.
func forgedEnd(t *testing.T, w *launchingCluster) {
	w.claim(t, "forged-end", option("m5.large"))
	w.launched(t, "forged-end")
	w.forge(t, "forged-end", karpv1.ConditionInstanceTerminating, metav1.ConditionTrue)
	w.end(t, "forged-end")
}
