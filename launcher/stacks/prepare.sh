# Programs in Python can be asked for their stacks by a signal.
stacks=/tmp/.argosy-stacks
if mkdir -p "$stacks" 2>/dev/null && cat >"$stacks/sitecustomize.py" 2>/dev/null <<'PYTHON'
SITECUSTOMIZE
PYTHON
then
  PYTHONPATH=$stacks${PYTHONPATH:+:$PYTHONPATH}
  export PYTHONPATH
fi
