package v1_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "spokeshave.dev/api/aws/v1"
)

func hash(t *testing.T, c *awsv1.EC2NodeClass) string {
	t.Helper()
	h, err := c.Hash("Y2VydGlmaWNhdGU=")
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
		"user data": {"user data runs at boot", func(s *awsv1.EC2NodeClassSpec) { s.UserData = new("x") }, false},
		"tag":       {"tags are on the instance", func(s *awsv1.EC2NodeClassSpec) { s.Tags["a"] = "b" }, false},
		"profile":   {"the identity is the instance's", func(s *awsv1.EC2NodeClassSpec) { s.InstanceProfile = new("x") }, false},
		"kubelet":   {"kubelet settings are read at boot", func(s *awsv1.EC2NodeClassSpec) { s.Kubelet = nil }, false},
		"unlisted kubelet": {"even those we do not know", func(s *awsv1.EC2NodeClassSpec) {
			s.Kubelet.Source = bytes.ReplaceAll(s.Kubelet.Source, []byte("topologyManagerPolicy"), []byte("other"))
		}, false},
		"metadata":          {"metadata options are the instance's", func(s *awsv1.EC2NodeClassSpec) { s.MetadataOptions.HTTPTokens = new("optional") }, false},
		"placement group":   {"the instance's group is compared", func(s *awsv1.EC2NodeClassSpec) { s.PlacementGroupSelector = nil }, true},
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

// TestHashTakesTheClusterCA: nodes get the CA certificate at boot, so that another
// certificate makes them drift.
func TestHashTakesTheClusterCA(t *testing.T) {
	class := read(t, "bottlerocket-tuned.yaml")
	other, err := class.Hash("b3RoZXI=")
	if err != nil || other == hash(t, class) {
		t.Errorf("hash %s with another certificate, error %v; want another hash", other, err)
	}
}

// TestHashKeepsDurationsAsWritten: Karpenter hashes the stored text of a duration, so
// that "60s" stays as it is.
func TestHashKeepsDurationsAsWritten(t *testing.T) {
	hashed := map[string]bool{}
	for _, spelled := range []string{"60s", "1m0s"} {
		var k awsv1.KubeletConfiguration
		if err := json.Unmarshal([]byte(`{"evictionSoftGracePeriod":{"memory.available":"`+spelled+`"}}`), &k); err != nil {
			t.Fatal(err)
		}
		hashed[hash(t, &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{Kubelet: &k}})] = true
	}
	if len(hashed) != 2 {
		t.Error("two spellings of a duration have one hash, want two as in Karpenter")
	}
}
