/** How far annotators agree with each other where they were asked the same, and a distribution over walks with them. */
import type { Estimate } from '../run/figures.js';
import { bootstrapMeans } from './bootstrap.js';

/** What a distribution makes of one turn that it did not learn from. */
export interface JudgedTurn {
  /** Whether its first walk, and its relations, are the annotator's: 0 or 1, or between where several judged. */
  right: number;
  relationsRight: number;
  /** Probability of the annotator's walk, q. */
  gold: number;
  /** Σ of q² over all walks: how likely two draws are the same. */
  squares: number;
}

/** What one annotator chose. */
export interface ChosenTurn {
  annotator: string;
  /** Equal for equal walks; and for walks by equal relations. */
  walk: string;
  relations: string;
  judged?: JudgedTurn | undefined;
}

/** How the others of a context stand to one of its turns: shares of them. */
export interface TurnAgreement {
  same: number;
  sameRelations: number;
  /** Whether most of the others chose the turn's walk; where several walks are most, the share of those. */
  majority: number;
}

/** The turns of one context held against those of all other annotators; undefined for a turn that has none. */
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

/** Means over turns, with 95 % bootstrap intervals over contexts. Fractions. */
export interface Agreement {
  contexts: number;
  turns: number;
  /** Σp²: another annotator walks the same path. */
  same: Estimate;
  sameRelations: Estimate;
  majority: Estimate;
}

/** The same with what a distribution makes of these turns. */
export interface JudgedAgreement extends Agreement {
  /** Its first walk, its first relations are the annotator's. */
  right: Estimate;
  relationsRight: Estimate;
  /** Σpq: a draw from it is the annotator's walk. Σq²: two draws are the same. */
  drawn: Estimate;
  squares: Estimate;
  /** Squared distance of both: Σp² − 2 Σpq + Σq². */
  distance: Estimate;
  /** Probability of the annotator's walk that is still to be won: Σp² − Σpq. */
  left: Estimate;
}

type Counted = { context: number; agreement: TurnAgreement; judged: JudgedTurn | undefined };

/** @param contexts turns of equal contexts; at least one turn with another annotator beside it */
export function agreementOf(contexts: readonly (readonly ChosenTurn[])[], resamples?: number): Agreement {
  return annotatorsOf(countedTurns(contexts), resamples);
}

/** Over the turns that were judged, the others' choices being held against all of their contexts; undefined where none was. */
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
