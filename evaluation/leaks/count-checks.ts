/** Whether the counts that agents use mark the answer: P(gold | count) must not fall where the count rises. */
import type { WalkSample } from '../../datasets/walk-sample.js';
import type { ProvenanceRecord } from '../../src/run/provenance.js';
import { countsByName, goldShareByCount, type LeakCheck } from './count-shares.js';
import type { KnownSamples } from './known-samples.js';

/** P(gold | count) of one count, and who uses it. */
export interface CountCheck extends LeakCheck {
  /** Of `countsByName`. */
  count: string;
  /** What is chosen by it. */
  over: 'edges' | 'relations';
  /** Whose tables hold it: `run`, or agents evaluated beside it. Empty: nobody's, told because the graph tells it. */
  usedBy: string[];
}

/** What a record says an agent counts. */
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
