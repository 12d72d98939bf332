// Package cases is the format in which authors write down what a policy should
// answer, and the runner that asks it.
//
// A case is a question in the field names of docs/spec/policy.md and what is
// expected of the answer. The policy that is asked is the compiled one, by way
// of the same composition as in a decision, so that a case cannot pass for a
// policy that the controller would understand differently.
//
// Not here: where policies come from, and the decision that a scenario needs
// (controller/rehearse/author), which are handed in.
package cases
