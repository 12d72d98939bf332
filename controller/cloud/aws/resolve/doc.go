// Package resolve finds in AWS what an EC2NodeClass names or selects: subnets, security
// groups, machine images (by id, tags, SSM parameter or alias), placement groups, the
// instance profile of a role, and what nodes must be told of the cluster.
//
// Not here: the conditions that say what was found (package nodeclass), and capacity
// reservations (package availability).
package resolve
