/** Tables of Self-VEQA, an anonymous submission ("Self-VEQA Agent: Self-Verification Enhanced Question Answering Agent"). */
import type { ResultRow } from '../results.js';
import { agentWith, type Paper, type PaperRow } from './table.js';

const onWebQsp = [
  { head: 'WebQSP F1', key: 'f1', dataset: 'webqsp' },
  { head: 'WebQSP Hit@1', key: 'hit@1', dataset: 'webqsp' },
];
const figures = [
  { head: 'MetaQA 2-hop Hit@1', key: 'hit@1', dataset: 'metaqa', subset: '2-hop' },
  { head: 'MetaQA 3-hop Hit@1', key: 'hit@1', dataset: 'metaqa', subset: '3-hop' },
  ...onWebQsp,
];

const readerOf = ({ config }: ResultRow) =>
  config?.reader as { kind?: string; entities?: { teacher?: string } } | undefined;

const reader =
  (kind: string): PaperRow['fills'] =>
  (row) =>
    readerOf(row)?.kind === kind;

const selfVeqaWith = (switches = {}) =>
  agentWith('self-veqa', switches, { verifier: 'reference', vocabulary: 'examples' });

const full: PaperRow = { printed: { 'Self-VEQA': '99.7 99.6 70.5 82' }, fills: selfVeqaWith() };

/** Values of a switch, without figures of the paper. @param usual its default, which the paper calls best */
const valuesOf = (name: string, values: readonly number[], usual: number): PaperRow[] =>
  values.map((value) => ({
    printed: { [`${name} = ${value}${value === usual ? ' (best)' : ''}`]: '- -' },
    fills: selfVeqaWith(value === usual ? {} : { [name]: value }),
  }));

const setUp =
  'Percent. There: GPT-3.5-turbo, two rounds, the whole Freebase and all of WebQSP. Here dev-… of MetaQA is a part of its dev questions, and [fixture] means train questions over facts collected around them.';
const unprinted = 'The figures of this table could not be read; the paper’s text names the best value.';

/** Its tables 1 to 4. */
export const selfVeqa: Paper = {
  name: 'Self-VEQA',
  details: (row) => {
    const { teacher = 'none' } = readerOf(row)?.entities ?? {};
    return teacher === 'none' ? [] : [`teacher ${teacher}`];
  },
  tables: [
    {
      ...{ number: 1, title: 'systems on MetaQA and WebQSP', figures, note: setUp },
      rows: [
        { printed: { 'KV-Mem': '82.7 48.9 34.5 46.7' }, fills: reader('kv-mem') },
        { printed: { EmbedKGQA: '98.8 94.8 - 66.6' }, fills: reader('embed-kgqa') },
        { printed: { NSM: '99.9 98.9 62.8 68.7' }, fills: reader('nsm') },
        { printed: { UniKGQA: '99.0 99.1 70.2 75.1' }, fills: reader('uni-kgqa') },
        { printed: { ChatGPT: '31.0 43.2 - 61.2' }, fills: agentWith('io') },
        { printed: { 'StructGPT (ChatGPT)': '97.3 87.0 - 72.6' }, fills: agentWith('structgpt') },
        {
          printed: { KnowledgeNavigator: '99.5 95 - 83.5' },
          fills: agentWith('knowledge-navigator', {}, { union: 'entity', noReturn: 'seen' }),
        },
        full,
      ],
    },
    {
      ...{ number: 2, title: 'ablations', figures, note: setUp },
      rows: [
        full,
        { printed: { 'without memory': '99.0 99.4 70.2 79.9' }, fills: selfVeqaWith({ memory: 'off' }) },
        { printed: { 'without verification': '98.9 98.7 63.9 74.3' }, fills: selfVeqaWith({ verify: false }) },
      ],
    },
    {
      ...{ number: 3, title: 'rounds', figures: onWebQsp, note: unprinted },
      rows: valuesOf('rounds', [1, 2, 3, 4], 2),
    },
    {
      ...{ number: 4, title: 'chains a round', figures: onWebQsp, note: unprinted },
      rows: valuesOf('chains', [1, 2, 3, 5, 10], 3),
    },
  ],
};
