package model

import (
	"strings"
	"time"
)

// PodSpec is everything about a pod that its placement depends on. Pods of one
// Deployment share a PodSpec, and most work is done once per spec.
//
// Size: one field for each part of a pod's spec that decides where it may run.
type PodSpec struct {
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels,omitempty"`
	// Requests are the effective requests: init containers, sidecars and
	// overhead included, and one pod slot.
	Requests     Resources         `json:"requests"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Affinity holds the required node affinity terms. At least one must hold; nil
	// requires nothing.
	Affinity []Term `json:"affinity,omitempty"`
	// Pinned is set when Affinity also contains the location of the pod's volumes.
	// OwnAffinity then holds the pod's own terms, which alone decide which nodes its
	// spread constraints count.
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
	// Unsupported names requirements of the pod that the model cannot express, such
	// as "resourceClaims". Such pods are reported and not placed.
	Unsupported []string `json:"unsupported,omitempty"`
}

// Pod is one pod, pending or bound.
//
// Size: everything that a decision asks about a pod besides its spec; snapshots store it
// in this form.
type Pod struct {
	UID       string `json:"uid"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Workload is the kind and name of the pod's controller ("Deployment/web");
	// empty for a pod without one.
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
	// Daemon is set when a DaemonSet owns the pod. It does not keep a node from
	// being empty and needs no other place.
	Daemon bool `json:"daemon,omitempty"`
	// Job is set when a Job owns the pod. Its work is lost when it is evicted.
	Job bool `json:"job,omitempty"`
	// Ending is set while the pod is being deleted. It still uses its node and needs
	// no other place, unless it Returns. Spread constraints do not count it, affinity
	// does.
	Ending bool `json:"ending,omitempty"`
	// Unready is set when the pod runs and is not ready. A PodDisruptionBudget may
	// allow the eviction of such a pod.
	Unready bool `json:"unready,omitempty"`
	// DeletionCost mirrors controller.kubernetes.io/pod-deletion-cost.
	DeletionCost int32 `json:"deletionCost,omitempty"`
	// StartUp is how many seconds passed from the pod's binding until it was
	// ready, pulling its image included; 0 is not known.
	StartUp uint16 `json:"startUpSeconds,omitempty"`
	// Unevictable is set when the pod's node is being deleted and nothing evicts the pod
	// from it: it needs no other place before it ends.
	Unevictable bool `json:"unevictable,omitempty"`
	// Final is set when no new pod has to be placed after this one is evicted:
	// nothing recreates it, or another scheduler places its successor.
	Final bool `json:"final,omitempty"`
	// Announced is set for a pod that does not exist yet: its owner ("kind/namespace/name")
	// has said that it will create it. The name and UID are those of no pod. Nothing may be
	// written about it.
	Announced string `json:"announced,omitempty"`
	// Held, when set, says why no place is looked for although the pod needs one: an
	// earlier decision about it failed, or could not be applied, or it waits for others.
	Held *Reason `json:"held,omitempty"`
}

// Exists reports whether the pod has been created; false for one that is only announced.
func (p *Pod) Exists() bool { return p.Announced == "" }

// Static reports whether a node controls the pod, so that it cannot be evicted.
func (p *Pod) Static() bool { return strings.HasPrefix(p.Workload, "Node/") }

// Returns reports whether the pod will be made again under its name once it has ended: its
// StatefulSet makes it only then, so that until then no pending pod asks for the place.
func (p *Pod) Returns() bool { return strings.HasPrefix(p.Workload, "StatefulSet/") }

// Move is a pod on one node, or on none yet, that is planned for another node.
type Move struct {
	// Pod indexes Snapshot.Pods; From and To index Snapshot.Nodes. From is -1 for a
	// pending pod. Pod.Node is the one that plans use: From as long as the pod does
	// not have to leave it.
	Pod  int32 `json:"pod"`
	From int32 `json:"from"`
	To   int32 `json:"to"`
}

// Key returns namespace/name.
func (p *Pod) Key() string { return p.Namespace + "/" + p.Name }

// PodBudget is a PodDisruptionBudget. Allowed is how many of the selected pods may
// be evicted now.
type PodBudget struct {
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	Selector  PodSelector `json:"selector"`
	Allowed   int32       `json:"allowed"`
	// FreesUnready is set when pods that are not ready may be evicted whatever
	// Allowed is: by unhealthyPodEvictionPolicy AlwaysAllow, or because enough other
	// pods are healthy.
	FreesUnready bool `json:"freesUnready,omitempty"`
}

// DaemonSet is the pod that each matching node will run beside its workload.
type DaemonSet struct {
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Spec      PodSpec `json:"spec"`
}

// maxOwnerName is how much of a DaemonSet's name its pods' names have, in bytes:
// the random suffix must fit into the 63 bytes of a label.
const maxOwnerName = 57

// Owns reports whether a DaemonSet pod belongs to the set. It compares names: such a
// pod's name is the set's name and a random suffix.
func (d *DaemonSet) Owns(pod *Pod) bool {
	prefix := d.Name[:min(len(d.Name), maxOwnerName)]
	suffix, ok := strings.CutPrefix(pod.Name, prefix+"-")
	return ok && pod.Namespace == d.Namespace && !strings.Contains(suffix, "-")
}
