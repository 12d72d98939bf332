package aws_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/dryrun"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/test/kit/ec2"
)

// The calls of a dry run.
func dryRunCalls() []string { return []string{"CreateLaunchTemplate", "RunInstances", "CreateFleet"} }

// ask asks EC2 about the class "default", and gives the last answer.
func (w *simulatedEC2) ask(t *testing.T) (refusal *dryrun.Refusal, known bool, err error) {
	t.Helper()
	err = w.provider.DryRuns().Ask(t.Context(), w.classes["default"], nil)
	refusal, known = w.provider.DryRuns().Last("default")
	return refusal, known, err
}

// without is a policy that allows an action nowhere.
func without(t *testing.T, p *policy.Document, action string) *policy.Document {
	t.Helper()
	denial, err := policy.Parse([]byte(`{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Action": "ec2:` + action + `", "Resource": "*"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	out := *p
	out.Statements = slices.Concat(p.Statements, denial.Statements)
	return &out
}

// Both published policies allow a launch, of every AMI family and with what changes its
// requests; nothing is launched by asking.
func TestDryRunIsAllowed(t *testing.T) {
	for name, allowed := range ec2.Policies(t) {
		for what, change := range map[string]func(*awsv1.EC2NodeClass){
			"plain":             func(*awsv1.EC2NodeClass) {},
			"own tags":          func(c *awsv1.EC2NodeClass) { c.Spec.Tags = map[string]string{"team": "shaves"} },
			"network interface": func(c *awsv1.EC2NodeClass) { c.Spec.AssociatePublicIPAddress = new(false) },
			"bottlerocket": func(c *awsv1.EC2NodeClass) {
				c.Spec.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "bottlerocket@latest"}}
			},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				w := newEC2Under(t, allowed)
				change(w.classes["default"])
				w.resolve(t, w.classes["default"])
				refusal, known, err := w.ask(t)
				if err != nil || !known || refusal != nil {
					t.Errorf("refusal %+v (known: %t), %v; want all allowed", refusal, known, err)
				}
				if n := len(w.server.State().Instances); n != 0 {
					t.Errorf("%d instances were launched", n)
				}
			})
		}
	}
}

// What IAM does not allow is named, with Karpenter's reason, under either policy.
func TestDryRunIsRefused(t *testing.T) {
	for name, allowed := range ec2.Policies(t) {
		for _, action := range dryRunCalls() {
			t.Run(name+"/"+action, func(t *testing.T) {
				w := newEC2Under(t, without(t, allowed, action))
				refusal, known, err := w.ask(t)
				if err != nil || !known || refusal == nil {
					t.Fatalf("no refusal (known: %t), %v", known, err)
				}
				if refusal.Reason != action+"AuthCheckFailed" || !strings.Contains(refusal.Message, "ec2:"+action) || strings.Contains(refusal.Message, "Encoded") {
					t.Errorf("%+v does not name %s, or is different each time", refusal, action)
				}
				if n := len(w.server.State().Instances); n != 0 {
					t.Errorf("%d instances were launched", n)
				}
			})
		}
	}
}

// An answer holds for a while: what is allowed longer than what is refused. Other requests
// are asked about at once.
func TestDryRunAnswersAreKept(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		policy func(*policy.Document) *policy.Document
		holds  time.Duration
	}{
		"allowed": {"permissions seldom go", func(p *policy.Document) *policy.Document { return p }, dryrun.AllowedFor},
		"refused": {"somebody mends them", func(p *policy.Document) *policy.Document { return without(t, p, "CreateFleet") }, dryrun.RefusedFor},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2Under(t, c.policy(ec2.Policies(t)["own"]))
			asked := func() int {
				t.Helper()
				if _, known, err := w.ask(t); err != nil || !known {
					t.Fatalf("no answer (%t): %v", known, err)
				}
				return w.requests("RunInstances")
			}
			if n := asked(); n != 1 {
				t.Fatalf("asked %d times, want once", n)
			}
			w.clock.Step(c.holds - time.Second)
			if n := asked(); n != 1 {
				t.Errorf("%s: asked again before %s are over", c.reason, c.holds)
			}
			w.clock.Step(2 * time.Second)
			if n := asked(); n != 2 {
				t.Errorf("%s: asked %d times after %s, want twice", c.reason, n, c.holds)
			}
			w.classes["default"].Spec.Tags = map[string]string{"team": "shaves"}
			if n := asked(); n != 3 {
				t.Errorf("asked %d times after the class changed, want three times", n)
			}
		})
	}
}

// A refusal stays while EC2 does not answer, and goes when EC2 finds fault with something
// else.
func TestDryRunAfterARefusal(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		next   sim.Fault
		known  bool
	}{
		"throttled":    {"nothing is known that was not before", sim.Fault{Code: "RequestLimitExceeded"}, true},
		"server error": {"nothing is known that was not before", sim.Fault{HTTPStatus: 500}, true},
		"invalid":      {"permissions are not what is missing", sim.Fault{Code: "InvalidParameterValue"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2Under(t, ec2.Policies(t)["own"])
			w.order(t, sim.Fault{Action: "CreateFleet", DryRun: true, Code: "UnauthorizedOperation", HTTPStatus: 403})
			if refusal, _, err := w.ask(t); err != nil || refusal == nil {
				t.Fatalf("no refusal, %v", err)
			}
			w.clock.Step(dryrun.RefusedFor + time.Second)
			c.next.Action, c.next.DryRun = "CreateFleet", true
			w.order(t, c.next)
			refusal, known, err := w.ask(t)
			if err == nil || known != c.known || (refusal != nil) != c.known {
				t.Errorf("%s: refusal %+v (known: %t), %v", c.reason, refusal, known, err)
			}
		})
	}
}

// Every call of a dry run, gone wrong in every way, is no refusal: the class stays as it was,
// and EC2 is asked again.
func TestFaultMatrixOfDryRuns(t *testing.T) {
	for _, a := range accounts(t) {
		for _, action := range dryRunCalls() {
			for name, fault := range faults() { // a denial is an answer: TestDryRunIsRefused
				t.Run(a.name+"/"+action+"/"+name, func(t *testing.T) {
					t.Parallel()
					w := a.start(t)
					fault.DryRun = true
					w.strike(t, action, fault)
					refusal, known, err := w.ask(t)
					if err == nil || known || refusal != nil {
						t.Fatalf("refusal %+v (known: %t), %v; want an error and no answer", refusal, known, err)
					}
					w.resolve(t, w.classes["default"])
					if refusal, known, err = w.ask(t); err != nil || !known || refusal != nil {
						t.Errorf("after the fault: refusal %+v (known: %t), %v", refusal, known, err)
					}
					// An answer to the same requests outlives a fault.
					w.clock.Step(dryrun.AllowedFor + time.Second)
					w.strike(t, action, fault)
					if refusal, known, err = w.ask(t); err == nil || !known || refusal != nil {
						t.Errorf("a later fault: refusal %+v (known: %t), %v; want the last answer and an error", refusal, known, err)
					}
					w.wantLiving(t)
					w.struck(t)
				})
			}
		}
	}
}
