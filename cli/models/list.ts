/** `kgwalk models list`. */
import { existsSync, statSync } from 'node:fs';
import { modelRecord, registeredAddress } from '../../src/llm/download-model.js';
import {
  downloadedModelFile,
  downloadedModels,
  embeddedModelFile,
  embeddedModelName,
} from '../../src/llm/model-files.js';
import { modelRegistry } from '../../src/llm/model-registry.js';
import { printJson, printLine, printTable } from '../output.js';
import { megabytes } from './sizes.js';

interface Listed {
  name: string;
  state: 'embedded' | 'here' | 'in part' | 'to get';
  file?: string;
  bytes?: number;
  megabytes: number;
  use?: 'chat' | 'encoder' | 'both';
  licence?: string;
  url?: string;
  about: string;
}

/** Prints every model that has a name. */
export function listModels({ json }: { json?: boolean }): void {
  const models = [...embedded(), ...registered(), ...others()];
  if (json) return printJson(models);
  printTable(
    models.map(({ name, state, megabytes: MB, use, licence, about }) => ({ name, state, MB, use, licence, about })),
  );
  printLine('\nGet one: kgwalk models get NAME; any other .gguf: kgwalk models get https://…, or name its path.');
}

function embedded(): Listed[] {
  const file = embeddedModelFile();
  if (file === undefined) return [];
  const about = 'comes with the package, knows the demo data alone; taken where no model is named';
  return [{ name: embeddedModelName, state: 'embedded', ...sizes(file), use: 'both', licence: 'MIT', about }];
}

function registered(): Listed[] {
  return modelRegistry.map((model) => {
    const { name, use, licence, about } = model;
    const file = downloadedModelFile(name);
    const facts = { name, use, licence, url: registeredAddress(model), about };
    if (existsSync(file)) return { ...facts, state: 'here', ...sizes(file) };
    return { ...facts, state: existsSync(`${file}.download`) ? 'in part' : 'to get', megabytes: model.megabytes };
  });
}

/** Downloads from elsewhere, and files that somebody put there. */
function others(): Listed[] {
  const known = modelRegistry.map(({ name }) => name);
  const names = downloadedModels().filter((name) => !known.includes(name));
  return names.map((name) => {
    const record = modelRecord(name);
    const about = record?.url ?? 'put there by hand';
    return { name, state: 'here', ...sizes(downloadedModelFile(name)), ...(record && { url: record.url }), about };
  });
}

function sizes(file: string): { file: string; bytes: number; megabytes: number } {
  const bytes = statSync(file).size;
  return { file, bytes, megabytes: megabytes(bytes) };
}
