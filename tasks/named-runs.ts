/** Runs by the names that commands give: `RUN`, `RUN@CHECKPOINT`, `RUN+RUN`, and the data sets that they were trained on. */
import { createHash } from 'node:crypto';
import { resolveCheckpoint } from '../checkpoints/store.js';
import { WorkbenchError } from '../src/run/errors.js';
import { sha256File } from '../src/run/files.js';
import type { RunInfo } from '../src/run/records.js';
import { findRun, nearestRun, openRun } from '../src/run/run-folder.js';
import { membersOf, type Trained } from './task.js';

/**
 * A run by name or folder, with the checkpoint behind an `@`, or several that answer as one: `first+second@clone+third`, and
 * `first,second` of runs over questions that answer where they agree.
 * @param checkpoint of those that name none
 * @returns undefined where there is no such run
 * @throws WorkbenchError `usage` for several that do not walk the same, or cannot agree; `data` where only some of them are there
 */
export function findTrained(name: string, checkpoint: string): Trained | undefined {
  const one = findRun(name);
  if (one) return { checkpoint, ...one };
  const agree = name.includes(',');
  const names = agree ? name.split(',') : namesOf(name);
  const found = names.map(findRun);
  if (names.length < 2 || !found.some((run) => run)) return undefined;
  const members = found.map((run, i) => ({ checkpoint, ...(run ?? { run: openRun(names[i]!) }) }));
  const [first, ...others] = members as [Trained, ...Trained[]];
  if (!agree) refuseUnlike(members.map(({ run }) => run));
  else refuseWithoutAnswers(members.map(({ run }) => run));
  return { ...first, others, ...(agree && { agree }) };
}

function refuseWithoutAnswers(runs: readonly RunInfo[]): void {
  const other = runs.find(({ config }) => (config.env as { id?: string } | undefined)?.id !== 'kgwalk/RelationWalk-v1');
  if (!other) return;
  throw new WorkbenchError('usage', `expected runs over questions, which agree or not, got ${other.id}`, {
    hint: 'RUN+RUN answers as one.',
  });
}

/** Refuses a name of no run, where nothing else can be meant: the error names what is missing. @throws WorkbenchError as `openRun` */
export function requireTrained(name: string): void {
  if (!findTrained(name, 'best')) openRun(name);
}

/** Names of runs with pluses between; where a folder's own name holds one, the longest that is a run. */
function namesOf(name: string): string[] {
  const words = name.split('+');
  const names: string[] = [];
  for (let begin = 0, end = 0; begin < words.length; begin = end) {
    const upTo = (behind: number) => words.slice(begin, behind).join('+');
    end = words.length;
    while (end > begin + 1 && !findRun(upTo(end))) end--;
    names.push(upTo(end));
  }
  return names;
}

/** Settings that runs of an ensemble must share, by printed name. */
function walkedBy({ config }: RunInfo): Record<string, unknown> {
  const { data, env, relationWalk, linkWalk, policy } = config as Record<string, Record<string, unknown> | undefined>;
  const id = (env?.id ?? 'kgwalk/OpenDialKG-v1') as string;
  if (policy !== undefined) return { environment: id, 'options of it': env?.options };
  const exact = (config as { exactWalker?: unknown }).exactWalker !== undefined;
  const horizon = { 'kgwalk/RelationWalk-v1': relationWalk?.horizon, 'kgwalk/LinkQuery-v1': linkWalk?.horizon }[id];
  return {
    'data set': data?.dataset,
    environment: id,
    graph: data?.graph,
    subsets: data?.subsets,
    turns: data?.turns,
    'hold-out': data?.holdOut,
    oracle: data?.oracle,
    // Beams share their steps; sums over all walks need not.
    horizon: exact ? undefined : (horizon ?? env?.horizon),
    'way to walk': exact ? 'exactly' : 'by samples',
    edges: [env?.edgePolicy, env?.maxOut, env?.equalAtStep1],
  };
}

function refuseUnlike([first, ...others]: readonly RunInfo[]): void {
  const own = walkedBy(first!);
  for (const run of others) {
    const other = walkedBy(run);
    const key = Object.keys({ ...own, ...other }).find(
      (name) => JSON.stringify(own[name]) !== JSON.stringify(other[name]),
    );
    if (key === undefined) continue;
    const word = (of: Record<string, unknown>) => (of[key] === undefined ? 'none' : JSON.stringify(of[key]));
    const got = `${first!.id} (${word(own)}) and ${run.id} (${word(other)})`;
    throw new WorkbenchError('usage', `expected runs of one ${key} to answer as one, got ${got}`, {
      hint: 'Runs that are averaged differ in seed and network alone. Parted by a space `kgwalk compare` takes them as several.',
    });
  }
}

/** Refusal of a `walker` that is no run. */
export function noSuchRun(name: string): WorkbenchError {
  const near = nearestRun(name);
  return new WorkbenchError('usage', `expected the name or folder of a run, got ${JSON.stringify(name)}, at walker`, {
    hint: `${near === undefined ? '' : `Did you mean "${near}"? `}\`kgwalk runs list\` shows them.`,
  });
}

/** Runs that switches of an agent name, such as `of=RUN+bilinear` and `prefilter=walker:RUN`. */
export const runsNamedBy = (switches: Readonly<Record<string, unknown>>): RunInfo[] =>
  Object.values(switches)
    .flatMap((value) => (typeof value === 'string' ? value.replace(/^walker:/, '').split('+') : []))
    .flatMap((name) => (name === '' ? [] : (findRun(name)?.run ?? [])));

/** Data set that a run was trained on, with its subsets where it is not all of them: `metaqa/2-hop`; of a policy, its environment. */
export function datasetOf({ config }: RunInfo): string | undefined {
  if (config.policy !== undefined) return (config.env as { id: string }).id;
  const { dataset, subsets = 'all' } = (config.data ?? {}) as { dataset?: string; subsets?: 'all' | string[] };
  return dataset === undefined || subsets === 'all' ? dataset : `${dataset}/${subsets.join(',')}`;
}

/**
 * What a section of settings says in all runs alike; undefined where there is no run.
 * @throws WorkbenchError `usage` for runs that differ in it
 */
export function sameOfRuns<T>(runs: readonly RunInfo[], read: (run: RunInfo) => T): T | undefined {
  const [first, ...others] = runs;
  if (!first) return undefined;
  const own = read(first);
  for (const run of others) {
    const other = read(run);
    if (JSON.stringify(other) === JSON.stringify(own)) continue;
    const words = (value: T) => (typeof value === 'object' ? Object.values(value as object).join(', ') : String(value));
    throw new WorkbenchError('usage', `expected runs of the same data, got ${first.id} and ${run.id}`, {
      hint: `One has ${words(own)}, the other ${words(other)}.`,
    });
  }
  return own;
}

/** sha256 (hex) of the weights; for an ensemble, of its members' hashes in order. */
export async function weightsOf(trained: Trained): Promise<string> {
  const hashes: string[] = [];
  for (const { run, checkpoint } of membersOf(trained)) {
    hashes.push(await sha256File(resolveCheckpoint(run.folder, checkpoint).file));
  }
  return hashes.length === 1 ? hashes[0]! : createHash('sha256').update(hashes.join()).digest('hex');
}
