package v1

import "k8s.io/apimachinery/pkg/api/resource"

// Disks are the class's block devices, or its AMI family's when it names none;
// nil for a Custom family, whose images say it themselves.
func (c *EC2NodeClass) Disks() []BlockDeviceMapping {
	if len(c.Spec.BlockDeviceMappings) > 0 {
		return c.Spec.BlockDeviceMappings
	}
	switch c.AMIFamily() {
	case AMIFamilyAL2023, AMIFamilyAL2:
		return []BlockDeviceMapping{disk("/dev/xvda", "20Gi", true)}
	case AMIFamilyBottlerocket:
		// The second disk holds images, logs and the kubelet's directory.
		return []BlockDeviceMapping{disk("/dev/xvda", "4Gi", false), disk("/dev/xvdb", "20Gi", true)}
	case AMIFamilyWindows2019, AMIFamilyWindows2022, AMIFamilyWindows2025:
		return []BlockDeviceMapping{disk("/dev/sda1", "50Gi", true)}
	default:
		return nil
	}
}

func disk(device, size string, root bool) BlockDeviceMapping {
	return BlockDeviceMapping{
		DeviceName: new(device),
		RootVolume: root,
		EBS: &BlockDevice{
			VolumeSize: new(resource.MustParse(size)),
			VolumeType: new("gp3"),
			Encrypted:  new(true),
		},
	}
}
