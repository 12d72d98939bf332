package convert

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// set returns a set of field names.
func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}

// fields returns the names of a JSON object's fields that have a value, sorted.
func fields(raw json.RawMessage) []string {
	var all map[string]json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil // reading it into its type has failed before
	}
	maps.DeleteFunc(all, func(_ string, v json.RawMessage) bool {
		return slices.Contains([]string{"null", "[]", "{}", `""`, "false", "0"}, string(v))
	})
	return slices.Sorted(maps.Keys(all))
}

// leftOut notes the fields that are not carried over.
func (d *draft) leftOut(present []string, carried map[string]bool, prefix string) {
	for _, name := range present {
		if !carried[name] {
			d.note(prefix+name, "is not carried over; an EC2NodeClass or a NodePool may have a field for it")
		}
	}
}

// jsonNumber is a number that is written as one or as a string.
type jsonNumber string

// UnmarshalJSON implements json.Unmarshaler.
func (n *jsonNumber) UnmarshalJSON(raw []byte) error {
	*n = jsonNumber(strings.Trim(string(raw), `"`))
	return nil
}

func (n jsonNumber) int() int { v, _ := strconv.Atoi(string(n)); return v } // 0 for no number: such a version is never the latest

// ours returns what begins the tags that the controller sets itself, or AWS.
func ours() []string {
	return []string{"aws:", "eks:", "kubernetes.io/cluster/", "karpenter.sh/", "karpenter.k8s.aws/", "k8s.io/cluster-autoscaler/", "alpha.eksctl.io/", "eksctl.cluster.k8s.io/"}
}

// tags carries the tags of instances over. Those of tools that own the group stay behind.
func (d *draft) tags(all map[string]string, field string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(ours(), func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			continue
		}
		if key == "Name" {
			d.note(field, "tag Name is left out: instances are named after their NodePool and cluster")
			continue
		}
		if d.class.Tags == nil {
			d.class.Tags = map[string]string{}
		}
		d.class.Tags[key] = all[key]
	}
}

// lifetime limits the age of nodes, in seconds; 0 is none.
func (d *draft) lifetime(seconds int, field string) {
	if seconds > 0 {
		text := strconv.Itoa(seconds) + "s"
		if seconds%3600 == 0 {
			text = strconv.Itoa(seconds/3600) + "h"
		}
		d.pool.Template.Spec.ExpireAfter = karpv1.NillableDuration(text)
		d.note(field, "nodes expire after %s", d.pool.Template.Spec.ExpireAfter)
	}
}
