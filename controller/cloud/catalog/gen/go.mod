module spokeshave.dev/controller/cloud/catalog/gen

go 1.26.0

require github.com/LeanerCloud/ec2-instances-info v0.0.0-00010101000000-000000000000

require github.com/pkg/errors v0.9.1 // indirect

// The module declares another path than the one it is published under.
replace github.com/LeanerCloud/ec2-instances-info => github.com/cristim/ec2-instances-info v0.0.0-20250528091325-32acf84f42eb
