/** Risk and coverage of an agent on questions: what it gets right where it answers only what it is surest of. */
import { type RiskCoverage, coverages, riskCoverage } from '../../src/metrics/selective.js';
import type { Section } from '../../src/run/evaluation.js';
import { type Estimate, intervalText, numberText } from '../../src/run/figures.js';
import { isRight, type QuestionRow } from './row.js';

/** Orders of answers. */
type Order = 'confidence' | 'own checks';

/** Title of the section of an evaluation. */
export const selectiveTitle = 'Risk and coverage';

/** By the agent's confidence, else by its checks; undefined if neither separates answers. */
export function selectiveOf(rows: readonly QuestionRow[]): (RiskCoverage & { by: Order; n: number }) | undefined {
  const by: Order = rows.some(({ confidence }) => confidence !== undefined) ? 'confidence' : 'own checks';
  const answers = rows.map((row) => ({ confidence: sureness(row, by), right: isRight(row) }));
  if (new Set(answers.map(({ confidence }) => confidence)).size < 2) return undefined;
  return { by, n: rows.length, ...riskCoverage(answers) };
}

/** An agent that gives no answer covers nothing: those come last. Answers that a check has passed come before others, fallbacks after. */
function sureness({ abstained, crash, confidence = 0, verified, degraded }: QuestionRow, by: Order): number {
  if (abstained || crash !== undefined) return -1;
  if (by === 'confidence') return confidence;
  return degraded ? 0 : verified ? 2 : 1;
}

/** Without an interval where all are right or all wrong: none can be drawn then. */
const shown = (estimate: Estimate | undefined) =>
  estimate && estimate.low === estimate.high ? numberText(estimate.value) : intervalText(estimate);

/** The same for people: a row, and the curve. */
export function selectiveSection({ by, n, aurc, least, accuracy, curve }: NonNullable<ReturnType<typeof selectiveOf>>) {
  const row: NonNullable<Section['rows']>[number] = {
    by,
    n,
    'AURC, %': shown(aurc),
    'least, %': (100 * least).toFixed(1),
    ...Object.fromEntries(coverages.map((at) => [`right at ${at} %`, shown(accuracy[at])])),
  };
  const points = curve.map(([coverage, value]): [number, number] => [Math.round(100 * coverage), value]);
  const section: Section = {
    title: selectiveTitle,
    rows: [row],
    curve: {
      ...{ x: 'coverage, %', y: 'right among the surest', points, smooth: true },
      caption:
        'Right among the answers that an agent is surest of, by the share of questions that it answers. Sure is by its confidence, where it has none by its own checks: verified before others, fallbacks after them; where it gives no answer comes last. A line that falls says that the agent knows what it does not know.',
    },
  };
  return section;
}
