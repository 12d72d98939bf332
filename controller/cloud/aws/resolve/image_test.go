package resolve

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
)

// A deprecated image is taken where nothing else fits, however new it is.
func TestDeprecatedImagesComeLast(t *testing.T) {
	image := func(id, made, deprecated string) candidate {
		c := candidate{Image: types.Image{ImageId: sdk.String(id), CreationDate: sdk.String(made)}, requirements: fitting("amd64", "standard")}
		if deprecated != "" {
			c.DeprecationTime = sdk.String(deprecated)
		}
		return c
	}
	const now = "2026-08-03T10:00:00Z"
	for name, c := range map[string]struct {
		found []candidate
		want  string
		is    bool
	}{
		"an older one that is not": {[]candidate{image("new", "2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"), image("old", "2025-01-01T00:00:00Z", "")}, "old", false},
		"later":                    {[]candidate{image("new", "2026-07-01T00:00:00Z", "2026-08-04T00:00:00Z"), image("old", "2025-01-01T00:00:00Z", "")}, "new", false},
		"all are":                  {[]candidate{image("old", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"), image("new", "2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z")}, "new", true},
	} {
		got, err := newest(c.found, now)
		if err != nil || len(got) != 1 || got[0].ID != c.want || got[0].Deprecated != c.is {
			t.Errorf("%s: %+v, %v; want %s, deprecated %t", name, got, err, c.want, c.is)
		}
	}
}
