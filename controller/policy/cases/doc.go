// Package cases defines the format in which authors write what a policy should
// answer, and the runner that checks it.
//
// A case is a question, with the field names of docs/spec/policy.md, and the
// expected answer. The runner asks the compiled policy through the same code as a
// decision, so that a case and the controller understand a policy in the same way.
//
// The caller compiles the policies and makes the decisions of scenarios
// (controller/rehearse/author).
package cases
