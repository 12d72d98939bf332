package solver

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// noPorts is the number of the empty set of host ports.
const noPorts = -1

// portTable numbers the sets of host ports in use and knows which of them
// cannot share a node.
type portTable struct {
	ids   map[string]int32
	sets  [][]model.HostPort
	keys  []string
	edges [][]bool
}

// id numbers a set of host ports, noPorts when it is empty.
func (t *portTable) id(ports []model.HostPort) int32 {
	if len(ports) == 0 {
		return noPorts
	}
	key := portKey(ports)
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
		row[other] = portsClash(ports, t.sets[other])
	}
	t.edges = append(t.edges, row)
	return id
}

// clone is a table with the same numbers, which may go on to others.
func (t *portTable) clone() portTable {
	return portTable{ids: maps.Clone(t.ids), sets: slices.Clip(t.sets), keys: slices.Clip(t.keys), edges: slices.Clip(t.edges)}
}

// conflicts says whether two sets cannot share a node.
func (t *portTable) conflicts(a, b int32) bool {
	if a < 0 || b < 0 {
		return false
	}
	return t.edges[max(a, b)][min(a, b)]
}

// conflictsWithAny says whether set a cannot join a node that holds the others.
func (t *portTable) conflictsWithAny(a int32, others []int32) bool {
	if a < 0 {
		return false
	}
	for _, o := range others {
		if t.conflicts(a, o) {
			return true
		}
	}
	return false
}

// text identifies a set of host ports, whatever its number; "" for the empty set.
func (t *portTable) text(id int32) string {
	if id < 0 {
		return ""
	}
	return t.keys[id]
}

func portKey(ports []model.HostPort) string {
	parts := make([]string, len(ports))
	for i, p := range ports {
		parts[i] = fmt.Sprintf("%s/%s/%d", address(p.IP), protocol(p.Protocol), p.Port)
	}
	sort.Strings(parts)
	return strings.Join(parts, ",")
}

func portsClash(a, b []model.HostPort) bool {
	for i := range a {
		for j := range b {
			if portClash(&a[i], &b[j]) {
				return true
			}
		}
	}
	return false
}

// portClash follows the scheduler: a wildcard address takes the port on all.
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
