// The Python SDK of KFP prints links of this form; they lead to the same things here.
const target: [RegExp, string][] = [
  [/^#?\/runs\/details\/([^/?]+)/, '/runs/'],
  [/^#?\/experiments\/details\/([^/?]+)/, '/experiments/'],
  [/^#?\/pipelines\/details\/([^/?]+)/, '/pipelines/'],
];

/** The page that a link of KFP's interface means, by its hash; undefined when it is not one. */
export function kfpTarget(hash: string): string | undefined {
  for (const [pattern, path] of target) {
    const found = pattern.exec(hash);
    if (found) return path + found[1];
  }
  return undefined;
}
