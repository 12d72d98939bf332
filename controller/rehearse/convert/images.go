package convert

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// family is a family of images: its alias, and the disk that pods' data is on.
type family struct{ alias, device string }

// families returns the image families, by EKS's amiType without architecture and variant, and
// by eksctl's amiFamily.
func families() map[string]family {
	return map[string]family{
		"AL2":                   {"al2", "/dev/xvda"},
		"AL2023":                {"al2023", "/dev/xvda"},
		"AMAZONLINUX2":          {"al2", "/dev/xvda"},
		"AMAZONLINUX2023":       {"al2023", "/dev/xvda"},
		"BOTTLEROCKET":          {"bottlerocket", "/dev/xvdb"},
		"WINDOWS_CORE_2019":     {"windows2019", "/dev/sda1"},
		"WINDOWS_CORE_2022":     {"windows2022", "/dev/sda1"},
		"WINDOWS_CORE_2025":     {"windows2025", "/dev/sda1"},
		"WINDOWSSERVER2019CORE": {"windows2019", "/dev/sda1"},
		"WINDOWSSERVER2022CORE": {"windows2022", "/dev/sda1"},
		"WINDOWSSERVER2025CORE": {"windows2025", "/dev/sda1"},
	}
}

// image sets the images by amiType (AL2023_x86_64_STANDARD) or amiFamily (AmazonLinux2023),
// all of the family or the one with an id, and the architecture where the name says it. It
// returns the disk of pods' data, "" where the family is not known.
func (d *draft) image(name, id, field string) string {
	upper := strings.ToUpper(name)
	all, longest := families(), ""
	for prefix := range all {
		if strings.HasPrefix(upper, prefix) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	f, ok := all[longest]
	if !ok {
		d.need(field, "images %q have no counterpart: set amiFamily and amiSelectorTerms of the class", name)
		return ""
	}
	d.class.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: f.alias + "@" + awsv1.AliasLatest}}
	if alias, ok := (&awsv1.EC2NodeClass{Spec: d.class}).Alias(); ok && id != "" {
		d.class.AMIFamily, d.class.AMISelectorTerms = &alias.Family, []awsv1.AMISelectorTerm{{ID: id}}
	} else {
		d.note(field, "images are those of the alias %s@latest: a new release replaces the nodes. Name a version in place of latest where changes are rolled out by hand", f.alias)
	}
	switch {
	case strings.Contains(upper, "ARM_64") || strings.Contains(upper, "ARM64") || strings.Contains(upper, "AARCH64"):
		d.require(corev1.LabelArchStable, corev1.NodeSelectorOpIn, karpv1.ArchitectureArm64)
	case strings.Contains(upper, "X86_64"):
		d.require(corev1.LabelArchStable, corev1.NodeSelectorOpIn, karpv1.ArchitectureAmd64)
	}
	if strings.HasPrefix(f.alias, "windows") {
		d.require(corev1.LabelOSStable, corev1.NodeSelectorOpIn, string(corev1.Windows))
	}
	return f.device
}

// imageID sets one image, which nobody says the family of.
func (d *draft) imageID(id, field string) {
	d.class.AMISelectorTerms = []awsv1.AMISelectorTerm{{ID: id}}
	custom := awsv1.AMIFamilyCustom
	d.class.AMIFamily = &custom
	d.note(field, "image %s gets the group's user data as it is (amiFamily Custom). If it is one of Amazon's, an alias such as al2023@latest in its place brings updates, and user data that follows the NodePool's labels and taints", id)
}
