package launchtemplate

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/awstest"
	"spokeshave.dev/controller/cloud/aws/client"
)

func TestTemplateData(t *testing.T) {
	class := awstest.Class(awsv1.AMIFamilyAL2023, "")
	plain, err := client.Encode(contents("spokes", class, Boot{Image: "ami-1", UserData: "data"}))
	if err != nil {
		t.Fatal(err)
	}
	awstest.Golden(t, "template.json", awstest.Indented(t, plain))

	class.Spec.AssociatePublicIPAddress = sdk.Bool(false)
	class.Spec.ConnectionTracking = &awsv1.ConnectionTracking{UDPTimeout: sdk.Int32(30)}
	class.Spec.IPPrefixCount = sdk.Int32(2)
	class.Spec.DetailedMonitoring = sdk.Bool(true)
	class.Spec.AMIFamily = sdk.String(awsv1.AMIFamilyBottlerocket)
	full, err := client.Encode(contents("spokes", class, Boot{Image: "ami-1"}))
	if err != nil {
		t.Fatal(err)
	}
	awstest.Golden(t, "template-interfaces.json", awstest.Indented(t, full))
}
