import { describe, expect, it } from 'vitest';
import { nameOfFile } from './packageFile';
import { parameterRules, templateOf } from './template';

it.each([
  ['mpi_run.tar.gz', 'mpi_run'],
  ['mpi_run.py.tar.gz', 'mpi_run.py'],
  ['a.YAML', 'a'],
  ['plain', 'plain'],
])('%s is called %s', (file, name) => expect(nameOfFile(file)).toBe(name));

const manifest = `
spec:
  arguments:
    parameters:
    - {name: workers, value: "1", description: Number of workers}
    - {name: plain}
  templates:
  - name: train
    inputs: {parameters: [{name: x}]}
    outputs: {parameters: [{name: y}], artifacts: [{name: z}]}
    container: {image: i, command: [a], args: [b, 3]}
  - name: script
    script: {image: j, command: [sh], source: echo}
`;

describe('templateOf', () => {
  it('says what a step runs', () => {
    expect(templateOf(manifest, 'train')).toEqual({
      image: 'i',
      command: ['a', 'b', '3'],
      inputs: [{ name: 'x' }],
      outputs: ['y', 'z'],
    });
    expect(templateOf(manifest, 'script')?.command).toEqual(['sh', 'echo']);
  });
  it('is undefined for what is not there', () => {
    expect(templateOf(manifest, 'gone')).toBeUndefined();
    expect(templateOf('', 'gone')).toBeUndefined();
  });
});

it('reads what the manifest says about parameters', () => {
  expect(parameterRules(manifest).workers).toEqual({ description: 'Number of workers' });
});

it('reads types and limits that Argosy wrote, and no others', () => {
  const typed = (note: string) => `
metadata:
  annotations:
    ${note}
    pipelines.kubeflow.org/pipeline_spec: '{"inputs":[{"name":"lines","type":"Integer","minimum":1,"maximum":9}]}'
spec:
  arguments:
    parameters: [{name: lines, value: "3"}, {name: optimizer, enum: [sgd, adam]}]
`;
  expect(parameterRules(typed('argosy.dev/sdk_version: 0.1.0'))).toEqual({
    lines: { type: 'Integer', min: 1, max: 9 },
    optimizer: { choices: ['sgd', 'adam'] },
  });
  expect(parameterRules(typed('pipelines.kubeflow.org/kfp_sdk_version: 1.8.22')).lines).toEqual({});
  expect(parameterRules(typed('argosy.dev/sdk_version: 0.1.0').replace('"inputs":', '')).lines).toEqual({});
});
