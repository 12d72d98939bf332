package resolve

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// Which parameters of Systems Manager stand behind an alias, and the instances
// that each image is for.
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
func TestAliasVariants(t *testing.T) {
	for name, c := range map[string]struct {
		reason     string
		alias      awsv1.Alias
		kubernetes string
		want       []string
	}{
		"AL2": {
			reason: "one image for both kinds of accelerator, on amd64", alias: awsv1.Alias{Family: awsv1.AMIFamilyAL2, Version: "latest"}, kubernetes: "1.32",
			want: []string{
				"optimized-ami/1.32/amazon-linux-2/recommended/image_id: amd64, no GPU, no accelerator",
				"optimized-ami/1.32/amazon-linux-2-gpu/recommended/image_id: amd64, GPU",
				"optimized-ami/1.32/amazon-linux-2-gpu/recommended/image_id: amd64, accelerator",
				"optimized-ami/1.32/amazon-linux-2-arm64/recommended/image_id: arm64, no GPU, no accelerator",
			},
		},
		"AL2 pinned": {
			reason: "a release has the version of Kubernetes in its name", alias: awsv1.Alias{Family: awsv1.AMIFamilyAL2, Version: "v20250801"}, kubernetes: "1.32",
			want: []string{
				"optimized-ami/1.32/amazon-linux-2/amazon-eks-node-1.32-v20250801/image_id: amd64, no GPU, no accelerator",
				"optimized-ami/1.32/amazon-linux-2-gpu/amazon-eks-gpu-node-1.32-v20250801/image_id: amd64, GPU",
				"optimized-ami/1.32/amazon-linux-2-gpu/amazon-eks-gpu-node-1.32-v20250801/image_id: amd64, accelerator",
				"optimized-ami/1.32/amazon-linux-2-arm64/amazon-eks-arm64-node-1.32-v20250801/image_id: arm64, no GPU, no accelerator",
			},
		},
		"AL2023": {
			reason: "there is no Neuron image for arm64", alias: awsv1.Alias{Family: awsv1.AMIFamilyAL2023, Version: "v20260601"}, kubernetes: "1.36",
			want: []string{
				"optimized-ami/1.36/amazon-linux-2023/x86_64/standard/amazon-eks-node-al2023-x86_64-standard-1.36-v20260601/image_id: amd64, no GPU, no accelerator",
				"optimized-ami/1.36/amazon-linux-2023/x86_64/nvidia/amazon-eks-node-al2023-x86_64-nvidia-1.36-v20260601/image_id: amd64, GPU",
				"optimized-ami/1.36/amazon-linux-2023/x86_64/neuron/amazon-eks-node-al2023-x86_64-neuron-1.36-v20260601/image_id: amd64, accelerator",
				"optimized-ami/1.36/amazon-linux-2023/arm64/standard/amazon-eks-node-al2023-arm64-standard-1.36-v20260601/image_id: arm64, no GPU, no accelerator",
				"optimized-ami/1.36/amazon-linux-2023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.36-v20260601/image_id: arm64, GPU",
			},
		},
		"Bottlerocket": {
			reason: "pinned without the v; the standard image has the Neuron driver", alias: awsv1.Alias{Family: awsv1.AMIFamilyBottlerocket, Version: "v1.58.0"}, kubernetes: "1.36",
			want: []string{
				"bottlerocket/aws-k8s-1.36/x86_64/1.58.0/image_id: amd64, no GPU, no accelerator",
				"bottlerocket/aws-k8s-1.36-nvidia/x86_64/1.58.0/image_id: amd64, GPU",
				"bottlerocket/aws-k8s-1.36/x86_64/1.58.0/image_id: amd64, accelerator",
				"bottlerocket/aws-k8s-1.36/arm64/1.58.0/image_id: arm64, no GPU, no accelerator",
				"bottlerocket/aws-k8s-1.36-nvidia/arm64/1.58.0/image_id: arm64, GPU",
			},
		},
		"Windows 2025": {
			reason: "Windows is of its build", alias: awsv1.Alias{Family: awsv1.AMIFamilyWindows2025, Version: "latest"}, kubernetes: "1.36",
			want: []string{"ami-windows-latest/Windows_Server-2025-English-Core-EKS_Optimized-1.36/image_id: amd64, windows, 10.0.26100"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := aliasVariants(c.alias, c.kubernetes)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, v := range all {
				var fits []string
				for _, r := range v.requirements {
					switch words := map[string]string{awsv1.LabelInstanceGPUCount: "GPU", awsv1.LabelInstanceAcceleratorCount: "accelerator"}; r.Operator { //nolint:exhaustive // the rest have values
					case "DoesNotExist":
						fits = append(fits, "no "+words[r.Key])
					case "Exists":
						fits = append(fits, words[r.Key])
					default:
						fits = append(fits, strings.Join(r.Values, "|"))
					}
				}
				path := strings.TrimPrefix(strings.TrimPrefix(v.parameter, "/aws/service/"), "eks/")
				got = append(got, path+": "+strings.Join(fits, ", "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
	if _, err := aliasVariants(awsv1.Alias{Family: "Plan9", Version: "latest"}, "1.36"); err == nil {
		t.Error("an alias of no family is taken")
	}
}

// From Kubernetes 1.33 on there are no images of Amazon Linux 2: the class is told so.
func TestAliasAL2Ends(t *testing.T) {
	al2 := awsv1.Alias{Family: awsv1.AMIFamilyAL2, Version: "latest"}
	for version, ends := range map[string]bool{"1.9": false, "1.32": false, "1.33": true, "1.36": true, "2.0": true} {
		_, err := aliasVariants(al2, version)
		if ends != (err != nil) || ends && !strings.Contains(err.Error(), "use al2023 or bottlerocket") {
			t.Errorf("Kubernetes %s: %v, want a refusal: %t", version, err, ends)
		}
	}
}
