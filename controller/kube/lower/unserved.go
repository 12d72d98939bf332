package lower

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/model"
)

// unservedAfter is how long a scheduler may take to look at the first of its pods.
const unservedAfter = 5 * time.Minute

// unserved are the pods that wait for a scheduler which does not exist, as far as one can
// see: it has looked at none of its pods, and the oldest waits for long. They get no nodes,
// since nobody would bind them, and the reason is said of each.
type unserved struct {
	// schedulers are the names of those that do not exist.
	schedulers map[string]bool
	// pods are by their index in Snapshot.Pods, with the names of their schedulers.
	pods []unservedPod
}

type unservedPod struct {
	at        int32
	scheduler string
}

// unservedSchedulers returns the names of schedulers that nobody serves. The default
// scheduler is taken to exist.
func unservedSchedulers(pods []*corev1.Pod, now time.Time) map[string]bool {
	out := map[string]bool{}
	serves := map[string]bool{"": true, corev1.DefaultSchedulerName: true}
	for _, pod := range pods {
		name := pod.Spec.SchedulerName
		switch {
		case serves[name]:
		case pod.Spec.NodeName != "" || isSeen(pod):
			serves[name] = true
			delete(out, name)
		case lacksNode(pod, false) && !pod.CreationTimestamp.IsZero() && now.Sub(pod.CreationTimestamp.Time) >= unservedAfter:
			out[name] = true
		}
	}
	return out
}

// isSeen reports whether a scheduler has looked at the pod.
func isSeen(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
}

// waits reports whether the pod waits for a scheduler that does not exist.
func (u *unserved) waits(pod *corev1.Pod) bool {
	return u.schedulers[pod.Spec.SchedulerName] && !isSeen(pod) && lacksNode(pod, false)
}

// mark gives the pods specs that say why nothing can be planned for them.
func (u *unserved) mark(s *model.Snapshot) {
	type key struct {
		spec      int32
		scheduler string
	}
	marked := map[key]int32{}
	for _, pod := range u.pods {
		k := key{s.Pods[pod.at].Spec, pod.scheduler}
		spec, ok := marked[k]
		if !ok {
			own := s.Specs[k.spec]
			own.Unsupported = append(slices.Clip(own.Unsupported), fmt.Sprintf("schedulerName %q: no scheduler of this name has looked at any of its pods", k.scheduler))
			spec = int32(len(s.Specs))
			s.Specs = append(s.Specs, own)
			marked[k] = spec
		}
		s.Pods[pod.at].Spec = spec
	}
}
