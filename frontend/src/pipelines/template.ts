import { parse } from 'yaml';
import type { Parameter } from '../api/client';

/** What a manifest says about one of its templates. */
export interface Template {
  image?: string;
  command: string[];
  inputs: Parameter[];
  outputs: string[];
}

/** What a manifest says about one of its parameters. */
export interface ParameterRule {
  description?: string;
  /** As Argosy's compiler names it; other packages take any value. */
  type?: string;
  choices?: string[];
  min?: number;
  max?: number;
}

interface Manifest {
  metadata?: { annotations?: Record<string, string> };
  spec?: {
    arguments?: { parameters?: { name?: string; description?: string; enum?: unknown[] }[] };
    templates?: {
      name?: string;
      container?: Program;
      script?: Program & { source?: string };
      inputs?: { parameters?: Parameter[] };
      outputs?: { parameters?: Parameter[]; artifacts?: { name?: string }[] };
    }[];
  };
}

interface Program {
  image?: string;
  command?: string[];
  args?: string[];
}

/** Looks a template up in a manifest, YAML or JSON; undefined when it has none of that name. */
export function templateOf(manifest: string, name: string): Template | undefined {
  const { spec } = (parse(manifest) ?? {}) as Manifest;
  const found = spec?.templates?.find((template) => template.name === name);
  if (!found) return undefined;
  const program = found.container ?? found.script;
  const command = [...(program?.command ?? []), ...(program?.args ?? [])].map(String);
  if (found.script?.source) command.push(found.script.source);
  const outputs = [...(found.outputs?.parameters ?? []), ...(found.outputs?.artifacts ?? [])];
  return {
    image: program?.image,
    command,
    inputs: found.inputs?.parameters ?? [],
    outputs: outputs.map((output) => output.name ?? ''),
  };
}

/** What a manifest says about its parameters, by name. */
export function parameterRules(manifest: string): Record<string, ParameterRule> {
  const { metadata, spec } = (parse(manifest) ?? {}) as Manifest;
  const rules: Record<string, ParameterRule> = {};
  for (const { name, description, enum: choices } of spec?.arguments?.parameters ?? []) {
    if (name) rules[name] = { description: description && String(description), choices: choices?.map(String) };
  }
  const notes = metadata?.annotations ?? {};
  if (!notes['argosy.dev/sdk_version']) return rules;
  for (const { name, type, minimum, maximum } of inputsOf(notes['pipelines.kubeflow.org/pipeline_spec'])) {
    const rule = rules[name];
    if (rule) Object.assign(rule, { type, min: minimum, max: maximum });
  }
  return rules;
}

interface Input {
  name: string;
  type?: string;
  minimum?: number;
  maximum?: number;
}

function inputsOf(note: string | undefined): Input[] {
  try {
    return (JSON.parse(note ?? '{}') as { inputs?: Input[] }).inputs ?? [];
  } catch {
    return []; // it was edited by hand
  }
}
