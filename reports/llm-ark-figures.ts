/**
 * What the LLM-ARK paper prints, as it prints it: percent, an empty text for what it leaves out.
 * @source "Evaluating and Enhancing Large Language Models for Conversational Reasoning on Knowledge Graphs" (LLM-ARK), tables 1 and 2
 */

/** The k of the paper's path@k and target@k. */
export const printedKs = [1, 3, 5, 10, 25] as const;

/** A row of the paper: path@k, then target@k, for `printedKs`. */
export interface PrintedRow {
  system: string;
  path: readonly string[];
  target: readonly string[];
}

const row = (system: string, path: string, target = '- - - - -'): PrintedRow => ({
  system,
  path: path.split(' ').map(asPrinted),
  target: target.split(' ').map(asPrinted),
});

function asPrinted(text: string): string {
  return text === '-' ? '' : text;
}

const full = row('LLaMA-2-7B-ARK', '16.59 27.17 34.85 47.88 62.32', '36.39 53.63 65.68 80.20 89.68');

/** Systems of the literature, and the paper's own last. */
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

/** The paper's models, by what of the full one they lack; all but FP32 compute in bfloat16. */
export const printedModels = {
  full,
  UI: row('LLaMA-2-7B-ARK-UI', '16.87 27.01 34.35 47.67 63.03', '34.70 52.02 62.66 78.09 88.65'),
  FP32: row('LLaMA-2-7B-ARK-FP32', '14.59 24.64 32.24 45.80 61.75', '34.35 52.57 62.51 79.18 88.51'),
  WT: row('LLaMA-2-7B-ARK-WT', '1.10 3.44 5.71 10.47 15.42', '9.45 19.46 50.94 71.43 94.03'),
  WP: row('LLaMA-2-7B-ARK-WP', '0.98 2.53 3.28 4.88 5.52', '18.90 40.67 54.76 77.25 93.08'),
} as const;

/** A row of the paper's second table. */
export type PrintedModel = keyof typeof printedModels;
