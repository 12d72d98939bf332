package lower

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// TestAnnouncedPods follows the pods of a ReplicaSet of four from the first one on, with
// the claim "coming" on which places are planned for the others.
func TestAnnouncedPods(t *testing.T) {
	const owner = "ReplicaSet/shop/web"
	coming := func(places int, condition string) string {
		return fmt.Sprintf(`{metadata: {annotations: {spokeshave.dev/planned-pods: '["shop/web-0"]', spokeshave.dev/announced-pods: '{"%s":%d}'}}, spec: {}, status: {nodeName: coming, conditions: [%s]}}`, owner, places, condition)
	}
	initialized := func(before time.Duration) string {
		return fmt.Sprintf(`{type: Initialized, status: "True", lastTransitionTime: %q}`, announcingAt.Add(-before).Format(time.RFC3339))
	}
	pods := func(n int, change ...func(*corev1.Pod)) []*corev1.Pod {
		var out []*corev1.Pod
		for i := range n {
			out = append(out, ownedPod("ReplicaSet", i, 1, change...))
		}
		return out
	}
	// intruder leaves two places on the node "coming".
	intruder := parse[corev1.Pod](t, `{metadata: {namespace: zoo, name: z}, spec: {nodeName: coming, containers: [{name: a, resources: {requests: {cpu: 19800m}}}]}}`)
	later := func(seconds float64) []*corev1.Pod {
		return []*corev1.Pod{ownedPod("ReplicaSet", 0, seconds)}
	}
	// came tolerates the reservation of the node "coming".
	came := func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{karpv1.ReservedToleration("coming")} }
	boundThere := func(p *corev1.Pod) {
		bound(p)
		p.Spec.NodeName = "coming"
	}
	for name, tc := range map[string]struct {
		reason string
		claim  string
		pods   []*corev1.Pod
		after  string // consolidateAfter
		// letIn is a pod that was let onto the node "coming".
		letIn string
		// silent says that the owner is not known to be creating pods.
		silent bool
		// nodes are where the pods of the snapshot are, -1 for none; announced is how many of
		// them, the last ones, do not exist.
		nodes     []int32
		announced int
		nominated bool
		adopted   []string
		withdrawn []string
	}{
		"first pod":    {reason: "nothing is planned yet", pods: pods(1), nodes: []int32{-1, -1, -1, -1}, announced: 3},
		"two exist":    {reason: "pods that exist are not announced; one that is not tried yet counts with its owner's", pods: append(pods(1), ownedPod("ReplicaSet", 1, 0, untried)), nodes: []int32{-1, -1, -1, -1}, announced: 2},
		"all exist":    {reason: "as above, when there is nobody left to announce", pods: append(pods(1), ownedPod("ReplicaSet", 1, 0, untried), ownedPod("ReplicaSet", 2, 0, untried), ownedPod("ReplicaSet", 3, 0, untried)), nodes: []int32{-1, -1, -1, -1}},
		"planned":      {reason: "none is planned twice", claim: coming(3, ""), pods: pods(1), nodes: []int32{0, 0, 0, 0}, announced: 3, nominated: true},
		"partly":       {reason: "for one of them no place was found", claim: coming(2, ""), pods: pods(1), nodes: []int32{0, 0, 0, -1}, announced: 3, nominated: true},
		"they come":    {reason: "a pod takes a place of its owner", claim: coming(3, ""), pods: pods(3), nodes: []int32{0, 0, 0, 0}, announced: 1, nominated: true, adopted: []string{"coming shop/web-1 " + owner, "coming shop/web-2 " + owner}},
		"let in":       {reason: "a pod that was let in has taken its place, whatever its name", claim: coming(1, ""), pods: append(pods(1), ownedPod("ReplicaSet", 1, 1), ownedPod("ReplicaSet", 2, 1, came)), nodes: []int32{0, -1, 0, -1}, announced: 1, nominated: true, adopted: []string{"coming shop/web-2 " + owner}},
		"let in, late": {reason: "as above, before the pod shows it: the decision gives it no second place", claim: coming(1, ""), letIn: "shop/web-2", pods: append(pods(1), ownedPod("ReplicaSet", 1, 1), ownedPod("ReplicaSet", 2, 1)), nodes: []int32{0, -1, 0, -1}, announced: 1, nominated: true, adopted: []string{"coming shop/web-2 " + owner}},
		"and bound":    {reason: "it is on the node, and the place is nobody else's", claim: coming(2, ""), pods: append(pods(1), ownedPod("ReplicaSet", 1, 1, boundThere)), nodes: []int32{0, 0, 0, -1}, announced: 2, nominated: true, adopted: []string{"coming shop/web-1 " + owner}},
		"named":        {reason: "a pod that the claim names takes no further place, though it tolerates the node", claim: coming(2, ""), pods: []*corev1.Pod{ownedPod("ReplicaSet", 0, 1, came)}, nodes: []int32{0, 0, 0, -1}, announced: 3, nominated: true},
		"all come":     {reason: "and nothing is announced any more", claim: coming(3, ""), pods: pods(4), nodes: []int32{0, 0, 0, 0}, nominated: true, adopted: []string{"coming shop/web-1 " + owner, "coming shop/web-2 " + owner, "coming shop/web-3 " + owner}},
		"elsewhere":    {reason: "two have found a place of their own: the places are free", claim: coming(3, ""), pods: append(pods(1), ownedPod("ReplicaSet", 1, 1, bound), ownedPod("ReplicaSet", 2, 1, bound)), nodes: []int32{0, 1, 1, 0}, announced: 1, nominated: true, withdrawn: []string{"coming " + owner + " 2"}},
		"no more":      {reason: "none has come for too long: the places are free", claim: coming(3, ""), silent: true, pods: later(11), nodes: []int32{0}, nominated: true, withdrawn: []string{"coming " + owner + " 3"}},
		"ready":        {reason: "the node waits for them", claim: coming(3, initialized(4*time.Second)), silent: true, pods: pods(1, bound), nodes: []int32{1}, withdrawn: []string{"coming " + owner + " 3"}},
		"ready, two":   {reason: "the node waits for them while one pod waits", claim: coming(3, initialized(4*time.Second)), after: "5s", pods: pods(1), nodes: []int32{0, 0, 0, 0}, announced: 3, nominated: true},
		"room taken":   {reason: "others have taken the room of two: these are planned anew, and nothing is kept for them", claim: coming(3, initialized(4*time.Second)), pods: append(pods(1), intruder), nodes: []int32{0, 0, 0, -1, -1}, announced: 3, nominated: true, withdrawn: []string{"coming " + owner + " 1", "coming " + owner + " 1"}},
		"overdue":      {reason: "the node has waited for consolidateAfter: nothing is announced while it exists, so that no other is bought", claim: coming(3, initialized(6*time.Second)), after: "5s", pods: pods(1), nodes: []int32{0}, nominated: true},
		"never":        {reason: "no consolidation: 30 s at most", claim: coming(3, initialized(29*time.Second)), after: "Never", pods: pods(1), nodes: []int32{0, 0, 0, 0}, announced: 3, nominated: true},
		"never, old":   {reason: "as above", claim: coming(3, initialized(31*time.Second)), after: "Never", pods: pods(1), nodes: []int32{-1}},
	} {
		t.Run(name, func(t *testing.T) {
			in := replicaSet(4)
			in.Time, in.Live, in.Pods = announcingAt, true, tc.pods
			in.Catalogs = map[string]model.Catalog{"default": testCatalog()}
			pool := parse[karpv1.NodePool](t, poolYAML)
			if tc.after == "" {
				tc.after = "30s"
			}
			if err := pool.Spec.Disruption.ConsolidateAfter.UnmarshalJSON([]byte(`"` + tc.after + `"`)); err != nil {
				t.Fatal(err)
			}
			in.NodePools = []*karpv1.NodePool{pool}
			in.Nodes = []*corev1.Node{parse[corev1.Node](t, `{metadata: {name: node}, status: {allocatable: {cpu: "20", pods: "10"}}}`)}
			if tc.claim != "" {
				in.NodeClaims = []*karpv1.NodeClaim{claim(t, "coming", tc.claim)}
				in.NodeClaims[0].UID = "coming"
				in.Nodes = append(in.Nodes, parse[corev1.Node](t, `{metadata: {name: coming}, status: {allocatable: {cpu: "20", pods: "10"}}}`))
			}
			var adopted, withdrawn []string
			in.LetIn = func(pod string) string { return map[string]string{tc.letIn: "coming"}[pod] }
			in.Adopt = func(claim, pod, owner string) { adopted = append(adopted, claim+" "+pod+" "+owner) }
			in.Withdraw = func(claim, owner string, n int) { withdrawn = append(withdrawn, fmt.Sprint(claim, " ", owner, " ", n)) }
			var expected map[types.UID]bool
			in.Announces = func(owners, _, _ map[types.UID]bool) { expected = owners }
			s, _ := Build(in)
			var nodes []int32
			announced := 0
			for i := range s.Pods {
				p := &s.Pods[i]
				nodes = append(nodes, p.Node)
				if p.Announced == "" {
					continue
				}
				announced++
				if p.Announced != owner || p.Spec != s.Pods[0].Spec || p.Namespace != "shop" || p.Workload != s.Pods[0].Workload {
					t.Errorf("announced pod %+v is not like %+v", p, &s.Pods[0])
				}
			}
			if diff := cmp.Diff(tc.nodes, nodes); diff != "" {
				t.Errorf("%s: nodes of the pods (-want +got):\n%s", tc.reason, diff)
			}
			if announced != tc.announced || expected[ownerUID("ReplicaSet", "web")] == tc.silent {
				t.Errorf("%s: %d pods are announced, want %d; creating %v", tc.reason, announced, tc.announced, expected)
			}
			if diff := cmp.Diff(tc.adopted, adopted); diff != "" {
				t.Errorf("%s: pods that took places (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.withdrawn, withdrawn); diff != "" {
				t.Errorf("%s: places given up (-want +got):\n%s", tc.reason, diff)
			}
			if tc.claim != "" && s.Nodes[0].Nominated != tc.nominated {
				t.Errorf("%s: nominated %v", tc.reason, s.Nodes[0].Nominated)
			}
		})
	}
}

// TestAnnouncedVolumes: the volumes of a StatefulSet's next pods may have to be in any
// zone, while the pods of a ReplicaSet share theirs.
func TestAnnouncedVolumes(t *testing.T) {
	mounts := func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	}
	set := statefulSet(3, "Parallel")
	set.Pods = []*corev1.Pod{ownedPod("StatefulSet", 0, 1, mounts)}
	rs := replicaSet(3)
	rs.Pods = []*corev1.Pod{ownedPod("ReplicaSet", 0, 1, mounts)}
	claim := parse[corev1.PersistentVolumeClaim](t, `{metadata: {name: data, namespace: shop}, spec: {volumeName: v}}`)
	volume := parse[corev1.PersistentVolume](t, `{metadata: {name: v}, spec: {claimRef: {namespace: shop, name: data}}}`)
	for kind, tc := range map[string]struct {
		in   Inputs
		want int
	}{"StatefulSet": {set, 1}, "ReplicaSet": {rs, 3}} {
		in := tc.in
		in.Time, in.Live = announcingAt, true
		in.VolumeClaims, in.Volumes = []*corev1.PersistentVolumeClaim{claim}, []*corev1.PersistentVolume{volume}
		if s, _ := Build(in); len(s.Pods) != tc.want {
			t.Errorf("%s: %d pods, want %d", kind, len(s.Pods), tc.want)
		}
	}
}
