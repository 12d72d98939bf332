package sim

func ec2Operations() map[string]operation {
	return map[string]operation{
		"CreateFleet":                    writes(createFleet),
		"RunInstances":                   writes(runInstances),
		"TerminateInstances":             writes(terminateInstances),
		"DescribeInstances":              reads(answerInstances),
		"DescribeInstanceStatus":         reads(answerInstanceStatus),
		"DescribeInstanceAttribute":      reads(answerInstanceAttribute),
		"CreateTags":                     writes(createTags),
		"DeleteTags":                     writes(deleteTags),
		"DescribeTags":                   reads(describeTags),
		"DescribeVolumes":                reads(answerVolumes),
		"CreateLaunchTemplate":           writes(createTemplate),
		"CreateLaunchTemplateVersion":    writes(createTemplateVersion),
		"DeleteLaunchTemplate":           writes(deleteTemplate),
		"DeleteLaunchTemplateVersions":   writes(deleteTemplateVersions),
		"DescribeLaunchTemplates":        reads(answerTemplates),
		"DescribeLaunchTemplateVersions": reads(answerTemplateVersions),
		"DescribeInstanceTypes":          reads(answerTypes),
		"DescribeInstanceTypeOfferings":  reads(answerOfferings),
		"DescribeSpotPriceHistory":       reads(answerSpotPrices),
		"DescribeSubnets":                reads(answerSubnets),
		"DescribeSecurityGroups":         reads(answerSecurityGroups),
		"DescribeImages":                 reads(answerImages),
		"DescribeAvailabilityZones":      reads(answerZones),
		"DescribeRegions":                reads(answerRegions),
		"DescribeCapacityReservations":   reads(answerReservations),
		"DescribePlacementGroups":        reads(answerPlacementGroups),
	}
}
