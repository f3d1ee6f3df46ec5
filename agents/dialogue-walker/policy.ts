/** A walker's network with its featurizer, for trainers and beams. */
import type { WalkTask } from '../../datasets/walk-sample.js';
import type { DialogueWalkObservation } from '../../envs/dialogue-walk/dialogue-walk-env.js';
import { numActions, type WalkRules } from '../../envs/dialogue-walk/rules.js';
import {
  taskLines,
  taskText,
  taskTextFields,
  trimmedFields,
  walkText,
  walkTextFields,
} from '../../envs/dialogue-walk/state-text.js';
import type { StateTextSettings } from '../../envs/settings.js';
import type { StateEncoder } from '../../src/encoder/state-encoder.js';
import { type Graph, pathKey } from '../../src/kg/graph.js';
import type { Actor, StateScorer, ValueNetwork } from '../../trainers/actor.js';
import type { Critic } from './critic.js';
import type { Featurizer, StateRequest } from './features/featurizer.js';
import type { WalkerHead, WalkWriter } from './heads/head.js';

/** A network with the featurizer that feeds it. */
export interface Policy {
  head: WalkerHead;
  featurizer: Featurizer;
  /** Present where states are read one by one; must read a request before the featurizer uses it. */
  reader?: StateReader;
}

/** Wraps a policy; disposing one disposes the other. @param forRanking true where no training follows */
export function walkerActor(policy: Policy, forRanking = false): Actor<DialogueWalkObservation, StateRequest> {
  const { head, featurizer, reader } = policy;
  const { graph, rules } = featurizer.parts;
  return {
    parameters: head.parameters,
    precision: head.precision,
    requestOf: ({ task, start, current, hop, path }) => ({ task, state: { start, current, hop, path, done: false } }),
    stateKey: ({ path }) => pathKey(path),
    numScores: ({ state, actions }) => actions?.length ?? numActions(graph, state, rules),
    maxScoresPerBatch: head.maxScoresPerBatch,
    // Larger runs are no longer faster and hold more memory, unless an edge is a number alone.
    maxInferenceScores: head.maxScoresPerBatch ?? 16384,
    prepare: reader && ((requests) => reader.read(requests)),
    score: (requests) => {
      const batch = featurizer.batch(requests);
      return {
        offsets: batch.offsets,
        normalised: head.writer !== undefined,
        logits: (dropout) => head.logits(batch, dropout),
        marginLosses:
          head.marginLosses &&
          ((golds, drawing, dropout) => {
            const indices = Int32Array.from(golds, (gold, s) => batch.offsets[s]! + gold);
            return head.marginLosses!(batch, indices, drawing, dropout);
          }),
        infer: () => (forRanking && head.rank ? head.rank(batch) : head.infer(batch)),
      };
    },
    hold: head.hold && ((requests) => head.hold!(featurizer.batch(requests))),
    weightsChanged: () => head.weightsChanged(),
    dispose: () => head.dispose(),
  };
}

/** Legal walks and the probabilities of their steps. */
export interface WalkScorer {
  graph: Graph;
  rules: WalkRules;
  actor: StateScorer<StateRequest>;
  /** Present where walks may leave the graph; its batches are those of `batch`. */
  writer?: WalkWriter & Pick<Featurizer, 'batch'>;
}

/** Scorer of a policy, or of several. */
export function walkScorer(by: Policy | WalkScorer): WalkScorer {
  if ('actor' in by) return by;
  const { graph, rules } = by.featurizer.parts;
  const { writer } = by.head;
  const batch = (requests: readonly StateRequest[]) => by.featurizer.batch(requests);
  return { graph, rules, actor: walkerActor(by, true), writer: writer && { ...writer, batch } };
}

/** Wraps a critic, with the featurizer of the policy it belongs to; disposing one disposes the other. */
export function walkerValues(critic: Critic, featurizer: Featurizer): ValueNetwork<StateRequest> {
  // The critic reads no actions: none are listed.
  const actions = new Int32Array(0);
  const batchOf = (requests: readonly StateRequest[]) =>
    featurizer.batch(requests.map((request) => ({ ...request, actions })));
  return {
    parameters: critic.parameters,
    values: (requests) => {
      const batch = batchOf(requests);
      return () => critic.values(batch);
    },
    hold: critic.hold && ((requests) => critic.hold!(batchOf(requests))),
    dispose: () => critic.dispose(),
  };
}

type TaskState = Pick<StateRequest, 'task' | 'state'>;

/** Full texts of states and their vectors. */
export class StateReader {
  /** Common beginning of the texts of a task's states, trimmed. */
  readonly #beginnings = new WeakMap<WalkTask, string>();

  /** @param signal aborted: `read` ends with what is encoded by then on disk */
  constructor(
    readonly encoder: StateEncoder,
    readonly graph: Graph,
    readonly settings: StateTextSettings,
    readonly signal?: AbortSignal,
  ) {}

  /**
   * Attaches the vector of its text to each request that has none.
   * @throws WorkbenchError `data` for a text that does not fit the model even without what may be left out, `stopped` once the
   *   signal is aborted
   */
  async read(requests: readonly StateRequest[]): Promise<void> {
    const missing = requests.filter(({ vector }) => vector === undefined);
    if (missing.length === 0) return;
    const texts = await this.texts(missing);
    const { signal } = this;
    const { matrix, rows, dim } = await this.encoder.encode(texts, { overlong: 'refuse', signal });
    missing.forEach((request, i) => {
      request.vector = matrix.subarray(rows[i]! * dim, (rows[i]! + 1) * dim);
    });
  }

  async texts(states: readonly TaskState[]): Promise<string[]> {
    await this.#begin([...new Set(states.map(({ task }) => task))].filter((task) => !this.#beginnings.has(task)));
    return states.map(({ task, state }) => {
      const fields = walkTextFields(this.graph, task, state, this.settings.outPaths);
      return this.#beginnings.get(task)! + walkText(fields, this.settings);
    });
  }

  /** Trims and caches the common beginnings of tasks' state texts. */
  async #begin(tasks: readonly WalkTask[]): Promise<void> {
    if (tasks.length === 0) return;
    const { maxTokens, walkTokens } = this.settings;
    const cut = tasks.map((task) => {
      const fields = taskTextFields(this.graph, task);
      return { fields, lines: taskLines(fields, this.settings) };
    });
    const pieces = cut.flatMap(({ lines: { kept, messages, earlierPaths } }) => [
      kept,
      ...[...messages, ...earlierPaths].map((line) => `${line}\n`),
    ]);
    const counts = (await this.encoder.countTokens(pieces)).values();
    const take = (count: number) => Array.from({ length: count }, () => counts.next().value as number);
    cut.forEach(({ fields, lines }, i) => {
      const [kept] = take(1);
      const tokens = {
        kept: kept!,
        messages: take(lines.messages.length),
        earlierPaths: take(lines.earlierPaths.length),
      };
      this.#beginnings.set(tasks[i]!, taskText(trimmedFields(fields, tokens, maxTokens - walkTokens), this.settings));
    });
  }
}
