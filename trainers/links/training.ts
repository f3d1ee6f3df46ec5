/** Training of a walker on link queries: pretrained scorers, cloning of shortest paths, policy gradients, and the best on valid. */
import { writeStartVectors } from '../../agents/link-walker/start-vectors-file.js';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import { linksHash } from '../../datasets/links/link-dataset.js';
import { linkQueryWorld } from '../../envs/link-query-world.js';
import { madeFrom } from '../../src/run/provenance.js';
import { adamWOf } from '../../src/tensor/trainable.js';
import type { Training } from '../session.js';
import type { TrainSettings } from '../train-settings.js';
import { cloneLinks } from './clone.js';
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

async function cloneInto(session: LinkSession, from: Checkpoint | undefined): Promise<void> {
  const { run, settings, data } = session;
  const { weightDecay, maxGradNorm } = settings.clone;
  run.update({ phase: 'clone' });
  const actor = walkerOf(session);
  const optimizer = adamWOf(actor.parameters, { weightDecay, maxGradNorm });
  const { graph } = data.dataset;
  madeFrom('training', 'cloning', { graph: graph.hash, split: 'train', queries: data.queries.heads.length });
  try {
    await cloneLinks(session, {
      actor,
      optimizer,
      train: linkQueryWorld(trainWalks(session)),
      valid: linkQueryWorld({ graph, queries: data.watched, horizon: settings.linkWalk.horizon }),
      evaluate: () => evaluateLinksOnValid(session, actor),
      from,
    });
  } finally {
    optimizer.dispose();
    actor.dispose();
  }
  run.update({ done: { ...run.state.done, clone: true } });
}
