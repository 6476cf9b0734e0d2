package main

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

// stopLimit is longer than all graces of all stages together.
const stopLimit = time.Minute

func stopCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop the cluster on a data folder and wait until it is gone",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := home.At(dir)
			if err != nil {
				return err
			}
			pid, held := home.Holder(h.ClusterLock())
			if !held {
				fmt.Fprintln(cmd.OutOrStdout(), "no cluster is up on", h)
				return nil
			}
			if pid == 0 {
				return fmt.Errorf("a cluster is up on %s, but its process id is not in %s", h, h.ClusterLock())
			}
			if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("stop process %d: %w", pid, err)
			}
			for end := time.Now().Add(stopLimit); held; _, held = home.Holder(h.ClusterLock()) {
				if time.Now().After(end) {
					return fmt.Errorf("process %d is still there after %v; see %s", pid, stopLimit, h.Log("supervisor"))
				}
				time.Sleep(20 * time.Millisecond)
			}
			return nil
		},
	}
	homeFlag(cmd, &dir)
	return cmd
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the cluster's components",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := beside(controlPlaneProgram)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "argosy-cluster %s %s\n", version, runtime.Version())
			c := exec.CommandContext(cmd.Context(), program, "version")
			c.Stdout, c.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return c.Run()
		},
	}
}
