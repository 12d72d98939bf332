package market

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "spokeshave.dev/api/aws/v1"
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
