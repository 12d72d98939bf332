package ids

// Account is one account in one region, to which every resource belongs.
type Account struct {
	// ID is 12 digits.
	ID     string
	Region string
}

// ARN names a resource of the account in the region.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
func (a Account) ARN(service, resource string) string {
	return "arn:aws:" + service + ":" + a.Region + ":" + a.ID + ":" + resource
}

// IAM names a resource of IAM, which has no region.
func (a Account) IAM(resource string) string { return "arn:aws:iam::" + a.ID + ":" + resource }
