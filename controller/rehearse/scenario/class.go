package scenario

import (
	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/catalog"
)

// classOptions returns how an EC2NodeClass changes the capacity of its nodes.
func classOptions(class *awsv1.EC2NodeClass, region string) (catalog.Options, error) {
	opts, err := catalog.ForClass(class)
	if err != nil {
		return catalog.Options{}, err
	}
	opts.Region = region
	for i := range class.Status.Subnets {
		opts.Zones = append(opts.Zones, class.Status.Subnets[i].Zone)
	}
	opts.PrefixDelegation = class.Spec.IPPrefixCount != nil && *class.Spec.IPPrefixCount > 0
	return opts, nil
}
