package sim

import "strings"

// readScope takes region and service from the credential scope,
// AKID/20260801/us-west-2/ec2/aws4_request. The signature is not verified.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-authentication-methods.html
func (c *call) readScope(header string) error {
	if header == "" {
		return failf("MissingAuthenticationToken", "Request is missing Authentication Token")
	}
	credential, ok := strings.CutPrefix(header, "AWS4-HMAC-SHA256 ")
	if !ok {
		return failf("AuthFailure", "AWS was not able to validate the provided access credentials: not a version 4 signature")
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
		c.region, c.service = parts[len(parts)-3], parts[len(parts)-2]
		return nil
	}
	return failf("AuthFailure", "AWS was not able to validate the provided access credentials: no credential scope")
}

// checkRegion refuses requests scoped to another region. IAM, STS and Pricing
// are served from few regions for all of them.
// https://docs.aws.amazon.com/general/latest/gr/rande.html
func (s *Server) checkRegion(c *call) error {
	switch c.service {
	case "iam", "sts", "pricing":
		return nil
	case "ec2":
		if c.region != s.cfg.Region {
			return failf("AuthFailure", "Credential should be scoped to a valid region, not '%s' (ec2sim is %s)", c.region, s.cfg.Region)
		}
	default:
		if c.region != s.cfg.Region {
			return failf("InvalidSignatureException", "Credential should be scoped to a valid region, not '%s' (ec2sim is %s)", c.region, s.cfg.Region)
		}
	}
	return nil
}

// wellFormedID says whether id is prefix and 8 or 17 hexadecimal digits.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html
func wellFormedID(prefix, id string) bool {
	digits, ok := strings.CutPrefix(id, prefix+"-")
	return ok && (len(digits) == 8 || len(digits) == 17) && strings.Trim(digits, "0123456789abcdef") == ""
}
