/** The colors of states where a step is only a box. */
export const tones: Record<string, string> = {
  Running: '--ar-run',
  Succeeded: '--ar-ok',
  Failed: '--ar-bad',
  Error: '--ar-bad',
};
