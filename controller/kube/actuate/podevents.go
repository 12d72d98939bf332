package actuate

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/announce"
)

// TellUnplaced sends an event on every pod that the plan could not place, with the reasons,
// once per text; none on pods that wait for a rollout. pools are by name.
func (r *Reporter) TellUnplaced(s *model.Snapshot, pools map[string]*karpv1.NodePool, d *decide.Decision) {
	for i := range d.Plan.Unplaced {
		u := &d.Plan.Unplaced[i]
		if len(u.Reasons) == 1 && u.Reasons[0].Code == model.WaitsForRollout {
			continue
		}
		pod := &s.Pods[u.Pod]
		text := JoinReasons(u.Reasons)
		if pod.Node >= 0 {
			text = "no other place yet, and node " + s.Nodes[pod.Node].Name + " is going: " + text
		}
		if about := eventObject(s, pools, pod); about != nil && r.isNew(types.UID(pod.UID), text) {
			r.Events.Eventf(about, nil, corev1.EventTypeWarning, karpv1.EventFailedScheduling, "Plan", "%s", text)
		}
	}
	r.pruneTexts(s)
}

// JoinReasons joins reasons into one text, cut to what an event takes.
func JoinReasons(reasons []model.Reason) string {
	parts := make([]string, 0, len(reasons))
	for i := range reasons {
		parts = append(parts, reasons[i].Message)
	}
	return announce.Cut(strings.Join(parts, "; "), announce.NoteLimit)
}

// isNew reports whether the text differs from the last one recorded for the object, and
// records it.
func (r *Reporter) isNew(uid types.UID, text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lastTexts == nil {
		r.lastTexts = map[types.UID]string{}
	}
	if r.lastTexts[uid] == text {
		return false
	}
	r.lastTexts[uid] = text
	return true
}

// pruneTexts drops all recorded texts once there are far more than objects. Some events are
// then sent again.
func (r *Reporter) pruneTexts(s *model.Snapshot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lastTexts) < 2*(len(s.Pods)+len(s.Nodes))+1000 {
		return
	}
	r.lastTexts = map[types.UID]string{}
}

// eventObject returns the object on which events about a pod are sent. It is the NodePool
// of a placeholder, since no such pod exists, and nil when that pool is gone. It is nil
// for an announced pod: the pods of its owner that exist are told.
func eventObject(s *model.Snapshot, pools map[string]*karpv1.NodePool, p *model.Pod) runtime.Object {
	spec := &s.Specs[p.Spec]
	if p.Announced != "" {
		return nil
	}
	if !spec.HoldsPlace() {
		return podRef(p)
	}
	if pool := pools[spec.NodeSelector[karpv1.LabelNodePool]]; pool != nil {
		return pool
	}
	return nil
}

func podRef(p *model.Pod) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name, UID: types.UID(p.UID)},
	}
}
