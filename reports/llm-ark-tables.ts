/** LLM-ARK's two tables, redrawn with runs of its walker beside the paper's rows. */
import { basename } from 'node:path';
import { shareCell } from './cells.js';
import { edgeNotes } from './edge-lists.js';
import type { Cell, PartView, Table } from './html.js';
import { printedKs, printedModels, printedSystems } from './llm-ark-figures.js';
import type { PrintedModel, PrintedRow } from './llm-ark-figures.js';
import type { ResultRow, ResultSet } from './results.js';
import type { RunGroup } from './run-data.js';

/** Both tables of a set of results that walkers of the paper's kind were measured on; without such walkers nothing. */
export function paperTables(set: ResultSet, groups: readonly RunGroup[]): PartView[] {
  const ours = groups.flatMap((group, g) => {
    const settings = settingsOf(group);
    const row = settings && shownRow(set, g);
    return row ? [{ row, settings, label: group.label, models: modelsOf(settings) }] : [];
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

/** What the tables read of a run's settings. */
interface ArkSettings {
  model: string;
  encode: string;
  template: string;
  precision: string;
  entityInit: string;
  pathAware: boolean;
}

interface Ours {
  row: ResultRow;
  settings: ArkSettings;
  label: string;
  models: PrintedModel[];
}

/** The settings of a group whose walker is the paper's: the dot product head over the text vector alone. Else undefined. */
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

/** What of the paper's full model is left out; float32 is named only where nothing else is, since the paper has no other such row. */
function modelsOf({ template, precision, entityInit, pathAware }: ArkSettings): PrintedModel[] {
  const without: PrintedModel[] = [
    ...(template === 'none' ? (['UI'] as const) : []),
    ...(entityInit === 'random-trainable' ? (['WT'] as const) : []),
    ...(pathAware ? [] : (['WP'] as const)),
  ];
  return without.length === 0 && precision === 'f32' ? ['FP32'] : without;
}

/** The row of a group that its tables show: the best checkpoint where there is one, never one that is ranked with a bonus. */
function shownRow({ rows }: ResultSet, group: number): ResultRow | undefined {
  const own = rows.filter((row) => row.own && row.group === group && !row.record.twoHopBonus);
  return own.find(({ record }) => record.checkpoint === 'best') ?? own[0];
}

const head = ['system', 'counted', ...['path', 'target'].flatMap((name) => printedKs.map((k) => `${name}@${k}`))];

type Line = Table['rows'][number];

function printedLine({ system, path, target }: PrintedRow): Line {
  return { cells: [{ text: system }, { text: 'paper' }, ...[...path, ...target].map((text) => ({ text }))] };
}

/** One line for each counting. */
function ourLines({ row, settings: { encode, precision }, label, models }: Ours): Line[] {
  const about = [
    `${encode === 'per-step' ? 'text per step' : 'text once'}, ${precision}`,
    ...(models.length > 1 ? [models.join(' + ')] : []),
    ...edgeNotes(row.record),
    ...(row.seeds > 1 ? [`mean of ${row.seeds} seeds`] : []),
  ];
  const line = (counting: string, path: string | undefined, target: string, details: string[] = []): Line => ({
    own: true,
    cells: [
      { text: label, details },
      { text: counting },
      ...[path, target].flatMap((name) =>
        printedKs.map((k): Cell => (name === undefined ? { text: '' } : shareCell(row.metrics[`${name}@${k}`]))),
      ),
    ],
  });
  return [
    line('strict', 'path', 'target', about),
    ...(row.arkCounted === row.seeds
      ? [line('ark', 'ark-path', 'ark-target'), line('ark, path’s end', undefined, 'target-any')]
      : []),
  ];
}

function noteOf(ours: readonly Ours[]): string {
  const rows = ours.map(({ row }) => row);
  const partly = rows.filter(({ arkCounted, seeds }) => arkCounted > 0 && arkCounted < seeds);
  const lacking = rows.filter(({ arkCounted }) => arkCounted === 0);
  return [
    'Percent. Columns do not compare across the line: the paper’s figures (“Evaluating and Enhancing Large Language Models for Conversational Reasoning on Knowledge Graphs”, tables 1 and 2; of other systems as it quotes them) are of another split, another graph and another model, and those of LLM-ARK are counted by its code’s bookkeeping, which joins the hits of both steps by their place in a beam of 20, takes the first hop’s end for the target and loses places of the beam.',
    `Ours (over ${[...new Set(ours.map(({ settings }) => settings.model))].join(', ')}): strict counts the exact path and the end of the whole path; ark follows that bookkeeping, in its last line with the end of the whole path as target.`,
    partly.length > 0 &&
      `Not every seed was counted in both ways, so without a line in ark counting: ${partly.map(({ label }) => label).join(', ')}.`,
    lacking.length + partly.length > 0 && 'kgwalk evaluate RUN --count ark adds the lines that lack.',
  ]
    .filter(Boolean)
    .join(' ');
}

const ablationNote =
  'UI: no instruction in the text; FP32: float32, where the paper’s other models compute in bfloat16; WT: entity and relation vectors begin at random and are trained; WP: a score for each place in the list of edges, blind to the edges. Which of our runs stands where is read from its settings, not from its name.';
