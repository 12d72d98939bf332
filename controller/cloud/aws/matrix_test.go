package aws_test

import (
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"testing"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/test/kit/ec2"
)

// callFault is one way in which a call goes wrong.
type callFault struct {
	sim.Fault
	// refusal says that the answer tells of something that another try does not mend by
	// itself: a denial, a quota, or a state that is over.
	refusal bool
}

// faults are the ways in which a call goes wrong and says so, or says nothing: the same call
// is repeated.
func faults() map[string]callFault {
	return map[string]callFault{
		"throttled":             {Fault: sim.Fault{Code: "RequestLimitExceeded"}},
		"server error":          {Fault: sim.Fault{HTTPStatus: 500}},
		"no answer":             {Fault: sim.Fault{Cut: true}},
		"timeout after success": {Fault: sim.Fault{AfterSuccess: true}},
		"error after success":   {Fault: sim.Fault{AfterSuccess: true, HTTPStatus: 503}},
	}
}

// faultsOf are faults and refusals of an action: denied, beyond a quota, and answered from a
// state in which what was made just now is not there yet. What is read by filters is missing
// from an old answer, without an error; lag does that. Short tests take every third of
// them; which is the first differs between actions.
func faultsOf(action string) map[string]callFault {
	out := faults()
	refused := func(code string, status int) callFault {
		return callFault{Fault: sim.Fault{Action: action, Code: code, HTTPStatus: status}, refusal: true}
	}
	switch serviceOf(action) {
	case "EC2":
		out["denied"], out["quota"] = refused("UnauthorizedOperation", 403), refused("ResourceLimitExceeded", 400)
	case "IAM":
		out["denied"], out["quota"] = refused("AccessDenied", 403), refused("LimitExceeded", 409)
	default:
		out["denied"], out["quota"] = refused("AccessDeniedException", 400), refused("LimitExceededException", 400)
	}
	if code := map[string]string{"CreateFleet": "VcpuLimitExceeded", "CreateLaunchTemplate": "MaxTemplateLimitExceeded", "CreateTags": "TagLimitExceeded"}[action]; code != "" {
		out["quota"] = refused(code, 400)
	}
	if code := outdated()[action]; code != "" {
		out["stale read"] = refused(code, 400)
	}
	if testing.Short() {
		for i, name := range slices.Sorted(maps.Keys(out)) {
			if (i+len(action))%3 != 0 {
				delete(out, name)
			}
		}
	}
	return out
}

// outdated are the codes of answers from an old state. A cluster that zonal shift does not know
// has no shifts: that is an answer, and no fault.
// https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
func outdated() map[string]string {
	return map[string]string{
		"CreateFleet": "InvalidLaunchTemplateName.NotFoundException", "CreateLaunchTemplate": "InvalidLaunchTemplateName.AlreadyExistsException",
		"DeleteLaunchTemplate": "InvalidLaunchTemplateName.NotFoundException",
		"DescribeInstances":    "InvalidInstanceID.NotFound", "CreateTags": "InvalidInstanceID.NotFound", "TerminateInstances": "InvalidInstanceID.NotFound",
		"DescribeImages": "InvalidAMIID.NotFound", "DescribePlacementGroups": "InvalidPlacementGroup.Unknown",
		"CreateInstanceProfile": "EntityAlreadyExists", "GetInstanceProfile": "NoSuchEntity", "AddRoleToInstanceProfile": "NoSuchEntity",
		"RemoveRoleFromInstanceProfile": "NoSuchEntity", "DeleteInstanceProfile": "NoSuchEntity",
		"GetParameter": "ParameterNotFound", "DescribeCluster": "ResourceNotFoundException",
		"GetQueueUrl": "QueueDoesNotExist",
	}
}

// serviceOf is the service of an action, by the SDK interfaces.
func serviceOf(action string) string {
	for service := range reflect.TypeFor[client.Services]().Fields() {
		if _, ok := service.Type.MethodByName(action); ok {
			return service.Name
		}
	}
	return ""
}

// account is what a controller finds: the IAM policy of its role, and what a Karpenter left.
type account struct {
	name    string
	policy  *policy.Document
	adopted bool
	// karpenters says that the policy is that of Karpenter, which knows nothing of zonal shifts.
	karpenters bool
}

// accounts are those that the matrices run in, of the policy of this project and that of
// Karpenter, each fresh and adopted: all four with ACCOUNTS=all (make soak), otherwise a
// fresh one under the first policy and an adopted one under the second; in short tests only
// the latter, which asks for most.
func accounts(t *testing.T) []account {
	t.Helper()
	var out []account
	all := ec2.Policies(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, adopted := range []bool{false, true} {
			a := account{name: name + ", fresh", policy: all[name], adopted: adopted, karpenters: name == "karpenter"}
			if adopted {
				a.name = name + ", adopted"
			}
			switch {
			case os.Getenv("ACCOUNTS") == "all", adopted && a.karpenters, !testing.Short() && !adopted && !a.karpenters:
				out = append(out, a)
			}
		}
	}
	return out
}

// start is a controller that has just started in the account. In an adopted one EC2 shows new
// instances twenty seconds late: there, too, the old ones are seen at once.
func (a *account) start(t *testing.T) *simulatedEC2 {
	t.Helper()
	w := newEC2Under(t, a.policy)
	if a.adopted {
		w.adopt(t)
		w.server.Set(sim.Settings{Lag: &sim.Duration{Duration: 20 * time.Second}})
	}
	return w
}

// adopt has Karpenter leave an instance, its launch template and instance profiles behind.
// The instance has to be there when the test ends.
func (w *simulatedEC2) adopt(t *testing.T) {
	t.Helper()
	theirs := newKarpenters(w.url)
	const claim = "general-x"
	theirs.instance(t, claim, w.image(t, "m7i.large"), w.classes["default"].Status.Subnets[0].ID, "")
	path := "/karpenter/" + region + "/" + ec2.Cluster + "/"
	theirs.profile(t, "demo_1", path+"uid-gone/")
	theirs.profile(t, "demo_2", path+"uid-here/")
	w.theirs = append(w.theirs, claim)
	w.clock.Step(time.Minute)
	t.Cleanup(func() {
		for _, i := range w.server.State().Instances {
			if i.Tags[awsv1.TagNodeClaim] == claim && i.State == "running" {
				return
			}
		}
		t.Error("Karpenter's instance was ended")
	})
}

// strike orders a fault of an action.
func (w *simulatedEC2) strike(t *testing.T, action string, f callFault) {
	t.Helper()
	f.Action, w.refusals = action, f.refusal
	w.order(t, f.Fault)
}

// struck fails the test if the fault that was ordered was never met.
func (w *simulatedEC2) struck(t *testing.T) {
	t.Helper()
	if left := w.server.State().Faults; len(left) > 0 {
		t.Errorf("the fault never struck: %+v", left)
	}
}

// persist repeats what fails as the reconcilers do: a passing fault soon, and not taken for a
// definitive one; a refusal until a person has mended it.
func (w *simulatedEC2) persist(t *testing.T, what string, do func() error) {
	t.Helper()
	pause := 3 * time.Second
	if w.refusals {
		pause = time.Minute
	}
	var err error
	for range 10 {
		if err = do(); err == nil {
			return
		}
		if provider.KindOf(err).Definitive() && !w.refusals {
			t.Fatalf("%s: a passing fault is taken for a definitive one: %v", what, err)
		}
		w.clock.Step(pause)
	}
	t.Fatalf("%s: no success in ten tries, at last: %v", what, err)
}

// launch launches a claim, with another attempt after each that was refused for good.
func (w *simulatedEC2) launch(t *testing.T, s *provider.LaunchSpec) provider.Instance {
	t.Helper()
	var attempt provider.Attempt
	w.persist(t, "prepare "+s.Claim, func() (err error) { attempt, err = w.provider.Prepare(t.Context(), *s); return err })
	var i provider.Instance
	w.persist(t, "launch "+s.Claim, func() (err error) {
		i, err = w.provider.Launch(t.Context(), attempt)
		if err == nil || !provider.KindOf(err).Definitive() {
			return err
		}
		s.Ordinal++
		again, failed := w.provider.Prepare(t.Context(), *s)
		if failed == nil {
			attempt = again
		}
		return errors.Join(err, failed)
	})
	return i
}
