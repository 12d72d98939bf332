// Package batch joins questions that many callers ask at about the same time into one
// call, and gives each caller its own answer: a thousand nodes that are looked at or
// ended cost a handful of requests.
//
// Not here: what is asked. EC2 is not known here.
package batch
