package aws_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// labelGroup is what is done with labels that are handled alike.
type labelGroup struct {
	labels      []string
	what, tests string
}

// labelGroups are all labels of nodes and NodeClaims that this provider knows.
func labelGroups() []labelGroup {
	instance := func(names ...string) []string {
		out := make([]string, len(names))
		for i, name := range names {
			out[i] = awsv1.Group + "/instance-" + name
		}
		return out
	}
	return []labelGroup{
		{[]string{karpv1.LabelNodePool}, "the NodePool; nodes boot with it, and instances have it as a tag", "TestUserData TestLaunchedInstance TestLifecycle"},
		{[]string{awsv1.LabelEC2NodeClass}, "the EC2NodeClass; instances have it as a tag", "TestLaunchedInstance TestSwap"},
		{[]string{karpv1.LabelCapacityType}, "how the instance that came is bought", "TestUserData TestLifecycle"},
		{[]string{karpv1.LabelRegistered, karpv1.LabelInitialized}, "set when the node has joined, and when it takes pods", "TestLifecycle"},
		{[]string{karpv1.LabelDoNotSyncTaints}, "nodes boot with it, those of Custom images excepted", "TestUserData"},
		{
			[]string{"node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "kubernetes.io/arch", "kubernetes.io/os"},
			"facts of the instance that came", "TestLabels TestLifecycle TestJoin",
		},
		{[]string{awsv1.LabelTopologyZoneID}, "the ID of the zone, from the class's subnets", "TestCatalogFollowsTheClass TestJoin"},
		{[]string{"node.kubernetes.io/windows-build"}, "the build of a Windows family", "TestWindowsCatalogue"},
		{instance("category", "family", "generation", "size", "capability-flex"), "parts of the type's name", "TestLabels"},
		{
			instance("cpu", "cpu-manufacturer", "cpu-sustained-clock-speed-mhz", "memory", "hypervisor", "encryption-in-transit-supported", "ebs-bandwidth", "network-bandwidth", "local-nvme"),
			"facts of the type; missing where EC2 does not tell", "TestLabels TestCatalogIsTheEmbeddedOne",
		},
		{instance("gpu-name", "gpu-manufacturer", "gpu-count", "gpu-memory"), "those of a type with one kind of GPU, Habana's among them; images are chosen by them", "TestLabels TestHabanaIsGPU TestAliasVariants"},
		{instance("accelerator-name", "accelerator-manufacturer", "accelerator-count"), "those of a type with Neuron chips; images are chosen by them", "TestLabels TestAliasVariants"},
		{instance("tenancy"), "`default`; `dedicated` for a NodePool that allows nothing else", "TestChosenLabels TestDedicatedPool TestTenancyAndEnclaves"},
		{[]string{awsv1.LabelNitroSandbox}, "`false`: which types have it, EC2 does not tell", "TestLabels"},
		{[]string{awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterruptible}, "the reservation of a reserved offering", "TestReservedLaunch TestReservationsTogether"},
		{[]string{awsv1.LabelPlacementGroupID}, "the placement group of the class", "TestPlacementGroup"},
		{[]string{awsv1.LabelPlacementGroupPartition}, "the partition that a NodePool requires, or that EC2 chose", "TestPartitionIsAskedFor TestPlacementPartition TestChosenLabels"},
	}
}

// apiLabels are the labels of the API packages and those that requirements may use.
func apiLabels(t *testing.T) []string {
	t.Helper()
	out := slices.Concat(karpv1.WellKnownLabels(), awsv1.WellKnownLabels())
	declared := regexp.MustCompile(`(?m)^\s+Label\w+\s+= (Group \+ )?"([^"]+)"`)
	for group, file := range map[string]string{karpv1.Group: "../../../api/karpenter/v1/labels.go", awsv1.Group: "../../../api/aws/v1/labels.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := declared.FindAllSubmatch(text, -1)
		if len(all) < 5 {
			t.Fatalf("%s declares %d labels, want all", file, len(all))
		}
		for _, m := range all {
			label := string(m[2])
			if len(m[1]) > 0 {
				label = group + label
			}
			out = append(out, label)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestLabelsAreDocumented holds the table of labels in docs/aws.md against the API: every
// label has a row.
func TestLabelsAreDocumented(t *testing.T) {
	table := docTable{head: []string{"label", "value", "shown by"}}
	var listed []string
	for _, group := range labelGroups() {
		listed = append(listed, group.labels...)
		table.rows = append(table.rows, docRow{cells: []string{quoted(group.labels), group.what}, tests: group.tests})
	}
	whole(t, "label", apiLabels(t), listed)
	table.check(t)
}
