/** LLM-ARK's two tables with our runs of its walker next to the paper's rows. */
import { basename } from 'node:path';
import { z } from 'zod';
import { openObject } from '../src/run/read-json.js';
import type { Cell, PartView, Table } from './html.js';
import type { ResultRow, ResultSet } from './results.js';
import type { RunGroup, Subject } from './run-data.js';
import { figureCell } from './tables.js';
import { percent } from './format.js';

/** The k values of the paper's path@k and target@k. */
export const printedKs = [1, 3, 5, 10, 25] as const;

/** A row of the paper: path@k, then target@k, for each of `printedKs`. */
type PrintedRow = { system: string; path: readonly string[]; target: readonly string[] };

const row = (system: string, path: string, target = '- - - - -'): PrintedRow => {
  const printed = (texts: string) => texts.split(' ').map((text) => (text === '-' ? '' : text));
  return { system, path: printed(path), target: printed(target) };
};

const full = row('LLaMA-2-7B-ARK', '16.59 27.17 34.85 47.88 62.32', '36.39 53.63 65.68 80.20 89.68');

/** Systems of the literature; the paper's own come last. */
export const printedSystems: readonly PrintedRow[] = [
  row('Tri-LSTM', '3.2 14.2 22.6 36.3 56.2'),
  row('Seq2Seq', '3.1 18.3 29.7 44.1 60.2'),
  row('DialKG Walker', '13.2 26.1 35.3 47.9 62.2'),
  row('Seq2Path', '14.92 24.95 31.1 38.68 48.15', '15.65 27.04 33.86 42.52 53.28'),
  row('AttnFlow', '17.37 24.84 30.68 39.48 51.4', '18.97 36.23 45.48 58.84 71.35'),
  row('AttnIO', '23.72 37.53 43.57 52.17 62.86', '24.98 43.78 53.49 65.48 78.79'),
  row('HiTKG', '25.99 38.67 49.18 59.32 71.27', '31.11 46.29 55.59 71.61 86.09'),
  row('T5-DiffKG', '- - - - -', '26.80 54.33 61.75 - -'),
  row('GPT-4-Standard', '0.007 - - - -', '14.91 - - - -'),
  row('GPT-4-Normal', '0.02 - - - -', '13.30 - - - -'),
  row('GPT-4-OPA', '0.09 - - - -', '12.19 - - - -'),
  full,
];

/** The paper's ablations by the part they leave out; all but FP32 compute in bfloat16. */
export const printedModels = {
  full,
  UI: row('LLaMA-2-7B-ARK-UI', '16.87 27.01 34.35 47.67 63.03', '34.70 52.02 62.66 78.09 88.65'),
  FP32: row('LLaMA-2-7B-ARK-FP32', '14.59 24.64 32.24 45.80 61.75', '34.35 52.57 62.51 79.18 88.51'),
  WT: row('LLaMA-2-7B-ARK-WT', '1.10 3.44 5.71 10.47 15.42', '9.45 19.46 50.94 71.43 94.03'),
  WP: row('LLaMA-2-7B-ARK-WP', '0.98 2.53 3.28 4.88 5.52', '18.90 40.67 54.76 77.25 93.08'),
} as const;

/** A row of the paper's second table. */
type PrintedModel = keyof typeof printedModels;

/** Both tables for a set of results that contains walkers of the paper's kind; empty without such walkers. */
export function paperTables(set: ResultSet, subjects: readonly Subject[]): PartView[] {
  const { groups = [] } = subjects.find(({ dataset }) => dataset === set.about.dataset) ?? {};
  const ours = groups.flatMap((group, g) => {
    const settings = settingsOf(group);
    if (!settings) return [];
    return shownRows(set, g).map((row) => ({ row, settings, label: group.label, models: modelsOf(settings) }));
  });
  if (ours.length === 0) return [];
  const full = ours.filter(({ models }) => models.every((model) => model === 'FP32'));
  const others = ours.filter(({ models }) => models.length > 1);
  return [
    {
      heading: 'LLM-ARK, table 1: systems of the literature as the paper prints them, and ours',
      table: { head, rows: [...printedSystems.map(printedLine), ...full.flatMap(ourLines)] },
      caption: noteOf(ours),
    },
    {
      heading: 'LLM-ARK, table 2: the paper’s ablations, and ours',
      table: {
        head,
        rows: [
          ...(Object.keys(printedModels) as PrintedModel[]).flatMap((model) => [
            printedLine(printedModels[model]),
            ...ours.filter(({ models }) => models.length < 2 && (models[0] ?? 'full') === model).flatMap(ourLines),
          ]),
          ...others.flatMap(ourLines),
        ],
      },
      caption: ablationNote,
    },
  ];
}

/** Settings of a run that the tables use. */
interface ArkSettings {
  model: string;
  encode: string;
  template: string;
  precision: string;
  entityInit: string;
  pathAware: boolean;
}

type Ours = { row: ResultRow; settings: ArkSettings; label: string; models: PrintedModel[] };

/** Settings of a group with the paper's walker (the dot product head on the text vector alone); undefined for other walkers. */
function settingsOf({ runs }: RunGroup): ArkSettings | undefined {
  const { config } = runs[0]!.info;
  const section = (name: string) => (config[name] ?? {}) as Record<string, unknown>;
  const { head: walkerHead, placeVectors, precision = 'f32', entityInit = 'frozen', pathAware } = section('walker');
  if (walkerHead !== 'pa-mlp' || placeVectors !== false) return undefined;
  const { encode = 'once', template = 'normal' } = section('stateText');
  return {
    model: basename(String(section('encoder').model ?? 'no model')),
    encode: String(encode),
    template: String(template),
    precision: String(precision),
    entityInit: String(entityInit),
    pathAware: pathAware !== false,
  };
}

/** Parts of the paper's full model that are left out; float32 is named only alone, since the paper has no other such row. */
function modelsOf({ template, precision, entityInit, pathAware }: ArkSettings): PrintedModel[] {
  const isLeftOut = { UI: template === 'none', WT: entityInit === 'random-trainable', WP: !pathAware };
  const without = (['UI', 'WT', 'WP'] as const).filter((part) => isLeftOut[part]);
  return without.length === 0 && precision === 'f32' ? ['FP32'] : without;
}

/** Rows of a group to show: the best checkpoint if there is one, never one ranked with a bonus. */
function shownRows({ rows }: ResultSet, group: number): ResultRow[] {
  const own = rows.filter((row) => row.own && row.group === group && !row.records[0]!.twoHopBonus);
  const best = own.filter(({ checkpoint }) => checkpoint === 'best');
  return best.length > 0 ? best : own.slice(0, 1);
}

const head = ['system', 'counted', ...['path', 'target'].flatMap((name) => printedKs.map((k) => `${name}@${k}`))];

type Line = Table['rows'][number];

function printedLine({ system, path, target }: PrintedRow): Line {
  return { cells: [{ text: system }, { text: 'paper' }, ...[...path, ...target].map((text) => ({ text }))] };
}

/** One line per counting rule. */
function ourLines({ row, settings: { encode, precision }, label, models }: Ours): Line[] {
  const about = [
    `${encode === 'per-step' ? 'text per step' : 'text once'}, ${precision}`,
    ...(models.length > 1 ? [models.join(' + ')] : []),
    ...edgeNotes(row),
    ...(row.seeds > 1 ? [`mean of ${row.seeds} seeds`] : []),
  ];
  const cell = (name: string, k: number): Cell => figureCell(row.metrics[`${name}@${k}`], { unit: '%' });
  const line = (counting: string, path: string, target: string, details: string[] = []): Line => {
    const cells = [path, target].flatMap((name) => printedKs.map((k) => cell(name, k)));
    return { own: true, cells: [{ text: label, details }, { text: counting }, ...cells] };
  };
  return [
    line('strict', 'path', 'target', about),
    ...(isCounted(row) ? [line('ark', 'ark-path', 'ark-target'), line('ark, path’s end', '', 'target-any')] : []),
  ];
}

function noteOf(ours: readonly Ours[]): string {
  return [
    'Percent. Columns do not compare across the line: the paper’s figures (“Evaluating and Enhancing Large Language Models for Conversational Reasoning on Knowledge Graphs”, tables 1 and 2; of other systems as it quotes them) are of another split, another graph and another model, and those of LLM-ARK are counted by its code’s bookkeeping, which joins the hits of both steps by their place in a beam of 20, takes the first hop’s end for the target and loses places of the beam.',
    `Ours (over ${[...new Set(ours.map(({ settings }) => settings.model))].join(', ')}): strict counts the exact path and the end of the whole path; ark follows that bookkeeping, in its last line with the end of the whole path as target.`,
    ours.some(({ row }) => !isCounted(row)) && 'kgwalk evaluate RUN --count ark adds the lines that lack.',
  ]
    .filter(Boolean)
    .join(' ');
}

const ablationNote =
  'UI: no instruction in the text; FP32: float32, where the paper’s other models compute in bfloat16; WT: entity and relation vectors begin at random and are trained; WP: a score for each place in the list of edges, blind to the edges. Which of our runs stands where is read from its settings, not from its name.';

/** True if the reference's bookkeeping was counted in addition to the strict rule. */
const isCounted = ({ metrics }: ResultRow) => metrics['ark-path@1'] !== undefined;

const edgeDetails = openObject({
  edges: openObject({
    policy: z.string(),
    maxOut: z.number(),
    /** Edges that are legal only because dialogues of a split use them. */
    brought: z.record(z.string(), z.number()).optional(),
  }),
  coverage: openObject({ goldWalkable: z.number().optional() }).optional(),
});

const edgesOf = ({ records }: ResultRow) => edgeDetails.safeParse(records[0]!.details).data;

/** The edges the agent may use and how many gold paths remain reachable; undefined if all edges are legal. */
function edgeNotes(row: ResultRow): string[] {
  const found = edgesOf(row);
  if (!found) return [];
  const { edges, coverage } = found;
  const left = coverage?.goldWalkable === undefined ? '' : `, ${percent(coverage.goldWalkable)} % of golds left`;
  return [`edges ${edges.policy}, ${edges.maxOut} actions${left}`];
}

/** Warning if dialogues of the evaluated split selected some agent's edges. */
export function edgeReservations({ rows }: Pick<ResultSet, 'rows'>): string[] {
  const leaks = rows.filter((row) => {
    const { brought } = edgesOf(row)?.edges ?? {};
    return (brought?.valid ?? 0) + (brought?.test ?? 0) > 0;
  });
  const names = leaks.map(({ label }) => label).join(', ');
  const said = `Dialogues of valid and test chose edges of ${names} (env.edgePolicy=ark): such figures compare with LLM-ARK’s alone.`;
  return names === '' ? [] : [said];
}
