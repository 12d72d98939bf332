package app

// Version is the version of the build, set by the linker (-ldflags -X).
var Version = "dev" //nolint:gochecknoglobals // the linker can only write a variable
