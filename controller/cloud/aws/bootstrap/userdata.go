package bootstrap

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"strings"

	"sigs.k8s.io/yaml"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// UserData is what the instance boots with, in the AMI family's own format,
// merged with the class's own user data.
func UserData(class *awsv1.EC2NodeClass, in Node) (string, error) {
	own := ""
	if class.Spec.UserData != nil {
		own = *class.Spec.UserData
	}
	switch family := class.AMIFamily(); family {
	case awsv1.AMIFamilyAL2023:
		return al2023UserData(own, in)
	case awsv1.AMIFamilyBottlerocket:
		return bottlerocketUserData(own, in)
	case awsv1.AMIFamilyAL2:
		return al2UserData(own, in)
	case awsv1.AMIFamilyWindows2019, awsv1.AMIFamilyWindows2022, awsv1.AMIFamilyWindows2025:
		return windowsUserData(own, in)
	case awsv1.AMIFamilyCustom:
		return own, nil
	default:
		return "", fmt.Errorf("spec.amiFamily: %q is not a family; use AL2, AL2023, Bottlerocket, Windows2019, Windows2022, Windows2025 or Custom", family)
	}
}

// al2023UserData is a MIME archive with our NodeConfig first and the class's
// own parts after it: nodeadm merges NodeConfigs in order, so that the class's
// values win.
// https://awslabs.github.io/amazon-eks-ami/nodeadm/
func al2023UserData(own string, in Node) (string, error) {
	config, err := nodeConfig(in)
	if err != nil {
		return "", err
	}
	parts := []part{{contentType: mimeNodeConfig, body: config}}
	more, err := ownParts(own, awsv1.AMIFamilyAL2023)
	if err != nil {
		return "", err
	}
	return writeArchive(append(parts, more...))
}

// ownParts reads the class's own user data: a MIME archive, a script, or, on
// AL2023, a NodeConfig.
func ownParts(own, family string) ([]part, error) {
	text := strings.TrimSpace(own)
	switch {
	case text == "":
		return nil, nil
	case strings.HasPrefix(text, "#!"):
		return []part{{contentType: mimeScript, body: text + "\n"}}, nil
	case isArchive(text):
		parts, err := readArchive(text)
		if err != nil {
			return nil, fmt.Errorf("spec.userData: %w", err)
		}
		return parts, nil
	case family != awsv1.AMIFamilyAL2023:
		return nil, fmt.Errorf("spec.userData: %s takes a MIME multi-part archive, or a script that begins with #!; this begins with %q", family, head(text))
	}
	var config struct {
		Kind string `json:"kind"`
	}
	if err := yaml.Unmarshal([]byte(text), &config); err == nil && config.Kind == "NodeConfig" {
		return []part{{contentType: mimeNodeConfig, body: text + "\n"}}, nil
	}
	return nil, fmt.Errorf("spec.userData: AL2023 takes a MIME multi-part archive, a NodeConfig, or a script that begins with #!; this begins with %q", head(text))
}

func isArchive(text string) bool {
	message, err := mail.ReadMessage(strings.NewReader(text + "\n"))
	return err == nil && message.Header.Get("Content-Type") != ""
}

func head(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if len(line) > 40 {
		line = line[:40]
	}
	return line
}

// nodeConfig is the NodeConfig that nodeadm reads. YAML has sorted keys, so
// that the same node always has the same user data.
func nodeConfig(in Node) (string, error) {
	if in.Cluster.ServiceCIDR == "" {
		return "", fmt.Errorf("AL2023 nodes must be told the cluster's service range, and EKS does not tell that of %s; use images of another family", in.Cluster.Name)
	}
	kubelet, err := kubeletConfig(in.Kubelet)
	if err != nil {
		return "", err
	}
	spec := map[string]any{
		"cluster": map[string]any{
			"name":                 in.Cluster.Name,
			"apiServerEndpoint":    in.Cluster.Endpoint,
			"certificateAuthority": in.Cluster.CA,
			"cidr":                 in.Cluster.ServiceCIDR,
		},
		"kubelet": map[string]any{
			"config": kubelet,
			"flags": []string{
				"--node-labels=" + labelFlag(in.Labels),
				"--register-with-taints=" + taintFlag(in.Taints),
			},
		},
	}
	if in.RAID0 {
		spec["instance"] = map[string]any{"localStorage": map[string]any{"strategy": "RAID0"}}
	}
	out, err := yaml.Marshal(map[string]any{"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec})
	if err != nil {
		return "", fmt.Errorf("write NodeConfig: %w", err)
	}
	return string(out), nil
}

// kubeletConfig is the class's kubelet section under kubelet's own names.
func kubeletConfig(k *awsv1.KubeletConfiguration) (map[string]any, error) {
	out := map[string]any{}
	if k == nil {
		return out, nil
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return nil, fmt.Errorf("write spec.kubelet: %w", err)
	}
	if err := yaml.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("write spec.kubelet: %w", err)
	}
	return out, nil
}
