//go:build pin

package main

// The import keeps the data's module in go.mod; nothing is compiled from it.
import _ "github.com/LeanerCloud/ec2-instances-info"
