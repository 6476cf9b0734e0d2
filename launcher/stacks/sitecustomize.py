# SIGUSR2 writes the stacks of this program into a file beside this one, for a job that hangs.
import os, sys
folder = os.path.dirname(os.path.abspath(__file__))
try:
    import faulthandler, signal
    stacks = open(os.path.join(folder, str(os.getpid())), "a")
    faulthandler.register(signal.SIGUSR2, file=stacks, all_threads=True)
except Exception:
    pass
try:  # the sitecustomize that this one hides
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec
    spec = PathFinder.find_spec("sitecustomize", [p for p in sys.path if os.path.abspath(p) != folder])
    if spec:
        spec.loader.exec_module(module_from_spec(spec))
except ImportError:
    pass
