package job

import "strconv"

// pyTorchJob has a master, which is rank 0, and workers. Workers counts both.
var pyTorchJob = func() Kind {
	k := training("PyTorchJob", "pytorchjobs", "pytorch", "pytorchReplicaSpecs",
		map[string]string{"master": "Master", "worker": "Worker"}, (*roles).masterAndWorkers)
	build := k.build
	k.build = func(s *Spec, id Identity) any {
		spec := build(s, id).(map[string]any)
		if s.Slots > 1 { // torchrun's --nproc-per-node; the operator counts it in WORLD_SIZE
			spec["nprocPerNode"] = strconv.Itoa(s.Slots)
		}
		return spec
	}
	return k
}()
