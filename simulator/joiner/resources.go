package joiner

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// resources are what kubelet reports on the machine's type with the settings of
// its user data.
func (j *joiner) resources(m *machine) (capacity, allocatable corev1.ResourceList, err error) {
	kind := j.types[string(m.InstanceType)]
	zone := aws.ToString(m.Placement.AvailabilityZone)
	opts, err := m.boot.options(nil)
	if err != nil {
		return nil, nil, err
	}
	opts.OS, opts.RootVolume = osOf(m), m.volume
	sale := []catalog.Sale{{Type: kind.Name, OnDemand: 1, Zones: []string{zone}}}
	lower := func() (model.InstanceType, error) {
		out := catalog.Lower([]catalog.Type{*kind}, sale, opts)
		if len(out.Types) != 1 {
			return model.InstanceType{}, fmt.Errorf("compute the capacity of %s: the catalogue has nothing for it", kind.Name)
		}
		return out.Types[0], nil
	}
	first, err := lower()
	if err != nil {
		return nil, nil, err
	}
	// Eviction thresholds may be shares of the capacity, which is known now.
	again, err := m.boot.options(first.Capacity)
	if err != nil {
		return nil, nil, err
	}
	opts.EvictionHard = again.EvictionHard
	second, err := lower()
	if err != nil {
		return nil, nil, err
	}
	return quantities(second.Capacity), quantities(second.Allocatable), nil
}

// options are the kubelet settings as the catalogue takes them. Thresholds given
// as shares count once the capacity is known.
func (b *boot) options(capacity model.Resources) (catalog.Options, error) {
	out := catalog.Options{MaxPods: b.maxPods, PodsPerCore: b.podsPerCore, InstanceStoreRAID0: b.raid0, EvictionHard: model.Resources{}}
	var err error
	if out.KubeReserved, err = amounts(b.kubeReserved); err != nil {
		return out, fmt.Errorf("kubeReserved: %w", err)
	}
	if out.SystemReserved, err = amounts(b.systemReserved); err != nil {
		return out, fmt.Errorf("systemReserved: %w", err)
	}
	for signal, name := range map[string]string{"memory.available": model.Memory, "nodefs.available": model.EphemeralStorage} {
		text, set := b.evictionHard[signal]
		if !set {
			continue
		}
		if share, ok := strings.CutSuffix(text, "%"); ok {
			percent, err := strconv.ParseFloat(share, 64)
			if err != nil || percent < 0 || percent > 100 {
				return out, fmt.Errorf("evictionHard %s: %q is not a share", signal, text)
			}
			out.EvictionHard[name] = int64(float64(capacity[name]) * percent / 100)
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return out, fmt.Errorf("evictionHard %s: %q: %w", signal, text, err)
		}
		out.EvictionHard[name] = q.Value()
	}
	return out, nil
}

func amounts(from map[string]string) (model.Resources, error) {
	if len(from) == 0 {
		return nil, nil //nolint:nilnil // nothing set is a normal setting
	}
	out := make(model.Resources, len(from))
	for name, text := range from {
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, text, err)
		}
		out[name] = q.Value()
		if name == model.CPU {
			out[name] = q.MilliValue()
		}
	}
	return out, nil
}
