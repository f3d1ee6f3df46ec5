/** LLM-ARK's bugs in what a beam's states are shown, by their ids in the catalogue, where the text of every state is read. */
import { describe, expect, test } from '@jest/globals';
import { walkCollector } from '../../agents/top-paths.js';
import { beamSearch } from '../../agents/dialogue-walker/agent.js';
import { Featurizer, type StateRequest } from '../../agents/dialogue-walker/features/featurizer.js';
import type { StateBatch } from '../../agents/dialogue-walker/heads/head.js';
import { type Policy, StateReader } from '../../agents/dialogue-walker/policy.js';
import { encodeGraph } from '../../agents/dialogue-walker/vectors.js';
import { defaultWalkRules } from '../../envs/dialogue-walk/rules.js';
import { taskTextFields, walkTextFields, renderStateText } from '../../envs/dialogue-walk/state-text.js';
import { stateTextSettings } from '../../envs/settings.js';
import { hashedEncoder } from '../../src/encoder/hashed-encoder.js';
import { subSeed } from '../../src/run/seeds.js';
import { toyTwoHop } from '../fixtures/toy-walks.js';

const { graph, samples } = toyTwoHop();
const settings = stateTextSettings.parse({ encode: 'per-step' });
const texts = { settings: { lastMessageTokens: 96, windowTokens: 128, windowMessages: 3, nameTokens: 32 } };

/** Dialogues of several turns each, no word of which another has. */
const tasks = samples.map(({ task }, i) => ({
  ...task,
  messages: ['opens', 'answers', 'asks'].map((word, turn) => ({
    sender: turn % 2 ? ('assistant' as const) : ('user' as const),
    text: `${word} in dialogue${i}`,
  })),
  earlierPaths: [[[task.start, i % graph.relationNames.length, task.start] as const]],
}));

/** Expected text of a state. */
function textOf({ task, state }: StateRequest, show = settings): string {
  return renderStateText({ ...taskTextFields(graph, task), ...walkTextFields(graph, task, state, 0) }, show);
}

/** All states that a beam over `walked` asks for, and the vectors that the network gets for them. */
async function beamOf(walked: readonly (typeof tasks)[number][], show = settings) {
  const asked: StateRequest[] = [];
  const seen: Float32Array[] = [];
  const reader = new StateReader(hashedEncoder(32), graph, show);
  const vectors = await encodeGraph(hashedEncoder(32), graph, texts);
  const parts = { graph, rules: defaultWalkRules, vectors, edgeFeatures: false, perStep: true };
  const featurizer = new Featurizer(parts);
  const head = {
    infer: async ({ context, numStates, relations, tails }: StateBatch) => {
      const dim = context.length / numStates;
      for (let s = 0; s < numStates; s++) seen.push(context.slice(s * dim, (s + 1) * dim));
      return Float32Array.from(tails, (tail, i) => subSeed(0, 'logit', relations[i]!, tail) / 2 ** 30);
    },
  } as Policy['head'];
  const read = reader.read.bind(reader);
  reader.read = (requests) => (asked.push(...requests), read(requests));
  const collector = walkCollector(graph, { beamWidth: 30 });
  const rankings = await beamSearch({ head, featurizer, reader }, walked, 30, collector);
  return { asked, seen, rankings };
}

describe('B-ARK-10: what a beam is shown at the second step', () => {
  test.each(['normal', 'alpaca', 'none'] as const)(
    'is the whole dialogue of its task and the walk of its beam: %s',
    async (template) => {
      const show = { ...settings, template };
      const { asked, seen } = await beamOf(tasks, show);
      const second = asked.filter(({ state }) => state.hop === 1);
      expect(second.length).toBeGreaterThan(tasks.length);
      expect(new Set(second.map(({ state }) => JSON.stringify(state.path))).size).toBeGreaterThan(tasks.length);
      const wanted = asked.map((request) => textOf(request, show));
      const { matrix, rows, dim } = await hashedEncoder(32).encode(wanted);
      expect(seen.map((vector) => [...vector])).toEqual(
        wanted.map((_, i) => [...matrix.subarray(rows[i]! * dim, (rows[i]! + 1) * dim)]),
      );
      asked.forEach(({ task, state }, i) => {
        for (const { text } of task.messages) expect(wanted[i]).toContain(text);
        for (const other of tasks) if (other.id !== task.id) expect(wanted[i]).not.toContain(other.messages[2]!.text);
        for (const [, , tail] of state.path) expect(wanted[i]).toContain(`-> ${graph.entityNames[tail]}`);
      });
    },
  );

  test('does not depend on the other beams, nor on their order', async () => {
    const together = await beamOf(tasks);
    const turned = await beamOf(tasks.toReversed());
    for (const [i, task] of tasks.entries()) {
      const alone = await beamOf([task]);
      const of = ({ asked, seen }: typeof alone) =>
        asked.flatMap((request, s) =>
          request.task.id === task.id ? [[JSON.stringify(request.state.path), ...seen[s]!]] : [],
        );
      expect(of(together)).toEqual(of(alone));
      expect(of(turned)).toEqual(of(alone));
      expect(together.rankings[i]).toEqual(alone.rankings[0]);
    }
  });
});
