package wire

import (
	"bytes"
	"testing"

	"spokeshave.dev/controller/core/policy"
)

// TestIdsOutlastOtherBatches: batches without a catalogue between two rank
// batches neither change the ids of the second nor carry the catalogue.
func TestIdsOutlastOtherBatches(t *testing.T) {
	var e Encoder
	encode := func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(b)
	}
	in := rankInput(100)
	in.Generation = 5
	before := encode(e.rankBatch(in))
	launches := []policy.Launch{{NodePool: "zz", InstanceType: "aa.large", Family: "aa", Zone: "m3i"}}
	first := encode(e.ceilingBatch(&policy.CeilingInput{Launches: launches}))
	encode(e.consolidateBatch(&policy.ConsolidateInput{Candidates: []policy.Candidate{{Node: "n", InstanceType: "bb.large"}}}))
	if again := encode(e.ceilingBatch(&policy.CeilingInput{Launches: launches})); !bytes.Equal(first, again) {
		t.Error("a batch depends on those before it")
	}
	if bytes.Contains(first, []byte("us-west-2a")) {
		t.Error("a batch about launches carries the catalogue")
	}
	if after := encode(e.rankBatch(in)); !bytes.Equal(before, after) {
		t.Error("the same batch was encoded in two ways within a generation")
	}
	in.Generation = 0
	zero := encode(e.rankBatch(in))
	in.Rows[0].InstanceType, in.Rows[50].InstanceType = in.Rows[50].InstanceType, "new.large"
	encode(e.rankBatch(in))
	if fresh := encode(new(Encoder).rankBatch(rankInputGeneration0(100))); !bytes.Equal(zero, fresh) {
		t.Error("a batch without a generation depends on those before it")
	}
}

func rankInputGeneration0(n int) *policy.RankInput {
	in := rankInput(n)
	in.Generation = 0
	return in
}
