module spokeshave.dev/tools/digests

go 1.26.0

require spokeshave.dev v0.0.0

replace spokeshave.dev => ../..
