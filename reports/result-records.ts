/** Results as records: `docs/results/*.yaml`, a record a row, read by `kgwalk results` and by the page of results. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { WorkbenchError } from '../src/run/errors.js';
import { readTextFile } from '../src/run/files.js';
import { packageRoot } from '../src/run/locations.js';
import { ofShape } from '../src/run/read-json.js';
import { deviation as deviationOf } from '../src/metrics/intervals.js';

const command = z.string().regex(/^kgwalk (train|evaluate) \S/);

/** Keys of files, tables and rows alike; the nearest counts. */
const shared = {
  /** Data set by the name it is imported under. */
  data: z.string(),
  split: z.enum(['train', 'valid', 'test']),
  /** Samples evaluated; of link queries triples, each asked for head and tail. */
  n: z.int().positive(),
  seeds: z.array(z.int()).nonempty(),
  /** Commands that train, without the seed. `{agent}` and `{with}` stand for those of the row. */
  train: z.array(command),
  /** `RUN` stands for each trained run in turn, `RUNS` for all of them as one, joined by `+`. */
  evaluate: command,
  /** Key of the first figure in `evaluation.json`, where it is not its name in lower case. */
  key: z.string(),
  /** Day of the measurement. */
  measured: z.iso.date(),
  machine: z.string(),
  /** False: a record alone, not on the page. */
  page: z.boolean(),
  /** Commit at which the figures came into the repository. */
  commit: z.string().regex(/^[0-9a-f]{8,40}$/),
};

const row = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9@.-]+$/),
    agent: z.string(),
    /** Title of the row, where the agent's name is not enough. */
    title: z.string().optional(),
    /** More options of the commands. */
    with: z.string().optional(),
    /** Values of the table's figures, in their order. Rates are in percent. */
    figures: z.array(z.number().nullable()),
    /** 95 % interval of the first figure. */
    interval: z.tuple([z.number(), z.number()]).optional(),
    /** Standard deviation of the first figure over the seeds. */
    sd: z.number().optional(),
    /** First figure by seed. */
    bySeed: z.array(z.number()).optional(),
    /** Processor seconds of training. */
    seconds: z.number().optional(),
    parameters: z.int().optional(),
    /** Source of a figure that was not measured here. */
    published: z.string().optional(),
    ...z.object(shared).partial().shape,
  })
  .refine(({ figures }) => typeof figures[0] === 'number', 'expected a first figure');

const table = z.strictObject({
  title: z.string(),
  /** The figures of its rows; the first is the one that is checked. */
  figures: z.array(z.string()).nonempty(),
  /** Those that the page shows (default: all). */
  columns: z.array(z.string()).optional(),
  /** Markdown above and below the table. */
  about: z.string().optional(),
  says: z.string().optional(),
  rows: z.array(row).nonempty(),
  ...z.object(shared).partial().shape,
});

const file = z.strictObject({
  title: z.string(),
  /** Place on the page, from 1. */
  place: z.int(),
  task: z.enum(['dialogues', 'questions', 'links', 'environments']),
  about: z.string().optional(),
  tables: z.array(table),
  ...z.object(shared).partial().shape,
});

type Row = z.output<typeof row>;
type File = z.output<typeof file>;

/** A row with all that holds for it. */
export interface ResultRecord extends Omit<Row, 'figures' | 'with' | 'train'> {
  task: File['task'];
  table: string;
  figures: Record<string, number>;
  train: string[];
}

/** A table of the page. */
export interface ResultTable extends Omit<z.output<typeof table>, 'rows'> {
  records: ResultRecord[];
}

/** A section of the page: one file. */
export interface ResultSection extends Pick<File, 'title' | 'about'> {
  tables: ResultTable[];
}

/** Folder of this package’s records. */
const recordsFolder = (): string => join(packageRoot(), 'docs', 'results');

/**
 * All records, in the order of the page.
 * @throws WorkbenchError `data` for a file of another shape, an id that occurs twice, and a row that has neither a command nor a source
 */
export function readResults(folder = recordsFolder()): ResultSection[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  const files = names.map((name) => {
    const place = join(folder, name);
    return ofShape(parse(readTextFile(place, 'records of results')), file, { what: 'records of results', place });
  });
  const sections = files
    .sort((a, b) => a.place - b.place)
    .map(({ title, about, place: _, task, tables, ...ofFile }) => ({
      ...{ title, about },
      tables: tables.map(({ rows, ...one }): ResultTable => {
        return { ...one, records: rows.map((each) => recordOf(each, one, { task, ...ofFile })) };
      }),
    }));
  const ids = recordsOf(sections).map(({ id }) => id);
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  if (twice === undefined) return sections;
  throw new WorkbenchError('data', `expected an id of its own for each row, got ${twice} twice, at ${folder}`);
}

export const recordsOf = (sections: readonly ResultSection[]): ResultRecord[] =>
  sections.flatMap(({ tables }) => tables.flatMap(({ records }) => records));

function recordOf(
  { figures, with: more = '', ...own }: Row,
  {
    title,
    figures: names,
    about: _about,
    says: _says,
    columns: _columns,
    ...ofTable
  }: Omit<z.output<typeof table>, 'rows'>,
  { task, ...ofFile }: Partial<File> & Pick<File, 'task'>,
): ResultRecord {
  const { train = [], evaluate, ...common } = { ...ofFile, ...ofTable };
  const isOurs = own.published === undefined;
  if (isOurs && (own.evaluate ?? evaluate) === undefined) {
    throw new WorkbenchError('data', `expected a command or a published source, got neither, at row ${own.id}`);
  }
  const filled = (text: string) =>
    text.replace('{agent}', own.agent).replace('{with}', more).replaceAll('  ', ' ').trim();
  const values = names.flatMap((name, i) => (typeof figures[i] === 'number' ? [[name, figures[i]] as const] : []));
  const { data, split, n } = common;
  const inherited = isOurs ? common : { data, split: own.split ?? split, n: own.n ?? n };
  return {
    ...inherited,
    ...own,
    ...{ task, table: title, figures: Object.fromEntries(values) },
    train: isOurs ? (own.train ?? train).map(filled) : [],
    evaluate: isOurs ? filled((own.evaluate ?? evaluate)!) : undefined,
  };
}

/** Name of the figure that the interval belongs to and its value. */
export const mainFigureOf = ({ figures }: ResultRecord): [name: string, value: number] => Object.entries(figures)[0]!;

/** A row next to a new measurement. */
export interface RowCheck {
  figure: string;
  expected: number;
  measured: number;
  /** Interval of the row, or two standard deviations over seeds around its mean; that of the measurement where the row has neither. */
  interval: [low: number, high: number];
  of: 'row' | 'measurement';
  /** True where the interval of one holds the figure of the other. */
  holds: boolean;
}

/** Compares a row with a new measurement. @param own interval of the new measurement */
export function checkRow(record: ResultRecord, measured: number, own: [low: number, high: number]): RowCheck {
  const [figure, expected] = mainFigureOf(record);
  const { bySeed, sd = bySeed && deviationOf(bySeed) } = record;
  const ofRow = record.interval ?? (sd === undefined ? undefined : [expected - 2 * sd, expected + 2 * sd]);
  const [low, high] = ofRow ?? own;
  const inside = ofRow ? measured : expected;
  const holds = low <= inside && inside <= high;
  return { figure, expected, measured, interval: [low, high], of: ofRow ? 'row' : 'measurement', holds };
}

/** The commands of a row as one types them, seeds included. */
export function commandsOf({ train, evaluate, seeds = [] }: ResultRecord): string[] {
  const option = seeds.length === 0 ? '' : seeds.length === 1 ? ` --seed ${seeds[0]}` : ` --seeds ${seeds.join(',')}`;
  return [...train.map((one) => one + option), ...(evaluate === undefined ? [] : [evaluate])];
}
