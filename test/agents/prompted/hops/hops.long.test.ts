/** Sources of the hop count for prompted agents. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { questionAgents } from '../../../../agents/question-agents.js';
import type { QuestionSample } from '../../../../datasets/question.js';
import type { EvaluationRecord } from '../../../../src/run/evaluation.js';
import { kgwalk, kgwalkJson } from '../../../fixtures/command-line.js';
import { useSharedHome } from '../../../fixtures/own-home.js';
import { folderWith } from '../../../fixtures/tiny-release.js';
import { importFilms } from '../../../fixtures/toy-question-training.js';
import { byHeart, oracleFigures } from '../oracle-figures.js';
import { type AskedWorld, meanOf, openOracleRun, worldOf } from '../oracle-run.js';

const home = useSharedHome(importFilms);
let films: AskedWorld;
beforeAll(async () => {
  films = await worldOf('films', ['1-hop', '2-hop', '3-hop'], { home: home() });
});

const prompted = questionAgents
  .names()
  .filter((name) => questionAgents.entry(name).needs?.includes('model') && !byHeart.includes(name))
  .filter((name) => 'hops' in questionAgents.settings(name, {}));

/** Rows of an agent by likelihood with the hop count `hopsOf` of a question. */
async function asked(name: string, hops: string, hopsOf: (sample: QuestionSample) => number | undefined) {
  const samples = films.samples.map((sample) => {
    const { hops: _, ...task } = sample.task;
    const hops = hopsOf(sample);
    return { ...sample, task: { ...task, ...(hops !== undefined && { hops }) } };
  });
  const switches = { ...oracleFigures[name]?.switches?.likelihood, hops };
  const oracle = await openOracleRun(name, { ...films, samples }, { choices: 'likelihood', switches });
  return (await oracle.run()).rows;
}

const unknown = () => undefined;
const complete = (rows: Awaited<ReturnType<typeof asked>>) => meanOf(rows, ({ metrics }) => metrics.complete!);

test('there are at least eight, each with a source', () => {
  expect(prompted.length).toBeGreaterThanOrEqual(8);
});

describe.each(prompted)('%s', (name) => {
  test('walks the hop count of the data set when asked to', async () => {
    const right = await asked(name, 'given', ({ gold }) => gold.chains[0]!.length);
    expect(complete(right)).toBe(1);
    const wrong = await asked(name, 'given', ({ gold }) => (gold.chains[0]!.length === 1 ? 2 : 1));
    expect(complete(wrong)).toBeLessThan(0.5);
  });

  test('goes as far as a classifier says that was trained on train, and does not look at the number that is given', async () => {
    const rows = await asked(name, 'predicted', unknown);
    expect(complete(rows)).toBe(1);
    const misled = await asked(name, 'predicted', () => 1);
    expect(misled.map(({ entities }) => entities)).toEqual(rows.map(({ entities }) => entities));
  });

  test('without a source it ignores the given number', async () => {
    const rows = await asked(name, 'none', unknown);
    const misled = await asked(name, 'none', () => 1);
    expect(misled.map(({ entities, calls }) => [entities, calls])).toEqual(
      rows.map(({ entities, calls }) => [entities, calls]),
    );
  });
});

test('records and tables show the source of the number, if any', async () => {
  const common = [
    '--dataset',
    'films',
    '--model',
    'oracle:0',
    '--encoder',
    'hashed:32',
    '--evaluations',
    folderWith({}),
  ];
  const record = (agent: string, ...more: string[]) =>
    kgwalkJson<EvaluationRecord & { hops?: string }>('evaluate', '--agent', agent, ...common, ...more);
  const scored = ['--choices', 'likelihood'];
  expect(await record('fiske')).not.toHaveProperty('hops');
  expect(await record('fiske', ...scored)).toMatchObject({ hops: 'given', topicGiven: false });
  expect(await record('self-veqa')).toMatchObject({ hops: 'given', topicGiven: true });
  const predicted = await record('self-veqa', '--set', 'hops=predicted');
  expect(predicted).toMatchObject({ hops: 'predicted', hopAccuracy: { majority: expect.any(Number) } });
  expect(predicted.metrics.hops).toMatchObject({ n: predicted.n });
  expect(await record('self-veqa', '--withhold-hops')).not.toHaveProperty('hops');
  const one = await kgwalk('evaluate', '--agent', 'fiske', ...common, ...scored);
  expect(one.out).toContain(' · topics not given · hops given');
  const { out } = await kgwalk('compare', 'fiske', 'tog:hops=predicted', 'pog:hops=none', ...common, ...scored);
  expect(out).toMatch(/^fiske .*\bhops given\b.*finds its start nodes itself/m);
  expect(out).toMatch(
    /^tog:hops=predicted .*\btopics, hops predicted \(\d+\.\d % right on train, cross-validated, n \d+/m,
  );
  expect(out).toMatch(/^pog:hops=none .*\btopics\b(?!, hops)/m);
});
