package command

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/terminal"
)

// confirm asks a question that only y or yes lets pass. Without a terminal to answer on, it refuses.
func (c *cli) confirm(question, refusal string) error {
	if in, ok := c.in.(*os.File); !ok || !terminal.Is(in) {
		return exit.With(exit.Refused, errors.New(refusal))
	}
	fmt.Fprintf(c.err, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(c.in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return exit.With(exit.Refused, errors.New("nothing was done"))
}
