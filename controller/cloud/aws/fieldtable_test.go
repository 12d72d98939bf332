package aws_test

import (
	"reflect"
	"strings"
	"testing"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// carried is what is done with a field of EC2NodeClass, and the tests that show it.
type carried struct{ what, tests string }

// carriedOut says it of every field of the spec.
func carriedOut() map[string]carried {
	return map[string]carried{
		"subnetSelectorTerms":              {"subnets of instances; one a zone in each request, those with most free addresses first", "TestEveryFieldOfTheClassCounts TestResolve"},
		"securityGroupSelectorTerms":       {"security groups of every interface", "TestEveryFieldOfTheClassCounts TestTemplateData"},
		"capacityReservationSelectorTerms": {"reserved offerings; everything else uses no reservation", "TestReservedLaunch TestOnDemandUsesNoReservation"},
		"placementGroupSelector":           {"placement group, its partition, and the types that its strategy takes", "TestPartitionIsAskedFor TestTypesOfPlacementGroup TestShortageInAGroup"},
		"associatePublicIPAddress":         {"public address of an instance with one interface with IP addresses; refused with several", "TestLaunchData TestResolveFindsNothing"},
		"ipPrefixCount":                    {"IPv4 prefixes of the primary interface, IPv6 prefixes in an IPv6 cluster", "TestTemplateData TestLaunchData"},
		"amiSelectorTerms":                 {"images by architecture and device; `al2` ends with Kubernetes 1.32", "TestAliasVariants TestAliasAL2Ends"},
		"amiFamily":                        {"format of user data, default disks, reserves of kubelet", "TestUserData TestMemoryReserveOfFamilies"},
		"userData":                         {"merged with ours, or refused", "TestUserData TestUserDataRefuses TestSetsMaxPods"},
		"role":                             {"instance profile with the role, with or without its path", "TestRoleWithPath TestClassesResolvedTogetherShareAProfile"},
		"instanceProfile":                  {"used as it is", "TestEveryFieldOfTheClassCounts"},
		"tags":                             {"on instances, volumes, interfaces, fleets, templates and spot requests", "TestTemplateData TestEveryFieldOfTheClassCounts"},
		"kubelet":                          {"told to kubelets and planned with; what a family's images have no setting for is refused", "TestEveryPartOfAFieldCounts TestKubeletSettingsThatAFamilyHasNot"},
		"blockDeviceMappings":              {"disks, and the ephemeral storage that is planned with", "TestEveryPartOfAFieldCounts TestRootVolume"},
		"instanceStorePolicy":              {"local disks joined, mounted and planned with", "TestUserData TestReadUserData"},
		"networkInterfaces":                {"the interfaces, and the types that take them", "TestNeeds TestAdapters TestConnectionTrackingNeedsIP"},
		"detailedMonitoring":               {"monitoring of instances", "TestTemplateData"},
		"metadataOptions":                  {"instance metadata; tags in it stay off", "TestEveryPartOfAFieldCounts TestMetadataTagsAreOff"},
		"connectionTracking":               {"timeouts of interfaces with IP addresses; virtual types on Nitro", "TestNeeds TestConnectionTrackingNeedsIP"},
		"context":                          {"handed to CreateFleet", "TestEveryFieldOfTheClassCounts"},
		"cpuOptions":                       {"nested virtualization, and the types that have it", "TestNeeds TestEveryFieldOfTheClassCounts"},
	}
}

// TestFieldsAreDocumented holds the table of fields in docs/aws.md against the API: every
// field has a row, in the order of the API.
func TestFieldsAreDocumented(t *testing.T) {
	all := carriedOut()
	table := docTable{head: []string{"field", "what is done", "shown by"}}
	for field := range reflect.TypeFor[awsv1.EC2NodeClassSpec]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		row, ok := all[name]
		if !ok {
			t.Errorf("%s: nothing says what is done with it", name)
		}
		delete(all, name)
		table.rows = append(table.rows, docRow{cells: []string{"`" + name + "`", row.what}, tests: row.tests})
	}
	for name := range all {
		t.Errorf("%s is no field", name)
	}
	table.check(t)
}
