package aws

import (
	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/provider"
)

// launchAnnotations are what a claim must remember of its class for Drifted.
func launchAnnotations(class *awsv1.EC2NodeClass) (map[string]string, error) {
	hash, err := class.Hash()
	if err != nil {
		return nil, refuse(provider.Invalid, "%w", err)
	}
	return map[string]string{
		awsv1.AnnotationEC2NodeClassHash:        hash,
		awsv1.AnnotationEC2NodeClassHashVersion: awsv1.EC2NodeClassHashVersion,
		awsv1.AnnotationInstanceProfile:         class.Status.InstanceProfile,
	}, nil
}
