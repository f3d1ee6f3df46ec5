/** Training of a walker on link queries: pretrained scorers, cloning of shortest paths, policy gradients, and the best on valid. */
import { writeStartVectors } from '../../agents/link-walker/vectors.js';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import { linksHash } from '../../datasets/links/link-dataset.js';
import { linkQueryWorld } from '../../envs/link-query/world.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { madeFrom } from '../../src/run/provenance.js';
import { adamWOf } from '../../src/tensor/adamw.js';
import { clone } from '../clone.js';
import { clonePhase } from '../clone-phase.js';
import { demonstrationsOf, shownDemonstrations } from '../demonstrations.js';
import type { Training } from '../session.js';
import type { TrainSettings } from '../train-settings.js';
import { openLinkTrainingData } from './data.js';
import { evaluateBestLinks, evaluateLinksOnValid } from './evaluate-valid.js';
import { trainWalks, walkerOf, type LinkSession } from './learner.js';
import { linkPpo } from './ppo.js';
import { openScorers } from './scorers.js';

/** @throws WorkbenchError `data` for a data set that is not there or holds something else */
export async function openLinkTraining(settings: TrainSettings): Promise<Training> {
  const data = await openLinkTrainingData(settings);
  const { graph, manifest } = data.dataset;
  return {
    readsTexts: false,
    hashes: { graph: graph.hash, dataset: linksHash(manifest) },
    notes: data.notes,
    async run(session, from) {
      const { run, replayed } = session;
      const scorers = await openScorers(session, data);
      if (scorers.start && !settings.linkWalker.trainVectors) writeStartVectors(run.folder, scorers.start);
      const links = { ...session, data, scorers };
      if (settings.clone.enabled && from?.header.phase !== 'ppo') {
        await cloneInto(links, from);
        if (replayed) return;
      }
      if (settings.ppo.enabled) {
        run.update({ phase: 'ppo' });
        await linkPpo(links, from?.header.phase === 'ppo' ? from : undefined);
        run.update({ done: { ...run.state.done, ppo: true } });
      }
      if (!replayed) await evaluateBestLinks(links);
    },
  };
}

/** Queries of valid whose walks tell the loss after an epoch. */
const validQueries = 500;

/** @throws WorkbenchError `data` where no answer of train is within the horizon */
async function cloneInto(session: LinkSession, from: Checkpoint | undefined): Promise<void> {
  const { run, settings, data } = session;
  const { weightDecay, maxGradNorm, batchSize } = settings.clone;
  const { horizon } = settings.linkWalk;
  const { graph } = data.dataset;
  run.update({ phase: 'clone' });
  const [train, valid] = [trainWalks(session), { graph, queries: data.watched, horizon }].map(linkQueryWorld);
  const actor = walkerOf(session);
  const optimizer = adamWOf(actor.parameters, { weightDecay, maxGradNorm });
  madeFrom('training', 'cloning', { graph: graph.hash, split: 'train', queries: data.queries.heads.length });
  try {
    const shown = demonstrationsOf(train!, settings.demonstrations, settings.seed, 'demonstrations');
    if (shown.queries.length === 0) {
      throw new WorkbenchError(
        'data',
        `expected answers within ${horizon} steps of their heads to clone walks to, got none among ${shown.asked} queries of train`,
        { hint: 'Raise linkWalk.horizon, or train without a clone: clone.enabled=false.' },
      );
    }
    const checked = demonstrationsOf(valid!, { paths: 1, queries: validQueries }, 0, 'demonstrations/valid');
    const walks = {
      train: shownDemonstrations(train!, shown, actor, batchSize),
      valid: shownDemonstrations(valid!, checked, actor, batchSize),
    };
    await clonePhase(session, {
      trainee: { actor, optimizer },
      // Of many shortest paths that lead to an answer the loss wants each, ranks any: on UMLS the loss is lowest after two epochs,
      // while the ranks get better for six.
      lossName: 'eval/path_loss',
      evaluate: () => evaluateLinksOnValid(session, actor),
      from,
      clone: (course) => clone({ ...course, ...walks, actor, optimizer }),
    });
  } finally {
    optimizer.dispose();
    actor.dispose();
  }
  run.update({ done: { ...run.state.done, clone: true } });
}
