package aws_test

import (
	"bytes"
	"reflect"
	"testing"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/cmd/ec2sim/sim"
	"spokeshave.dev/controller/model"
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
			s.CPUOptions = &awsv1.CPUOptions{NestedVirtualization: new("enabled")}
		},
	}
	w := newWorldOf(t, "m7i.")
	if _, err := w.server.Place([]sim.PlacementGroup{{ID: "pg-01", Name: "close"}}); err != nil {
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
