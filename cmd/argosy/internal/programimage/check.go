package programimage

import (
	"debug/elf"
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// machines are the processors that images are made for.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// Check tells whether a program can be the only one in an image for a platform; on a base that has libraries it may need some.
func Check(file string, platform v1.Platform, hasBase bool) error {
	program, err := elf.Open(file)
	if err != nil {
		return fmt.Errorf("%s is not a program for Linux: %w", file, err)
	}
	defer program.Close() //nolint:errcheck // it is only read
	if want := machines[platform.Architecture]; program.Machine != want {
		return fmt.Errorf("%s is for another processor than %s: build it for that, or say --platform", file, platform.Architecture)
	}
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP && !hasBase {
			return fmt.Errorf("%s is not linked statically, and there would be no library in the image: build it with CGO_ENABLED=0, or give a --base", file)
		}
	}
	return nil
}
