package v1

import (
	"encoding/json"
	"fmt"

	"spokeshave.dev/api/internal/drifthash"
)

// EC2NodeClassHashVersion goes into AnnotationEC2NodeClassHashVersion. It is
// Karpenter's version (provider for AWS 1.14), because Hash computes Karpenter's
// hash: either controller recognises the other's nodes.
const EC2NodeClassHashVersion = "v6"

// Hash digests what makes a node drift when it changes, as Karpenter does: the
// spec, the kubelet configuration as stored, the AMI family and the cluster's CA
// certificate (base64, "" when it is not known), which nodes are given at boot.
//
// The selector terms and ipPrefixCount are left out: what they select is compared
// with the instance itself. The AMI family counts as resolved, so that spelling
// out what the alias says changes nothing. The order of list elements does not
// matter. The hash depends on the names and the order of the fields of
// EC2NodeClassSpec and of the types below it; their hash tags say what is left
// out.
func (c *EC2NodeClass) Hash(clusterCA string) (string, error) {
	kubelet, err := canonicalKubelet(c.Spec.Kubelet)
	if err != nil {
		return "", fmt.Errorf("hash EC2NodeClass %s: %w", c.Name, err)
	}
	sum, err := drifthash.Sum([]any{c.Spec, c.AMIFamily(), kubelet, clusterCA})
	if err != nil {
		return "", fmt.Errorf("hash EC2NodeClass %s: %w", c.Name, err)
	}
	return sum, nil
}

// canonicalKubelet is the configuration as JSON with sorted keys and no spaces,
// "null" for none.
func canonicalKubelet(k *KubeletConfiguration) (string, error) {
	if k == nil {
		return "null", nil
	}
	source := k.Source
	if source == nil {
		var err error
		if source, err = json.Marshal(k); err != nil {
			return "", fmt.Errorf("encode kubelet configuration: %w", err)
		}
	}
	var value map[string]any
	if err := json.Unmarshal(source, &value); err != nil {
		return "", fmt.Errorf("read kubelet configuration: %w", err)
	}
	out, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("encode kubelet configuration: %w", err)
	}
	return string(out), nil
}
