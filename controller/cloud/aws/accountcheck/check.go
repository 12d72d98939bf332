package accountcheck

import "context"

// Check asks AWS one question.
type Check struct {
	Name string
	// Calls are the API calls it makes.
	Calls string
	// Shows is what only a real account can show.
	Shows string
	// Spends says that it makes something, if only for a few minutes.
	Spends bool
	// lacks names what earlier checks should have found and did not, "" for nothing.
	lacks func(*account) string
	// run returns what was found.
	run func(context.Context, *account) (string, error)
}

// Checks are all checks in their order: those that only read first.
func Checks() []Check {
	return []Check{
		{"cluster", "eks:DescribeCluster", "version, certificate and service range as nodes need them", false, nothing, cluster},
		{"subnets", "ec2:DescribeSubnets", "selection by tag; free addresses", false, nothing, subnets},
		{"security groups", "ec2:DescribeSecurityGroups", "selection by tag", false, nothing, groups},
		{"types", "ec2:DescribeInstanceTypes", "every page is read; facts are those of the embedded catalogue", false, nothing, instanceTypes},
		{"zones", "ec2:DescribeInstanceTypeOfferings", "which types each zone offers", false, nothing, zones},
		{"on-demand prices", "pricing:GetProducts", "prices are in the expected form, and how far the embedded ones are off", false, nothing, prices},
		{"volume prices", "pricing:GetProducts", "a price for gp3 storage", false, nothing, volumePrices},
		{"spot prices", "ec2:DescribeSpotPriceHistory", "current prices by type and zone", false, nothing, spotPrices},
		{"images", "ssm:GetParameter, ec2:DescribeImages", "aliases lead to images of the right architecture", false, needsVersion, images},
		{"instance profiles", "iam:ListInstanceProfiles, iam:GetInstanceProfile", "the error code of a missing profile", false, nothing, profiles},
		{"queue", "sqs:GetQueueUrl", "the interruption queue is found", false, needsQueue, queue},
		{"reservations", "ec2:DescribeCapacityReservations", "the call is allowed and its answer is read", false, nothing, reservations},
		{"placement groups", "ec2:DescribePlacementGroups", "the call is allowed and its answer is read", false, nothing, placementGroups},
		{"status", "ec2:DescribeInstanceStatus", "filters for impaired instances and events are accepted", false, nothing, status},
		{"may make templates", "ec2:CreateLaunchTemplate (dry run)", "the policy allows it with the tags that are set", false, needsImage, dryTemplate},
		{"template", "ec2:CreateLaunchTemplate, ec2:DescribeLaunchTemplates", "how long until it is visible", true, needsImage, template},
		{"may launch", "ec2:CreateFleet (dry run)", "the policy allows it with the tags that are set", true, needsTemplate, dryFleet},
		{"on-demand launch", "ec2:CreateFleet, ec2:DescribeInstances", "fractional priorities are accepted; how long until instance and tags are visible", true, needsTemplate, onDemand},
		{"spot launch", "ec2:CreateFleet", "the service-linked role exists; spot requests may be tagged", true, needsTemplate, spot},
		{"end", "ec2:TerminateInstances, ec2:DeleteLaunchTemplate", "ending twice succeeds; the error code of an unknown instance", true, needsTemplate, end},
	}
}

func nothing(*account) string { return "" }

func needsVersion(a *account) string {
	if a.version == "" {
		return "--kubernetes-version, because the cluster was not found"
	}
	return ""
}

func needsQueue(a *account) string {
	if a.queue == "" {
		return "--queue"
	}
	return ""
}

func needsImage(a *account) string {
	switch {
	case len(a.subnets) == 0:
		return "a subnet"
	case len(a.groups) == 0:
		return "a security group"
	case len(a.images) == 0:
		return "an image"
	default:
		return ""
	}
}

func needsTemplate(a *account) string {
	if a.template == "" {
		return "the launch template"
	}
	return ""
}
