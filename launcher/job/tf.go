package job

// tfJob has parameter servers, workers, a chief and evaluators, who find each other by the variable TF_CONFIG. It
// ends with its chief, or its first worker.
var tfJob = training("TFJob", "tfjobs", "tensorflow", "tfReplicaSpecs",
	map[string]string{"chief": "Chief", "worker": "Worker", "ps": "PS", "evaluator": "Evaluator"},
	func(r *roles) {
		r.add("chief", 0, true)
		r.add("worker", r.workers, true)
		r.add("ps", 0, false)
		r.add("evaluator", 0, false)
		r.ranks(1)
	})
