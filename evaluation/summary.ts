/** From rows to figures: every metric with its interval, for all samples and for slices of them. */
import { bootstrapMeans } from '../src/metrics/bootstrap.js';
import { hitAtK, reciprocalRank } from '../src/metrics/path-hits.js';
import type { EvaluationMetrics } from '../src/run/records.js';
import type { Outcome } from './outcome.js';

/** Name of each counted rank in metric keys such as `entity-path@5`. */
const rankNames = {
  path: 'path',
  entityPath: 'entity-path',
  relationPath: 'relation-path',
  target: 'target',
  summedTarget: 'target-sum',
} as const;

/** As LLM-ARK's reference counts them; only where outcomes hold its ranks. */
const arkNames = { path: 'ark-path', target: 'ark-target', anyTarget: 'target-any' } as const;

/** Slices by `name=value`; samples outside every value of a name are in none of its slices. */
const sliceTests: Record<string, (outcome: Outcome) => boolean> = {
  'hops=1': ({ hops }) => hops === 1,
  'hops=2': ({ hops }) => hops === 2,
  'sender=user': ({ sender }) => sender === 'user',
  'sender=assistant': ({ sender }) => sender === 'assistant',
  'target=seen': ({ seen }) => seen,
  'target=unseen': ({ seen }) => !seen,
  'path=first': ({ first }) => first,
  'path=later': ({ first }) => !first,
};

/** Which k are counted, and how many bootstrap resamples stand behind each interval. */
export interface SummaryOptions {
  ks: readonly number[];
  resamples: number;
}

/**
 * Figures of single samples by metric key, float64 [numSamples] each, in [0, 1]: `path@1` … `mrr`, `target-mrr`, and where they
 * were counted `ark-path@1` …
 */
export function metricColumns(outcomes: readonly Outcome[], ks: readonly number[]): Map<string, Float64Array> {
  const columns = new Map<string, Float64Array>();
  for (const [rank, name] of Object.entries(rankNames) as [keyof typeof rankNames, string][]) {
    for (const k of ks)
      columns.set(
        `${name}@${k}`,
        Float64Array.from(outcomes, (outcome) => hitAtK(outcome[rank], k)),
      );
  }
  columns.set(
    'mrr',
    Float64Array.from(outcomes, ({ path }) => reciprocalRank(path)),
  );
  columns.set(
    'target-mrr',
    Float64Array.from(outcomes, ({ target }) => reciprocalRank(target)),
  );
  if (!outcomes[0]?.ark) return columns;
  for (const [rank, name] of Object.entries(arkNames) as [keyof typeof arkNames, string][]) {
    for (const k of ks)
      columns.set(
        `${name}@${k}`,
        Float64Array.from(outcomes, ({ ark }) => hitAtK(ark![rank], k)),
      );
  }
  return columns;
}

/** Metrics of at least one sample, with intervals over dialogues. */
export function summarise(outcomes: readonly Outcome[], { ks, resamples }: SummaryOptions): EvaluationMetrics {
  const columns = metricColumns(outcomes, ks);
  const dialogues = outcomes.map(({ dialogue }) => dialogue);
  const estimates = bootstrapMeans([...columns.values()], dialogues, { resamples });
  return Object.fromEntries([...columns.keys()].map((key, i) => [key, estimates[i]!]));
}

/** Metrics of each slice that has samples. */
export function summariseSlices(
  outcomes: readonly Outcome[],
  options: SummaryOptions,
): Record<string, EvaluationMetrics> {
  const slices: Record<string, EvaluationMetrics> = {};
  for (const [name, isIn] of Object.entries(sliceTests)) {
    const slice = outcomes.filter(isIn);
    if (slice.length > 0) slices[name] = summarise(slice, options);
  }
  return slices;
}
