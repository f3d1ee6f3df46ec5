/** Training of exact walkers: what of train they see, their fit to it, and how they are judged on valid. */
import { anyGraphWeights, exactWalkerKind, loadExactWalkers } from './agent.js';
import { exactWalkerKinds, type ExactWalkerSettings, type MessageSettings } from './settings.js';
import { keptNames, nameComponents, nameVectors, type RelationNames } from './messages/relation-names.js';
import type { Checkpoint } from '../../checkpoints/checkpoint.js';
import { linksHash } from '../../datasets/links/link-dataset.js';
import { type Graph, sampledTriples } from '../../src/kg/graph.js';
import { diffConfig } from '../../src/run/config-values.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { madeFrom } from '../../src/run/provenance.js';
import { fitPhase } from '../../trainers/phase.js';
import type { Session } from '../../trainers/session.js';
import type { TrainingRun } from '../../trainers/task-trainer.js';
import { linkWalkSettings } from '../../envs/settings.js';
import { linkWalkerSettings } from '../path-walker/settings.js';
import type { TrainSettings } from '../train-settings.js';
import { rankOnValid } from '../link-ranks.js';
import { type LinkMethod, linkProblems, type LinkTraining } from '../link-training.js';

/** Settings with the section that names an exact walker. */
type ExactSettings = TrainSettings & { exactWalker: ExactWalkerSettings };

/** Each kind of exact walker as a method. */
export const exactMethods: Readonly<Record<string, LinkMethod>> = Object.fromEntries(
  exactWalkerKinds.map((kind): [string, LinkMethod] => [
    kind,
    {
      section: 'exactWalker',
      fitEvaluations: ({ exactWalker }: ExactSettings) => exactWalker.evaluations,
      problems,
      networkSize: () => ({ rows: 1, inputs: 1, units: 1, simdAlone: true }),
      open: openRun,
      load: loadExactWalkers,
    },
  ]),
);

/** @throws WorkbenchError `data` for a graph without inverses */
function openRun(settings: ExactSettings, data: LinkTraining): TrainingRun {
  const { exactWalker: own, linkWalk, seed } = settings;
  const { dataset, queries } = data;
  const { graph, manifest } = dataset;
  requireInverses(graph);
  const kind = exactWalkerKind(own.kind);
  return {
    readsTexts: kind.readsNames(own),
    hashes: { graph: graph.hash, dataset: linksHash(manifest) },
    notes: [...data.notes, `exact walker ${own.kind}: ${kind.plan({ graph, settings: own })}`],
    async phases(session, from) {
      const { threads = 1, signal } = session;
      madeFrom('training', 'fitting', { graph: graph.hash, split: 'train', queries: queries.heads.length });
      const names = kind.readsNames(own) ? await namesOf(session, own, graph, from) : undefined;
      const walker = kind.create({ graph, settings: own, hops: linkWalk.horizon, seed, names });
      if (own.messages.from !== undefined && !from) walker.restore(initialWeights(settings));
      const ranker = walker.ranker(own.kind);
      const watched = sampledTriples(data.valid, own.evalSamples ?? Infinity, 'train/eval-samples');
      const open = () => {
        const trainer = walker.trainer({ queries, pairs: data.hidePairs, threads, signal });
        const { steps, unit } = trainer;
        const share = (step: number) => Math.floor((step * own.evaluations) / steps);
        const step = async (at: number) => {
          const { loss, figures } = await trainer.step(at);
          return { metrics: { 'train/loss': loss, ...figures } };
        };
        return fitPhase(walker, step, {
          ...{ steps, unit, remedy: 'Lower learningRate or maxGradNorm of exactWalker.messages.' },
          evaluatesAt: (done) => share(done) > share(done - 1),
          evaluate: () => rankOnValid(session, data, ranker, watched),
          close: () => trainer.close(),
        });
      };
      return { phases: [{ name: 'fit', open }] };
    },
  };
}

/** Weights of another run of the same sizes. @throws WorkbenchError `config` for other sizes, else as `anyGraphWeights` */
function initialWeights({ exactWalker: { messages }, linkWalk }: ExactSettings) {
  const { from } = messages;
  const { settings, tensors } = anyGraphWeights(from === 'zero-shot' ? undefined : from);
  const sizes = ({ horizon }: { horizon: number }, { relations, channels, maximum }: MessageSettings) =>
    `linkWalk.horizon=${horizon} relations=${relations} channels=${channels} maximum=${maximum}`;
  const [wanted, got] = [sizes(settings.linkWalk, settings.exactWalker.messages), sizes(linkWalk, messages)];
  if (wanted === got) return tensors;
  throw new WorkbenchError(
    'config',
    `expected the sizes of the weights (${wanted}), got ${got}, at exactWalker.messages.from`,
    {
      hint: 'Take the preset link-zero-shot, or set them, with exactWalker.reach=0.',
    },
  );
}

/** Names of relations as weights read them: as they were at the start; components are of those that train has edges of. */
async function namesOf(
  session: Session,
  own: ExactWalkerSettings,
  graph: Graph,
  from: Checkpoint | undefined,
): Promise<RelationNames> {
  if (from) return keptNames(from.tensors);
  const { encoder, settings, progress, signal } = session;
  const vectors = await nameVectors(encoder, graph, { settings: settings.encoder, progress, signal });
  const plain = graph.numRelations / 2;
  const known = [...new Set(graph.relations)].filter((relation) => relation < plain).sort((a, b) => a - b);
  madeFrom('normaliser', 'principal components (relation names)', { graph: graph.hash, relations: known.length });
  return nameComponents(vectors, Int32Array.from(known), own.messages.nameComponents);
}

/** @throws WorkbenchError `data` for a relation that cannot be walked back, as in an import of before long names were kept whole */
function requireInverses({ name, inverseOf, relationNames }: Graph): void {
  const alone = inverseOf.indexOf(-1);
  if (alone < 0) return;
  const relation = JSON.stringify(relationNames[alone]);
  throw new WorkbenchError('data', `expected the inverse of each relation, got none of ${relation}, at graph ${name}`, {
    hint: 'Import the data set again: `kgwalk datasets import`.',
  });
}

const usualWalk = linkWalkSettings.parse({});
const usualWalker = linkWalkerSettings.parse({});

/** Settings that exact walkers lack: cloning, PPO and its rules, and more hops than a kind takes. */
function problems(settings: ExactSettings): (string | false)[] {
  const { clone, ppo, linkWalk, linkWalker, env, exactWalker } = settings;
  const { mostHops } = exactWalkerKind(exactWalker.kind);
  const wanted = (ok: boolean, expected: string, got: unknown) =>
    !ok && `expected ${expected} with a section exactWalker, which draws no walk, got ${String(got)}`;
  const others = [
    ...diffConfig(linkWalk, usualWalk).filter((key) => !['horizon', 'bothDirections', 'hide', 'queries'].includes(key)),
    ...diffConfig(linkWalker, usualWalker).map((key) => `linkWalker.${key}`),
  ];
  return [
    ...linkProblems(settings),
    wanted(!ppo.enabled, 'ppo.enabled=false', ppo.enabled),
    wanted(!clone.enabled, 'clone.enabled=false', clone.enabled),
    wanted(linkWalk.horizon <= mostHops, `linkWalk.horizon of at most ${mostHops}`, linkWalk.horizon),
    wanted(
      others.length === 0,
      `linkWalk.horizon, bothDirections, hide and queries alone of env.id=${env.id}`,
      others.join(', '),
    ),
  ];
}
