package bootstrap

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// MaxUserData is the number of bytes of user data that EC2 takes, before base64.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html
const MaxUserData = 16384

// UserData is what the instance boots with, in the AMI family's own format,
// merged with the class's own user data. More than EC2 takes is an error.
func UserData(class *awsv1.EC2NodeClass, in Node) (string, error) {
	out, err := merged(class, in)
	if err == nil && len(out) > MaxUserData {
		return "", fmt.Errorf("spec.userData: with what nodes are told it is %d bytes, and EC2 takes %d; load large files from S3 or put them into the image", len(out), MaxUserData)
	}
	return out, err
}

func merged(class *awsv1.EC2NodeClass, in Node) (string, error) {
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

// al2023UserData is a MIME archive with the class's own parts first and our NodeConfig
// last. nodeadm merges NodeConfigs in order, and a later one replaces what an earlier one
// says: nodes are what was planned, and the class's other settings hold.
// https://awslabs.github.io/amazon-eks-ami/nodeadm/
func al2023UserData(own string, in Node) (string, error) {
	parts, err := ownParts(own, awsv1.AMIFamilyAL2023)
	if err != nil {
		return "", err
	}
	config, err := nodeConfig(own, in)
	if err != nil {
		return "", err
	}
	return writeArchive(append(parts, part{contentType: mimeNodeConfig, body: config}))
}

// readDocument reads a YAML document with fields; nil for any other text.
func readDocument(text string) map[string]any {
	var out map[string]any
	if yaml.Unmarshal([]byte(text), &out) != nil || len(out) == 0 {
		return nil
	}
	return out
}

// ownParts reads the class's own user data: a MIME archive, on AL2023 a NodeConfig, else
// a shell script. One that does not name its interpreter, which cloud-init refuses to run,
// is one for bash.
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
	}
	document := readDocument(text)
	if document == nil {
		return []part{{contentType: mimeScript, body: "#!/bin/bash\n" + text + "\n"}}, nil
	}
	if family != awsv1.AMIFamilyAL2023 {
		return nil, fmt.Errorf("spec.userData: %s takes a MIME multi-part archive or a shell script; this is YAML that begins with %q", family, head(text))
	}
	if document["kind"] != "NodeConfig" {
		return nil, fmt.Errorf("spec.userData: AL2023 takes a MIME multi-part archive, a NodeConfig or a shell script; this is YAML of another kind that begins with %q", head(text))
	}
	return []part{{contentType: mimeNodeConfig, body: text + "\n"}}, nil
}

// SetsMaxPods says that the class's own user data may set how many pods kubelet takes.
// Nodes are then told the number that was planned with.
func SetsMaxPods(class *awsv1.EC2NodeClass) bool {
	if class.Spec.UserData == nil {
		return false
	}
	switch class.AMIFamily() {
	case awsv1.AMIFamilyAL2023:
		return containsAny(*class.Spec.UserData, "maxPods", "podsPerCore", maxPodsFlag)
	case awsv1.AMIFamilyBottlerocket:
		return strings.Contains(*class.Spec.UserData, "max-pods")
	default:
		return false
	}
}

// maxPodsFlag is kubelet's flag, which prevails over its configuration.
const maxPodsFlag = "--max-pods"

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
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

// nodeConfig is the NodeConfig that nodeadm reads; own is the class's user data. YAML has
// sorted keys, so that the same node always has the same user data.
func nodeConfig(own string, in Node) (string, error) {
	if in.Cluster.ServiceCIDR == "" {
		return "", fmt.Errorf("AL2023 nodes must be told the cluster's service range, and EKS does not tell that of %s; use images of another family", in.Cluster.Name)
	}
	kubelet, err := kubeletConfig(in.Kubelet)
	if err != nil {
		return "", err
	}
	flags := []string{"--node-labels=" + labelFlag(in.Labels), "--register-with-taints=" + taintFlag(in.Taints)}
	if in.Kubelet != nil && in.Kubelet.MaxPods != nil && strings.Contains(own, maxPodsFlag) {
		flags = append(flags, maxPodsFlag+"="+strconv.Itoa(int(*in.Kubelet.MaxPods)))
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
			"flags":  flags,
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
