package nodeclass

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/dryrun"
	"spokeshave.dev/controller/cloud/provider"
)

// Cloud is what a class is resolved with; aws.Provider is one.
type Cloud interface {
	Selected
	InstanceProfile(context.Context, *awsv1.EC2NodeClass) (string, error)
	// Validate finds what is wrong with a class without asking AWS.
	Validate(*awsv1.EC2NodeClass) error
	DeleteInstanceProfile(ctx context.Context, role string) error
	DeleteTemplates(ctx context.Context, class string) error
}

// Selected finds what a class's selectors choose.
type Selected interface {
	Subnets(context.Context, []awsv1.SubnetSelectorTerm) ([]awsv1.Subnet, error)
	SecurityGroups(context.Context, []awsv1.SecurityGroupSelectorTerm) ([]awsv1.SecurityGroup, error)
	Images(context.Context, *awsv1.EC2NodeClass) ([]awsv1.AMI, error)
	CapacityReservations(context.Context, *awsv1.EC2NodeClass) ([]awsv1.CapacityReservation, error)
	// PlacementGroup checks that a group can be launched into; nil names none.
	PlacementGroup(context.Context, *awsv1.PlacementGroupSelector) error
}

// Resolver resolves classes.
type Resolver struct {
	Cloud Cloud
	// Clock dates the conditions.
	Clock func() time.Time
	// DryRuns knows what EC2 allows; nil when it is not asked.
	DryRuns *dryrun.Checker
	// Ages shows when each part was read; nil records nothing.
	Ages *Ages
}

// Resolve gives the class's new status; what is wrong with the class is said by
// its conditions. The error joins what could not be found out for now: such
// parts keep their last answer, if they had one for this generation, and the
// caller asks again soon.
func (r *Resolver) Resolve(ctx context.Context, class *awsv1.EC2NodeClass) (awsv1.EC2NodeClassStatus, error) {
	out := *class.Status.DeepCopy()
	c := conditions{list: &out.Conditions, generation: class.Generation, now: r.Clock()}
	var failures []error
	answered := map[string]bool{}
	for _, step := range []struct {
		condition string
		run       func() error
	}{
		{awsv1.ConditionValidationSucceeded, func() error { return r.validate(class) }},
		{awsv1.ConditionSubnetsReady, func() error { return r.subnets(ctx, class, &out) }},
		{awsv1.ConditionSecurityGroupsReady, func() error { return r.securityGroups(ctx, class, &out) }},
		{awsv1.ConditionAMIsReady, func() error { return r.images(ctx, class, &out) }},
		{awsv1.ConditionInstanceProfileReady, func() error { return r.instanceProfile(ctx, class, &out) }},
		{awsv1.ConditionCapacityReservationsReady, func() error { return r.reservations(ctx, class, &out) }},
		{awsv1.ConditionPlacementGroupReady, func() error { return r.Cloud.PlacementGroup(ctx, class.Spec.PlacementGroupSelector) }},
	} {
		outcome := step.run()
		if part := partOf(class, step.condition); part != "" {
			answered[part] = isAnswer(outcome)
		}
		if err := c.settle(step.condition, outcome); err != nil {
			failures = append(failures, err)
		}
	}
	r.Ages.note(class.Name, answered)
	c.summarize(class.ReadyConditions())
	return out, errors.Join(failures...)
}

// validate finds what is wrong with the class itself, then what EC2 refused when it was asked
// last. A refusal that was written before this process started holds until it has asked.
func (r *Resolver) validate(class *awsv1.EC2NodeClass) error {
	if err := r.Cloud.Validate(class); err != nil || r.DryRuns == nil {
		return err
	}
	if refusal, known := r.DryRuns.Last(class.Name); refusal != nil {
		return &lack{reason: refusal.Reason, message: refusal.Message}
	} else if known {
		return nil
	}
	last := meta.FindStatusCondition(class.Status.Conditions, awsv1.ConditionValidationSucceeded)
	if last != nil && last.Status == metav1.ConditionFalse && last.ObservedGeneration == class.Generation && ofDryRun(last.Reason) {
		return &lack{reason: last.Reason, message: last.Message}
	}
	return nil
}

func ofDryRun(reason string) bool {
	switch reason {
	case awsv1.ReasonCreateLaunchTemplateAuthCheckFailed, awsv1.ReasonRunInstancesAuthCheckFailed, awsv1.ReasonCreateFleetAuthCheckFailed:
		return true
	default:
		return false
	}
}

func (r *Resolver) subnets(ctx context.Context, class *awsv1.EC2NodeClass, out *awsv1.EC2NodeClassStatus) error {
	found, err := r.Cloud.Subnets(ctx, class.Spec.SubnetSelectorTerms)
	if err != nil {
		return err
	}
	out.Subnets = found
	if len(found) == 0 {
		return missing("SubnetsNotFound", "spec.subnetSelectorTerms (%s) selects no subnet; correct the terms, or tag the subnets that nodes may use",
			terms(class.Spec.SubnetSelectorTerms, func(t awsv1.SubnetSelectorTerm) []string { return append(tags(t.Tags), named("id", t.ID)...) }))
	}
	return nil
}

func (r *Resolver) securityGroups(ctx context.Context, class *awsv1.EC2NodeClass, out *awsv1.EC2NodeClassStatus) error {
	found, err := r.Cloud.SecurityGroups(ctx, class.Spec.SecurityGroupSelectorTerms)
	if err != nil {
		return err
	}
	out.SecurityGroups = found
	if len(found) == 0 {
		return missing("SecurityGroupsNotFound", "spec.securityGroupSelectorTerms (%s) selects no security group; correct the terms, or tag the groups that nodes shall have",
			terms(class.Spec.SecurityGroupSelectorTerms, func(t awsv1.SecurityGroupSelectorTerm) []string {
				return slices.Concat(tags(t.Tags), named("id", t.ID), named("name", t.Name))
			}))
	}
	return nil
}

func (r *Resolver) images(ctx context.Context, class *awsv1.EC2NodeClass, out *awsv1.EC2NodeClassStatus) error {
	found, err := r.Cloud.Images(ctx, class)
	if err != nil {
		if provider.KindOf(err).Definitive() {
			out.AMIs = nil
		}
		return err
	}
	out.AMIs = found
	if len(found) == 0 {
		return missing("AMINotFound", "spec.amiSelectorTerms (%s) selects no image for amd64 or arm64 in this region; correct the terms, or share the image with this account",
			terms(class.Spec.AMISelectorTerms, func(t awsv1.AMISelectorTerm) []string {
				return slices.Concat(named("alias", t.Alias), tags(t.Tags), named("id", t.ID), named("name", t.Name), named("owner", t.Owner), named("ssmParameter", t.SSMParameter))
			}))
	}
	return nil
}

func (r *Resolver) instanceProfile(ctx context.Context, class *awsv1.EC2NodeClass, out *awsv1.EC2NodeClassStatus) error {
	name, err := r.Cloud.InstanceProfile(ctx, class)
	if err != nil {
		if provider.KindOf(err).Definitive() {
			out.InstanceProfile = ""
		}
		return err
	}
	out.InstanceProfile = name
	return nil
}

// reservations that are not there make a class no less usable: its nodes are
// launched on demand and on spot then.
func (r *Resolver) reservations(ctx context.Context, class *awsv1.EC2NodeClass, out *awsv1.EC2NodeClassStatus) error {
	if len(class.Spec.CapacityReservationSelectorTerms) == 0 {
		out.CapacityReservations = nil
		return nil
	}
	found, err := r.Cloud.CapacityReservations(ctx, class)
	if err != nil {
		if provider.KindOf(err).Definitive() {
			out.CapacityReservations = nil
		}
		return err
	}
	out.CapacityReservations = found
	return nil
}

// lack is something that is not there, with the condition's reason.
type lack struct {
	reason  string
	message string
}

func (l *lack) Error() string { return l.message }

// isLack reports whether err says that something is not there.
func isLack(err error) bool {
	var short *lack
	return errors.As(err, &short)
}

func missing(reason, format string, args ...any) error {
	return &lack{reason: reason, message: fmt.Sprintf(format, args...)}
}

// terms writes selector terms down: alternatives apart by " or ".
func terms[T any](all []T, fields func(T) []string) string {
	out := make([]string, 0, len(all))
	for _, t := range all {
		out = append(out, strings.Join(fields(t), " "))
	}
	return strings.Join(out, " or ")
}

func tags(in map[string]string) []string {
	out := make([]string, 0, len(in))
	for key, value := range in {
		out = append(out, "tag "+key+"="+value)
	}
	slices.Sort(out)
	return out
}

func named(name, value string) []string {
	if value == "" {
		return nil
	}
	return []string{name + "=" + value}
}
