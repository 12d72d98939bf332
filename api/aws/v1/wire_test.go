package v1_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/api/internal/wiretest"
)

func suite() wiretest.Suite {
	return wiretest.Suite{Dir: "testdata", Kinds: map[string]runtime.Object{"EC2NodeClass": &awsv1.EC2NodeClass{}}}
}

func read(t *testing.T, file string) *awsv1.EC2NodeClass {
	t.Helper()
	obj, _ := suite().Decode(t, file)
	return obj.(*awsv1.EC2NodeClass)
}

func TestWireFormat(t *testing.T) {
	suite().Run(t)
}

// TestUnknownFieldsAreErrors guards the strictness that TestWireFormat relies on.
func TestUnknownFieldsAreErrors(t *testing.T) {
	err := yaml.UnmarshalStrict([]byte("spec: {amiSelectorTerm: []}"), &awsv1.EC2NodeClass{})
	if err == nil || !strings.Contains(err.Error(), "amiSelectorTerm") {
		t.Errorf("got %v, want an error that names the field", err)
	}
}

func TestAddToScheme(t *testing.T) {
	s := runtime.NewScheme()
	if err := awsv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{awsv1.Kind, "EC2NodeClassList"} {
		if _, err := s.New(awsv1.GroupVersion.WithKind(kind)); err != nil {
			t.Error(err)
		}
	}
}
