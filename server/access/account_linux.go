package access

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Unsupported says that this operating system does not report the account of a connection.
const Unsupported = false

// errGone is the answer when the other end has no owner any more, or is not on this machine.
var errGone = errors.New("its other end is closed, or not a process of this machine and network namespace")

// accountOf finds the account of the process that opened the other end of a connection.
func accountOf(conn *net.TCPConn) (int, error) {
	local, lerr := netip.ParseAddrPort(conn.LocalAddr().String())
	remote, rerr := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err := errors.Join(lerr, rerr); err != nil {
		return 0, err
	}
	local, remote = plain(local), plain(remote)
	account, err := askKernel(remote, local)
	if err != nil && !errors.Is(err, errGone) {
		account, err = readTables(remote, local) // a kernel without sock_diag
	}
	if err != nil {
		return 0, err
	}
	return account, open(conn)
}

// plain takes away what the same address may carry beside its number.
func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// open fails if the connection has ended. While the connection lasts, no other has its addresses and ports; afterwards another process
// may use them, and the lookup would find that process's account.
func open(conn *net.TCPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var info *unix.TCPInfo
	var ierr error
	if err := raw.Control(func(fd uintptr) { info, ierr = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) }); err != nil {
		return err
	}
	if ierr != nil {
		return ierr
	}
	if !joined(info.State) {
		return errGone
	}
	return nil
}

// joined says whether a socket in this state is one end of a connection: established, or closed by one side only.
func joined(state uint8) bool {
	const finWait1, finWait2, closeWait = 4, 5, 8
	return slices.Contains([]uint8{unix.BPF_TCP_ESTABLISHED, finWait1, finWait2, closeWait}, state)
}

// socketID is the kernel's struct inet_diag_sockid, with numbers in the order of the network.
type socketID struct {
	SourcePort, TargetPort [2]byte
	Source, Target         [16]byte
	Interface              uint32
	Cookie                 [2]uint32
}

// socketRequest is struct inet_diag_req_v2 behind its header.
type socketRequest struct {
	Header                          unix.NlMsghdr
	Family, Protocol, Extensions, _ uint8
	States                          uint32
	ID                              socketID
}

// socketAnswer is struct inet_diag_msg behind its header.
type socketAnswer struct {
	Header              unix.NlMsghdr
	Family, State, _, _ uint8
	ID                  socketID
	_, _, _             uint32
	UID, Inode          uint32
}

// askKernel asks for the socket that has the address own, and target at its other end, by sock_diag. A socket without an inode was
// closed by its process: the kernel reports account 0 for it, whatever the account was.
func askKernel(own, target netip.AddrPort) (int, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd) //nolint:errcheck // it was only read from
	ask := socketRequest{Family: unix.AF_INET, Protocol: unix.IPPROTO_TCP, States: ^uint32(0), ID: idOf(own, target)}
	if own.Addr().Is6() {
		ask.Family = unix.AF_INET6
	}
	const byFamily = 20 // SOCK_DIAG_BY_FAMILY
	ask.Header = unix.NlMsghdr{Len: uint32(binary.Size(ask)), Type: byFamily, Flags: unix.NLM_F_REQUEST}
	message, err := binary.Append(nil, binary.NativeEndian, ask)
	if err != nil {
		return 0, err
	}
	if err := unix.Sendto(fd, message, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return 0, err
	}
	buffer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, buffer, 0)
	if err != nil {
		return 0, err
	}
	return readAnswer(buffer[:n], ask)
}

func readAnswer(message []byte, asked socketRequest) (int, error) {
	var header unix.NlMsghdr
	if _, err := binary.Decode(message, binary.NativeEndian, &header); err != nil {
		return 0, err
	}
	if header.Type == unix.NLMSG_ERROR {
		if len(message) < unix.SizeofNlMsghdr+4 {
			return 0, errors.New("the kernel's answer is too short")
		}
		number := unix.Errno(-int32(binary.NativeEndian.Uint32(message[unix.SizeofNlMsghdr:])))
		if number == unix.ENOENT {
			return 0, errGone
		}
		return 0, fmt.Errorf("sock_diag: %w", number)
	}
	var answer socketAnswer
	if _, err := binary.Decode(message, binary.NativeEndian, &answer); err != nil {
		return 0, err
	}
	found, wanted := answer.ID, asked.ID
	found.Interface, found.Cookie = wanted.Interface, wanted.Cookie
	if found != wanted || !joined(answer.State) || answer.Inode == 0 {
		return 0, errGone
	}
	return int(answer.UID), nil
}

func idOf(own, target netip.AddrPort) socketID {
	id := socketID{Cookie: [2]uint32{^uint32(0), ^uint32(0)}} // any
	binary.BigEndian.PutUint16(id.SourcePort[:], own.Port())
	binary.BigEndian.PutUint16(id.TargetPort[:], target.Port())
	copy(id.Source[:], own.Addr().AsSlice())
	copy(id.Target[:], target.Addr().AsSlice())
	return id
}

// readTables looks the same up in /proc, which costs more the more connections there are.
func readTables(own, target netip.AddrPort) (int, error) {
	for _, table := range []struct {
		file   string
		mapped bool
	}{{"/proc/self/net/tcp", false}, {"/proc/self/net/tcp6", true}} {
		account, err := readTable(table.file, tableAddress(own, table.mapped), tableAddress(target, table.mapped))
		if err == nil || !errors.Is(err, errGone) && !errors.Is(err, fs.ErrNotExist) {
			return account, err
		}
	}
	return 0, errGone
}

func readTable(file, own, target string) (int, error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		const sl, local, remote, state, uid, inode = 0, 1, 2, 3, 7, 9
		fields := strings.Fields(lines.Text())
		if len(fields) <= inode || fields[local] != own || fields[remote] != target || fields[inode] == "0" {
			continue
		}
		if st, err := strconv.ParseUint(fields[state], 16, 8); err != nil || !joined(uint8(st)) {
			continue
		}
		return strconv.Atoi(fields[uid])
	}
	return 0, errGone
}

// tableAddress writes an address as the tables do: each four bytes as one number of this machine.
func tableAddress(a netip.AddrPort, mapped bool) string {
	raw := a.Addr().AsSlice()
	if mapped {
		wide := a.Addr().As16()
		raw = wide[:]
	}
	text := ""
	for part := range slices.Chunk(raw, 4) {
		text += fmt.Sprintf("%08X", binary.NativeEndian.Uint32(part))
	}
	return fmt.Sprintf("%s:%04X", text, a.Port())
}
