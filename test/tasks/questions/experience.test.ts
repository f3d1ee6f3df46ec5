import { describe, expect, test } from '@jest/globals';
import type { QuestionAgent } from '../../../agents/question-agent.js';
import { questionRunner, noCalls } from '../../../evaluation/ask.js';
import { experienceSection } from '../../../tasks/questions/experience.js';
import type { QuestionRow } from '../../../tasks/questions/row.js';
import { answerOf, questionOf } from '../../fixtures/toy-harbour.js';

/** Twenty questions in reverse order of asking: the first half of those asked is wrong, the second right. */
const rows = Array.from({ length: 20 }, (_, i) => {
  const turn = 19 - i;
  return { id: `q${i}`, turn, metrics: { 'hit@1': Number(turn >= 10) } } as unknown as QuestionRow;
});

describe('accuracy with experience', () => {
  test('is of a window that moves along the order of asking', () => {
    const [section] = experienceSection(rows, 100);
    // A tenth of twenty: the tenth and the eleventh asked are half right.
    expect(section!.curve!.points.slice(8, 11)).toEqual([
      [10, 0],
      [11, 0.5],
      [12, 1],
    ]);
    expect(section!.curve!.points).toHaveLength(19);
    const [quarters] = section!.rows!;
    expect(quarters).toMatchObject({ n: 20 });
    expect([quarters!['first quarter'], quarters!['last quarter']].map((text) => String(text).split(' ')[0])).toEqual([
      '0.0',
      '100.0',
    ]);
  });

  test('needs an order, and enough questions', () => {
    expect(experienceSection(rows.map(({ turn: _, ...row }) => row as QuestionRow))).toEqual([]);
    expect(experienceSection(rows.slice(0, 3))).toEqual([]);
  });
});

test('one that learns is asked in an order drawn by seed, and its answers keep their places', async () => {
  const tasks = Array.from({ length: 12 }, (_, i) => questionOf(`q${i}`, 'Tamsin', ['Ada']).task);
  const asked = async (online: boolean, seed?: number) => {
    const ids: string[] = [];
    const agent: QuestionAgent = {
      ...{ name: 'notes', topicGiven: true, prompted: false, online },
      async answer({ id }) {
        ids.push(id);
        return answerOf({ text: id });
      },
    };
    const turns: (number | undefined)[] = [];
    await questionRunner(agent, true, seed).ask(
      tasks,
      (index, { answer, turn }) => {
        expect(answer!.text).toBe(tasks[index]!.id);
        turns[index] = turn;
      },
      { openCalls: noCalls, concurrency: 1 },
    );
    return { ids, turns };
  };
  const [first, again, other] = [await asked(true, 1), await asked(true, 1), await asked(true, 2)];
  expect(first).toEqual(again);
  expect(first.ids).not.toEqual(other.ids);
  expect([...first.ids].sort()).toEqual(tasks.map(({ id }) => id).sort());
  expect(first.ids.map((id) => first.turns[tasks.findIndex((task) => task.id === id)])).toEqual([...tasks.keys()]);
  expect((await asked(true)).ids).toEqual(tasks.map(({ id }) => id));
  expect(await asked(false, 1)).toEqual({ ids: tasks.map(({ id }) => id), turns: tasks.map(() => undefined) });
});
