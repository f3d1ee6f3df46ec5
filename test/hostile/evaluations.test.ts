import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from '@jest/globals';
import { readEvaluation } from '../../evaluation/questions/evaluation-folder.js';
import { isLinkFolder, loadEvaluation, loadLinkEvaluation } from '../../reports/run-data.js';
import { evaluationRecord } from '../../src/run/evaluation-schemas.js';
import { readJsonFile } from '../../src/run/read-json.js';
import { hostileFile, withstands } from '../fixtures/hostile.js';
import { madeUpAnswers, madeUpQuestionExample, writeMadeUpEvaluation } from '../fixtures/made-up-evaluations.js';
import { madeUpLinkEvaluation, writeMadeUpLinkEvaluation } from '../fixtures/made-up-links.js';
import { madeUpEvaluation, madeUpExamples } from '../fixtures/made-up-runs.js';
import { hostileJson, hostileJsonLines } from '../fixtures/spoilt.js';

test('a record of dialogues is whole, or refused', async () => {
  const { path, write } = hostileFile('valid.json');
  const inputs = hostileJson(madeUpEvaluation('walker', 0.3, { examples: madeUpExamples, checkpoint: 'best' }));
  const read = (bytes: Buffer) => readJsonFile(write(bytes), evaluationRecord, 'an evaluation');
  await withstands(inputs, read, { place: path });
});

test('a record of link queries is whole, or refused', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'kgwalk-hostile-')), 'one');
  const record = madeUpLinkEvaluation('walker', 0.3, { checkpoint: 'best', limit: 10, seed: 1 });
  writeMadeUpLinkEvaluation(folder, record);
  const read = (bytes: Buffer) => {
    writeFileSync(join(folder, 'evaluation.json'), bytes);
    return isLinkFolder(folder) && loadLinkEvaluation(folder);
  };
  await withstands(hostileJson(record), read, { place: folder });
});

const row = {
  ...{ id: '2-17', subset: '2-hop', form: 'entities', question: 'who', golds: 1, reachable: true, reachableAll: true },
  ...{ entities: [1], names: ['Ada'], literals: [], metrics: { 'hit@1': 1 }, matched: [0], matchedLenient: [0] },
  ...{ calls: 1, promptTokens: 9, cachedTokens: 0, completionTokens: 2, graphReads: 4, encodes: 0 },
  ...{ phases: { explore: { calls: 1, stages: { direct: 1 } } }, stop: 'covered', abstained: false },
  ...{ unparsed: false, degraded: false, atCap: false },
};
const record = madeUpAnswers('tog', 0.3, { n: 1 });
const asked = {
  schemaVersion: 1,
  kind: 'question-evaluation',
  agent: 'tog',
  about: record,
  hopsGiven: true,
  resamples: 100,
  hashes: { graph: 'a', dataset: 'd' },
};
const files = {
  'about.json': hostileJson(asked, { ...asked, run: 'demo', checkpoint: 'best' }),
  'evaluation.json': hostileJson(record),
  'answers.jsonl': hostileJsonLines({ ...row, miss: 'budget' }),
  'examples.jsonl': hostileJsonLines(madeUpQuestionExample(), madeUpQuestionExample({ id: '2-18' })),
};

test.each(Object.keys(files) as (keyof typeof files)[])(
  'an evaluation of questions with a spoilt %s is read or refused',
  async (name) => {
    const folder = join(mkdtempSync(join(tmpdir(), 'kgwalk-hostile-')), 'one');
    writeMadeUpEvaluation(folder, {
      record,
      ids: ['2-17'],
      examples: [madeUpQuestionExample()],
    });
    writeFileSync(join(folder, 'about.json'), JSON.stringify(asked));
    writeFileSync(join(folder, 'answers.jsonl'), `${JSON.stringify(row)}\n`);
    const read = (bytes: Buffer) => {
      writeFileSync(join(folder, name), bytes);
      return [loadEvaluation(folder), readEvaluation(folder)];
    };
    await withstands(files[name], read, { place: folder });
  },
);
