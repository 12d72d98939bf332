package check

import (
	"math/big"

	"spokeshave.dev/controller/core/model"
)

// labelSet is a node's labels, spelt out. anonymous nodes have a hostname that
// is not known yet.
type labelSet struct {
	values    map[string]string
	anonymous bool
}

const hostname = "kubernetes.io/hostname"

// meets evaluates one requirement, by the rules of node selectors.
func (l *labelSet) meets(r model.Requirement) bool {
	value, has := l.values[r.Key]
	if r.Key == hostname && l.anonymous {
		// Any name, but none that could be written down.
		return r.Operator == model.Exists || r.Operator == model.NotIn
	}
	listed := false
	for _, v := range r.Values {
		if has && v == value {
			listed = true
		}
	}
	switch r.Operator {
	case model.In:
		return listed
	case model.NotIn:
		return !listed
	case model.Exists:
		return has
	case model.DoesNotExist:
		return !has
	case model.Gt, model.Lt, model.Gte, model.Lte:
		return has && len(r.Values) == 1 && ordered(r.Operator, value, r.Values[0])
	}
	return false
}

func ordered(op model.Operator, value, bound string) bool {
	x, ok1 := new(big.Int).SetString(value, 10)
	y, ok2 := new(big.Int).SetString(bound, 10)
	if !ok1 || !ok2 {
		return false
	}
	c := x.Cmp(y)
	return op == model.Gt && c > 0 || op == model.Lt && c < 0 || op == model.Gte && c >= 0 || op == model.Lte && c <= 0
}

// admits evaluates a pod's node selector and required node affinity.
func (l *labelSet) admits(s *model.PodSpec) bool {
	for key, value := range s.NodeSelector {
		if !l.meets(model.Requirement{Key: key, Operator: model.In, Values: []string{value}}) {
			return false
		}
	}
	if len(s.Affinity) == 0 {
		return true
	}
	for _, term := range s.Affinity {
		holds := len(term) > 0
		for _, r := range term {
			holds = holds && l.meets(r)
		}
		if holds {
			return true
		}
	}
	return false
}

// repels is the first taint that keeps the pod away.
func repels(taints []model.Taint, s *model.PodSpec) (model.Taint, bool) {
	for _, t := range taints {
		if t.Effect != model.NoSchedule && t.Effect != model.NoExecute {
			continue
		}
		tolerated := false
		for _, o := range s.Tolerations {
			sameKey := o.Key == t.Key || o.Key == "" && o.Exists
			sameValue := o.Exists || o.Compare == "" && o.Value == t.Value || o.Compare != "" && integer(o.Value) && integer(t.Value) && ordered(o.Compare, t.Value, o.Value)
			sameEffect := o.Effect == t.Effect || o.Effect == ""
			tolerated = tolerated || sameKey && sameValue && sameEffect
		}
		if !tolerated {
			return t, true
		}
	}
	return model.Taint{}, false
}

// integer says whether a taint's value can be compared: digits, without a sign
// but minus and without leading zeros, of 64 bits.
func integer(text string) bool {
	n, ok := new(big.Int).SetString(text, 10)
	return ok && n.IsInt64() && n.String() == text
}

// collide says whether two lists of host ports contend for a port.
func collide(a, b []model.HostPort) bool {
	every := func(ip string) bool { return ip == "" || ip == "0.0.0.0" }
	tcp := func(p string) bool { return p == "" || p == "TCP" }
	for _, x := range a {
		for _, y := range b {
			sameProtocol := x.Protocol == y.Protocol || tcp(x.Protocol) && tcp(y.Protocol)
			if x.Port == y.Port && sameProtocol && (x.IP == y.IP || every(x.IP) || every(y.IP)) {
				return true
			}
		}
	}
	return false
}

// demand sums pods' requests; each takes a slot.
func demand(sum model.Resources, s *model.PodSpec) {
	for name, n := range s.Requests {
		sum[name] += n
	}
	if s.Requests["pods"] < 1 {
		sum["pods"] += 1 - s.Requests["pods"]
	}
}
