import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@jest/globals';
import { loadEvaluation } from '../../reports/run-data.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import { withstands } from '../fixtures/hostile.js';
import { madeUpAnswers, madeUpQuestionExample, writeMadeUpEvaluation } from '../fixtures/made-up-evaluations.js';
import { madeUpLinkEvaluation } from '../fixtures/made-up-links.js';
import { madeUpEvaluation, madeUpExamples } from '../fixtures/made-up-runs.js';
import { hostileJson, hostileJsonLines } from '../fixtures/spoilt.js';

const records: Record<string, EvaluationRecord> = {
  dialogues: madeUpEvaluation('walker', 0.3, { examples: madeUpExamples, checkpoint: 'best' }),
  questions: madeUpAnswers('tog', 0.3, { n: 1, examples: [madeUpQuestionExample()] }),
  links: madeUpLinkEvaluation('walker', 0.3, { checkpoint: 'best', limit: 10, seed: 1 }),
};

const cases = [
  ...Object.keys(records).map((task) => [task, 'evaluation.json'] as const),
  ['questions', 'answers.jsonl'] as const,
];

test.each(cases)('an evaluation of %s with a spoilt %s is read or refused', async (task, name) => {
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
