package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/mod/semver"

	"spokeshave.dev/tools/release/changelog"
)

// repository is the checkout that a release is made from.
type repository struct{ dir string }

// git runs git and returns what it prints, without the last line's end.
func (r repository) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

// commit is the commit that is checked out, without changes.
type commit struct {
	hash string
	time time.Time
}

// head returns the commit. It is an error when files differ from it, or when the tag of the
// version is at another commit.
func (r repository) head(ctx context.Context, version string) (commit, error) {
	changed, err := r.git(ctx, "status", "--porcelain")
	if err != nil {
		return commit{}, err
	}
	if changed != "" {
		first, _, _ := strings.Cut(changed, "\n")
		return commit{}, fmt.Errorf("the checkout has changes (%s …): a release is made of a commit; commit or remove them", strings.TrimSpace(first))
	}
	line, err := r.git(ctx, "log", "-1", "--format=%H %ct")
	if err != nil {
		return commit{}, err
	}
	var c commit
	var seconds int64
	if _, err := fmt.Sscan(line, &c.hash, &seconds); err != nil {
		return commit{}, fmt.Errorf("read the commit %q: %w", line, err)
	}
	c.time = time.Unix(seconds, 0).UTC()
	tagged, err := r.git(ctx, "tag", "--list", version, "--format=%(objectname) %(*objectname)")
	if err != nil {
		return commit{}, err
	}
	if tagged != "" && !strings.Contains(tagged, c.hash) {
		return commit{}, fmt.Errorf("the tag %s is at another commit than %s: check that out, or choose another version", version, c.hash[:12])
	}
	return c, nil
}

// before returns the highest version among the tags below the commit that is lower than a
// version, empty for none. Pre-releases count before a pre-release only.
func (r repository) before(ctx context.Context, version string) (string, error) {
	tags, err := r.git(ctx, "tag", "--list", "v*", "--merged", "HEAD")
	if err != nil {
		return "", err
	}
	highest := ""
	for _, tag := range strings.Fields(tags) {
		if !semver.IsValid(tag) || semver.Compare(tag, version) >= 0 || semver.Prerelease(version) == "" && semver.Prerelease(tag) != "" {
			continue
		}
		if highest == "" || semver.Compare(tag, highest) > 0 {
			highest = tag
		}
	}
	return highest, nil
}

// commits returns the commits since a version, oldest first, without merges.
func (r repository) commits(ctx context.Context, since string) ([]changelog.Commit, error) {
	which := "HEAD"
	if since != "" {
		which = since + "..HEAD"
	}
	const format = "--format=%h%x00%s%x00%(trailers:key=Breaking,valueonly,unfold,separator=%x20)"
	text, err := r.git(ctx, "log", "--reverse", "--no-merges", "--abbrev=12", format, which)
	if err != nil {
		return nil, err
	}
	var out []changelog.Commit
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\x00")
		if len(fields) != 3 {
			return nil, fmt.Errorf("read the commit %q: want three fields", line)
		}
		out = append(out, changelog.Commit{Hash: fields[0], Subject: fields[1], Breaking: fields[2]})
	}
	return out, nil
}

// checkVersion returns an error unless a version can be released: it is a tag of images and
// of git, and the version of a chart.
func checkVersion(version string) error {
	if version == "" {
		return errors.New("say which version: --version v1.2.3 (VERSION=v1.2.3 of make)")
	}
	if !semver.IsValid(version) || semver.Canonical(version) != version {
		return fmt.Errorf("version %q: want vMAJOR.MINOR.PATCH, with -PRERELEASE for one, such as v1.2.3 or v1.2.3-rc.1", version)
	}
	return nil
}
