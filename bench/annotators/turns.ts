/** Turns of dialogues whose contexts recur, as counted and as printed. */
import { recurringContexts, type ContextKey } from './recurring-contexts.js';
import type { WalkSample } from '../../datasets/walk-sample.js';
import { type Agreement, agreementOf, type ChosenTurn, type JudgedAgreement, type JudgedTurn } from './agreement.js';
import type { Section } from '../../src/run/evaluation.js';
import { type Estimate, intervalText } from '../../src/run/figures.js';
import type { DialogueRow } from '../../tasks/dialogues/row.js';

/** Turns of recurring contexts, grouped by context. */
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
 * A walker's predictions by turn id; empty for an agent without a distribution over walks. A gold path that cannot be walked has q = 0 and is
 * a miss, as is a turn on which the agent failed: leaving these out would bias the means.
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

/** Mean over several walkers' predictions of one turn. @param judged at least one */
export function meanJudged(judged: readonly JudgedTurn[]): JudgedTurn {
  const mean = (of: (one: JudgedTurn) => number) => judged.reduce((sum, one) => sum + of(one), 0) / judged.length;
  return {
    right: mean(({ right }) => right),
    relationsRight: mean(({ relationsRight }) => relationsRight),
    gold: mean(({ gold }) => gold),
    squares: mean(({ squares }) => squares),
  };
}

/** Agreement of annotators alone; undefined if no context recurs. */
export function annotatorAgreement(samples: readonly WalkSample[], by: ContextKey): Agreement | undefined {
  const turns = chosenTurns(samples, by);
  return turns.length > 0 ? agreementOf(turns) : undefined;
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

/** A table with one row per figure. */
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
