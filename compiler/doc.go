// Package compiler turns recorded pipelines into Argo Workflows and packs them for upload.
//
// The same pipeline gives the same bytes, always. A pipeline program is an ordinary main:
//
//	func main() { compiler.Main(Hello) }
//
// which then takes -o and --pipeline; CompileDir builds and runs such a program.
package compiler
