// Command release makes the files and images of a release, pushes the images, and verifies
// both. "make release" and its relatives call it; docs/contributing/releasing.md has the
// whole way.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"spokeshave.dev/tools/release/registry"
	"spokeshave.dev/tools/release/sign"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// programs are what a release builds: the controller for images, the command line for
// archives.
const (
	controllerPackage = "./cmd/spokeshave-controller"
	cliPackage        = "./cmd/spokeshave"
)

// imagePlatforms are those of nodes.
func imagePlatforms() []v1.Platform {
	return []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}
}

// archivePlatforms are those of people and of their pipelines.
func archivePlatforms() []v1.Platform {
	return append(imagePlatforms(), v1.Platform{OS: "darwin", Architecture: "amd64"}, v1.Platform{OS: "darwin", Architecture: "arm64"})
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "release",
		Short: "Make, push and verify a release of Spokeshave",
		Long: `release makes what a version consists of, from the commit that is checked out:

  images         of the controller, for linux/amd64 and linux/arm64, without a container engine
  chart          with the version and, if there is a registry, the image with its digest
  archives       of the command line, with completions, man pages, licence and notices
  krew manifest  if it is said where the archives will be
  SBOMs          of each program, in CycloneDX
  notices        of everything that is linked; a missing or forbidden licence is an error
  changelog      from the subjects of commits since the version before
  checksums, provenance and, with a key or an identity, signatures that cosign reads

The same commit, version, registry and Go version give the same bytes, on any machine.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(buildCommand(), signCommand(), pushCommand(), verifyCommand(), licencesCommand(), registryCommand())
	return root
}

func buildCommand() *cobra.Command {
	o := options{images: imagePlatforms(), archives: archivePlatforms()}
	c := &cobra.Command{
		Use:   "build --version v1.2.3",
		Short: "Make the files of a version in a folder",
		Long: `Build makes everything that the version consists of in a folder, and pushes nothing. The
checkout has to be clean: what is built is its commit.

The first time it compiles the product for four platforms, which takes many minutes; each
step is named. Later only what has changed is compiled.`,
		Example: `  # what a version would consist of; its chart has no image of its own
  release build --version v1.2.3

  # to be pushed to ghcr.io/acme/controller and ghcr.io/acme/charts/spokeshave, signed
  release build --version v1.2.3 --registry ghcr.io/acme --key cosign.key

  # with a krew manifest that downloads the archives from there
  release build --version v1.2.3 --downloads https://example.com/v1.2.3`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.progress = c.ErrOrStderr()
			o.password = os.Getenv("COSIGN_PASSWORD")
			return build(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.source, "source", "..", "root of the product's module, in a checkout with git")
	f.StringVar(&o.out, "out", "../dist/release", "folder to make; an earlier release in it is replaced")
	f.StringVar(&o.version, "version", "", "version, such as v1.2.3 or v1.2.3-rc.1")
	f.StringVar(&o.registry, "registry", "", "registry and path that images and charts will be pushed to. Empty: they cannot be pushed")
	f.StringVar(&o.downloads, "downloads", "", "address of the folder that the archives will be downloaded from. Empty: no krew manifest")
	f.StringVar(&o.key, "key", "", "file with the private key to sign with, or env://NAME for what a variable has: ECDSA P-256 or Ed25519 in PEM, or cosign's with its password in COSIGN_PASSWORD. Empty: nothing is signed")
	f.StringVar(&o.repository, "repository", "https://spokeshave.dev", "address of the source, for the provenance")
	f.StringVar(&o.builder, "builder", "https://spokeshave.dev/release/by-hand", "address of who builds, for the provenance")
	return c
}

func signCommand() *cobra.Command {
	var from string
	var services sign.Services
	c := &cobra.Command{
		Use:   "sign",
		Short: "Sign a release with an identity, without a key",
		Long: `Sign adds signatures to a release that was built without a key. Who signs is the identity of
an OpenID Connect token: SIGSTORE_ID_TOKEN, or that of a workflow whose job has the
permission id-token: write. A certificate authority (Fulcio) vouches for it for some minutes,
and a log (Rekor) keeps each signature and the name of the identity, for everybody and for ever.

Files of the release are not changed. Added are SHA256SUMS.sigstore.json and
provenance.sigstore.json, and a layout with what "release push" attaches to images and
charts. They are Sigstore bundles, which cosign 3 reads.`,
		Example: `  # in a workflow, with the public instance of Sigstore
  release sign --from ../dist/release

  # with an instance of your own
  release sign --signing-config signing-config.json --trusted-root trusted-root.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return signKeyless(c.Context(), from, services, c.ErrOrStderr())
		},
	}
	c.Flags().StringVar(&from, "from", "../dist/release", "folder of the release")
	c.Flags().StringVar(&services.SigningConfig, "signing-config", "", "file with the addresses of the services that sign. Empty: those of the public instance")
	c.Flags().StringVar(&services.TrustedRoot, "trusted-root", "", "file with their certificates and keys. Empty: those of the public instance")
	return c
}

// trustFlags are the flags that say whose signatures count.
func trustFlags(f *pflag.FlagSet, t *trusted) {
	f.StringVar(&t.key, "key", "", "file with the public key, or env://NAME for what a variable has, to verify the signatures with. Neither key nor identity: digests only")
	f.StringVar(&t.identity, "identity", "", "who has to have signed without a key, exactly as the certificate says, such as the address of a workflow")
	f.StringVar(&t.issuer, "issuer", "", "who has to vouch for the identity, such as https://token.actions.githubusercontent.com")
	f.StringVar(&t.services.TrustedRoot, "trusted-root", "", "file with certificates and keys of the services that vouch. Empty: those of the public instance of Sigstore")
}

func pushCommand() *cobra.Command {
	var from string
	var who trusted
	var plain bool
	c := &cobra.Command{
		Use:   "push",
		Short: "Push the images and charts of a release, and verify them there",
		Long: `Push copies images, charts, signatures and attestations to the registry that the release
was built for, with the credentials of "docker login", and then reads everything back and
compares it by digest. What is there already is left. A tag that names something else is an
error: a version is released once.`,
		Example: `  release push --from ../dist/release
  release push --from ../dist/release --key cosign.pub`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			client := &registry.Client{PlainHTTP: plain, Progress: c.ErrOrStderr()}
			return push(c.Context(), client, from, who)
		},
	}
	f := c.Flags()
	f.StringVar(&from, "from", "../dist/release", "folder of the release")
	trustFlags(f, &who)
	f.BoolVar(&plain, "plain-http", false, "speak to the registry without TLS")
	return c
}

func verifyCommand() *cobra.Command {
	var from string
	var who trusted
	var remote, plain bool
	c := &cobra.Command{
		Use:   "verify",
		Short: "Verify the files of a release, and what the registry has of it",
		Long: `Verify compares every file of a release with its checksums, and what the provenance says
with the files; with a key or an identity it verifies the signatures of both. With --remote
it reads what the registry has, and compares that by digest, signatures included.`,
		Example: `  release verify --from ../dist/release
  release verify --from ../dist/release --key cosign.pub --remote

  # signed by a workflow, without a key
  release verify --identity https://github.com/acme/x/.github/workflows/release.yml@refs/tags/v1.2.3 \
      --issuer https://token.actions.githubusercontent.com`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			trust, err := who.read()
			if err != nil {
				return err
			}
			if err := verifyFiles(c.Context(), from, trust, c.ErrOrStderr()); err != nil || !remote {
				return err
			}
			client := &registry.Client{PlainHTTP: plain, Progress: c.ErrOrStderr()}
			return withLayout(from, func(top v1.ImageIndex) error { return client.Verify(c.Context(), top, trust) })
		},
	}
	f := c.Flags()
	f.StringVar(&from, "from", "../dist/release", "folder of the release")
	trustFlags(f, &who)
	f.BoolVar(&remote, "remote", false, "verify what the registry has as well")
	f.BoolVar(&plain, "plain-http", false, "speak to the registry without TLS")
	return c
}

func licencesCommand() *cobra.Command {
	var source, out string
	c := &cobra.Command{
		Use:   "licences",
		Short: "Check the licences of everything that is linked",
		Long: `Licences finds the licence files of every module that is linked into the controller or the
command line, on any of the platforms, and prints what they are. A licence that is missing,
not recognised or not allowed is an error that names the module.`,
		Example: `  release licences
  release licences --out THIRD_PARTY_NOTICES`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			modules, err := licences(c.Context(), source, archivePlatforms())
			for _, m := range modules {
				fmt.Fprintf(c.OutOrStdout(), "%-70s %v\n", m.Path+" "+m.Version, m.Licences)
			}
			if err != nil || out == "" {
				return err
			}
			return os.WriteFile(out, noticesText(modules), 0o644)
		},
	}
	c.Flags().StringVar(&source, "source", "..", "root of the product's module")
	c.Flags().StringVar(&out, "out", "", "file to write the notices to. Empty: none")
	return c
}

// push pushes the release in a folder when its files are what they were, and verifies it.
func push(ctx context.Context, client *registry.Client, from string, who trusted) error {
	trust, err := who.read()
	if err != nil {
		return err
	}
	if err := verifyFiles(ctx, from, trust, client.Progress); err != nil {
		return err
	}
	if err := withLayout(from, func(top v1.ImageIndex) error { return client.Push(ctx, top) }); err != nil {
		return err
	}
	return withLayout(from, func(top v1.ImageIndex) error { return client.Verify(ctx, top, trust) })
}

// layoutFile finds the file with the images of the release in a folder.
func layoutFile(from string) (string, error) {
	found, err := filepath.Glob(filepath.Join(from, "spokeshave-*-oci.tar"))
	if err != nil || len(found) != 1 {
		return "", fmt.Errorf("%d files %s/spokeshave-*-oci.tar, want one: say the folder of a release", len(found), from)
	}
	return found[0], nil
}
