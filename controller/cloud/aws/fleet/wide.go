package fleet

import (
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/core/model"
)

// The codes of refusals that concern more offerings than the one that they name.
const (
	codeVCPULimit    = "VcpuLimitExceeded"
	codeSpotLimit    = "MaxSpotInstanceCountExceeded"
	codeNoSpotRole   = "AuthFailure.ServiceLinkedRoleCreationNotPermitted"
	codeNoAddresses  = "InsufficientFreeAddressesInSubnet"
	codeNoAddresses2 = "InsufficientAddressCapacity"
)

// wide is the group of offerings that a refusal concerns besides the one that it names,
// and false when there is none.
//
//   - A vCPU quota leaves out what needs as many vCPUs as the refused type, or more, of the
//     same quota: smaller types may fit in what is left of it.
//   - A spot quota leaves out all spot of the quota, whatever its size: on-demand is there
//     to fall back on, and looking for the largest size that fits takes a launch for each.
//   - Without the service-linked role there is no spot at all.
//   - A subnet without addresses takes no type at all, of any capacity type.
func (l *Launcher) wide(in *ec2.CreateFleetInput, r *refusal) (availability.Rest, bool) {
	refused := r.options[0]
	switch r.code {
	case codeVCPULimit, codeSpotLimit:
		quota, _ := vcpuQuota(refused.InstanceType, refused.CapacityType)
		if quota == "" {
			return availability.Rest{}, false
		}
		least := int64(0)
		if r.code == codeVCPULimit {
			least = l.cfg.Catalogue.Market.VCPUs(refused.InstanceType)
		}
		return availability.Rest{Name: quota + " of " + strconv.FormatInt(least, 10), Covers: func(t *model.InstanceType, o *model.Offering) bool {
			name, _ := vcpuQuota(t.Name, o.CapacityType)
			return o.CapacityType == refused.CapacityType && name == quota && t.Capacity[model.CPU] >= 1000*least
		}}, true
	case codeNoSpotRole:
		return availability.Rest{Name: "spot", Covers: func(_ *model.InstanceType, o *model.Offering) bool { return o.CapacityType == model.Spot }}, true
	case codeNoAddresses, codeNoAddresses2:
		class := classOf(in)
		return availability.Rest{Name: "addresses of " + class + " in " + refused.Zone, NodeClass: class, Covers: func(_ *model.InstanceType, o *model.Offering) bool {
			return o.Zone == refused.Zone
		}}, true
	}
	return availability.Rest{}, false
}

// classOf is the node class that a request launches for, by its tags.
func classOf(in *ec2.CreateFleetInput) string {
	for _, spec := range in.TagSpecifications {
		if spec.ResourceType != types.ResourceTypeInstance {
			continue
		}
		for _, t := range spec.Tags {
			if sdk.ToString(t.Key) == awsv1.TagEC2NodeClass {
				return sdk.ToString(t.Value)
			}
		}
	}
	return ""
}
