import { describe, expect, test } from '@jest/globals';
import type { Agent, Answer } from '../../agents/agent.js';
import type { WalkSample, WalkTask } from '../../datasets/walk-sample.js';
import { batchAsker } from '../../evaluation/ask.js';
import { compareEvaluations, pairedOverSeeds } from '../../evaluation/compare.js';
import { evaluate } from '../../evaluation/evaluate.js';
import { evaluationSettings } from '../../trainers/run-settings.js';
import { throughputMeter } from '../../evaluation/throughput-meter.js';
import { confidenceOf, watchDecisions } from '../../evaluation/watch-decisions.js';
import type { Path } from '../../src/kg/graph.js';
import type { Decided, Decision, DecisionClient } from '../../src/llm/decision.js';
import { loadConfig } from '../../src/run/config.js';
import { WorkbenchError } from '../../src/run/errors.js';
import { checkArkCount, seenEntities } from '../../tasks/dialogues/row.js';
import { dialogueMeasure, dialogueScorer } from '../../tasks/dialogues/score.js';
import { namedWalk, sampleOf, world } from '../agents/baselines/toy-world.js';
import { evaluatedDialogues } from '../fixtures/evaluated.js';
import { finalEntities } from '../fixtures/final-entities.js';
import * as sample from '../fixtures/sample-decisions.js';
import { scriptedClient } from '../fixtures/scripted-client.js';

const director = namedWalk('Heat', 'directed_by', 'Mann');
const star = namedWalk('Heat', 'starred', 'Pacino');
const other = namedWalk('Heat', 'directed_by', 'Mann', '~directed_by', 'Ali');

const answerOf = (task: WalkTask, ...paths: Path[]): Answer => {
  const ranked = paths.map((path, i) => ({ path, logProb: -1 - i }));
  return {
    paths: ranked,
    answers: finalEntities(ranked, task.start, world.equalRelation),
    confidence: 0.5,
    cost: { encodes: 2 },
  };
};
/** Answers by a function; may throw. */
const agentOf = (reply: (task: WalkTask) => Answer, name = 'toy'): Agent => ({
  name,
  answer: async (tasks) => tasks.map(reply),
});
const settings = evaluationSettings.parse({ resamples: 50, batchSize: 2 });
const options = {
  graph: world,
  settings,
  seenTargets: seenEntities([sampleOf('t', star)]),
  about: { dataset: 'toy', split: 'valid', turns: 'all' },
};

const samples: WalkSample[] = [
  sampleOf('hit', director),
  sampleOf('second', star, { sender: 'user', earlierPaths: [director] }),
  sampleOf('two', other),
  sampleOf('lonely', [[world.entityId('Lonely'), 0, 0]]),
  sampleOf('nowhere', namedWalk('Heat', 'starred', 'Nobody')),
  sampleOf('broken', director),
];
const toy = agentOf((task) => {
  if (task.id === 'broken') throw new Error('no more memory');
  return answerOf(task, director, star);
});

describe('an evaluation', () => {
  test('B-CRUSE-1: keeps every sample in the denominator and says why golds were missed', async () => {
    const { record, rows, failures } = await evaluatedDialogues(toy, samples, options);
    expect(record.n).toBe(6);
    expect(rows.map(({ path }) => path)).toEqual([1, 2, 0, 0, 0, 0]);
    expect(record.metrics['path@1']).toMatchObject({ value: 1 / 6, n: 6 });
    expect(record.metrics['path@3']!.value).toBeCloseTo(2 / 6, 12);
    expect(record.metrics.mrr!.value).toBeCloseTo(1.5 / 6, 12);
    expect(record.misses).toEqual({
      'start-without-edges': 1,
      'gold-not-in-graph': 1,
      'agent-failed': 1,
      'not-ranked': 1,
    });
    expect(failures).toEqual([{ id: 'broken', message: 'no more memory' }]);
    expect(record.cost).toEqual({ encodes: { mean: 8 / 6, median: 2, p95: 2, max: 2, total: 8 } });
    expect(Object.keys(record.metrics)).toHaveLength(5 * 5 + 2);
  });

  test('B-CRUSE-1: asks a failing batch again one by one, so that neighbours keep their answers', async () => {
    const { rows } = await evaluatedDialogues(toy, [samples[5]!, samples[0]!], options);
    expect(rows.map(({ path }) => path)).toEqual([0, 1]);
  });

  test('gives NLL over the golds that can be walked, names the others, and hands walks over after the answers', async () => {
    const calls: string[] = [];
    const likely: Agent = {
      name: 'likely',
      answer: async (tasks) => {
        calls.push(`answer ${tasks.map(({ id }) => id).join()}`);
        return tasks.map((task) => answerOf(task, director));
      },
      logProbs: async (given) => {
        calls.push(`judge ${given.map(({ task }) => task.id).join()}`);
        return given.map(({ paths }) => paths.map((path) => (world.holds(path) ? -path.length : NaN)));
      },
    };
    const { record, rows } = await evaluatedDialogues(likely, samples, options);
    expect(calls).toEqual(['hit,second', 'two,nowhere', 'broken'].flatMap((ids) => [`answer ${ids}`, `judge ${ids}`]));
    expect(rows.map(({ goldLogProb }) => goldLogProb)).toEqual([-1, -1, -2, undefined, undefined, -1]);
    expect(record.metrics.nll).toMatchObject({ value: 5 / 4, n: 4 });
    expect(record.figures.find(({ key }) => key === 'nll')).toMatchObject({ better: 'low', place: 'main' });
    expect(record.sections.find(({ title }) => title === 'Likelihood of the golds')!.lines).toEqual([
      'NLL is over 4 of 6 golds; not over 1 gold-not-in-graph, 1 start-without-edges',
    ]);
  });

  test('leaves NLL out for an agent that is no distribution over walks', async () => {
    const { record } = await evaluatedDialogues(toy, samples, options);
    expect([record.metrics.nll, record.figures.find(({ key }) => key === 'nll')]).toEqual([undefined, undefined]);
    expect(record.sections.map(({ title }) => title)).toEqual(['What can be answered']);
  });

  test('never shows golds to the agent and never asks about a start without edges', async () => {
    const asked: string[] = [];
    const curious = agentOf((task) => {
      asked.push(task.id);
      expect(Object.keys(task)).not.toContain('gold');
      return answerOf(task, director);
    });
    await evaluatedDialogues(curious, samples, options);
    expect(asked).toEqual(['hit', 'second', 'two', 'nowhere', 'broken']);
  });

  test('has a row of a start without edges with and without onRow', async () => {
    const { rows } = await evaluatedDialogues(toy, [samples[3]!], options);
    const { ks, beamWidth } = settings;
    const context = { graph: world, walks: { graph: world }, seenTargets: options.seenTargets, horizon: 2, train: [] };
    const scorer = dialogueScorer({ ...context, ks, beamWidth, withArk: false, samples: [samples[3]!] });
    const asker = batchAsker(toy, { batchSize: 2, canAsk: ({ start }) => world.degree(start) > 0 });
    const subject = { task: 'dialogues', about: options.about, hashes: { graph: world.hash }, resamples: 50 };
    const unwatched = await evaluate(asker, [samples[3]!], scorer, { subject });
    expect(unwatched.rows).toEqual(rows);
    const known = new Map(rows.map((row) => [row.id, { row, traced: { trace: [], calls: [] } }]));
    expect((await evaluate(asker, [samples[3]!], scorer, { subject, known, examples: 0 })).rows).toEqual(rows);
  });

  test('reaching the target of a gold that the graph lacks is no hit', async () => {
    const lacking = sampleOf('x', [[world.entityId('Heat'), -1, world.entityId('Mann')]]);
    const { rows } = await evaluatedDialogues(toy, [lacking], options);
    expect(rows[0]).toMatchObject({ path: 0, target: 0, miss: 'gold-not-in-graph' });
  });

  test('slices by hops, sender, seen target and place in the dialogue', async () => {
    const { slices } = (await evaluatedDialogues(toy, samples, options)).record;
    // Wilson's interval of none of one.
    expect(slices['hops=2']!['path@1']).toEqual({ value: 0, low: 0, high: expect.closeTo(0.7935, 4), n: 1 });
    expect(slices['sender=user']!['path@3']!.value).toBe(1);
    expect(slices['target=seen']!['path@1']!.n).toBe(2); // Pacino, and Heat, which Lonely's triple happens to end in
    expect(slices['target=unseen']!['path@1']!.n).toBe(4);
    expect(slices['path=later']!['path@1']!.n).toBe(1);
    expect(slices['path=first']!['path@1']!.n).toBe(5);
  });

  test('B-MIN-1: reports coverage with the score', async () => {
    const coverageIn = async (more = {}) =>
      (await evaluatedDialogues(toy, samples, { ...options, ...more })).record.details.coverage as Record<
        string,
        number
      >;
    const coverage = await coverageIn();
    expect(coverage.goldInGraph).toBeCloseTo(4 / 6, 12);
    expect(coverage.reachable).toBeCloseTo(4 / 6, 12);
    expect(coverage.startHasEdges).toBeCloseTo(5 / 6, 12);
    expect(coverage.meanActions).toBeCloseTo((5 * 4) / 6, 12);
    const oneHop = await coverageIn({ horizon: 1 });
    expect(oneHop.reachable).toBeCloseTo(3 / 6, 12);
  });

  test('counts no more walks than the beam is wide', async () => {
    const flood = agentOf((task) => answerOf(task, ...Array.from({ length: 30 }, () => star), director));
    const eager = agentOf((task) => ({
      ...answerOf(task),
      paths: Array.from({ length: 40 }, (_, i) => ({ path: i === 35 ? director : [[0, i, i] as const], logProb: -i })),
    }));
    expect((await evaluatedDialogues(flood, [samples[0]!], options)).rows[0]!.path).toBe(0);
    expect((await evaluatedDialogues(eager, [samples[0]!], options)).rows[0]!.path).toBe(0);
  });

  test('shows where the best walk leaves the gold', async () => {
    const { examples } = (await evaluatedDialogues(toy, samples, options)).record;
    const byId = Object.fromEntries(examples.map((example) => [example.id, example]));
    expect(byId.hit).not.toHaveProperty('firstWrongHop');
    expect(byId.second!.firstWrongHop).toBe(0);
    expect(byId.two!.firstWrongHop).toBe(1);
    expect(byId.nowhere!.goldWalk).toEqual([['Heat', 'starred', '?']]);
    expect(byId.nowhere!.gold).toEqual(['Heat —starred→ ?']);
  });

  test('has the same bytes again', async () => {
    const text = async () => JSON.stringify((await evaluatedDialogues(toy, samples, options)).record);
    expect(await text()).toBe(await text());
  });

  test('B-ARK-9: refuses no samples and a beam narrower than the largest k', async () => {
    await expect(evaluatedDialogues(toy, [], options)).rejects.toMatchObject({ code: 'data' });
    expect(() => loadConfig(evaluationSettings, { overrides: ['beamWidth=20'] })).toThrow(
      expect.objectContaining({ code: 'config' }),
    );
    expect(evaluationSettings.safeParse({ beamWidth: 20 }).success).toBe(false);
  });

  test('stops for what would fail everywhere, and for the user', async () => {
    const wrong = agentOf(() => {
      throw new WorkbenchError('native', 'expected a backend, got none');
    });
    await expect(evaluatedDialogues(wrong, samples, options)).rejects.toMatchObject({ code: 'native' });
    const signal = AbortSignal.abort(new WorkbenchError('stopped', 'stopped by the user'));
    await expect(evaluatedDialogues(toy, samples, { ...options, signal })).rejects.toMatchObject({ code: 'stopped' });
  });
});

describe('an evaluation that also counts as LLM-ARK’s code does', () => {
  const [mann, pacino] = [director[0]![2], star[0]![2]];
  const staying = (path: Path): Path => [...path, [path[0]![2], world.equalRelation, path[0]![2]]];
  const walker = agentOf((task) => {
    if (task.id === 'broken') throw new Error('no more memory');
    const arkBeam = { start: task.start, afterFirst: [pacino, mann], walks: [staying(director), other] };
    return { ...answerOf(task, director, star), arkBeam };
  }, 'walker');
  const counted = { ...options, count: 'ark' as const };

  test('has both counts of the same samples, failures and unreachable golds as misses of both', async () => {
    const { record, rows } = await evaluatedDialogues(walker, samples, counted);
    const missed = { path: 0, target: 0, anyTarget: 0 };
    expect(rows.map(({ ark }) => ark)).toEqual([
      { path: 1, target: 1, anyTarget: 1 },
      { path: 0, target: 1, anyTarget: 1 },
      { path: 2, target: 1, anyTarget: 2 },
      ...[missed, missed, missed],
    ]);
    const strict = await evaluatedDialogues(walker, samples, options);
    expect(record.metrics).toMatchObject(strict.record.metrics);
    expect(strict.rows).toEqual(rows.map(({ ark: _, ...row }) => row));
    expect(Object.keys(record.metrics)).toHaveLength(5 * (5 + 3) + 2);
    expect(record.metrics['ark-target@1']!.value).toBe(3 / 6);
    expect(record.metrics['ark-path@3']!.value).toBe(2 / 6);
    expect(record.slices['hops=2']!['target-any@1']!.value).toBe(0);
  });

  test('refuses agents that name walks, walks of other lengths and beams too narrow', async () => {
    const seen: string[] = [];
    const naming = agentOf((task) => {
      seen.push(task.id);
      return answerOf(task, director);
    }, 'naming');
    await expect(evaluatedDialogues(naming, samples, counted)).rejects.toMatchObject({
      code: 'usage',
      message: 'expected an agent that walks step by step, got naming, at --count ark',
    });
    // At its first answers, not at its last.
    expect(seen).toHaveLength(settings.batchSize);
    const usage = { code: 'usage', message: expect.stringContaining('--count ark') };
    const { beamWidth } = settings;
    expect(() => checkArkCount({ horizon: 2, beamWidth })).not.toThrow();
    expect(() => checkArkCount({ horizon: 3, beamWidth })).toThrow(expect.objectContaining(usage));
    expect(() => checkArkCount({ horizon: 2, beamWidth: 19 })).toThrow(expect.objectContaining(usage));
  });

  test('is compared by what both were counted for', async () => {
    const named = [
      { name: 'a', ...(await evaluatedDialogues(walker, samples, counted)) },
      { name: 'b', ...(await evaluatedDialogues(walker, samples, options)) },
    ];
    for (const against of [0, 1]) {
      const [comparison] = compareEvaluations(dialogueMeasure, named, settings, against);
      expect(Object.keys(comparison!.differences)).toEqual(Object.keys(named[1]!.record.metrics));
    }
  });
});

describe('a comparison', () => {
  const many = Array.from({ length: 120 }, (_, i) => sampleOf(`s${i}`, i % 3 ? director : star));
  test('tests each agent against the last on the same samples', async () => {
    const first = await evaluatedDialogues(
      agentOf((task) => answerOf(task, director, star)),
      many,
      options,
    );
    const last = await evaluatedDialogues(
      agentOf((task) => answerOf(task, star, director)),
      many,
      options,
    );
    const named = [
      { name: 'first', ...first },
      { name: 'last', ...last },
    ];
    const [comparison, ...rest] = compareEvaluations(dialogueMeasure, named, { resamples: 500 });
    expect(rest).toEqual([]);
    expect(comparison).toMatchObject({ agent: 'first', against: 'last' });
    expect(comparison!.differences['path@1']!.value).toBeCloseTo(1 / 3, 12);
    expect(comparison!.differences['path@1']!.pValue).toBeLessThan(0.01);
    expect(comparison!.differences['path@3']).toMatchObject({ value: 0, pValue: 1 });
  });

  test('is over the samples that a figure counts for both, each with itself, and over their dialogues alone', async () => {
    const mixed = Array.from({ length: 60 }, (_, i) => sampleOf(`s${i}`, i % 2 ? director : other));
    const place = ({ id }: WalkTask) => Number(id.slice(1));
    /** Walks up to so many edges, the gold of the ith sample with ln probability −i − worse. */
    const likely = (name: string, horizon: number, worse: number): Agent => ({
      name,
      answer: async (tasks) => tasks.map((task) => answerOf(task, director)),
      logProbs: async (given) =>
        given.map(({ task, paths }) => paths.map(({ length }) => (length > horizon ? NaN : -place(task) - worse))),
    });
    const evaluated = async (...words: Parameters<typeof likely>) => ({
      name: words[0],
      ...(await evaluatedDialogues(likely(...words), mixed, options)),
    });
    const [wide, narrow] = [await evaluated('wide', 2, 1), await evaluated('narrow', 1, 0)];
    expect([wide, narrow].map(({ record }) => record.metrics.nll!.n)).toEqual([60, 30]);
    const nllOf = (named: (typeof wide)[]) =>
      compareEvaluations(dialogueMeasure, named, { resamples: 50 })[0]!.differences.nll;
    expect(nllOf([wide, narrow])).toMatchObject({ value: 1, low: 1, high: 1, n: 30 });
    expect(nllOf([narrow, wide])).toMatchObject({ value: -1, low: -1, high: -1, n: 30 });
    const again = { ...narrow, name: 'again' };
    const nll = narrow.record.figures.find(({ key }) => key === 'nll')!;
    const overSeeds = pairedOverSeeds(dialogueMeasure, nll, [wide.rows, narrow.rows], [again.rows]);
    expect(overSeeds).toMatchObject({ value: 0.5, n: 30 });
  });

  test('leaves out a figure that no sample is counted for in both', async () => {
    const likely = (name: string, length: number): Agent => ({
      name,
      answer: async (tasks) => tasks.map((task) => answerOf(task, director)),
      logProbs: async (given) => given.map(({ paths }) => paths.map((path) => (path.length === length ? -1 : NaN))),
    });
    const [one, two] = [sampleOf('one', director), sampleOf('two', other)];
    const named = await Promise.all(
      [1, 2].map(async (length) => ({
        name: String(length),
        ...(await evaluatedDialogues(likely(String(length), length), [one, two], options)),
      })),
    );
    const { differences } = compareEvaluations(dialogueMeasure, named, { resamples: 50 })[0]!;
    expect(named.map(({ record }) => record.metrics.nll!.n)).toEqual([1, 1]);
    expect(Object.keys(differences)).toContain('path@1');
    expect(differences).not.toHaveProperty('nll');
  });

  test('refuses other samples', async () => {
    const whole = await evaluatedDialogues(toy, samples, options);
    const named = [
      { name: 'a', ...whole },
      { name: 'b', ...whole, rows: whole.rows.slice(1) },
    ];
    expect(() => compareEvaluations(dialogueMeasure, named, { resamples: 10 })).toThrow(
      'expected the dialogues of b, got others, at a',
    );
  });
});

describe('a throughput meter', () => {
  test('processor time is reported for the whole and per lap, from the start', () => {
    let cpu = 5000;
    const speed = throughputMeter(
      () => 0,
      () => cpu,
    );
    cpu += 1500;
    speed.answered();
    expect(speed.lap()).toMatchObject({ 'time/cpu_ms': 1500, 'time/questions': 1 });
    cpu += 250;
    expect(speed.lap()).toMatchObject({ 'time/cpu_ms': 250, 'time/questions': 0 });
    expect(speed.speed()).toMatchObject({ cpuSeconds: 1.75, asked: 0 });
  });
});

describe('decisions that are watched', () => {
  test('the agent gets the client with its keys and no others', async () => {
    const own = scriptedClient(() => ({ choice: 0 }), 3);
    const { client, taken } = watchDecisions(own);
    expect(Object.keys(client)).toEqual(['decide']);
    expect(Object.getPrototypeOf(client)).toBe(own);
    const decision = sample.chooseOneDecision();
    expect(await client.decide(decision)).toMatchObject({ reply: { choice: 0 } });
    expect(own.asked).toEqual([decision]);
    expect(own.asked[0]).toBe(decision);
    expect([client.remaining, client.byLikelihood]).toEqual([own.remaining, own.byLikelihood]);
    expect(taken()).toEqual([{ decision, decided: expect.objectContaining({ reply: { choice: 0 } }) }]);
  });

  test('decisions are in the order of asking, not of ending; a failed one is left out', async () => {
    const ends: (() => void)[] = [];
    const slow: DecisionClient = {
      ...{ remaining: 9, byLikelihood: true },
      decide: <D extends Decision>({ phase }: D) =>
        new Promise<Decided<D>>((resolve, reject) => {
          const end = () => resolve({ stage: 'constrained', text: phase, confidence: 0.5 });
          ends.push(phase === 'b' ? () => reject(new Error('spent')) : end);
        }),
    };
    const { client, taken } = watchDecisions(slow);
    const asked = ['a', 'b', 'c'].map((phase) => client.decide(sample.scoreDecision({ phase })));
    for (const end of ends.toReversed()) end();
    await Promise.allSettled(asked);
    expect(taken().map(({ decision }) => decision.phase)).toEqual(['a', 'c']);
    expect(confidenceOf(taken(), slow)).toBe(0.25);
  });

  test('written choices have no confidence; by likelihood it is 1 without a choice', () => {
    const written = { decision: sample.scoreDecision(), decided: { stage: 'constrained', text: '' } } as const;
    const free = { decision: sample.answerDecision(), decided: { stage: 'constrained', text: '' } } as const;
    const likely = { ...scriptedClient(() => undefined), byLikelihood: true } as DecisionClient;
    const plain = { ...scriptedClient(() => undefined), byLikelihood: false } as DecisionClient;
    expect(confidenceOf([], likely)).toBe(1);
    expect(confidenceOf([free], likely)).toBe(1);
    expect(confidenceOf([written], likely)).toBeUndefined();
    expect(confidenceOf([free], plain)).toBeUndefined();
  });

  test('one named choice gives no confidence over all, an empty list gives none', () => {
    const likely = { ...scriptedClient(() => undefined), byLikelihood: true } as DecisionClient;
    const scored = {
      ...{ decision: sample.chooseOneDecision() },
      decided: { stage: 'constrained', text: '', confidence: 0.5 },
    } as const;
    const named = (decision: Decision) => ({ decision, decided: { stage: 'constrained', text: '' } }) as const;
    const allowed = ['Port Vell', 'Tamsin Orrel'];
    expect(confidenceOf([named(sample.judgeDecision())], likely)).toBeUndefined();
    expect(confidenceOf([named(sample.answerDecision({ allowed }))], likely)).toBeUndefined();
    expect(confidenceOf([scored, named(sample.judgeDecision())], likely)).toBeUndefined();
    expect(confidenceOf([scored, named(sample.chooseOneDecision({ candidates: [] }))], likely)).toBe(0.5);
  });
});
