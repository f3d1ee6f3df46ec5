/** `kgwalk completion`: scripts that let a shell complete commands, options, presets, data sets and runs. */
import { argv, execPath } from 'node:process';
import { Argument, type Command, type Option } from 'commander';
import { printLine } from './output.js';
import { relative } from 'node:path';

type Shell = keyof typeof scripts;

/** Adds `kgwalk completion` and the hidden command that its scripts call. */
export function register(program: Command): void {
  program
    .command('completion')
    .description('print a script that lets a shell complete commands, options, presets, data sets and runs')
    .addArgument(new Argument('<shell>').choices(Object.keys(scripts)))
    .addHelpText('after', installing)
    .action((name: Shell) => {
      const asked = [execPath, argv[1]!, asking].map(quoted).join(' ');
      printLine(scripts[name](asked));
    });
  program
    .command(asking, { hidden: true })
    .argument('[words...]')
    .helpOption(false)
    .action(async (words: string[]) => {
      for (const { word, about } of await completions(program, words)) printLine(about ? `${word}\t${about}` : word);
    });
}

/** Called with `--` and the words after `kgwalk`, the last one partial or empty; prints one candidate per line. */
const asking = '__complete';

const installing = `
Install permanently:
  bash   kgwalk completion bash >> ~/.bashrc
  zsh    kgwalk completion zsh >> ~/.zshrc
  fish   kgwalk completion fish > ~/.config/fish/completions/kgwalk.fish
Where kgwalk is installed in a folder: npx kgwalk completion …, and alias kgwalk='npx kgwalk'.`;

/** Quotes a path for single quotes of a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Without candidates the shell completes files. */
const scripts = {
  bash: (asked: string) => `_kgwalk() {
  local IFS=$'\\n'
  COMPREPLY=($(${asked} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f 1))
  # Names of runs may hold spaces: bash quotes what are files.
  [[ "\${COMPREPLY[*]}" == */* ]] && compopt -o filenames 2>/dev/null
}
complete -o default -F _kgwalk kgwalk`,

  zsh: (asked: string) => `_kgwalk() {
  local line
  local -a found
  for line in "\${(@f)$(${asked} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#found} )); then _describe kgwalk found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _kgwalk kgwalk`,

  fish: (asked: string) => `function __kgwalk_complete
  ${asked} -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null
end
complete -c kgwalk -a '(__kgwalk_complete)'`,
};

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
