// Package query reads requests of AWS's query protocols (EC2, IAM, STS): dotted
// parameter names become a tree (Form), and the tree fills a struct (Decode).
// A parameter that the struct does not have is refused, as EC2 refuses it, so
// that nothing a client asks for is ignored in silence.
package query
