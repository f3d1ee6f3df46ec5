/** Evaluations of links as tables for people: figures of the field in three places, intervals in brackets. */
import type { LinkComparison } from '../../evaluation/links/compare-links.js';
import type { LinkSpeed } from '../../evaluation/links/evaluate-links.js';
import type { ChainRecord, LinkDirection, LinkEvaluationRecord } from '../../src/run/link-records.js';
import type { Estimate } from '../../src/run/records.js';
import { printLine, printTable, type Row } from '../output.js';
import type { NamedLinkEvaluation } from './evaluate-agents.js';

const figures = ['mrr', 'hits@1', 'hits@3', 'hits@10'] as const;

const asked: Record<LinkDirection, string> = { tail: 'tail (h, r, ?)', head: 'head (?, r, t)', both: 'both' };

/** Relations whose chains are shown; the record has all. */
const shownRelations = 8;

/** Prints figures by direction, what can be reached, and the chains that answered. */
export function printLinkEvaluation(record: LinkEvaluationRecord, speed?: LinkSpeed): void {
  printLine(headline(record, who(record)));
  printLine();
  printTable(
    directionsOf(record).flatMap(([direction, metrics]) => [
      row(metrics, '', { asked: asked[direction], by: metrics['sum-mrr'] ? 'best walk' : undefined }),
      ...(metrics['sum-mrr'] ? [row(metrics, 'sum-', { asked: asked[direction], by: 'sum of walks' })] : []),
    ]),
  );
  printLine();
  printTable(
    directionsOf(record).map(([direction, metrics]) => ({
      'answers within': asked[direction],
      ...Object.fromEntries(
        Object.entries(metrics).flatMap(([key, estimate]) =>
          key.startsWith('reachable@') ? [[`${key.slice('reachable@'.length)} edges`, number(estimate)]] : [],
        ),
      ),
      ...(metrics.reached && { 'the beam': number(metrics.reached) }),
    })),
  );
  printChains(record.chains);
  printLine();
  printLine(unseenText(record));
  if (speed) {
    printLine(`${speed.queriesPerSecond.toFixed(1)} queries a second, ${speed.seconds.toFixed(1)} s in all`);
  }
  printLine('filtered by all splits, realistic ranks; brackets: 95 % bootstrap over questions');
}

/** Prints a table a direction: one row an agent, with its difference to the reference. */
export function printLinkComparison(
  evaluations: readonly NamedLinkEvaluation[],
  comparisons: readonly LinkComparison[],
): void {
  const { record } = evaluations.at(-1)!;
  printLine(headline(record, `${evaluations.length} agents`));
  for (const [direction] of directionsOf(record)) {
    printLine();
    printLine(asked[direction]);
    printTable(
      evaluations.map(({ name, record: own, speed }): Row => {
        const of = comparisons.find((one) => one.agent === name && one.direction === direction);
        const difference = of?.differences.mrr;
        return {
          agent: name,
          ...row(own.directions[direction]!, '', {}),
          [`mrr − ${evaluations.at(-1)!.name}`]: difference ? bracketed(difference) : '',
          p: difference ? difference.pValue.toFixed(3) : '',
          'queries/s': speed ? speed.queriesPerSecond.toFixed(1) : '',
          note: own.note ?? '',
        };
      }),
    );
  }
  printLine();
  printLine(unseenText(record));
  printLine(
    'filtered by all splits, realistic ranks; brackets: 95 % bootstrap over questions; p: paired, two-sided, not corrected for the number of agents',
  );
}

function printChains(chains: readonly ChainRecord[] = []): void {
  if (chains.length === 0) return;
  const uses = new Map<string, number>();
  for (const { relation, uses: own } of chains) uses.set(relation, (uses.get(relation) ?? 0) + own);
  const most = [...uses].sort(([, a], [, b]) => b - a).slice(0, shownRelations);
  const shown = new Set(most.map(([relation]) => relation));
  printLine();
  printTable(
    chains
      .filter(({ relation }) => shown.has(relation))
      .map(({ relation, chain, uses: own, precision }) => ({
        'asked for': relation,
        'answered by': chain.join(' → ') || '(stays)',
        uses: own,
        precision: precision.toFixed(3),
      })),
  );
  if (uses.size > shown.size) printLine(`… and ${uses.size - shown.size} more relations: --json has all`);
}

const row = (metrics: Readonly<Record<string, Estimate>>, prefix: string, before: Row): Row => ({
  ...before,
  mrr: bracketed(metrics[`${prefix}mrr`]!),
  ...Object.fromEntries(figures.slice(1).map((key) => [key, number(metrics[`${prefix}${key}`]!)])),
  n: metrics[`${prefix}mrr`]!.n,
});

const directionsOf = ({ directions }: LinkEvaluationRecord) =>
  (['tail', 'head', 'both'] as const).flatMap((direction) => {
    const metrics = directions[direction];
    return metrics ? [[direction, metrics] as const] : [];
  });

function who({ agent, run, checkpoint }: LinkEvaluationRecord): string {
  return run === undefined ? agent : `${run} (${checkpoint})`;
}

function headline(record: LinkEvaluationRecord, agents: string): string {
  const { dataset, split, n, limit, horizon, beamWidth, note } = record;
  return [
    `${agents} on ${dataset}`,
    `split ${split}`,
    `${n} triples${limit === undefined ? '' : ', a sample'}`,
    ...(horizon === undefined ? [] : [`horizon ${horizon}`]),
    ...(beamWidth === undefined ? [] : [`beam ${beamWidth}`]),
    ...(note === undefined ? [] : [note]),
  ].join(' · ');
}

function unseenText({ unseen: { entities, relations } }: LinkEvaluationRecord): string {
  if (entities + relations === 0) return 'train has every entity and relation that is asked about';
  return `queries with what train lacks, ranked last: an entity ${entities}, a relation ${relations}`;
}

const bracketed = (estimate: Estimate) =>
  `${number(estimate)} [${estimate.low.toFixed(3)}, ${estimate.high.toFixed(3)}]`;

const number = ({ value }: Estimate) => value.toFixed(3);
