/** The work of training a walker of link queries, phase by phase, without doing it. */
import type { RunSettings } from '../../presets/schema.js';
import type { TrainingPlan } from '../training-plan.js';

/** @throws WorkbenchError `data` for a data set that was not imported, is of another kind or was altered */
export async function linkPlan(settings: RunSettings): Promise<TrainingPlan> {
  const { openLinkTrainingData } = await import('../../trainers/links/data.js');
  const { dataset, queries, notes } = await openLinkTrainingData(settings);
  const [data, ...others] = notes;
  const { linkWalk, transe, bilinear, clone, demonstrations, ppo } = settings;
  const triples = dataset.train.heads.length;
  const shown = Math.min(demonstrations.queries ?? Infinity, queries.heads.length);
  const walks = ppo.updates * ppo.samplesPerUpdate * ppo.explorations;
  return {
    data: data!,
    notes: others,
    transe: transe.enabled ? `${transe.epochs} epochs at most over ${triples} triples` : 'off',
    bilinear: bilinear.enabled ? `${bilinear.model}, ${bilinear.epochs} epochs at most over ${triples} triples` : 'off',
    clone: clone.enabled
      ? `${clone.epochs} epochs over shortest paths of ${shown} queries, ${demonstrations.paths} of each at most`
      : 'off',
    ppo: ppo.enabled
      ? `${ppo.updates} updates of ${ppo.samplesPerUpdate} queries, ${ppo.explorations} walks each: ${walks * linkWalk.horizon} steps`
      : 'off',
    texts: [],
  };
}
