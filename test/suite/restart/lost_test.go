package restart

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// lost is something that goes wrong while a node is being replaced.
type lost struct {
	reason string
	// before happens before the decision, harm when the replacement is launched or,
	// if it is to join, ready; nobody has looked at it again by then.
	before func(*bareCluster)
	joins  bool
	harm   func(t *testing.T, w *bareCluster, l *life, replacement *karpv1.NodeClaim)
	// goes says that the replacement takes over all the same. Otherwise the old node
	// is freed again, and says that the command was taken back because of why.
	goes bool
	why  string
	// launched is how many machines there may have been in all.
	launched int
}

// kill ends the instance of a claim. Its kubelet falls silent with it, so its node,
// if there is one, is no longer ready, as the node lifecycle controller would report.
func (w *bareCluster) kill(t *testing.T, claim string) {
	t.Helper()
	for _, m := range w.cloud.Machines() {
		if m.Claim == claim {
			if err := w.cloud.Terminate(t.Context(), m.ProviderID); err != nil {
				t.Fatal(err)
			}
		}
	}
	node := &corev1.Node{}
	if err := w.client.Get(t.Context(), client.ObjectKey{Name: "node-" + claim}, node); apierrors.IsNotFound(err) {
		return
	} else if err != nil {
		t.Fatal(err)
	}
	base := node.DeepCopy()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}}
	if err := w.client.Status().Patch(t.Context(), node, client.MergeFrom(base)); err != nil {
		t.Fatal(err)
	}
}

// overdue lets the time pass in which a claim has to become a node, and looks at
// the claim then, as the reconciler has put it on its list.
func (w *bareCluster) overdue(t *testing.T, l *life, claim *karpv1.NodeClaim) {
	t.Helper()
	if n := w.running(); n != 2 {
		t.Fatalf("%d machines run, want the old one and the one that does not join", n)
	}
	look := func(after time.Duration) time.Duration {
		t.Helper()
		l.late.Store(int64(after))
		if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
			t.Fatal(err)
		}
		result, err := l.claims.Reconcile(t.Context(), claim)
		if err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter
	}
	if again := look(14 * time.Minute); again <= 0 || again > time.Minute {
		t.Fatalf("after 14 minutes it is looked at again in %s, want within the fifteenth", again)
	}
	look(15 * time.Minute)
	w.until(t, "the claim to go", func(ctx context.Context) (bool, error) {
		err := w.client.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

func mishaps() map[string]lost {
	smalls := model.Option{InstanceType: small, Zone: "zone-a", CapacityType: model.OnDemand}
	return map[string]lost{
		"sold out": {
			reason: "the replacement cannot be had", why: "did not become a node", launched: 1,
			before: func(w *bareCluster) { w.cloud.SellOut(smalls) },
			harm:   func(*testing.T, *bareCluster, *life, *karpv1.NodeClaim) {},
		},
		"replacement ends early": {
			reason: "its instance ends before it has joined", why: "did not become a node", launched: 2,
			harm: func(t *testing.T, w *bareCluster, _ *life, replacement *karpv1.NodeClaim) {
				w.kill(t, replacement.Name)
			},
		},
		"replacement never joins": {
			reason: "its instance runs, and no node comes of it within a quarter of an hour", why: "did not become a node", launched: 2,
			harm: func(t *testing.T, w *bareCluster, l *life, replacement *karpv1.NodeClaim) {
				w.overdue(t, l, replacement)
			},
		},
		"replacement ends late": {
			reason: "its instance ends when it is ready, and that is known before the old node goes", why: "did not become a node", launched: 2, joins: true,
			harm: func(t *testing.T, w *bareCluster, l *life, replacement *karpv1.NodeClaim) {
				w.kill(t, replacement.Name)
				w.until(t, "its end to be noticed", func(ctx context.Context) (bool, error) {
					// The cache is asked: decisions follow it, and it may lag behind the API server.
					err := errors.Join(l.garbage.Collect(ctx), l.cache.Get(ctx, client.ObjectKeyFromObject(replacement), replacement))
					return apierrors.IsNotFound(err) || err == nil && !replacement.DeletionTimestamp.IsZero(), err
				})
			},
		},
		"replacement ends unnoticed": {
			reason: "the old node goes as well, and its pods get a third one", goes: true, launched: 3, joins: true,
			harm: func(t *testing.T, w *bareCluster, _ *life, replacement *karpv1.NodeClaim) {
				w.kill(t, replacement.Name)
			},
		},
		"candidate ends early": {
			reason: "the instance of the node that goes ends before the replacement has joined, which is what its pods need", goes: true, launched: 2,
			harm: func(t *testing.T, w *bareCluster, _ *life, replacement *karpv1.NodeClaim) {
				w.kill(t, replacement.Annotations[karpv1.AnnotationReplaces])
			},
		},
		"candidate ends late": {
			reason: "the same when the replacement is ready", goes: true, launched: 2, joins: true,
			harm: func(t *testing.T, w *bareCluster, _ *life, replacement *karpv1.NodeClaim) {
				w.kill(t, replacement.Annotations[karpv1.AnnotationReplaces])
			},
		},
		"policy": {
			reason: "a policy that refuses was swapped in meanwhile", why: "policy guard: not now", launched: 2, joins: true,
			harm: func(_ *testing.T, _ *bareCluster, l *life, _ *karpv1.NodeClaim) {
				l.swap.in.Store(&[]policy.Policy{guard{}})
			},
		},
	}
}

// guard lets nothing go that is in use.
type guard struct{}

// Info implements policy.Policy.
func (guard) Info() policy.Info {
	return policy.Info{Name: "guard", Hooks: []policy.Hook{policy.HookConsolidate}}
}

// Rank implements policy.Policy.
func (guard) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) {
	return nil, policy.ErrNoOpinion
}

// Consolidate implements policy.Policy.
func (guard) Consolidate(_ context.Context, in *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	out := make([]policy.ConsolidateAnswer, len(in.Candidates))
	for i := range out {
		out[i] = policy.ConsolidateAnswer{Verdict: policy.Allow}
		if in.Candidates[i].Method == "Underutilized" {
			out[i] = policy.ConsolidateAnswer{Verdict: policy.Deny, Reason: "not now"}
		}
	}
	return out, nil
}

// Ceiling implements policy.Policy.
func (guard) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	return policy.CeilingAnswer{}, policy.ErrNoOpinion
}

// TestLost: while a node is being replaced, the replacement cannot be had or ends,
// the node itself ends, or a policy changes its mind. Either the replacement takes
// over or the node is as it was before, and nothing is launched twice.
func TestLost(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	t.Parallel()
	w := newCluster(t)
	round := 0
	for name, tc := range mishaps() {
		round++
		t.Run(name, func(t *testing.T) { w.mishap(t, "old-lost-"+string(rune('a'+round)), &tc) })
	}
}

func (w *bareCluster) mishap(t *testing.T, old string, tc *lost) {
	l := w.live(t, nil)
	earlier := len(w.cloud.Machines())
	w.claim(t, old)
	w.until(t, "a large node", func(ctx context.Context) (bool, error) {
		if err := w.machines(ctx); err != nil {
			return false, err
		}
		up, _, err := w.nodes(ctx)
		return up == 1, err
	})
	if err := w.pod(t.Context(), "node-"+old); err != nil {
		t.Fatal(err)
	}
	if tc.before != nil {
		tc.before(w)
	}
	if replacement := w.replacing(t, l, old, tc); replacement != nil {
		tc.harm(t, w, l, replacement)
	}
	w.until(t, "one node", func(ctx context.Context) (bool, error) {
		failed := l.round(ctx) // a round that fails is made again
		failed = errors.Join(failed, l.garbage.Collect(ctx))
		if tc.goes || tc.joins {
			failed = errors.Join(failed, w.machines(ctx))
		}
		if tc.goes {
			failed = errors.Join(failed, w.orphans(ctx), w.workload(ctx))
		}
		up, smalls, err := w.nodes(ctx)
		want := 0
		if tc.goes {
			want = 1
		}
		return up == 1 && smalls == want && w.running() == 1, errors.Join(failed, err)
	})
	if n := len(w.cloud.Machines()) - earlier; n > tc.launched {
		t.Errorf("%s: %d machines were launched, want %d", tc.reason, n, tc.launched)
	}
	if !tc.goes {
		claim := &karpv1.NodeClaim{}
		if err := w.client.Get(t.Context(), client.ObjectKey{Name: old}, claim); err != nil {
			t.Fatalf("%s: %v", tc.reason, err)
		}
		if claim.Annotations[karpv1.AnnotationUndone] == "" || claim.Annotations[karpv1.AnnotationDisruption] != "" {
			t.Errorf("%s: annotations %v", tc.reason, claim.Annotations)
		}
		if err := taken(l, tc.why); err != nil {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
	w.cloud.Restock(model.Option{InstanceType: small, Zone: "zone-a", CapacityType: model.OnDemand})
	w.clear(t)
	l.stop()
}

// replacing makes decisions until a node is being replaced, and returns what takes
// its place: nil when that has failed already, as it may where before saw to it.
func (w *bareCluster) replacing(t *testing.T, l *life, old string, tc *lost) *karpv1.NodeClaim {
	t.Helper()
	var out *karpv1.NodeClaim
	w.until(t, "the command to begin", func(ctx context.Context) (bool, error) {
		failed := l.round(ctx)
		claim := &karpv1.NodeClaim{}
		err := w.client.Get(ctx, client.ObjectKey{Name: old}, claim)
		return claim.Annotations[karpv1.AnnotationDisruption] != "", errors.Join(failed, err)
	})
	w.until(t, "a replacement", func(ctx context.Context) (bool, error) {
		var claims karpv1.NodeClaimList
		if err := w.client.List(ctx, &claims); err != nil {
			return false, err
		}
		out = nil
		for i := range claims.Items {
			if c := &claims.Items[i]; c.Name != old && c.DeletionTimestamp.IsZero() {
				out = c
			}
		}
		if out == nil && tc.before == nil { // the round failed before it had made the claim
			return false, l.round(ctx)
		}
		if out == nil { // refused at once
			return true, nil
		}
		if tc.joins {
			if err := w.machines(ctx); err != nil {
				return false, err
			}
			node := &corev1.Node{}
			err := w.client.Get(ctx, client.ObjectKey{Name: "node-" + out.Name}, node)
			return err == nil && node.Labels[karpv1.LabelInitialized] == "true", client.IgnoreNotFound(err)
		}
		return out.Status.ProviderID != "", nil
	})
	return out
}

// orphans are the pods of nodes that are gone: the control plane's controllers, which
// do not run here, would take them away.
func (w *bareCluster) orphans(ctx context.Context) error {
	var pods corev1.PodList
	if err := w.client.List(ctx, &pods, client.InNamespace("default")); err != nil {
		return err
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if p.Spec.NodeName == "" {
			continue
		}
		err := w.client.Get(ctx, client.ObjectKey{Name: p.Spec.NodeName}, &corev1.Node{})
		if err == nil || client.IgnoreNotFound(err) != nil {
			continue
		}
		if err := w.client.Delete(ctx, p, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}
