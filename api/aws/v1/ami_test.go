package v1_test

import (
	"strings"
	"testing"

	awsv1 "spokeshave.dev/api/aws/v1"
)

func TestParseAlias(t *testing.T) {
	tests := map[string]struct {
		reason, in string
		want       awsv1.Alias
		err        string
	}{
		"pinned":     {"a release", "al2023@v20250801", awsv1.Alias{Family: "AL2023", Version: "v20250801"}, ""},
		"latest":     {"a moving target", "bottlerocket@latest", awsv1.Alias{Family: "Bottlerocket", Version: "latest"}, ""},
		"windows":    {"years are families", "windows2025@latest", awsv1.Alias{Family: "Windows2025", Version: "latest"}, ""},
		"no version": {"both halves are needed", "al2023", awsv1.Alias{}, "want family@version"},
		"empty":      {"an empty version is none", "al2023@", awsv1.Alias{}, "want family@version"},
		"unknown":    {"families are a closed list", "ubuntu@latest", awsv1.Alias{}, `unknown family "ubuntu"`},
		"case":       {"aliases are lower case", "AL2023@latest", awsv1.Alias{}, `unknown family "AL2023"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := awsv1.ParseAlias(tc.in)
			if got != tc.want || (err == nil) != (tc.err == "") || (err != nil && !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%s: got %v, %v, want %v and error %q", tc.reason, got, err, tc.want, tc.err)
			}
		})
	}
}

func TestAMIFamily(t *testing.T) {
	for file, want := range map[string]string{
		"al2023.yaml":             awsv1.AMIFamilyAL2023,
		"bottlerocket-tuned.yaml": awsv1.AMIFamilyBottlerocket,
		"custom-ami.yaml":         awsv1.AMIFamilyCustom,
		"windows.yaml":            awsv1.AMIFamilyWindows2025,
	} {
		if got := read(t, file).AMIFamily(); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}
