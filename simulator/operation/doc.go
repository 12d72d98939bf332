// Package operation is what a service of the simulator is made of: operations,
// each a function from a call to its result, and adapters that read the call's
// parameters into a struct. It knows neither HTTP nor what the operations do.
package operation
