package job

// paddleJob has workers only: the first is where the others meet.
var paddleJob = training("PaddleJob", "paddlejobs", "paddle", "paddleReplicaSpecs",
	map[string]string{"worker": "Worker"}, workersOnly)

func workersOnly(r *roles) {
	r.add("worker", r.workers, true)
	r.ranks(1)
}
