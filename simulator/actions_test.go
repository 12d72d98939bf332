package simulator_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/simulator"
)

func where(name string, values ...string) ec2types.Filter {
	return ec2types.Filter{Name: &name, Values: values}
}

// TestReads asks each Describe action something and compares what matters.
func TestReads(t *testing.T) {
	discovery := where("tag:karpenter.sh/discovery", "demo")
	for name, tc := range map[string]struct {
		reason string
		ask    func(*testing.T, *testEndpoint) (any, error)
		want   any
		code   string
	}{
		"subnets by tag": {
			reason: "one for each zone", want: []string{"us-west-2a usw2-az1 10.0.0.0/19 8187", "us-west-2b usw2-az2 10.0.32.0/19 8187", "us-west-2c usw2-az3 10.0.64.0/19 8187"},
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := w.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{discovery}})
				var got []string
				for _, s := range subnets(out) {
					got = append(got, fmt.Sprint(*s.AvailabilityZone, " ", *s.AvailabilityZoneId, " ", *s.CidrBlock, " ", *s.AvailableIpAddressCount))
				}
				return got, err
			},
		},
		"unknown subnet": {
			reason: "IDs must exist", code: "InvalidSubnetID.NotFound",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return w.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{SubnetIds: []string{"subnet-00000000"}})
			},
		},
		"unknown filter": {
			reason: "filters must exist", code: "InvalidParameterValue",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return w.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{where("colour", "blue")}})
			},
		},
		"security groups": {
			reason: "one is the cluster's", want: []string{"demo-node"},
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := w.ec2.DescribeSecurityGroups(t.Context(), &ec2.DescribeSecurityGroupsInput{Filters: []ec2types.Filter{discovery}})
				var got []string
				for i := range out.SecurityGroups {
					got = append(got, *out.SecurityGroups[i].GroupName)
				}
				return got, err
			},
		},
		"zones": {
			reason: "with their IDs", want: []string{"us-west-2b usw2-az2"},
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := w.ec2.DescribeAvailabilityZones(t.Context(), &ec2.DescribeAvailabilityZonesInput{ZoneIds: []string{"usw2-az2"}})
				return []string{*out.AvailabilityZones[0].ZoneName + " " + *out.AvailabilityZones[0].ZoneId}, err
			},
		},
		"regions": {
			reason: "there is one", want: region,
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := w.ec2.DescribeRegions(t.Context(), &ec2.DescribeRegionsInput{})
				return *out.Regions[0].RegionName, err
			},
		},
		"offerings": {
			reason: "g5.xlarge is in two zones", want: []string{"us-west-2a", "us-west-2b"},
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := w.ec2.DescribeInstanceTypeOfferings(t.Context(), &ec2.DescribeInstanceTypeOfferingsInput{LocationType: "availability-zone", Filters: []ec2types.Filter{where("instance-type", "g5.*")}})
				var got []string
				for _, o := range out.InstanceTypeOfferings {
					got = append(got, *o.Location)
				}
				return got, err
			},
		},
		"spot prices": {
			reason: "in force now", want: []string{"m5.large us-west-2a 0.035000", "m5.large us-west-2b 0.033000", "m5.large us-west-2c 0.040000"},
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := w.ec2.DescribeSpotPriceHistory(t.Context(), &ec2.DescribeSpotPriceHistoryInput{InstanceTypes: []ec2types.InstanceType{"m5.large"}, ProductDescriptions: []string{"Linux/UNIX"}, StartTime: aws.Time(start())})
				var got []string
				for _, p := range out.SpotPriceHistory {
					got = append(got, string(p.InstanceType)+" "+*p.AvailabilityZone+" "+*p.SpotPrice)
				}
				return got, err
			},
		},
		"no such type": {
			reason: "types must exist", code: "InvalidInstanceType",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return w.ec2.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{InstanceTypes: []ec2types.InstanceType{"m5.tiny"}})
			},
		},
		"dry run": {
			reason: "of a read", code: "DryRunOperation",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return w.ec2.DescribeInstanceTypes(t.Context(), &ec2.DescribeInstanceTypesInput{DryRun: aws.Bool(true)})
			},
		},
		"malformed instance": {
			reason: "IDs have a form", code: "InvalidInstanceID.Malformed",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{"i-1"}})
			},
		},
		"instances and pages": {
			reason: "exclude each other", code: "InvalidParameterCombination",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{"i-00000000"}, MaxResults: aws.Int32(5)})
			},
		},
		"page too small": {
			reason: "five at least", code: "InvalidParameterValue",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{MaxResults: aws.Int32(1)})
			},
		},
		"bad token": {
			reason: "tokens are ours", code: "InvalidNextToken",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{NextToken: aws.String("next")})
			},
		},
		"capacity reservations": {
			reason: "none", want: 0,
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := w.ec2.DescribeCapacityReservations(t.Context(), &ec2.DescribeCapacityReservationsInput{Filters: []ec2types.Filter{where("state", "active")}})
				return len(out.CapacityReservations), err
			},
		},
		"placement groups": {
			reason: "none", code: "InvalidPlacementGroup.Unknown",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return w.ec2.DescribePlacementGroups(t.Context(), &ec2.DescribePlacementGroupsInput{GroupNames: []string{"close"}})
			},
		},
		"cluster": {
			reason: "the one", want: []string{"1.36", "https://127.0.0.1:6443", "10.100.0.0/16"},
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := eks.NewFromConfig(w.cfg).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("demo")})
				return []string{*out.Cluster.Version, *out.Cluster.Endpoint, *out.Cluster.KubernetesNetworkConfig.ServiceIpv4Cidr}, err
			},
		},
		"another cluster": {
			reason: "there is one only", code: "ResourceNotFoundException",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return eks.NewFromConfig(w.cfg).DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("other")})
			},
		},
		"identity": {
			reason: "whoever asks", want: "123456789012",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := sts.NewFromConfig(w.cfg).GetCallerIdentity(t.Context(), &sts.GetCallerIdentityInput{})
				return *out.Account, err
			},
		},
		"no such parameter": {
			reason: "AL2 ended with 1.32", code: "ParameterNotFound",
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				return ssm.NewFromConfig(w.cfg).GetParameter(t.Context(), &ssm.GetParameterInput{Name: aws.String("/aws/service/eks/optimized-ami/1.36/amazon-linux-2/recommended/image_id")})
			},
		},
		"parameters": {
			reason: "found and not found", want: []int{1, 1},
			ask: func(t *testing.T, w *testEndpoint) (any, error) {
				out, err := ssm.NewFromConfig(w.cfg).GetParameters(t.Context(), &ssm.GetParametersInput{Names: []string{"/aws/service/bottlerocket/aws-k8s-1.36/arm64/latest/image_id", "/x"}})
				return []int{len(out.Parameters), len(out.InvalidParameters)}, err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.ask(t, newEndpoint(t))
			wantCode(t, err, tc.code)
			if tc.code == "" {
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
				}
			}
		})
	}
}

func subnets(out *ec2.DescribeSubnetsOutput) []ec2types.Subnet {
	if out == nil {
		return nil
	}
	return out.Subnets
}

func TestImageParameters(t *testing.T) {
	w := newEndpoint(t)
	for path, arch := range map[string]ec2types.ArchitectureValues{
		"/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/x86_64/standard/recommended/image_id":                                         "x86_64",
		"/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/nvidia/recommended/image_id":                                            "arm64",
		"/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/x86_64/neuron/recommended/image_id":                                           "x86_64",
		"/aws/service/eks/optimized-ami/1.36/amazon-linux-2023/arm64/standard/amazon-eks-node-al2023-arm64-standard-1.36-v20260601/image_id": "arm64",
		"/aws/service/eks/optimized-ami/1.32/amazon-linux-2-arm64/recommended/image_id":                                                      "arm64",
		"/aws/service/bottlerocket/aws-k8s-1.36-nvidia/x86_64/1.58.0/image_id":                                                               "x86_64",
		"/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.36/image_id":                                       "x86_64",
	} {
		t.Run(path, func(t *testing.T) {
			p, err := ssm.NewFromConfig(w.cfg).GetParameter(t.Context(), &ssm.GetParameterInput{Name: &path})
			wantCode(t, err, "")
			out, err := w.ec2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{ImageIds: []string{*p.Parameter.Value}})
			wantCode(t, err, "")
			if got := out.Images[0].Architecture; got != arch {
				t.Errorf("%s is for %s, want %s", *out.Images[0].Name, got, arch)
			}
		})
	}
}

func TestInstanceTypes(t *testing.T) {
	w := newEndpoint(t)
	got := map[ec2types.InstanceType]ec2types.InstanceTypeInfo{}
	pages := ec2.NewDescribeInstanceTypesPaginator(w.ec2, &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(5)})
	for n := 0; pages.HasMorePages(); n++ {
		page, err := pages.NextPage(t.Context())
		wantCode(t, err, "")
		if n == 0 && len(page.InstanceTypes) != 5 {
			t.Errorf("the first page holds %d types, want 5", len(page.InstanceTypes))
		}
		for i := range page.InstanceTypes {
			got[page.InstanceTypes[i].InstanceType] = page.InstanceTypes[i]
		}
	}
	if len(got) != 6 {
		t.Fatalf("%d types, want 6", len(got))
	}
	m5 := got["m5.large"]
	facts := []any{
		*m5.VCpuInfo.DefaultVCpus, *m5.MemoryInfo.SizeInMiB, m5.Hypervisor, *m5.NetworkInfo.Ipv4AddressesPerInterface,
		*m5.NetworkInfo.NetworkCards[0].MaximumNetworkInterfaces, *m5.NetworkInfo.NetworkCards[0].BaselineBandwidthInGbps,
		*m5.EbsInfo.EbsOptimizedInfo.MaximumBandwidthInMbps, *m5.ProcessorInfo.Manufacturer, *m5.ProcessorInfo.SustainedClockSpeedInGhz,
		m5.ProcessorInfo.SupportedArchitectures[0], m5.SupportedUsageClasses, *m5.BareMetal, *m5.BurstablePerformanceSupported,
	}
	want := []any{
		int32(2), int64(8192), ec2types.InstanceTypeHypervisorNitro, int32(10), int32(3), 0.75, int32(4750), "Intel", 3.1,
		ec2types.ArchitectureTypeX8664,
		[]ec2types.UsageClassType{"on-demand", "spot"},
		false, false,
	}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("m5.large (-want +got):\n%s", diff)
	}
	gpu := got["g5.xlarge"].GpuInfo.Gpus[0]
	if *gpu.Name != "A10G" || *gpu.Manufacturer != "NVIDIA" || *gpu.Count != 1 || *gpu.MemoryInfo.SizeInMiB != 24576 || *got["g5.xlarge"].InstanceStorageInfo.TotalSizeInGB != 250 {
		t.Errorf("g5.xlarge has %+v", gpu)
	}
	neuron := got["inf2.xlarge"].NeuronInfo.NeuronDevices[0]
	if *neuron.Name != "Inferentia2" || *neuron.CoreInfo.Count != 2 || *got["inf2.xlarge"].NetworkInfo.EfaInfo.MaximumEfaInterfaces != 1 {
		t.Errorf("inf2.xlarge has %+v", neuron)
	}
	if metal := got["m5.metal"]; !*metal.BareMetal || metal.Hypervisor != "" {
		t.Errorf("m5.metal: bare metal %v, hypervisor %q", *metal.BareMetal, metal.Hypervisor)
	}
}

func TestPrices(t *testing.T) {
	w := newEndpoint(t)
	ask := func() map[string]string {
		t.Helper()
		term := func(field, value string) pricingtypes.Filter {
			return pricingtypes.Filter{Type: pricingtypes.FilterTypeTermMatch, Field: &field, Value: &value}
		}
		out, err := pricing.NewFromConfig(w.cfg, func(o *pricing.Options) { o.Region = "us-east-1" }).GetProducts(t.Context(), &pricing.GetProductsInput{
			ServiceCode: aws.String("AmazonEC2"),
			Filters:     []pricingtypes.Filter{term("regionCode", region), term("tenancy", "Shared"), term("operatingSystem", "Linux"), term("productFamily", "Compute Instance")},
		})
		wantCode(t, err, "")
		got := map[string]string{}
		for _, line := range out.PriceList {
			var p struct {
				Product struct{ Attributes map[string]string }
				Terms   struct {
					OnDemand map[string]struct {
						PriceDimensions map[string]struct{ PricePerUnit map[string]string }
					}
				}
			}
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			for _, term := range p.Terms.OnDemand {
				for _, d := range term.PriceDimensions {
					got[p.Product.Attributes["instanceType"]] = d.PricePerUnit["USD"]
				}
			}
		}
		return got
	}
	want := map[string]string{"m5.large": "0.0960000000", "m5.xlarge": "0.1920000000", "m6g.large": "0.0770000000", "g5.xlarge": "1.0060000000", "inf2.xlarge": "0.7582000000"}
	if diff := cmp.Diff(want, ask()); diff != "" {
		t.Errorf("without the bare metal ones (-want +got):\n%s", diff)
	}
	if err := w.server.SetPrices([]simulator.Price{{Type: "m5.large", CapacityType: "on-demand", USD: 0.2}}); err != nil {
		t.Fatal(err)
	}
	if got := ask()["m5.large"]; got != "0.2000000000" {
		t.Errorf("after the change m5.large costs %s", got)
	}
}
