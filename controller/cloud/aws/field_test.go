package aws_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

// Every field of an EC2NodeClass, set to something else, changes what EC2 is asked
// for: by the request itself, or by the launch template, whose name is a digest of
// its contents. No field is read and forgotten.
func TestEveryFieldOfTheClassCounts(t *testing.T) {
	changes := map[string]func(*awsv1.EC2NodeClassSpec){
		"SubnetSelectorTerms": func(s *awsv1.EC2NodeClassSpec) {
			s.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: map[string]string{"Name": "demo-private-us-west-2b"}}}
		},
		"SecurityGroupSelectorTerms": func(s *awsv1.EC2NodeClassSpec) {
			s.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{{Name: "default"}}
		},
		"CapacityReservationSelectorTerms": func(s *awsv1.EC2NodeClassSpec) {
			s.CapacityReservationSelectorTerms = []awsv1.CapacityReservationSelectorTerm{{Tags: map[string]string{"team": "shaves"}}}
		},
		"PlacementGroupSelector": func(s *awsv1.EC2NodeClassSpec) {
			s.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: new("close")}
		},
		"AssociatePublicIPAddress": func(s *awsv1.EC2NodeClassSpec) { s.AssociatePublicIPAddress = new(true) },
		"IPPrefixCount":            func(s *awsv1.EC2NodeClassSpec) { s.IPPrefixCount = new(int32(2)) },
		"AMISelectorTerms": func(s *awsv1.EC2NodeClassSpec) {
			s.AMISelectorTerms = []awsv1.AMISelectorTerm{{Alias: "al2023@v20260601"}}
		},
		"AMIFamily":       func(s *awsv1.EC2NodeClassSpec) { s.AMIFamily = new(awsv1.AMIFamilyCustom) },
		"UserData":        func(s *awsv1.EC2NodeClassSpec) { s.UserData = new("#!/bin/sh\necho hello\n") },
		"Role":            func(s *awsv1.EC2NodeClassSpec) { s.Role = "another" },
		"InstanceProfile": func(s *awsv1.EC2NodeClassSpec) { s.Role, s.InstanceProfile = "", new("mine") },
		"Tags":            func(s *awsv1.EC2NodeClassSpec) { s.Tags = map[string]string{"team": "shaves"} },
		"Kubelet":         func(s *awsv1.EC2NodeClassSpec) { s.Kubelet = &awsv1.KubeletConfiguration{MaxPods: new(int32(20))} },
		"BlockDeviceMappings": func(s *awsv1.EC2NodeClassSpec) {
			s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{DeviceName: new("/dev/xvda"), EBS: &awsv1.BlockDevice{VolumeType: new("io2"), IOPS: new(int64(4000))}}}
		},
		"InstanceStorePolicy": func(s *awsv1.EC2NodeClassSpec) { s.InstanceStorePolicy = new(awsv1.InstanceStoreRAID0) },
		"NetworkInterfaces": func(s *awsv1.EC2NodeClassSpec) {
			s.NetworkInterfaces = []awsv1.NetworkInterface{
				{InterfaceType: awsv1.InterfaceTypeInterface}, {InterfaceType: awsv1.InterfaceTypeInterface, DeviceIndex: 1},
			}
		},
		"DetailedMonitoring": func(s *awsv1.EC2NodeClassSpec) { s.DetailedMonitoring = new(true) },
		"MetadataOptions": func(s *awsv1.EC2NodeClassSpec) {
			s.MetadataOptions = &awsv1.MetadataOptions{HTTPPutResponseHopLimit: new(int64(2))}
		},
		"ConnectionTracking": func(s *awsv1.EC2NodeClassSpec) {
			s.ConnectionTracking = &awsv1.ConnectionTracking{UDPTimeout: new(int32(30))}
		},
		"Context": func(s *awsv1.EC2NodeClassSpec) { s.Context = new("context-1") },
		"CPUOptions": func(s *awsv1.EC2NodeClassSpec) {
			s.CPUOptions = &awsv1.CPUOptions{NestedVirtualization: new("disabled")}
		},
	}
	w := newEC2Of(t, "m7i.")
	if _, err := w.server.Place([]sim.PlacementGroup{{ID: "pg-01", Name: "close"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.server.Reserve([]sim.Reservation{{ID: "cr-01", Type: "m7i.large", Zone: "us-west-2a", Count: 1, Tags: map[string]string{"team": "shaves"}}}); err != nil {
		t.Fatal(err)
	}
	wanted := spec("a", option("m7i.large", "us-west-2a", model.OnDemand))
	plain := w.prepare(t, wanted).Request
	seen := map[string]bool{}
	for field := range reflect.TypeFor[awsv1.EC2NodeClassSpec]().Fields() {
		change := changes[field.Name]
		if change == nil {
			t.Errorf("%s: no test sets it", field.Name)
			continue
		}
		seen[field.Name] = true
		t.Run(field.Name, func(t *testing.T) {
			class := w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
			change(&class.Spec)
			w.resolve(t, class)
			wanted := wanted
			if field.Name == "CapacityReservationSelectorTerms" {
				wanted.Options = []model.Option{option("m7i.large", "us-west-2a", model.Reserved)} // refused to the plain class
			}
			attempt, err := w.provider.Prepare(t.Context(), wanted)
			switch {
			case err != nil:
				// Seen as well: the subnets have no such zone, the role does not exist.
				if field.Name != "SubnetSelectorTerms" && field.Name != "Role" {
					t.Errorf("prepare: %v", err)
				}
			case bytes.Equal(attempt.Request, plain):
				t.Errorf("the request is the same:\n%s", plain)
			}
		})
	}
	for name := range changes {
		if !seen[name] {
			t.Errorf("%s is no field", name)
		}
	}
}

// Every part of a field of several parts counts, too: each changes what EC2 is asked
// for, on a class that sets nothing else of the field.
func TestEveryPartOfAFieldCounts(t *testing.T) {
	// What a value of its kind would not do.
	own := map[string]any{
		"DeleteOnTermination": new(false), "VolumeType": new("gp2"), "DeviceName": new("/dev/xvdz"),
		"HTTPEndpoint": new("disabled"), "HTTPProtocolIPv6": new("enabled"), "HTTPTokens": new("optional"),
		"SystemReserved": map[string]string{"cpu": "70m"}, "KubeReserved": map[string]string{"memory": "70Mi"},
		"EvictionHard": map[string]string{"memory.available": "7%"}, "EvictionSoft": map[string]string{"nodefs.available": "7%"},
		"EvictionSoftGracePeriod": map[string]metav1.Duration{"nodefs.available": {Duration: time.Minute}},
		"ClusterDNS":              []string{"10.100.0.7"}, "Extra": map[string]json.RawMessage{"podPidsLimit": json.RawMessage("77")},
		"InterfaceType": awsv1.InterfaceTypeEFAOnly, "VolumeSize": new(resource.MustParse("77Gi")),
		// Not told to EC2: it says which disk the kubelet's directory is on.
		"RootVolume": nil, "EBS": nil,
		// No field of the API: what the others were read from.
		"Source": nil, "Problem": nil,
	}
	w := newEC2Of(t, "m7i.", "p4d.")
	// One with several network cards and fabric adapters.
	launched := map[string]string{"networkInterfaces": "p4d.24xlarge"}
	for name, of := range map[string]func(*awsv1.EC2NodeClassSpec) any{
		"blockDeviceMappings": func(s *awsv1.EC2NodeClassSpec) any {
			s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{DeviceName: new("/dev/xvda"), EBS: &awsv1.BlockDevice{}}}
			return &s.BlockDeviceMappings[0]
		},
		"ebs": func(s *awsv1.EC2NodeClassSpec) any {
			s.BlockDeviceMappings = []awsv1.BlockDeviceMapping{{DeviceName: new("/dev/xvda"), EBS: &awsv1.BlockDevice{VolumeType: new("gp3")}}}
			return s.BlockDeviceMappings[0].EBS
		},
		"metadataOptions": func(s *awsv1.EC2NodeClassSpec) any {
			s.MetadataOptions = &awsv1.MetadataOptions{}
			return s.MetadataOptions
		},
		"connectionTracking": func(s *awsv1.EC2NodeClassSpec) any {
			s.ConnectionTracking = &awsv1.ConnectionTracking{}
			return s.ConnectionTracking
		},
		"networkInterfaces": func(s *awsv1.EC2NodeClassSpec) any {
			s.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}, {InterfaceType: awsv1.InterfaceTypeInterface, DeviceIndex: 1}}
			return &s.NetworkInterfaces[1]
		},
		"kubelet": func(s *awsv1.EC2NodeClassSpec) any {
			s.Kubelet = &awsv1.KubeletConfiguration{}
			return s.Kubelet
		},
	} {
		request := func(t *testing.T, change func(part reflect.Value)) []byte {
			t.Helper()
			class := w.class(t, "default", awsv1.AMISelectorTerm{Alias: "al2023@latest"})
			change(reflect.ValueOf(of(&class.Spec)).Elem())
			w.resolve(t, class)
			return w.prepare(t, spec("a", option(cmp.Or(launched[name], "m7i.large"), "us-west-2a", model.OnDemand))).Request
		}
		plain := request(t, func(reflect.Value) {})
		for field := range reflect.TypeOf(of(&awsv1.EC2NodeClassSpec{})).Elem().Fields() {
			value, special := own[field.Name]
			if special && value == nil {
				continue
			}
			t.Run(name+"/"+field.Name, func(t *testing.T) {
				changed := request(t, func(part reflect.Value) {
					at := part.FieldByIndex(field.Index)
					switch into := at.Interface().(type) {
					case *bool:
						value = cmp.Or(value, any(new(true)))
					case *int32:
						value = new(int32(7))
					case *int64:
						value = new(int64(7))
					case int32:
						value = into + 3
					case *string:
						value = cmp.Or(value, any(new("other")))
					}
					at.Set(reflect.ValueOf(value))
				})
				if bytes.Equal(plain, changed) {
					t.Error("the request is the same")
				}
			})
		}
	}
}
