/** Tables of LLM-ARK: Huang 2024, "Evaluating and Enhancing Large Language Models for Conversational Reasoning on Knowledge Graphs". */
import { basename } from 'node:path';
import { z } from 'zod';
import { openObject } from '../../src/run/read-json.js';
import { percent } from '../format.js';
import type { ResultRow, ResultSet } from '../results.js';
import { agentWith, type Paper, type PaperRow } from './table.js';

/** The k values of the paper's path@k and target@k. */
const printedKs = [1, 3, 5, 10, 25] as const;

const figures = ['path', 'target'].flatMap((name) =>
  printedKs.map((k) => ({ head: `${name}@${k}`, key: `${name}@${k}`, dataset: 'opendialkg' })),
);

const countings = [
  { title: 'strict', keyOf: (key: string) => key },
  { title: 'ark', keyOf: (key: string) => `ark-${key}` },
  {
    title: 'ark, path’s end',
    keyOf: (key: string) => (key.startsWith('target') ? key.replace('target', 'target-any') : undefined),
  },
];

const ark = { 'LLaMA-2-7B-ARK': '16.59 27.17 34.85 47.88 62.32 36.39 53.63 65.68 80.20 89.68' };

/** Rows of the second table by the part that they leave out; all but FP32 compute in bfloat16. */
const ablations = {
  UI: '16.87 27.01 34.35 47.67 63.03 34.70 52.02 62.66 78.09 88.65',
  FP32: '14.59 24.64 32.24 45.80 61.75 34.35 52.57 62.51 79.18 88.51',
  WT: '1.10 3.44 5.71 10.47 15.42 9.45 19.46 50.94 71.43 94.03',
  WP: '0.98 2.53 3.28 4.88 5.52 18.90 40.67 54.76 77.25 93.08',
};
type Part = keyof typeof ablations;

const section = ({ config }: ResultRow, name: string) => (config?.[name] ?? {}) as Record<string, unknown>;

/** True for rankings without a bonus. */
const isPlain = ({ records }: ResultRow) => !records[0]!.twoHopBonus;

/** True for the paper's walker: the dot product head on the text vector alone. */
function isArk(row: ResultRow): boolean {
  const { head, placeVectors } = section(row, 'walker');
  return head === 'pa-mlp' && placeVectors === false && isPlain(row);
}

/** Parts of the paper's full model that are left out; float32 is named only alone, since the paper has no other such row. */
function leftOut(row: ResultRow): Part[] {
  const { precision = 'f32', entityInit, pathAware } = section(row, 'walker');
  const { template } = section(row, 'stateText');
  const isLeftOut = { UI: template === 'none', WT: entityInit === 'random-trainable', WP: pathAware === false };
  const without = (['UI', 'WT', 'WP'] as const).filter((part) => isLeftOut[part]);
  return without.length === 0 && precision === 'f32' ? ['FP32'] : without;
}

const arkWithout =
  (...wanted: Part[]): PaperRow['fills'] =>
  (row) =>
    isArk(row) && String(leftOut(row)) === String(wanted);

/** A head without features of edges, which the published systems have not. */
const head =
  (name: string): PaperRow['fills'] =>
  (row) => {
    const { head: own, edgeFeatures } = section(row, 'walker');
    return own === name && edgeFeatures === false && isPlain(row);
  };

const none = ' - - - - -';

/** Its tables 1 and 2. */
export const llmArk: Paper = {
  name: 'LLM-ARK',
  details,
  tables: [
    {
      ...{ number: 1, title: 'systems of the literature as the paper prints them, and ours', figures, countings },
      rows: [
        { printed: { 'Tri-LSTM': `3.2 14.2 22.6 36.3 56.2${none}` }, fills: head('tri-lstm') },
        { printed: { Seq2Seq: `3.1 18.3 29.7 44.1 60.2${none}` }, fills: head('seq2seq') },
        { printed: { 'DialKG Walker': `13.2 26.1 35.3 47.9 62.2${none}` }, fills: head('dialkg-walker') },
        {
          printed: { Seq2Path: '14.92 24.95 31.1 38.68 48.15 15.65 27.04 33.86 42.52 53.28' },
          fills: head('seq2path'),
        },
        {
          printed: { AttnFlow: '17.37 24.84 30.68 39.48 51.4 18.97 36.23 45.48 58.84 71.35' },
          fills: head('attn-flow'),
        },
        { printed: { AttnIO: '23.72 37.53 43.57 52.17 62.86 24.98 43.78 53.49 65.48 78.79' }, fills: head('attn-io') },
        { printed: { HiTKG: '25.99 38.67 49.18 59.32 71.27 31.11 46.29 55.59 71.61 86.09' }, fills: head('hitkg') },
        { printed: { 'T5-DiffKG': `${none.slice(1)} 26.80 54.33 61.75 - -` }, fills: head('diff-kg') },
        { printed: { 'GPT-4-Standard': '0.007 - - - - 14.91 - - - -' }, fills: agentWith('ark-standard') },
        { printed: { 'GPT-4-Normal': '0.02 - - - - 13.30 - - - -' }, fills: agentWith('ark-normal') },
        { printed: { 'GPT-4-OPA': '0.09 - - - - 12.19 - - - -' }, fills: agentWith('ark-opa') },
        { printed: ark, fills: (row) => isArk(row) && leftOut(row).every((part) => part === 'FP32') },
      ],
      note,
    },
    {
      ...{ number: 2, title: 'the paper’s ablations, and ours', figures, countings },
      rows: [
        { printed: ark, fills: arkWithout() },
        ...(Object.keys(ablations) as Part[]).map((part) => ({
          printed: { [`LLaMA-2-7B-ARK-${part}`]: ablations[part] },
          fills: arkWithout(part),
        })),
        { printed: {}, fills: (row) => isArk(row) && leftOut(row).length > 1 },
      ],
      note: 'UI: no instruction in the text; FP32: float32, where the paper’s other models compute in bfloat16; WT: entity and relation vectors begin at random and are trained; WP: a score for each place in the list of edges, blind to the edges. Which of our runs stands where is read from its settings, not from its name.',
    },
  ],
};

/** Text and precision of our walkers of the paper's kind, parts left out together, and edges. */
function details(row: ResultRow): string[] {
  const { precision = 'f32' } = section(row, 'walker');
  const { encode } = section(row, 'stateText');
  const text = `${encode === 'per-step' ? 'text per step' : 'text once'}, ${String(precision)}`;
  const parts = leftOut(row);
  return [...(isArk(row) ? [text, ...(parts.length > 1 ? [parts.join(' + ')] : [])] : []), ...edgeNotes(row)];
}

function note(ours: readonly ResultRow[]): string {
  const models = ours.map((row) => row.model ?? basename(String(section(row, 'encoder').model ?? 'no model')));
  return [
    'Percent. Columns do not compare across the line: the paper’s figures (“Evaluating and Enhancing Large Language Models for Conversational Reasoning on Knowledge Graphs”, tables 1 and 2; of other systems as it quotes them) are of another split, another graph and another model, and those of LLM-ARK are counted by its code’s bookkeeping, which joins the hits of both steps by their place in a beam of 20, takes the first hop’s end for the target and loses places of the beam.',
    `Ours (over ${[...new Set(models)].join(', ')}): strict counts the exact path and the end of the whole path; ark follows that bookkeeping, in its last line with the end of the whole path as target.`,
    ours.some((row) => row.own && !isCounted(row)) && 'kgwalk evaluate RUN --count ark adds the lines that lack.',
  ]
    .filter(Boolean)
    .join(' ');
}

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
