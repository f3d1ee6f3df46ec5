/** A trained walker over edges as an agent that answers questions. */
import { z } from 'zod';
import type { QuestionTask } from '../../datasets/question.js';
import type { WalkTask } from '../../datasets/walk-sample.js';
import { edgeWalkTask } from '../../envs/dialogue-walk/question-edge-walk.js';
import { initialState } from '../../envs/dialogue-walk/rules.js';
import { executeChain } from '../../src/kg/frontier.js';
import { type ComputerName, openBackend } from '../../src/tensor/backend.js';
import type { RankedPath } from '../agent.js';
import { chainAnswer, noAnswer, type QuestionAgent } from '../question-agent.js';
import { walkCollector } from '../top-paths.js';
import { type LoadedQuestionWalker, loadQuestionWalker, type OpenQuestionWalker } from '../trained-run.js';
import { contextDimOf, type TaskVectors } from './features/featurizer.js';
import { restoredPolicy, walkerInputs } from './inputs.js';
import type { Policy } from './policy.js';
import { encodeTasks, readTables } from './vectors.js';
import { beamSearch } from './walker-agent.js';
import { readVocabulary } from './words/vocabulary.js';
import { walkerRunSettings } from './walker-parts.js';

/**
 * Inputs: the question with `[E]` for its topic, and the first topic that the graph has. Calls: none. It follows the most
 * probable walks over edges, adds up the probability of those that take the same relations, and answers with everything
 * that the likeliest relations lead to: a better set than the walks' own ends, whose probability is spread over fan-out.
 *
 * Truth questions are abstained from: it finds entities. The caller keeps and disposes the policy's head.
 */
function questionEdgeAgent(
  policy: Policy,
  name: string,
  beamWidth: number,
  encode: (tasks: readonly WalkTask[], signal?: AbortSignal) => Promise<TaskVectors>,
): QuestionAgent {
  const { featurizer } = policy;
  const { graph, rules } = featurizer.parts;
  const collector = walkCollector(graph, { beamWidth });
  let known: TaskVectors | undefined;
  return {
    name,
    topicGiven: true,
    prompted: false,
    async prepare(tasks: readonly QuestionTask[], signal) {
      const walks = tasks.map((task) => edgeWalkTask(task));
      known = await encode(walks, signal);
    },
    async answer(task, { trace, signal }) {
      if (task.form !== 'entities') return noAnswer('form');
      const walk = edgeWalkTask(task);
      const { start } = walk;
      if (initialState(graph, start, rules).done) return noAnswer('no topic');
      trace({ event: 'start', entities: [start] });
      const texts = known?.rowOf.has(task.id) ? known : await encode([walk], signal);
      const reader = { ...policy, featurizer: featurizer.over(texts) };
      const [ranking] = await beamSearch(reader, [walk], beamWidth, collector);
      const { relations, probability } = likeliestRelations(ranking!.paths);
      for (const relation of relations) {
        trace({ event: 'graph', operation: `follow ${graph.relationNames[relation]!}`, reads: 1 });
      }
      const frontier = executeChain(graph, [start], relations, rules.noReturn ? [start] : []);
      trace({ event: 'stop', reason: 'walked' });
      const node = { topics: [start], relations: Int32Array.from(relations), frontier };
      const cost = { encodes: 1, graphReads: relations.length };
      return chainAnswer(graph, node, { stop: 'walked', confidence: probability, cost });
    },
  };
}

/** The relations that most of the walks' probability takes; equal sums: those of the better walk. */
function likeliestRelations(paths: readonly RankedPath[]): { relations: readonly number[]; probability: number } {
  const sums = new Map<string, { relations: readonly number[]; probability: number }>();
  for (const { path, logProb } of paths) {
    const relations = path.map(([, relation]) => relation);
    const key = relations.join();
    const probability = (sums.get(key)?.probability ?? 0) + Math.exp(logProb);
    sums.set(key, { relations, probability });
  }
  return [...sums.values()].reduce((best, other) => (other.probability > best.probability ? other : best));
}

/** The settings of a run that loading needs; others may be there. */
const runConfig = walkerRunSettings.extend({ evaluation: z.object({ beamWidth: z.int() }) });

/** As for any walker over questions, and what computes it. */
export interface LoadQuestionEdgeOptions extends OpenQuestionWalker {
  /** Backend to compute with; default the run's own. */
  backend?: ComputerName | 'auto';
}

/** @throws as `loadQuestionWalker`, and WorkbenchError `native` without a backend */
export function loadQuestionEdgeRun(
  runFolder: string,
  options: LoadQuestionEdgeOptions,
): Promise<LoadedQuestionWalker> {
  return loadQuestionWalker(runFolder, runConfig, options, async (run) => {
    const { folder, tensors, dataset, graph, encoder } = run;
    const { env, walker, evaluation, name, backend, encoder: encoderSettings } = run.settings;
    const { tf } = await openBackend(options.backend ?? backend, {
      rows: 64,
      inputs: contextDimOf(encoder.dim, false),
      units: walker.width,
    });
    const inputs = await walkerInputs({
      tf,
      settings: walker,
      encoderSettings,
      graph,
      rules: { horizon: env.horizon, equalAtStep1: env.equalAtStep1, noReturn: !dataset.manifest.topicsReturn },
      encoder,
      // Questions have no gold walks to count.
      train: [],
      tables: readTables(folder),
      vocabulary: readVocabulary(folder),
    });
    const policy = restoredPolicy(tf, inputs, tensors);
    const agent = questionEdgeAgent(policy, name, options.beamWidth ?? evaluation.beamWidth, (tasks, signal) =>
      encodeTasks(encoder, tasks, { settings: encoderSettings, signal }),
    );
    return { agent, dispose: () => policy.head.dispose() };
  });
}
