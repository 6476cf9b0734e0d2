package submit_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/cmd/argosy/internal/submit"
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/compiler/decompile"
	"github.com/argosy-ml/argosy/launcher/job"
	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// step is the container of the step that a command line becomes.
func step(line string) (*graph.Container, error) {
	j, command, err := submit.ParseLine(line)
	if err != nil {
		return nil, err
	}
	g, err := j.Pipeline(command)
	if err != nil {
		return nil, err
	}
	return g.Nodes[0].Container, nil
}

// launched are the arguments of the launcher in that step.
func launched(line string) ([]string, error) {
	c, err := step(line)
	if err != nil {
		return nil, err
	}
	var args []string
	for _, a := range c.Args {
		text, _ := a.Constant()
		args = append(args, text)
	}
	return args, nil
}

// flag is one of Arena's, by its name in docs/jobs.md.
type flag struct {
	kind, given string
	want        []string // arguments of the launcher
	image       string   // of the step, if it is another one
	refused     string   // what the answer says instead
}

var flags = map[string]flag{
	"--name":              {given: "--name=tf-eni", want: []string{"--name=tf-eni"}},
	"--image":             {given: "--image=other:2", want: []string{"--image=other:2"}},
	"--gpus":              {given: "--gpus 8", want: []string{"--gpus=8"}},
	"--device":            {given: "--device amd.com/gpu=8 --device=vpc.amazonaws.com/efa=4", want: []string{"--device=amd.com/gpu=8", "--device=vpc.amazonaws.com/efa=4"}},
	"--workers":           {given: "--workers=3", want: []string{"--workers=3"}},
	"--retry":             {given: "--retry=2", want: []string{"--retries=2"}},
	"--working-dir":       {given: "--workingDir=/work", want: []string{"--working-dir=/work"}},
	"--shell":             {given: "--shell=bash", want: []string{"--shell=bash"}},
	"--env":               {given: `-e A=b=c --env="B=two words" -eC=`, want: []string{"--env=A=b=c", "--env=B=two words", "--env=C="}},
	"--data":              {given: "-d claim:/data --data other:/more", want: []string{"--data=claim:/data", "--data=other:/more"}},
	"--data-dir":          {given: "--dataDir /mnt/nvme --data-dir=/a:/b", want: []string{"--data=/mnt/nvme:/mnt/nvme", "--data=/a:/b"}},
	"--annotation":        {given: "-a x.io/y=false", want: []string{"--annotation=x.io/y=false"}},
	"--label":             {given: "-l team=vision", want: []string{"--label=team=vision"}},
	"--rdma":              {given: "--rdma", want: []string{"--rdma=true"}},
	"--gang":              {given: "--gang", want: []string{"--gang=true"}},
	"--priority":          {given: "-p high", want: []string{"--priority=high"}},
	"--queue":             {given: "--queue=research", want: []string{"--queue=research"}},
	"--scheduler":         {given: "--scheduler=volcano", want: []string{"--scheduler=volcano"}},
	"--toleration":        {given: "--toleration gpu=yes:NoSchedule,Equal --toleration spot=x,Exists --toleration all", want: []string{"--toleration=gpu=yes:NoSchedule", "--toleration=spot", "--toleration=all"}},
	"--selector":          {given: "--selector gpu=v100", want: []string{"--selector=gpu=v100"}},
	"--image-pull-secret": {given: "--image-pull-secret=registry", want: []string{"--image-pull-secret=registry"}},
	"--image-pull-policy": {given: "--image-pull-policy=Always", want: []string{"--image-pull-policy=Always"}},
	"--host-network":      {given: "--hostNetwork", want: []string{"--network=Host"}},
	"--host-ipc":          {given: "--hostIPC", want: []string{"--host-ipc=true"}},
	"--host-pid":          {given: "--hostPID=true", want: []string{"--host-pid=true"}},
	"--tensorboard":       {given: "--tensorboard", want: []string{"--tensorboard=true"}},
	"--tensorboard-image": {given: "--tensorboard --tensorboardImage=tb:1", want: []string{"--tensorboard-image=tb:1"}},
	"--logdir":            {given: "--tensorboard --logdir=/logs", want: []string{"--logdir=/logs"}},
	"--sync-mode=git --sync-source": {
		given: "--syncMode=git --syncSource=https://h/r.git -e GIT_SYNC_BRANCH=main -e GIT_SYNC_REV=v1",
		want:  []string{"--sync-mode=git", "--sync-source=https://h/r.git", "--git-branch=main", "--git-revision=v1"},
	},
	"--sync-mode=git --sync-image":    {given: "--sync-mode git --sync-source=https://h/r.git --syncImage=git-sync:4", want: []string{"--sync-image=git-sync:4"}},
	"--sync-mode=rsync --sync-source": {given: "--sync-mode=rsync --sync-source=rsync://h/code/", want: []string{"--sync-mode=rsync", "--sync-source=rsync://h/code/"}},
	"--sync-mode=rsync --sync-image":  {given: "--sync-mode=rsync --sync-source=rsync://h/code/ --sync-image=rsync:3", want: []string{"--sync-image=rsync:3"}},
	"--cpu":                           {given: "--cpu=50", want: []string{"--cpu=50"}},
	"--memory":                        {given: "--memory=200Gi", want: []string{"--memory=200Gi"}},
	"--gputopology":                   {given: "--gputopology", want: []string{"--gputopology=true"}},
	"--mounts-on-launcher":            {given: "--mounts-on-launcher=false", want: []string{"--mounts-on-launcher=false"}},
	"--clean-task-policy":             {given: "--cleanTaskPolicy=All", want: []string{"--clean-pod-policy=All"}},
	"--running-timeout":               {given: "--running-timeout=2h22m", want: []string{"--running-timeout=2h22m0s"}},
	"--starting-timeout":              {given: "--starting-timeout=10m", want: []string{"--pending-timeout=10m0s"}},
	"--ttl-after-finished":            {given: "--ttl-after-finished=24h", want: []string{"--ttl-after-finished=24h0m0s"}},
	"--share-memory":                  {given: "--share-memory=2Gi", want: []string{"--shm=2Gi"}},
	"pytorchjob --nproc-per-node":     {given: "--nproc-per-node=2", want: []string{"--slots=2"}},
	"--ssh-port":                      {given: "--ssh-port=2222", want: []string{"--ssh-port=2222"}},
	"tfjob --ps":                      {given: "--ps=2", want: []string{"--role-replicas=ps=2"}},
	"tfjob --ps-image":                {given: "--ps=1 --psImage=ps:1", want: []string{"--role-image=ps=ps:1"}},
	"tfjob --ps-cpu":                  {given: "--ps=1 --psCpu=8", want: []string{"--role-cpu=ps=8"}},
	"tfjob --ps-memory":               {given: "--ps=1 --ps-memory=32Gi", want: []string{"--role-memory=ps=32Gi"}},
	"tfjob --ps-gpus":                 {given: "--ps=1 --ps-gpus=1", want: []string{"--role-gpus=ps=1"}},
	"tfjob --ps-selector":             {given: "--ps=1 --ps-selector=net=fast", want: []string{"--role-selector=ps=net=fast"}},
	"tfjob --chief":                   {given: "--chief --ChiefCpu=2", want: []string{"--role-replicas=chief=1", "--role-cpu=chief=2"}},
	"tfjob --evaluator":               {given: "--evaluator", want: []string{"--role-replicas=evaluator=1"}},
	"tfjob --role-sequence":           {given: "--ps=1 --role-sequence=Worker,p", want: []string{"--task-order=worker,ps"}},

	"--config-file":                      {given: "--config-file=a:/b", refused: "a run has no files of the machine that submits it"},
	"--model-name":                       {given: "--model-name=m", refused: "there is no serving to register a model for"},
	"--model-source":                     {given: "--model-source=s3://m", refused: "there is no serving"},
	"--sync-mode=hdfs":                   {given: "--sync-mode=hdfs --sync-source=hdfs://x", refused: "has Hadoop's client"},
	"etjob, deepspeedjob --ssh-secret":   {given: "--ssh-secret=s", refused: "the operator makes a key for each job"},
	"tfjob --worker-port (in no table)":  {kind: "tfjob", given: "--workerPort=1", refused: "gives every pod the port 2222"},
	"--env-secret":                       {given: "-e A=1 --env-secret TOKEN=login/token", want: []string{"--env=A=1", "--env-secret=TOKEN=login/token"}},
	"--restart-policy":                   {kind: "tfjob", given: "--restart-policy=OnFailure --retry=2", want: []string{"--restart-policy=OnFailure", "--retries=2"}},
	"--metric":                           {given: "--metric loss:raw:min --metric 'speed:::^S +([0-9.]+)' --metric acc:PERCENTAGE", want: []string{"--metric=loss:RAW:min", "--metric=speed:::^S +([0-9.]+)", "--metric=acc:PERCENTAGE"}},
	"--service-account":                  {given: "--service-account=trainer", want: []string{"--service-account=trainer"}},
	"--network":                          {given: "--network=eni", want: []string{"--network=ENI"}},
	"--slots":                            {given: "--slots=2", want: []string{"--slots=2"}},
	"--silence-timeout":                  {given: "--silence-timeout=30m", want: []string{"--silence-timeout=30m0s"}},
	"--check-image":                      {given: "--check-image=false", want: []string{"--check-image=false"}},
	"--allow-fewer-ranks":                {given: "--allow-fewer-ranks", want: []string{"--allow-fewer-ranks=true"}},
	"--probe":                            {given: "--probe", want: []string{"--probe=true"}},
	"--launcher-image":                   {given: "--launcher-image=r/launcher:1", image: "r/launcher:1"},
	"no metric (not Arena's)":            {want: []string{"--metric=images/sec"}},
	"no network but ENI (not Arena's)":   {given: "--hostNetwork -a k8s.aliyun.com/eni=true", want: []string{"--network=ENI"}},
	"a variable for the job (no flag)":   {given: "-e HOME2=$HOME", want: []string{"--env=HOME2=$HOME"}},
	"mxjob --servers (not Arena's)":      {kind: "mxjob", given: "--servers=2", want: []string{"--role-replicas=server=2"}},
	"--runtime":                          {kind: "trainjob", given: "--runtime=TrainingRuntime/torch --slots=2", want: []string{"--slots=2", "--runtime=TrainingRuntime/torch"}},
	"an abbreviation of the kind":        {kind: "hj", want: []string{"mpijob"}},
	"the command's other kinds (no arg)": {kind: "xgboostjob", want: []string{"xgboostjob", "--workers=1", "python train.py"}},
}

// Every flag of Arena's that the page lists works, or answers with a reason.
func TestDocumentedFlags(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../../docs/jobs.md")
	require.NoError(t, err)
	listed := regexp.MustCompile("(?m)^\\| `((?:[a-z, ]+ )?--[^`]*)`").FindAllStringSubmatch(string(page), -1)
	require.Greater(t, len(listed), 50)
	for _, l := range listed {
		require.Contains(t, flags, l[1], "the page lists it, and this test does not run it")
	}
	for name, f := range flags {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, kind := range f.kinds(name) {
				args, err := launched("arena submit " + kind + " --image=img:1 " + f.given + ` "python train.py"`)
				if f.refused != "" {
					require.ErrorContains(t, err, f.refused)
					require.Equal(t, exit.Usage, exit.Code(err))
					continue
				}
				require.NoError(t, err)
				for _, want := range f.want {
					require.Contains(t, args, want)
				}
				require.Equal(t, "python train.py", args[len(args)-1])
				if f.image != "" {
					c, err := step("arena submit " + kind + " --image=img:1 " + f.given + " x")
					require.NoError(t, err)
					image, _ := c.Image.Constant()
					require.Equal(t, f.image, image)
				}
			}
		})
	}
}

// kinds are those that the name of a flag begins with; without any, an MPIJob's.
func (f flag) kinds(name string) (kinds []string) {
	if f.kind != "" {
		return []string{f.kind}
	}
	for word := range strings.FieldsSeq(name) {
		if word = strings.TrimSuffix(word, ","); strings.HasSuffix(word, "job") && !strings.HasPrefix(word, "et") && !strings.HasPrefix(word, "deepspeed") {
			kinds = append(kinds, word)
		}
	}
	if kinds == nil {
		kinds = []string{"mpijob"}
	}
	return kinds
}

const article = `arena submit mpijob --name=tf-eni \
            --annotation=k8s.aliyun.com/eni=true \
            --workers=2 \
            --syncMode=git \
            --syncSource=https://github.com/tensorflow/benchmarks.git \
            --gpus=8 \
            --cpu=50 \
            --memory=200Gi \
            --env=GIT_SYNC_BRANCH=cnn_tf_v1.9_compatible \
            --image=uber/horovod:0.13.10-tf1.9.0-torch0.4.0-py3.5 \
            "mpirun --allow-run-as-root -np 16 -oversubscribe --bind-to none -x NCCL_SOCKET_IFNAME=eth0 python code/benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py --num_gpus=1 --data_name=imagenet --model=resnet50 --variable_update=horovod --horovod_device=gpu --num_batches=300 --batch_size=128 --optimizer=momentum"`

// The command of a published article, as it is written there, becomes the job that it describes.
func TestArticle(t *testing.T) {
	t.Parallel()
	args, err := launched(article)
	require.NoError(t, err)
	spec, err := job.Parse(args)
	require.NoError(t, err)
	require.Equal(t, job.NetworkENI, spec.Network)
	require.Equal(t, "true", spec.Annotations["k8s.aliyun.com/eni"])
	require.Equal(t, 16, spec.World())
	require.Equal(t, &job.Code{Mode: "git", Source: "https://github.com/tensorflow/benchmarks.git", Branch: "cnn_tf_v1.9_compatible"}, spec.Code)
	require.Equal(t, "images/sec", spec.Metrics[0].Name)
	require.True(t, strings.HasPrefix(spec.Roles[0].Command, "mpirun --allow-run-as-root -np 16 ") && strings.HasSuffix(spec.Roles[0].Command, "--optimizer=momentum"), spec.Roles[0].Command)
	require.Equal(t, "200Gi", spec.Roles[0].Memory.String())
}

// The Go source of a command line is a program whose pipeline does the same.
func TestSourceComesBack(t *testing.T) {
	t.Parallel()
	for _, kind := range submit.Kinds {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			j, command, err := submit.ParseLine("arena submit " + kind.Name + ` --image=i --name=train --gpus=1 -e A=b -d c:/d --metric=loss 'echo "$A" done'`)
			require.NoError(t, err)
			workflow, err := j.Workflow(command)
			require.NoError(t, err)
			source, err := decompile.Source(workflow)
			require.NoError(t, err)
			require.Contains(t, string(source), `p, "train", train.`)
			require.Contains(t, string(source), "echo \"$A\" done")
			g, err := decompile.Raise(workflow)
			require.NoError(t, err)
			again, err := compiler.CompileGraph(g)
			require.NoError(t, err)
			require.Equal(t, string(workflow), string(again))
		})
	}
}

// What is wrong in a line is said in words of the line.
func TestRefusedLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                                                                        "this is not a command of Arena's that starts a job",
		"arena list":                                                              "this is not a command of Arena's that starts a job",
		"arena submit sparkjob --image=i x":                                       `there is no kind of job "sparkjob": use one of mpijob, tfjob,`,
		"arena submit mpijob --image=i":                                           "say what the job runs",
		"arena submit mpijob 'x'":                                                 "say in which image the job runs: --image IMAGE",
		"arena submit mpijob --image=i 'x":                                        "a quote is opened and not closed: 'x",
		"arena submit mpijob --image=i --gpu=1 x":                                 "unknown flag: --gpu",
		"arena submit tfjob --image=i --gpus=a x":                                 `invalid argument "a" for "--gpus" flag: "a" is not a whole number`,
		"arena submit mpijob --image=i --cpu=a x":                                 `invalid argument "a" for "--cpu" flag: "a" is not a quantity`,
		"arena submit mpijob --image=i -e A x":                                    `"-e, --env" flag: "A" has no value: write KEY=VALUE`,
		"arena submit mpijob --image=i --rdma=no x":                               `"no" is neither true nor false`,
		"arena submit mpijob --image=i --sync-mode=git x":                         "--sync-mode git needs --sync-source",
		"arena submit mpijob --image=i --sync-image=g x":                          "--sync-image needs --sync-source",
		"arena submit mpijob --image=i --sync-mode=scp --sync-source=a x":         "--sync-mode scp: want git or rsync",
		"arena submit mpijob --image=i --running-timeout=5 x":                     `"5" is not a duration: write it as 90s, 30m or 12h`,
		"arena submit mpijob --image=i --toleration=a=b,Like x":                   `the operator "Like" is neither Exists nor Equal`,
		"arena submit mpijob --image=i --network=VPN x":                           `"VPN" is not one of CNI, Host and ENI`,
		"arena submit mpijob --image=i --metric=a:median x":                       `unknown format "median"`,
		"arena submit tfjob --image=i --role-sequence=w,x y":                      `"x" is not one of worker, ps, chief and evaluator`,
		"arena submit mpijob --image=i -d a:/d -d b:/d x":                         "--data: two volumes are to be mounted on /d",
		"arena submit job --image=i --workers=2 x":                                `"--workers" flag: a job does not have it: it has one pod`,
		"arena submit mpijob --image=i --clean-task-policy=running x":             `"running" is not one of Running, All and None`,
		"arena submit mpijob --image=i --namespace=team x":                        "runs go to the namespace of the server",
		"arena submit pytorchjob --image=i --nproc-per-node=auto 'torchrun x.py'": `"auto" is not a whole number`,
	} {
		_, err := launched(line)
		require.ErrorContains(t, err, want, line)
		require.Equal(t, exit.Usage, exit.Code(err), line)
	}
}

// A line is read as a shell reads it.
func TestWordsOfALine(t *testing.T) {
	t.Parallel()
	args, err := launched("$ arena submit job --image 'i' --working-dir=\"/a b\"\\\n -e 'X=it'\\''s' -e \"Y=\\\"q\\\" \\$HOME \\n\" -e Z='' \"echo\" '$X'")
	require.NoError(t, err)
	require.Subset(t, args, []string{"--working-dir=/a b", "--env=X=it's", `--env=Y="q" $HOME \n`, "--env=Z=", "echo $X"})
}
