package v1_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// TestWellKnownLabelsAreAdmitted: the rules of the custom resources that restrict the
// domain karpenter.k8s.aws admit exactly the well-known labels. A label that they lack
// could not be used in a NodePool, although nodes have it.
func TestWellKnownLabelsAreAdmitted(t *testing.T) {
	admitted := regexp.MustCompile(`'(\^karpenter\[\.\]k8s\[\.\]aws/\([^']*\)\$)'`)
	for _, file := range []string{"nodepool_template.go", "requirement.go"} {
		source, err := os.ReadFile("../../karpenter/v1/" + file)
		if err != nil {
			t.Fatal(err)
		}
		rules := admitted.FindAllStringSubmatch(string(source), -1)
		if len(rules) != 1 {
			t.Fatalf("%s has %d rules that list labels, want 1", file, len(rules))
		}
		rule, own := regexp.MustCompile(rules[0][1]), 0
		for _, key := range awsv1.WellKnownLabels() {
			if !strings.HasPrefix(key, awsv1.Group+"/") {
				continue
			}
			own++
			if !rule.MatchString(key) {
				t.Errorf("%s: the rule does not admit %s", file, key)
			}
		}
		// Groups only end alternatives, so that each bar adds one label.
		if n := strings.Count(rules[0][1], "|") + 1; n != own {
			t.Errorf("%s: the rule admits %d labels, and %d are well known", file, n, own)
		}
	}
}
