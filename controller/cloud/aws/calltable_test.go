package aws_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"spokeshave.dev/controller/cloud/aws/client"
)

// callGroup is when calls are made, and what becomes of it while they fail.
type callGroup struct{ calls, when, fails, tests string }

// callGroups are all calls that the code can make. The matrices of faults, which each is in
// besides, are added by the test.
func callGroups() []callGroup {
	return []callGroup{
		{
			"CreateFleet", "instant fleets: once for up to 200 claims of one decision that want the same ([ADR 12](adr/0012-one-fleet-for-many-claims.md), [ADR 47](adr/0047-claims-carry-their-launch-group.md))",
			"after 30 s and half a second for each instance the identical request is repeated: EC2 answers its token once", "TestRequestsPerNode TestFleetTimesOutAfterSuccess TestSlowFleet TestTimeouts",
		},
		{
			"CreateTags", "once for each instance of a shared fleet; after registration for an instance that still lacks its claim's tags",
			"tried again; until then the claim is known by the launch's tag", "TestTagClaim TestOneFleetForManyClaims",
		},
		{"RunInstances", "only ever as a dry run, with dry runs of CreateFleet and CreateLaunchTemplate: once for each EC2NodeClass and 30 minutes, and when what they contain changes", "nothing changes but for a refusal by IAM, which makes the class not ready", "TestDryRunIsRefused TestDryRunAnswersAreKept"},
		{"DescribeInstances", "200 claims or newly registered nodes to a call; garbage collection pages by 1,000", "nothing is taken for gone", "TestRequestsPerNode TestManyUnseen"},
		{"TerminateInstances", "up to 500 instances to a call; an unknown instance does not stop the others", "tried again; the NodeClaim stays", "TestTerminateTogether TestRequestsPerNode"},
		{"DescribeInstanceTypes DescribeInstanceTypeOfferings", "every 12 hours", "the last answer counts, at first the embedded catalogue", "TestCatalogFallsBackAndRecovers TestDecisionsWaitForNoService"},
		{"GetProducts", "every 12 hours, for instances, for bare metal (tenancy Dedicated) and for volumes", "the last answer counts, at first the embedded catalogue", "TestPrices TestBareMetalPrices TestFaultMatrixOfVolumePrices"},
		{"DescribeSpotPriceHistory", "every hour", "the last answer counts, at first the embedded catalogue", "TestCatalogFallsBackAndRecovers"},
		{"DescribeCluster", "every five minutes while something is launched", "the last answer counts; without one nothing is launched", "TestClusterIsAskedAgain TestClusterOfEKSThatMayNotBeAsked"},
		{"DescribeSubnets DescribeSecurityGroups DescribeImages", "after a change of an EC2NodeClass, and every minute", "the class's status keeps the last answer; a refusal makes the class not ready", "TestResolveWhileAWSIsDown TestUnauthorized TestAges"},
		{"GetParameter", "once a day for an image alias, every five minutes for a parameter of your own", "the class's status keeps the last answer", "TestImageParameters TestAliasVariants"},
		{"GetInstanceProfile", "every 15 minutes for each role", "the class's status keeps the last answer", "TestClassesResolvedTogetherShareAProfile"},
		{"CreateInstanceProfile AddRoleToInstanceProfile", "for a role without an instance profile", "the class is not ready until it succeeds", "TestClassesResolvedTogetherShareAProfile TestRoleWithPath"},
		{"CreateLaunchTemplate", "once for each image, user data, NodePool and EC2NodeClass in use; checked again after five minutes", "tried again; the claim waits", "TestTemplatesAreShared TestTemplateDeletedByOthers"},
		{"DescribeCapacityReservations", "every minute for each EC2NodeClass that selects some", "the last answer counts", "TestReservationsTogether TestReservationEnds"},
		{"DescribePlacementGroups", "every minute for each EC2NodeClass that names one", "the class's status keeps the last answer", "TestPlacementGroup"},
		{"DescribeLaunchTemplates DeleteLaunchTemplate", "every 30 minutes, for what was unused for an hour", "tried again half an hour later", "TestSweepTemplates TestAdopted"},
		{"ListInstanceProfiles RemoveRoleFromInstanceProfile DeleteInstanceProfile", "every 30 minutes, for what was unused for an hour; when an EC2NodeClass is deleted", "tried again; a class that is deleted stays until it succeeds", "TestSweepProfiles TestAdopted"},
		{"GetManagedResource", "zonal shift: every 30 seconds with `settings.enableZonalShift`", "the last answer counts until the shift would have expired", "TestZonalShiftWithoutAnswer TestZonalShiftAge"},
		{"DescribeInstanceStatus", "three calls a minute: impaired instances, impaired systems, scheduled events", "asked again a minute later", "TestTroubled"},
		{"GetQueueUrl", "with `settings.interruptionQueue`, once", "tried again with growing pauses", "TestQueueAfterTrouble"},
		{"ReceiveMessage", "with `settings.interruptionQueue`: long polling, up to ten messages", "tried again with growing pauses", "TestQueueAfterTrouble TestEventsOfEachKind"},
		{"DeleteMessage", "when a message was acted on", "the message comes again, and is acted on again", "TestQueueAfterTrouble"},
	}
}

// TestCallsAreDocumented holds the table of calls in docs/aws.md against the interfaces of
// the SDK: every call has a row, and matrices of faults that it is in.
func TestCallsAreDocumented(t *testing.T) {
	var made []string
	for service := range reflect.TypeFor[client.Services]().Fields() {
		for method := range service.Type.Methods() {
			made = append(made, method.Name)
		}
	}
	matrices := []struct {
		name  string
		calls []string
	}{{"TestFaultMatrix", lifeCalls()}, {"TestFaultMatrixOfClasses", classCalls()}, {"TestFaultMatrixOfUpkeep", upkeepCalls()}, {"TestFaultMatrixOfQueue", queueCalls()}, {"TestFaultMatrixOfDryRuns", dryRunCalls()}}
	table := docTable{head: []string{"call", "when", "while it fails", "shown by"}}
	var listed []string
	for _, group := range callGroups() {
		calls := strings.Fields(group.calls)
		listed = append(listed, calls...)
		tests := group.tests
		for _, m := range matrices {
			if slices.ContainsFunc(calls, func(call string) bool { return slices.Contains(m.calls, call) }) {
				tests += " " + m.name
			}
		}
		table.rows = append(table.rows, docRow{cells: []string{strings.Join(calls, ", "), group.when, group.fails}, tests: tests})
	}
	whole(t, "call", made, listed)
	table.check(t)
}
