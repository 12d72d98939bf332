package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Snapshot is the whole input of a decision besides the policies. It is a
// value: nobody changes it once it has been built.
type Snapshot struct {
	Time    time.Time `json:"time"`
	Seed    uint64    `json:"seed"`
	Cluster string    `json:"cluster,omitempty"`

	Pools    []Pool      `json:"pools"`
	Catalogs []Catalog   `json:"catalogs"`
	Nodes    []Node      `json:"nodes"`
	Specs    []PodSpec   `json:"specs"`
	Pods     []Pod       `json:"pods"`
	Daemons  []DaemonSet `json:"daemons"`
}

// Digest identifies the snapshot's contents: equal snapshots have equal
// digests, on every machine. It costs an encoding of the whole snapshot, so
// that callers keep it.
func (s *Snapshot) Digest() (string, error) {
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(s); err != nil {
		return "", fmt.Errorf("digest snapshot: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
