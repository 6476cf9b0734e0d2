import { expect, it } from 'vitest';
import { exitMeaning } from './exitCode';

it('knows the codes that shells and kernels give', () => {
  expect(exitMeaning('137', '')).toBe('killed');
  expect(exitMeaning('137', 'OOMKilled (exit code 137)')).toBe('outOfMemory');
  expect(exitMeaning('1', 'torch.cuda.OutOfMemoryError: CUDA out of memory.')).toBe('outOfMemory');
  expect(exitMeaning('127', undefined)).toBe('notFound');
});

it('says nothing of a code that programs choose themselves', () => {
  expect(exitMeaning('1', 'x')).toBeUndefined();
  expect(exitMeaning(undefined, undefined)).toBeUndefined();
});
