package catalog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/quantity"
	"spokeshave.dev/controller/core/model"
)

// ForClass returns how the kubelet settings, the disks and the instance store policy of a
// node class change what its nodes hold. It does not set Zones and OS. The error names the
// field of the class whose text cannot be parsed.
func ForClass(class *awsv1.EC2NodeClass) (Options, error) {
	out := Options{NodeClass: class.Name, RootVolume: rootVolume(class.AMIFamily(), class.Disks())}
	out.ReserveByInterfaces = reservesByInterfaces(class.AMIFamily())
	out.InstanceStoreRAID0 = class.Spec.InstanceStorePolicy != nil && *class.Spec.InstanceStorePolicy == awsv1.InstanceStoreRAID0
	out.Needs = needsOf(class)
	if public := class.Spec.AssociatePublicIPAddress; public != nil && *public {
		out.MaxEFAs = 1 // EC2 gives a public address to instances with one interface only
	}
	k := class.Spec.Kubelet
	if k == nil {
		return out, nil
	}
	if k.MaxPods != nil {
		out.MaxPods = new(int(*k.MaxPods))
	}
	if k.PodsPerCore != nil {
		out.PodsPerCore = int(*k.PodsPerCore)
	}
	if k.Problem != "" {
		return Options{}, errors.New("spec.kubelet." + k.Problem)
	}
	var err error
	if out.Reserved, err = ParseReserved(k.KubeReserved, k.SystemReserved, k.EvictionHard); err != nil {
		return Options{}, fmt.Errorf("spec.kubelet.%w", err)
	}
	return out, nil
}

// ParseReserved parses what kubelet keeps from pods: its settings kubeReserved and
// systemReserved, by resource, and evictionHard, by signal. An eviction threshold is a
// quantity or a percentage of the capacity. Soft thresholds do not shrink what a node
// offers, and no signals but memory.available and nodefs.available do.
func ParseReserved(kube, system, evictionHard map[string]string) (Reserved, error) {
	o := Reserved{EvictionHard: model.Resources{}, EvictionShare: map[string]float64{}}
	var err error
	if o.Kube, err = quantity.Parse(kube); err != nil {
		return Reserved{}, fmt.Errorf("kubeReserved.%w", err)
	}
	if o.System, err = quantity.Parse(system); err != nil {
		return Reserved{}, fmt.Errorf("systemReserved.%w", err)
	}
	resourceOf := map[string]string{"memory.available": model.Memory, "nodefs.available": model.EphemeralStorage}
	thresholds := map[string]string{}
	for signal, name := range resourceOf {
		text, ok := evictionHard[signal]
		if !ok {
			continue
		}
		number, isShare := strings.CutSuffix(text, "%")
		if !isShare {
			thresholds[signal] = text
			continue
		}
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent >= 0 && percent <= 100) {
			return Reserved{}, fmt.Errorf("evictionHard.%s: %q is not a percentage from 0%% to 100%%", signal, text)
		}
		o.EvictionShare[name] = percent / 100
	}
	amounts, err := quantity.Parse(thresholds)
	if err != nil {
		return Reserved{}, fmt.Errorf("evictionHard.%w", err)
	}
	for signal, n := range amounts {
		o.EvictionHard[resourceOf[signal]] = n
	}
	return o, nil
}

// reservesByInterfaces says of which images kubelet's memory reserve does not depend on
// maxPods. Of custom images nobody knows; Karpenter counts them among these.
// https://awslabs.github.io/amazon-eks-ami/nodeadm/
func reservesByInterfaces(family string) bool {
	switch family {
	case awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023, awsv1.AMIFamilyCustom:
		return true
	default:
		return false
	}
}

// rootVolume is the size in bytes of the disk with the kubelet's directory: the one
// marked so, else the device that images of the family have it on, else 0 for unknown. Of
// a family that is not known it is the last disk, as Karpenter counts it.
func rootVolume(family string, disks []awsv1.BlockDeviceMapping) int64 {
	device := rootDevice(family)
	var found int64
	for i := range disks {
		d := &disks[i]
		if d.EBS == nil || d.EBS.VolumeSize == nil {
			continue
		}
		if d.RootVolume {
			return d.EBS.VolumeSize.Value()
		}
		if device == "" || d.DeviceName != nil && *d.DeviceName == device {
			found = d.EBS.VolumeSize.Value()
		}
	}
	return found
}

// rootDevice is where images of a family have the kubelet's directory, "" when that is
// not known. Bottlerocket keeps it on its second disk.
// https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
// https://bottlerocket.dev/en/os/latest/install/quickstart/aws/ec2/
func rootDevice(family string) string {
	switch family {
	case awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023:
		return "/dev/xvda"
	case awsv1.AMIFamilyBottlerocket:
		return "/dev/xvdb"
	case awsv1.AMIFamilyWindows2019, awsv1.AMIFamilyWindows2022, awsv1.AMIFamilyWindows2025:
		return "/dev/sda1"
	default:
		return ""
	}
}
