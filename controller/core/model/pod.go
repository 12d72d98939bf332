package model

import (
	"strings"
	"time"
)

// PodSpec is everything about a pod that placement depends on. Pods of one
// Deployment share a PodSpec: work is done per spec, not per pod.
type PodSpec struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Requests are the effective requests: init containers, sidecars and
	// overhead included, and one pod slot.
	Requests     Resources         `json:"requests"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Affinity holds the required node affinity terms, of which one must
	// hold; nil asks for nothing.
	Affinity []Term `json:"affinity,omitempty"`
	// Pinned says that Affinity also holds where the pod's volumes are.
	// OwnAffinity is then what the pod itself requires: spread constraints
	// count nodes by that alone.
	Pinned      bool           `json:"pinned,omitempty"`
	OwnAffinity []Term         `json:"ownAffinity,omitempty"`
	Preferred   []WeightedTerm `json:"preferred,omitempty"`
	Tolerations []Toleration   `json:"tolerations,omitempty"`
	HostPorts   []HostPort     `json:"hostPorts,omitempty"`
	Priority    int32          `json:"priority,omitempty"`
	// Spread holds the topology spread constraints, hard and soft.
	Spread []Spread `json:"spread,omitempty"`
	// PodAffinity and PodAntiAffinity must all hold. Anti-affinity is
	// symmetric: a pod's term also keeps matching pods out of its domain.
	PodAffinity     []PodTerm `json:"podAffinity,omitempty"`
	PodAntiAffinity []PodTerm `json:"podAntiAffinity,omitempty"`
	// PreferredPods and PreferredApart are the preferred pod affinity and
	// anti-affinity.
	PreferredPods  []WeightedPodTerm `json:"preferredPods,omitempty"`
	PreferredApart []WeightedPodTerm `json:"preferredApart,omitempty"`
	// Unsupported names what the pod requires and the model has no words for
	// (say, "resourceClaims"). Such pods are reported, never placed where the
	// scheduler would then refuse them.
	Unsupported []string `json:"unsupported,omitempty"`
}

// Pod is one pod, pending or bound.
type Pod struct {
	UID       string `json:"uid"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Workload is who the pod runs for: kind and name of what controls it
	// ("Deployment/web"); empty for a pod of its own.
	Workload string `json:"workload,omitempty"`
	// Spec indexes Snapshot.Specs.
	Spec int32 `json:"spec"`
	// Node indexes Snapshot.Nodes: where the pod runs or is planned to run;
	// -1 while it has no place.
	Node    int32     `json:"node"`
	Created time.Time `json:"created,omitzero"`
	// DoNotDisrupt mirrors the annotation karpenter.sh/do-not-disrupt.
	DoNotDisrupt bool `json:"doNotDisrupt,omitempty"`
	// HeldUntil is when DoNotDisrupt ends, where the annotation is a duration.
	HeldUntil time.Time `json:"heldUntil,omitzero"`
	// Daemon says that a DaemonSet owns the pod: it neither holds a node nor
	// needs a new place.
	Daemon bool `json:"daemon,omitempty"`
	// Job says that a Job owns the pod: work that is lost when it goes.
	Job bool `json:"job,omitempty"`
	// Ending says that the pod is being deleted: it takes room for a while,
	// and needs no new place. Spread constraints do not count it, affinity
	// does.
	Ending bool `json:"ending,omitempty"`
	// Unready says that the pod runs and is not ready: disruption budgets may
	// let such a pod go.
	Unready bool `json:"unready,omitempty"`
	// DeletionCost mirrors controller.kubernetes.io/pod-deletion-cost.
	DeletionCost int32 `json:"deletionCost,omitempty"`
	// StartUp is how many seconds passed from the pod's binding until it was
	// ready, pulling its image included; 0 is not known.
	StartUp uint16 `json:"startUpSeconds,omitempty"`
	// Final says that nothing for us to place follows the pod when it goes:
	// nothing makes it again, or another scheduler has what does.
	Final bool `json:"final,omitempty"`
}

// Static says that a node controls the pod: nobody can evict it.
func (p *Pod) Static() bool { return strings.HasPrefix(p.Workload, "Node/") }

// Move is a pod that is on one node, or on none yet, and planned for another.
type Move struct {
	// Pod indexes Snapshot.Pods, From and To Snapshot.Nodes; From is -1 for a pod
	// that waits. Pod.Node is the one of both that plans count with: From as
	// long as nothing obliges the pod to leave it.
	Pod  int32 `json:"pod"`
	From int32 `json:"from"`
	To   int32 `json:"to"`
}

// Key is namespace/name.
func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }

// PodBudget is a PodDisruptionBudget: how many of the pods it selects may be
// evicted now.
type PodBudget struct {
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	Selector  PodSelector `json:"selector"`
	Allowed   int32       `json:"allowed"`
	// FreesUnready says that pods that are not ready may be evicted whatever
	// Allowed is: by unhealthyPodEvictionPolicy AlwaysAllow, or because enough
	// others are healthy.
	FreesUnready bool `json:"freesUnready,omitempty"`
}

// DaemonSet is the pod that each matching node will run beside its workload.
type DaemonSet struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Spec      PodSpec `json:"spec"`
}
