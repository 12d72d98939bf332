package catalog

import (
	"sync"
)

// interfaceRecord is a type in vpc.json, which gen/vpc.go writes.
type interfaceRecord struct {
	Branches int   `json:"b"`
	Cards    []int `json:"c"`
}

// interfaceTable decodes the embedded table of interfaces once, by type.
var interfaceTable = sync.OnceValues(func() (map[string]interfaceRecord, error) { //nolint:gochecknoglobals // a constant in a file
	return decodeFile("vpc", func(raw []byte) (map[string]interfaceRecord, error) {
		var out map[string]interfaceRecord
		err := unpack(raw, &out)
		return out, err
	})
})

// BranchENIs returns how many pods with security groups of their own (resource
// vpc.amazonaws.com/pod-eni) a type supports, 0 for types that are not in AWS's table. No
// EC2 call returns this, and it follows no rule.
// https://docs.aws.amazon.com/eks/latest/userguide/security-groups-for-pods.html
func BranchENIs(name string) int {
	all, err := interfaceTable()
	if err != nil {
		return 0 // TestBranchENIs reads the same file
	}
	return all[name].Branches
}

// cardENIs returns how many interfaces each network card of a type takes; one card with
// enis interfaces for types that are not in the table.
func cardENIs(name string, enis int) []int {
	all, err := interfaceTable()
	if cards := all[name].Cards; err == nil && len(cards) > 0 {
		return cards
	}
	return []int{enis}
}
