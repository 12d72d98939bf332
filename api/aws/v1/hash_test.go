package v1_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "spokeshave.dev/api/aws/v1"
)

func hash(t *testing.T, c *awsv1.EC2NodeClass) string {
	t.Helper()
	h, err := c.Hash()
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestEC2NodeClassHash(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*awsv1.EC2NodeClassSpec)
		same   bool
	}{
		"nothing":         {"the hash is a function of the class", func(*awsv1.EC2NodeClassSpec) {}, true},
		"subnets":         {"the instance's subnet is compared", func(s *awsv1.EC2NodeClassSpec) { s.SubnetSelectorTerms = nil }, true},
		"security groups": {"so are its security groups", func(s *awsv1.EC2NodeClassSpec) { s.SecurityGroupSelectorTerms = nil }, true},
		"reservations":    {"and its reservation", func(s *awsv1.EC2NodeClassSpec) { s.CapacityReservationSelectorTerms = nil }, true},
		"image version":   {"and its image", func(s *awsv1.EC2NodeClassSpec) { s.AMISelectorTerms[0].Alias = "bottlerocket@latest" }, true},
		"prefixes":        {"prefixes may change in place", func(s *awsv1.EC2NodeClassSpec) { s.IPPrefixCount = nil }, true},
		"implied family":  {"the alias says the same", func(s *awsv1.EC2NodeClassSpec) { s.AMIFamily = nil }, true},
		"disk order":      {"disks are a set", func(s *awsv1.EC2NodeClassSpec) { slices.Reverse(s.BlockDeviceMappings) }, true},
		"interface order": {"interfaces are a set", func(s *awsv1.EC2NodeClassSpec) { slices.Reverse(s.NetworkInterfaces) }, true},
		"family":          {"another family boots differently", func(s *awsv1.EC2NodeClassSpec) { s.AMIFamily = new("Custom") }, false},
		"disk size": {"disks are on the instance", func(s *awsv1.EC2NodeClassSpec) {
			s.BlockDeviceMappings[0].EBS.VolumeSize = new(resource.MustParse("5Gi"))
		}, false},
		"user data":         {"user data runs at boot", func(s *awsv1.EC2NodeClassSpec) { s.UserData = new("x") }, false},
		"tag":               {"tags are on the instance", func(s *awsv1.EC2NodeClassSpec) { s.Tags["a"] = "b" }, false},
		"profile":           {"the identity is the instance's", func(s *awsv1.EC2NodeClassSpec) { s.InstanceProfile = new("x") }, false},
		"kubelet":           {"kubelet settings are read at boot", func(s *awsv1.EC2NodeClassSpec) { s.Kubelet.MaxPods = nil }, false},
		"unlisted kubelet":  {"even those we do not know", func(s *awsv1.EC2NodeClassSpec) { delete(s.Kubelet.Extra, "topologyManagerPolicy") }, false},
		"metadata":          {"metadata options are the instance's", func(s *awsv1.EC2NodeClassSpec) { s.MetadataOptions.HTTPTokens = new("optional") }, false},
		"placement group":   {"an instance stays in its group", func(s *awsv1.EC2NodeClassSpec) { s.PlacementGroupSelector = nil }, false},
		"network interface": {"interfaces are attached at launch", func(s *awsv1.EC2NodeClassSpec) { s.NetworkInterfaces = nil }, false},
	}
	before := hash(t, read(t, "bottlerocket-tuned.yaml"))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			class := read(t, "bottlerocket-tuned.yaml")
			original := class.DeepCopy()
			tc.change(&class.Spec)
			if got := hash(t, class) == before; got != tc.same {
				t.Errorf("%s: hash unchanged is %v, want %v", tc.reason, got, tc.same)
			}
			if hash(t, original) != before {
				t.Error("changing a class changed its deep copy")
			}
		})
	}
}

// TestEC2NodeClassHashIsStable fails when the input or the encoding of the hash
// changes: bump EC2NodeClassHashVersion then, or every node of every cluster drifts.
func TestEC2NodeClassHashIsStable(t *testing.T) {
	const want = "8836780598371718205"
	if got := hash(t, read(t, "bottlerocket-tuned.yaml")); got != want || awsv1.EC2NodeClassHashVersion != "spokeshave-v1" {
		t.Errorf("got hash %s under version %s, want %s under spokeshave-v1", got, awsv1.EC2NodeClassHashVersion, want)
	}
}
