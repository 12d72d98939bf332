package ec2

import (
	"errors"
	"testing"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/simulator/awserr"
)

// TestHardwareRules: what EC2 refuses of interfaces, processors and placement.
func TestHardwareRules(t *testing.T) {
	n := func(v int) *int { return &v }
	yes := true
	nitro := &catalog.Type{Name: "m7i.large", VCPU: 2, ENIs: 3, Hypervisor: "nitro", Can: catalog.Abilities{ENA: true, CardENIs: []int{3}, Strategies: []string{"cluster"}}}
	fabric := &catalog.Type{Name: "p4d.24xlarge", VCPU: 96, ENIs: 15, EFAs: 4, Hypervisor: "nitro", Can: catalog.Abilities{ENA: true, CardENIs: []int{15, 15}, NestedVirtualization: true}}
	xen := &catalog.Type{Name: "m4.large", VCPU: 2, ENIs: 2, Hypervisor: "xen", Can: catalog.Abilities{CardENIs: []int{2}}}
	groups := &placements{all: []*PlacementGroup{{ID: "pg-1", Name: "close", Strategy: "cluster"}, {ID: "pg-2", Name: "apart", Strategy: "partition", Partitions: 3}}}
	for name, c := range map[string]struct {
		reason string
		kind   *catalog.Type
		data   templateData
		code   string
	}{
		"plain":                  {"nothing is asked for", nitro, templateData{}, ""},
		"adapters":               {"two cards with one each", fabric, templateData{NetworkInterfaces: []networkInterface{{InterfaceType: "efa"}, {NetworkCardIndex: n(1), DeviceIndex: n(1), InterfaceType: "efa"}}}, ""},
		"no adapter":             {"the type has none", nitro, templateData{NetworkInterfaces: []networkInterface{{InterfaceType: "efa"}}}, "InvalidParameterCombination"},
		"no such card":           {"the type has one", nitro, templateData{NetworkInterfaces: []networkInterface{{NetworkCardIndex: n(1)}}}, awserr.InvalidValue},
		"too many on a card":     {"devices count from 0", nitro, templateData{NetworkInterfaces: []networkInterface{{DeviceIndex: n(3)}}}, "AttachmentLimitExceeded"},
		"tracking on Xen":        {"Nitro alone has timeouts", xen, templateData{NetworkInterfaces: []networkInterface{{ConnectionTracking: &conntrack{UDPTimeout: n(30)}}}}, "UnsupportedOperation"},
		"tracking on EFA alone":  {"it carries no IP", fabric, templateData{NetworkInterfaces: []networkInterface{{InterfaceType: "efa-only", ConnectionTracking: &conntrack{UDPTimeout: n(30)}}}}, "InvalidParameterCombination"},
		"public, several":        {"one interface with IP addresses", nitro, templateData{NetworkInterfaces: []networkInterface{{AssociatePublicIPAddress: &yes}, {DeviceIndex: n(1)}}}, awserr.InvalidCombination},
		"public beside EFA":      {"the other one has no IP addresses", fabric, templateData{NetworkInterfaces: []networkInterface{{AssociatePublicIPAddress: &yes}, {DeviceIndex: n(1), InterfaceType: "efa-only"}}}, ""},
		"primary IPv6 of none":   {"there is no address", nitro, templateData{NetworkInterfaces: []networkInterface{{PrimaryIpv6: &yes}}}, awserr.InvalidCombination},
		"nested, unsupported":    {"few families have it", nitro, templateData{CPUOptions: &cpuOptions{NestedVirtualization: "enabled"}}, "UnsupportedOperation"},
		"nested, supported":      {"and some do", fabric, templateData{CPUOptions: &cpuOptions{NestedVirtualization: "enabled"}}, ""},
		"enclaves, too small":    {"four virtual CPUs", nitro, templateData{EnclaveOptions: &enabled{Enabled: true}}, "UnsupportedOperation"},
		"tenancy":                {"dedicated hardware", nitro, templateData{Placement: &placementXML{Tenancy: "dedicated"}}, ""},
		"no tenancy":             {"one of three words", nitro, templateData{Placement: &placementXML{Tenancy: "mine"}}, awserr.InvalidValue},
		"partition":              {"one of the group's", fabric, templateData{Placement: &placementXML{GroupID: "pg-2", PartitionNumber: n(3)}}, ""},
		"partition beyond":       {"the group has three", fabric, templateData{Placement: &placementXML{GroupID: "pg-2", PartitionNumber: n(4)}}, awserr.InvalidValue},
		"partition of a cluster": {"it has none", nitro, templateData{Placement: &placementXML{GroupName: "close", PartitionNumber: n(1)}}, awserr.InvalidValue},
		"strategy":               {"the type takes partition groups only", fabric, templateData{Placement: &placementXML{GroupName: "close"}}, awserr.InvalidCombination},
		"no such group":          {"unknown", nitro, templateData{Placement: &placementXML{GroupName: "nowhere"}}, "InvalidPlacementGroup.Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			err := errors.Join(c.data.checkInterfaces(), checkType(c.kind, &c.data), groups.checkPlacement(c.kind, c.data.Placement))
			code := ""
			if known, ok := errors.AsType[*awserr.Error](err); ok {
				code = known.Code
			}
			if code != c.code {
				t.Errorf("%s: %v, want code %q", c.reason, err, c.code)
			}
		})
	}
}
