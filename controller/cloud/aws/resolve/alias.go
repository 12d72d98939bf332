package resolve

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/bootstrap"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// variant is one image of an alias: its SSM parameter and the instances it fits.
type variant struct {
	parameter    string
	requirements []corev1.NodeSelectorRequirement
	// optional variants may be missing from a release.
	optional bool
}

// aliasVariants lists the images behind an alias, for a version of Kubernetes.
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id-bottlerocket.html
func aliasVariants(alias awsv1.Alias, kubernetes string) ([]variant, error) {
	switch alias.Family {
	case awsv1.AMIFamilyAL2023:
		return al2023Variants(alias.Version, kubernetes), nil
	case awsv1.AMIFamilyBottlerocket:
		return bottlerocketVariants(alias.Version, kubernetes), nil
	case awsv1.AMIFamilyAL2:
		if after(kubernetes, lastAL2) {
			return nil, client.Refuse(provider.Invalid, "alias al2@%s: EKS makes images of Amazon Linux 2 up to Kubernetes %s, and the cluster has %s; use al2023 or bottlerocket",
				alias.Version, lastAL2, kubernetes)
		}
		return al2Variants(alias.Version, kubernetes), nil
	}
	if year, build, ok := bootstrap.WindowsRelease(alias.Family); ok {
		return windowsVariants(year, build, kubernetes), nil
	}
	return nil, client.Refuse(provider.Invalid, "alias %s@%s: no such family of images", strings.ToLower(alias.Family), alias.Version)
}

// lastAL2 is the last version of Kubernetes that there are images of Amazon Linux 2 for.
// https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html
const lastAL2 = "1.32"

// after says whether a version of Kubernetes, major.minor, is later than another. One that
// cannot be read is not.
func after(version, than string) bool {
	a, errA := utilversion.ParseGeneric(version)
	b, errB := utilversion.ParseGeneric(than)
	return errA == nil && errB == nil && b.LessThan(a)
}

// al2Variants lists the images of Amazon Linux 2. One image serves both kinds of accelerator.
func al2Variants(version, kubernetes string) []variant {
	var out []variant
	for _, each := range []struct{ suffix, arch, kind string }{
		{"", "amd64", "standard"}, {"-gpu", "amd64", "nvidia"}, {"-gpu", "amd64", "neuron"}, {"-arm64", "arm64", "standard"},
	} {
		release := "recommended"
		if version != awsv1.AliasLatest {
			release = fmt.Sprintf("amazon-eks%s-node-%s-%s", each.suffix, kubernetes, version)
		}
		out = append(out, variant{
			parameter:    fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2%s/%s/image_id", kubernetes, each.suffix, release),
			requirements: fitting(each.arch, each.kind),
			optional:     each.suffix != "",
		})
	}
	return out
}

// windowsVariants is the one image of a Windows release.
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-windows-ami-id.html
func windowsVariants(year, build, kubernetes string) []variant {
	return []variant{{
		parameter: fmt.Sprintf("/aws/service/ami-windows-latest/Windows_Server-%s-English-Core-EKS_Optimized-%s/image_id", year, kubernetes),
		requirements: []corev1.NodeSelectorRequirement{
			archRequirement("amd64"),
			{Key: corev1.LabelOSStable, Operator: corev1.NodeSelectorOpIn, Values: []string{string(corev1.Windows)}},
			{Key: corev1.LabelWindowsBuild, Operator: corev1.NodeSelectorOpIn, Values: []string{build}},
		},
	}}
}

func al2023Variants(version, kubernetes string) []variant {
	var out []variant
	for _, arch := range []string{"amd64", "arm64"} {
		for _, kind := range []string{"standard", "nvidia", "neuron"} {
			if kind == "neuron" && arch == "arm64" {
				continue
			}
			ec2Arch := ec2Arch(arch)
			release := "recommended"
			if version != awsv1.AliasLatest {
				release = fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-%s", ec2Arch, kind, kubernetes, version)
			}
			out = append(out, variant{
				parameter:    fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/%s/%s/image_id", kubernetes, ec2Arch, kind, release),
				requirements: fitting(arch, kind),
				optional:     kind != "standard",
			})
		}
	}
	return out
}

func bottlerocketVariants(version, kubernetes string) []variant {
	release := strings.TrimPrefix(version, "v")
	var out []variant
	for _, arch := range []string{"amd64", "arm64"} {
		// The standard image of amd64 has the driver of Neuron devices.
		for _, kind := range []string{"standard", "nvidia", "neuron"} {
			if kind == "neuron" && arch == "arm64" {
				continue
			}
			suffix := ""
			if kind == "nvidia" {
				suffix = "-nvidia"
			}
			out = append(out, variant{
				parameter:    fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-%s%s/%s/%s/image_id", kubernetes, suffix, ec2Arch(arch), release),
				requirements: fitting(arch, kind),
				optional:     kind != "standard",
			})
		}
	}
	return out
}

// fitting are the labels of the instances that a kind of image is for.
func fitting(arch, kind string) []corev1.NodeSelectorRequirement {
	out := []corev1.NodeSelectorRequirement{archRequirement(arch)}
	switch kind {
	case "nvidia":
		return append(out, corev1.NodeSelectorRequirement{Key: awsv1.LabelInstanceGPUCount, Operator: corev1.NodeSelectorOpExists})
	case "neuron":
		return append(out, corev1.NodeSelectorRequirement{Key: awsv1.LabelInstanceAcceleratorCount, Operator: corev1.NodeSelectorOpExists})
	default:
		return append(out,
			corev1.NodeSelectorRequirement{Key: awsv1.LabelInstanceGPUCount, Operator: corev1.NodeSelectorOpDoesNotExist},
			corev1.NodeSelectorRequirement{Key: awsv1.LabelInstanceAcceleratorCount, Operator: corev1.NodeSelectorOpDoesNotExist})
	}
}

func archRequirement(arch string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{arch}}
}

func ec2Arch(arch string) string {
	if arch == "amd64" {
		return "x86_64"
	}
	return arch
}
