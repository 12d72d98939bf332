// Package signature reads who a request says it is for: region and service in
// the credential scope of a version 4 signature. The signature itself is not
// verified; any credentials pass.
package signature
