package fleet

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/provider"
)

// tokenLength keeps client tokens below EC2's 64 characters.
const tokenLength = 40

// maxSharing is how many claims share a request at most: each of them holds the
// request and the names of all.
const maxSharing = 200

// memberID is one attempt of a claim.
type memberID struct {
	claim   string
	ordinal int
}

// member is a claim that asks for an attempt.
type member struct {
	memberID
	// want is what it is launched with, request the key of it: members with equal keys can
	// share a request.
	want    *wanted
	request string
	// group are the claims that the decision made to be launched with the same.
	group provider.Group

	// attempt or err is the answer.
	attempt provider.Attempt
	err     error
}

// groupAttempts gives attempts to members: those who want the same, by an attempt with the
// same number, share one.
func (l *Launcher) groupAttempts(all []*member) {
	slices.SortFunc(all, func(a, b *member) int {
		return cmp.Or(cmp.Compare(a.request, b.request), cmp.Compare(a.ordinal, b.ordinal), cmp.Compare(a.claim, b.claim))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && n < maxSharing && all[n].request == all[0].request && all[n].ordinal == all[0].ordinal {
			n++
		}
		if err := shareAttempt(all[:n]); err != nil {
			for _, m := range all[:n] {
				m.err = client.Refuse(provider.Invalid, "%w", err)
			}
		} else {
			l.launches.rememberPrepared(all[:n], l.cfg.Clock())
		}
		all = all[n:]
	}
}

// shareAttempt completes the request that members want and writes it down once; each
// member gets a copy of the attempt. The token follows from claims, ordinals and contents.
// Members are sorted by claim and want the same.
func shareAttempt(members []*member) error {
	in := members[0].want.input()
	in.TargetCapacitySpecification.TotalTargetCapacity = sdk.Int32(int32(min(len(members), maxSharing)))
	sum := sha256.New()
	claims := make([]string, 0, len(members))
	for _, m := range members {
		claims = append(claims, m.claim)
		// A hash never refuses a write.
		_, _ = fmt.Fprintf(sum, "%s\x00%d\x00", m.claim, m.ordinal)
	}
	_, _ = sum.Write([]byte(members[0].request))
	token := hex.EncodeToString(sum.Sum(nil))[:tokenLength]
	in.ClientToken = sdk.String(token)
	tags := maps.Clone(members[0].want.tags)
	if len(claims) == 1 {
		maps.Copy(tags, instances.ClaimTags(tags, claims[0]))
	}
	tags[awsv1.TagLaunch] = token
	for i := range in.TagSpecifications {
		in.TagSpecifications[i].Tags = client.Tags(tags)
	}
	body, err := client.Encode(in)
	if err != nil {
		return err
	}
	for _, m := range members {
		m.attempt = provider.Attempt{Token: token, Ordinal: m.ordinal, Claims: claims, Request: body}
		if len(claims) > 1 {
			m.attempt.Claim = m.claim
		}
	}
	return nil
}
