/** Encodes observations of many copies as byte columns. */
import type { SpaceForm } from '../../envs/spaces.js';
import { WorkbenchError } from '../../src/run/errors.js';

const arrays = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;
type Dtype = keyof typeof arrays;
type Numbers = InstanceType<(typeof arrays)[Dtype]>;

/** Column description in the hello reply. */
export interface Column {
  name: string;
  form: Exclude<SpaceForm, { kind: 'dict' }>;
  /** Element type; text is `uint8`, UTF-8. */
  dtype: Dtype;
  /**
   * Layout: `[N, width]` row-major; or counts, int32 [N], followed by all rows at their own lengths.
   * Lists are padded to `[N, width]` on request, with -1, or with 0 for float64.
   */
  layout: 'fixed' | 'ragged';
  /** Numbers per row; the maximum for `ragged`, absent for text. */
  width?: number;
  /** True if the observation itself is the column, rather than one of its fields. */
  whole?: boolean;
}

/** A computed column: writes the row of one observation from `at`, into zeros. */
export type RowWriter = (observation: unknown, into: Float32Array, at: number) => void;

/** Columns of an observation without the mask. @param form undefined: no column */
export function columnsOf(form: SpaceForm | undefined): Column[] {
  if (!form) return [];
  if (form.kind !== 'dict') return [{ ...columnOf('observation', form), whole: true }];
  return Object.entries(form.fields).flatMap(([name, field]) =>
    field.kind === 'dict' || name === 'actionMask' || rowWidth(field) === 0 ? [] : [columnOf(name, field)],
  );
}

const rowWidth = (form: SpaceForm): number | undefined => (form.kind === 'vector' ? form.length : undefined);

/** Column of vectors computed from observations. @param length numbers per vector */
export const vectorColumn = (length: number): Column => columnOf('vector', { kind: 'vector', length });

function columnOf(name: string, form: Column['form']): Column {
  switch (form.kind) {
    case 'discrete':
      return { name, form, dtype: 'int32', layout: 'fixed', width: 1 };
    case 'vector':
      return { name, form, dtype: 'float32', layout: 'fixed', width: form.length };
    case 'list':
      return { name, form, dtype: form.dtype, layout: 'ragged', width: form.maxLength };
    case 'text':
      return { name, form, dtype: 'uint8', layout: 'ragged' };
  }
}

/**
 * Columns requested by a client, in its order; without names, those of fixed width.
 * @param padded lists as rows of fixed width
 * @throws WorkbenchError `usage` for an unknown name
 */
export function chosenColumns(all: readonly Column[], names: readonly string[] | undefined, padded: boolean): Column[] {
  const chosen = names?.map((name) => {
    const column = all.find((one) => one.name === name);
    if (column) return column;
    throw new WorkbenchError('usage', `expected columns of the observation, got ${JSON.stringify(name)}, at hello`, {
      hint: `There are ${all.map((one) => one.name).join(', ') || 'none'}.`,
    });
  });
  const columns = chosen ?? all.filter(({ layout }) => layout === 'fixed');
  if (!padded) return columns;
  return columns.map((column) => {
    if (column.form.kind !== 'list') return column;
    return { ...column, layout: 'fixed', dtype: column.dtype === 'float64' ? 'float64' : 'int32' };
  });
}

/** Bytes of a typed array, without a copy. */
export const bytesOf = (numbers: ArrayBufferView): Uint8Array =>
  new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);

/** Bytes of a column for some observations. @param write set for computed columns */
export function columnBytes(column: Column, observations: readonly unknown[], write?: RowWriter): Uint8Array[] {
  const { name, form, whole } = column;
  if (write) {
    const rows = new Float32Array(observations.length * column.width!);
    observations.forEach((observation, row) => write(observation, rows, row * column.width!));
    return [bytesOf(rows)];
  }
  const valueAt = (row: number): unknown => {
    const observation = observations[row];
    return whole ? observation : (observation as Record<string, unknown>)[name];
  };
  const numbers = (length: number): Numbers => new arrays[column.dtype](length);
  const count = observations.length;
  if (form.kind === 'discrete') {
    const values = new Int32Array(count);
    for (let row = 0; row < count; row++) values[row] = Number(valueAt(row));
    return [bytesOf(values)];
  }
  if (form.kind === 'text') return raggedBytes(observations.map((_, row) => Buffer.from(String(valueAt(row)))));
  if (column.layout === 'ragged') return raggedBytes(observations.map((_, row) => valueAt(row) as Numbers));
  const width = column.width!;
  const rows = numbers(count * width);
  if (form.kind === 'list' && column.dtype === 'int32') rows.fill(-1);
  for (let row = 0; row < count; row++) rows.set(checkedRow(column, valueAt(row)), row * width);
  return [bytesOf(rows)];
}

/** @throws WorkbenchError `failure` for a value that exceeds its row */
function checkedRow({ name, form, width }: Column, value: unknown): Numbers {
  const row = value as Numbers;
  const fits = ArrayBuffer.isView(value) && (form.kind === 'list' ? row.length <= width! : row.length === width);
  if (fits) return row;
  const got = ArrayBuffer.isView(value) ? `${row.length}` : typeof value;
  throw new WorkbenchError('failure', `expected ${width} numbers, got ${got}, at ${name} of an observation`, {
    hint: 'The environment breaks its own observation space: see checkEnv.',
  });
}

function raggedBytes(rows: readonly Numbers[]): Uint8Array[] {
  return [bytesOf(Int32Array.from(rows, ({ length }) => length)), ...rows.map(bytesOf)];
}
