// Package dryrun asks EC2 whether the controller may launch from an EC2NodeClass, before a
// launch fails for it. Checker sends the three requests of a launch (CreateLaunchTemplate,
// RunInstances, CreateFleet) with the parameter DryRun: EC2 answers DryRunOperation when IAM
// allows the request, and UnauthorizedOperation when it does not. Only the latter is a
// refusal. Any other answer says nothing about permissions, and the class stays usable.
// Answers are kept for a while, by what the requests contain. ADR 76 says why.
//
// Not here: the requests (package fleet), and the condition that shows the answer (package
// nodeclass).
package dryrun
