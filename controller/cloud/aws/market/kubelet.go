package market

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// kubeletReserve is what a node class says about how much of a node pods cannot use.
type kubeletReserve struct {
	options catalog.Options
	// evictionShare are eviction thresholds given as a share of capacity.
	evictionShare map[string]float64
}

// reserveOf reads the kubelet settings, disks and instance store policy.
// Soft eviction thresholds do not shrink what kubelet calls allocatable.
func reserveOf(spec *awsv1.EC2NodeClassSpec) (kubeletReserve, error) {
	out := kubeletReserve{evictionShare: map[string]float64{}}
	class := awsv1.EC2NodeClass{Spec: *spec}
	out.options.RootVolume = rootVolume(class.AMIFamily(), class.Disks())
	out.options.InstanceStoreRAID0 = spec.InstanceStorePolicy != nil && *spec.InstanceStorePolicy == awsv1.InstanceStoreRAID0
	k := spec.Kubelet
	if k == nil {
		return out, nil
	}
	if k.MaxPods != nil {
		out.options.MaxPods = new(int(*k.MaxPods))
	}
	if k.PodsPerCore != nil {
		out.options.PodsPerCore = int(*k.PodsPerCore)
	}
	var err error
	if out.options.KubeReserved, err = resources("kubeReserved", k.KubeReserved); err != nil {
		return kubeletReserve{}, err
	}
	if out.options.SystemReserved, err = resources("systemReserved", k.SystemReserved); err != nil {
		return kubeletReserve{}, err
	}
	out.options.EvictionHard = model.Resources{}
	for signal, name := range map[string]string{"memory.available": model.Memory, "nodefs.available": model.EphemeralStorage} {
		text, ok := k.EvictionHard[signal]
		if !ok {
			continue
		}
		if number, ok := strings.CutSuffix(text, "%"); ok {
			percent, err := strconv.ParseFloat(number, 64)
			if err != nil || percent < 0 || percent > 100 {
				return kubeletReserve{}, fmt.Errorf("spec.kubelet.evictionHard[%s]: %q is not a percentage between 0%% and 100%%", signal, text)
			}
			out.options.EvictionHard[name] = 0
			out.evictionShare[name] = percent / 100
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return kubeletReserve{}, fmt.Errorf("spec.kubelet.evictionHard[%s]: %q is neither a quantity nor a percentage", signal, text)
		}
		out.options.EvictionHard[name] = q.Value()
	}
	return out, nil
}

func resources(field string, amounts map[string]string) (model.Resources, error) {
	out := model.Resources{}
	for name, text := range amounts {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("spec.kubelet.%s[%s]: %q is not a quantity such as 200m or 1Gi", field, name, text)
		}
		if name == model.CPU {
			out[name] = q.MilliValue()
		} else {
			out[name] = q.Value()
		}
	}
	return out, nil
}

// CheckKubelet finds kubelet settings of a class that do not parse.
func CheckKubelet(spec *awsv1.EC2NodeClassSpec) error {
	_, err := reserveOf(spec)
	return err
}
