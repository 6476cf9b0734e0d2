import arena
import kfp.dsl as dsl


@dsl.pipeline(name='mnist-ps')
def mnist_ps(workers=dsl.PipelineParam(name='worker-count', value=2), image='tensorflow/tensorflow:1.11.0'):
    arena.parameter_servers_op(
        name='train', image=image, command='python mnist.py', env=[], data=[''], sync_source=None, annotations=[],
        workers=workers, worker_image=None, worker_cpu='2', worker_memory='4Gi',
        parameter_servers=1, ps_image=None, ps_cpu='500m', ps_memory='1Gi',
        gpus=0, rdma=False, tensorboard=False, worker_port=22222, ps_port=22224, metrics=['accuracy'])


@dsl.pipeline(name='mnist-estimator')
def mnist_estimator():
    arena.estimator_op(
        name='train', image='tensorflow/tensorflow:1.11.0', command='python mnist.py',
        chief_cpu='1', chief_memory='2Gi', chief_port=22222,
        workers=2, worker_image=None, worker_cpu=0, worker_memory=0,
        parameter_servers=1, ps_image=None, ps_cpu=0, ps_memory=0, ps_port=22224,
        gpus=0, rdma=False, tensorboard=False, worker_port=22222, evaluator=True, evaluator_memory='1Gi')
