package signature

import (
	"strings"

	"spokeshave.dev/simulator/awserr"
)

// Scope is what a credential scope names, and the access key before it.
type Scope struct{ AccessKey, Region, Service string }

// Read takes the scope from an Authorization header, in which it stands as
// AKID/20260801/us-west-2/ec2/aws4_request.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html
func Read(header string) (Scope, error) {
	if header == "" {
		return Scope{}, awserr.New("MissingAuthenticationToken", "Request is missing Authentication Token")
	}
	credential, ok := strings.CutPrefix(header, "AWS4-HMAC-SHA256 ")
	if !ok {
		return Scope{}, awserr.New("AuthFailure", "AWS was not able to validate the provided access credentials: not a version 4 signature")
	}
	for field := range strings.SplitSeq(credential, ",") {
		scope, ok := strings.CutPrefix(strings.TrimSpace(field), "Credential=")
		if !ok {
			continue
		}
		parts := strings.Split(scope, "/")
		if len(parts) < 5 || parts[len(parts)-1] != "aws4_request" {
			break
		}
		return Scope{AccessKey: parts[0], Region: parts[len(parts)-3], Service: parts[len(parts)-2]}, nil
	}
	return Scope{}, awserr.New("AuthFailure", "AWS was not able to validate the provided access credentials: no credential scope")
}

// Check refuses a scope of another region than the one served. IAM, STS and
// Pricing are served from few regions for all of them.
// https://docs.aws.amazon.com/general/latest/gr/rande.html
func (s Scope) Check(served string) error {
	switch {
	case s.Service == "iam" || s.Service == "sts" || s.Service == "pricing" || s.Region == served:
		return nil
	case s.Service == "ec2":
		return awserr.New("AuthFailure", "Credential should be scoped to a valid region, not '%s' (ec2sim is %s)", s.Region, served)
	default:
		return awserr.New("InvalidSignatureException", "Credential should be scoped to a valid region, not '%s' (ec2sim is %s)", s.Region, served)
	}
}
