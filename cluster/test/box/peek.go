package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// peek reads the memory of another process of the same user, as MPI does between ranks on one machine.
func peek() error {
	other := exec.Command("/proc/self/exe", "secret")
	hold, err := other.StdinPipe()
	if err != nil {
		return err
	}
	out, err := other.StdoutPipe()
	if err != nil {
		return err
	}
	if err := other.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	place, size, _ := strings.Cut(strings.TrimSpace(line), " ")
	address, err1 := strconv.ParseUint(place, 10, 64)
	n, err2 := strconv.Atoi(size)
	if err1 != nil || err2 != nil {
		return fmt.Errorf("the other process said %q", line)
	}
	read := make([]byte, n)
	local := unix.Iovec{Base: &read[0]}
	local.SetLen(n)
	if _, err := unix.ProcessVMReadv(other.Process.Pid, []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(address), Len: n}}, 0); err != nil {
		return err
	}
	fmt.Println("read:", string(read))
	if err := hold.Close(); err != nil {
		return err
	}
	return other.Wait()
}

var text = []byte("of another process")

// secret says where in its memory something lies, and stays until its input ends.
func secret() error {
	fmt.Println(uintptr(unsafe.Pointer(&text[0])), len(text))
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
