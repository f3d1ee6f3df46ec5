/** Failure modes of Self-VEQA in the specification (§2.5), one test each. */
import { expect, test } from '@jest/globals';
import { readReply } from '../../../../src/llm/decisions/read-reply.js';
import { ask, chainOf, townTask, type Asked, type Script } from './town-asker.js';

const repaired = chainOf('~purchased_by', 'repaired_by');
const stands = chainOf('~purchased_by', 'stands_in');
const judgement =
  (choice: number, answers: string[] = [], reason = 'Because.'): Script['judge'] =>
  () => ({ choice, reason, answers });

test('prose around the verdict, and bare True and False, are read', async () => {
  const { judgements } = await ask({ rounds: [[stands, repaired]] });
  const [decision] = judgements;
  const read = (text: string) => readReply(decision!, text, { constrained: false })?.reply.choice;
  expect(read('Let me see. {"choice": 2, "reason": "It ends there."} I hope this helps.')).toBe(1);
  const written = (await ask({ rounds: [[repaired]], judge: judgement(0, ['Jon Weil']) }, { verifier: 'reference' }))
    .judgements[0]!;
  expect(
    readReply(written, '{"success": False, "veri_answer": "", "critique": "No."}', { constrained: false })?.reply
      .choice ?? -1,
  ).toBe(-1);
});

test('an answer that no chain leads to is made up: the verdict does not count', async () => {
  const { answer } = await ask(
    { rounds: [[repaired], undefined], judge: judgement(0, ['Jon Weil', 'Ida Rem']) },
    { verifier: 'reference', chains: 1 },
  );
  expect(answer).toMatchObject({ verified: false, stop: 'rounds' });
});

test('success without an answer does not count', async () => {
  const { answer } = await ask(
    { rounds: [[repaired], undefined], judge: judgement(0, []) },
    { verifier: 'reference', chains: 1 },
  );
  expect(answer.verified).toBe(false);
});

test('answers copied from a chain are that chain’s, and only those', async () => {
  const { names, answer } = await ask(
    { rounds: [[stands, repaired]], judge: judgement(0, ['mia kop']) },
    { verifier: 'reference' },
  );
  expect(names).toEqual(['Mia Kop']);
  expect(answer).toMatchObject({ verified: true, chain: repaired });
});

test('an empty critique is replaced by what is known', async () => {
  const { proposals } = await ask({ rounds: [[stands], [repaired]], judge: judgement(-1, [], ' ') }, { chains: 1 });
  expect(proposals[1]!.context!.at(-1)!.lines).toEqual([
    'None of these answers the question: ~purchased_by → stands_in.',
  ]);
});

test('chains repeated in one reply count once', async () => {
  const { judgements } = await ask({ rounds: [[repaired, repaired, stands]] });
  expect(judgements[0]!.candidates).toHaveLength(2);
});

test('a reply of chains that cannot be read costs a round and is marked', async () => {
  const { answer, phases } = await ask({ rounds: [undefined, [repaired]] });
  expect(phases).toEqual(['propose', 'propose', 'verify']);
  expect(answer).toMatchObject({ degraded: true, verified: true });
});

test('a verdict that cannot be read accepts nothing and is marked', async () => {
  const { answer } = await ask({ rounds: [[repaired], [stands]], judge: () => undefined }, { chains: 1 });
  expect(answer).toMatchObject({ degraded: true, verified: false, chain: repaired });
});

test('a wrong chain that was never accepted is never remembered; an accepted one is, once', async () => {
  const task = {
    question: 'who mended the clocks of Orla Brandt',
    topics: [{ ...townTask.topics[0]!, span: [25, 36] as const }],
  };
  const writes = ({ events }: Asked) => events.filter(({ event }) => event === 'memory-write');
  const online = { memory: 'online', chains: 1, task };
  expect(writes(await ask({ rounds: [[stands], [repaired]], judge: judgement(-1) }, online))).toEqual([]);
  const accepted = await ask({ rounds: [[stands], [repaired]] }, online);
  expect(writes(accepted)).toEqual([{ event: 'memory-write', key: 'who mended the clocks of [E]', chain: repaired }]);
  expect(writes(await ask({ rounds: [[repaired]] }, { task, agent: accepted.agent }))).toEqual([]);
});
