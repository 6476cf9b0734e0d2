import { parse } from 'yaml';
import type { Parameter } from '../api/client';

/** What a manifest says about one of its templates. */
export interface Template {
  image?: string;
  command: string[];
  inputs: Parameter[];
  outputs: string[];
}

interface Manifest {
  spec?: {
    arguments?: { parameters?: { name?: string; description?: string }[] };
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

/** What a manifest says about its parameters, by name; only those that it describes. */
export function parameterHints(manifest: string): Record<string, string> {
  const { spec } = (parse(manifest) ?? {}) as Manifest;
  const hints: Record<string, string> = {};
  for (const { name, description } of spec?.arguments?.parameters ?? []) {
    if (name && description) hints[name] = String(description);
  }
  return hints;
}
