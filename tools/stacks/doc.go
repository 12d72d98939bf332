// Package stacks tests the templates in examples/iam: that CloudFormation and
// Terraform make the same things, that nothing is made that a parameter says exists
// already, and that nothing has a name of Karpenter's.
//
// The templates are evaluated here as far as their conditions, counts and names need
// it. Their own tools, which ask for providers and credentials, are not run.
package stacks
