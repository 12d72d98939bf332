package app

// Version is stamped by the build (-ldflags -X).
var Version = "dev" //nolint:gochecknoglobals // the linker can only write a variable
