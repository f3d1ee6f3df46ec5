/** Reads states as text: gives every request the vector of its state's full text, each distinct text encoded once. */
import type { WalkTask } from '../../datasets/walk-sample.js';
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
import type { Graph } from '../../src/kg/graph.js';
import type { StateRequest } from './features/featurizer.js';

/** A state of a task. */
type TaskState = Pick<StateRequest, 'task' | 'state'>;

/** Full texts of states and their vectors. */
export class StateReader {
  /** What all states of a task begin with, trimmed. */
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
    const { matrix, rows, dim } = await this.encoder.encode(texts, { overlong: 'refuse', ...(signal && { signal }) });
    missing.forEach((request, i) => {
      request.vector = matrix.subarray(rows[i]! * dim, (rows[i]! + 1) * dim);
    });
  }

  /** The text of each state. */
  async texts(states: readonly TaskState[]): Promise<string[]> {
    await this.#begin([...new Set(states.map(({ task }) => task))].filter((task) => !this.#beginnings.has(task)));
    return states.map(({ task, state }) => {
      const fields = walkTextFields(this.graph, task, state, this.settings.outPaths);
      return this.#beginnings.get(task)! + walkText(fields, this.settings);
    });
  }

  /** Trims and keeps what the states of tasks begin with. */
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
