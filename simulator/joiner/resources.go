package joiner

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/cloud/quantity"
)

// resources are what kubelet reports on the machine's type with the settings of
// its user data.
func (j *joiner) resources(m *machine) (capacity, allocatable corev1.ResourceList, err error) {
	kind := j.types[string(m.InstanceType)]
	zone := aws.ToString(m.Placement.AvailabilityZone)
	opts, err := m.boot.options()
	if err != nil {
		return nil, nil, err
	}
	opts.OS, opts.RootVolume = osOf(m), m.volume
	opts.ReserveByInterfaces = opts.OS != "windows" && !m.boot.bottlerocket
	sale := []catalog.Sale{{Type: kind.Name, OnDemand: 1, Zones: []string{zone}}}
	out := catalog.Lower([]catalog.Type{*kind}, sale, opts)
	if len(out.Types) != 1 {
		return nil, nil, fmt.Errorf("compute the capacity of %s: the catalogue has nothing for it", kind.Name)
	}
	return quantity.ResourceList(out.Types[0].Capacity), quantity.ResourceList(out.Types[0].Allocatable), nil
}

// options are the kubelet settings as the catalogue takes them.
func (b *boot) options() (catalog.Options, error) {
	out := catalog.Options{MaxPods: b.maxPods, PodsPerCore: b.podsPerCore, InstanceStoreRAID0: b.raid0}
	var err error
	out.Reserved, err = catalog.ParseReserved(b.kubeReserved, b.systemReserved, b.evictionHard)
	return out, err
}
