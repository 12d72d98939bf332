package market

import (
	sdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// rootVolume is the size in bytes of the disk with the kubelet's directory: the
// one marked so, else the usual device, else 0 for unknown.
func rootVolume(disks []awsv1.BlockDeviceMapping) int64 {
	var usual int64
	for i := range disks {
		d := &disks[i]
		if d.EBS == nil || d.EBS.VolumeSize == nil {
			continue
		}
		if d.RootVolume {
			return d.EBS.VolumeSize.Value()
		}
		if name := sdk.ToString(d.DeviceName); len(disks) == 1 || name == "/dev/xvdb" || name == "/dev/xvda" && usual == 0 {
			usual = d.EBS.VolumeSize.Value()
		}
	}
	return usual
}
