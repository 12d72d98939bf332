// Package endpoint serves what people and programs read from the controller: metrics,
// decisions, comparisons and the page, and what the API server asks it: the webhook.
//
// What it serves on the network is encrypted, and the API server says who may read it
// (Guard). What it serves on the loopback address needs neither: whoever gets there has
// forwarded a port with the API server's permission, or is in the pod already (Local).
// Every server bounds the time of a request, the size of its header and the number of
// requests that are answered at the same time, so that no reader costs the controller
// more than a share of its memory and none keeps anything waiting.
//
// Not here: the contents.
package endpoint
