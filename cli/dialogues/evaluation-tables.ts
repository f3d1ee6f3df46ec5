/** Evaluations and comparisons as tables for people: percent, intervals in brackets. */
import type { Comparison } from '../../evaluation/compare.js';
import { intervalText, numberText, valueText } from '../../src/run/figures.js';
import type { EvaluationMetrics, EvaluationRecord } from '../../src/run/records.js';
import { printLine, printTable } from '../output.js';
import type { Row } from '../output.js';

const families = ['path', 'entity-path', 'relation-path', 'target', 'target-sum'];

/** Strict counts beside LLM-ARK's of the same thing. */
const countings = ['path', 'ark-path', 'target', 'target-any', 'ark-target'];

/** Prints metrics by k, slices, and what could not be answered. */
export function printEvaluation(record: EvaluationRecord): void {
  printLine(headline(record));
  printLine();
  const ks = ksOf(record.metrics);
  printTable([
    ...families.map((family) => ({
      metric: `${family}@k`,
      ...Object.fromEntries(ks.map((k) => [`k=${k}`, intervalText(record.metrics[`${family}@${k}`])])),
    })),
    ...['mrr', 'target-mrr'].map((metric) => ({ metric, [`k=${ks[0]}`]: intervalText(record.metrics[metric]) })),
  ]);
  printLine();
  if (record.count === 'ark') {
    const counted = (k: number) =>
      countings.map((family) => [`${family}@k`, intervalText(record.metrics[`${family}@${k}`])] as const);
    printTable(ks.map((k) => ({ k, ...Object.fromEntries(counted(k)) })));
    printLine();
  }
  const columns = [
    ...shortColumns(ks),
    ...(record.count === 'ark' ? ['ark-path', 'ark-target'].map((family) => `${family}@${ks[0]}`) : []),
  ];
  printTable(
    Object.entries({ all: record.metrics, ...record.slices }).map(([slice, metrics]) => ({
      slice,
      n: metrics['path@1']?.n ?? metrics.mrr!.n,
      ...Object.fromEntries(columns.map((key) => [key, valueText(metrics[key])])),
    })),
  );
  printLine();
  const { goldInGraph, startHasEdges, reachable, meanActions } = record.coverage;
  printLine(
    `gold in graph ${share(goldInGraph)}, start has edges ${share(startHasEdges)}, upper bound ${share(reachable ?? goldInGraph)}, actions at the start ${meanActions.toFixed(1)} on average`,
  );
  const { edges } = record;
  if (edges) {
    printLine(
      `edges ${edges.policy}, at most ${edges.maxOut} actions a state: gold left ${share(record.coverage.goldWalkable ?? 0)}, ${edges.kept} of ${edges.edges} edges, ${edges.entitiesCut} entities cut`,
    );
  }
  const misses = Object.entries(record.misses ?? {}).filter(([, count]) => count > 0);
  printLine(`gold not ranked: ${misses.map(([reason, count]) => `${reason} ${count}`).join(', ') || 'never'}`);
  printLine('percent; brackets: 95 % bootstrap over dialogues');
}

/** Prints one row an agent, and its difference to the reference with the test. */
export function printComparison(
  named: readonly { name: string; record: EvaluationRecord }[],
  comparisons: readonly Comparison[],
): void {
  const { record } = named[0]!;
  printLine(headline({ ...record, agent: `${named.length} agents` }));
  printLine();
  const columns = shortColumns(ksOf(record.metrics));
  const tested = columns[0]!;
  const against = comparisons[0]?.against;
  printTable(
    named.map(({ name, record: { metrics, note } }): Row => {
      const difference = comparisons.find(({ agent }) => agent === name)?.differences[tested];
      return {
        agent: name,
        [tested]: intervalText(metrics[tested]),
        ...Object.fromEntries(columns.slice(1).map((key) => [key, valueText(metrics[key])])),
        mrr: valueText(metrics.mrr),
        ...(against !== undefined && {
          [`${tested} − ${against}`]: intervalText(difference) ?? '',
          p: difference ? difference.pValue.toFixed(3) : '',
        }),
        note: note ?? '',
      };
    }),
  );
  printLine(
    'percent; brackets: 95 % bootstrap over dialogues; p: paired, two-sided, not corrected for the number of agents',
  );
}

function headline({ agent, note, dataset, graph, split, turns, n, beamWidth, checkpoint }: EvaluationRecord): string {
  const which = checkpoint === undefined ? '' : ` (${checkpoint})`;
  const remark = note === undefined ? '' : ` [${note}]`;
  return `${agent}${which}${remark} on ${dataset}, graph ${graph}, split ${split}, turns ${turns}: n = ${n}, beam ${beamWidth}`;
}

function ksOf(metrics: EvaluationMetrics): number[] {
  return Object.keys(metrics).flatMap((key) => (key.startsWith('path@') ? [Number(key.slice('path@'.length))] : []));
}

/** Path and target at the smallest, a middle and the largest k. */
function shortColumns(ks: readonly number[]): string[] {
  const shown = [...new Set([ks[0]!, ks[Math.floor(ks.length / 2)]!, ks.at(-1)!])];
  return ['path', 'target'].flatMap((family) => shown.map((k) => `${family}@${k}`));
}

const share = (value: number) => `${numberText(value)} %`;
