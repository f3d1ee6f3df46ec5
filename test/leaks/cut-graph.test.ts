/** A graph cut to the entities of its dialogues, and an agent whose counts give the new ones away. */
import { describe, expect, test } from '@jest/globals';
import { rankingAgent } from '../../agents/baselines/baseline.js';
import { memoryBaseline, popularityBaseline } from '../../agents/baselines/frequency.js';
import { entityCounts } from '../../evaluation/leaks/count-shares.js';
import { graphCut, leakReport, seenUnseen, type ScoredTarget } from '../../evaluation/leaks/leak-report.js';
import { isOpening } from '../../evaluation/leaks/known-samples.js';
import { evaluationSettings } from '../../trainers/run-settings.js';
import type { Agent } from '../../agents/agent.js';
import { collectProvenance, ProvenanceNotes } from '../../src/run/provenance.js';
import { seenEntities } from '../../tasks/dialogues/row.js';
import { evaluatedDialogues } from '../fixtures/evaluated.js';
import { cutWorld } from './planted-world.js';

const { graph, train, test: samples, known } = cutWorld();
const settings = evaluationSettings.parse({ resamples: 1 });
const context = { graph, train, ranking: settings };

async function reportOn(agentOf: () => Agent) {
  const notes = new ProvenanceNotes();
  const agent = collectProvenance(notes, agentOf);
  const about = { dataset: 'cut', split: 'test', turns: 'all' };
  const { rows } = await evaluatedDialogues(agent, samples, {
    graph,
    settings,
    seenTargets: seenEntities(train),
    about,
  });
  const scored = rows.map(({ dialogue, seen, path }) => ({ cluster: dialogue, seen, score: Number(path === 1) }));
  const targets = [seenUnseen({ evaluation: 'run', agent: agent.name, metric: 'path@1' }, scored)];
  const agents = [{ of: 'run', own: true, record: notes.record() }];
  return leakReport({ dataset: 'cut', known, chosen: true, agents, expected: [], targets });
}

/** Goes where train went least: on this graph, to what only test needs. */
const shunning = (): Agent => {
  const count = entityCounts(train);
  popularityBaseline(context); // the table it reads, and notes
  return rankingAgent({ name: 'shunning' }, context, () => ({
    oneHop: (edge) => -count(0, graph.tails[edge]!, 0),
    twoHops: () => () => -1000,
  }));
};

describe('a graph restricted to dialogue entities', () => {
  test('is reported as such, with its numbers', async () => {
    const { cut } = await reportOn(() => memoryBaseline(context));
    expect(cut).toEqual({
      ...{ graph: 'dialogue', entities: 330, inTrain: 210, onlyElsewhere: 120, onlyAsked: 120, inNone: 0 },
      ...{ restricted: true, golds: { samples: 200, inGraph: 200 } },
    });
  });

  test('says how many golds it holds', () => {
    const [one, other] = samples as [(typeof samples)[0], (typeof samples)[0]];
    const lacking = { ...other, gold: { ...other.gold, inGraph: false, path: [[0, 0, -1] as const] } };
    const asked = { ...known.asked, samples: [one, lacking] };
    expect(graphCut({ ...known, asked }, true).golds).toEqual({ samples: 2, inGraph: 1 });
  });

  test('whose unseen targets score above seen ones, by a count that is not monotone, is found twice', async () => {
    const { targets, counts, found } = await reportOn(shunning);
    expect(targets[0]).toMatchObject({ unseen: { value: 1, n: 120 }, verdict: 'above' });
    const entity = counts.find(({ count }) => count === 'entity')!;
    expect(entity).toMatchObject({ usedBy: ['run'], monotone: false });
    expect(entity.shares.map(({ count, goldShare }) => [count, goldShare])).toEqual([
      [0, 1],
      [3, 0.2],
    ]);
    expect(found).toEqual([
      expect.stringContaining('its counts (entity) mark the answer'),
      expect.stringContaining('path@1 on targets that train never had is above'),
    ]);
  });

  test('with an agent that counts pairs alone shows neither', async () => {
    const { targets, counts, found } = await reportOn(() => memoryBaseline(context));
    expect(targets[0]!.verdict).toBe('below');
    expect(counts[0]).toMatchObject({ count: 'start and end', usedBy: ['run'], monotone: true });
    expect(found).toEqual([]);
  });
});

test('a dialogue of at most one message may have another source', () => {
  const [{ task }] = samples as [(typeof samples)[0]];
  const said = (count: number) => ({
    ...samples[0]!,
    task: { ...task, messages: Array(count).fill({ sender: 'user', text: 'Hi' }) },
  });
  expect([0, 1, 2].map((count) => isOpening(said(count)))).toEqual([true, true, false]);
});

describe('seen against unseen targets', () => {
  const about = { evaluation: 'test-best', agent: 'walker', metric: 'path@1' };
  const targets = (seen: boolean, n: number, share: number): ScoredTarget[] =>
    Array.from({ length: n }, (_, i) => ({ cluster: `${seen} ${i}`, seen, score: Number(i < n * share) }));
  const verdict = (seen: ScoredTarget[], unseen: ScoredTarget[]) => seenUnseen(about, [...seen, ...unseen]).verdict;

  test('say what their interval says', () => {
    expect(verdict(targets(true, 400, 0.3), targets(false, 200, 0.1))).toBe('below');
    expect(verdict(targets(true, 400, 0.3), targets(false, 200, 0.3))).toBe('not below');
    expect(verdict(targets(true, 400, 0.1), targets(false, 200, 0.3))).toBe('above');
    expect(verdict(targets(true, 400, 0.3), targets(false, 60, 0.3))).toBe('too few');
    // Few are enough where the difference is clear.
    expect(verdict(targets(true, 400, 0.9), targets(false, 60, 0))).toBe('below');
    expect(verdict(targets(true, 400, 0.3), targets(false, 10, 0))).toBe('too few');
    expect(verdict(targets(true, 400, 0.3), [])).toBe('too few');
  });

  test('that are equal are found on a restricted graph and reported on any other', () => {
    const equal = seenUnseen(about, [...targets(true, 400, 0.3), ...targets(false, 200, 0.3)]);
    const report = (chosen: boolean) =>
      leakReport({
        ...{ dataset: 'cut', known, chosen, expected: [], targets: [equal] },
        agents: [{ of: 'test-best', own: true, record: new ProvenanceNotes().record() }],
      });
    expect(report(true).found).toEqual([expect.stringContaining('is not clearly below')]);
    expect(report(false).found).toEqual([]);
  });
});
