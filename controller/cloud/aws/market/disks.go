package market

import (
	sdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// rootVolume is the size in bytes of the disk with the kubelet's directory: the one
// marked so, else the device that images of the family have it on, else 0 for unknown. Of
// a family that is not known it is the last disk, as Karpenter counts it.
func rootVolume(family string, disks []awsv1.BlockDeviceMapping) int64 {
	device := rootDevice(family)
	var found int64
	for i := range disks {
		d := &disks[i]
		if d.EBS == nil || d.EBS.VolumeSize == nil {
			continue
		}
		if d.RootVolume {
			return d.EBS.VolumeSize.Value()
		}
		if device == "" || sdk.ToString(d.DeviceName) == device {
			found = d.EBS.VolumeSize.Value()
		}
	}
	return found
}

// rootDevice is where images of a family have the kubelet's directory, "" when that is
// not known. Bottlerocket keeps it on its second disk.
// https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html
// https://bottlerocket.dev/en/os/latest/install/quickstart/aws/ec2/
func rootDevice(family string) string {
	switch family {
	case awsv1.AMIFamilyAL2, awsv1.AMIFamilyAL2023:
		return "/dev/xvda"
	case awsv1.AMIFamilyBottlerocket:
		return "/dev/xvdb"
	case awsv1.AMIFamilyWindows2019, awsv1.AMIFamilyWindows2022, awsv1.AMIFamilyWindows2025:
		return "/dev/sda1"
	default:
		return ""
	}
}
