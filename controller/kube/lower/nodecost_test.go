package lower

import (
	"testing"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

func TestNodeCost(t *testing.T) {
	cases := map[string]struct {
		reason    string
		class     string
		region    string
		listed    map[string]model.VolumePrice
		ebs, ipv4 model.Price
	}{
		"nothing said": {
			reason: "an image of the user's own: 20 GiB are taken for its volume",
			class:  `{}`, ebs: 2_191, // 20 x 0.08 / 730
		},
		"AL2023": {
			reason: "the family's disk, in a dearer region", region: "eu-central-1",
			class: `{spec: {amiSelectorTerms: [{alias: al2023@latest}]}}`, ebs: 2_608, // 20 x 0.0952 / 730
		},
		"Bottlerocket": {
			reason: "both of the family's disks",
			class:  `{spec: {amiSelectorTerms: [{alias: bottlerocket@latest}]}}`, ebs: 2_630, // 24 x 0.08 / 730
		},
		"public address": {
			reason: "an address that the class asks for",
			class:  `{spec: {associatePublicIPAddress: true}}`, ebs: 2_191, ipv4: 5_000,
		},
		"fast gp3": {
			reason: "what is beyond 3,000 IOPS and 125 MiB/s costs",
			class:  `{spec: {blockDeviceMappings: [{ebs: {volumeSize: 100Gi, volumeType: gp3, iops: 4000, throughput: 225}}]}}`,
			ebs:    23_287, // (8 + 5 + 4) / 730
		},
		"io2 beside gp2": {
			reason: "volumes add up, each by its type; part of a GiB is one",
			class:  `{spec: {blockDeviceMappings: [{ebs: {volumeSize: 10Gi, volumeType: io2, iops: 1000}}, {ebs: {volumeSize: 1500Mi, volumeType: gp2}}, {deviceName: /dev/xvdc}]}}`,
			ebs:    91_027, // (1.25 + 65 + 0.2) / 730
		},
		"listed": {
			reason: "the region's own list goes before what follows from gp3", region: "eu-central-1",
			class:  `{spec: {blockDeviceMappings: [{ebs: {volumeSize: 100Gi, volumeType: gp3, iops: 4000, throughput: 225}}, {ebs: {volumeSize: 10Gi, volumeType: gp2}}]}}`,
			listed: map[string]model.VolumePrice{"gp3": {GiB: 100_000, IOPS: 6_000, Throughput: 50_000}},
			ebs:    30_397, // (10 + 6 + 5) / 730, and 1 x 1.19 / 730 for gp2, which the list lacks
		},
		"absurd": {
			reason: "no figure of a manifest makes the cost negative",
			class:  `{spec: {blockDeviceMappings: [{ebs: {volumeSize: -5Gi, iops: 9223372036854775807, throughput: -9223372036854775808}}]}}`,
			ebs:    7_161_479, // (2^20 - 3000) x 0.005 / 730
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ebs, ipv4 := NodeCost(parse[awsv1.EC2NodeClass](t, tc.class), tc.region, tc.listed)
			if ebs != tc.ebs || ipv4 != tc.ipv4 {
				t.Errorf("%s: NodeCost = %d, %d, want %d, %d", tc.reason, ebs, ipv4, tc.ebs, tc.ipv4)
			}
		})
	}
	if ebs, ipv4 := NodeCost(nil, "", nil); ebs != 2_191 || ipv4 != 0 {
		t.Errorf("of no class: %d, %d", ebs, ipv4)
	}
}
