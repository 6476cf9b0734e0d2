# Prints what the image lacks for a job, one thing a line. The arguments are the kind of job and the programs that its command runs.
no() { echo "argosy-no $1"; }
if [ "$1" = mpijob ]; then
  [ -x /usr/sbin/sshd ] || no "sshd, which the workers of an MPIJob run as /usr/sbin/sshd: install openssh-server"
  command -v ssh >/dev/null || no "ssh, by which mpirun starts ranks on the workers: install openssh-client"
  command -v ssh-keygen >/dev/null || no "ssh-keygen, which makes a worker's key: install openssh-client"
  [ "`id -u`" = 0 ] || no "root as its user, but user `id -u`: sshd needs root, so set USER root in the Dockerfile"
  while IFS=: read -r name _ _ _ _ home login; do
    [ "$name" = root ] || continue
    [ "$home" = /root ] || no "/root as root's home, but $home: the operator mounts the key at /root/.ssh"
    case $login in */nologin | */false) no "shell for root, but $login in /etc/passwd: sshd refuses its sessions" ;; esac
  done </etc/passwd
  mpirun --version 2>/dev/null | head -n 2
fi
shift
for program; do
  command -v "$program" >/dev/null || no "$program, which the command runs: install it, or give its path"
done
for folder in /usr/lib /usr/lib64 /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/local/lib; do
  if [ -f "$folder/libcuda.so.1" ]; then echo "argosy-own $folder/libcuda.so.1"; fi
done
exit 0
