package aws_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// codeGroup is what is done about error codes that are handled alike.
type codeGroup struct {
	codes       []string
	kind        provider.Kind
	what, tests string
}

// codeGroups are all codes that the code knows.
func codeGroups() []codeGroup {
	list := strings.Fields
	return []codeGroup{
		{
			list("InsufficientInstanceCapacity InsufficientHostCapacity InsufficientCapacityOnHost InsufficientReservedInstanceCapacity InsufficientVolumeCapacity UnfulfillableCapacity SpotMaxPriceTooLow Unsupported VolumeTypeNotAvailableInZone"),
			provider.InsufficientCapacity, "the offering rests for three minutes, and the next decision goes around it", "TestWhatARefusalLeavesOut TestFleetPassesOverPools",
		},
		{
			list("ReservationCapacityExceeded"),
			provider.InsufficientCapacity, "the reservation counts as used up until it is read again", "TestReservedLaunch TestErrorsToPeople",
		},
		{
			list("InsufficientFreeAddressesInSubnet InsufficientAddressCapacity"),
			provider.InsufficientCapacity, "everything of the EC2NodeClass in the zone rests for three minutes", "TestWhatARefusalLeavesOut",
		},
		{
			list("UnsupportedOperation InvalidInstanceType InvalidFleetConfiguration"),
			provider.Invalid, "of one override of a fleet: the offering rests (the last one where it says \"not supported\"); of a whole call: nothing mends it", "TestWhatARefusalLeavesOut TestErrorsToPeople",
		},
		{
			list("VcpuLimitExceeded"),
			provider.Quota, "types of the quota with as many vCPUs or more rest; told on the NodePool", "TestWhatARefusalLeavesOut TestVCPUQuota",
		},
		{
			list("MaxSpotInstanceCountExceeded"),
			provider.Quota, "spot of the quota rests; told on the NodePool", "TestWhatARefusalLeavesOut",
		},
		{
			list("AuthFailure.ServiceLinkedRoleCreationNotPermitted"),
			provider.Quota, "all spot rests; told on the NodePool", "TestWhatARefusalLeavesOut TestErrorsToPeople",
		},
		{
			list("AddressLimitExceeded InstanceCreditSpecification.LimitExceeded InstanceLimitExceeded LimitExceeded LimitExceededException MaxFleetCountExceeded MaxIOPSLimitExceeded MaxSpotFleetRequestCountExceeded MaxTemplateLimitExceeded MaxTemplateVersionLimitExceeded NetworkInterfaceLimitExceeded PrivateIpAddressLimitExceeded ResourceLimitExceeded VolumeLimitExceeded"),
			provider.Quota, "in a fleet the offering rests; else tried again for five minutes, then the claim is given up and the NodePool pauses", "TestErrorsToPeople TestFaultMatrix TestFaultMatrixOfClasses",
		},
		{
			list("BandwidthLimitExceeded EC2ThrottledException PriorRequestNotComplete RequestLimitExceeded RequestThrottled RequestThrottledException ResourceCountLimitExceeded SlowDown ThrottledException Throttling ThrottlingException TooManyRequestsException"),
			provider.Throttled, "the same call again, with growing pauses; no offering rests", "TestBusyIsNoShortage TestFaultMatrix TestErrorsToPeople",
		},
		{
			list("AccessDenied AccessDeniedException AuthFailure Blocked ExpiredToken ExpiredTokenException IncompleteSignature InvalidClientTokenId MissingAuthenticationToken NotAuthorized OptInRequired PendingVerification RequestExpired SignatureDoesNotMatch UnauthorizedOperation UnrecognizedClientException"),
			provider.Unauthorized, "told with the action to allow; tried again for five minutes, then the claim is given up and the NodePool pauses", "TestUnauthorized TestFaultMatrix TestErrorsToPeople",
		},
		{
			list("AWS.SimpleQueueService.NonExistentQueue InvalidLaunchTemplateId.NotFound InvalidLaunchTemplateId.NotFoundException InvalidLaunchTemplateName.NotFoundException InvalidPlacementGroup.Unknown NoSuchEntity NoSuchEntityException ParameterNotFound ParameterVersionNotFound QueueDoesNotExist ResourceNotFoundException"),
			provider.NotFound, "success where something was to end; else told, and looked for again. A launch template is made again", "TestErrorsToPeople TestTemplateDeletedByOthers TestFaultMatrix",
		},
		{
			list("ConcurrentModification ConcurrentTagAccess InternalError InternalFailure InternalServerError InternalServiceError RequestTimeout RequestTimeoutException RetryableError ServerInternal ServiceUnavailable Unavailable"),
			provider.Unavailable, "the identical call again, because it may have taken effect", "TestFaultMatrix TestErrorsToPeople",
		},
		{
			list("EntityAlreadyExists InvalidLaunchTemplateName.AlreadyExistsException"),
			provider.Invalid, "success of what was to be made", "TestFaultMatrixOfClasses TestInstanceProfiles TestTemplatesAreShared",
		},
	}
}

// literals are the strings in case clauses and comparisons of a Go function that are codes.
func literals(t *testing.T, file, function string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile(`^[A-Z][A-Za-z0-9]+(\.[A-Z][A-Za-z]+)*$`)
	var out []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncDecl); ok {
			return f.Name.Name == function
		}
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && code.MatchString(text) {
			out = append(out, text)
		}
		return true
	})
	return out
}

// TestCodesAreDocumented holds the table of error codes in docs/aws.md against the code:
// every code that is told apart has a row, and is of the kind that the row says.
func TestCodesAreDocumented(t *testing.T) {
	known := slices.Concat(
		literals(t, "client/codes.go", "KindOfCode"), literals(t, "fleet/refusal.go", "kindInFleet"),
		literals(t, "resolve/profile.go", "ensure"), literals(t, "launchtemplate/templates.go", "Make"),
	)
	if len(known) < 60 {
		t.Fatalf("the code knows %d codes, want all of them", len(known))
	}
	table := docTable{head: []string{"codes", "kind", "what is done", "shown by"}}
	var listed []string
	for _, group := range codeGroups() {
		listed = append(listed, group.codes...)
		for _, code := range group.codes {
			if kind, ok := client.KindOfCode(code); ok != (group.kind != provider.Invalid) || ok && kind != group.kind {
				t.Errorf("%s is of kind %q, want %s", code, kind, group.kind)
			}
		}
		table.rows = append(table.rows, docRow{cells: []string{quoted(group.codes), string(group.kind), group.what}, tests: group.tests + " TestCodesAreDocumented"})
	}
	whole(t, "code", known, listed)
	table.check(t)
}

// quoted is a list for a cell of a table.
func quoted(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "`" + name + "`"
	}
	return strings.Join(out, ", ")
}
