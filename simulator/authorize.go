package simulator

import (
	"encoding/json"
	"path"
	"strings"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/sts"
)

// JoinerKey is the access key of those who play the machines. The controller's
// policies do not bind it.
const JoinerKey = "AKIAJOINER"

// authorize refuses a call that the policies do not allow. The first request
// that is denied decides what the refusal says.
func (w *world) authorize(cfg *Config, c *operation.Call) error {
	if len(cfg.Policies) == 0 || c.AccessKey == JoinerKey {
		return nil
	}
	account := ids.Account{ID: cfg.Account, Region: cfg.Region}
	access := w.access[c.Service]
	if access == nil {
		access = func(c *operation.Call) []policy.Request { return plainAccess(account, c) }
	}
	for _, r := range access(c) {
		if r.Keys == nil {
			r.Keys = policy.Keys{}
		}
		r.Keys["aws:RequestedRegion"] = []string{c.Region}
		r.Keys["aws:PrincipalAccount"] = []string{account.ID}
		if d := policy.Decide(cfg.Policies, r); !d.Allowed {
			return denied(c.Service, policy.Refusal{Principal: sts.Caller(account), Request: r, Decision: d})
		}
	}
	return nil
}

// denied is a refusal in the words of a service.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html (UnauthorizedOperation)
func denied(service string, r policy.Refusal) error {
	switch service {
	case "ec2":
		encoded, err := r.Encoded()
		if err != nil {
			return err
		}
		return awserr.New(awserr.Unauthorized, "You are not authorized to perform this operation. %s. Encoded authorization failure message: %s", r.Text(), encoded)
	case "iam", "sts":
		return awserr.New("AccessDenied", "%s", r.Text())
	default:
		return awserr.New("AccessDeniedException", "%s", r.Text())
	}
}

// plainAccess is what calls to the services without tags need: one action on
// the resource that the parameters name.
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonapplicationrecoverycontroller-zonalshift.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies_actions-resources-contextkeys.html
func plainAccess(account ids.Account, c *operation.Call) []policy.Request {
	var in struct {
		Name, Path, QueueName string
		QueueURL              string `json:"QueueUrl"`
		Names                 []string
	}
	if len(c.Body) > 0 && c.Form == nil && json.Unmarshal(c.Body, &in) != nil {
		return nil // the operation refuses what it cannot read
	}
	parameter := func(name string) string { return account.ARN("ssm", "parameter/"+strings.TrimPrefix(name, "/")) }
	one := func(resource string) []policy.Request {
		return []policy.Request{{Action: c.Service + ":" + c.Action, Resource: resource}}
	}
	switch c.Service {
	case "sts":
		if c.Action == "GetCallerIdentity" {
			return nil // no permission is needed for it
		}
		return one("*")
	case "sqs":
		if in.QueueURL != "" {
			in.QueueName = path.Base(in.QueueURL)
		}
		return one(account.ARN("sqs", in.QueueName))
	case "ssm":
		var out []policy.Request
		for _, name := range append(in.Names, in.Name+in.Path) {
			if name != "" {
				out = append(out, one(public(parameter(name), account.ID, name))...)
			}
		}
		return out
	case "eks":
		return one(account.ARN("eks", "cluster/"+c.Path[1]))
	case "arc-zonal-shift": // knows no resources, only a key
		out := one("*")
		out[0].Keys = policy.Keys{"arc-zonal-shift:ResourceIdentifier": {c.Path[0]}}
		return out
	default:
		return one("*")
	}
}

// public is the ARN of a parameter, without the account for those of AWS.
// https://docs.aws.amazon.com/systems-manager/latest/userguide/parameter-store-public-parameters.html
func public(arn, account, name string) string {
	if strings.HasPrefix(name, "/aws/service/") {
		return strings.Replace(arn, ":"+account+":", "::", 1)
	}
	return arn
}
