package aws

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// templateFor is how long a launch template is taken to exist after it was made
// or found.
const templateFor = 5 * time.Minute

// boot is what nodes of a class differ in when they start: image, user data, and
// what their capacity is bought from.
type boot struct {
	image       string
	data        string
	bought      model.CapacityType
	reservation *awsv1.CapacityReservation
}

// ensureTemplate makes the launch template of a class and a boot, unless it
// exists, and gives its name. The name holds a digest of the contents, so that
// equal templates are shared and none is ever changed:
// karpenter.k8s.aws/<image>/<digest>, and /<reservation> after it.
func (p *Provider) ensureTemplate(ctx context.Context, class *awsv1.EC2NodeClass, b boot) (string, error) {
	contents := p.templateData(class, b)
	raw, err := json.Marshal(contents)
	if err != nil {
		return "", refuse(provider.Invalid, "launch template of EC2NodeClass %s: %w", class.Name, err)
	}
	sum := sha256.Sum256(slices.Concat([]byte(p.cfg.ClusterName+"\x00"+class.Name+"\x00"), raw))
	name := awsv1.LaunchTemplatePrefix + b.image + "/" + hex.EncodeToString(sum[:12])
	if b.reservation != nil {
		name += "/" + b.reservation.ID
	}
	now := p.cfg.Clock()
	if p.knowsTemplate(name, now) {
		return name, nil
	}
	_, err, _ = p.making.Do(name, func() (any, error) {
		// Somebody may have made it since this caller looked.
		if p.knowsTemplate(name, now) {
			return nil, nil //nolint:nilnil // there is nothing to give
		}
		if err := p.createTemplate(ctx, class, name, contents); err != nil {
			return nil, err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.templates[name] = now.Add(templateFor)
		return nil, nil //nolint:nilnil // as above
	})
	if err != nil {
		return "", err
	}
	return name, nil
}

// knowsTemplate says whether a template was made or found a moment ago.
func (p *Provider) knowsTemplate(name string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Before(p.templates[name])
}

func (p *Provider) createTemplate(ctx context.Context, class *awsv1.EC2NodeClass, name string, contents *types.RequestLaunchTemplateData) error {
	_, err := p.sdk.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: sdk.String(name),
		LaunchTemplateData: contents,
		TagSpecifications:  []types.TagSpecification{{ResourceType: types.ResourceTypeLaunchTemplate, Tags: ec2Tags(p.classTags(class))}},
	})
	if _, code := classify(err); err != nil && code != "InvalidLaunchTemplateName.AlreadyExistsException" {
		return fault(err, "create launch template %s of EC2NodeClass %s", name, class.Name)
	}
	return nil
}

// forgetTemplate makes the next Prepare look again.
func (p *Provider) forgetTemplate(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.templates, name)
}

// imageOf reads the image from a template's name.
func imageOf(template string) string {
	rest, ours := strings.CutPrefix(template, awsv1.LaunchTemplatePrefix)
	image, _, ok := strings.Cut(rest, "/")
	if !ours || !ok {
		return ""
	}
	return image
}

// reservationIn reads the reservation from a template's name, "" for none.
func reservationIn(template string) string {
	if at := strings.LastIndexByte(template, '/'); strings.HasPrefix(template[at+1:], "cr-") {
		return template[at+1:]
	}
	return ""
}

func (p *Provider) templateData(class *awsv1.EC2NodeClass, b boot) *types.RequestLaunchTemplateData {
	spec := &class.Spec
	out := &types.RequestLaunchTemplateData{
		ImageId:             sdk.String(b.image),
		IamInstanceProfile:  &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: sdk.String(class.Status.InstanceProfile)},
		BlockDeviceMappings: templateDisks(class.Disks()),
		MetadataOptions:     metadataOptions(class),
		Monitoring:          &types.LaunchTemplatesMonitoringRequest{Enabled: sdk.Bool(sdk.ToBool(spec.DetailedMonitoring))},
		TagSpecifications: []types.LaunchTemplateTagSpecificationRequest{
			{ResourceType: types.ResourceTypeNetworkInterface, Tags: ec2Tags(p.classTags(class))},
		},
	}
	if b.data != "" {
		out.UserData = sdk.String(base64.StdEncoding.EncodeToString([]byte(b.data)))
	}
	draw(out, class, b)
	if g := spec.PlacementGroupSelector; g != nil {
		out.Placement = &types.LaunchTemplatePlacementRequest{GroupId: g.ID, GroupName: g.Name}
	}
	groups := make([]string, 0, len(class.Status.SecurityGroups))
	for _, g := range class.Status.SecurityGroups {
		groups = append(groups, g.ID)
	}
	// Security groups and interfaces exclude each other.
	if out.NetworkInterfaces = interfaces(spec, groups); len(out.NetworkInterfaces) == 0 {
		out.SecurityGroupIds = groups
	}
	if spec.CPUOptions != nil && spec.CPUOptions.NestedVirtualization != nil {
		out.CpuOptions = &types.LaunchTemplateCpuOptionsRequest{
			NestedVirtualization: types.NestedVirtualizationSpecification(*spec.CPUOptions.NestedVirtualization),
		}
	}
	return out
}

// draw says which reservation the instance is launched into. A class that selects
// reservations accounts for them, so that its other instances use none, not even
// an open one. EC2 takes a target or a preference.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateCapacityReservationSpecificationRequest.html
func draw(out *types.RequestLaunchTemplateData, class *awsv1.EC2NodeClass, b boot) {
	switch {
	case b.reservation != nil:
		out.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationTarget: &types.CapacityReservationTarget{CapacityReservationId: sdk.String(b.reservation.ID)},
		}
		if b.reservation.Interruptible {
			out.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: types.MarketTypeInterruptibleCapacityReservation}
		}
		if b.reservation.ReservationType == awsv1.ReservationTypeCapacityBlock {
			out.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: types.MarketTypeCapacityBlock}
		}
	case b.bought == model.OnDemand && len(class.Spec.CapacityReservationSelectorTerms) > 0:
		out.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: types.CapacityReservationPreferenceNone,
		}
	}
}

// interfaces are the network interfaces, where the class asks for more than
// EC2's default one.
func interfaces(spec *awsv1.EC2NodeClassSpec, groups []string) []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest {
	wanted := spec.NetworkInterfaces
	if len(wanted) == 0 {
		if spec.AssociatePublicIPAddress == nil && spec.ConnectionTracking == nil && spec.IPPrefixCount == nil {
			return nil
		}
		wanted = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}}
	}
	var out []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest
	for _, w := range wanted {
		n := types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest{
			NetworkCardIndex: sdk.Int32(w.NetworkCardIndex),
			DeviceIndex:      sdk.Int32(w.DeviceIndex),
			InterfaceType:    sdk.String(string(w.InterfaceType)),
			Groups:           groups,
		}
		if t := spec.ConnectionTracking; t != nil {
			n.ConnectionTrackingSpecification = &types.ConnectionTrackingSpecificationRequest{
				TcpEstablishedTimeout: t.TCPEstablishedTimeout, UdpStreamTimeout: t.UDPStreamTimeout, UdpTimeout: t.UDPTimeout,
			}
		}
		if w.NetworkCardIndex == 0 && w.DeviceIndex == 0 {
			n.Ipv4PrefixCount = spec.IPPrefixCount
			// EC2 takes a public address only for an instance with one interface.
			if len(wanted) == 1 {
				n.AssociatePublicIpAddress = spec.AssociatePublicIPAddress
			}
		}
		out = append(out, n)
	}
	return out
}

func metadataOptions(class *awsv1.EC2NodeClass) *types.LaunchTemplateInstanceMetadataOptionsRequest {
	full := class.DeepCopy()
	full.SetDefaults()
	m := full.Spec.MetadataOptions
	return &types.LaunchTemplateInstanceMetadataOptionsRequest{
		HttpEndpoint:            types.LaunchTemplateInstanceMetadataEndpointState(*m.HTTPEndpoint),
		HttpProtocolIpv6:        types.LaunchTemplateInstanceMetadataProtocolIpv6(*m.HTTPProtocolIPv6),
		HttpPutResponseHopLimit: narrow(m.HTTPPutResponseHopLimit),
		HttpTokens:              types.LaunchTemplateHttpTokensState(*m.HTTPTokens),
	}
}

// DeleteTemplates deletes every launch template of a class in this cluster, and
// what metrics say of it.
func (p *Provider) DeleteTemplates(ctx context.Context, class string) error {
	p.metrics.told(class, 0)
	pages := ec2.NewDescribeLaunchTemplatesPaginator(p.sdk.EC2, &ec2.DescribeLaunchTemplatesInput{
		Filters: []types.Filter{
			filter("tag:"+awsv1.TagEKSCluster, p.cfg.ClusterName),
			filter("tag:"+awsv1.TagEC2NodeClass, class),
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return fault(err, "describe launch templates of EC2NodeClass %s", class)
		}
		for _, t := range page.LaunchTemplates {
			name := sdk.ToString(t.LaunchTemplateName)
			_, err := p.sdk.EC2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: t.LaunchTemplateId})
			if err := gone(fault(err, "delete launch template %s of EC2NodeClass %s", name, class)); err != nil {
				return err
			}
			p.forgetTemplate(name)
		}
	}
	return nil
}

// classTags are the tags of everything made for a class.
func (p *Provider) classTags(class *awsv1.EC2NodeClass) map[string]string {
	out := maps.Clone(class.Spec.Tags)
	if out == nil {
		out = map[string]string{}
	}
	out[awsv1.TagEC2NodeClass] = class.Name
	out[awsv1.TagEKSCluster] = p.cfg.ClusterName
	out[awsv1.TagClusterPrefix+p.cfg.ClusterName] = awsv1.TagClusterOwned
	return out
}

// ec2Tags sorts tags, so that equal ones make equal requests.
func ec2Tags(tags map[string]string) []types.Tag {
	out := make([]types.Tag, 0, len(tags))
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		out = append(out, types.Tag{Key: sdk.String(key), Value: sdk.String(tags[key])})
	}
	return out
}
