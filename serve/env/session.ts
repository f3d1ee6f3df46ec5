/** Handles the requests of one client: environments behind frames. */
import { z } from 'zod';
import { InvalidAction, ResetNeeded } from '../../envs/env.js';
import type { Autoreset, BatchedEnv, VectorStep } from '../../envs/vector-env.js';
import { kgwalkVersion } from '../../src/run/environment.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { ofShape, parseJson } from '../../src/run/read-json.js';
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

/** Rows of copies with their info. */
interface InfoRows {
  rows: readonly number[];
  /** @param at index in `rows` */
  infoOf(row: number, at: number): Record<string, unknown>;
}

/** Not sent: the state is in columns, and episode ends are reported separately. */
const left = new Set(['done', 'final']);

/**
 * JSON of `{begun: {rows, values: {key: [one per row]}}, ended: …}`: numbers, booleans and texts only, null if a row
 * has none.
 * Empty if there are no rows.
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

/** Dependencies of a session. */
export interface ServedEnv {
  envs: BatchedEnv<unknown>;
  autoreset: Autoreset;
  /** Encoder of observations, as a further column `vector`. */
  vectors?: { length: number; write: RowWriter } | undefined;
  /** Further fields of the hello reply, such as the data set. */
  about?: Readonly<Record<string, unknown>>;
}

/** A client's session. */
export interface EnvSession {
  /** Maximum bytes of a request. */
  readonly longest: number;
  /** The reply; undefined for `close`. Errors are returned as error frames. */
  answer(request: Frame): Buffer | undefined;
  close(): void;
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
  options: z.array(z.record(z.string(), z.unknown())).optional(),
});

const largestReply = 2 ** 30;

/** @throws WorkbenchError `usage` for actions that are not integers, and for replies beyond 1 GiB */
export function envSession({ envs, autoreset, vectors, about }: ServedEnv): EnvSession {
  const { numEnvs, spec } = envs;
  const action = envs.actionSpace?.form;
  if (action?.kind !== 'discrete') {
    throw new WorkbenchError('usage', `expected an environment with discrete actions, got another, at ${spec.id}`, {
      hint: 'Its actionSpace is discrete(n) of kgwalk/envs.',
    });
  }
  const { n, first } = action;
  const all = [...columnsOf(envs.observationSpace?.form), ...(vectors ? [vectorColumn(vectors.length)] : [])];
  if (all.length === 0) {
    throw new WorkbenchError(
      'usage',
      `expected an observation that other programs can read, got another, at ${spec.id}`,
      {
        hint: 'Its observationSpace is made of the spaces of kgwalk/envs, such as vector(n).',
      },
    );
  }
  const maxActions = envs.columns?.maxActions ?? n;
  let columns: Column[] | undefined;
  let masked = envs.columns !== undefined;
  let counts = new Int32Array(numEnvs);
  let masks = new Uint8Array(0);
  /** uint8 [numEnvs]: 1 where the next step reads an action. */
  let acting: Uint8Array | undefined;

  function observe({ observations }: VectorStep<unknown>): void {
    if (envs.columns) {
      ({ counts, masks } = envs.columns as { counts: Int32Array<ArrayBuffer>; masks: Uint8Array<ArrayBuffer> });
      return;
    }
    masked = maskOf(observations[0]) !== undefined;
    if (!masked) return void counts.fill(n);
    masks = new Uint8Array(numEnvs * maxActions);
    for (let row = 0; row < numEnvs; row++) {
      const mask = maskOf(observations[row])!;
      counts[row] = mask.length;
      masks.set(mask, row * maxActions);
    }
  }

  function observation(of: readonly Column[], observations: readonly unknown[], direct: boolean): Uint8Array[] {
    return of.flatMap((column) => {
      const own = direct ? envs.columns?.fields[column.name] : undefined;
      return own
        ? [bytesOf(own)]
        : columnBytes(column, observations, column.name === 'vector' ? vectors?.write : undefined);
    });
  }

  /** @throws InvalidAction before any copy has moved */
  function check(actions: Int32Array): void {
    for (let row = 0; row < numEnvs; row++) {
      if (acting![row] === 0) continue;
      const place = actions[row]! - first;
      const inside = place >= 0 && place < counts[row]!;
      if (inside && (!masked || masks[row * maxActions + place] === 1)) continue;
      throw new InvalidAction(
        spec.id,
        actions[row],
        `one of the ${counts[row]} actions that the mask allows for copy ${row}`,
      );
    }
  }

  function hello(body: Buffer): Uint8Array[] {
    const place = { what: 'a greeting', place: 'hello' };
    const asked = ofShape(parseJson(body.toString(), place), helloSchema, place);
    columns = chosenColumns(all, asked.columns, asked.padded);
    const width = columns.reduce((sum, one) => sum + (one.layout === 'fixed' ? one.width! * 8 : 0), 0);
    if (numEnvs * (maxActions + 14 + width) > largestReply) {
      throw new WorkbenchError(
        'usage',
        `expected replies of at most 1 GiB, got ${numEnvs} copies of ${width + maxActions} bytes, at hello`,
        {
          hint: 'Ask for fewer copies or columns, or for lists that are not padded.',
        },
      );
    }
    const reply = {
      protocol: protocolVersion,
      program: `kgwalk ${kgwalkVersion()}`,
      ...{ spec, numEnvs, autoreset, actions: { n, first }, maxActions },
      columns,
      available: all.map(({ name }) => name),
      longestRequest: longest,
      about,
    };
    return [Buffer.from(JSON.stringify(reply))];
  }

  function reset(body: Buffer): Uint8Array[] {
    const place = { what: 'a reset', place: 'reset' };
    const { seed, options } = ofShape(parseJson(body.toString() || '{}', place), resetSchema, place);
    if (options && options.length !== numEnvs) {
      throw new WorkbenchError('usage', `expected options for ${numEnvs} copies, got ${options.length}, at reset`);
    }
    acting = undefined;
    const step = envs.reset({ ...(seed !== undefined && { seed }), ...(options && { options }) });
    observe(step);
    acting = Uint8Array.from(step.infos, (info) => Number(info.done !== true));
    const { infos } = step;
    return stepParts(step, [], infoBytes({ begun: { rows: Array.from(infos.keys()), infoOf: (row) => infos[row]! } }));
  }

  function takeStep(body: Buffer): Uint8Array[] {
    if (body.length !== 4 * numEnvs) {
      throw new WorkbenchError('usage', `expected ${numEnvs} actions of 4 bytes, got ${body.length} bytes, at step`);
    }
    if (!acting) throw new ResetNeeded(spec.id);
    // Copied: a part of a larger buffer may not be aligned to four bytes.
    const actions = new Int32Array(numEnvs);
    bytesOf(actions).set(body);
    check(actions);
    const before = acting;
    acting = undefined;
    const step = envs.step(actions);
    observe(step);
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
    acting = now;
    const finals = autoreset === 'sameStep' ? ended : [];
    const finalOf = (row: number) => infos[row]!.final as { observation: unknown; info: Record<string, unknown> };
    const lasts = finals.map(finalOf);
    const info = infoBytes({
      ended: { rows: ended, infoOf: (row, at) => (autoreset === 'sameStep' ? lasts[at]!.info : infos[row]!) },
      begun: { rows: begun, infoOf: (row) => infos[row]! },
    });
    const last = lasts.map((one) => one.observation);
    return stepParts(step, [bytesOf(Int32Array.from(finals)), ...observation(columns!, last, false)], info);
  }

  function stepParts(step: VectorStep<unknown>, finals: Uint8Array[], infos: Uint8Array): Uint8Array[] {
    return [
      ...[bytesOf(step.rewards), step.terminated, step.truncated, Uint8Array.of(Number(masked))],
      ...[bytesOf(counts), ...(masked ? [masks] : [])],
      ...observation(columns!, step.observations, true),
      bytesOf(Uint32Array.of((finals[0]?.length ?? 0) / 4)),
      ...finals,
      bytesOf(Uint32Array.of(infos.length)),
      infos,
    ];
  }

  const longest = 2 ** 16 + 256 * numEnvs;
  return {
    longest,
    answer({ op, body }) {
      try {
        if (op === ops.hello) return frame(op, hello(body));
        if (op === ops.close) return undefined;
        if (op !== ops.reset && op !== ops.step) {
          throw new WorkbenchError('usage', `expected hello, reset, step or close, got op ${op}, at a request`);
        }
        if (!columns) throw new WorkbenchError('usage', 'expected hello first, got another request');
        return frame(op, op === ops.reset ? reset(body) : takeStep(body));
      } catch (error) {
        return frame(ops.error, [errorBody(error)]);
      }
    },
    close: () => envs.close(),
  };
}

function maskOf(observation: unknown): Uint8Array | undefined {
  const mask = (observation as { actionMask?: unknown } | null)?.actionMask;
  return mask instanceof Uint8Array ? mask : undefined;
}
