package scenario

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
)

// classOptions returns how an EC2NodeClass changes the capacity of its nodes.
func classOptions(class *awsv1.EC2NodeClass, region string) (catalog.Options, error) {
	opts := catalog.Options{NodeClass: class.Name, Region: region}
	for i := range class.Status.Subnets {
		opts.Zones = append(opts.Zones, class.Status.Subnets[i].Zone)
	}
	if p := class.Spec.InstanceStorePolicy; p != nil && *p == awsv1.InstanceStoreRAID0 {
		opts.InstanceStoreRAID0 = true
	}
	if n := class.Spec.IPPrefixCount; n != nil && *n > 0 {
		opts.PrefixDelegation = true
	}
	opts.RootVolume = rootVolume(class)
	k := class.Spec.Kubelet
	if k == nil {
		return opts, nil
	}
	if k.MaxPods != nil {
		n := int(*k.MaxPods)
		opts.MaxPods = &n
	}
	if k.PodsPerCore != nil {
		opts.PodsPerCore = int(*k.PodsPerCore)
	}
	var err error
	if opts.KubeReserved, err = amounts("kubeReserved", k.KubeReserved); err != nil {
		return opts, err
	}
	if opts.SystemReserved, err = amounts("systemReserved", k.SystemReserved); err != nil {
		return opts, err
	}
	opts.EvictionHard, err = evictions(k.EvictionHard, &opts)
	return opts, err
}

// rootVolume returns the size in bytes of the volume that kubelet uses, 0 when the
// class does not set it.
func rootVolume(class *awsv1.EC2NodeClass) int64 {
	for i := range class.Spec.BlockDeviceMappings {
		m := &class.Spec.BlockDeviceMappings[i]
		if m.EBS == nil || m.EBS.VolumeSize == nil {
			continue
		}
		if m.RootVolume || i == len(class.Spec.BlockDeviceMappings)-1 {
			return m.EBS.VolumeSize.Value()
		}
	}
	return 0
}

func amounts(field string, in map[string]string) (model.Resources, error) {
	if len(in) == 0 {
		return nil, nil
	}
	out := model.Resources{}
	for name, text := range in {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("spec.kubelet.%s.%s: %q is not a quantity", field, name, text)
		}
		if name != "pid" {
			out[name] = lower.Amount(name, q)
		}
	}
	return out, nil
}

// evictions parses the eviction thresholds on memory and disk. Percentages of the disk
// become bytes. Percentages of the memory, which differ by instance type, are ignored.
func evictions(in map[string]string, opts *catalog.Options) (model.Resources, error) {
	out := model.Resources{}
	for signal, name := range map[string]string{"memory.available": model.Memory, "nodefs.available": model.EphemeralStorage} {
		text, ok := in[signal]
		if !ok {
			continue
		}
		if share, isShare := strings.CutSuffix(text, "%"); isShare {
			percent, err := strconv.ParseFloat(share, 64)
			if err != nil || percent < 0 || percent > 100 {
				return nil, fmt.Errorf("spec.kubelet.evictionHard.%s: %q is not a share from 0%% to 100%%", signal, text)
			}
			if name == model.EphemeralStorage && !opts.InstanceStoreRAID0 {
				disk := opts.RootVolume
				if disk == 0 {
					disk = 20 << 30
				}
				out[name] = int64(math.Ceil(float64(disk) * percent / 100))
			}
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("spec.kubelet.evictionHard.%s: %q is neither a quantity nor a share", signal, text)
		}
		out[name] = lower.Amount(name, q)
	}
	return out, nil
}
