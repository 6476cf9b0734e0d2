package access

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/test/leaks"
)

// callEnv makes this test's program connect to an address, and stay until its input ends.
const callEnv = "ARGOSY_TEST_CALL"

func TestMain(m *testing.M) {
	if address := os.Getenv(callEnv); address != "" {
		conn, err := net.Dial("tcp", address) //nolint:noctx // a test
		if err != nil {
			os.Exit(1)
		}
		io.Copy(io.Discard, os.Stdin) //nolint:errcheck // it ends
		conn.Close()
		return
	}
	leaks.VerifyTestMain(m)
}

// accepted is the server's end of a connection that call makes.
func accepted(t *testing.T, network string, call func(address string)) *net.TCPConn {
	t.Helper()
	l, err := net.Listen(network, map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0", "tcp": "[::]:0"}[network]) //nolint:noctx // a test
	require.NoError(t, err)
	defer l.Close()
	call(l.Addr().String())
	conn, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", address) //nolint:noctx // a test
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}

// stranger connects as another account than this one.
const stranger = 65533

func asStranger(t *testing.T, address string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = []string{callEnv + "=" + address}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: stranger, Gid: stranger, NoSetGroups: true}}
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { in.Close(); cmd.Wait() }) //nolint:errcheck // it has done its part
}

// lookups are both ways to find an account.
var lookups = map[string]func(own, target netip.AddrPort) (int, error){"sock_diag": askKernel, "proc": readTables}

// ends are the addresses of a connection as the lookups take them: the other end, and this one.
func ends(t *testing.T, conn net.Conn) (own, target netip.AddrPort) {
	t.Helper()
	return plain(netip.MustParseAddrPort(conn.RemoteAddr().String())), plain(netip.MustParseAddrPort(conn.LocalAddr().String()))
}

func TestAccount(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tcp4", "tcp6", "tcp"} {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			conn := accepted(t, network, func(address string) { dial(t, strings.Replace(address, "[::]", "127.0.0.1", 1)) })
			account, err := accountOf(conn)
			require.NoError(t, err)
			require.Equal(t, os.Getuid(), account)
			for name, lookup := range lookups {
				account, err := lookup(ends(t, conn))
				require.NoError(t, err, name)
				require.Equal(t, os.Getuid(), account, name)
			}
		})
	}
}

// TestClosedEnd: of a connection that its process has closed the kernel says that it is root's, and so it did not come from root.
func TestClosedEnd(t *testing.T) {
	t.Parallel()
	var client *net.TCPConn
	conn := accepted(t, "tcp4", func(address string) {
		client = dial(t, address)
		_, err := client.Write([]byte("GET / HTTP/1.1\r\n\r\n"))
		require.NoError(t, err)
	})
	require.NoError(t, client.CloseWrite())
	account, err := accountOf(conn)
	require.NoError(t, err, "half of it is open")
	require.Equal(t, os.Getuid(), account)
	require.NoError(t, client.Close())
	for name, lookup := range lookups {
		_, err := lookup(ends(t, conn))
		require.ErrorIs(t, err, errGone, name)
	}
	_, err = accountOf(conn)
	require.ErrorIs(t, err, errGone)
}

// TestLostEnd: when a connection was reset, its addresses may be those of another, and say nothing of who sent what had come before.
func TestLostEnd(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp4", "127.0.0.1:0") //nolint:noctx // a test
	require.NoError(t, err)
	defer l.Close()
	connect := func(from net.Addr) (client, conn *net.TCPConn, taken bool) {
		d := net.Dialer{LocalAddr: from}
		c, err := d.DialContext(t.Context(), "tcp4", l.Addr().String())
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, nil, true
		}
		require.NoError(t, err)
		a, err := l.Accept()
		require.NoError(t, err)
		t.Cleanup(func() { c.Close(); a.Close() })
		return c.(*net.TCPConn), a.(*net.TCPConn), false
	}
	var conn, again *net.TCPConn
	for taken := true; taken; { // where another process took the port in between
		client, lost, _ := connect(nil)
		conn = lost
		from := client.LocalAddr()
		require.NoError(t, client.SetLinger(0))
		require.NoError(t, client.Close())
		_, err = conn.Read(make([]byte, 1)) // the reset has arrived
		require.Error(t, err)
		_, again, taken = connect(from)
	}
	require.Equal(t, conn.RemoteAddr(), again.RemoteAddr())
	account, err := accountOf(again)
	require.NoError(t, err)
	require.Equal(t, os.Getuid(), account)
	_, err = accountOf(conn)
	require.ErrorIs(t, err, errGone)
}

func TestWhoIsAdmitted(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	own := CallerOf(accepted(t, "tcp4", func(address string) { dial(t, address) }))
	require.Nil(t, New("", log).Admit(t.Context(), own, ""))

	other := New("", log)
	other.owners = []int{stranger}
	if os.Getuid() == 0 {
		require.Nil(t, other.Admit(t.Context(), own, ""), "root may do everything")
		own = CallerOf(accepted(t, "tcp4", func(address string) { asStranger(t, address) }))
		require.Nil(t, other.Admit(t.Context(), own, ""))
		require.Equal(t, "user id 65533", own.source(), "guesses over loopback count for the account")
		other.owners = []int{1}
	}
	refusal := other.Admit(t.Context(), own, "")
	require.NotNil(t, refusal)
	require.Equal(t, Stranger, refusal.Reason)
	require.Contains(t, refusal.Message, "this server serves the account that started it")
	require.Contains(t, refusal.Message, "ARGOSY_PASSWORD")

	pipe, end := net.Pipe()
	defer pipe.Close()
	defer end.Close()
	require.Equal(t, Stranger, other.Admit(t.Context(), CallerOf(pipe), "").Reason)
	require.Equal(t, Stranger, other.Admit(t.Context(), CallerFrom(t.Context()), "").Reason)

	withPassword := New("correct horse battery", log)
	require.Equal(t, NoPassword, withPassword.Admit(t.Context(), own, "").Reason, "with a password the account does not matter")
	require.Nil(t, withPassword.Admit(t.Context(), own, right))
}

func TestOwnersBySudo(t *testing.T) {
	t.Setenv("SUDO_UID", "1000")
	if os.Getuid() == 0 {
		require.Equal(t, []int{0, 1000}, owners())
	} else {
		require.Equal(t, []int{os.Getuid()}, owners(), "only root is what sudo made it")
	}
}
