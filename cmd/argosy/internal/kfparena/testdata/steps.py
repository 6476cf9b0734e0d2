import argparse
import kfp
from kfp import dsl
from arena import standalone_job_op, mpi_job_op as mpi

FLAGS = None
REGISTRY = 'registry.example.com/vision'
CLAIM = "training-data"


@dsl.pipeline(name='prepare-and-train', description='Three steps, one after the other.')
def prepare_and_train(rate='0.01', dropout: float = 0.9, steps: int = 500,
                      commit='9f3c2d1', trace=False, team=None):
    data = [CLAIM + ":/data"]
    data += ["results:/results"]

    fetch = standalone_job_op("fetch", "byrnedo/alpine-curl", "mkdir -p /data/mnist && " \
        "curl -fsSL https://example.com/mnist.tgz | tar xz -C /data/mnist",
        data=data, metrics=[])

    train = mpi(
        name="train",
        image=REGISTRY + '/mnist:%d' % 3,
        workers=2, gpus=1, cpu_limit='0', memory_limit='16Gi', rdma=True,
        annotations=["k8s.aliyun.com/eni=true", "example.com/team={}".format(team)],
        sync_source="https://example.com/code/mnist.git",
        env=["GIT_SYNC_REV=%s" % (commit), f"TEAM={team}", "TRACE=" + str(trace)],
        data=data,
        tensorboard=True, tensorboard_image='tensorflow/tensorflow:1.12.0',
        metrics=["accuracy:PERCENTAGE", "auc", 'loss:RAW'],
        timeout_hours=1.5,
        command=f'''echo after {fetch.outputs['step']} of {fetch.outputs['workflow']} && \
mpirun python code/mnist/main.py --max_steps {steps} --rate {rate} --dropout {dropout}''')

    export = standalone_job_op(
        name="export",
        image="tensorflow/tensorflow:1.11.0-py3",
        arena_image='registry.example.com/arena:1',
        data=data,
        command="echo 100%% of %s && python export.py --job=%s" % (rate, train.outputs['name']))

    check = standalone_job_op(name="Check_results", image='busybox', metrics=None, command='ls /results')
    check.after(export, fetch)
    again = standalone_job_op('check-results', 'busybox', 'ls -l /results', timeout_hours=1)
    again.after(check)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rate', type=str, default="0.001")
    client = kfp.Client()
    try:
        experiment = client.get_experiment(experiment_name="mnist").id
    except ValueError:
        experiment = client.create_experiment("mnist").id


if __name__ == '__main__':
    main()
