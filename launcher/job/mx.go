package job

// mxJob is for clusters that still have it: training-operator gave the kind up with version 1.9. It has a scheduler,
// servers and workers.
var mxJob = func() Kind {
	k := training("MXJob", "mxjobs", "mxnet", "mxReplicaSpecs",
		map[string]string{"worker": "Worker", "server": "Server", "scheduler": "Scheduler"},
		func(r *roles) {
			r.add("worker", r.workers, true)
			r.add("server", 1, false)
			r.add("scheduler", 1, false)
			r.ranks(1)
		})
	build := k.build
	k.build = func(s *Spec, id Identity) any {
		spec := build(s, id).(map[string]any)
		spec["jobMode"] = "MXTrain"
		return spec
	}
	return k
}()
