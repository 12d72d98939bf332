// Package client is the connection to AWS: the services and actions that the provider
// calls, as interfaces (services.go), the configuration of the SDK, a limit on requests
// for each action, metrics of the calls, and the translation of AWS's error codes to the
// kinds of package provider.
//
// Every call to AWS goes through these interfaces, and every error of AWS through Fault.
//
// Not here: what is asked, and what follows from the answers.
package client
