package market

import (
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

const (
	// windowsPods is what kubelet on Windows is configured for.
	// https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html
	windowsPods = 110
	// windowsAddress is requested by every Windows pod, by way of a webhook.
	windowsAddress = "vpc.amazonaws.com/PrivateIPv4Address"
	// windowsLicence is what a vCPU with Windows costs more per hour, in dollars,
	// on demand and on spot. The burstable families (t) pay less; counting as much
	// for them errs on the dear side.
	// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/optimize-cpu.html
	windowsLicence = 0.046
)

// asWindows turns types lowered for Linux hardware into Windows nodes: label of
// the build, addresses from the primary interface alone, and the licence.
func asWindows(types []model.InstanceType, hardware []catalog.Type, build string) {
	byName := make(map[string]*catalog.Type, len(hardware))
	for i := range hardware {
		byName[hardware[i].Name] = &hardware[i]
	}
	for i := range types {
		t := &types[i]
		t.Labels[corev1.LabelWindowsBuild] = build
		h := byName[t.Name]
		if h == nil {
			continue
		}
		addresses := int64(max(0, h.IPv4PerENI-1))
		t.Capacity[windowsAddress], t.Allocatable[windowsAddress] = addresses, addresses
		for j := range t.Offerings {
			licence := model.PriceOf(windowsLicence * float64(h.VCPU))
			t.Offerings[j].Price += licence
			if t.Offerings[j].List > 0 {
				t.Offerings[j].List += licence
			}
		}
	}
}
