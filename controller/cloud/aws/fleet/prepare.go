package fleet

import (
	"context"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/bootstrap"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/launchtemplate"
	"spokeshave.dev/controller/cloud/provider"
)

// Prepare makes the attempt of a claim: one CreateFleet request of type instant, and the
// launch templates it names. Claims that want the same share a request. It starts no
// instance.
func (l *Launcher) Prepare(ctx context.Context, class *awsv1.EC2NodeClass, spec *provider.LaunchSpec) (provider.Attempt, error) {
	want, err := l.want(ctx, class, spec)
	if err != nil {
		return provider.Attempt{}, err
	}
	attempt, err := l.joined(ctx, &member{
		memberID: memberID{claim: spec.Claim, ordinal: spec.Ordinal}, want: want, request: want.key(), group: spec.Group,
	})
	if err != nil {
		return provider.Attempt{}, err
	}
	group, err := l.cfg.Groups.ID(ctx, class)
	if err != nil {
		return provider.Attempt{}, err
	}
	if group != "" {
		attempt.Labels = map[string]string{awsv1.LabelPlacementGroupID: group}
	}
	return attempt, nil
}

// want resolves what a claim is launched with, and makes the launch templates.
func (l *Launcher) want(ctx context.Context, class *awsv1.EC2NodeClass, spec *provider.LaunchSpec) (*wanted, error) {
	of, err := ingredientsOf(ctx, l, class, spec)
	if err != nil {
		return nil, err
	}
	templates, size := map[string]string{}, 0
	for i := range of.overrides {
		o := &of.overrides[i]
		if templates[o.template()] != "" {
			continue
		}
		boot, err := o.boot(of.boot, class, of.node)
		if err != nil {
			return nil, err
		}
		size = max(size, len(boot.UserData))
		if templates[o.template()], err = l.cfg.Templates.Ensure(ctx, class, boot); err != nil {
			return nil, err
		}
	}
	l.cfg.Metrics.userDataOf(class.Name, size)
	return &wanted{
		overrides: of.overrides, templates: templates, tags: sharedTags(l.cfg.Cluster, class, spec), context: class.Spec.Context,
	}, nil
}

// ingredients are what the requests of a launch are made from: the overrides of the fleet,
// and what the launch templates of all of them have in common.
type ingredients struct {
	overrides []override
	boot      launchtemplate.Boot
	node      bootstrap.Node
}

// ingredientsOf resolves what a launch needs. It sends nothing that changes anything.
func ingredientsOf(ctx context.Context, l *Launcher, class *awsv1.EC2NodeClass, spec *provider.LaunchSpec) (*ingredients, error) {
	overrides, err := l.overrides(class, spec)
	if err != nil {
		return nil, err
	}
	details, err := l.cfg.ClusterDetails(ctx)
	if err != nil {
		return nil, err
	}
	boot, err := l.boot(ctx, class, spec)
	if err != nil {
		return nil, err
	}
	boot.IPv6 = details.IPv6()
	return &ingredients{overrides, boot, bootstrap.NodeOf(class, details, spec)}, nil
}

// boot is what instances of the option start with; base is what it has in common with the
// others.
func (o *override) boot(base launchtemplate.Boot, class *awsv1.EC2NodeClass, node bootstrap.Node) (launchtemplate.Boot, error) {
	data, err := bootstrap.UserData(class, node.WithMaxPods(o.pods))
	if err != nil {
		return base, client.Refuse(provider.ClassNotReady, "EC2NodeClass %s: %w", class.Name, err)
	}
	base.Image, base.UserData, base.Bought, base.Reservation, base.EFAs = o.image, data, o.CapacityType, o.reservation, o.efas
	return base, nil
}

// boot is what all instances of a claim have in common, whatever their type.
func (l *Launcher) boot(ctx context.Context, class *awsv1.EC2NodeClass, spec *provider.LaunchSpec) (launchtemplate.Boot, error) {
	out := launchtemplate.Boot{NodePool: spec.NodePool}
	if spec.Labels[awsv1.LabelInstanceTenancy] == string(types.TenancyDedicated) {
		out.Tenancy = string(types.TenancyDedicated)
	}
	for _, name := range []corev1.ResourceName{awsv1.ResourceNitroSandbox, awsv1.ResourceNIPSlots} {
		out.Enclaves = out.Enclaves || spec.Requests[string(name)] > 0
	}
	group, err := l.cfg.Groups.Of(ctx, class)
	if err != nil {
		return out, err
	}
	out.Group = group.ID
	text, ok := spec.Labels[awsv1.LabelPlacementGroupPartition]
	if !ok {
		return out, nil
	}
	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil || number < 1 || int32(number) > group.Partitions {
		return out, client.Refuse(provider.Invalid, "partition %q is required, and the placement group of EC2NodeClass %s has %d partitions", text, class.Name, group.Partitions)
	}
	out.Partition = int32(number)
	return out, nil
}

// joined finds the others that want the same request.
func (l *Launcher) joined(ctx context.Context, m *member) (provider.Attempt, error) {
	if attempt, ok := l.launches.preparedFor(m.memberID, m.request, l.cfg.Clock()); ok {
		return attempt, nil
	}
	return l.gathering.attempt(ctx, m)
}
