// Package proto holds the wire contract: the .proto sources, the code generated from them, and the OpenAPI document.
package proto

import _ "embed"

// OpenAPI is the OpenAPI 3.1 document of the whole HTTP API, as YAML.
//
//go:embed openapi.yaml
var OpenAPI []byte
