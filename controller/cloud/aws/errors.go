package aws

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// fault gives err its kind and AWS's code. An error that has a kind keeps it.
func fault(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	what := fmt.Sprintf(format, args...)
	if _, known := errors.AsType[*provider.Error](err); known {
		return fmt.Errorf("%s: %w", what, err)
	}
	kind, code := classify(err)
	text := what + ": " + brief(err)
	advice := adviceFor(kind, code)
	if strings.Contains(err.Error(), withoutCredentials) {
		advice = "the controller gets no credentials of AWS; check the role of its service account and whom that role trusts, or its Pod Identity association"
	}
	if advice != "" {
		text += " (" + advice + ")"
	}
	return &provider.Error{Kind: kind, Code: code, Err: &callError{text: text, err: err}}
}

// withoutCredentials is in what the SDK says of a call that it could not sign. It
// has no type for that, and no code.
const withoutCredentials = "get credentials: "

// callError is an error of the SDK in words that do not change from one try to
// the next: they end up in conditions, which are written only when they change.
type callError struct {
	text string
	err  error
}

func (e *callError) Error() string { return e.text }

func (e *callError) Unwrap() error { return e.err }

// brief leaves out request ids and encoded authorization messages.
func brief(err error) string {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return err.Error()
	}
	message, _, _ := strings.Cut(api.ErrorMessage(), " Encoded authorization failure message")
	if message == "" {
		return api.ErrorCode()
	}
	return strings.TrimSuffix(message, ".")
}

func refuse(kind provider.Kind, format string, args ...any) error {
	return &provider.Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}

// classify finds the kind and the code of an error from the SDK. What has no
// code, and every 5xx, may have taken effect: Unavailable.
func classify(err error) (provider.Kind, string) {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return provider.Unavailable, ""
	}
	code := api.ErrorCode()
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return provider.Unavailable, code
	}
	if kind, ok := kindOfCode(code); ok {
		return kind, code
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		switch status := response.HTTPStatusCode(); {
		case status == http.StatusTooManyRequests:
			return provider.Throttled, code
		case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
			return provider.Unavailable, code
		}
	}
	if api.ErrorFault() == smithy.FaultServer {
		return provider.Unavailable, code
	}
	return provider.Invalid, code
}

// kindOfCode knows AWS's codes; the rest are judged by HTTP status.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func kindOfCode(code string) (provider.Kind, bool) {
	switch code {
	case "InsufficientInstanceCapacity", "InsufficientHostCapacity", "InsufficientCapacityOnHost",
		"UnfulfillableCapacity", "ReservationCapacityExceeded", "InsufficientReservedInstanceCapacity",
		"InsufficientFreeAddressesInSubnet", "InsufficientAddressCapacity", "SpotMaxPriceTooLow", "Unsupported":
		return provider.InsufficientCapacity, true
	case "VcpuLimitExceeded", "InstanceLimitExceeded", "MaxSpotInstanceCountExceeded", "MaxFleetCountExceeded",
		"MaxSpotFleetRequestCountExceeded", "VolumeLimitExceeded", "MaxIOPSLimitExceeded", "NetworkInterfaceLimitExceeded",
		"PrivateIpAddressLimitExceeded", "AddressLimitExceeded", "LaunchTemplateLimitExceeded",
		"InstanceCreditSpecification.LimitExceeded", "LimitExceeded", "LimitExceededException":
		return provider.Quota, true
	case "RequestLimitExceeded", "Throttling", "ThrottlingException", "ThrottledException", "RequestThrottled",
		"RequestThrottledException", "TooManyRequestsException", "EC2ThrottledException", "SlowDown",
		"PriorRequestNotComplete", "BandwidthLimitExceeded", "ResourceCountLimitExceeded":
		return provider.Throttled, true
	case "UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "InvalidClientTokenId", "OptInRequired",
		"UnrecognizedClientException", "ExpiredToken", "ExpiredTokenException", "SignatureDoesNotMatch",
		"IncompleteSignature", "MissingAuthenticationToken", "PendingVerification", "Blocked", "NotAuthorized":
		return provider.Unauthorized, true
	case "NoSuchEntity", "NoSuchEntityException", "ParameterNotFound", "ParameterVersionNotFound",
		"ResourceNotFoundException", "InvalidLaunchTemplateName.NotFoundException", "InvalidLaunchTemplateId.NotFoundException",
		"InvalidLaunchTemplateId.NotFound", "QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue":
		return provider.NotFound, true
	case "InternalError", "InternalFailure", "InternalServerError", "InternalServiceError", "ServiceUnavailable",
		"Unavailable", "RequestTimeout", "RequestTimeoutException", "ConcurrentModification":
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

// adviceFor says what a person can do about an error, where AWS does not.
func adviceFor(kind provider.Kind, code string) string {
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

func soldOut(offerings []model.Option, code string, err error) error {
	return &provider.Error{Kind: provider.InsufficientCapacity, Code: code, Offerings: offerings, Err: err}
}
