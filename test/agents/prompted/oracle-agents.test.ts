/** Properties of every prompted agent of questions with a model that never errs. A new agent needs a line in `oracle-figures.ts`. */
import { join } from 'node:path';
import { env, stderr } from 'node:process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { questionAgents } from '../../../agents/question-agents.js';
import { importMetaQa } from '../../../datasets/metaqa/import.js';
import { frontierRelations, initialFrontier, stepFrontier } from '../../../src/kg/frontier.js';
import { inTurn, isLong } from '../../fixtures/long-tests.js';
import { useSharedHome } from '../../fixtures/own-home.js';
import { folderWith } from '../../fixtures/tiny-release.js';
import { importFilms } from '../../fixtures/toy-question-training.js';
import { byHeart, oracleFigures } from './oracle-figures.js';
import { type AskedWorld, meanOf, openOracleRun, type OracleRun, worldOf } from './oracle-run.js';

const home = useSharedHome(importFilms);
let films: AskedWorld;
/** A few of each length. */
let few: AskedWorld;
beforeAll(async () => {
  films = await worldOf('films', ['1-hop', '2-hop', '3-hop'], { home: home() });
  few = isLong ? films : await worldOf('films', ['1-hop', '2-hop', '3-hop'], { home: home(), count: 2 });
});

const modes = ['written', 'likelihood'] as const;
const every = Object.entries(oracleFigures).flatMap(([name, line], turn) =>
  inTurn(modes, turn).map((choices) => [name, choices, line] as const),
);
const runOf = (name: string, choices: OracleRun['choices']): OracleRun => {
  const switches = oracleFigures[name]!.switches?.[choices];
  return { choices, ...(switches && { switches }) };
};

test('every agent that asks a model has its line', () => {
  const prompted = questionAgents.names().filter((name) => questionAgents.entry(name).needs?.includes('model'));
  expect([...byHeart, ...Object.keys(oracleFigures)].sort()).toEqual(prompted.sort());
});

/** Nothing is lost, over budget, unreadable or made up. */
function expectSound(
  { samples, names, graph }: AskedWorld,
  { rows, failures }: Awaited<ReturnType<Awaited<ReturnType<typeof openOracleRun>>['run']>>,
  budget: number,
): void {
  expect(failures).toEqual([]);
  expect(rows.map(({ id }) => id)).toEqual(samples.map(({ task }) => task.id));
  const overspent = rows.filter(({ calls }) => calls > budget);
  const unread = rows.filter(({ unparsed }) => unparsed);
  // What is said of a topic is a literal, as no topic is an answer; its name is one of the graph's all the same.
  const madeUp = rows.flatMap(({ literals }) => literals).filter((name) => names.lookup(name).length === 0);
  const invalid = rows.flatMap(({ entities }) => entities).filter((entity) => !graph.entityNames[entity]);
  expect({ overspent, unread, madeUp, invalid }).toEqual({ overspent: [], unread: [], madeUp: [], invalid: [] });
}

describe('where the model never errs, on films', () => {
  test.each(every)(
    '%s, %s, answers all in full, and its replay has every byte',
    async (name, choices, { exceptions }) => {
      const oracle = await openOracleRun(name, films, runOf(name, choices));
      const done = await oracle.run();
      expectSound(films, done, 30);
      const stated = exceptions?.find(({ mode }) => mode === choices);
      const complete = 100 * meanOf(done.rows, ({ metrics }) => metrics.complete!);
      expect(complete).toBeCloseTo(stated?.films ?? 100, 1);
      expect(await oracle.replay(done.folder)).toMatchObject({ identical: true, n: films.samples.length });
    },
  );
});

test.each(every.map(([name, choices], turn) => [name, choices, turn] as const))(
  '%s, %s, killed and resumed, gives the same bytes and repeats no call',
  async (name, choices, turn) => {
    const oracle = await openOracleRun(name, few, { ...runOf(name, choices), error: 0.3 });
    const whole = await oracle.run();
    const stored = whole.completions.toString().split(/(?<=\n)/);
    const decided = stored.flatMap((line, i) => (/"line":"(completion|scores)"/.test(line) ? [i] : []));
    for (const share of inTurn([0.2, 0.7, 0.45], turn)) {
      // In the middle of a line, as a process that dies may leave it.
      const end = decided[Math.ceil(share * (decided.length - 1))]!;
      const again = await oracle.run(Buffer.from(`${stored.slice(0, end).join('')}${stored[end]!.slice(0, 40)}`));
      expect(again.bytes).toEqual(whole.bytes);
      expect(again.asked).toBeGreaterThan(0);
      expect(again.asked).toBeLessThan(whole.asked);
    }
  },
);

test.each(every)('%s, %s, at a budget of 3 and a model that errs loses no question', async (name, choices) => {
  const oracle = await openOracleRun(name, few, { ...runOf(name, choices), error: 0.3, budget: 3 });
  expectSound(few, await oracle.run(), 3);
});

test.each(['graph', 'free'].flatMap((vocabulary) => modes.map((choices) => [vocabulary, choices] as const)))(
  'rog over %s, %s: decisions half of which are wrong answer less than faultless ones',
  async (vocabulary, choices) => {
    const world = { ...films, samples: films.samples.filter(({ gold }) => gold.chains[0]!.length < 3) };
    const complete = async (error: number) => {
      const { rows } = await (await openOracleRun('rog', world, { choices, switches: { vocabulary }, error })).run();
      return meanOf(rows, ({ metrics }) => metrics.complete!);
    };
    expect(await complete(0)).toBe(1);
    expect(await complete(0.5)).toBeLessThan(0.95);
  },
);

const shared = env.KGWALK_TEST_DATA;
if (!shared)
  stderr.write('skipped: prompted agents on MetaQA (set KGWALK_TEST_DATA to the folder that holds data/metaqa)\n');

(shared ? describe : describe.skip)('where the model never errs, on MetaQA', () => {
  const worlds: AskedWorld[] = [];
  /** Hops at which one relation alone leads on, a question: by walking the gold chains. */
  const singles = ({ graph, samples }: AskedWorld) => {
    const count = samples.reduce((sum, { task, gold }) => {
      const topics = task.topics.map(({ entity }) => entity);
      let frontier = initialFrontier(topics);
      return gold.chains[0]!.reduce((own, relation) => {
        const onward = [...frontierRelations(graph, frontier, topics)].length;
        frontier = stepFrontier(graph, frontier, relation, topics);
        return own + Number(onward === 1);
      }, sum);
    }, 0);
    return count / samples.length;
  };

  beforeAll(async () => {
    const home = folderWith({});
    await importMetaQa({ from: join(shared ?? '', 'data', 'metaqa'), home });
    for (const subset of ['2-hop', '3-hop']) worlds.push(await worldOf('metaqa', [subset], { home, count: 42 }));
  });

  test.each(every)(
    '%s, %s, answers all but by a stated rule, with the calls that are expected',
    async (name, choices, line) => {
      for (const [index, world] of worlds.entries()) {
        const oracle = await openOracleRun(name, world, runOf(name, choices));
        const done = await oracle.run();
        expectSound(world, done, 30);
        const percent = (key: string) => 100 * meanOf(done.rows, ({ metrics }) => metrics[key]!);
        const stated = line.exceptions?.find(({ mode }) => mode === choices);
        if (!stated) expect(percent('complete')).toBeGreaterThanOrEqual(99);
        // Two standard errors of a share of 42 questions.
        else expect(Math.abs(percent('complete') - stated.complete[index]!)).toBeLessThan(15);
        if (!stated) expect(percent('precision')).toBeGreaterThanOrEqual(98);
        const notMade = line.countsSingles && choices === 'written' ? singles(world) : 0;
        const calls = meanOf(done.rows, (row) => row.calls) + notMade;
        expect(Math.abs(calls / line.calls[choices][index]! - 1)).toBeLessThanOrEqual(0.05);
      }
    },
  );
});
