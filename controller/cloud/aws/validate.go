package aws

import (
	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Validate finds what is wrong with a class that the API server let pass: user
// data that cannot be merged, kubelet settings that do not parse, and what this
// version does not support. It asks nothing of AWS.
func (p *Provider) Validate(class *awsv1.EC2NodeClass) error {
	if _, err := roomOf(&class.Spec); err != nil {
		return &provider.Error{Kind: provider.Invalid, Err: err}
	}
	example := joinOf(class, cluster{name: p.cfg.ClusterName, endpoint: "https://c", ca: "Yw==", cidr: "10.100.0.0/16"}, &provider.LaunchSpec{
		NodePool: "p", Options: []model.Option{{CapacityType: model.OnDemand}},
	})
	if _, err := userData(class, example); err != nil {
		return &provider.Error{Kind: provider.Invalid, Err: err}
	}
	return nil
}
