package resolve

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Images finds the machine images that EC2NodeClasses select.
type Images struct {
	EC2        client.Network
	Parameters *Parameters
	// Kubernetes is the cluster's version, major.minor, which aliases depend on.
	Kubernetes func(context.Context) (string, error)
	Clock      func() time.Time
}

// Select finds the machine images that the class's terms select: for each set
// of instances they fit the newest one, deprecated ones only where nothing else
// is. Nothing found is an empty list.
func (s *Images) Select(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.AMI, error) {
	var found []candidate
	for i := range class.Spec.AMISelectorTerms {
		t := &class.Spec.AMISelectorTerms[i]
		var more []candidate
		var err error
		switch {
		case t.Alias != "":
			more, err = s.aliasImages(ctx, t.Alias)
		case t.SSMParameter != "":
			more, err = s.parameterImages(ctx, t.SSMParameter)
		default:
			more, err = s.describeImages(ctx, imageQuery(t))
		}
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return newest(found, s.Clock().UTC().Format(time.RFC3339))
}

// candidate is an image with the instances it fits.
type candidate struct {
	types.Image
	requirements []corev1.NodeSelectorRequirement
}

func (s *Images) aliasImages(ctx context.Context, text string) ([]candidate, error) {
	alias, err := awsv1.ParseAlias(text)
	if err != nil {
		return nil, &provider.Error{Kind: provider.Invalid, Err: err}
	}
	version, err := s.Kubernetes(ctx)
	if err != nil {
		return nil, err
	}
	variants, err := aliasVariants(alias, version)
	if err != nil {
		return nil, err
	}
	// One image may stand for several variants.
	fits := map[string][]variant{}
	var ids []string
	for _, v := range variants {
		id, err := s.Parameters.Get(ctx, v.parameter, aliasFor)
		switch {
		case err != nil && v.optional && provider.KindOf(err) == provider.NotFound:
			continue
		case err != nil && provider.KindOf(err) == provider.NotFound:
			return nil, client.Fault(err, "alias %s: there is no such image for Kubernetes %s", text, version)
		case err != nil:
			return nil, err
		}
		if len(fits[id]) == 0 {
			ids = append(ids, id)
		}
		fits[id] = append(fits[id], v)
	}
	found, err := s.describeImages(ctx, &ec2.DescribeImagesInput{Filters: []types.Filter{client.Filter("image-id", ids...)}})
	var out []candidate
	for i := range found {
		for _, v := range fits[sdk.ToString(found[i].ImageId)] {
			out = append(out, candidate{Image: found[i].Image, requirements: v.requirements})
		}
	}
	return out, err
}

func (s *Images) parameterImages(ctx context.Context, name string) ([]candidate, error) {
	id, err := s.Parameters.Get(ctx, name, parameterFor)
	if err != nil {
		return nil, err
	}
	return s.describeImages(ctx, &ec2.DescribeImagesInput{Filters: []types.Filter{client.Filter("image-id", id)}})
}

// imageQuery translates a term by id, or by name, tags and owner. A name
// without an owner means ours or Amazon's: anyone may publish an image under
// any name.
func imageQuery(t *awsv1.AMISelectorTerm) *ec2.DescribeImagesInput {
	in := &ec2.DescribeImagesInput{}
	if t.ID != "" {
		in.Filters = []types.Filter{client.Filter("image-id", t.ID)}
		return in
	}
	in.Filters = client.TagFilters(t.Tags)
	if t.Name != "" {
		in.Filters = append(in.Filters, client.Filter("name", t.Name))
	}
	switch {
	case t.Owner != "":
		in.Owners = []string{t.Owner}
	case t.Name != "":
		in.Owners = []string{"self", "amazon"}
	}
	return in
}

func (s *Images) describeImages(ctx context.Context, in *ec2.DescribeImagesInput) ([]candidate, error) {
	in.IncludeDeprecated = sdk.Bool(true)
	in.Filters = append(in.Filters, client.Filter("state", "available"))
	var out []candidate
	pages := ec2.NewDescribeImagesPaginator(s.EC2, in)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, client.Fault(err, "describe images")
		}
		for i := range page.Images {
			if arch := imageArch(&page.Images[i]); arch != "" {
				out = append(out, candidate{Image: page.Images[i], requirements: []corev1.NodeSelectorRequirement{archRequirement(arch)}})
			}
		}
	}
	return out, nil
}

func imageArch(image *types.Image) string {
	switch image.Architecture { //nolint:exhaustive // nodes run on these two only
	case types.ArchitectureValuesX8664:
		return "amd64"
	case types.ArchitectureValuesArm64:
		return "arm64"
	default:
		return ""
	}
}

// newest keeps one image for each set of requirements. Dates are ISO 8601 in
// UTC, which sorts as text.
func newest(found []candidate, now string) ([]awsv1.AMI, error) {
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(
			compareBool(deprecated(&a.Image, now), deprecated(&b.Image, now)),
			cmp.Compare(sdk.ToString(b.CreationDate), sdk.ToString(a.CreationDate)),
			cmp.Compare(sdk.ToString(a.ImageId), sdk.ToString(b.ImageId)))
	})
	seen := map[string]bool{}
	out := []awsv1.AMI{}
	for i := range found {
		key, err := json.Marshal(found[i].requirements)
		if err != nil {
			return nil, client.Refuse(provider.Invalid, "compare images: %w", err)
		}
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		out = append(out, awsv1.AMI{
			ID: sdk.ToString(found[i].ImageId), Name: sdk.ToString(found[i].Name),
			Deprecated: deprecated(&found[i].Image, now), Requirements: found[i].requirements,
		})
	}
	return out, nil
}

// deprecated images still start; their owner advises against it.
func deprecated(image *types.Image, now string) bool {
	at := sdk.ToString(image.DeprecationTime)
	return at != "" && at <= now
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}

// ImageFor is the first image whose requirements the labels of an instance type meet,
// nil when there is none.
func ImageFor(images []awsv1.AMI, labels map[string]string) *awsv1.AMI {
	for i := range images {
		if Fits(&images[i], labels) {
			return &images[i]
		}
	}
	return nil
}

// Fits says whether the labels of an instance type meet an image's requirements.
func Fits(image *awsv1.AMI, labels map[string]string) bool {
	for _, r := range image.Requirements {
		value, present := labels[r.Key]
		requirement := model.Requirement{Key: r.Key, Operator: model.Operator(r.Operator), Values: r.Values}
		if !requirement.Matches(value, present) {
			return false
		}
	}
	return true
}
