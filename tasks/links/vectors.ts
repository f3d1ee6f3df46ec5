/** `kgwalk pretrain` and `embeddings import` on links: scorers of a data set, and how they rank valid and test. */
import { loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { sidedLinkMetrics, type SidedLinkMetrics } from '../../src/embedding/scorers.js';
import { WorkbenchError } from '../../src/run/errors.js';
import type { Section } from '../../src/run/evaluation.js';
import { type LinkScorerSection, openLinkScorer } from '../../agents/embeddings/link-scorers.js';
import type { TrainSettings } from '../../agents/train-settings.js';
import { type PretrainFlags, type Shown, ShownPage, type TaskVectors, type Work } from '../task.js';

/** Scorers of links, chosen and ranked by valid. */
export const linkVectors: TaskVectors = {
  pretrain,
  async graphOf(dataset) {
    const { graph, valid, known } = await loadLinkDataset(dataset);
    return { graph, held: { triples: valid, known } };
  },
};

/** One scorer with its figures: filtered by all splits, realistic ranks. */
interface PretrainedScorer {
  name: string;
  file: string;
  reused: boolean;
  /** Absent where the split has no triples. */
  valid?: SidedLinkMetrics;
  test?: SidedLinkMetrics;
}

/**
 * Trains or finds each scorer that the settings enable, on train, chosen by valid, with its figures.
 * @throws WorkbenchError `config` where none is enabled, `data` for a data set that was not imported
 */
async function pretrain(
  settings: TrainSettings,
  { threads, test, graph }: PretrainFlags,
  { progress, signal }: Work,
): Promise<Shown> {
  if (graph !== undefined) {
    throw new WorkbenchError('usage', `expected no --graph with a data set of links, got ${graph}`, {
      hint: 'Links have one graph, that of train: leave --graph out.',
    });
  }
  const enabled = (['transe', 'bilinear'] as const).filter((section) => settings[section].enabled);
  if (enabled.length === 0) {
    const got = 'transe.enabled=false and bilinear.enabled=false';
    throw new WorkbenchError('config', `expected something to pretrain, got ${got}`);
  }
  const dataset = await loadLinkDataset(settings.data.dataset);
  const splits = test ? (['valid', 'test'] as const) : (['valid'] as const);
  const train = async (section: LinkScorerSection): Promise<PretrainedScorer> => {
    const { scorer, file, reused } = await openLinkScorer(section, dataset, settings, { threads, progress, signal });
    const figures = splits.flatMap((split) => {
      if (dataset[split].heads.length === 0) return [];
      return [[split, sidedLinkMetrics(scorer.ranks(dataset[split], dataset.known))]];
    });
    return { name: scorer.name, file, reused, ...(Object.fromEntries(figures) as Partial<PretrainedScorer>) };
  };
  const scorers: PretrainedScorer[] = [];
  for (const section of enabled) scorers.push(await train(section));
  const page = new ShownPage(scorers);
  for (const { name, file, reused } of scorers)
    page.line(`${name} ${reused ? 'kept from before' : 'trained'}: ${file}`);
  page.table(scorers.flatMap((scorer) => splits.flatMap((split) => rowsOf(scorer, split))));
  page.line(
    'filtered by all splits, realistic ranks; an entity that train lacks is ranked by the vector it happens to have',
  );
  return page;
}

type Row = NonNullable<Section['rows']>[number];

function rowsOf(scorer: PretrainedScorer, split: 'valid' | 'test'): Row[] {
  const metrics = scorer[split];
  if (!metrics) return [];
  const asked = { tail: 'tail (h, r, ?)', head: 'head (?, r, t)', both: 'both' } as const;
  return (['tail', 'head', 'both'] as const).map((side) => {
    const { n, ...shares } = metrics[side];
    const figures = Object.entries(shares).map(([key, value]) => [key, (value as number).toFixed(3)]);
    return { scorer: scorer.name, split, asked: asked[side], ...(Object.fromEntries(figures) as Row), queries: n };
  });
}
