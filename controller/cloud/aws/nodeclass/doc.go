// Package nodeclass resolves EC2NodeClasses: their selectors to subnets,
// security groups and images, their role to an instance profile, each with a
// condition that says what was found or what to do.
//
// Resolver does the work and touches no Kubernetes API; Reconciler reads and
// writes the objects. A class keeps the finalizer until no NodeClaim uses it;
// then the launch templates and the instance profile made for it go.
//
// Not here: the AWS calls themselves (provider/aws) and what is launched.
package nodeclass
