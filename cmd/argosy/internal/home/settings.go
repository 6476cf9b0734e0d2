package home

import (
	"fmt"
	"strings"

	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/posflag"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"
)

// Settings of `argosy up`, from flags and the environment.
type Settings struct {
	Home  string `koanf:"home"`  // ARGOSY_HOME
	HTTP  string `koanf:"http"`  // ARGOSY_HTTP
	GRPC  string `koanf:"grpc"`  // ARGOSY_GRPC
	Store string `koanf:"store"` // ARGOSY_STORE; empty: in the data folder
	// ImportFrom are networks and hosts that pipelines may be read from: ARGOSY_IMPORT_FROM.
	ImportFrom string `koanf:"import-from"`
	// ScalesUp is set by `argosy server` alone: ARGOSY_SCALES_UP.
	ScalesUp bool `koanf:"scales-up"`
}

// Where the server listens unless told otherwise; the ports are those of KFP.
const (
	DefaultHTTP = "127.0.0.1:8888"
	DefaultGRPC = "127.0.0.1:8887"
)

// Resolve settles each value: a flag that was given, else the environment variable (an empty one counts as not set), else
// the flag's default, else the default folder.
func Resolve(flags *pflag.FlagSet) (Settings, error) {
	const prefix = "ARGOSY_"
	k := koanf.New(".")
	fromEnv := env.Provider(".", env.Opt{Prefix: prefix, TransformFunc: func(key, value string) (string, any) {
		if value == "" {
			return "", nil
		}
		return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(key, prefix)), "_", "-"), value
	}})
	var s Settings
	if err := k.Load(fromEnv, nil); err != nil {
		return s, fmt.Errorf("read the environment: %w", err)
	}
	if err := k.Load(posflag.Provider(flags, ".", k), nil); err != nil {
		return s, fmt.Errorf("read the flags: %w", err)
	}
	if err := k.Unmarshal("", &s); err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	if s.Home != "" {
		return s, nil
	}
	var err error
	s.Home, err = Default()
	return s, err
}
