package handmade

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/tools/reference/oracle"
)

// running is a node of a NodePool, two hours old, on which nothing has changed for an hour
// unless it is Settling.
type running struct {
	Name string `json:"name"`
	// Pool is the number of its NodePool.
	Pool int    `json:"pool"`
	Type string `json:"type"`
	// Zone is us-west-2a, and Capacity on-demand, when empty.
	Zone     string `json:"zone"`
	Capacity string `json:"capacity"`
	// Labels, Annotations and Taints are those of the node besides what every node has,
	// ClaimAnnotations those of its NodeClaim.
	Labels           map[string]string `json:"labels"`
	Annotations      map[string]string `json:"annotations"`
	ClaimAnnotations map[string]string `json:"claimAnnotations"`
	Taints           []object          `json:"taints"`
	// Settling: its last pod came ten seconds ago.
	Settling bool `json:"settling"`
	// Missing is the first condition that its NodeClaim lacks: Registered or Initialized.
	Missing string `json:"missing"`
}

// objects are the NodeClaim and the node.
func (r *running) objects(types *model.Catalog) ([]any, error) {
	at := slices.IndexFunc(types.Types, func(t model.InstanceType) bool { return t.Name == r.Type })
	if at < 0 {
		return nil, fmt.Errorf("node %s: no instance type %q", r.Name, r.Type)
	}
	t := &types.Types[at]
	zone, capacity := r.Zone, r.Capacity
	if zone == "" {
		zone = "us-west-2a"
	}
	if capacity == "" {
		capacity = string(model.OnDemand)
	}
	labels := maps.Clone(t.Labels)
	maps.Copy(labels, map[string]string{
		"karpenter.sh/nodepool": fmt.Sprint("pool-", r.Pool), "karpenter.sh/capacity-type": capacity,
		"topology.kubernetes.io/zone": zone, "topology.k8s.aws/zone-id": zoneID(t, zone), "topology.kubernetes.io/region": types.Region,
	})
	maps.Copy(labels, r.Labels)
	ofNode := maps.Clone(labels)
	ofNode["kubernetes.io/hostname"] = r.Name
	status := object{"capacity": quantities(t.Capacity), "allocatable": quantities(t.Allocatable)}
	ofClaim := maps.Clone(status)
	ofClaim["nodeName"], ofClaim["providerID"] = r.Name, "aws:///"+r.Name
	last := now().Add(-time.Hour)
	if r.Settling {
		last = now().Add(-10 * time.Second)
	}
	ofClaim["lastPodEventTime"] = last.Format(time.RFC3339)
	var conditions []any
	for _, c := range []string{"Launched", "Registered", "Initialized"} {
		if c == r.Missing {
			break
		}
		conditions = append(conditions, object{"type": c, "status": "True", "reason": c, "message": "", "lastTransitionTime": now().Add(-2 * time.Hour).Format(time.RFC3339)})
		if c != "Launched" {
			ofNode["karpenter.sh/"+map[string]string{"Registered": "registered", "Initialized": "initialized"}[c]] = "true"
		}
	}
	ofClaim["conditions"] = conditions
	status["conditions"] = []any{object{"type": "Ready", "status": "True"}}
	class := object{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
	return []any{
		object{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": object{
			"name": r.Name, "uid": "claim-" + r.Name, "labels": labels, "annotations": r.ClaimAnnotations, "creationTimestamp": now().Add(-2 * time.Hour).Format(time.RFC3339),
		}, "spec": object{"nodeClassRef": class, "requirements": []any{}}, "status": ofClaim},
		object{"apiVersion": "v1", "kind": "Node", "metadata": object{
			"name": r.Name, "uid": r.Name, "labels": ofNode, "annotations": r.Annotations,
		}, "spec": object{"providerID": "aws:///" + r.Name, "taints": r.Taints}, "status": status},
	}, nil
}

func zoneID(t *model.InstanceType, zone string) string {
	for i := range t.Offerings {
		if t.Offerings[i].Zone == zone {
			return t.Offerings[i].ZoneID
		}
	}
	return ""
}

func quantities(r model.Resources) map[string]resource.Quantity {
	out := map[string]resource.Quantity{}
	for name, q := range oracle.Quantities(r) {
		out[string(name)] = q
	}
	return out
}
