package main

import (
	"fmt"
	"strings"
)

func inC(f *format) string {
	var b strings.Builder
	fmt.Fprintf(&b, "/* The rows and numbers of ABI v1. %s */\n#ifndef SPOKESHAVE_ABI_H\n#define SPOKESHAVE_ABI_H\n\n#include <stdint.h>\n\n", notice)
	for _, c := range f.constants {
		fmt.Fprintf(&b, "#define SS_%s %s\n", upper(c.name), c.value)
	}
	for _, r := range f.rows {
		fmt.Fprintf(&b, "\n%stypedef struct {\n", wrap("//", r.doc))
		for _, x := range r.fields {
			switch {
			case x.name == "":
				fmt.Fprintf(&b, "  uint8_t zero_%d_[%d];\n", x.offset, x.size)
			case x.bits == 64:
				fmt.Fprintf(&b, "  double %s;%s\n", snake(x.name), trailing(x.doc))
			default:
				fmt.Fprintf(&b, "  uint%d_t %s;%s\n", x.bits, snake(x.name), trailing(x.doc))
			}
		}
		fmt.Fprintf(&b, "} ss_%s;\n", snake(r.name))
		fmt.Fprintf(&b, "_Static_assert(sizeof(ss_%s) == %d, \"wire size\");\n", snake(r.name), r.size)
	}
	b.WriteString("\n#endif\n")
	return b.String()
}

func inAssemblyScript(f *format) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// The rows and numbers of ABI v1. %s\n\n", notice)
	for _, c := range f.constants {
		fmt.Fprintf(&b, "export const %s: u32 = %s;\n", upper(c.name), c.value)
	}
	for _, r := range f.rows {
		fmt.Fprintf(&b, "\n%s@unmanaged\nexport class %s {\n", wrap("//", r.doc), r.name)
		for _, x := range r.fields {
			switch {
			case x.name == "": // there are no arrays in place
				for i := range x.size {
					fmt.Fprintf(&b, "  private zero%d: u8;\n", x.offset+i)
				}
			case x.bits == 64:
				fmt.Fprintf(&b, "  %s: f64;%s\n", camel(x.name), trailing(x.doc))
			default:
				fmt.Fprintf(&b, "  %s: u%d;%s\n", camel(x.name), x.bits, trailing(x.doc))
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func inRust(f *format) string {
	var b strings.Builder
	fmt.Fprintf(&b, "//! The rows and numbers of ABI v1. %s\n\n", notice)
	for _, c := range f.constants {
		fmt.Fprintf(&b, "pub const %s: u32 = %s;\n", upper(c.name), c.value)
	}
	for _, r := range f.rows {
		fmt.Fprintf(&b, "\n%s#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct %s {\n", wrap("///", r.doc), r.name)
		for _, x := range r.fields {
			switch {
			case x.name == "":
				fmt.Fprintf(&b, "    pub(crate) _zero_%d: [u8; %d],\n", x.offset, x.size)
			case x.bits == 64:
				fmt.Fprintf(&b, "    pub %s: f64,%s\n", snake(x.name), trailing(x.doc))
			case x.name == "Type": // a keyword
				fmt.Fprintf(&b, "    pub type_: u%d,%s\n", x.bits, trailing(x.doc))
			default:
				fmt.Fprintf(&b, "    pub %s: u%d,%s\n", snake(x.name), x.bits, trailing(x.doc))
			}
		}
		fmt.Fprintf(&b, "}\nconst _: () = assert!(core::mem::size_of::<%s>() == %d);\n", r.name, r.size)
	}
	return b.String()
}

func trailing(doc string) string {
	if doc == "" {
		return ""
	}
	return " // " + doc
}
