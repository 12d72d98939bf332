package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

// The root volume of a class is the device that its family's images mount the kubelet's
// directory from, whatever data disks stand beside it.
func TestRootVolume(t *testing.T) {
	disk := func(device, size string) awsv1.BlockDeviceMapping {
		return awsv1.BlockDeviceMapping{DeviceName: &device, EBS: &awsv1.BlockDevice{VolumeSize: new(resource.MustParse(size))}}
	}
	marked := disk("/dev/sdf", "70Gi")
	marked.RootVolume = true
	for name, c := range map[string]struct {
		family string
		disks  []awsv1.BlockDeviceMapping
		want   string
	}{
		"AL2023 with a data disk":       {awsv1.AMIFamilyAL2023, []awsv1.BlockDeviceMapping{disk("/dev/xvda", "30Gi"), disk("/dev/xvdb", "500Gi")}, "30Gi"},
		"AL2 with a data disk first":    {awsv1.AMIFamilyAL2, []awsv1.BlockDeviceMapping{disk("/dev/xvdb", "500Gi"), disk("/dev/xvda", "30Gi")}, "30Gi"},
		"AL2023 with a data disk alone": {awsv1.AMIFamilyAL2023, []awsv1.BlockDeviceMapping{disk("/dev/xvdb", "500Gi")}, "0"},
		"Bottlerocket":                  {awsv1.AMIFamilyBottlerocket, []awsv1.BlockDeviceMapping{disk("/dev/xvda", "4Gi"), disk("/dev/xvdb", "50Gi")}, "50Gi"},
		"Windows":                       {awsv1.AMIFamilyWindows2022, []awsv1.BlockDeviceMapping{disk("/dev/sda1", "80Gi"), disk("/dev/xvdb", "500Gi")}, "80Gi"},
		"Custom takes the last":         {awsv1.AMIFamilyCustom, []awsv1.BlockDeviceMapping{disk("/dev/xvda", "4Gi"), disk("/dev/sdb", "60Gi")}, "60Gi"},
		"what is marked":                {awsv1.AMIFamilyAL2023, []awsv1.BlockDeviceMapping{disk("/dev/xvda", "30Gi"), marked}, "70Gi"},
		"none":                          {awsv1.AMIFamilyAL2023, nil, "0"},
	} {
		want := resource.MustParse(c.want)
		if got := rootVolume(c.family, c.disks); got != want.Value() {
			t.Errorf("%s: %d bytes, want %s", name, got, c.want)
		}
	}
}

// TestParseReserved: the texts of kubelet's settings become amounts and shares.
func TestParseReserved(t *testing.T) {
	type settings = map[string]string
	for name, tc := range map[string]struct {
		reason             string
		kube, system, hard settings
		want               Reserved
		fault              string
	}{
		"amounts": {
			reason: "cpu counts in millicores, memory in bytes",
			kube:   settings{"cpu": "1500m", "memory": "1Gi"}, system: settings{"cpu": "2"}, hard: settings{"memory.available": "200Mi"},
			want: Reserved{
				Kube: model.Resources{model.CPU: 1500, model.Memory: gib}, System: model.Resources{model.CPU: 2000},
				EvictionHard: model.Resources{model.Memory: 200 * mib}, EvictionShare: map[string]float64{},
			},
		},
		"shares": {
			reason: "thresholds may be percentages; inodes are not part of a node's resources",
			hard:   settings{"memory.available": "5%", "nodefs.available": "12.5%", "nodefs.inodesFree": "5%"},
			want:   Reserved{EvictionHard: model.Resources{}, EvictionShare: map[string]float64{model.Memory: 0.05, model.EphemeralStorage: 0.125}},
		},
		"not an amount":    {reason: "the field is named", system: settings{"cpu": "much"}, fault: `systemReserved.cpu: "much" is not a quantity such as 200m or 1Gi`},
		"not a threshold":  {reason: "the signal is named", hard: settings{"memory.available": "much"}, fault: `evictionHard.memory.available: "much" is not a quantity such as 200m or 1Gi`},
		"above everything": {reason: "no share is above the whole", hard: settings{"memory.available": "101%"}, fault: `evictionHard.memory.available: "101%" is not a percentage from 0% to 100%`},
		"no number":        {reason: "NaN is not between two numbers", hard: settings{"memory.available": "NaN%"}, fault: `evictionHard.memory.available: "NaN%" is not a percentage from 0% to 100%`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseReserved(tc.kube, tc.system, tc.hard)
			if tc.fault != "" {
				if err == nil || err.Error() != tc.fault {
					t.Errorf("%s: %v, want %s", tc.reason, err, tc.fault)
				}
				return
			}
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v %s", tc.reason, err, diff)
			}
		})
	}
}

// Kubelet's memory reserve follows the interfaces on images whose start-up scripts read it
// from a table by instance type, and maxPods on the others: 11 MiB a pod.
func TestMemoryReserveOfFamilies(t *testing.T) {
	kind := Type{Name: "m5.24xlarge", Arch: "amd64", VCPU: 96, MemoryMiB: 393_216, ENIs: 15, IPv4PerENI: 50}
	const interfaces, told = 15*49 + 2, 110
	for family, pods := range map[string]int64{
		awsv1.AMIFamilyAL2: interfaces, awsv1.AMIFamilyAL2023: interfaces, awsv1.AMIFamilyCustom: interfaces,
		awsv1.AMIFamilyBottlerocket: told, awsv1.AMIFamilyWindows2022: told,
	} {
		class := &awsv1.EC2NodeClass{}
		class.Spec.AMIFamily = &family
		class.Spec.Kubelet = &awsv1.KubeletConfiguration{MaxPods: new(int32(told))}
		opts, err := ForClass(class)
		if err != nil {
			t.Fatal(err)
		}
		capacity := kind.capacity(&opts)
		reserved := capacity[model.Memory] - kind.allocatable(capacity, &opts)[model.Memory]
		if want := (11*pods + 255 + 100) * mib; reserved != want || capacity[model.PodSlots] != told {
			t.Errorf("%s: %d MiB kept of %d pods, want %d MiB", family, reserved/mib, capacity[model.PodSlots], want/mib)
		}
	}
}
