package dryrun

import (
	"context"
	"fmt"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/fleet"
)

// The codes with which EC2 answers a dry run.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
const (
	codeAllowed = "DryRunOperation"
	codeRefused = "UnauthorizedOperation"
)

// send sends the requests, until one is refused. An error means that a request was answered
// with neither.
//
// The other two name the launch template, whose tags IAM policies have conditions on, so it
// has to exist: it is made once the first dry run says that it may be.
func (c *Checker) send(ctx context.Context, class string, e *fleet.Example) (*Refusal, error) {
	refusal, err := verdict("CreateLaunchTemplate", awsv1.ReasonCreateLaunchTemplateAuthCheckFailed, c.dryTemplate(ctx, *e.Template))
	if refusal != nil || err != nil {
		return refusal, err
	}
	if err := c.cfg.Make(ctx, class, e.Template); err != nil {
		return nil, err
	}
	refusal, err = verdict("RunInstances", awsv1.ReasonRunInstancesAuthCheckFailed, c.dryRun(ctx, *e.Run))
	if refusal != nil || err != nil {
		return refusal, err
	}
	return verdict("CreateFleet", awsv1.ReasonCreateFleetAuthCheckFailed, c.dryFleet(ctx, *e.Fleet))
}

// once keeps the SDK from repeating a call: a dry run is not worth other calls' share of
// requests.
func once(o *ec2.Options) { o.Retryer = sdk.NopRetryer{} }

func (c *Checker) dryTemplate(ctx context.Context, in ec2.CreateLaunchTemplateInput) error { //nolint:gocritic // a copy, which is changed
	// The template may exist, which EC2 may say in place of what is asked.
	in.LaunchTemplateName = sdk.String(sdk.ToString(in.LaunchTemplateName) + "/dry-run")
	in.DryRun = sdk.Bool(true)
	_, err := c.cfg.EC2.CreateLaunchTemplate(ctx, &in, once)
	return err
}

func (c *Checker) dryRun(ctx context.Context, in ec2.RunInstancesInput) error { //nolint:gocritic // a copy, which is changed
	in.DryRun = sdk.Bool(true)
	_, err := c.cfg.EC2.RunInstances(ctx, &in, once)
	return err
}

func (c *Checker) dryFleet(ctx context.Context, in ec2.CreateFleetInput) error { //nolint:gocritic // a copy, which is changed
	in.DryRun = sdk.Bool(true)
	_, err := c.cfg.EC2.CreateFleet(ctx, &in, once)
	return err
}

// verdict reads the answer to a dry run of an action.
func verdict(action, reason string, answer error) (*Refusal, error) {
	_, code := client.Classify(answer)
	err := client.Fault(answer, "dry run of %s", action)
	switch {
	case answer == nil:
		return nil, fmt.Errorf("dry run of %s: EC2 took it for a real request", action)
	case code == codeAllowed:
		return nil, nil //nolint:nilnil // allowed
	case code == codeRefused:
		return &Refusal{Reason: reason, Message: err.Error()}, nil
	default:
		return nil, err
	}
}
