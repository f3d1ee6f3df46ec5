/**
 * What models wrote, by what they were asked: with it an evaluation that was killed goes on without asking twice, and a
 * finished one is replayed without a model.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson } from '../../run/config.js';
import { type ErrorCode, exitCodes, WorkbenchError } from '../../run/errors.js';
import { ofShape } from '../../run/read-json.js';
import type { Dropped } from '../decisions/fit-to-context.js';
import type { Prompt } from '../decisions/render-prompt.js';
import type { Completion, CompletionRequest, LanguageModel } from '../language-model.js';
import { brokenLineHint, type LinePosition, openCheckedLines } from '../../run/json-lines.js';

/** What a replay has to know of a model that is not there. */
export interface ModelCard extends Pick<LanguageModel, 'id' | 'name' | 'simulated' | 'constrained' | 'contextLength'> {
  /** Whether it has `scoreChoices`. */
  scoresChoices: boolean;
}

/** Why a model gave no reply, as its error says it. */
export interface StoredFailure {
  code: ErrorCode;
  message: string;
  hint?: string;
}

/** The shared beginning of prompts. */
type PromptHead = Pick<CompletionRequest, 'system' | 'head'>;

/** One line, without its checksum. */
type StoredLine =
  | ({ line: 'completion'; key: string; head: string; question: string; phase: string } & Completion)
  | ({ line: 'head'; key: string } & PromptHead)
  | { line: 'cut'; key: string; cut: Dropped }
  | ({ line: 'failure'; key: string } & StoredFailure)
  | ({ line: 'model' } & ModelCard);

const text = z.string();
const count = z.int().min(0);
const line = <Kind extends string>(kind: Kind) => ({ line: z.literal(kind) });

/** The shape of a line. */
const storedLine: z.ZodType<StoredLine> = z.discriminatedUnion('line', [
  z.object({
    ...line('completion'),
    ...{ key: text, head: text, question: text, phase: text },
    text,
    promptTokens: count,
    cachedTokens: count,
    completionTokens: count,
    stop: z.enum(['end', 'length']),
    constrained: z.boolean().optional(),
  }),
  z.object({ ...line('head'), key: text, system: text, head: text }),
  z.object({
    ...line('cut'),
    key: text,
    cut: z.object({ history: count, examples: count, evidence: count, candidates: count }),
  }),
  z.object({
    ...line('failure'),
    key: text,
    code: z.enum(Object.keys(exitCodes) as ErrorCode[]),
    message: text,
    hint: text.optional(),
  }),
  z.object({
    ...line('model'),
    ...{ id: text, name: text, simulated: z.boolean(), constrained: z.boolean() },
    contextLength: z.number(),
    scoresChoices: z.boolean(),
  }),
]);

/** Everything that a completion depends on. */
interface CompletionKey extends Omit<CompletionRequest, 'decision' | 'signal'> {
  /** `LanguageModel.id`. */
  model: string;
  /** Beginnings that were scored, where nothing was written. */
  choices?: readonly string[];
  /** What a simulated model knows beside the prompt; empty for real ones, whose equal prompts share a completion. */
  salt: string;
}

/** What a model wrote, by what it was asked; close it after use. */
export interface CompletionStore {
  /** Bytes of a last line that a crash left unfinished; it was cut off. */
  readonly tornBytes: number;
  /** Completions in it. */
  readonly size: number;
  readonly readOnly: boolean;
  /** The model that wrote last. */
  readonly model: ModelCard | undefined;
  completion(key: string): Completion | undefined;
  /** @param about for people who read the file */
  addCompletion(
    key: string,
    head: PromptHead,
    about: { question: string; phase: string },
    completion: Completion,
  ): void;
  /** How a decision was cut to fit a context, by the key of its whole prompt; absent for one that was not. */
  cut(key: string): Dropped | undefined;
  addCut(key: string, cut: Dropped): void;
  /** Why a request or a prompt came to nothing: only replays believe it, all others try again. */
  failure(key: string): StoredFailure | undefined;
  addFailure(key: string, failure: StoredFailure): void;
  describeModel(card: ModelCard): void;
  /** The last distinct heads that a model was asked with, in the order of their last use. */
  lastHeads(limit: number): PromptHead[];
  sync(): void;
  close(): void;
}

/** sha256 (hex) of the canonical JSON of all that a completion depends on. */
export function completionKey({ format, ...parts }: CompletionKey): string {
  // Formats are long, and made in one order by one place: as text they need no sorting.
  return hashOf({ ...parts, ...(format && { format: JSON.stringify(format) }) });
}

/** The same of a whole prompt, before anything is cut for a context. */
export function promptKey(model: string, prompt: Prompt): string {
  return hashOf({ model, prompt });
}

/**
 * Opens a store of completions, one file of JSON lines; there must be one writer, which the caller sees to. In memory are
 * keys and positions (about 200 bytes a completion), the texts stay on disk.
 * @param readOnly nothing is created, cut or written: for replays
 * @throws WorkbenchError `data` for a broken line before the last, or a missing file that is `readOnly`
 */
export function openCompletionStore(file: string, { readOnly = false } = {}): CompletionStore {
  const completions = new Map<string, LinePosition>();
  // In the order of their last use, which a Map keeps when a key is deleted and set again.
  const heads = new Map<string, LinePosition>();
  const cuts = new Map<string, Dropped>();
  const failures = new Map<string, StoredFailure>();
  let model: ModelCard | undefined;

  const lines = openCheckedLines(file, { readOnly }, (value, position, place) =>
    keep(ofShape(value, storedLine, { what: 'a line of completions', place, hint: brokenLineHint }), position),
  );

  function keep(line: StoredLine, position: LinePosition): void {
    if (line.line === 'completion') {
      completions.set(line.key, position);
      const head = heads.get(line.head);
      // Absent where somebody took its line out: it is written again when it is next needed.
      if (head) {
        heads.delete(line.head);
        heads.set(line.head, head);
      }
    } else if (line.line === 'head') heads.set(line.key, position);
    else if (line.line === 'cut') cuts.set(line.key, line.cut);
    else if (line.line === 'failure') failures.set(line.key, failureOf(line));
    else model = cardOf(line);
  }
  const add = (line: StoredLine) => keep(line, lines.append(line));
  const read = <Kind extends StoredLine['line']>(position: LinePosition) =>
    lines.read(position) as Extract<StoredLine, { line: Kind }>;

  return {
    tornBytes: lines.tornBytes,
    get size() {
      return completions.size;
    },
    readOnly,
    get model() {
      return model;
    },
    completion(key) {
      const position = completions.get(key);
      if (!position) return undefined;
      const {
        line: _line,
        key: _key,
        head: _head,
        question: _question,
        phase: _phase,
        ...completion
      } = read<'completion'>(position);
      return completion;
    },
    addCompletion(key, { system, head }, about, completion) {
      const headKey = hashOf([system, head]);
      if (!heads.has(headKey)) add({ line: 'head', key: headKey, system, head });
      add({ line: 'completion', key, head: headKey, ...about, ...completion });
    },
    cut: (key) => cuts.get(key),
    addCut(key, cut) {
      add({ line: 'cut', key, cut });
    },
    failure: (key) => failures.get(key),
    addFailure(key, failure) {
      add({ line: 'failure', key, ...failureOf(failure) });
    },
    describeModel(described) {
      const card = cardOf(described);
      if (canonicalJson(card) !== canonicalJson(model ?? {})) add({ line: 'model', ...card });
    },
    lastHeads(limit) {
      const last = [...heads.values()].slice(-limit);
      return last.map((position) => {
        const { system, head } = read<'head'>(position);
        return { system, head };
      });
    },
    sync: () => lines.sync(),
    close: () => lines.close(),
  };
}

function cardOf({ id, name, simulated, constrained, contextLength, scoresChoices }: ModelCard): ModelCard {
  return { id, name, simulated, constrained, contextLength, scoresChoices };
}

function failureOf({ code, message, hint }: StoredFailure): StoredFailure {
  return { code, message, ...(hint !== undefined && { hint }) };
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

/**
 * Stands in for the model that wrote the store, so that an evaluation runs again without it.
 * @throws WorkbenchError `data` where no model ever wrote the store
 */
export function replayModel(store: CompletionStore): LanguageModel {
  if (!store.model) {
    throw new WorkbenchError('data', 'expected completions of a model, got none, at the store of the evaluation', {
      hint: 'Evaluations of agents that ask no model have nothing to replay.',
    });
  }
  const { scoresChoices, ...card } = store.model;
  const refuse = () => Promise.reject(new TypeError('expected no request in a replay, got one'));
  return {
    ...card,
    // Nothing waits in a replay: one question after the other.
    concurrency: 1,
    countTokens() {
      throw new TypeError('expected no token count in a replay, got a request for one');
    },
    complete: refuse,
    ...(scoresChoices && { scoreChoices: refuse }),
    dispose: () => Promise.resolve(),
  };
}
