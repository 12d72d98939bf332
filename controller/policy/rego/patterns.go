package rego

import (
	"context"

	"github.com/open-policy-agent/opa/v1/topdown/cache"
)

// maxPatterns is how many compiled patterns a call keeps. It is the number that OPA keeps in its
// own caches.
const maxPatterns = 100

// newPatterns returns the cache in which built-in functions keep the patterns of regular expressions and
// globs that they have compiled. Without it they keep them in caches of the whole process, where one
// policy's patterns would stay, some MiB each, in no policy's share of the memory. A cache lives as long as a
// call: a pattern is compiled once for all rows, and nothing of it is left afterwards.
func newPatterns(ctx context.Context) cache.InterQueryValueCache {
	most := maxPatterns
	return cache.NewInterQueryValueCache(ctx, &cache.Config{
		InterQueryBuiltinValueCache: cache.InterQueryBuiltinValueCacheConfig{MaxNumEntries: &most},
	})
}
