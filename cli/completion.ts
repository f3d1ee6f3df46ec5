/** `kgwalk completion`: scripts that let a shell complete commands, options, presets, data sets and runs. */
import { realpathSync } from 'node:fs';
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
      // Links in the cache of npx come and go; what they lead to stays, unless it is in the cache itself.
      const script = realpathSync(argv[1]!);
      const program = /[\\/]_npx[\\/]/.test(script) ? ['npx', '--no', 'kgwalk'] : [execPath, script];
      printLine(scripts[name]([...program, asking].map(quoted).join(' ')));
    });
  program
    .command(asking, { hidden: true })
    .arguments('<shell> <line>')
    .helpOption(false)
    .action(async (name: Shell, line: string) => {
      const words = wordsOf(line);
      if (words.length === 0) return;
      // Bash replaces only what stands behind = and :.
      const kept = name === 'bash' ? /^(?:.*[=:])?/.exec(words.at(-1)!)![0].length : 0;
      for (const { word, about } of await completions(program, words)) {
        printLine(about ? `${word.slice(kept)}\t${about}` : word.slice(kept));
      }
    });
}

/** Words behind `kgwalk` of a line up to the cursor, without their quotes; the last one is partial or empty. */
function wordsOf(line: string): string[] {
  const typed = [...line.matchAll(/(?:"[^"]*"?|'[^']*'?|\\.|[^\s"'\\])+/g)];
  const words = typed.map(([word]) => word.replace(/["'\\]/g, ''));
  const { 0: last = '', index = 0 } = typed.at(-1) ?? {};
  if (index + last.length < line.length) words.push('');
  const at = words.findIndex((word) => /(^|\/)kgwalk$/.test(word));
  return at < 0 ? [] : words.slice(at + 1);
}

/** Called with a shell and a line up to the cursor; prints one candidate per line. */
const asking = '__complete';

const installing = `
Install permanently, for \`kgwalk …\` and \`npx kgwalk …\`; in a clone, with \`npx\` in front:
  bash   kgwalk completion bash >> ~/.bashrc
  zsh    kgwalk completion zsh >> ~/.zshrc
  fish   kgwalk completion fish > ~/.config/fish/conf.d/kgwalk.fish`;

/** Quotes a path for single quotes of a shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Words before `kgwalk`, such as `npx`, are skipped. Without candidates the shell completes files. */
const scripts = {
  bash: (asked: string) => `_kgwalk() {
  local IFS=$'\\n'
  COMPREPLY=($(${asked} bash "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null | cut -f 1))
  # Names of runs may hold spaces: bash quotes what are files.
  [[ "\${COMPREPLY[*]}" == */* ]] && compopt -o filenames 2>/dev/null
}
complete -o default -F _kgwalk kgwalk
complete -p npx >/dev/null 2>&1 || complete -o default -F _kgwalk npx`,

  zsh: (asked: string) => `_kgwalk() {
  local line
  local -a found
  for line in "\${(@f)$(${asked} zsh "\${(j: :)words[1,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}\${\${(M)line%$'\\t'*}/$'\\t'/:}")
  done
  if (( \${#found} )); then _describe kgwalk found; else _files; fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _kgwalk kgwalk
compdef -n _kgwalk npx`,

  fish: (asked: string) => `function __kgwalk_complete
  set -l found (${asked} fish (commandline -cp) 2>/dev/null)
  and string length -q -- $found
  and printf '%s\\n' $found
  or __fish_complete_path (commandline -ct)
end
complete -c kgwalk -f -a '(__kgwalk_complete)'
complete -c npx -n '__fish_seen_subcommand_from kgwalk' -f -a '(__kgwalk_complete)'`,
};

/** A candidate word. */
export interface Candidate {
  word: string;
  /** Start of its help text. */
  about?: string;
}

/** @param words words after `kgwalk`; the last is partial or empty and is a prefix of every candidate */
export async function completions(program: Command, words: readonly string[]): Promise<Candidate[]> {
  // Of `--option=value` the part behind is completed.
  const [option = '', value = ''] = /^(--[\w-]+=)?(.*)$/.exec(words.at(-1) ?? '')!.slice(1);
  const before = [...words.slice(0, -1), ...(option === '' ? [] : [option.slice(0, -1)])];
  const found = (await candidates(program, before, value)).filter(({ word }) => word.startsWith(value));
  const byWord = new Map(found.map((one) => [one.word, { ...one, word: option + one.word }]));
  return [...byWord.values()];
}

async function candidates(program: Command, before: readonly string[], begun: string): Promise<Candidate[]> {
  let command = program;
  let given = 0;
  let awaiting: Option | undefined;
  for (const word of before) {
    const inner = given === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (awaiting && !(awaiting.optional && word.startsWith('-'))) awaiting = undefined;
    else if (word.startsWith('-'))
      awaiting = optionsOf(command).find(
        (one) => (one.required || one.optional) && [one.short, one.long].includes(word),
      );
    else if (inner) command = inner;
    else given++;
  }
  const path = `${command.parent?.name()} ${command.name()}`;
  const values = awaiting
    ? await valuesOf(awaiting, before, `--${awaiting.name()}`, `${path} --${awaiting.name()}`)
    : [];
  if (awaiting?.required) return values;
  if (begun.startsWith('-')) {
    const options = optionsOf(command).filter(({ hidden, long }) => !hidden && long);
    return options.map(({ long, description }) => ({ word: long!, about: firstWords(description) }));
  }
  const inner = given > 0 ? [] : command.createHelp().visibleCommands(command);
  const takes =
    command.registeredArguments.at(given) ?? command.registeredArguments.filter(({ variadic }) => variadic).at(-1);
  return [
    ...values,
    ...inner.map((one) => ({ word: one.name(), about: firstWords(one.description()) })),
    ...(takes ? await valuesOf(takes, before, takes.name(), `${path} ${takes.name()}`) : []),
  ];
}

/** Options of the command and its parents, and `--help`. */
function optionsOf(command: Command): Option[] {
  const around = command.parent
    ? optionsOf(command.parent).filter(({ long }) => ['--plugin', '--progress'].includes(long!))
    : [];
  return [...command.createHelp().visibleOptions(command), ...around];
}

const firstWords = (text: string) => text.split(/[;:(]/)[0]!.trim();

/** @param names possible keys in `sources`, the most general first */
async function valuesOf(
  { argChoices = [] }: Option | Argument,
  before: readonly string[],
  ...names: string[]
): Promise<Candidate[]> {
  const source = names.flatMap((name) => sources.get(name) ?? []).at(-1);
  return [...argChoices, ...((await source?.(before)) ?? [])].map((word) => ({ word }));
}

type Source = (before: readonly string[]) => Promise<readonly string[]>;

const among =
  (...words: string[]): Source =>
  () =>
    Promise.resolve(words);

const presets = async () => (await import('../src/run/locations.js')).presetNames();

/** Runs, or evaluations too, by their paths from here. */
async function places(...kinds: string[]): Promise<string[]> {
  const { findPlaces } = await import('../src/run/places.js');
  const { runsFolder } = await import('../src/run/locations.js');
  const found = [...findPlaces([runsFolder()]).values()].filter(({ kind }) => kinds.includes(kind));
  return found.map(({ folder }) => relative('.', folder));
}

const runs = () => places('run');

const manifests = async () => (await import('../datasets/dataset.js')).listDatasets();

const datasets = async () => (await manifests()).map(({ name }) => name);

const models = async () => ['demo', ...(await import('../src/llm/model-files.js')).downloadedModels()];

const graphs = async () => (await manifests()).flatMap((one) => ('graphs' in one ? Object.keys(one.graphs) : []));

/** The tasks of the data set that is named before, else all. */
async function tasksOf(before: readonly string[]) {
  const { allTasks } = await import('../tasks/index.js');
  const { kindOf } = await import('../datasets/dataset.js');
  const named = before.indexOf('--dataset') + 1;
  const kind = named > 0 ? kindOf(before[named]!) : undefined;
  return (await allTasks()).filter(({ name }) => kind === undefined || name === kind);
}

const agents: Source = async (before) => (await tasksOf(before)).flatMap((task) => task.agents.names());

const switches: Source = async (before) =>
  (await tasksOf(before)).flatMap(({ agents }) =>
    agents.names().flatMap((name) => Object.keys(agents.settings(name, {}))),
  );

const settings: Source = async () => {
  const { explainConfig } = await import('../src/run/config-keys.js');
  const { settingsSchema } = await import('../agents/train-settings.js');
  return explainConfig(settingsSchema()).map(({ key }) => key);
};

const checkpoints: Source = async (before) => {
  const { namedRun } = await import('../src/run/run-folder.js');
  const { checkpointNames } = await import('../serve/runs.js');
  const run = before.map((word) => namedRun(word)?.run).find((name) => name !== undefined);
  return run === undefined ? ['best', 'last', 'clone'] : checkpointNames(run);
};

const runsAndEvaluations = () => places('run', 'evaluation');

/** Names of arguments and options, alone or after their command, by what they take. */
const sources = new Map(
  (
    [
      [presets, 'preset', '--config'],
      [runs, 'run', 'runs', 'run-or-question', '--run-dir'],
      [async () => [...(await runs()), ...(await datasets())], 'run-or-dataset'],
      [runsAndEvaluations, 'run-or-evaluation', '--run'],
      [() => places('evaluation'), 'evaluation'],
      [async (before) => [...(await agents(before)), ...(await runsAndEvaluations())], 'agent'],
      [agents, '--agent'],
      [datasets, '--dataset', 'datasets stats name', 'datasets check name'],
      [graphs, '--graph'],
      [among('train', 'valid', 'test'), '--split'],
      [among('all', 'assistant'), '--turns'],
      [among('question', 'template', 'type'), '--hold-out'],
      [checkpoints, '--checkpoint', '--resume', 'checkpoint show name', 'checkpoint export name'],
      [among('sb3'), 'checkpoint import format'],
      [
        async () => (await import('../datasets/importers.js')).importers.map(({ name }) => name),
        'datasets import format',
      ],
      [async () => (await import('../datasets/releases.js')).releases.map(({ name }) => name), 'datasets get release'],
      [async () => (await import('../src/llm/model-files.js')).modelRegistry.map(({ name }) => name), 'name-or-url'],
      [models, 'name-or-file', '--model', '--encoder'],
      [among('transe', 'distmult', 'complex'), 'embeddings import --model'],
      [async () => ['auto', ...(await import('../src/nn/open-executor.js')).executorNames], '--backend'],
      [async () => (await import('../envs/registry.js')).envIds(), 'serve env id', '--env'],
      [settings, 'config explain key', '--set', '--grid', '--sample'],
      [switches, 'kgwalk evaluate --set', 'kgwalk compare --set', 'kgwalk ask --set', 'kgwalk predict --set'],
      [among(), 'models train --set'],
    ] as [Source, ...string[]][]
  ).flatMap(([source, ...names]) => names.map((name) => [name, source] as const)),
);
