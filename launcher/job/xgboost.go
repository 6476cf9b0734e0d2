package job

// xgBoostJob has a master, which runs the tracker and is rank 0, and workers. Workers counts both.
var xgBoostJob = training("XGBoostJob", "xgboostjobs", "xgboost", "xgbReplicaSpecs",
	map[string]string{"master": "Master", "worker": "Worker"}, (*roles).masterAndWorkers)
