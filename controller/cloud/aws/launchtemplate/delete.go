package launchtemplate

import (
	"context"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
)

// unusedFor is how long nothing was launched from a template before it is deleted. A
// template that is needed after all is made again; an account has 5,000 of them.
const unusedFor = time.Hour

// Delete deletes every launch template of a class in this cluster.
func (s *Templates) Delete(ctx context.Context, class string) error {
	pages := ec2.NewDescribeLaunchTemplatesPaginator(s.EC2, &ec2.DescribeLaunchTemplatesInput{
		Filters: []types.Filter{
			client.Filter("tag:"+awsv1.TagEKSCluster, s.Cluster),
			client.Filter("tag:"+awsv1.TagEC2NodeClass, class),
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return client.Fault(err, "describe launch templates of EC2NodeClass %s", class)
		}
		for _, t := range page.LaunchTemplates {
			name := sdk.ToString(t.LaunchTemplateName)
			_, err := s.EC2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: t.LaunchTemplateId})
			if err := client.Gone(client.Fault(err, "delete launch template %s of EC2NodeClass %s", name, class)); err != nil {
				return err
			}
			s.Forget(name)
		}
	}
	return nil
}

// Sweep deletes this cluster's launch templates that were not used in a
// while, and says how many.
func (s *Templates) Sweep(ctx context.Context) (deleted int, err error) {
	pages := ec2.NewDescribeLaunchTemplatesPaginator(s.EC2, &ec2.DescribeLaunchTemplatesInput{
		Filters: []types.Filter{client.Filter("tag:"+awsv1.TagEKSCluster, s.Cluster), client.Filter("tag-key", awsv1.TagEC2NodeClass)},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return deleted, client.Fault(err, "describe launch templates")
		}
		for _, t := range page.LaunchTemplates {
			name := sdk.ToString(t.LaunchTemplateName)
			if !strings.HasPrefix(name, awsv1.LaunchTemplatePrefix) || !s.unused(name, sdk.ToTime(t.CreateTime)) {
				continue
			}
			_, err := s.EC2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: t.LaunchTemplateId})
			if err := client.Gone(client.Fault(err, "delete launch template %s", name)); err != nil {
				return deleted, err
			}
			s.Forget(name)
			deleted++
		}
	}
	return deleted, nil
}

// unused says whether a template is old, and was not used by this process in a
// while. What it was last used for is known until templateFor later.
func (s *Templates) unused(name string, made time.Time) bool {
	now := s.Clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	used, known := s.known[name]
	return now.Sub(made) > unusedFor && (!known || now.Sub(used) > unusedFor-templateFor)
}
