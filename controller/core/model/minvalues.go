package model

// MinValuesRelaxed reports whether a planned node has fewer different values of a key
// than its pool's minValues want, which Settings.RelaxMinValues allows.
func (s *Snapshot) MinValuesRelaxed(n *PlannedNode) bool {
	pool := &s.Pools[n.Pool]
	for i := range pool.Requirements {
		if r := &pool.Requirements[i]; r.MinValues > 0 && s.distinct(pool, n.Options, r.Key) < r.MinValues {
			return true
		}
	}
	return false
}

// distinct counts the different values of a label among options of a pool.
func (s *Snapshot) distinct(pool *Pool, options []Option, key string) int {
	found := map[string]bool{}
	for i := range options {
		o := &options[i]
		switch key {
		case "node.kubernetes.io/instance-type":
			found[o.InstanceType] = true
		case "topology.kubernetes.io/zone":
			found[o.Zone] = true
		case "karpenter.sh/capacity-type":
			found[string(o.CapacityType)] = true
		default:
			if value, ok := s.labelOf(pool, o.InstanceType, key); ok {
				found[value] = true
			}
		}
	}
	return len(found)
}

func (s *Snapshot) labelOf(pool *Pool, instanceType, key string) (string, bool) {
	if pool.Catalog < 0 {
		return "", false
	}
	types := s.Catalogs[pool.Catalog].Types
	for i := range types {
		if types[i].Name == instanceType {
			value, ok := types[i].Labels[key]
			return value, ok
		}
	}
	return "", false
}
