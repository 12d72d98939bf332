// Package setting reviews the settings that a controller is given: flags, environment
// variables, feature gates and values of the chart. Those of Karpenter that have no effect
// here are accepted, and a finding says what holds in place of each. The review is a
// function of its input, so that the controller's log and the command line say the same.
package setting
