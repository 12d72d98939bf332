package sign

// Trust says whose signatures count: a key's or, without one, an identity's. Without either,
// signatures are not verified.
type Trust struct {
	Key      *Verifier
	Identity *Identity
}

// None tells that no signature will be verified.
func (t Trust) None() bool { return t.Key == nil && t.Identity == nil }
