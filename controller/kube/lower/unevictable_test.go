package lower

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestUnevictable: for a pod that stays on its deleting node until it ends, no place is
// kept elsewhere meanwhile.
func TestUnevictable(t *testing.T) {
	const (
		deleted = `metadata: {deletionTimestamp: "2026-03-04T11:59:00Z"}, spec: {}`
		protect = `annotations: {karpenter.sh/do-not-disrupt: "true"}`
		never   = `{metadata: {namespace: shop, name: never}, spec: {maxUnavailable: 0, selector: {matchLabels: {app: web}}}}`
		all     = `{metadata: {namespace: shop, name: all}, spec: {minAvailable: 100%, selector: {}}}`
		always  = `{metadata: {namespace: shop, name: always}, spec: {maxUnavailable: 0%, unhealthyPodEvictionPolicy: AlwaysAllow, selector: {}}}`
		now     = `{metadata: {namespace: shop, name: now}, spec: {maxUnavailable: 1, selector: {}}}`
		unready = `conditions: [{type: Ready, status: "False"}]`
	)
	cases := map[string]struct {
		reason                    string
		claim, meta, spec, status string
		budgets                   []string
		needs                     bool
	}{
		"free":            {reason: "an evicted pod needs a place", claim: deleted, needs: true},
		"protected":       {reason: "do-not-disrupt keeps the pod until it ends", claim: deleted, meta: protect},
		"protection over": {reason: "after its duration the pod is evicted", claim: deleted, meta: `annotations: {karpenter.sh/do-not-disrupt: 5m}`, needs: true},
		"node stays":      {reason: "a pod of a node that stays needs nothing", claim: `metadata: {}, spec: {}`, meta: protect},
		"ends soon": {
			reason: "shortly before the deadline the pod will be deleted", meta: protect, needs: true,
			claim: `metadata: {deletionTimestamp: "2026-03-04T11:00:00Z", annotations: {karpenter.sh/nodeclaim-termination-timestamp: "2026-03-04T12:09:00Z"}}, spec: {terminationGracePeriod: 69m}`,
		},
		"ends late": {
			reason: "long before it the pod may well end by itself", meta: protect,
			claim: `metadata: {deletionTimestamp: "2026-03-04T11:00:00Z", annotations: {karpenter.sh/nodeclaim-termination-timestamp: "2026-03-04T20:00:00Z"}}, spec: {terminationGracePeriod: 9h}`,
		},
		"no deadline yet": {
			reason: "the deadline is known before it is written down", meta: protect, needs: true,
			claim: `metadata: {deletionTimestamp: "2026-03-04T11:59:00Z"}, spec: {terminationGracePeriod: 5m}`,
		},
		"no eviction ever": {reason: "a budget that allows none keeps the pod", claim: deleted, budgets: []string{never}},
		"all available":    {reason: "minAvailable 100% allows none", claim: deleted, budgets: []string{all}},
		"none now":         {reason: "a budget that allows none at the moment will allow one", claim: deleted, budgets: []string{now}, needs: true},
		"two budgets":      {reason: "the Eviction API refuses pods with two", claim: deleted, budgets: []string{now, all}},
		"unready":          {reason: "AlwaysAllow lets an unready pod go", claim: deleted, status: unready, budgets: []string{always}, needs: true},
		"unready, never":   {reason: "other budgets do not", claim: deleted, status: unready, budgets: []string{all}},
		"tolerant":         {reason: "nobody asks the budget for a pod that ends with its node", claim: deleted, spec: `tolerations: [{operator: Exists}],`, budgets: []string{never}, needs: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Inputs{Time: noon, Live: true}
			in.Nodes = []*corev1.Node{parse[corev1.Node](t, `{metadata: {name: n}, status: {allocatable: {cpu: "2", pods: "10"}}}`)}
			in.NodeClaims = []*karpv1.NodeClaim{claim(t, "c", fmt.Sprintf(`{%s, status: {nodeName: n}}`, tc.claim))}
			in.Pods = []*corev1.Pod{parse[corev1.Pod](t, fmt.Sprintf(`{metadata: {name: p, namespace: shop, creationTimestamp: "2026-03-04T11:00:00Z", labels: {app: web},
				ownerReferences: [{kind: ReplicaSet, name: web, controller: true}], %s}, spec: {%s nodeName: n}, status: {%s}}`, tc.meta, tc.spec, tc.status))}
			for _, text := range tc.budgets {
				in.PodBudgets = append(in.PodBudgets, parse[policyv1.PodDisruptionBudget](t, text))
			}
			s, _ := Build(in)
			if got := s.NeedsPlace(&s.Pods[0]); got != tc.needs {
				t.Errorf("%s: needs a place: %v, want %v", tc.reason, got, tc.needs)
			}
		})
	}
}
