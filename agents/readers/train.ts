/** Training of readers: what they make of train, their fit to its questions, and how they are judged on valid. */
import { type ReaderFacts, readBasis, writeBasis } from './facts.js';
import type { Reader, ReaderKind } from './reader.js';
import { loadReaderRuns, readerKind } from './agent.js';
import { readerKinds, type ReaderSettings } from './settings.js';
import { maskedQuestion, type QuestionSample } from '../../datasets/question.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { frontierTrie } from '../../envs/relation-walk/frontier-trie.js';
import { goldSet } from '../../envs/relation-walk/rules.js';
import { diffConfig } from '../../src/run/config-values.js';
import { numberText } from '../../src/run/figures.js';
import { countOfEvaluated } from '../../src/metrics/intervals.js';
import { Rng, sampled } from '../../src/run/seeds.js';
import { throwIfStopped, eventLoopYielder } from '../../src/run/stop.js';
import { fitPhase } from '../../trainers/phase.js';
import { logEncoding, type Session } from '../../trainers/session.js';
import type { TrainingRun } from '../../trainers/task-trainer.js';
import { relationWalkSettings } from '../../envs/settings.js';
import { questionProblems, type QuestionMethod, type QuestionTraining } from '../question-training.js';
import type { TrainSettings } from '../train-settings.js';

type WithReader = TrainSettings & { reader: ReaderSettings };

/** Each kind of reader as a method. */
export const readerMethods: Readonly<Record<string, QuestionMethod>> = Object.fromEntries(
  readerKinds.map((name): [string, QuestionMethod] => {
    const kind = readerKind(name);
    return [
      name,
      {
        section: 'reader',
        fitEvaluations: ({ reader: { fit } }: WithReader) => Math.ceil(fit.steps / fit.evalEvery),
        problems: (settings: WithReader) => [...problems(settings), ...(kind.problems?.(settings.reader) ?? [])],
        networkSize: ({ reader }: WithReader, textDim) => ({ ...kind.networkSize(reader, textDim), simdAlone: true }),
        open: (settings: WithReader, questions) => openReaderRun(kind, settings, questions),
        load: loadReaderRuns,
      },
    ];
  }),
);

/** A run of one kind of reader. @throws WorkbenchError `data` for a kept basis that is damaged */
function openReaderRun(
  kind: ReaderKind,
  { relationWalk, relationWalker, reader: own, seed }: WithReader,
  questions: QuestionTraining,
): TrainingRun {
  const { hashes, graph, valid } = questions;
  const train = shotsOf(questions.train, own.shots);
  const known = train.length < questions.train.length ? ` (${own.shots} a template)` : '';
  return {
    hashes,
    readsTexts: true,
    notes: [
      `${train.length} train${known} and ${valid.length} valid questions on graph ${graph.name}`,
      `reader ${own.kind}: ${kind.title}`,
    ],
    async phases(session, from) {
      const { run, encoder, signal } = session;
      run.update({ phase: 'encode' });
      const facts: ReaderFacts = {
        ...{ graph, encoder, settings: own, seed, folder: run.folder },
        horizon: relationWalk.horizon,
        maxTokens: relationWalker.maxTokens,
        frontiers: frontierTrie(graph, relationWalk.memoryMegabytes * 2 ** 20),
      };
      // Once something is trained on it, it is not made again: its bytes belong to the weights.
      const basis = from ? readBasis(run.folder) : await kind.basis(facts, train, signal);
      if (!from) writeBasis(run.folder, basis);
      const reader = await kind.create(facts, basis);
      await reader.prepare?.(
        [...train, ...valid].map(({ task }) => task),
        signal,
      );
      logEncoding(session);
      run.update({ done: { ...run.state.done, encode: true } });
      const chosen = sampled(valid, own.fit.evalSamples ?? Infinity, 'train/eval-samples');
      // Not as they are drawn: a resumed run would note another part of them.
      train.forEach(madeFromSamples('training', 'fitting'));
      const batches = batchesOf(train, own.fit.batchSize, seed);
      const step = async (at: number) => {
        const learningRate = learningRateAt(at, own.fit, reader.restartsAt);
        const { loss, gradNorm, figures } = await reader.step(batches(at), { step: at, learningRate });
        const common = { 'train/loss': loss, 'train/grad_norm': gradNorm, 'train/learning_rate': learningRate };
        return { metrics: { ...common, ...figures } };
      };
      const open = () =>
        fitPhase(reader, step, {
          ...{ steps: own.fit.steps, remedy: 'Lower learningRate or maxGradNorm of reader.fit.' },
          evaluatesAt: (done) => done % own.fit.evalEvery === 0,
          evaluate: () => evaluateReader(session, reader, chosen),
          close() {},
        });
      return { phases: [{ name: 'fit', open }], close: () => reader.dispose() };
    },
  };
}

/** Learning rate: linear decay to a share of the initial one, up to `restart` and again from there. @param step from 0 */
export function learningRateAt(
  step: number,
  { steps, learningRate, finalLearningRateShare }: ReaderSettings['fit'],
  restart = 0,
): number {
  const [done, of] = step < restart ? [step, restart] : [step - restart, steps - restart];
  const progress = of === 1 ? 0 : done / (of - 1);
  return learningRate * (1 - progress * (1 - finalLearningRateShare));
}

/** Questions of a step, reshuffled for each pass; the last batch of a pass may be smaller. */
export function batchesOf(train: readonly QuestionSample[], size: number, seed: number) {
  const perEpoch = Math.ceil(train.length / size);
  let drawn: { epoch: number; order: Int32Array } | undefined;
  return (step: number): QuestionSample[] => {
    const epoch = Math.floor(step / perEpoch);
    if (drawn?.epoch !== epoch) {
      const order = Rng.named(seed, 'fit/shuffle', epoch).shuffle(Int32Array.from(train.keys()));
      drawn = { epoch, order };
    }
    const begin = (step % perEpoch) * size;
    return Array.from(drawn.order.subarray(begin, begin + size), (i) => train[i]!);
  };
}

/** Some questions of each template, those that come first; all of them for `null`. */
function shotsOf(train: readonly QuestionSample[], shots: number | null): readonly QuestionSample[] {
  if (shots === null) return train;
  const taken = new Map<string, number>();
  return train.filter(({ task }) => {
    const template = maskedQuestion(task);
    const count = (taken.get(template) ?? 0) + 1;
    taken.set(template, count);
    return count <= shots;
  });
}

/** Means over questions of valid, under `eval/`; the first chooses the best checkpoint. Gold chains are counted, for information alone. */
async function evaluateReader(
  session: Pick<Session, 'progress' | 'signal'>,
  reader: Pick<Reader, 'answer'>,
  samples: readonly QuestionSample[],
): Promise<Record<string, number>> {
  const line = session.progress('evaluate on valid', samples.length, 'questions');
  const sums = { 'hit@1': 0, f1: 0, exact: 0, chain: 0 };
  let withChains = false;
  const turn = eventLoopYielder();
  for (const [i, sample] of samples.entries()) {
    throwIfStopped(session.signal);
    const { task, gold } = sample;
    const { entities, chain } = await reader.answer(task, { trace: () => {}, signal: session.signal });
    const answers = goldSet(gold);
    const golds = new Set(answers.entities);
    const right = entities.filter((entity) => golds.has(entity)).length;
    sums['hit@1'] += Number(entities.length > 0 && golds.has(entities[0]!));
    sums.f1 += right === 0 ? 0 : (2 * right) / (entities.length + answers.size);
    sums.exact += Number(right === entities.length && right === answers.size);
    sums.chain += Number(gold.chains.some((known) => known.join() === chain?.join()));
    withChains ||= gold.chains.length > 0;
    line.update(i + 1);
    await turn();
  }
  // Not before: an evaluation that is stopped has chosen nothing.
  samples.forEach(madeFromSamples('choice', 'best checkpoint'));
  const figures = Object.entries(sums).map(([key, sum]) => [`eval/${key}`, sum / samples.length] as const);
  line.finish(`Hit@1 ${numberText(sums['hit@1'] / samples.length)} %`);
  const shown = figures.filter(([key]) => withChains || key !== 'eval/chain');
  return { ...Object.fromEntries(shown), [countOfEvaluated]: samples.length };
}

const usualWalk = relationWalkSettings.parse({});

/** Settings that readers lack: walks, cloning, PPO and its rules. */
function problems(settings: WithReader): (string | false)[] {
  const { clone, ppo, relationWalk } = settings;
  const wanted = (ok: boolean, expected: string, got: unknown) =>
    !ok && `expected ${expected} with a section reader, which is fitted without walking, got ${String(got)}`;
  const others = diffConfig(relationWalk, usualWalk).filter((key) => !['horizon', 'memoryMegabytes'].includes(key));
  return [
    ...questionProblems(settings),
    wanted(!ppo.enabled, 'ppo.enabled=false', ppo.enabled),
    wanted(!clone.enabled, 'clone.enabled=false', clone.enabled),
    wanted(others.length === 0, 'relationWalk.horizon and relationWalk.memoryMegabytes alone', others.join(', ')),
  ];
}
