// Command go is the policy of test/guests/echo, to be built as a guest.
package main

import _ "spokeshave.dev/test/guests/echo" // registers the hooks

func main() {}
