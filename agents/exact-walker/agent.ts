/** Registry and loading of exact walkers. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { checkFits, readCheckpoint } from '../../checkpoints/checkpoint.js';
import { hasSameRelations, requireSameRelations } from '../../datasets/links/inductive-split.js';
import { linksHash, loadLinkDataset } from '../../datasets/links/link-dataset.js';
import { dataSettings } from '../../datasets/settings.js';
import { linkWalkSettings } from '../../envs/settings.js';
import { encoderSettings } from '../../src/encoder/settings.js';
import { meanRanker } from '../link-ensemble.js';
import type { LinkOptions, LinkRanker, LoadedRanker } from '../link-ranker.js';
import type { RunCheckpoint } from '../method.js';
import type { Graph } from '../../src/kg/graph.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { packageRoot } from '../../src/run/locations.js';
import { openTrainedRun, type TrainedRun } from '../trained-run.js';
import { chainWalker } from './chains/chains-walker.js';
import type { ExactWalker, ExactWalkerKind } from './exact-walker.js';
import { messageWalker } from './messages/message-walker.js';
import { keptNames, nameVectors, type NameVectors, type RelationNames } from './messages/relation-names.js';
import { type ExactWalkerKindName, exactWalkerSettings } from './settings.js';

const kinds: Readonly<Record<ExactWalkerKindName, ExactWalkerKind>> = { chains: chainWalker, messages: messageWalker };

/** Exact-walker kind by its name in the settings. */
export const exactWalkerKind = (name: ExactWalkerKindName): ExactWalkerKind => kinds[name];

const runConfig = z.object({
  seed: z.int(),
  data: dataSettings,
  encoder: encoderSettings,
  linkWalk: linkWalkSettings,
  exactWalker: exactWalkerSettings,
});

/** Trained exact walker. */
type LoadedExactWalker = { ranker: LinkRanker; walker: ExactWalker; seed: number; hops: number };

/** One run, or several as one ranker: the mean of their scores. @throws as `loadExactWalker` */
export async function loadExactWalkers(runs: readonly RunCheckpoint[], options: LinkOptions): Promise<LoadedRanker> {
  const members: LoadedExactWalker[] = [];
  for (const run of runs) members.push(await loadExactWalker(run, options));
  const [{ ranker, seed, hops }] = members as [LoadedExactWalker];
  const single = members.length === 1;
  return {
    ranker: single ? ranker : meanRanker(members.map((one) => one.ranker)),
    pooling: 'max',
    about: { ...(single && { seed }), horizon: hops },
    close: () => {},
  };
}

/**
 * Loads weights; refuses a checkpoint of another graph or data set. Unless the data set is that of the training, both need the same relations,
 * except for weights computed from names.
 * @throws WorkbenchError `data` for missing or inconsistent files
 */
export async function loadExactWalker(
  { folder, checkpoint }: RunCheckpoint,
  { dataset: asked, modelPath }: LinkOptions,
): Promise<LoadedExactWalker> {
  const trained = openTrainedRun(folder, runConfig, { checkpoint, modelPath });
  const { id, settings, header, tensors, file } = trained;
  const own = settings.data.dataset;
  const learned = own === asked.manifest.name ? asked : await loadLinkDataset(own);
  checkFits(header, { graph: learned.graph.hash, dataset: linksHash(learned.manifest) }, file);
  const { graph } = asked;
  const { exactWalker, seed, linkWalk } = settings;
  const kind = exactWalkerKind(exactWalker.kind);
  const hops = linkWalk.horizon;
  let names: RelationNames | undefined;
  if (!kind.suitsOthers(exactWalker)) requireSameRelations(asked, learned);
  if (kind.readsNames(exactWalker))
    names = keptNames(tensors, hasSameRelations(asked, learned) ? undefined : await encodedNames(trained, graph));
  const walker = kind.create({ graph, settings: exactWalker, hops, seed, names });
  walker.restore(tensors);
  return { ranker: walker.ranker(id), walker, seed, hops };
}

/** Weights of the package, which suit any graph: several networks, trained from different seeds. */
export const zeroShotFiles: readonly string[] = [0, 1, 2].map((seed) => `kgwalk-zero-shot-${seed}.safetensors`);
const packaged = (name: string) => join(packageRoot(), 'models', 'zero-shot', name);

/**
 * Exported weights with relation vectors from how relations meet.
 * @param file of `kgwalk checkpoint export`, of a run with `relations: graph`; default the first of the package
 * @throws WorkbenchError `data` for a file that is not there or holds weights of one graph
 */
export function anyGraphWeights(file = packaged(zeroShotFiles[0]!)) {
  const { header, tensors, seal } = readCheckpoint(file, { own: true });
  const { success, data: settings } = runConfig.safeParse(header.config);
  if (!success || settings.exactWalker.messages.relations !== 'graph') {
    throw new WorkbenchError(
      'data',
      `expected weights with exactWalker.messages.relations=graph, got others, at ${file}`,
      {
        hint: 'Train link-messages with it on any links and export the run: `kgwalk checkpoint export RUN --to FILE`.',
      },
    );
  }
  return { settings, tensors, seal };
}

/**
 * Ranker of exported weights on a graph that they were not trained on.
 * @param file or several with pluses between, whose mean is taken; '' for those of the package
 * @throws as `anyGraphWeights`
 */
export function zeroShotRanker(file: string, graph: Graph): { ranker: LinkRanker; seal: string; learnedOn: string } {
  const files = file === '' ? zeroShotFiles.map(packaged) : file.split('+');
  const members = files.map((one) => {
    const { settings, tensors, seal } = anyGraphWeights(one);
    const { exactWalker, seed, linkWalk, data } = settings;
    const walker = exactWalkerKind(exactWalker.kind).create({
      ...{ graph, seed, settings: exactWalker, hops: linkWalk.horizon },
    });
    walker.restore(tensors);
    return { ranker: walker.ranker('zero-shot'), seal, learnedOn: data.dataset };
  });
  const [first] = members as [(typeof members)[0]];
  if (members.length === 1) return first;
  return {
    ranker: { ...meanRanker(members.map(({ ranker }) => ranker)), name: 'zero-shot' },
    seal: createHash('sha256')
      .update(members.map(({ seal }) => seal).join())
      .digest('hex'),
    learnedOn: [...new Set(members.map(({ learnedOn }) => learnedOn))].join(' and '),
  };
}

/** Name vectors of a graph with other relations, by the run's encoder. */
async function encodedNames(run: TrainedRun<z.output<typeof runConfig>>, graph: Graph): Promise<NameVectors> {
  const encoder = await run.openEncoder();
  try {
    checkFits(run.header, { encoder: encoder.id }, run.file);
    return await nameVectors(encoder, graph, { settings: run.settings.encoder });
  } finally {
    await encoder.dispose();
  }
}
