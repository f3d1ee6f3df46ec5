/** The options of commands that evaluate, compare and ask, as the command line gives them. */
import type { HoldOut } from '../datasets/questions/question-manifest.js';
import type { AskedEvaluation } from '../evaluation/keep.js';
import { WorkbenchError } from '../src/run/errors.js';

const mostThreads = 256;

/** Choice modes of prompted agents. */
export const choiceModes = ['written', 'likelihood'] as const;
/** See `ClientSettings.choices`. */
export type Choices = (typeof choiceModes)[number];

/** The samples that are evaluated, and the graph that is walked. */
export interface DataFlags {
  dataset?: string;
  split?: string;
  limit?: string;
  graph?: string;
  /** A kept evaluation that is replayed: what it was asked by goes before runs and defaults. */
  kept?: AskedEvaluation;
  /** Options of dialogues. */
  turns?: string;
  data?: string;
  count?: 'strict' | 'ark';
  /** Options of questions. */
  questions?: string;
  holdOut?: HoldOut;
  seed?: string;
  withholdHops?: boolean;
  giveHops?: boolean;
  /** Trained agents and prompts are compared, which are to be given the same. */
  alike?: boolean;
  /** Options of links. */
  direction?: 'tail' | 'head' | 'both';
  /** Options of an environment of episodes, without a run. */
  envOptions?: Record<string, unknown>;
}

/** Agents, and the models that they ask or are made of. */
export interface AgentFlags {
  agent?: string;
  checkpoint: string;
  /** Switches of untrained agents, for all that are named: `stateful=false`. */
  set: string[];
  encoder?: string;
  backend?: string;
  threads?: string;
  beamWidth?: string;
  twoHopBonus?: string;
  /** Preset by which link embeddings are trained. */
  config?: string;
  /** Language model, and how often and how it is asked. */
  model?: string;
  modelSet: string[];
  budget?: string;
  budgetMode?: 'strict' | 'reference';
  choices?: Choices;
}

/** Results: where they are kept, and how much of them is shown. */
export interface ResultFlags {
  /** Folder for evaluations. */
  evaluations?: string;
  predictions?: string;
  /** One question of `ask`: on dialogues where it starts and what was said before. */
  start?: string;
  dialogue?: string;
  top?: string;
  trace?: boolean;
}

/** Options of `evaluate`, `compare` and `ask`; a task names those that it reads. */
export interface EvaluationFlags extends DataFlags, AgentFlags, ResultFlags {}

/** Options of `predict`. */
export interface PredictFlags extends EvaluationFlags {
  /** Default: all that train has. */
  relation: string[];
  /** The best of each relation rather than of all together. */
  each?: boolean;
  allHeads?: boolean;
}

/** Options of `rules show`. */
export interface RuleFlags {
  /** Default: all. */
  relation: string[];
  top: string;
}

/** Options where none are given. */
export const usualFlags: EvaluationFlags = { checkpoint: 'best', set: [], modelSet: [] };

/**
 * A whole number as options give it: `200`, `2e2`; undefined where the option is absent.
 * @throws WorkbenchError `usage` for anything but a whole number from `least` to `most`
 */
export function wholeNumber(text: string, flag: string, least: number, most?: number): number;
/** The same of an option that may be absent. */
export function wholeNumber(text: string | undefined, flag: string, least: number, most?: number): number | undefined;
/** See above. */
export function wholeNumber(text: string | undefined, flag: string, least: number, most?: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  const fits = value >= least && value <= (most ?? Number.MAX_SAFE_INTEGER);
  if (text.trim() !== '' && Number.isInteger(value) && fits) return value;
  const range = most === undefined ? `from ${least}` : `from ${least} to ${most}`;
  throw new WorkbenchError('usage', `expected a whole number ${range}, got ${JSON.stringify(text)}, at ${flag}`);
}

/** A split by name. @throws WorkbenchError `usage` for one that is not `known` */
export function splitOf<Name extends string>(split: string, known: readonly Name[], hint?: string): Name {
  const found = known.find((name) => name === split);
  if (found !== undefined) return found;
  const names = known.join(', ').replace(/, (\w+)$/, ' or $1');
  throw new WorkbenchError('usage', `expected ${names}, got ${split}, at --split`, { hint });
}

/** Processor threads, 1 by default. @throws WorkbenchError `usage` unless it is a whole number from 1 to 256 */
export const threadsOf = (text: string | undefined): number => wholeNumber(text, '--threads', 1, mostThreads) ?? 1;

/** The option of a key: `--beam-width` of `beamWidth`. */
export const flagOf = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Calls a question may cost where nothing else is asked for: what FiSKE's paper grants every method. */
const defaultBudget = 30;

/** Calls a question may cost; null for none. @throws WorkbenchError `usage` */
export function budgetOf(text: string | undefined): number | null {
  if (text === undefined) return defaultBudget;
  if (text === 'none') return null;
  const calls = Number(text);
  if (Number.isInteger(calls) && calls >= 1) return calls;
  throw new WorkbenchError('usage', `expected a whole number of calls from 1, or none, got ${text}, at --budget`, {
    hint: 'One call is kept for the answer, so 1 leaves the answer alone.',
  });
}
