package model

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Snapshot is the whole input of a decision besides the policies. It must not be
// changed after it has been built.
type Snapshot struct {
	Time    time.Time `json:"time"`
	Seed    uint64    `json:"seed"`
	Cluster string    `json:"cluster,omitempty"`

	Settings Settings `json:"settings,omitzero"`

	Pools    []Pool      `json:"pools"`
	Catalogs []Catalog   `json:"catalogs"`
	Nodes    []Node      `json:"nodes"`
	Specs    []PodSpec   `json:"specs"`
	Pods     []Pod       `json:"pods"`
	Daemons  []DaemonSet `json:"daemons"`
	// Moves are the pods that are on another node than planned, in order of pod,
	// each once. The accounts charge a pod to the node where it is.
	Moves []Move `json:"moves,omitempty"`
	// Spent is what each scope has cost since the month began, from the ledger, in
	// order of scope. nil means that there is no ledger; the cost of the running
	// instances is used then. An empty list is different from nil, in files too.
	Spent []Spent `json:"spent"`
	// SpentDoubt says why Spent may be too low, and what to do about it; "" when Spent
	// is exact. While it is set, hard monthly caps let nothing through.
	SpentDoubt string `json:"spentDoubt,omitempty"`
	// Budgets are the PodDisruptionBudgets.
	Budgets []PodBudget `json:"budgets,omitempty"`
	// Departed are the nodes that began to terminate within the last hour.
	Departed []Departure `json:"departed,omitempty"`
}

// Spent is what a scope ("cluster", "nodepool/<name>", "label/<key>=<value>",
// "namespace/<name>") has cost since the month began, in micro-dollars.
type Spent struct {
	Scope string `json:"scope"`
	Micro int64  `json:"micro"`
}

// Digest returns a hash of the snapshot's contents. Equal snapshots have equal
// digests on every machine. It encodes the whole snapshot, so callers should keep
// the result.
func (s *Snapshot) Digest() (string, error) {
	sum := sha256.New()
	if err := s.Encode(sum); err != nil {
		return "", fmt.Errorf("digest: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Verify returns an error when an index is out of range. Decisions assume that all
// indexes are valid, which a snapshot from a file may not satisfy.
func (s *Snapshot) Verify() error {
	for i := range s.Pools {
		if c := s.Pools[i].Catalog; c < -1 || int(c) >= len(s.Catalogs) {
			return fmt.Errorf("pools[%d].catalog is %d, of %d", i, c, len(s.Catalogs))
		}
	}
	for i := range s.Nodes {
		if p := s.Nodes[i].Pool; p < -1 || int(p) >= len(s.Pools) {
			return fmt.Errorf("nodes[%d].pool is %d, of %d", i, p, len(s.Pools))
		}
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node < -1 || int(p.Node) >= len(s.Nodes) {
			return fmt.Errorf("pods[%d].node is %d, of %d", i, p.Node, len(s.Nodes))
		}
		if p.Spec < 0 || int(p.Spec) >= len(s.Specs) {
			return fmt.Errorf("pods[%d].spec is %d, of %d", i, p.Spec, len(s.Specs))
		}
	}
	for i := range s.Moves {
		m := &s.Moves[i]
		if m.Pod < 0 || int(m.Pod) >= len(s.Pods) || m.From < -1 || int(m.From) >= len(s.Nodes) || m.To < 0 || int(m.To) >= len(s.Nodes) {
			return fmt.Errorf("moves[%d] is %+v, of %d pods and %d nodes", i, *m, len(s.Pods), len(s.Nodes))
		}
	}
	return nil
}

// Departure is a node that began to terminate, for whatever reason.
type Departure struct {
	// Claim is the name of its NodeClaim, Pool that of its NodePool.
	Claim string    `json:"claim"`
	Pool  string    `json:"pool"`
	Time  time.Time `json:"time"`
	// Pods counts the pods that had to leave, without those of DaemonSets.
	Pods int `json:"pods"`
}

// ForMoved reports whether one of the nodes was launched for pods that may have had to move.
func (s *Snapshot) ForMoved(nodes []int32) bool {
	return slices.ContainsFunc(nodes, func(i int32) bool { return s.Nodes[i].ForMoved })
}

// moveTime is how long after its node began to terminate an evicted pod may still be waiting for
// another one, once the node is gone.
const moveTime = 10 * time.Minute

// PodsMove reports whether pods may be waiting for a node because theirs is leaving, or left
// within the last moveTime.
func (s *Snapshot) PodsMove() bool {
	leaving := map[string]bool{}
	for i := range s.Nodes {
		if s.Nodes[i].State == Deleting {
			leaving[s.Nodes[i].Claim] = true
		}
	}
	return slices.ContainsFunc(s.Departed, func(d Departure) bool {
		return d.Pods > 0 && (leaving[d.Claim] || s.Time.Sub(d.Time) < moveTime)
	})
}

// Settings are the operator's settings that affect plans.
type Settings struct {
	// IgnorePreferences is preferencePolicy: Ignore. Preferences are then not
	// considered. Otherwise they are respected, and dropped one at a time for a pod
	// that cannot be placed with them.
	IgnorePreferences bool `json:"ignorePreferences,omitempty"`
	// RelaxMinValues is minValuesPolicy: BestEffort. A node that cannot satisfy its
	// pool's minValues is then planned with the available options.
	RelaxMinValues bool `json:"relaxMinValues,omitempty"`
	// SpotToSpot lets consolidation replace spot nodes by other spot nodes
	// (the feature gate SpotToSpotConsolidation).
	SpotToSpot bool `json:"spotToSpot,omitempty"`
	// StaticCapacity enables static pools (the feature gate of the same name).
	StaticCapacity bool `json:"staticCapacity,omitempty"`
	// MoveCost is what the move of a pod has to save per hour, unless its pool says
	// otherwise. A pod counts as its disruption cost says.
	MoveCost Price `json:"moveCost,omitempty"`
}

// DefaultMoveCost is the default of Settings.MoveCost. docs/measurements/consolidation.md
// has the measurements.
const DefaultMoveCost Price = 700

// NodeCost returns what every node of a pool costs per hour besides its instance.
func (s *Snapshot) NodeCost(pool int32) Price {
	if pool < 0 || int(pool) >= len(s.Pools) {
		return 0
	}
	at := s.Pools[pool].Catalog
	if at < 0 || int(at) >= len(s.Catalogs) {
		return 0
	}
	return s.Catalogs[at].NodeCost
}

// NeedsPlace reports whether a plan must find a place for the pod: it has no node,
// or its node is being deleted. It is false for pods of DaemonSets, which run where
// their nodes are, for pods that are not recreated, and for pods that nothing evicts.
func (s *Snapshot) NeedsPlace(p *Pod) bool {
	if p.Daemon || p.Final || p.Unevictable || p.Ending && !p.Returns() {
		return false
	}
	return p.Node < 0 || s.Nodes[p.Node].State == Deleting
}
