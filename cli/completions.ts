/** Candidates for the next word of a command line, read from the commands themselves. */
import { relative } from 'node:path';
import type { Argument, Command, Option } from 'commander';

/** A candidate word. */
export interface Candidate {
  word: string;
  /** Start of its help text. */
  about?: string;
}

/** @param words words after `kgwalk`; the last is partial or empty and is a prefix of every candidate */
export async function completions(program: Command, words: readonly string[]): Promise<Candidate[]> {
  const begun = words.at(-1) ?? '';
  const found = await candidates(program, words.slice(0, -1), begun);
  return found.filter(({ word }) => word.startsWith(begun));
}

async function candidates(program: Command, before: readonly string[], begun: string): Promise<Candidate[]> {
  let command = program;
  let given = 0;
  let awaiting: Option | undefined;
  for (const word of before) {
    const inner = given === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (awaiting) awaiting = undefined;
    else if (word.startsWith('-'))
      awaiting = optionsOf(command).find(({ short, long, required }) => required && [short, long].includes(word));
    else if (inner) command = inner;
    else given++;
  }
  if (awaiting) return valuesOf(awaiting, `--${awaiting.name()}`);
  if (begun.startsWith('-')) {
    const options = optionsOf(command).filter(({ hidden, long }) => !hidden && long);
    return options.map(({ long, description }) => ({ word: long!, about: firstWords(description) }));
  }
  const inner = given > 0 ? [] : command.createHelp().visibleCommands(command);
  const takes =
    command.registeredArguments.at(given) ?? command.registeredArguments.filter(({ variadic }) => variadic).at(-1);
  const place = takes && `${command.parent?.name()} ${command.name()} ${takes.name()}`;
  return [
    ...inner.map((one) => ({ word: one.name(), about: firstWords(one.description()) })),
    ...(takes ? await valuesOf(takes, takes.name(), place) : []),
  ];
}

/** Options of the command and its parents, and `--help`. */
function optionsOf(command: Command): Option[] {
  const around = command.parent ? optionsOf(command.parent).filter(({ long }) => long === '--plugin') : [];
  return [...command.createHelp().visibleOptions(command), ...around];
}

const firstWords = (text: string) => text.split(/[;:(]/)[0]!.trim();

/** @param names possible keys in `sources` */
async function valuesOf(
  { argChoices = [] }: Option | Argument,
  ...names: (string | undefined)[]
): Promise<Candidate[]> {
  const source = names.flatMap((name) => (name !== undefined && sources[name]) || []).at(-1);
  return [...argChoices, ...((await source?.()) ?? [])].map((word) => ({ word }));
}

const presets = async () => (await import('../src/run/locations.js')).presetNames();

async function runs(): Promise<string[]> {
  const { listRuns } = await import('../src/run/run-folder.js');
  const { runsFolder } = await import('../src/run/locations.js');
  return listRuns(runsFolder()).map(({ folder }) => relative('.', folder));
}

const datasets = async () => (await import('../datasets/dataset.js')).listDatasets().map(({ name }) => name);

async function models(): Promise<string[]> {
  return ['demo', ...(await import('../src/llm/model-files.js')).downloadedModels()];
}

/** Key by the name of an argument, alone or after its command, or by an option. */
const sources: Readonly<Record<string, () => Promise<string[]>>> = {
  preset: presets,
  '--config': presets,
  run: runs,
  runs,
  'run-or-evaluation': runs,
  'run-or-question': runs,
  agent: runs,
  '--run': runs,
  '--dataset': datasets,
  'datasets stats name': datasets,
  'datasets check name': datasets,
  'datasets import format': async () => (await import('../datasets/importers.js')).importers.map(({ name }) => name),
  'datasets get release': async () => (await import('../datasets/importers.js')).releases.map(({ name }) => name),
  'models get name-or-url': async () =>
    (await import('../src/llm/model-registry.js')).modelRegistry.map(({ name }) => name),
  'name-or-file': models,
  '--model': models,
  '--backend': async () => ['auto', ...(await import('../src/tensor/backend.js')).computerNames],
};
