import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readEvaluation } from '../../evaluation/keep.js';
import type { Row } from '../../evaluation/score.js';
import { loadEvaluation } from '../../reports/run-data.js';
import { sealEvaluation, type EvaluationRecord } from '../../src/run/evaluation.js';
import { episodeScorer } from '../../tasks/episodes/score.js';
import { loadTask, type TaskName, taskNames } from '../../tasks/index.js';
import { withstands } from '../fixtures/hostile.js';
import { inTurn } from '../fixtures/long-tests.js';
import { madeUpAnswers, madeUpQuestionExample, writeMadeUpEvaluation } from '../fixtures/made-up-evaluations.js';
import { madeUpLinkEvaluation } from '../fixtures/made-up-links.js';
import { madeUpEvaluation, madeUpExamples } from '../fixtures/made-up-runs.js';
import { hostileJson, hostileJsonLines } from '../fixtures/spoilt.js';

const estimate = { value: 1.5, low: 1.2, high: 1.8, n: 12 };

const records: Record<string, EvaluationRecord> = {
  episodes: madeUpLinkEvaluation('policy', 0.3, {
    ...{
      task: 'episodes',
      figures: [...episodeScorer.figures],
      metrics: { return: estimate, length: estimate },
      slices: {},
      sections: [],
      examples: [],
    },
    ...{ dataset: 'kgwalk/CartPole-v1', checkpoint: 'best', clusters: 'episodes' },
  }),
  dialogues: madeUpEvaluation('walker', 0.3, { examples: madeUpExamples, checkpoint: 'best' }),
  questions: madeUpAnswers('tog', 0.3, { n: 1, examples: [madeUpQuestionExample()] }),
  links: madeUpLinkEvaluation('walker', 0.3, { checkpoint: 'best', limit: 10, seed: 1 }),
};

/** A line of `answers.jsonl`, as it is written. */
const rows: Record<string, Row> = {
  episodes: { ...{ id: 'valid-0', return: 17, length: 17, truncated: false, miss: 'agent-failed' } },
  dialogues: {
    ...{ id: '2-17', dialogue: 'd', hops: 1, sender: 'user', seen: true, first: true, path: 1, entityPath: 1 },
    ...{ relationPath: 1, target: 0, summedTarget: 2, logProb: -1.5, confidence: 'NaN', cost: { encodes: 2 } },
    ...{ ark: { path: 1, target: 0, anyTarget: 2 }, miss: 'not-ranked' },
  },
  questions: {
    ...{
      id: '2-17',
      subset: '2-hop',
      form: 'entities',
      question: 'who',
      golds: 1,
      reachable: true,
      reachableAll: true,
    },
    ...{ entities: [1], names: ['Ada'], literals: [], metrics: { 'hit@1': 1 }, matched: [0], matchedLenient: [0] },
    ...{ calls: 1, promptTokens: 9, cachedTokens: 0, completionTokens: 2, graphReads: 4, encodes: 0 },
    ...{ phases: { explore: { calls: 1, stages: { direct: 1 } } }, stop: 'covered', abstained: false },
    ...{ unparsed: false, degraded: false, atCap: false, miss: 'budget' },
  },
  links: {
    ...{ id: 'tail/0', direction: 'tail', head: 3, relation: 1, answer: 4, rank: 1.5, sumRank: 2, reached: true },
    ...{ distance: 2, chain: [0, 2], chainRight: true, miss: 'ranked-lower' },
  },
};

/** Requests in the words of every task. */
const asked = {
  ...{ schemaVersion: 2, kind: 'evaluation', task: 'questions', agent: 'tog', encoder: 'hashed:32', modelId: 'm' },
  about: { dataset: 'harbour', split: 'valid', limit: 10, budget: null, switches: { a: 1 }, subsets: ['2-hop'] },
  ...{ resamples: 100, hashes: { graph: 'a', dataset: 'd' } },
};

const files = ['evaluation.json', 'answers.jsonl', 'asked.json'];

test.each(taskNames.flatMap((task, turn) => inTurn(files, turn).map((name) => [task, name])))(
  'an evaluation of %s with a spoilt %s is compared or refused',
  async (task, name) => {
    const folder = join(mkdtempSync(join(tmpdir(), 'kgwalk-hostile-')), 'one');
    const record = { ...records[task]!, n: 1 };
    const { measure } = await loadTask(task as TaskName);
    writeMadeUpEvaluation(folder, { record, ids: ['2-17'] });
    writeFileSync(join(folder, 'asked.json'), JSON.stringify(asked));
    writeFileSync(join(folder, 'answers.jsonl'), `${JSON.stringify(rows[task])}\n`);
    // Sealed as they are, so that what they hold is read.
    const seal = () => sealEvaluation(folder, readFileSync(join(folder, 'evaluation.json')));
    seal();
    expect(readEvaluation(folder, measure).rows).toHaveLength(1);
    const read = (bytes: Buffer) => {
      writeFileSync(join(folder, name!), bytes);
      seal();
      return readEvaluation(folder, measure);
    };
    const whole = { 'evaluation.json': record, 'answers.jsonl': rows[task], 'asked.json': asked }[name!];
    const others = name === 'asked.json' ? [{ ...asked, run: 'demo', checkpoint: 'best' }] : [];
    const inputs = name === 'answers.jsonl' ? hostileJsonLines(whole) : hostileJson(whole, ...others);
    await withstands(inputs, read, { place: folder });
  },
);

const cases = [
  ...Object.keys(records).map((task) => [task, 'evaluation.json'] as const),
  ['questions', 'answers.jsonl'] as const,
];

test.each(cases)('an evaluation of %s with a spoilt %s is shown or refused', async (task, name) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'kgwalk-hostile-')), 'one');
  const record = records[task]!;
  writeMadeUpEvaluation(folder, { record, ids: ['2-17'] });
  const read = (bytes: Buffer) => {
    writeFileSync(join(folder, name), bytes);
    return loadEvaluation(folder);
  };
  const inputs = name === 'answers.jsonl' ? hostileJsonLines({ id: '2-17' }) : hostileJson(record);
  await withstands(inputs, read, { place: folder });
});
