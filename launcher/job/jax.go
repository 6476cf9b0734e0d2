package job

// jaxJob has workers only: the first is the coordinator.
var jaxJob = training("JAXJob", "jaxjobs", "jax", "jaxReplicaSpecs", map[string]string{"worker": "Worker"}, workersOnly)
