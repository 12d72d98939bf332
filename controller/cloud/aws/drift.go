package aws

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

var _ provider.Drifter = (*Provider)(nil)

// launchAnnotations are what a claim must remember of its class for Drifted.
// driftCA is Config.DriftCA.
func launchAnnotations(class *awsv1.EC2NodeClass, driftCA string) (map[string]string, error) {
	hash, err := class.Hash(driftCA)
	if err != nil {
		return nil, client.Refuse(provider.Invalid, "%w", err)
	}
	return map[string]string{
		awsv1.AnnotationEC2NodeClassHash:        hash,
		awsv1.AnnotationEC2NodeClassHashVersion: awsv1.EC2NodeClassHashVersion,
		awsv1.AnnotationInstanceProfile:         class.Status.InstanceProfile,
	}, nil
}

// Drifted implements provider.Drifter.
//
// What the class says of itself is compared by Karpenter's hash, so that nodes that
// Karpenter launched drift too. A hash of another version cannot be compared and is
// not drift; the nodeclass reconciler stamps such claims anew. What the class's
// selectors choose is compared with the instance as EC2 describes it.
func (p *Provider) Drifted(ctx context.Context, node provider.Launched) (provider.Drift, error) {
	class, err := p.class(ctx, node.NodeClass)
	if err != nil {
		return provider.Drift{}, fmt.Errorf("compare %s with its class: %w", node.ProviderID, err)
	}
	now, err := launchAnnotations(class, p.driftCA)
	if err != nil {
		return provider.Drift{}, fmt.Errorf("compare %s with its class: %w", node.ProviderID, err)
	}
	then := node.Annotations
	if then[awsv1.AnnotationEC2NodeClassHashVersion] == awsv1.EC2NodeClassHashVersion &&
		then[awsv1.AnnotationEC2NodeClassHash] != now[awsv1.AnnotationEC2NodeClassHash] {
		return provider.Drift{
			Reason:  provider.NodeClassDrift,
			Message: fmt.Sprintf("EC2NodeClass %s was changed after the node was launched", class.Name),
		}, nil
	}
	i, err := p.Get(ctx, node.ProviderID)
	if err != nil {
		return provider.Drift{}, fmt.Errorf("compare with EC2NodeClass %s: %w", class.Name, err)
	}
	labels, err := p.typeLabels(class, i.InstanceType, node.Labels)
	if err != nil {
		return provider.Drift{}, fmt.Errorf("compare %s with its class: %w", node.ProviderID, err)
	}
	if node.Labels[karpv1.LabelCapacityType] == string(model.Reserved) && i.CapacityType != model.Reserved {
		return provider.Drift{Reason: provider.CapacityReservationDrift, Message: "the capacity reservation has ended, and the instance runs on demand"}, nil
	}
	group, err := p.nodeClasses.groups.ID(ctx, class)
	switch {
	case err != nil && !provider.KindOf(err).Definitive():
		return provider.Drift{}, fmt.Errorf("compare %s with its class: %w", node.ProviderID, err)
	case err == nil && group != i.PlacementGroupID && i.State != pendingState:
		return provider.Drift{
			Reason:  provider.PlacementGroupDrift,
			Message: fmt.Sprintf("the instance is in placement group %q, EC2NodeClass %s selects %q", i.PlacementGroupID, class.Name, group),
		}, nil
	}
	return drifted(class, &i, labels), nil
}

// pendingState is that of an instance which EC2 may not have placed yet.
const pendingState = string(types.InstanceStateNamePending)

// typeLabels are the labels of the instance's type; those that the node has, if
// the type is no longer sold.
func (p *Provider) typeLabels(class *awsv1.EC2NodeClass, name string, own map[string]string) (map[string]string, error) {
	catalog, err := p.catalogue.Of(class)
	if err != nil {
		return nil, err
	}
	for i := range catalog.Types {
		if catalog.Types[i].Name == name {
			return catalog.Types[i].Labels, nil
		}
	}
	return own, nil
}

// drifted compares an instance with what the class's selectors choose now. What
// EC2 did not say is not compared.
func drifted(class *awsv1.EC2NodeClass, i *provider.Instance, labels map[string]string) provider.Drift {
	status := &class.Status
	wrong := func(reason provider.DriftReason, format string, args ...any) provider.Drift {
		return provider.Drift{Reason: reason, Message: fmt.Sprintf(format, args...)}
	}
	groups := make([]string, 0, len(status.SecurityGroups))
	for _, g := range status.SecurityGroups {
		groups = append(groups, g.ID)
	}
	slices.Sort(groups)
	switch {
	case !slices.ContainsFunc(status.AMIs, func(a awsv1.AMI) bool { return a.ID == i.ImageID && resolve.Fits(&a, labels) }):
		return wrong(provider.AMIDrift, "image %s is not the one that EC2NodeClass %s selects for %s", i.ImageID, class.Name, i.InstanceType)
	case i.SubnetID != "" && !slices.ContainsFunc(status.Subnets, func(s awsv1.Subnet) bool { return s.ID == i.SubnetID }):
		return wrong(provider.SubnetDrift, "EC2NodeClass %s no longer selects subnet %s", class.Name, i.SubnetID)
	case len(i.SecurityGroups) > 0 && !slices.Equal(groups, i.SecurityGroups):
		return wrong(provider.SecurityGroupDrift, "the instance has security groups %v, EC2NodeClass %s selects %v", i.SecurityGroups, class.Name, groups)
	case i.ReservationID != "" && i.CapacityType == model.Reserved && !slices.ContainsFunc(status.CapacityReservations, func(r awsv1.CapacityReservation) bool { return r.ID == i.ReservationID }):
		return wrong(provider.CapacityReservationDrift, "EC2NodeClass %s no longer selects capacity reservation %s", class.Name, i.ReservationID)
	case slices.ContainsFunc(status.CapacityReservations, func(r awsv1.CapacityReservation) bool {
		return r.ID == i.ReservationID && r.State == awsv1.ReservationStateExpiring
	}):
		return wrong(provider.CapacityReservationDrift, "capacity block %s is about to end", i.ReservationID)
	default:
		return provider.Drift{}
	}
}
