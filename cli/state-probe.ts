/** A few real texts of states: how long they are, what they have in common, how fast they are encoded here. */
import { setImmediate } from 'node:timers/promises';
import type { StateReader } from '../agents/walker/policy.js';
import type { WalkTask } from '../datasets/walk-sample.js';
import { applyAction, initialState, type WalkRules, type WalkState } from '../envs/dialogue-walk/rules.js';
import type { StateEncoder } from '../src/encoder/state-encoder.js';
import type { Graph } from '../src/kg/graph.js';
import { Rng, sampled } from '../src/run/seeds.js';

/** Texts of one task: of the state that its walks begin in, and of some that they come to after one step. */
export interface TaskTexts {
  first: string;
  later: string[];
}

/** Number of sampled tasks, and of states per task after the first. */
const sampleSize = { tasks: 150, later: 3 };
/** Time limit of the speed measurement, in seconds. */
const probeSeconds = 4;
/** Tasks per measured batch. */
const probeTogether = 2;

/** The texts of a seeded draw of tasks, none of whose walks are over where they begin. */
export async function sampleTexts(
  reader: StateReader,
  tasks: readonly WalkTask[],
  graph: Graph,
  rules: WalkRules,
): Promise<TaskTexts[]> {
  const rng = Rng.named(0, 'dry-run/states');
  const found: TaskTexts[] = [];
  for (const task of sampled(tasks, sampleSize.tasks, 'dry-run/tasks')) {
    const start = initialState(graph, task.start, rules);
    const edges = rng.shuffle(Int32Array.from({ length: graph.degree(task.start) }, (_, edge) => edge));
    const later: WalkState[] = Array.from(edges.subarray(0, sampleSize.later), (edge) =>
      applyAction(graph, start, edge, rules),
    ).filter(({ done }) => !done);
    const [first, ...others] = await reader.texts([start, ...later].map((state) => ({ task, state })));
    found.push({ first: first!, later: others });
  }
  return found;
}

/** Lengths of texts; means over a sample. */
export interface TextLengths {
  /** Tokens of a text, special ones aside. */
  first: number;
  later: number;
  /** Length of the common prefix of a task's later texts, in tokens, as far as a lane can keep it. */
  beginning: number;
  /** Characters a token. */
  characters: number;
}

/** @param block tokens of a beginning that are kept together */
export async function textLengths(
  sample: readonly TaskTexts[],
  { countTokens, prefixBlock: block }: StateEncoder,
): Promise<TextLengths> {
  const firsts = sample.map(({ first }) => first);
  const laters = sample.flatMap(({ later }) => later);
  const beginnings = sample.map(({ later }) =>
    later.reduce((one, other) => one.slice(0, common(one, other)), later[0] ?? ''),
  );
  const [first, later, beginning] = [
    await countTokens(firsts),
    await countTokens(laters),
    await countTokens(beginnings),
  ];
  const characters = firsts.reduce((sum, { length }) => sum + length, 0) / Math.max(1, sumOf(first));
  const kept = beginning.map((tokens) => (block > 0 ? tokens - (tokens % block) : 0));
  return { first: mean(first), later: mean(later), beginning: mean(kept), characters };
}

/** Tokens that texts share with the one before when they follow each other in the order of their beginnings, about. */
export function sharedInOrder(texts: readonly string[], charactersPerToken: number, block: number): number {
  if (block === 0) return 0;
  const order = [...texts].sort();
  return order.reduce((sum, text, i) => {
    const tokens = i === 0 ? 0 : common(order[i - 1]!, text) / charactersPerToken;
    return sum + Math.floor(tokens / block) * block;
  }, 0);
}

/**
 * Tokens evaluated a second, from texts that no cache holds, as many as make it clear; undefined where it holds all. Their
 * vectors stay in the cache.
 */
export async function probeSpeed(sample: readonly TaskTexts[], encoder: StateEncoder): Promise<number | undefined> {
  const before = { ...encoder.counters };
  const seconds = () => encoder.counters.seconds - before.seconds;
  for (let at = 0; at < sample.length && seconds() < probeSeconds; at += probeTogether) {
    const tasks = sample.slice(at, at + probeTogether);
    await encoder.encode(
      tasks.map(({ first }) => first),
      { overlong: 'refuse' },
    );
    await encoder.encode(
      tasks.flatMap(({ later }) => later),
      { overlong: 'refuse' },
    );
    await setImmediate();
  }
  const tokens = encoder.counters.tokens - before.tokens;
  return tokens > 0 ? tokens / seconds() : undefined;
}

/** The share of texts in [0, 1] that no cache holds. */
export function freshShare(texts: readonly string[], encoder: StateEncoder): number {
  const held = encoder.held(texts).reduce((sum, one) => sum + one, 0);
  return 1 - held / Math.max(1, texts.length);
}

function common(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length++;
  return length;
}

const sumOf = (values: Int32Array) => values.reduce((sum, value) => sum + value, 0);
const mean = (values: Int32Array) => sumOf(values) / Math.max(1, values.length);
