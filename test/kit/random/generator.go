package random

import (
	"math/rand/v2"

	"spokeshave.dev/controller/core/model"
)

const gib = 1 << 30

// The well-known labels that the snapshots use.
const (
	labelZone         = "topology.kubernetes.io/zone"
	labelZoneID       = "topology.k8s.aws/zone-id"
	labelHostname     = "kubernetes.io/hostname"
	labelArch         = "kubernetes.io/arch"
	labelOS           = "kubernetes.io/os"
	labelInstanceType = "node.kubernetes.io/instance-type"
	labelCapacityType = "karpenter.sh/capacity-type"
	labelPool         = "karpenter.sh/nodepool"
)

// Generator draws from a seeded source. What a method returns depends on the
// seed and on all calls before.
//
// Size: one method for each part of a random cluster.
type Generator struct {
	*rand.Rand

	// Snapshot is the cluster made so far: Question replaces it, Topology and
	// RunPods add to it.
	Snapshot *model.Snapshot
}

// New is a generator with an empty snapshot.
func New(seed uint64) *Generator {
	return &Generator{Rand: rand.New(rand.NewPCG(seed, 1)), Snapshot: &model.Snapshot{}}
}

// Pick draws one of the values, all equally likely.
func Pick[T any](g interface{ IntN(n int) int }, xs ...T) T { return xs[g.IntN(len(xs))] }

// Chance is true with probability p, from 0 to 1.
func (g *Generator) Chance(p float64) bool { return g.Float64() < p }
