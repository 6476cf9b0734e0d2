//go:build !linux

package pgtest

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }

func giveAway(string) error { return nil }
