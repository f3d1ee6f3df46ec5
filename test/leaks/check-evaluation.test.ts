/** `kgwalk datasets check NAME --run EVALUATION`: memories, examples and the agent's own answers of questions. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { loadQuestionDataset } from '../../datasets/questions/question-dataset.js';
import { registerQuestionAgent } from '../../agents/question-agents.js';
import type { LeakReport } from '../../evaluation/leaks/leak-report.js';
import { madeFromSamples } from '../../datasets/sample-source.js';
import { z } from 'zod';
import { noAnswer } from '../../agents/question-agent.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { useOwnHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { importFilms } from '../fixtures/toy-question-training.js';

useOwnHome();

/** Evaluates on the films. @returns folder of the evaluation */
async function evaluated(agent: string, split: string, ...words: string[]): Promise<string> {
  const root = folderWith({});
  const films = ['--dataset', 'films', '--split', split, '--encoder', 'hashed:32', '--evaluations', root];
  const { saved } = await kgwalkJson<{ saved: string }>('evaluate', '--agent', agent, ...films, ...words);
  return dirname(saved);
}

const report = (folder: string) => kgwalkJson<LeakReport>('datasets', 'check', 'films', '--run', folder);

test('a frozen memory is distinguished from one that grows by the agent’s answers', async () => {
  await importFilms();
  const rowsOf = async (memory: string) => {
    // Questions of templates that train lacks: only those are new to the memory.
    const held = ['--model', 'oracle:0', '--hold-out', 'template'];
    const { artifacts, split, found } = await report(
      await evaluated(`self-veqa:memory=${memory}`, 'template-test', ...held),
    );
    expect([split, found]).toEqual(['template-test', []]);
    return artifacts.filter(({ name }) => name === 'Self-VEQA memory');
  };
  const [frozen, ...no] = await rowsOf('frozen');
  expect([frozen, no]).toMatchObject([{ kind: 'memory', byId: 0, verdict: 'none found' }, []]);
  expect(Object.keys(frozen!.samples)).toEqual(['template-train']);
  const [memory, own, ...more] = await rowsOf('online');
  expect([memory, more]).toEqual([frozen, []]);
  expect(own).toMatchObject({ kind: 'own answers', verdict: 'allowed' });
  expect(own!.samples['template-test']).toBeGreaterThan(0);
});

test('an evaluation keeps equal notes when it is made again, and says what its model may know', async () => {
  await importFilms();
  const [first, again] = [
    await evaluated('fiske', 'valid', '--model', 'oracle:0'),
    await evaluated('fiske', 'valid', '--model', 'oracle:0'),
  ];
  const notes = (folder: string) => readFileSync(join(folder, 'provenance.json'), 'utf8');
  expect(notes(again)).toBe(notes(first));
  const { exitCode, out } = await kgwalk('datasets', 'check', 'films', '--run', first);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/few-shot example +clues +2 written +0 +none found/);
  expect(out).toContain('oracle:0 is simulated and knows the golds');
});

test('an agent that learns from the questions it is asked is found', async () => {
  await importFilms();
  registerQuestionAgent('peeking', {
    settings: z.strictObject({}),
    create: ({ graph }) => {
      const asked = loadQuestionDataset('films').questions(graph, { split: 'valid' });
      asked.forEach(madeFromSamples('memory', 'what it saw'));
      return { name: 'peeking', topicGiven: true, prompted: false, answer: () => Promise.resolve(noAnswer('peeked')) };
    },
  });
  const { exitCode, err } = await kgwalk('datasets', 'check', 'films', '--run', await evaluated('peeking', 'valid'));
  expect(exitCode).toBe(3);
  expect(err).toMatch(/peeking: memory "what it saw": made from \d+ samples of valid/);
});
