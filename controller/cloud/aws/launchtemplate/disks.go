package launchtemplate

import (
	"math"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
)

const gibibyte = 1 << 30

// templateDisks writes the disks as a launch template has them. Volumes are
// deleted with their instance unless the class says otherwise.
func templateDisks(disks []awsv1.BlockDeviceMapping) []types.LaunchTemplateBlockDeviceMappingRequest {
	var out []types.LaunchTemplateBlockDeviceMappingRequest
	for i := range disks {
		d := &disks[i]
		m := types.LaunchTemplateBlockDeviceMappingRequest{DeviceName: d.DeviceName}
		if e := d.EBS; e != nil {
			m.Ebs = &types.LaunchTemplateEbsBlockDeviceRequest{
				DeleteOnTermination:      sdk.Bool(e.DeleteOnTermination == nil || *e.DeleteOnTermination),
				Encrypted:                e.Encrypted,
				Iops:                     narrow(e.IOPS),
				KmsKeyId:                 e.KMSKeyID,
				SnapshotId:               e.SnapshotID,
				Throughput:               narrow(e.Throughput),
				VolumeInitializationRate: e.VolumeInitializationRate,
				VolumeType:               types.VolumeType(sdk.ToString(e.VolumeType)),
			}
			if e.VolumeSize != nil {
				gib := math.Ceil(float64(e.VolumeSize.Value()) / gibibyte)
				m.Ebs.VolumeSize = sdk.Int32(int32(min(gib, math.MaxInt32)))
			}
		}
		out = append(out, m)
	}
	return out
}

func narrow(n *int64) *int32 {
	if n == nil {
		return nil
	}
	return sdk.Int32(int32(max(math.MinInt32, min(*n, math.MaxInt32))))
}
