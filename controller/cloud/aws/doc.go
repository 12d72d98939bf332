// Package aws is the provider for Amazon EC2: the provider port over
// aws-sdk-go-v2, for node classes of kind EC2NodeClass.
//
// One file per noun: what can be bought (catalog, facts, price, shortage), what
// a node class resolves to (subnet, securitygroup, image, profile), how an
// instance is started (userdata, template, launch) and what becomes of it
// (instance). Every AWS call goes through the interfaces in sdk.go, every AWS
// error through errors.go.
//
// Not here: the reconciler that resolves node classes (provider/aws/nodeclass),
// what to launch (controller/core/decide), and anything that knows whether the
// endpoint is AWS's or an emulator's.
package aws
