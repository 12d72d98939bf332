package client

import (
	"strings"

	"spokeshave.dev/controller/cloud/provider"
)

// KindOfCode knows AWS's codes; the rest are judged by HTTP status.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func KindOfCode(code string) (provider.Kind, bool) {
	switch code {
	case "InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacityOnHost",
		"UnfulfillableCapacity", "ReservationCapacityExceeded", "InsufficientReservedInstanceCapacity",
		"InsufficientFreeAddressesInSubnet", "InsufficientAddressCapacity", "InsufficientVolumeCapacity",
		"VolumeTypeNotAvailableInZone", "SpotMaxPriceTooLow", "Unsupported":
		return provider.InsufficientCapacity, true
	case "VcpuLimitExceeded", "InstanceLimitExceeded", "MaxSpotInstanceCountExceeded", "MaxFleetCountExceeded",
		"MaxSpotFleetRequestCountExceeded", "VolumeLimitExceeded", "MaxIOPSLimitExceeded", "NetworkInterfaceLimitExceeded",
		"PrivateIpAddressLimitExceeded", "AddressLimitExceeded", "MaxTemplateLimitExceeded", "MaxTemplateVersionLimitExceeded",
		"InstanceCreditSpecification.LimitExceeded", "ResourceLimitExceeded", "LimitExceeded", "LimitExceededException",
		// Without the role there is no spot, as with a quota of nothing; other capacity is there.
		"AuthFailure.ServiceLinkedRoleCreationNotPermitted":
		return provider.Quota, true
	case "RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
		"RequestThrottledException", "TooManyRequestsException", "EC2ThrottledException", "SlowDown",
		"PriorRequestNotComplete", "BandwidthLimitExceeded", "ResourceCountLimitExceeded":
		return provider.Throttled, true
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "InvalidClientTokenId", "OptInRequired",
		"UnrecognizedClientException", "ExpiredToken", "ExpiredTokenException", "SignatureDoesNotMatch",
		"RequestExpired", "IncompleteSignature", "MissingAuthenticationToken", "PendingVerification", "Blocked", "NotAuthorized":
		return provider.Unauthorized, true
	case "NoSuchEntity", "NoSuchEntityException", "ParameterNotFound", "ParameterVersionNotFound",
		"ResourceNotFoundException", "InvalidLaunchTemplateName.NotFoundException", "InvalidLaunchTemplateId.NotFoundException",
		"InvalidLaunchTemplateId.NotFound", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue":
		return provider.NotFound, true
	case "InternalError", "InternalFailure", "InternalServerError", "InternalServiceError", "ServerInternal", "ServiceUnavailable",
		"Unavailable", "RequestTimeout", "RequestTimeoutException", "RetryableError", "ConcurrentModification", "ConcurrentTagAccess":
		return provider.Unavailable, true
	}
	switch {
	case code == "InvalidPlacementGroup.Unknown":
		return provider.NotFound, true
	case strings.HasPrefix(code, "AuthFailure"):
		return provider.Unauthorized, true
	case strings.HasSuffix(code, ".NotFound"), strings.HasSuffix(code, ".NotFoundException"):
		return provider.NotFound, true
	}
	return "", false
}

// AdviceFor says what a person can do about an error, where AWS does not.
func AdviceFor(kind provider.Kind, code string) string {
	switch {
	case code == "AuthFailure.ServiceLinkedRoleCreationNotPermitted":
		return "create the service-linked role once: aws iam create-service-linked-role --aws-service-name spot.amazonaws.com"
	case code == "ExpiredToken" || code == "ExpiredTokenException":
		return "the controller's credentials have expired; check its service account's role or Pod Identity association"
	case kind == provider.Unauthorized:
		return "allow this action to the controller's IAM role"
	case kind == provider.Quota:
		return "ask AWS for a higher quota under Service Quotas, or narrow the NodePool to types of another family"
	case code == "InsufficientFreeAddressesInSubnet" || code == "InsufficientAddressCapacity":
		return "the zone's subnet has no addresses left; other zones are tried, and more or larger subnets in spec.subnetSelectorTerms help"
	case code == "Unsupported":
		return "AWS does not sell this type there; another one is tried"
	case kind == provider.InsufficientCapacity:
		return "AWS has none left there; another offering is tried, and more types and zones in the NodePool help"
	case kind == provider.Throttled:
		return "the account's requests are used up for now; it is tried again, more slowly"
	case kind == provider.Unavailable:
		return "AWS did not answer as it should; it is tried again"
	case kind == provider.NotFound:
		return "it does not exist in this account and region, or not any more; correct what names it"
	case kind == provider.Invalid:
		return "AWS never accepts this; correct the EC2NodeClass or the NodePool"
	default:
		return ""
	}
}
