package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// residentMemory is what a component holds in memory, in bytes: its process and those below it that run the same program.
// (The node has such processes; its pods run others.) Components of one program share its pages: each has its share of
// them. 0 when it does not run.
func residentMemory(pid int) int64 {
	if pid == 0 {
		return 0
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return 0
	}
	sum := field(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss")
	if sum == 0 { // not readable
		sum = field(fmt.Sprintf("/proc/%d/status", pid), "VmRSS")
	}
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range children {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // the thread ended
		}
		for _, f := range strings.Fields(string(b)) {
			child, err := strconv.Atoi(f)
			if err != nil {
				continue
			}
			if p, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", child)); err == nil && p == program {
				sum += residentMemory(child)
			}
		}
	}
	return sum
}

// field is an amount out of a file of lines like "VmRSS:   123 kB", in bytes; 0 when it is not there.
func field(path, name string) int64 {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			if fields := bytes.Fields(rest); len(fields) > 0 {
				kib, _ := strconv.ParseInt(string(fields[0]), 10, 64)
				return kib << 10
			}
		}
	}
	return 0
}
