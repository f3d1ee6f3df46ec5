/** Agreement between annotators of the same context, and between them and a distribution over walks. */
import type { Estimate } from '../../src/run/figures.js';
import { bootstrapMeans } from '../../src/metrics/bootstrap.js';

/** A distribution's predictions for one held-out turn. */
export interface JudgedTurn {
  /** 1 if its first walk (or relation sequence) is the annotator's, else 0; in between for several judges. */
  right: number;
  relationsRight: number;
  /** Probability q of the annotator's walk. */
  gold: number;
  /** Σ q² over all walks: probability that two draws are equal. */
  squares: number;
}

/** An annotator's choice. */
export interface ChosenTurn {
  annotator: string;
  /** Key that is equal for equal walks; `relations` likewise for relation sequences. */
  walk: string;
  relations: string;
  judged?: JudgedTurn | undefined;
}

/** Agreement of the other annotators of a context with one of its turns: shares of them. */
export interface TurnAgreement {
  same: number;
  sameRelations: number;
  /** 1 if most of the others chose the turn's walk, else 0; with several most frequent walks, the share of those. */
  majority: number;
}

/** Compares the turns of one context with those of all other annotators; undefined for a turn without any. */
export function turnAgreements(turns: readonly ChosenTurn[]): (TurnAgreement | undefined)[] {
  return turns.map(({ annotator, walk, relations }) => {
    const others = turns.filter((other) => other.annotator !== annotator);
    if (others.length === 0) return undefined;
    const counts = new Map<string, number>();
    for (const other of others) counts.set(other.walk, (counts.get(other.walk) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const first = [...counts].filter(([, count]) => count === most).map(([own]) => own);
    return {
      same: (counts.get(walk) ?? 0) / others.length,
      sameRelations: others.filter((other) => other.relations === relations).length / others.length,
      majority: first.includes(walk) ? 1 / first.length : 0,
    };
  });
}

/** Means over turns with 95 % bootstrap intervals over contexts. Fractions. */
export interface Agreement {
  contexts: number;
  turns: number;
  /** Σp²: another annotator chooses the same path. */
  same: Estimate;
  sameRelations: Estimate;
  majority: Estimate;
}

/** The same, including a distribution's predictions for these turns. */
export interface JudgedAgreement extends Agreement {
  /** Its first walk and first relation sequence equal the annotator's. */
  right: Estimate;
  relationsRight: Estimate;
  /** Σpq: a draw equals the annotator's walk. Σq²: two draws are equal. */
  drawn: Estimate;
  squares: Estimate;
  /** Squared distance: Σp² − 2 Σpq + Σq². */
  distance: Estimate;
  /** Headroom in the probability of the annotator's walk: Σp² − Σpq. */
  left: Estimate;
}

type Counted = { context: number; agreement: TurnAgreement; judged: JudgedTurn | undefined };

/** @param contexts turns of equal contexts; at least one turn with another annotator */
export function agreementOf(contexts: readonly (readonly ChosenTurn[])[], resamples?: number): Agreement {
  return annotatorsOf(countedTurns(contexts), resamples);
}

/** Over the judged turns; the other annotators' choices come from all of their contexts. Undefined if no turn was judged. */
export function judgedAgreementOf(
  contexts: readonly (readonly ChosenTurn[])[],
  resamples?: number,
): JudgedAgreement | undefined {
  const turns = countedTurns(contexts).flatMap(({ judged, ...turn }) => (judged ? [{ ...turn, judged }] : []));
  if (turns.length === 0) return undefined;
  const means = estimates(
    turns,
    {
      right: ({ judged }) => judged.right,
      relationsRight: ({ judged }) => judged.relationsRight,
      drawn: ({ judged }) => judged.gold,
      squares: ({ judged }) => judged.squares,
      distance: ({ agreement, judged }) => agreement.same - 2 * judged.gold + judged.squares,
      left: ({ agreement, judged }) => agreement.same - judged.gold,
    },
    resamples,
  );
  return { ...annotatorsOf(turns, resamples), ...means };
}

function countedTurns(contexts: readonly (readonly ChosenTurn[])[]): Counted[] {
  return contexts.flatMap((turns, context) => {
    const agreements = turnAgreements(turns);
    return turns.flatMap(({ judged }, i) => (agreements[i] ? [{ context, agreement: agreements[i], judged }] : []));
  });
}

function annotatorsOf(turns: readonly Counted[], resamples?: number): Agreement {
  const means = estimates(
    turns,
    {
      same: ({ agreement }) => agreement.same,
      sameRelations: ({ agreement }) => agreement.sameRelations,
      majority: ({ agreement }) => agreement.majority,
    },
    resamples,
  );
  return { contexts: new Set(turns.map(({ context }) => context)).size, turns: turns.length, ...means };
}

function estimates<T extends { context: number }, K extends string>(
  turns: readonly T[],
  columns: Readonly<Record<K, (turn: T) => number>>,
  resamples = 2000,
): Record<K, Estimate> {
  const keys = Object.keys(columns) as K[];
  const found = bootstrapMeans(
    keys.map((key) => Float64Array.from(turns, columns[key])),
    turns.map(({ context }) => context),
    { resamples, shares: keys.map((key) => key !== 'distance' && key !== 'left') },
  );
  return Object.fromEntries(keys.map((key, i) => [key, found[i]!])) as Record<K, Estimate>;
}
