package constraint

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// NoPorts is the number of the empty set of host ports.
const NoPorts = -1

// Ports numbers the different sets of host ports of pods and DaemonSets, and knows
// which of them cannot share a node. The zero value has none.
type Ports struct {
	ids   map[string]int32
	sets  [][]model.HostPort
	keys  []string
	edges [][]bool
}

// ID numbers a set of host ports, NoPorts when it is empty.
func (t *Ports) ID(ports []model.HostPort) int32 {
	if len(ports) == 0 {
		return NoPorts
	}
	key := PortText(ports)
	if id, ok := t.ids[key]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[string]int32{}
	}
	id := int32(len(t.sets))
	t.ids[key] = id
	t.sets = append(t.sets, ports)
	t.keys = append(t.keys, key)
	row := make([]bool, id+1)
	for other := range row {
		row[other] = PortsClash(ports, t.sets[other])
	}
	t.edges = append(t.edges, row)
	return id
}

// Clone returns a copy; numbers given out by the one are unknown to the other.
func (t *Ports) Clone() Ports {
	return Ports{ids: maps.Clone(t.ids), sets: slices.Clip(t.sets), keys: slices.Clip(t.keys), edges: slices.Clip(t.edges)}
}

// Conflicts says whether pods of sets a and b cannot share a node. Negative numbers
// conflict with nothing.
func (t *Ports) Conflicts(a, b int32) bool {
	if a < 0 || b < 0 {
		return false
	}
	return t.edges[max(a, b)][min(a, b)]
}

// ConflictsWithAny says whether a pod of set a cannot join a node with pods of the
// others.
func (t *Ports) ConflictsWithAny(a int32, others []int32) bool {
	if a < 0 {
		return false
	}
	for _, o := range others {
		if t.Conflicts(a, o) {
			return true
		}
	}
	return false
}

// text identifies a set of host ports, whatever its number; "" for the empty set.
func (t *Ports) text(id int32) string {
	if id < 0 {
		return ""
	}
	return t.keys[id]
}

// PortText identifies a set of host ports, in whatever order.
func PortText(ports []model.HostPort) string {
	parts := make([]string, len(ports))
	for i, p := range ports {
		parts[i] = fmt.Sprintf("%s/%s/%d", address(p.IP), protocol(p.Protocol), p.Port)
	}
	sort.Strings(parts)
	return strings.Join(parts, ",")
}

// PortsClash says whether pods with these host ports cannot share a node.
func PortsClash(a, b []model.HostPort) bool {
	for i := range a {
		for j := range b {
			if portClash(&a[i], &b[j]) {
				return true
			}
		}
	}
	return false
}

// portClash follows the scheduler: a pod on the wildcard address takes the port on
// all addresses.
func portClash(a, b *model.HostPort) bool {
	if a.Port != b.Port || protocol(a.Protocol) != protocol(b.Protocol) {
		return false
	}
	x, y := address(a.IP), address(b.IP)
	return x == "" || y == "" || x == y
}

func address(ip string) string {
	if ip == "0.0.0.0" {
		return ""
	}
	return ip
}

func protocol(p string) string {
	if p == "" {
		return "TCP"
	}
	return p
}
