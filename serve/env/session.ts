/** Handles the requests of one client: environments behind frames. */
import { z } from 'zod';
import { InvalidAction, ResetNeeded } from '../../envs/env.js';
import type { Autoreset, BatchedEnv, VectorStep } from '../../envs/vector-env.js';
import { kgwalkVersion } from '../../src/run/environment.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { furtherKey, ofShape, parseJson } from '../../src/run/read-json.js';
import {
  bytesOf,
  chosenColumns,
  type Column,
  columnBytes,
  columnsOf,
  type RowWriter,
  vectorColumn,
} from './columns.js';
import { errorBody, frame, type Frame, ops, protocolVersion } from './frames.js';

interface InfoRows {
  rows: readonly number[];
  /** @param at index in `rows` */
  infoOf(row: number, at: number): Record<string, unknown>;
}

/** Not sent: the state is in columns, and episode ends are reported separately. */
const left = new Set(['done', 'final']);

/**
 * JSON of `{begun: {rows, values: {key: [one per row]}}, ended: …}`: numbers, booleans and texts only, null if a row has none. Empty if
 * there are no rows.
 */
function infoBytes(info: Readonly<Record<string, InfoRows>>): Uint8Array {
  const parts = Object.entries(info).filter(([, { rows }]) => rows.length > 0);
  if (parts.length === 0) return new Uint8Array(0);
  return Buffer.from(JSON.stringify(Object.fromEntries(parts.map(([key, one]) => [key, valuesOf(one)]))));
}

function valuesOf({ rows, infoOf }: InfoRows) {
  const values: Record<string, unknown[]> = {};
  rows.forEach((row, at) => {
    const info = infoOf(row, at);
    for (const key of Object.keys(info)) {
      if (left.has(key)) continue;
      const value = info[key];
      if (!['number', 'boolean', 'string'].includes(typeof value)) continue;
      (values[key] ??= new Array<unknown>(rows.length).fill(null))[at] = value;
    }
  });
  return { rows, values };
}

export interface ServedEnv {
  envs: BatchedEnv<unknown>;
  autoreset: Autoreset;
  /** Encoder of observations, as a further column `vector`. */
  vectors?: { length: number; write: RowWriter } | undefined;
  /** Further fields of the hello reply, such as the data set. */
  about?: Readonly<Record<string, unknown>>;
}

const helloSchema = z.strictObject({
  protocol: z.literal(protocolVersion),
  /** Default: those of fixed width. */
  columns: z.array(z.string()).max(256).optional(),
  /** Lists as rows of fixed width. */
  padded: z.boolean().default(false),
});
const resetSchema = z.strictObject({
  seed: z.int().min(0).optional(),
  options: z.array(z.record(z.string(), furtherKey)).optional(),
});

const largestReply = 2 ** 30;

/** Answers the requests of one client. */
export class EnvSession {
  /** Maximum bytes of a request. */
  readonly longest: number;
  readonly #served: ServedEnv;
  readonly #actions: { n: number; first: number };
  readonly #all: readonly Column[];
  readonly #maxActions: number;
  #columns: Column[] | undefined;
  #masked: boolean;
  /** int32 [numEnvs]: length of each action list. */
  #counts: Int32Array;
  #masks = new Uint8Array(0);
  /** uint8 [numEnvs]: 1 where the next step reads an action. */
  #acting: Uint8Array | undefined;

  /** @throws WorkbenchError `usage` for actions that are not integers, and observations without columns */
  constructor(served: ServedEnv) {
    const { envs, vectors } = served;
    const refuse = (expected: string, hint: string) =>
      new WorkbenchError('usage', `expected ${expected}, got another, at ${envs.spec.id}`, { hint });
    const action = envs.actionSpace?.form;
    if (action?.kind !== 'discrete') {
      throw refuse('an environment with discrete actions', 'Its actionSpace is discrete(n) of kgwalk/envs.');
    }
    const vector = vectors ? [vectorColumn(vectors.length)] : [];
    this.#all = [...columnsOf(envs.observationSpace?.form), ...vector];
    if (this.#all.length === 0) {
      const hint = 'Its observationSpace is made of the spaces of kgwalk/envs, such as vector(n).';
      throw refuse('an observation that other programs can read', hint);
    }
    this.#served = served;
    this.#actions = { n: action.n, first: action.first };
    this.#maxActions = envs.columns?.maxActions ?? action.n;
    this.#masked = envs.columns !== undefined;
    this.#counts = new Int32Array(envs.numEnvs);
    this.longest = 2 ** 16 + 256 * envs.numEnvs;
  }

  /** The reply; undefined for `close`. Errors are returned as error frames. */
  answer({ op, body }: Frame): Buffer | undefined {
    try {
      if (op === ops.hello) return frame(op, this.#hello(body));
      if (op === ops.close) return undefined;
      if (op !== ops.reset && op !== ops.step) {
        throw new WorkbenchError('usage', `expected hello, reset, step or close, got op ${op}, at a request`);
      }
      if (!this.#columns) throw new WorkbenchError('usage', 'expected hello first, got another request');
      return frame(op, op === ops.reset ? this.#reset(body) : this.#step(body));
    } catch (error) {
      return frame(ops.error, [errorBody(error)]);
    }
  }

  close(): void {
    this.#served.envs.close();
  }

  /** @throws WorkbenchError `usage` for unknown columns, and for replies beyond 1 GiB */
  #hello(body: Buffer): Uint8Array[] {
    const { envs, autoreset, about } = this.#served;
    const { numEnvs, spec } = envs;
    const maxActions = this.#maxActions;
    const place = { what: 'a greeting', place: 'hello' };
    const asked = ofShape(parseJson(body.toString(), place), helloSchema, place);
    const columns = (this.#columns = chosenColumns(this.#all, asked.columns, asked.padded));
    const width = columns.reduce((sum, one) => sum + (one.layout === 'fixed' ? one.width! * 8 : 0), 0);
    if (numEnvs * (maxActions + 14 + width) > largestReply) {
      const got = `${numEnvs} copies of ${width + maxActions} bytes`;
      throw new WorkbenchError('usage', `expected replies of at most 1 GiB, got ${got}, at hello`, {
        hint: 'Ask for fewer copies or columns, or for lists that are not padded.',
      });
    }
    const reply = {
      protocol: protocolVersion,
      program: `kgwalk ${kgwalkVersion()}`,
      ...{ spec, numEnvs, autoreset, actions: this.#actions, maxActions, columns },
      available: this.#all.map(({ name }) => name),
      longestRequest: this.longest,
      about,
    };
    return [Buffer.from(JSON.stringify(reply))];
  }

  #reset(body: Buffer): Uint8Array[] {
    const { envs } = this.#served;
    const place = { what: 'a reset', place: 'reset' };
    const { seed, options } = ofShape(parseJson(body.toString() || '{}', place), resetSchema, place);
    if (options && options.length !== envs.numEnvs) {
      throw new WorkbenchError('usage', `expected options for ${envs.numEnvs} copies, got ${options.length}, at reset`);
    }
    this.#acting = undefined;
    const step = envs.reset({ seed, options });
    const { infos } = step;
    this.#observe(step);
    this.#acting = Uint8Array.from(infos, (info) => Number(info.done !== true));
    const begun = { rows: Array.from(infos.keys()), infoOf: (row: number) => infos[row]! };
    return this.#reply(step, [], infoBytes({ begun }));
  }

  #step(body: Buffer): Uint8Array[] {
    const { envs, autoreset } = this.#served;
    const { numEnvs } = envs;
    if (body.length !== 4 * numEnvs) {
      throw new WorkbenchError('usage', `expected ${numEnvs} actions of 4 bytes, got ${body.length} bytes, at step`);
    }
    const before = this.#acting;
    if (!before) throw new ResetNeeded(envs.spec.id);
    // Copied: a part of a larger buffer may not be aligned to four bytes.
    const actions = new Int32Array(numEnvs);
    bytesOf(actions).set(body);
    this.#check(actions, before);
    this.#acting = undefined;
    const step = envs.step(actions);
    this.#observe(step);
    const { terminated, truncated, infos } = step;
    const ended: number[] = [];
    const begun: number[] = [];
    const now = before.slice();
    for (let row = 0; row < numEnvs; row++) {
      const ends = terminated[row] === 1 || truncated[row] === 1;
      if (ends) ended.push(row);
      if (ends ? autoreset === 'sameStep' : before[row] === 0 && autoreset === 'nextStep') begun.push(row);
      now[row] = Number(ends ? autoreset === 'sameStep' : before[row] === 1 || autoreset === 'nextStep');
    }
    this.#acting = now;
    const finals = autoreset === 'sameStep' ? ended : [];
    const lasts = finals.map((row) => infos[row]!.final as { observation: unknown; info: Record<string, unknown> });
    const info = infoBytes({
      ended: { rows: ended, infoOf: (row, at) => (autoreset === 'sameStep' ? lasts[at]!.info : infos[row]!) },
      begun: { rows: begun, infoOf: (row) => infos[row]! },
    });
    const last = lasts.map((one) => one.observation);
    return this.#reply(step, [bytesOf(Int32Array.from(finals)), ...this.#bytes(last, false)], info);
  }

  /** @throws InvalidAction before any copy has moved */
  #check(actions: Int32Array, acting: Uint8Array): void {
    for (let row = 0; row < actions.length; row++) {
      if (acting[row] === 0) continue;
      const index = actions[row]! - this.#actions.first;
      const inside = index >= 0 && index < this.#counts[row]!;
      if (inside && (!this.#masked || this.#masks[row * this.#maxActions + index] === 1)) continue;
      const expected = `one of the ${this.#counts[row]} actions that the mask allows for copy ${row}`;
      throw new InvalidAction(this.#served.envs.spec.id, actions[row], expected);
    }
  }

  /** Takes the masks of the current observations. */
  #observe({ observations }: VectorStep<unknown>): void {
    const { columns, numEnvs } = this.#served.envs;
    if (columns) {
      this.#counts = columns.counts;
      this.#masks = columns.masks as Uint8Array<ArrayBuffer>;
      return;
    }
    this.#masked = maskOf(observations[0]) !== undefined;
    if (!this.#masked) return void this.#counts.fill(this.#actions.n);
    this.#masks = new Uint8Array(numEnvs * this.#maxActions);
    for (let row = 0; row < numEnvs; row++) {
      const mask = maskOf(observations[row])!;
      this.#counts[row] = mask.length;
      this.#masks.set(mask, row * this.#maxActions);
    }
  }

  /** @param direct true if the observations are those that the environment holds in columns */
  #bytes(observations: readonly unknown[], direct: boolean): Uint8Array[] {
    const { envs, vectors } = this.#served;
    return this.#columns!.flatMap((column) => {
      const own = direct ? envs.columns?.fields[column.name] : undefined;
      if (own) return [bytesOf(own)];
      return columnBytes(column, observations, column.name === 'vector' ? vectors?.write : undefined);
    });
  }

  #reply(step: VectorStep<unknown>, finals: Uint8Array[], infos: Uint8Array): Uint8Array[] {
    return [
      ...[bytesOf(step.rewards), step.terminated, step.truncated, Uint8Array.of(Number(this.#masked))],
      ...[bytesOf(this.#counts), ...(this.#masked ? [this.#masks] : [])],
      ...this.#bytes(step.observations, true),
      bytesOf(Uint32Array.of((finals[0]?.length ?? 0) / 4)),
      ...finals,
      bytesOf(Uint32Array.of(infos.length)),
      infos,
    ];
  }
}

function maskOf(observation: unknown): Uint8Array | undefined {
  const mask = (observation as { actionMask?: unknown } | null)?.actionMask;
  return mask instanceof Uint8Array ? mask : undefined;
}
