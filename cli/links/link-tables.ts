/** Evaluations of links as tables for people: figures of the field in three places, intervals in brackets. */
import type { LinkComparison } from '../../evaluation/links/compare-links.js';
import type { LinkSpeed } from '../../evaluation/links/evaluate-links.js';
import type { ChainRecord, LinkDirection, LinkEvaluationRecord } from '../../src/run/link-records.js';
import type { Estimate } from '../../src/run/records.js';
import { printLine, printTable, type Row } from '../output.js';
import type { NamedLinkEvaluation } from './evaluate-agents.js';

const figures = ['mrr', 'hits@1', 'hits@3', 'hits@10'] as const;

const asked: Record<LinkDirection, string> = { tail: 'tail (h, r, ?)', head: 'head (?, r, t)', both: 'both' };

/** Relations whose chains are shown, and chains of each; the record has more. */
const shownRelations = 8;
const shownChains = 3;

/** Prints figures by direction, what can be reached, and the chains that answered. */
export function printLinkEvaluation(record: LinkEvaluationRecord, speed?: LinkSpeed): void {
  printLine(headline(record));
  printLine();
  printTable(
    directionsOf(record).flatMap(([direction, metrics]) => [
      row(metrics, '', { asked: asked[direction], ...(metrics['sum-mrr'] && { by: 'best walk' }) }),
      ...(metrics['sum-mrr'] ? [row(metrics, 'sum-', { asked: asked[direction], by: 'sum of walks' })] : []),
    ]),
  );
  printLine();
  printTable(
    directionsOf(record).map(([direction, metrics]) => ({
      'answers reached by': asked[direction],
      ...Object.fromEntries(
        Object.entries(metrics).flatMap(([key, estimate]) =>
          key.startsWith('reachable@') ? [[`≤ ${key.slice('reachable@'.length)} edges`, number(estimate)]] : [],
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

/** Prints a table a direction: one row an agent, with its difference to the reference. @param against its name */
export function printLinkComparison(
  evaluations: readonly NamedLinkEvaluation[],
  comparisons: readonly LinkComparison[],
  against: string,
): void {
  const { record } = evaluations.at(-1)!;
  printLine(whatText(record, `${evaluations.length} agents`));
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
          [`mrr − ${against}`]: difference ? bracketed(difference) : '',
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
  const byRelation = new Map<string, ChainRecord[]>();
  for (const one of chains) byRelation.set(one.relation, [...(byRelation.get(one.relation) ?? []), one]);
  const usesOf = (own: readonly ChainRecord[]) => own.reduce((sum, { uses }) => sum + uses, 0);
  const most = [...byRelation.values()].sort((a, b) => usesOf(b) - usesOf(a)).slice(0, shownRelations);
  printLine();
  printTable(
    most
      .flatMap((own) => own.slice(0, shownChains))
      .map(({ relation, chain, uses, precision }) => ({
        'asked for': relation,
        'answered by': chain.join(' → ') || '(stays)',
        uses,
        precision: precision.toFixed(3),
      })),
  );
  printLine('uses: questions whose first answer beyond train ends such a walk; precision: how many of these are right');
  if (byRelation.size > most.length)
    printLine(`… and ${byRelation.size - most.length} more relations: --json has them`);
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

function headline(record: LinkEvaluationRecord): string {
  const { horizon, beamWidth, note, agent, run, checkpoint } = record;
  return [
    whatText(record, run === undefined ? agent : `${run} (${checkpoint})`),
    ...(horizon === undefined ? [] : [`horizon ${horizon}`]),
    ...(beamWidth === undefined ? [] : [`beam ${beamWidth}`]),
    ...(note === undefined ? [] : [note]),
  ].join(' · ');
}

const whatText = (
  { dataset, split, n, limit }: Pick<LinkEvaluationRecord, 'dataset' | 'split' | 'n' | 'limit'>,
  who: string,
) => `${who} on ${dataset} · split ${split} · n = ${n} triples${limit === undefined ? '' : ', a sample'}`;

function unseenText({ unseen: { entities, relations } }: LinkEvaluationRecord): string {
  if (entities + relations === 0) return 'train has every entity and relation that is asked about';
  return `queries with what train lacks, ranked last: an entity ${entities}, a relation ${relations}`;
}

const bracketed = (estimate: Estimate) =>
  `${number(estimate)} [${estimate.low.toFixed(3)}, ${estimate.high.toFixed(3)}]`;

const number = ({ value }: Estimate) => value.toFixed(3);
