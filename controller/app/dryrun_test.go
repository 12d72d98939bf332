package app

import (
	"testing"

	"k8s.io/utils/clock"

	"spokeshave.dev/test/kit/ec2"
	"spokeshave.dev/test/kit/ec2provider"
)

// TestDryRunsAreSwitchedOff: EC2NodeClasses are resolved with dry runs, unless the flag
// --disable-dry-run turns them off.
func TestDryRunsAreSwitchedOff(t *testing.T) {
	cloud := ec2provider.New(t, ec2.Start(t, []string{"m7i.large"}).URL)
	for args, want := range map[string]bool{"": true, "--disable-dry-run": false, "--disable-dry-run=false": true} {
		var given []string
		if args != "" {
			given = append(given, args)
		}
		o, err := parse(t, append(given, "--cluster-name=c"), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := &components{options: o, cloud: cloud, clock: clock.RealClock{}}
		if got := p.classResolver().DryRuns != nil; got != want {
			t.Errorf("%q: EC2 is asked with dry runs: %t, want %t", args, got, want)
		}
	}
}
