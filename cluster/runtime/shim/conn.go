package shim

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

const (
	maxMessage = 16 << 20 // bytes; an exec's arguments are the largest thing sent
	maxFiles   = 8        // descriptors with one message
)

// conn carries messages: a length, JSON, and descriptors that come with the length.
type conn struct{ *net.UnixConn }

// dial connects to a pod's holder. The path of a unix socket is limited to 108 bytes, that of a data folder is not; a
// descriptor of the folder makes it short.
func dial(dir string) (conn, error) {
	folder, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return conn{}, fmt.Errorf("open %s: %w", dir, err)
	}
	defer func() { _ = unix.Close(folder) }()
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("/proc/self/fd/%d/%s", folder, socketName)})
	if err != nil {
		return conn{}, fmt.Errorf("the pod's holder does not answer: %w", err)
	}
	return conn{c}, nil
}

// end closes the connection for good.
func (c conn) end() { _ = c.Close() }

func (c conn) send(message any, files ...*os.File) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	fds := make([]int, len(files))
	for i, f := range files {
		if fds[i], err = fileDescriptor(f); err != nil {
			return err
		}
	}
	defer runtime.KeepAlive(files)
	var rights []byte
	if len(fds) > 0 {
		rights = unix.UnixRights(fds...)
	}
	packet := append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
	n, _, err := c.WriteMsgUnix(packet, rights, nil)
	for err == nil && n < len(packet) {
		var more int
		more, err = c.Write(packet[n:])
		n += more
	}
	return err
}

// receive reads a message. The caller closes the files.
func (c conn) receive(message any) (files []*os.File, err error) {
	defer func() {
		if err != nil {
			closeAll(files)
			files = nil
		}
	}()
	length := make([]byte, 4)
	rights := make([]byte, unix.CmsgSpace(maxFiles*4))
	// The descriptors belong to the first byte, and the read stops where other descriptors begin.
	n, nr, flags, _, err := c.ReadMsgUnix(length, rights)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, io.EOF
	}
	fds, err := parseRights(rights[:nr])
	for _, fd := range fds {
		files = append(files, os.NewFile(uintptr(fd), "received"))
	}
	if err != nil {
		return files, err
	}
	if flags&unix.MSG_CTRUNC != 0 {
		return files, errors.New("descriptors were lost")
	}
	if _, err := io.ReadFull(c, length[n:]); err != nil {
		return files, err
	}
	size := binary.BigEndian.Uint32(length)
	if size > maxMessage {
		return files, fmt.Errorf("a message of %d bytes is too large", size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(c, body); err != nil {
		return files, err
	}
	return files, json.Unmarshal(body, message)
}

func parseRights(b []byte) (fds []int, err error) {
	messages, err := unix.ParseSocketControlMessage(b)
	if err != nil {
		return nil, err
	}
	for i := range messages {
		more, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return fds, err
		}
		fds = append(fds, more...)
	}
	return fds, nil
}

// descriptor is the number of a file, which stays as it is: Fd would make it a blocking one.
func fileDescriptor(f *os.File) (fd int, err error) {
	c, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	return fd, c.Control(func(n uintptr) { fd = int(n) })
}

func dup(f *os.File) (*os.File, error) {
	fd, err := fileDescriptor(f)
	if err != nil {
		return nil, err
	}
	if fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
