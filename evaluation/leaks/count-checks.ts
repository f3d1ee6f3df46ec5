/** Checks whether the counts that agents use mark the answer: P(gold | count) must not fall as the count rises. */
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { ProvenanceRecord } from '../../src/run/provenance.js';
import { countsByName, goldShareByCount, type LeakCheck } from './count-shares.js';
import type { KnownSamples } from './known-samples.js';

/** P(gold | count) of one count, and who uses it. */
export interface CountCheck extends LeakCheck {
  /** Name in `countsByName`. */
  count: string;
  /** Candidates that are ranked by it. */
  over: 'edges' | 'relations';
  /** Owners of tables with this count: `run`, or agents evaluated with it. Empty: none; reported because the graph contains it. */
  usedBy: string[];
}

/** Counts that an agent uses according to its record. */
export interface NotedCounts {
  of: string;
  record: ProvenanceRecord;
}

/** Every count that is known, on the asked split, counted in train. Those that are used come first. */
export function countChecks(
  { graph, splits, asked }: KnownSamples<WalkSample>,
  noted: readonly NotedCounts[],
): CountCheck[] {
  const train = splits.flatMap(({ role, samples }) => (role === 'train' ? samples : []));
  const usersOf = (count: string) => noted.flatMap(({ of, record }) => (countsIn(record).has(count) ? [of] : []));
  const checks = Object.entries(countsByName).map(([count, { of, over }]) => ({
    count,
    over,
    usedBy: usersOf(count),
    ...goldShareByCount(asked.samples, graph, of(train), undefined, over),
  }));
  return checks.sort((a, b) => Number(b.usedBy.length > 0) - Number(a.usedBy.length > 0));
}

function countsIn({ artifacts }: ProvenanceRecord): Set<string> {
  return new Set(artifacts.flatMap(({ facts }) => (Array.isArray(facts?.counts) ? facts.counts : [])));
}
