/** What the page says of link queries: results set by set, settings compared, chains of relations, worked queries. */
import { linkDirections, type LinkDirection, type LinkExample } from '../src/run/link-records.js';
import { barChart } from './bar-chart.js';
import { palette } from './chart.js';
import type { LinkExampleView, PartView, ResultView } from './html.js';
import { figureOf, mainLinkRow, titleOfLinks, type LinkGroups, type LinkSet } from './link-results.js';
import { compareSettings, settingFigures, settingTable } from './link-settings.js';
import { chainTable, directionNames, directionTable, linkFacts, linkTable, shownChains } from './link-tables.js';
import type { ChartGroup, Draw, NamedChart } from './pictures.js';
import { interval, percent, plain, readRelation } from './words.js';

/** Every set of triples, then the settings of the runs on each data set compared. */
export async function linkResults(
  sets: readonly LinkSet[],
  trained: readonly LinkGroups[],
  draw: Draw,
): Promise<ResultView[]> {
  const views: ResultView[] = [];
  for (const [i, set] of sets.entries()) {
    const folded = sets.findIndex(({ dataset }) => dataset === set.dataset) < i;
    views.push({ title: titleOfLinks(set), folded, parts: await partsOf(set, draw) });
  }
  for (const { dataset, groups } of trained) {
    const compared = compareSettings(groups);
    if (!compared) continue;
    const figures = await draw(settingFigures(compared, dataset));
    views.push({ title: `Settings compared on ${dataset}`, parts: [{ table: settingTable(compared) }, { figures }] });
  }
  return views;
}

/** Worked queries of the first set's walker. */
export function workedLinks(sets: readonly LinkSet[]): LinkExampleView[] {
  const examples = (sets[0] && mainLinkRow(sets[0])?.record.examples) ?? [];
  return examples.slice(0, shownExamples).map(exampleView);
}

const shownExamples = 6;

async function partsOf(set: LinkSet, draw: Draw): Promise<PartView[]> {
  const chained = set.rows.filter(({ record }) => record.chains?.length);
  const main = mainLinkRow(set);
  return [
    { table: linkTable(set), caption: tableCaption(set) },
    { figures: await draw(linkBars(set)) },
    ...chained.map(({ label, record, seeds }): PartView => {
      const chains = record.chains!;
      const relations = new Set(chains.map(({ relation }) => relation)).size;
      return {
        heading: `Chains of relations: ${label}`,
        table: chainTable(chains),
        caption: `By what chain the first answer to a query was reached, how often, and how often that answer was right; stays are left out. ${shownOf(chains.length, relations)}${seeds > 1 ? ' Of one seed.' : ''}`,
        folded: label !== main?.label,
      };
    }),
    ...linkDirections
      .filter((direction) => set.rows.some(({ directions }) => directions[direction]))
      .map((direction): PartView => ({
        heading: `All figures, ${directionNames[direction]}`,
        table: directionTable(set, direction),
        ...(walks(set, direction) && { caption: beamCaption }),
        folded: true,
      })),
    { heading: 'What can be answered at all', facts: linkFacts(set), folded: true },
  ];
}

const walks = ({ rows }: LinkSet, direction: LinkDirection) =>
  rows.some(({ directions }) => directions[direction]?.reached);

function shownOf(chains: number, relations: number): string {
  const all = `${plain(chains)} ${chains === 1 ? 'chain' : 'chains'} of ${plain(relations)} ${relations === 1 ? 'relation' : 'relations'}`;
  return chains > shownChains ? `The first ${shownChains} of ${all}; the evaluation holds them.` : `${all}.`;
}

/** MRR and Hits@1 of the set's main direction, with what no walk can exceed. */
function linkBars(set: LinkSet): ChartGroup[] {
  const { rows, main, n } = set;
  const bound = reachableBound(set);
  const charts = (['mrr', 'hits@1', 'hits@10'] as const).flatMap((key): NamedChart[] => {
    const bars = rows.flatMap((row) => {
      const { label, own, group = 0 } = row;
      const figure = figureOf(row, main, key);
      return figure ? [{ label, figure, ...(own && { color: palette[group % palette.length]! }) }] : [];
    });
    if (bars.length === 0) return [];
    const title = `${key === 'mrr' ? 'MRR' : key.replace('hits', 'Hits')} of ${directionNames[main]}, %`;
    const said = bars.map(({ label, figure }) => `${label} ${percent(figure.value)} (${interval(figure)[0]!})`);
    return [
      {
        name: ['links', set.dataset, set.split, n, key].join('-'),
        alt: `${title}, of ${plain(n)} triples, with 95 % intervals: ${said.join(', ')}`,
        chart: barChart(bars, { title, percent: true, bound }),
      },
    ];
  });
  const caption =
    'Whiskers: 95\u00a0% bootstrap interval over triples. Colour: trained walkers; grey: what learns no walk, which may rank any entity.';
  return charts.length > 0 ? [{ charts, caption }] : [];
}

/** The share of answers within the horizon of the walker. */
function reachableBound({ rows, main }: LinkSet): { label: string; value: number } | undefined {
  const row = rows.find(({ own, record }) => own && record.horizon !== undefined);
  const figure = row?.directions[main]?.[`reachable@${row.record.horizon}`];
  if (!figure || figure.value >= 0.9995) return undefined;
  return { label: `walks reach ${percent(figure.value)}`, value: figure.value };
}

const beamCaption =
  'Summed: an entity counts by the probability of all walks of the beam that end there, else by its best walk. In the beam: share of the answers that some walk of it reached.';

function tableCaption({ rows, main }: LinkSet): string {
  const walker = rows.find(({ own }) => own)?.record;
  return [
    'Filtered by the triples of all splits; ties share their ranks (realistic); answers that no walk reached rank below all that were. Failures included.',
    'Below each figure: 95\u00a0% bootstrap interval over triples, averaged over seeds where there are several, then ± the standard deviation over seeds.',
    walker?.beamWidth !== undefined && `Beam ${walker.beamWidth}, ${walker.horizon} steps.`,
    rows.some(({ own }) => own) &&
      'With walkers an entity counts by its best walk or, where that is said, by the probability of all walks of the beam that end there: the settings of the run choose.',
    main === 'tail' && 'Papers on walkers count tails alone, those on embeddings both directions.',
  ]
    .filter(Boolean)
    .join(' ');
}

function exampleView({ head, relation, answer, rank, answers }: LinkExample): LinkExampleView {
  const asked = readRelation(relation);
  return {
    asked: asked.inverse ? ['?', asked.relation, head] : [head, asked.relation, '?'],
    answer,
    right: rank === 1,
    verdict: rank === 1 ? 'right' : `ranked ${plain(rank)}`,
    answers: answers.map(({ logProb, right, known, path }) => {
      const probability = Math.exp(logProb);
      return {
        start: head,
        hops: path.map(([, name, tail], i) => ({
          ...readRelation(name),
          entity: tail,
          mark: i < path.length - 1 || !(right || known) ? '' : 'right',
        })),
        note: known && !right ? 'right, too' : '',
        share: `${(100 * probability).toFixed(1)} %`,
        width: Math.round(100 * probability),
      };
    }),
  };
}
