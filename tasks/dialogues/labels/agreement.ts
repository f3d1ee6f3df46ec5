/** How far annotators agree on dialogues where the same was said, and a walker with them. */
import { recurringContexts, type ContextKey } from '../../../datasets/dialogues/recurring-contexts.js';
import type { WalkSample } from '../../../datasets/walk-sample.js';
import {
  type Agreement,
  agreementOf,
  type ChosenTurn,
  type JudgedAgreement,
  judgedAgreementOf,
  type JudgedTurn,
} from '../../../src/metrics/agreement.js';
import type { Section } from '../../../src/run/evaluation.js';
import { type Estimate, intervalText } from '../../../src/run/figures.js';
import type { DialogueRow } from '../row.js';

/** Turns of contexts that recur, as they are counted. */
export function chosenTurns(
  samples: readonly WalkSample[],
  by: ContextKey,
  judgedOf: (sample: WalkSample) => JudgedTurn | undefined = () => undefined,
): ChosenTurn[][] {
  return recurringContexts(samples, by).map((group) =>
    group.map((sample) => ({
      annotator: sample.task.dialogueId,
      walk: String(sample.gold.path),
      relations: sample.gold.path.map(([, relation]) => relation).join(),
      judged: judgedOf(sample),
    })),
  );
}

/**
 * What a walker made of turns, by their ids; none where it is no distribution over walks. A gold that it cannot walk has q = 0 and is
 * a miss, as is a turn that it failed on: leaving these out would make a mean over the turns that suit it.
 */
export function judgedTurns(rows: readonly DialogueRow[]): Map<string, JudgedTurn> {
  if (!rows.some(({ told }) => told)) return new Map();
  return new Map(rows.map((row) => [row.id, judgedTurn(row)]));
}

const judgedTurn = ({ path, relationPath, goldLogProb, told }: DialogueRow): JudgedTurn => ({
  right: Number(path === 1),
  relationsRight: Number(relationPath === 1),
  gold: goldLogProb === undefined ? 0 : Math.exp(goldLogProb),
  squares: told?.squares ?? 0,
});

/** Several walkers' judgements of one turn as one. @param judged at least one */
export function meanJudged(judged: readonly JudgedTurn[]): JudgedTurn {
  const mean = (of: (one: JudgedTurn) => number) => judged.reduce((sum, one) => sum + of(one), 0) / judged.length;
  return {
    right: mean(({ right }) => right),
    relationsRight: mean(({ relationsRight }) => relationsRight),
    gold: mean(({ gold }) => gold),
    squares: mean(({ squares }) => squares),
  };
}

/** Of annotators alone; undefined where nothing recurs. */
export function annotatorAgreement(samples: readonly WalkSample[], by: ContextKey): Agreement | undefined {
  const turns = chosenTurns(samples, by);
  return turns.length > 0 ? agreementOf(turns) : undefined;
}

/**
 * Of the rows' turns with the others of their contexts, in train and among themselves; undefined where none recurs or the agent is
 * no distribution over walks.
 * @param samples of the rows; `train` may hold them, too
 */
export function rowAgreement(
  rows: readonly DialogueRow[],
  { samples, train }: { samples: readonly WalkSample[]; train: readonly WalkSample[] },
): JudgedAgreement | undefined {
  const judged = judgedTurns(rows);
  if (judged.size === 0) return undefined;
  const own = new Set(samples.map(({ task }) => task.id));
  const all = [...train.filter(({ task }) => !own.has(task.id)), ...samples];
  return judgedAgreementOf(chosenTurns(all, 'history', ({ task }) => judged.get(task.id)));
}

const annotatorLabels = {
  same: 'another annotator walks the same path (Σp²)',
  sameRelations: 'another annotator uses the same relations',
  majority: 'most of the other annotators chose it',
} as const;
const walkerLabels = {
  right: 'the walker’s first path is right',
  relationsRight: 'its relations are right',
  drawn: 'probability that it gives the gold (Σpq)',
  squares: 'two draws of it agree (Σq²)',
  distance: 'squared distance (Σp² − 2 Σpq + Σq²)',
  left: 'probability still to be won (Σp² − Σpq)',
} as const;

/** The same for people, a line a figure. */
export function agreementSection(title: string, found: Agreement | JudgedAgreement): Section {
  const labels = { ...annotatorLabels, ...('drawn' in found && walkerLabels) };
  const of = `${found.turns} turns in ${found.contexts} contexts`;
  const figures = Object.entries(labels).map(([key, label]) => {
    return { key, label, estimate: (found as unknown as Record<string, Estimate>)[key]! };
  });
  return {
    title,
    rows: figures.map(({ label, estimate }) => ({ [of]: label, '%': intervalText(estimate) })),
    bars: figures
      .filter(({ key }) => key !== 'distance' && key !== 'left')
      .map(({ label, estimate: { value, low, high } }) => ({ label, value, low, high })),
  };
}
