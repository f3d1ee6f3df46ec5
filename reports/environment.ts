/** Machine, versions and data of all runs, listed once, and the command that repeats each part. */
import { basename } from 'node:path';
import { stringify } from 'yaml';
import { shellWord } from '../src/run/command-line.js';
import { type Fact, factsIn, type PageView, type RunView } from './html.js';
import { encoderOf, seedOf, type EvaluationData, type RunData, type RunGroup } from './run-data.js';
import { listed, plain } from './format.js';

/** One entry per group of runs that differ only in the seed, then one of all evaluations. @param evaluations those named by the user, in addition to those inside the runs */
export function environmentView(
  groups: readonly RunGroup[],
  evaluations: readonly EvaluationData[],
): Pick<PageView, 'shared' | 'runs'> {
  const runs = groups.flatMap((group) => group.runs);
  const subjects = Object.entries(subjectFacts).map(([title, of]) => ({ title, facts: sharedBy(runs.map(of)) }));
  const shared = subjects.flatMap(({ facts }) => facts);
  return {
    shared: subjects.filter(({ facts }) => facts.length > 0),
    runs: [...groups.map((group) => groupView(group, shared)), ...evaluationsView(evaluations)],
  };
}

function groupView({ label, runs }: RunGroup, shared: readonly Fact[]): RunView {
  const [first] = runs;
  const unfinished = runs.filter(({ info }) => info.state.status !== 'finished');
  const status =
    unfinished.length > 0 ? ` (${unfinished.map(({ info }) => `${info.id}: ${info.state.status}`).join(', ')})` : '';
  const commands = runs.map(({ info }) => `npx kgwalk ${info.environment.argv.map(shellWord).join(' ')}`);
  const own = sharedBy(runs.map((run) => Object.values(subjectFacts).flatMap((of) => of(run))));
  return {
    title: `${label}${status}`,
    command: [...new Set(commands)].join('\n'),
    environment: [
      { name: 'runs', value: runs.map(({ info }) => info.id).join(', ') },
      { name: runs.length > 1 ? 'seeds' : 'seed', value: runs.map(seedOf).join(', ') },
      { name: 'started', value: first!.info.environment.started.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC') },
      { name: 'settings', value: [...new Set(runs.map(({ info }) => info.configHash.slice(0, 12)))].join(', ') },
      ...own.filter((fact) => !shared.some((other) => isSame(fact, other))),
    ],
    config: stringify(first!.info.config).trimEnd(),
  };
}

const subjectFacts: Readonly<Record<string, (run: RunData) => Fact[]>> = {
  Machine: machineFacts,
  Versions: ({ info }) => factsIn(info.environment.versions),
  'Models and data, beginnings of their sha256': hashFacts,
};

function machineFacts({ info: { environment: one } }: RunData): Fact[] {
  return factsIn({
    processor: `${one.cpu}, ${one.cores} cores`,
    memory: `${plain(Math.round(one.memoryMb / 1024))} GiB`,
    platform: one.platform,
    'tensor backend': one.backend,
    threads: one.threads,
  });
}

function hashFacts(run: RunData): Fact[] {
  const { environment } = run.info;
  const model = encoderOf(run);
  const plugins = (environment.plugins ?? []).map(({ file, sha256 }) => [`plugin ${basename(file)}`, sha256] as const);
  return factsIn({
    'frozen model': model === undefined ? undefined : basename(model),
    ...Object.fromEntries(
      [...Object.entries(environment.hashes), ...plugins].map(([of, hash]) => [of, shortHash(hash)]),
    ),
  });
}

function sharedBy(all: readonly (readonly Fact[])[]): Fact[] {
  const [first = [], ...others] = all;
  return first.filter((fact) => others.every((facts) => facts.some((other) => isSame(fact, other))));
}

function isSame(a: Fact, b: Fact): boolean {
  return a.name === b.name && a.value === b.value;
}

/** Short hash of an encoder's or model's file: `gguf:357bbd36768c…:mean:l2` → `357bbd36768c`. */
function shortHash(identity: string): string {
  const hash = /[0-9a-f]{64}/.exec(identity)?.[0] ?? identity;
  return hash.slice(0, 12);
}

/** Command that repeats an evaluation. */
function evaluationsView(evaluations: readonly EvaluationData[]): RunView[] {
  if (evaluations.length === 0) return [];
  const hashes = new Map<string, Set<string>>();
  for (const { record } of evaluations) {
    for (const [name, hash] of Object.entries(record.hashes)) {
      hashes.set(name, (hashes.get(name) ?? new Set()).add(shortHash(hash)));
    }
  }
  const models = [...new Set(evaluations.flatMap(({ record }) => record.model ?? []))];
  return [
    {
      title: 'Evaluations',
      command: evaluations.map(({ name }) => `npx kgwalk replay ${shellWord(name)}`).join('\n'),
      environment: [
        ...(models.length > 0 ? [{ name: models.length > 1 ? 'models' : 'model', value: listed(models) }] : []),
        ...[...hashes].map(([name, some]) => {
          return { name: name === 'model' ? 'model hash' : name, value: [...some].join(', ') };
        }),
      ],
      config: stringify(evaluations.map(settingsOf)).trimEnd(),
    },
  ];
}

function settingsOf({ name, record }: EvaluationData) {
  return { name, ...Object.fromEntries(Object.entries(record).filter(([key]) => !answered.has(key))) };
}

/** Fields of a record that are not evaluation settings. */
const answered = new Set(
  'schemaVersion note figures clusters n excluded metrics bounds slices misses cost hashes details sections examples'.split(
    ' ',
  ),
);
