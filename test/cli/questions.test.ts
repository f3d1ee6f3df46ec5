import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Comparison } from '../../evaluation/compare.js';
import { inverseName } from '../../src/kg/graph.js';
import type { EvaluationRecord } from '../../src/run/evaluation.js';
import type { Estimate } from '../../src/run/figures.js';
import { train } from '../../tasks/train.js';
import { kgwalk, kgwalkJson } from '../fixtures/command-line.js';
import { finishedRun } from '../fixtures/finished-run.js';
import { longTest } from '../fixtures/long-tests.js';
import { useSharedHome } from '../fixtures/own-home.js';
import { folderWith } from '../fixtures/tiny-release.js';
import { filmSettings, importFilms } from '../fixtures/toy-question-training.js';
import { graphOf } from '../fixtures/toy-walks.js';

let walker: string;
useSharedHome(async () => {
  walker = await finishedRun('questions');
});

type Saved = EvaluationRecord & { saved: string; speed: { asked: number; remembered: number } };

/** Runs commands on the films, with a separate folder of evaluations. */
function onFilms() {
  const kept = ['--evaluations', folderWith({})];
  const films = ['--dataset', 'films', '--encoder', 'hashed:32', ...kept];
  return {
    kept,
    run: (...words: string[]) => kgwalk(...words, ...films),
    evaluate: (...words: string[]) => kgwalkJson<Saved>('evaluate', ...words, ...films),
    compare: (...words: string[]) =>
      kgwalkJson<{ agents: (Saved & { name: string })[]; comparisons: Comparison[] }>('compare', ...words, ...films),
  };
}

describe('kgwalk evaluate on questions', () => {
  test('asks a simulated model, says so, keeps everything, and asks nothing twice', async () => {
    const { evaluate, run } = onFilms();
    const words = ['--agent', 'fiske', '--model', 'oracle:0', '--split', 'valid'];
    const first = await evaluate(...words);
    expect(first).toMatchObject({
      ...{ task: 'questions', agent: 'fiske', dataset: 'films', split: 'valid', simulated: true },
      ...{ model: 'oracle:0', budget: 30, budgetMode: 'strict', topicGiven: false, misses: {} },
    });
    expect(first.metrics['hit@1']).toMatchObject({ value: 1, n: first.n });
    expect(first.cost.calls!.max).toBeLessThanOrEqual(30);
    expect(JSON.parse(readFileSync(first.saved, 'utf8'))).toMatchObject({ agent: 'fiske', simulated: true });
    const again = await evaluate(...words);
    expect(again.saved).toBe(first.saved);
    expect(again.speed).toMatchObject({ asked: 0, remembered: first.speed.asked + first.speed.remembered });
    const { out } = await run('evaluate', ...words);
    expect(out).toMatch(
      /^fiske \[finds its start nodes itself\] on films \(1-hop, 2-hop, 3-hop\) · split valid, held out by question · n = \d+ · model oracle:0 \[simulated\]/,
    );
    expect(out).toMatch(/Hit@1 +100\.0 \[[\d.]+, 100\.0\]/);
    expect(out).toMatch(/^Right within so many calls\n/m);
  });

  test('an agent that learns shows its accuracy over the order of asking, and the simulated model is fitted to what was kept', async () => {
    const { evaluate, run, kept } = onFilms();
    const words = ['--agent', 'self-veqa', '--set', 'memory=empty', '--split', 'train', '--seed', '1'];
    const { n, sections, saved } = await evaluate(...words, '--model', 'oracle:0.4,confuse=0.5');
    const curve = sections.find(({ title }) => title === 'Right with experience')?.curve;
    expect(curve?.points.at(-1)![0]).toBe(n);
    const { out, exitCode } = await kgwalk('replay', join(saved, '..'), ...kept, '--encoder', 'hashed:32');
    expect([out.trim(), exitCode]).toEqual([`${n} samples replayed: every byte as it was saved`, 0]);

    const fit = ['oracle', 'fit', join(saved, '..'), ...kept, '--encoder', 'hashed:32'];
    const { error, confuse, decisions } = await kgwalkJson<{ error: Estimate; confuse: Estimate; decisions: number }>(
      ...fit,
    );
    expect(decisions).toBeGreaterThan(n);
    for (const { low, value, high } of [error, confuse]) expect([low <= value, value <= high]).toEqual([true, true]);
    expect((await kgwalk(...fit)).out).toMatch(
      /^choices +decisions +errors, % +fitted, %\n[^]*--model oracle:0\.\d+,confuse=/,
    );
    const { out: learned } = await run('evaluate', ...words, '--model', 'oracle:0.4,confuse=0.5');
    expect(learned).toMatch(/^Right with experience\n/m);
    await evaluate('--agent', 'template-lookup', '--split', 'train');
    const name = readdirSync(kept[1]!).find((one) => one.startsWith('template-lookup'))!;
    expect(await kgwalk('oracle', 'fit', name, ...kept)).toMatchObject({ exitCode: 2 });
    const mixed = await kgwalk('oracle', 'fit', join(saved, '..'), name, ...kept);
    expect(mixed.err).toContain('expected evaluations of one model, got oracle:0.4,confuse=0.5 and none');
  });

  test('in parts asks a model what it asks at once; an agent that learns as it answers has no parts', async () => {
    const { evaluate, run } = onFilms();
    const words = ['--agent', 'fiske', '--model', 'oracle:0.3', '--split', 'valid', '--limit', '6'];
    const whole = await evaluate(...words);
    const again = onFilms();
    const parts = [];
    for (const shard of ['1/3', '2/3', '3/3']) parts.push(await again.evaluate(...words, '--part', shard));
    const asked = parts.reduce((sum, { speed }) => sum + speed.asked, 0);
    expect(asked).toBe(whole.speed.asked);
    const joined = await again.evaluate(...words);
    expect(joined.speed).toMatchObject({ asked: 0 });
    expect(readFileSync(joined.saved, 'utf8')).toBe(readFileSync(whole.saved, 'utf8'));
    const learning = ['--agent', 'self-veqa', '--set', 'memory=online', '--model', 'oracle:0', '--part', '1/2'];
    expect(await run('evaluate', ...learning)).toMatchObject({
      ...{ exitCode: 2, out: '' },
      err: expect.stringContaining('expected --parts with an agent that learns nothing as it answers, got self-veqa'),
    });
  });

  test('takes subsets, a limit, a budget, switches; each is a separate evaluation', async () => {
    const { evaluate, kept } = onFilms();
    const base = ['--agent', 'fiske', '--model', 'oracle:0'];
    const all = await evaluate(...base);
    const some = await evaluate(...base, '--limit', '3');
    expect(some).toMatchObject({ n: 3, limit: 3 });
    const tight = await evaluate(...base, '--budget', '2');
    expect(tight.cost.calls!.max).toBeLessThanOrEqual(2);
    expect(tight.metrics['at-cap']!.value).toBeGreaterThan(0);
    const free = await evaluate(...base, '--budget', 'none', '--set', 'stateful=false');
    expect(free).toMatchObject({ budget: null, switches: { stateful: false } });
    const scored = await evaluate(...base, '--choices', 'likelihood');
    expect(scored).toMatchObject({ choices: 'likelihood', n: all.n });
    const two = await kgwalkJson<Saved>('evaluate', ...base, '--dataset', 'films/2-hop', ...kept);
    expect(two.subsets).toEqual(['2-hop']);
    expect(two.n).toBeLessThan(all.n);
    expect(new Set([all, some, tight, free, scored, two].map(({ saved }) => saved)).size).toBe(6);
  });

  test.each([
    [['--agent', 'fisk', '--model', 'oracle:0'], 'Did you mean "fiske"?'],
    [['--agent', 'fiske', '--model', 'oracle:2'], 'expected an error rate from 0 to 1'],
    [['--agent', 'io', '--model', 'oracle:0'], 'expected a real model for agent io, got oracle:0'],
    [['--agent', 'fiske', '--model', 'gpt'], 'expected a model, got "gpt"'],
    [['--agent', 'fiske', '--model', 'no-such.gguf'], 'no-such.gguf'],
    [['--agent', 'io', '--model', 'http://127.0.0.1:65535/v1#any'], 'got no answer (ECONNREFUSED)'],
    [['--agent', 'io', '--model', 'x.gguf', '--model-set', 'thread=2'], 'thread'],
    [['--agent', 'fiske', '--model', 'oracle:0', '--budget', '0'], 'or none, got 0, at --budget'],
    [['--agent', 'fiske', '--model', 'oracle:0', '--split', 'tset'], 'expected a split of films'],
    [['--agent', 'fiske', '--model', 'oracle:0', '--set', 'statefull=false'], 'expected switches of agent fiske'],
    [
      ['--agent', 'fiske', '--model', 'oracle:0', '--limit', '0'],
      'expected a whole number from 1, got "0", at --limit',
    ],
    [['--agent', 'fiske', '--model', 'oracle:0', '--turns', 'all'], 'got --turns, which is for dialogues'],
    [['no-such-run', '--model', 'oracle:0'], 'expected an agent or a run, got "no-such-run"'],
  ])('%p is one clear error, before anything is written', async (words, message) => {
    const { run, kept } = onFilms();
    const { exitCode, err } = await run('evaluate', ...words);
    expect(exitCode).toBeGreaterThan(0);
    expect(err).toContain(message);
    expect(readdirSync(kept[1]!)).toEqual([]);
  });

  test('an agent of questions without a data set gives an error that names what is missing', async () => {
    const { err } = await kgwalk('evaluate', '--agent', 'fiske');
    expect(err).toContain('expected a data set of questions for agent fiske, got none, at --dataset');
  });

  test('refuses a walker on another graph of its data set, where entities have other ids', async () => {
    const facts = ['hamlet', 'henry v'].map((play): [string, string, string] => [play, 'directed_by', 'olivier']);
    const plays = graphOf('plays', [...facts, ...facts.map(([h, r, t]) => [t, inverseName(r), h] as const)]);
    await importFilms({ name: 'arts', further: plays });
    const folder = join(folderWith({}), 'walker');
    const own = ['data.dataset=arts', 'data.subsets=["1-hop"]', 'ppo.updates=1', 'ppo.evalEvery=1'];
    await train({ settings: filmSettings(...own), folder });
    expect(await kgwalk('evaluate', folder)).toMatchObject({ exitCode: 0 });
    const other = await kgwalk('evaluate', folder, '--dataset', 'arts/plays');
    expect([other.exitCode, other.err]).toEqual([
      3,
      expect.stringContaining(`expected a checkpoint of graph ${plays.hash}`),
    ]);
  });
});

describe('kgwalk compare on questions', () => {
  test('puts agents, their variants and a trained walker side by side on the same questions', async () => {
    const { compare, run } = onFilms();
    const { agents, comparisons } = await compare('fiske', 'fiske:stateful=false', walker, '--model', 'oracle:0');
    expect(agents.map(({ name }) => name)).toEqual(['fiske', 'fiske:stateful=false', walker]);
    expect(agents[1]!.switches).toEqual({ stateful: false });
    expect(agents[2]).toMatchObject({ budget: null, cost: { calls: { max: 0 } } });
    expect(agents[2]).not.toHaveProperty('model');
    expect(agents[2]!.hashes.checkpoint).toMatch(/^[0-9a-f]{64}$/);
    expect(comparisons.map(({ agent, against }) => [agent, against])).toEqual([
      ['fiske', walker],
      ['fiske:stateful=false', walker],
    ]);
    const { out } = await run('compare', 'fiske', walker, '--model', 'oracle:0');
    expect(out).toContain('oracle:0 (simulated)');
    expect(out).toMatch(/fiske +█+ 100\.0/);
    expect(await run('evaluate', walker)).toMatchObject({ exitCode: 0 });
  });

  test('withholds hops from a prompt beside a run that is given none, says so, and gives them on request', async () => {
    const { compare, run } = onFilms();
    const words = ['self-veqa', walker, '--model', 'oracle:0', '--limit', '4'];
    const [prompt, trained] = (await compare(...words)).agents;
    expect([prompt, trained]).toMatchObject([{ hopsWithheld: true }, { hopsWithheld: true }]);
    expect(prompt).not.toHaveProperty('hops');
    expect((await run('compare', ...words)).out).toContain('\nhops withheld from all\n');
    const [told] = (await compare(...words, '--give-hops')).agents;
    expect(told).toMatchObject({ hops: 'given' });
    const { out } = await run('compare', ...words, '--give-hops');
    expect(out).toContain('hops given to self-veqa, to runs not: differences and p include that');
    const [alone] = (await compare('self-veqa', 'random-chain', ...words.slice(2))).agents;
    expect(alone).toMatchObject({ hops: 'given' });
  });

  test('switches and budgets stand in the rows they belong to, not above all', async () => {
    const { evaluate, run } = onFilms();
    const words = ['fiske:stateful=false', 'fiske', 'template-lookup', '--model', 'oracle:0'];
    const [head, , columns, ...rows] = (await run('compare', ...words)).out.split('\n');
    expect(head).toMatch(/^3 agents on films .* · model oracle:0 \[simulated\] · budget 30 strict$/);
    expect(columns).toMatch(/^agent +Hit@1 +Hit@1 − template-lookup +p .* model +switches +given/);
    expect(rows[0]).toMatch(/^fiske:stateful=false .* oracle:0 \(simulated\) +stateful=false/);
    expect(rows[1]).toMatch(/^fiske .* oracle:0 \(simulated\) +(?!stateful)/);
    const { saved } = await evaluate('--agent', 'fiske', '--model', 'oracle:0', '--budget', '9');
    const mixed = (await run('compare', join(saved, '..'), ...words.slice(1), '--mixed')).out.split('\n');
    expect(mixed[0]).not.toContain('budget');
    expect(mixed.slice(2, 6).map((line) => /budget|9 strict|30 strict|- {2,}/.exec(line)?.[0].trim())).toEqual([
      'budget',
      '9 strict',
      '30 strict',
      '-',
    ]);
  });

  test('runs every agent with every way to choose, as separate evaluations that replay; agents without a model run once', async () => {
    const { compare, evaluate, run, kept } = onFilms();
    const words = ['tog:prefilter=bm25,keep={1,2}', 'random-chain', '--model', 'oracle:0', '--limit', '4'];
    const { agents, comparisons } = await compare(...words, '--choices', 'written,likelihood');
    const [first, second] = ['tog:prefilter=bm25,keep=1', 'tog:prefilter=bm25,keep=2'];
    const ways = [first, second].flatMap((name) => [`${name}, written`, `${name}, likelihood`]);
    expect(agents.map(({ name }) => name)).toEqual([...ways, 'random-chain']);
    expect(agents.map((one) => (one as { choices?: string }).choices)).toEqual(
      [undefined, 'likelihood', undefined, 'likelihood', undefined], // What goes without saying is not written.
    );
    expect(comparisons.map(({ agent, against }) => [agent, against])).toEqual(
      ways.map((name) => [name, 'random-chain']),
    );
    const alone = ['--agent', 'tog:prefilter=bm25,keep=2', '--model', 'oracle:0', '--limit', '4'];
    for (const choices of ['written', 'likelihood']) {
      const { saved, speed } = await evaluate(...alone, '--choices', choices);
      expect(speed.asked).toBe(0);
      expect(await kgwalk('replay', join(saved, '..'), ...kept)).toMatchObject({
        err: '',
        out: expect.stringContaining('every byte as it was saved'),
      });
    }
    const { err } = await run('compare', ...words, '--choices', 'written,spoken');
    expect(err).toContain(
      'expected written, likelihood or several of them, each once, got written,spoken, at --choices',
    );
    const { err: twice } = await run('compare', ...words, '--choices', 'written', '--choices', 'likelihood, written');
    const single = ['--agent', 'tog', '--model', 'oracle:0'];
    expect((await run('evaluate', ...single, '--choices', 'written', '--choices', 'likelihood')).err).toContain(
      'expected one way to choose, got written,likelihood, at --choices',
    );
    expect((await run('evaluate', ...single, '--model', 'oracle:1')).err).toContain(
      'expected one value, got oracle:0 and oracle:1, at --model',
    );
    expect(twice).toContain('each once, got written,likelihood,written, at --choices');
  });

  test('asks an agent once however often it is named, and tests against the last one named', async () => {
    const { compare } = onFilms();
    const named = ['tog', 'fiske', 'fiske:maxStarts={2,2}', 'tog'];
    const { agents, comparisons } = await compare(...named, '--model', 'oracle:0', '--limit', '4');
    expect(agents.map(({ name }) => name)).toEqual(['fiske', 'fiske:maxStarts=2', 'tog']);
    expect(comparisons.map(({ agent, against }) => [agent, against])).toEqual([
      ['fiske', 'tog'],
      ['fiske:maxStarts=2', 'tog'],
    ]);
  });

  test('refuses a saved evaluation of another split before anybody is asked, and names both', async () => {
    const { evaluate, run, kept } = onFilms();
    const { saved, n } = await evaluate('--agent', 'random-chain', '--split', 'train');
    const there = readdirSync(kept[1]!);
    const { err } = await run('compare', join(saved, '..'), 'tog', '--model', 'oracle:0', '--split', 'valid');
    expect(err).toMatch(
      /expected the questions of tog, got others, at .+: films, split valid, n = \d+, and films, split train, n = /,
    );
    expect(err).toContain(`split train, n = ${n}`);
    expect(readdirSync(kept[1]!)).toEqual(there);
  });

  test('refuses what a pre-filter keeps where there is none', async () => {
    const { run } = onFilms();
    const { err } = await run('compare', 'tog:keep={1,2}', 'random-chain', '--model', 'oracle:0');
    expect(err).toContain('expected a pre-filter with keep, got none, at tog:keep=1');
    // Mass of the agent itself, not of a pre-filter.
    const reader = await run('compare', 'reader:mass=0.5,walker=none-such', '--model', 'oracle:0');
    expect(reader.err).not.toContain('expected a pre-filter');
  });

  test('says what parts switches from agents', async () => {
    const { run } = onFilms();
    const { err } = await run('compare', 'tog:keep=1,fiske', 'random-chain');
    expect(err).toContain('expected switches such as tog:NAME=VALUE, got "fiske", at tog:keep=1,fiske');
    expect(err).toContain('Switches are parted by commas, agents by spaces.');
    expect((await run('compare', 'tog,fiske')).err).toContain('Agents are parted by spaces.');
  });

  test('refuses saved evaluations of other models, unless mixing is allowed', async () => {
    const { evaluate, run, compare } = onFilms();
    const sure = await evaluate('--agent', 'fiske', '--model', 'oracle:0');
    const unsure = await evaluate('--agent', 'fiske', '--model', 'oracle:0.3');
    const folders = [sure, unsure].map(({ saved }) => join(saved, '..'));
    const { err } = await run('compare', ...folders);
    expect(err).toContain('got different models (oracle:0 and oracle:0.3)');
    const { comparisons } = await compare(...folders, '--mixed');
    expect(comparisons[0]!.differences['hit@1']!.value).toBeGreaterThanOrEqual(0);
  });
});

describe('kgwalk replay', () => {
  test('has every byte again without the model, shows one question, and fails where something differs', async () => {
    const { evaluate, kept } = onFilms();
    const { saved } = await evaluate('--agent', 'self-veqa', '--model', 'oracle:0.2');
    const folder = join(saved, '..');
    const replay = (...words: string[]) => kgwalk('replay', folder, ...kept, ...words);
    expect((await replay()).out).toMatch(/^\d+ samples replayed: every byte as it was saved\n$/);
    const { id } = JSON.parse(readFileSync(join(folder, 'answers.jsonl'), 'utf8').split('\n')[0]!) as { id: string };
    const { out } = await replay('--question', id);
    expect(out).toMatch(/call +phase/);
    expect(out).toMatch(/answer: /);
    writeFileSync(saved, readFileSync(saved, 'utf8').replace('"value": 1', '"value": 0.9'));
    const differing = await replay();
    expect(differing.exitCode).toBe(3);
    expect(differing.err).toContain('files that differ (evaluation.json)');
    rmSync(join(folder, 'completions.jsonl'));
    expect((await replay()).err).toContain('expected the completions of an evaluation, got nothing');
    expect((await kgwalk('replay', 'nothing-like-it', ...kept)).err).toContain('expected an evaluation, got none, at');
  });
});

describe('kgwalk ask on questions', () => {
  test('a trained walker answers a question with its topic in brackets', async () => {
    const answer = await kgwalkJson('ask', walker, 'who directed [tenet]', '--trace');
    expect(answer).toMatchObject({ topics: ['tenet'], calls: 0 });
    const { out } = await kgwalk('ask', walker, 'who directed [Tenet]', '--trace');
    expect(out).toContain('start at tenet');
    expect((await kgwalk('ask', walker, 'who directed [tennet]')).err).toContain('Did you mean [tenet]?');
    const found = await kgwalk('ask', walker, 'who directed Tenet?');
    expect(found.exitCode).toBe(0);
    expect(found.out).toMatch(/^question: who directed Tenet\?\ntopic: tenet\n\nrank +answer\n +1 /);
    expect(found.out).toMatch(
      /^confidence in these answers together: \d+\.\d %\nended by: \w+\n\nwhere from\n {3}1 {2}tenet —/m,
    );
    expect(found.out).toMatch(/\nanswered by run \S+, checkpoint ppo-\d+ \(best\), graph films of films\n$/);
    const none = await kgwalk('ask', walker, 'who directed it?');
    expect(none.exitCode).toBe(2);
    expect(none.err).toContain('expected a name of the graph in the question, got none in "who directed it?"');
    expect(none.err).toContain('[brackets]');
  });

  const ask = (...words: string[]) =>
    kgwalk('ask', 'who directed [tenet]', '--agent', 'tog', '--dataset', 'films', '--budget', '2', ...words);

  longTest('a prompted agent takes the embedded model where none is named', async () => {
    expect((await ask()).err).toContain('model: demo, which comes with the package');
  });

  test('a prompted agent takes no model that knows the answers', async () => {
    expect((await ask('--model', 'oracle:0')).err).toContain('expected a real model, got oracle:0');
    expect((await kgwalk('ask', 'who directed [tenet]')).err).toContain('expected a run and a question');
  });
});
