/** Completions by request: a killed evaluation resumes without repeated calls, a finished one is replayed without a model. */
import { z } from 'zod';
import { canonicalJson, configHash } from '../../run/config-values.js';
import { type ErrorCode, exitCodes, WorkbenchError } from '../../run/errors.js';
import { ofShape } from '../../run/read-json.js';
import type { Decision } from '../decision.js';
import type { Dropped } from '../decisions/fit-to-context.js';
import type { Prompt } from '../decisions/render-prompt.js';
import type { Completion, CompletionRequest, LanguageModel } from '../language-model.js';
import { brokenLineHint, type LinePosition, openCheckedLines } from '../../run/json-lines.js';

const text = z.string();
const count = z.int().min(0);
const completionShape = z.object({
  ...{ text, promptTokens: count, cachedTokens: count, completionTokens: count },
  stop: z.enum(['end', 'length']),
  constrained: z.boolean().optional(),
  remarks: z.array(text).readonly().optional(),
});
const headShape = z.object({
  ...{ system: text, head: text },
  plain: z.boolean().optional().describe('the beginning of texts that were scored: no chat template'),
});
const scoreList = z.array(z.number()).describe('log p of each text; JSON numbers keep every bit of a float64');
const tokenCounts = z.array(z.int().min(1));
const scoresShape = z.object({
  ...{ logProbs: scoreList, tokens: tokenCounts },
  ...{ promptTokens: count, cachedTokens: count, completionTokens: count },
});
const priorsShape = z.object({ of: text, texts: z.array(text), logProbs: scoreList, tokens: tokenCounts });
const cutShape = z.object({ history: count, examples: count, evidence: count, candidates: count });
const failureShape = z.object({
  code: z.enum(Object.keys(exitCodes) as ErrorCode[]),
  message: text,
  hint: text.optional(),
});
const cardShape = z.object({
  ...{ id: text, name: text, simulated: z.boolean(), constrained: z.boolean() },
  contextLength: z.number(),
  maxTokens: z.number().optional(),
  temperature: z.number().optional(),
  repeats: z.number().optional(),
  scoresChoices: z.boolean().describe('not read; false in new files'),
  scoresTexts: z.boolean().optional().describe('whether it has `scoreTexts`; said where choices go by likelihood'),
});

type PromptHead = z.output<typeof headShape>;
/** Texts that were scored: log-probabilities, tokens and what it cost, priors that were not known yet included. */
export type StoredScores = z.output<typeof scoresShape>;
/** Prior log-probabilities of texts: `of` is the sha256 (hex) of model and text before them. */
export type StoredPriors = z.output<typeof priorsShape>;

/** Facts about a model for replays without it. */
export type ModelCard = z.output<typeof cardShape>;
export type StoredFailure = z.output<typeof failureShape>;

/** One line, without its checksum. */
const storedLine = z.discriminatedUnion('line', [
  completionShape.extend({ line: z.literal('completion'), key: text, head: text, question: text, phase: text }),
  scoresShape.extend({
    ...{ line: z.literal('scores'), key: text, head: text, question: text, phase: text },
    priors: priorsShape.optional(),
  }),
  headShape.extend({ line: z.literal('head'), key: text }),
  z.object({ line: z.literal('cut'), key: text, cut: cutShape }),
  failureShape.extend({ line: z.literal('failure'), key: text }),
  cardShape.extend({ line: z.literal('model') }),
]);
type StoredLine = z.output<typeof storedLine>;

interface CompletionKey extends Omit<CompletionRequest, 'decision' | 'signal'> {
  model: string;
  /** Knowledge of a simulated model beyond the prompt; empty for real models. */
  salt: string;
}

/** Completions by request; close it after use. */
export type CompletionStore = ReturnType<typeof openCompletionStore>;

/** sha256 (hex) of the canonical JSON of all that a completion depends on. */
export const completionKey = ({ format, ...parts }: CompletionKey): string =>
  configHash({ ...parts, ...(format && { format: JSON.stringify(format) }) });

/** The same of texts that were scored behind `before`; of their priors without `texts`. */
export const scoresKey = (scored: { model: string; before: string; texts?: readonly string[]; salt?: string }) =>
  configHash(scored);

/** The same of a whole prompt, before anything is cut for a context. */
export const promptKey = (model: string, prompt: Prompt): string => configHash({ model, prompt });

/**
 * Opens a store of completions, one file of JSON lines with one writer. Keys and positions are in memory (about 200 bytes a completion).
 * @param readOnly for replays: nothing is created, cut or written
 * @throws WorkbenchError `data` for a broken line before the last, or a missing file that is `readOnly`
 */
export function openCompletionStore(file: string, { readOnly = false } = {}) {
  const completions = new Map<string, LinePosition>();
  // In the order of their last use, which a Map keeps when a key is deleted and set again.
  const heads = new Map<string, LinePosition>();
  const cuts = new Map<string, Dropped>();
  const failures = new Map<string, StoredFailure>();
  const priors = new Map<string, readonly [logProb: number, tokens: number]>();
  let model: ModelCard | undefined;

  const lines = openCheckedLines(file, { readOnly }, (value, position, place) => keep(lineOf(value, place), position));

  function keep(line: StoredLine, position: LinePosition): void {
    if (line.line === 'scores' && line.priors) {
      const { of, texts, logProbs, tokens } = line.priors;
      texts.forEach((one, i) => priors.set(`${of} ${one}`, [logProbs[i]!, tokens[i]!]));
    }
    if (line.line === 'completion' || line.line === 'scores') {
      completions.set(line.key, position);
      const head = heads.get(line.head);
      // Absent when its line was removed: it is written again when needed.
      if (head) {
        heads.delete(line.head);
        heads.set(line.head, head);
      }
    } else if (line.line === 'head') heads.set(line.key, position);
    else if (line.line === 'cut') cuts.set(line.key, line.cut);
    else if (line.line === 'failure') failures.set(line.key, failureShape.parse(line));
    else model = cardShape.parse(line);
  }
  const add = (line: StoredLine) => keep(line, lines.append(line));

  function has(line: StoredLine): boolean {
    if (line.line === 'model') return canonicalJson(cardShape.parse(line)) === canonicalJson(model ?? {});
    const known = { completion: completions, scores: completions, cut: cuts, failure: failures, head: heads };
    return known[line.line].has(line.key);
  }

  function headLine(head: PromptHead): string {
    const key = configHash([head.system, head.head, ...(head.plain ? ['plain'] : [])]);
    if (!heads.has(key)) add({ line: 'head', key, ...head });
    return key;
  }

  return {
    /** Bytes of a last line that a crash left unfinished; it was cut off. */
    truncatedBytes: lines.truncatedBytes,
    readOnly,
    get size() {
      return completions.size;
    },
    get model() {
      return model;
    },
    completion(key: string): Completion | undefined {
      const position = completions.get(key);
      return position && completionShape.parse(lines.read(position));
    },
    addCompletion(key: string, { system, head }: PromptHead, about: About, completion: Completion): void {
      add({ line: 'completion', key, head: headLine({ system, head }), ...named(about), ...completion });
    },
    scores(key: string): StoredScores | undefined {
      const position = completions.get(key);
      return position && scoresShape.parse(lines.read(position));
    },
    /** One line, so that a kill leaves either both or none: what priors cost is part of what the scores cost. */
    addScores(key: string, head: string, about: About, scores: StoredScores, priors: StoredPriors | undefined): void {
      const headKey = headLine({ system: '', head, plain: true });
      add({ line: 'scores', key, head: headKey, ...named(about), ...scores, priors });
    },
    prior: (of: string, one: string) => priors.get(`${of} ${one}`),
    /** Parts cut from a decision to fit the context, by the key of its whole prompt; undefined when nothing was cut. */
    cut: (key: string) => cuts.get(key),
    addCut: (key: string, cut: Dropped) => add({ line: 'cut', key, cut }),
    /** Why a request or a prompt came to nothing: only replays believe it, all others try again. */
    failure: (key: string) => failures.get(key),
    addFailure: (key: string, failure: StoredFailure) => add({ line: 'failure', key, ...failureShape.parse(failure) }),
    describeModel(described: ModelCard): void {
      const line = { line: 'model' as const, ...cardShape.parse(described) };
      if (!has(line)) add(line);
    },
    /** Takes over what another store has and this one has not. @throws WorkbenchError `data` for a broken line before its last */
    takeOver(other: string): void {
      const read = openCheckedLines(other, { readOnly: true }, (value, _, place) => {
        const line = lineOf(value, place);
        if (!has(line)) add(line);
      });
      read.close();
    },
    /** The last distinct heads that a model was asked with, in the order of their last use. */
    lastHeads(limit: number): PromptHead[] {
      return [...heads.values()].slice(-limit).map((position) => headShape.parse(lines.read(position)));
    },
    sync: () => lines.sync(),
    close: () => lines.close(),
  };
}

/** Question and step of a line, for people who read the file. */
type About = Pick<Decision, 'questionId' | 'phase'>;

const named = ({ questionId: question, phase }: About) => ({ question, phase });

const lineOf = (value: unknown, place: string): StoredLine =>
  ofShape(value, storedLine, { what: 'a line of completions', place, hint: brokenLineHint });

/** The model that wrote the store, for replays. @throws WorkbenchError `data` where none ever did */
export function replayModel(store: CompletionStore): LanguageModel {
  if (!store.model) {
    throw new WorkbenchError('data', 'expected completions of a model, got none, at the store of the evaluation', {
      hint: 'Evaluations of agents that ask no model have nothing to replay.',
    });
  }
  const { scoresChoices: _, scoresTexts, ...card } = store.model;
  const refuse = () => Promise.reject(new TypeError('expected no request in a replay, got one'));
  return {
    ...card,
    // Nothing waits in a replay: one question after the other.
    concurrency: 1,
    countTokens() {
      throw new TypeError('expected no token count in a replay, got a request for one');
    },
    complete: refuse,
    scoreTexts: scoresTexts ? refuse : undefined,
    dispose: () => Promise.resolve(),
  };
}
