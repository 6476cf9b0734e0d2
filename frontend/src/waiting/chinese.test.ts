import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { inChinese } from './chinese';

// One sentence a line. The Go tests of launcher/capacity, launcher/pending and launcher/job fail when one of theirs is missing.
const sentences = readFileSync('src/waiting/sentences.txt', 'utf8').trim().split('\n');

// English that belongs to neither the sentence nor its numbers: names, units, words of Kubernetes, and answers of others.
const names =
  /argosy queue set small( --capability [\w./]+=\w+(\.\w+)?)+|docker\.io\S*|not found(?=；会)|denied|exit status \d+|mount failed:|requested:|used:|limited:|"[^"]*"|[\w./-]*[_/=.:][\w./:=-]*|\b(CPU|GPU|Pod|Never|root|runAsNonRoot|MPIJob|TFJob|minAvailable|launcherCreationPolicy|WaitForWorkersReady|PersistentVolumeClaim|limit|request|ephemeral-storage|secret|configmap|persistentvolumeclaim|Secret|worker|workers|launcher|ps|x|data|main|init|nfs|fast|local|big|gpus|cpu|memory|token|kubeflow|q|j|b|small|other-1|w-0|another-2|mpi-operator|hugepages-2Mi|\d*[KMGTP]i|\w+-\w+(-\w+)*)\b/g;

describe('a sentence in Chinese', () => {
  it.each(sentences)('%s', (sentence) => {
    const chinese = inChinese(sentence);
    expect(chinese).toMatch(/[\u4e00-\u9fff]/);
    expect(chinese.replace(names, '').match(/[A-Za-z]{2,}/g) ?? [], chinese).toEqual([]);
  });

  it('keeps the numbers', () => {
    expect(inChinese('asks 2 workers x 2 CPUs = 4; this cluster has 2: lower cpu_limit, or add nodes')).toBe(
      '需要 2 workers x 2 个 CPU = 4；此集群有 2。请降低 cpu_limit，或添加节点',
    );
    expect(
      inChinese(
        'asks 2 workers x 1 GPU = 2; queue small may have 1: lower gpus, choose another queue, or raise its limit with argosy queue set small --capability nvidia.com/gpu=2',
      ),
    ).toBe(
      '需要 2 workers x 1 个 GPU = 2；队列 small 最多可用 1。请降低 gpus，选择其他队列，或用 argosy queue set small --capability nvidia.com/gpu=2 提高其上限',
    );
    expect(inChinese('secret "s" not found: create it in namespace kubeflow, and the step goes on')).toBe(
      '找不到 secret "s"。请在命名空间 kubeflow 中创建它，步骤就会继续',
    );
  });

  it('leaves what others say as it is', () => {
    expect(inChinese('Something else entirely')).toBe('Something else entirely');
  });
});
