// Package policy evaluates IAM's identity-based policies: whether a request for
// an action on a resource is allowed, given the request's condition keys.
//
// A request is denied unless a statement allows it, and a statement that denies
// wins over all that allow.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html
//
// Not here: principals, resource-based policies, permission boundaries and
// service control policies. A policy that uses an operator which is not
// evaluated (dates, addresses, binary) is refused when it is read.
package policy
