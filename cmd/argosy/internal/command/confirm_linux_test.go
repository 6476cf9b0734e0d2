package command

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestConfirmOnATerminal answers the question as a person does, on a terminal.
func TestConfirmOnATerminal(t *testing.T) {
	t.Parallel()
	for answer, agreed := range map[string]bool{
		"y\n": true, "yes\n": true, "Y\n": true, " YES \n": true,
		"\n": false, "n\n": false, "no\n": false, "yy\n": false, "\x04": false, // Ctrl-D
	} {
		keyboard, terminal := pseudoTerminal(t)
		_, err := keyboard.WriteString(answer)
		require.NoError(t, err)
		said, err := confirm(t, terminal)
		require.Equal(t, "Delete 3 runs? [y/N] ", said, "%q", answer)
		if agreed {
			require.NoError(t, err, "%q", answer)
		} else {
			require.EqualError(t, err, "nothing was done", "%q", answer)
		}
	}
}

// TestConfirmWithoutATerminal: without a terminal there is no one to ask.
func TestConfirmWithoutATerminal(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	_, err = w.WriteString("y\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	said, err := confirm(t, r)
	require.EqualError(t, err, "add --force")
	require.Empty(t, said)
}

// confirm asks on in and gives what was said and the answer.
func confirm(t *testing.T, in *os.File) (said string, _ error) {
	t.Helper()
	errs, err := os.CreateTemp(t.TempDir(), "stderr")
	require.NoError(t, err)
	defer errs.Close()
	answer := (&cli{in: in, err: errs}).confirm("Delete 3 runs?", "add --force")
	text, err := os.ReadFile(errs.Name())
	require.NoError(t, err)
	return string(text), answer
}

// pseudoTerminal makes a terminal and the end that a keyboard would be at.
func pseudoTerminal(t *testing.T) (keyboard, terminal *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, keyboard.Close()) })
	require.NoError(t, unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, terminal.Close()) })
	return keyboard, terminal
}
