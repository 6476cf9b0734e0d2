package gateway_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	kfpv1 "github.com/argosy-ml/argosy/proto/api"
	"github.com/argosy-ml/argosy/server/run"
	"github.com/argosy-ml/argosy/server/store/storetest"
)

// refusal is a call that is refused: what says names the field, or the thing, and often what to do.
type refusal struct {
	method  string // of package api, or of argosy.v1 where it begins so
	request string // JSON with $words that a world knows
	code    codes.Code
	says    string
}

const (
	invalid  = codes.InvalidArgument
	unknown  = codes.NotFound
	conflict = codes.AlreadyExists
	aborted  = codes.Aborted
)

// refusals are kinds of bad input by method, beside those that all lists have in common (badLists).
var refusals = []refusal{
	{"PipelineService/CreatePipeline", `{}`, invalid, "pipeline_url"},
	{"PipelineService/CreatePipeline", `{"pipeline":{"url":{"pipeline_url":"ftp://example.org/x"}}}`, invalid, `pipeline_url "ftp://example.org/x" is not an http or https URL`},
	{"PipelineService/CreatePipeline", `{"pipeline":{"url":{"pipeline_url":"file:///etc/passwd"}}}`, invalid, "is not an http or https URL"},
	{"PipelineService/CreatePipeline", `{"pipeline":{"url":{"pipeline_url":"http://10.0.0.1/p.yaml"}}}`, invalid, "not on the public internet; upload the file instead, or start the server with --import-from 10.0.0.1 (ARGOSY_IMPORT_FROM)"},
	{"PipelineService/CreatePipeline", `{"pipeline":{"url":{"pipeline_url":"http://[::ffff:127.0.0.1]:9/p.yaml"}}}`, invalid, "not on the public internet"},
	{"PipelineService/CreatePipeline", `{"pipeline":{"url":{"pipeline_url":"http://169.254.169.254/latest/meta-data"}}}`, invalid, "not on the public internet"},
	{"PipelineService/CreatePipeline", `{"pipeline":{"url":{"pipeline_url":"http://user:secret@localhost:9/p.yaml"}}}`, invalid, "user:xxxxx@localhost"},
	{"PipelineService/GetPipeline", `{"id":"none"}`, unknown, "pipeline none not found"},
	{"PipelineService/GetPipelineByName", `{"namespace":"-","name":"none"}`, unknown, "pipeline none not found"},
	{"PipelineService/DeletePipeline", `{"id":"none"}`, unknown, "pipeline none not found"},
	{"PipelineService/GetTemplate", `{"id":"none"}`, unknown, "pipeline none not found"},
	{"PipelineService/CreatePipelineVersion", `{"version":{"name":"v"}}`, invalid, "resource_references name no PIPELINE"},
	{"PipelineService/CreatePipelineVersion", `{"version":{"name":"v","resource_references":[{"key":{"type":"PIPELINE","id":"$pipeline"}}]}}`, invalid, "pipeline_url"},
	{"PipelineService/CreatePipelineVersion", `{"version":{"name":"v","package_url":{"pipeline_url":"http://192.168.1.1/x"},"resource_references":[{"key":{"type":"PIPELINE","id":"$pipeline"}}]}}`, invalid, "not on the public internet"},
	{"PipelineService/GetPipelineVersion", `{"version_id":"none"}`, unknown, "version none not found"},
	{"PipelineService/ListPipelineVersions", `{}`, invalid, "resource_key.id is missing; it names the pipeline"},
	{"PipelineService/DeletePipelineVersion", `{"version_id":"none"}`, unknown, "version none not found"},
	{"PipelineService/GetPipelineVersionTemplate", `{"version_id":"none"}`, unknown, "version none not found"},
	{"PipelineService/UpdatePipelineDefaultVersion", `{"pipeline_id":"none","version_id":"$pipeline"}`, invalid, "does not belong to pipeline none"},
	{"PipelineService/UpdatePipelineDefaultVersion", `{"pipeline_id":"$pipeline","version_id":"none"}`, unknown, "none"},
	{"PipelineService/UpdatePipelineDefaultVersion", `{"pipeline_id":"$pipeline","version_id":"$other"}`, invalid, "$other does not belong to pipeline $pipeline"},

	{"ExperimentService/CreateExperiment", `{}`, invalid, "the experiment"},
	{"ExperimentService/CreateExperiment", `{"experiment":{"name":" "}}`, invalid, "the experiment needs a name"},
	{"ExperimentService/CreateExperiment", `{"experiment":{"name":"$long"}}`, invalid, "2000 bytes"},
	{"ExperimentService/CreateExperiment", `{"experiment":{"name":"taken"}}`, conflict, `"taken" exists already. Please specify a new name.`},
	{"ExperimentService/CreateExperiment", `{"experiment":{"name":"e","resource_references":[{"key":{"type":"NAMESPACE","id":"team"},"relationship":"OWNER"}]}}`, invalid, "one namespace and one user; leave them out"},
	{"ExperimentService/ListExperiment", `{"resource_reference_key":{"type":"NAMESPACE","id":"team"}}`, invalid, "namespace \"team\", as there is one namespace"},
	{"ExperimentService/GetExperiment", `{"id":"none"}`, unknown, "experiment none not found"},
	{"ExperimentService/DeleteExperiment", `{"id":"none"}`, unknown, "experiment none not found"},
	{"ExperimentService/ArchiveExperiment", `{"id":"none"}`, unknown, "experiment none not found"},
	{"ExperimentService/UnarchiveExperiment", `{"id":"none"}`, unknown, "experiment none not found"},

	{"RunService/CreateRun", `{}`, invalid, "the run"},
	{"RunService/CreateRun", `{"run":{"name":"r"}}`, invalid, "needs a pipeline, a pipeline version or a workflow manifest"},
	{"RunService/CreateRun", `{"run":{"name":"$long","pipeline_spec":{"workflow_manifest":$manifest}}}`, invalid, "2000 bytes"},
	{"RunService/CreateRun", `{"run":{"name":"r","pipeline_spec":{"workflow_manifest":"kind: Pod"}}}`, invalid, "Workflow"},
	{"RunService/CreateRun", `{"run":{"name":"r","pipeline_spec":{"workflow_manifest":"}{"}}}`, invalid, "Workflow"},
	{"RunService/CreateRun", `{"run":{"name":"r","pipeline_spec":{"pipeline_id":"none"}}}`, unknown, "pipeline none not found"},
	{"RunService/CreateRun", `{"run":{"name":"r","pipeline_spec":{"pipeline_id":"$pipeline","workflow_manifest":$manifest}}}`, invalid, "either a workflow manifest or a pipeline, not both"},
	{"RunService/CreateRun", `{"run":{"name":"r","pipeline_spec":{"pipeline_manifest":"{}"}}}`, invalid, "pipeline_manifest and runtime_config belong to v2"},
	{"RunService/CreateRun", `{"run":{"name":"r","pipeline_spec":{"pipeline_id":"$pipeline","parameters":[{"name":"wrod","value":"x"}]}}}`, invalid, "Unrecognized input parameter: wrod"},
	{"RunService/CreateRun", `{"run":{"name":"r","resource_references":[{"key":{"type":"PIPELINE_VERSION","id":"none"}}]}}`, unknown, "version none not found"},
	{"RunService/CreateRun", `{"run":{"name":"r","pipeline_spec":{"pipeline_id":"$pipeline"},"resource_references":[{"key":{"type":"PIPELINE_VERSION","id":"$other"}}]}}`, invalid, "does not belong to pipeline"},
	{"RunService/CreateRun", `{"run":{"name":"r","pipeline_spec":{"pipeline_id":"$pipeline"},"resource_references":[{"key":{"type":"EXPERIMENT","id":"none"}}]}}`, unknown, "experiment none not found"},
	{"RunService/GetRun", `{"run_id":"none"}`, unknown, "run none not found"},
	{"RunService/ListRuns", `{"resource_reference_key":{"type":"PIPELINE","id":"x"}}`, invalid, "resource_reference_key.type PIPELINE: runs can be listed by EXPERIMENT and JOB"},
	{"RunService/ListRuns", `{"resource_reference_key":{"type":"NAMESPACE","id":"team"}}`, invalid, "namespace \"team\", as there is one namespace"},
	{"RunService/ArchiveRun", `{"id":"none"}`, unknown, "run none not found"},
	{"RunService/UnarchiveRun", `{"id":"none"}`, unknown, "run none not found"},
	{"RunService/DeleteRun", `{"id":"none"}`, unknown, "run none not found"},
	{"RunService/ReportRunMetrics", `{"run_id":"none","metrics":[{"name":"loss","node_id":"n","number_value":1}]}`, unknown, "run none not found"},
	{"RunService/ReadArtifact", `{"run_id":"none","node_id":"n1","artifact_name":"model"}`, unknown, "run none"},
	{"RunService/ReadArtifact", `{"run_id":"$run","node_id":"none","artifact_name":"model"}`, unknown, "has no step none"},
	{"RunService/ReadArtifact", `{"run_id":"$run","node_id":"n1","artifact_name":"none"}`, unknown, `has no artifact "none"`},
	{"RunService/TerminateRun", `{"run_id":"none"}`, unknown, "run none not found"},
	{"RunService/TerminateRun", `{"run_id":"$ended"}`, invalid, "the run has ended (Succeeded); only a run that is pending or running can be terminated"},
	{"RunService/RetryRun", `{"run_id":"none"}`, unknown, "run none not found"},
	{"RunService/RetryRun", `{"run_id":"$run"}`, aborted, "the run is Running; only a run that has failed can be retried"},
	{"RunService/RetryRun", `{"run_id":"$ended"}`, aborted, "the run is Succeeded; only a run that has failed can be retried"},

	{"JobService/CreateJob", `{}`, invalid, "the job"},
	{"JobService/CreateJob", `{"job":{"name":"j","pipeline_spec":{"workflow_manifest":$manifest}}}`, invalid, "max_concurrency is 0; it must be from 1 to 10"},
	{"JobService/CreateJob", `{"job":{"name":"j","max_concurrency":"11","pipeline_spec":{"workflow_manifest":$manifest}}}`, invalid, "max_concurrency is 11; it must be from 1 to 10"},
	{"JobService/CreateJob", `{"job":{"name":"j","max_concurrency":"1","pipeline_spec":{"workflow_manifest":$manifest},"trigger":{"cron_schedule":{"cron":"often"}}}}`, invalid, "write five fields"},
	{"JobService/CreateJob", `{"job":{"name":"j","max_concurrency":"1","pipeline_spec":{"workflow_manifest":$manifest},"trigger":{"cron_schedule":{}}}}`, invalid, "cron_schedule.cron is missing"},
	{"JobService/CreateJob", `{"job":{"name":"j","max_concurrency":"1","pipeline_spec":{"workflow_manifest":$manifest},"trigger":{"periodic_schedule":{"interval_second":"0"}}}}`, invalid, "periodic_schedule.interval_second is 0; it must be at least 1"},
	{"JobService/CreateJob", `{"job":{"name":"j","max_concurrency":"1","pipeline_spec":{"workflow_manifest":$manifest},"trigger":{"periodic_schedule":{"interval_second":"1","start_time":"2026-01-02T00:00:00Z","end_time":"2026-01-01T00:00:00Z"}}}}`, invalid, "before it starts"},
	{"JobService/CreateJob", `{"job":{"name":"j","max_concurrency":"1"}}`, invalid, "needs a pipeline"},
	{"JobService/CreateJob", `{"job":{"name":"j","max_concurrency":"1","pipeline_spec":{"pipeline_id":"none"}}}`, unknown, "pipeline none not found"},
	{"JobService/GetJob", `{"id":"none"}`, unknown, "job none not found"},
	{"JobService/ListJobs", `{"resource_reference_key":{"type":"JOB","id":"x"}}`, invalid, "resource_reference_key.type JOB: jobs can be listed by EXPERIMENT"},
	{"JobService/ListJobs", `{"resource_reference_key":{"type":"NAMESPACE","id":"team"}}`, invalid, "namespace \"team\", as there is one namespace"},
	{"JobService/EnableJob", `{"id":"none"}`, unknown, "job none not found"},
	{"JobService/DisableJob", `{"id":"none"}`, unknown, "job none not found"},
	{"JobService/DeleteJob", `{"id":"none"}`, unknown, "job none not found"},

	{"ReportService/ReportWorkflow", `{"workflow":"{"}`, invalid, "the Workflow is not valid JSON"},
	{"ReportService/ReportWorkflow", `{"workflow":"{\"kind\":\"Pod\"}"}`, invalid, "a Pod was reported; it must be a Workflow"},
	{"ReportService/ReportWorkflow", `{"workflow":"{\"metadata\":{\"name\":\"w\"}}"}`, invalid, "needs a name, a namespace and a uid"},
	{"ReportService/ReportWorkflow", `{"workflow":"{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"u\"}}"}`, invalid, "its label pipeline/runid is missing"},
	{"ReportService/ReportWorkflow", `{"workflow":"{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"u\",\"labels\":{\"pipeline/runid\":\"none\"}}}"}`, unknown, "run none not found"},
	{"ReportService/ReportScheduledWorkflow", `{"scheduled_workflow":"[]"}`, invalid, "the ScheduledWorkflow is not valid JSON"},
	{"ReportService/ReportScheduledWorkflow", `{"scheduled_workflow":"{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"none\"}}"}`, unknown, "job none not found"},

	{"TaskService/CreateTask", `{}`, invalid, "task"},
	{"TaskService/CreateTask", `{"task":{"id":"x","runId":"$run"}}`, invalid, `id is "x"; leave it out`},
	{"TaskService/CreateTask", `{"task":{"pipelineName":"p","runId":"$run","fingerprint":"f","created_at":"2026-01-01T00:00:00Z"}}`, invalid, "mlmdExecutionID"},
	{"TaskService/CreateTask", `{"task":{"pipelineName":"p","runId":"$run","fingerprint":"f","mlmdExecutionID":"1"}}`, invalid, "created_at"},
	{"TaskService/CreateTask", `{"task":{"pipelineName":"namespace/n","runId":"$run","fingerprint":"f","mlmdExecutionID":"1","created_at":"2026-01-01T00:00:00Z"}}`, invalid, "write it as namespace/NAMESPACE/pipeline/NAME"},
	{"TaskService/CreateTask", `{"task":{"namespace":"m","pipelineName":"namespace/n/pipeline/p","runId":"$run","fingerprint":"f","mlmdExecutionID":"1","created_at":"2026-01-01T00:00:00Z"}}`, invalid, `namespace is "m"`},
	{"TaskService/CreateTask", `{"task":{"pipelineName":"p","runId":"none","fingerprint":"f","mlmdExecutionID":"1","created_at":"2026-01-01T00:00:00Z"}}`, unknown, "run none not found"},
	{"TaskService/ListTasks", `{"resource_reference_key":{"type":"JOB","id":"x"}}`, invalid, "resource_reference_key.type JOB: tasks can be listed by PIPELINE and NAMESPACE"},

	{"VisualizationService/CreateVisualization", `{"namespace":"n"}`, invalid, " is missing"},
	{"VisualizationService/CreateVisualization", `{"namespace":"n","visualization":{"type":"TABLE"}}`, invalid, "source is missing; only a visualization of type CUSTOM needs none"},
	{"VisualizationService/CreateVisualization", `{"namespace":"n","visualization":{"type":"TABLE","source":"s","arguments":"{"}}`, invalid, "arguments are not valid JSON"},
	{"AuthService/Authorize", `{}`, invalid, "namespace is missing"},
	{"AuthService/Authorize", `{"namespace":"n","verb":"GET"}`, invalid, "resources is missing; it can be VIEWERS"},
	{"AuthService/Authorize", `{"namespace":"n","resources":"VIEWERS"}`, invalid, "verb is missing; it can be CREATE, GET or DELETE"},

	{"argosy.v1.RunService/GetRun", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.ClusterService/ListRunJobs", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.ClusterService/GetRunJobObject", `{"run_id":"none","kind":"Pod","name":"p"}`, unknown, "run none not found"},
	{"argosy.v1.ClusterService/GetRunJobObject", `{"run_id":"$run","kind":"Secret","name":"keys"}`, unknown, "has no Secret keys in the cluster now"},
	{"argosy.v1.ClusterService/ListRunEvents", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.ClusterService/ListClusterJobs", `{"state":["tired"]}`, invalid, `state "tired": a distributed job can be Created`},
	{"argosy.v1.ClusterService/ListClusterJobs", `{"limit":-1}`, invalid, "limit is -1; it must be 0, for all, or more"},
	{"argosy.v1.ClusterService/StopRunJob", `{"run_id":"none","name":"j"}`, unknown, "run none not found"},
	{"argosy.v1.ClusterService/StopRunJob", `{"run_id":"$run","name":"j"}`, unknown, "has no distributed job j in the cluster now"},
	{"argosy.v1.ClusterService/ListRunUse", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.ClusterService/ListPending", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.ClusterService/ListQueues", `{}`, unknown, "the cluster has no Volcano"},
	{"argosy.v1.ClusterService/CreateQueue", `{"name":"Q!"}`, invalid, "a name has lower-case letters"},
	{"argosy.v1.ClusterService/CreateQueue", `{"name":"q","weight":-1}`, invalid, "weight is -1"},
	{"argosy.v1.ClusterService/CreateQueue", `{"name":"q","capability":{"cpu":"many"}}`, invalid, "capability cpu=many: want an amount such as 4, 500m or 16Gi"},
	{"argosy.v1.ClusterService/SetQueue", `{"name":"q","weight":-1}`, invalid, "weight is -1"},
	{"argosy.v1.ClusterService/SetQueue", `{"name":"q"}`, unknown, "the cluster has no Volcano"},
	{"argosy.v1.ClusterService/DeleteQueue", `{"name":"q"}`, unknown, "the cluster has no Volcano"},
	{"argosy.v1.RunService/GetRun", `{"run_id":"$run","nodes":"some"}`, invalid, `nodes is "some"; it can be all or none`},
	{"argosy.v1.RunService/CreateRun", `{}`, invalid, "the run needs a pipeline, a pipeline version or a workflow manifest"},
	{"argosy.v1.RunService/CreateRun", `{"version_id":"none","dry_run":true}`, unknown, "none"},
	{"argosy.v1.RunService/GroupRuns", `{}`, invalid, "name the parameter to group by"},
	{"argosy.v1.RunService/GroupRuns", `{"by":"p","metric":["loss>x"]}`, invalid, `character 6: "x" is not a number`},
	{"argosy.v1.RunService/ListRuns", `{"metric":["loss"]}`, invalid, `metric is "loss"; write NAME=VALUE`},
	{"argosy.v1.RunService/ListRuns", `{"metric":["loss>much"]}`, invalid, "number"},
	{"argosy.v1.RunService/ListRuns", `{"parameter":["=1"]}`, invalid, "NAME=VALUE"},
	{"argosy.v1.RunService/ListNodes", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.RunService/ListNodes", `{"run_id":"$run","page_size":-1}`, invalid, "page_size is -1; it cannot be negative"},
	{"argosy.v1.RunService/ListNodes", `{"run_id":"$run","page_token":"x"}`, invalid, "page_token"},
	{"argosy.v1.RunService/SetRunLabels", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.RunService/SetRunLabels", `{"run_id":"$run","labels":{"a b":"c"}}`, invalid, "a b"},
	{"argosy.v1.RunService/TerminateRuns", `{}`, invalid, "say which runs: by run_ids"},
	{"argosy.v1.RunService/DeleteRuns", `{"run_ids":["$run"],"status":["Failed"]}`, invalid, "name runs by run_ids or search for them, not both"},
	{"argosy.v1.RunService/ArchiveRuns", `{"status":["Failed"],"limit":-1}`, invalid, "limit is -1; it cannot be negative"},
	{"argosy.v1.RunService/ArchiveRuns", `{"status":["Failed"],"artifacts":true}`, invalid, "artifacts is for runs:delete alone"},
	{"argosy.v1.RunService/UnarchiveRuns", `{"filter":"{"}`, invalid, "filter cannot be read"},
	{"argosy.v1.RunService/RetryRun", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.RunService/RetryRun", `{"run_id":"$run","step":"a"}`, aborted, "it can go on from a step only when it has ended"},
	{"argosy.v1.RunService/WatchRun", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.RunService/WatchRun", `{"run_id":"$run","nodes":"some"}`, invalid, `nodes is "some"`},
	{"argosy.v1.RunService/WatchRuns", `{"filter":"{x"}`, invalid, "filter cannot be read"},
	{"argosy.v1.MetricService/ListSeries", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.MetricService/GetSeries", `{"run_id":"none","name":"loss"}`, unknown, "run none not found"},
	{"argosy.v1.MetricService/GetSeries", `{"run_id":"$run","name":"none"}`, unknown, "none"},
	{"argosy.v1.MetricService/GetSeries", `{"run_id":"$run","name":"loss","from_step":"2","to_step":"1"}`, invalid, "from_step 2 is after to_step 1"},
	{"argosy.v1.MetricService/GetSeries", `{"run_id":"$run","name":"loss","from_time":"2026-11-02T00:00:00Z","to_time":"2026-11-01T00:00:00Z"}`, invalid, "from_time 2026-11-02T00:00:00Z is after to_time 2026-11-01T00:00:00Z"},
	{"argosy.v1.SampleService/StartSample", `{"name":"none"}`, unknown, `sample "none" not found; there are `},
	{"argosy.v1.MetricService/CompareRuns", `{"run_ids":["$run","none"]}`, unknown, "run none not found"},
	{"argosy.v1.MetricService/CompareRuns", `{}`, invalid, "run_ids"},
	{"argosy.v1.MetricService/CompareRuns", `{"run_ids":["$run","$ended"],"align":"colour"}`, invalid, `align is "colour"; it can be step or time`},
	{"argosy.v1.MetricService/TestRules", `{"show":-1}`, invalid, "show is -1; it cannot be negative"},
	{"argosy.v1.ScalingService/GetScalingReport", `{}`, invalid, "say which runs the report is of"},
	{"argosy.v1.ScalingService/GetScalingReport", `{"run_ids":["none"]}`, unknown, "run none not found"},
	{"argosy.v1.ScalingService/GetScalingReport", `{"experiment_id":"none"}`, unknown, "experiment none not found"},
	{"argosy.v1.ScalingService/ExportScalingReport", `{"format":"pdf"}`, invalid, "format is \"pdf\"; it can be csv, html, json, md"},
	{"argosy.v1.ScalingService/ExportScalingReport", `{"format":"md","report":{"run_ids":["$run"]}}`, invalid, "no run of these has ended"},
	{"argosy.v1.VisualService/ListVisuals", `{"run_id":"none"}`, unknown, "run none not found"},
	{"argosy.v1.VisualService/CompareVisuals", `{"run_ids":["$run"]}`, invalid, "run_ids has 1 runs; from 2 to 50 can be compared"},
	{"argosy.v1.VisualService/CompareVisuals", `{"run_ids":["$run","none"]}`, unknown, "run none not found"},
	{"argosy.v1.PipelineService/GetPipelineGraph", `{"pipeline_id":"none"}`, unknown, "pipeline none not found"},
	{"argosy.v1.PipelineService/GetPipelineVersionGraph", `{"version_id":"none"}`, unknown, "version none not found"},
	{"argosy.v1.PipelineService/DiffPipelineVersions", `{"from":"$pipeline"}`, invalid, "from and to name the two versions"},
	{"argosy.v1.PipelineService/DiffPipelineVersions", `{"from":"$pipeline","to":"none"}`, unknown, "version none not found"},
	{"argosy.v1.ExperimentService/RestoreExperiment", `{"experiment":"none"}`, unknown, "deleted experiment none not found"},
	{"argosy.v1.ScheduleService/UpdateSchedule", `{"id":"none","job":{"name":"j","max_concurrency":1}}`, unknown, "job none not found"},
	{"argosy.v1.RetentionService/Prune", `{"keep_runs":"soon"}`, invalid, "keep_runs"},
}

// badLists are the faults that lists can have; $more stands for what a list needs besides.
var badLists = []refusal{
	{"", `{"page_size":-1$more}`, invalid, "page_size is -1; it cannot be negative"},
	{"", `{"page_token":"%%%"$more}`, invalid, "page_token is not one that this server gave"},
	{"", `{"page_token":"` + base64.StdEncoding.EncodeToString([]byte("hello")) + `"$more}`, invalid, "page_token is not one that this server gave"},
	{"", `{"page_token":"` + base64.StdEncoding.EncodeToString([]byte(`{"sort_by":"created_at","start":{"value":"x","id":"y"}}`)) + `"$more}`, invalid, "page token does not fit the sort order; start again"},
	{"", `{"page_token":"` + base64.StdEncoding.EncodeToString([]byte(`{"sort_by":"name","start":{"value":"x","id":"y"}}`)) + `","sort_by":"id"$more}`, invalid, "page_token belongs to a list with another sort_by or filter"},
	{"", `{"sort_by":"colour"$more}`, invalid, `cannot be sorted by "colour"`},
	{"", `{"sort_by":"id sideways"$more}`, invalid, `the order is asc or desc, not "sideways"`},
	{"", `{"sort_by":"id asc please"$more}`, invalid, "write FIELD, FIELD asc or FIELD desc"},
	{"", `{"filter":"{"$more}`, invalid, "filter cannot be read"},
	{"", `{"filter":"%257B"$more}`, invalid, "filter cannot be read"},
	{"", `{"filter":"%zz"$more}`, invalid, "filter is neither JSON nor URL-encoded JSON"},
	{"", `{"filter":"{\"predicates\":[{\"op\":\"EQUALS\",\"key\":\"colour\",\"string_value\":\"x\"}]}"$more}`, invalid, `cannot be filtered by "colour"; known fields: `},
	{"", `{"filter":"%7B%22predicates%22%3A%5B%7B%22op%22%3A%22EQUALS%22%2C%22key%22%3A%22colour%22%2C%22string_value%22%3A%22x%22%7D%5D%7D"$more}`, invalid, `cannot be filtered by "colour"`},
	{"", `{"filter":"{\"predicates\":[{\"op\":\"ALIKE\",\"key\":\"id\",\"string_value\":\"x\"}]}"$more}`, invalid, "ALIKE"},
	{"", `{"filter":"{\"predicates\":[{\"op\":4,\"key\":\"id\",\"string_value\":\"x\"}]}"$more}`, invalid, `filter on "id": op is missing or unknown`},
	{"", `{"filter":"{\"predicates\":[{\"op\":\"EQUALS\",\"string_value\":\"x\"}]}"$more}`, invalid, "a predicate has no key"},
	{"", `{"filter":"{\"predicates\":[{\"op\":\"EQUALS\",\"key\":\"id\"}]}"$more}`, invalid, `filter on "id": the value is missing`},
	{"", `{"filter":"{\"predicates\":[{\"op\":\"IN\",\"key\":\"id\",\"string_value\":\"x\"}]}"$more}`, invalid, "IN takes a list of values"},
	{"", `{"filter":"{\"predicates\":[{\"op\":\"IS_SUBSTRING\",\"key\":\"id\",\"int_value\":1}]}"$more}`, invalid, "IS_SUBSTRING takes a string_value"},
	{"", `{"filter":"{\"predicates\":[{\"op\":\"EQUALS\",\"key\":\"id\",\"long_value\":\"1\"}]}"$more}`, invalid, `the filter on "id" needs a string value`},
	{"", `{"filter":"{\"predicates\":[{\"op\":\"EQUALS\",\"key\":\"created_at\",\"string_value\":\"x\"}]}"$more}`, invalid, `the filter on "created_at" needs a timestamp`},
}

var lists = map[string]string{ // with what they need
	"PipelineService/ListPipelines": "", "PipelineService/ListPipelineVersions": `,"resource_key":{"type":"PIPELINE","id":"$pipeline"}`,
	"ExperimentService/ListExperiment": "", "RunService/ListRuns": "", "JobService/ListJobs": "", "TaskService/ListTasks": "",
	"argosy.v1.RunService/ListRuns": "",
}

// TestRefusals gives every method what is wrong with its input, over gRPC and over REST: both refuse it with the same words,
// which say what was wrong, and nothing is left of it in the store.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := storetest.Contents(t, w.place)
	all := refusals
	for list, more := range lists {
		for _, r := range badLists {
			r.method, r.request = list, strings.Replace(r.request, "$more", more, 1)
			all = append(all, r)
		}
	}
	refused := map[string]bool{}
	for _, r := range all {
		r.request, r.says = w.words.Replace(r.request), w.words.Replace(r.says)
		if !strings.HasPrefix(r.method, "argosy.v1.") {
			r.method = "api." + r.method
		}
		refused[r.method] = true
		t.Run(strings.Replace(r.method, "/", ".", 1), func(t *testing.T) {
			m := methodOf(t, r.method)
			overGRPC := w.refusedByGRPC(t, m, r)
			if overREST, same := w.refusedByREST(t, m, r); same {
				require.Equal(t, overGRPC, overREST, "%s %.200s", r.method, r.request)
			}
		})
	}
	for _, name := range []protoreflect.FullName{"api", "argosy.v1"} {
		protoregistry.GlobalFiles.RangeFilesByPackage(name, func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				service := file.Services().Get(i)
				for j := range service.Methods().Len() {
					method := string(service.FullName()) + "/" + string(service.Methods().Get(j).Name())
					nothing := []string{
						"api.HealthzService/GetHealthz", "argosy.v1.RunService/ListRunFields", "argosy.v1.ClusterService/GetCluster",
						"argosy.v1.ExperimentService/ListDeletedExperiments", "argosy.v1.SampleService/ListSamples",
					}
					if strings.HasSuffix(method, "V1") || slices.Contains(nothing, method) { // a second name; nothing to get wrong
						continue
					}
					require.True(t, refused[method], "nothing bad was given to %s", method)
				}
			}
			return true
		})
	}
	require.Equal(t, before, storetest.Contents(t, w.place), "what was refused left no trace")
}

// world is a server with one of everything.
type world struct {
	*server
	words *strings.Replacer
}

func newWorld(t *testing.T) world {
	t.Helper()
	s := start(t, func(s *server) { s.onlyPublic = true })
	pipelineID, other, going, ended := s.pipeline(t, "hello"), s.pipeline(t, "other"), s.run(t), s.run(t)
	s.post(t, "/apis/v1beta1/experiments", `{"name":"taken"}`, 200)
	s.record(t, going, run.State{Status: run.Running, Workflow: []byte(`{}`), Nodes: []run.Node{{ID: "n1", Name: "n1", DisplayName: "n1", Type: "DAG", Phase: run.Running}}})
	s.record(t, ended, run.State{Status: run.Succeeded, Workflow: []byte(`{}`)})
	require.NoError(t, s.store.Settle(t.Context(), ended))
	manifest, err := json.Marshal(hello)
	require.NoError(t, err)
	return world{s, strings.NewReplacer("$pipeline", pipelineID, "$other", other, "$run", going, "$ended", ended,
		"$manifest", string(manifest), "$long", strings.Repeat("x", 2001))}
}

func methodOf(t *testing.T, name string) protoreflect.MethodDescriptor {
	t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(strings.Replace(name, "/", ".", 1)))
	require.NoError(t, err)
	return found.(protoreflect.MethodDescriptor)
}

func (w world) refusedByGRPC(t *testing.T, m protoreflect.MethodDescriptor, r refusal) string {
	t.Helper()
	request, answer := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
	require.NoError(t, protojson.Unmarshal([]byte(r.request), request), r.request)
	path := "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
	var err error
	if m.IsStreamingServer() {
		stream, opened := w.conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, path)
		require.NoError(t, opened)
		require.NoError(t, stream.SendMsg(request))
		require.NoError(t, stream.CloseSend())
		err = stream.RecvMsg(answer)
	} else {
		err = w.conn.Invoke(t.Context(), path, request, answer)
	}
	got := status.Convert(err)
	require.Equal(t, r.code, got.Code(), "%s %.200s: %s", r.method, r.request, got.Message())
	require.Contains(t, got.Message(), r.says, "%s %.200s", r.method, r.request)
	require.Len(t, got.Details(), 1)
	require.Equal(t, got.Message(), got.Details()[0].(*kfpv1.Error).GetErrorMessage())
	return got.Message()
}

var pathParameter = regexp.MustCompile(`\{([a-z_]+)\}`)

// refusedByREST sends the same request as its REST form, and tells whether it says just the same.
func (w world) refusedByREST(t *testing.T, m protoreflect.MethodDescriptor, r refusal) (string, bool) {
	t.Helper()
	fields := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(r.request), &fields))
	rule := proto.GetExtension(m.Options(), annotations.E_Http).(*annotations.HttpRule)
	method, path, _ := strings.Cut(httpRule(t, m), " ")
	path = pathParameter.ReplaceAllStringFunc(path, func(name string) string {
		name = strings.Trim(name, "{}")
		value, _ := fields[name].(string)
		delete(fields, name)
		return url.PathEscape(value)
	})
	body, same := "", true
	switch {
	case rule.GetBody() == "*":
		raw, err := json.Marshal(fields)
		require.NoError(t, err)
		body = string(raw)
	case rule.GetBody() != "":
		raw, err := json.Marshal(fields[rule.GetBody()])
		require.NoError(t, err)
		if body = string(raw); body == "null" { // where nothing is said at all, REST still says an empty thing
			body, same = "{}", false
		}
	default:
		query := url.Values{}
		flatten(query, "", fields)
		path += "?" + query.Encode()
	}
	code, _, answer := w.do(t, method, path, "application/json", strings.NewReader(body))
	require.Equal(t, runtime.HTTPStatusFromCode(r.code), code, "%s %s: %s", method, path, answer)
	var refused struct {
		Error, Message string
		Code           codes.Code
		Details        []struct {
			Type    string `json:"@type"`
			Message string `json:"error_message"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(answer), &refused), answer)
	require.Equal(t, r.code, refused.Code)
	require.Contains(t, refused.Error, r.says, "%s %s", method, path)
	require.Equal(t, refused.Error, refused.Message)
	require.Equal(t, "type.googleapis.com/api.Error", refused.Details[0].Type)
	return refused.Error, same
}

func flatten(into url.Values, prefix string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			flatten(into, strings.TrimPrefix(prefix+"."+name, "."), v)
		}
	case []any:
		for _, v := range value {
			flatten(into, prefix, v)
		}
	default:
		into.Add(prefix, fmt.Sprint(value))
	}
}

// TestBadRequests is what only REST can get wrong.
func TestBadRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := storetest.Contents(t, w.place)
	for name, c := range map[string]struct {
		method, path, contentType, body string
		status                          int
		says                            string
	}{
		"JSON that ends early":        {"POST", "/apis/v1beta1/experiments", "application/json", `{"name":`, 400, "the body is not valid JSON: unexpected end"},
		"no JSON":                     {"POST", "/apis/v1beta1/runs", "application/json", "name=r", 400, "the body is not valid JSON"},
		"a list for a message":        {"POST", "/apis/v1beta1/jobs", "application/json", "[]", 400, "unexpected token ["},
		"a number for a text":         {"POST", "/apis/v1beta1/experiments", "application/json", `{"name":7}`, 400, "name"},
		"a word for a number":         {"POST", "/apis/v1beta1/jobs", "application/json", `{"name":"j","max_concurrency":"many"}`, 400, "maxConcurrency"},
		"a field twice":               {"POST", "/apis/v1beta1/experiments", "application/json", `{"name":"a","name":"b"}`, 400, `duplicate field "name"`},
		"an unknown resource type":    {"GET", "/apis/v1beta1/runs?resource_reference_key.type=ROOM&resource_reference_key.id=x", "", "", 400, "ROOM"},
		"the same in a body":          {"POST", "/apis/v1beta1/runs", "application/json", `{"resource_references":[{"key":{"type":"ROOM"}}]}`, 400, "ROOM"},
		"an unknown format":           {"POST", w.words.Replace("/apis/v1beta1/runs/$run:reportMetrics"), "application/json", `{"metrics":[{"format":"HEX"}]}`, 400, "HEX"},
		"an unknown verb":             {"GET", "/apis/v1beta1/auth?namespace=n&resources=VIEWERS&verb=LOOK", "", "", 400, "LOOK"},
		"a page size that is none":    {"GET", "/apis/v1beta1/runs?page_size=many", "", "", 400, "many"},
		"a page size beyond int32":    {"GET", "/apis/v1beta1/runs?page_size=3000000000", "", "", 400, "3000000000"},
		"a time that is none":         {"POST", "/apis/v1alpha1/tasks", "application/json", `{"created_at":"yesterday"}`, 400, "yesterday"},
		"a form for JSON":             {"POST", "/apis/v1beta1/experiments", "application/x-www-form-urlencoded", "name=e", 400, "the body is not valid JSON"},
		"something after the JSON":    {"POST", "/apis/v1beta1/experiments", "application/json", `{"name":"e"} {"name":"f"}`, 400, "the body is not valid JSON"},
		"no UTF-8":                    {"POST", "/apis/v1beta1/experiments", "application/json", "{\"name\":\"\xff\"}", 400, "invalid UTF-8"},
		"a body that is too large":    {"POST", "/apis/v1beta1/experiments", "application/json", `{"name":"` + strings.Repeat("x", 128<<20) + `"}`, 400, "the body is larger than 128 MiB"},
		"another method":              {"PATCH", "/apis/v1beta1/runs", "application/json", `{}`, 405, "Method Not Allowed"},
		"another path":                {"GET", "/apis/v1beta1/rooms", "", "", 404, "Not Found"},
		"a log of no run":             {"GET", "/apis/v1beta1/runs/none/nodes/n/log", "", "", 404, "run none not found"},
		"a log of no step":            {"GET", w.words.Replace("/apis/v1alpha1/runs/$run/nodes/none/log"), "", "", 404, "none"},
		"a log at a bad place":        {"GET", w.words.Replace("/apis/argosy/v1/runs/$run/nodes/n1/log?from=-1"), "", "", 400, `from is "-1"; it can be a number from 0`},
		"a climbing path":             {"GET", "/apis/v1beta1/runs/..%2F..%2Fetc%2Fpasswd", "", "", 404, "not found"},
		"a climbing artifact":         {"GET", w.words.Replace("/apis/v1beta1/runs/$run/nodes/n1/artifacts/..%2F..%2Fetc%2Fpasswd:read"), "", "", 404, "no artifact"},
		"an id that is a query":       {"DELETE", "/apis/v1beta1/runs/" + url.PathEscape("' OR 1=1 --"), "", "", 404, "not found"},
		"nothing where all is needed": {"POST", "/apis/argosy/v1/runs:delete", "application/json", "", 400, "say which runs"},
	} {
		t.Run(name, func(t *testing.T) {
			status, headers, answer := w.do(t, c.method, c.path, c.contentType, strings.NewReader(c.body))
			require.Equal(t, c.status, status, "%.300s", answer)
			if headers.Get("Content-Type") == "application/json" {
				answer = field(t, answer, "error")
			}
			require.Contains(t, answer, c.says)
		})
	}
	require.Equal(t, http.StatusOK, func() int {
		status, _, _ := w.do(t, "GET", "/apis/v1beta1/healthz", "", nil)
		return status
	}(), "the server goes on")
	require.Equal(t, before, storetest.Contents(t, w.place), "what was refused left no trace")
}
