import { describe, expect, test } from '@jest/globals';
import { loadTask } from '../../tasks/index.js';
import { resolve } from '../../tasks/named.js';
import type { WorkbenchError } from '../../src/run/errors.js';
import { inEveryWay, withoutBraces, withoutGroups } from '../../tasks/named-groups.js';
import { useOwnHome } from '../fixtures/own-home.js';

useOwnHome();

/** Agents of a group on questions, and notes. */
async function meant(words: string[], flags: { set?: string[]; model?: string } = {}) {
  const notes: string[] = [];
  const task = await loadTask('questions');
  return { names: withoutGroups(task, words, { set: [], ...flags }, (line) => notes.push(line)), notes };
}

describe('braces', () => {
  test.each([
    ['tog', ['tog']],
    ['tog:keep={1,2,3}', ['tog:keep=1', 'tog:keep=2', 'tog:keep=3']],
    ['tog:keep={1..3}', ['tog:keep=1', 'tog:keep=2', 'tog:keep=3']],
    ['{tog,fiske}:keep={1,2}', ['tog:keep=1', 'tog:keep=2', 'fiske:keep=1', 'fiske:keep=2']],
    ['tog:keep={3..2},mass=1', ['tog:keep=3,mass=1', 'tog:keep=2,mass=1']],
    ['runs/{a}', ['runs/{a}']],
  ])('%s is spelled out as a shell would', (word, names) => expect(withoutBraces(word)).toEqual(names));

  test.each([
    'tog:keep={1',
    'tog:keep=1}',
    'tog:keep={1,,2}',
    'tog:keep={}',
    'tog:keep={1}',
    '{structgpt,}',
    '{a,{b,c}}',
    '{1,2}:keep={',
  ])('%s is no list of alternatives', (word) =>
    expect(() => withoutBraces(word)).toThrow('expected alternatives such as {1,2,3}, got '),
  );

  test('a range of thousands is refused', () => {
    for (const word of ['tog:keep={1..1000000000}', '{1..100}:{1..100}']) {
      expect(() => withoutBraces(word)).toThrow('expected at most 200 agents');
    }
  });
});

describe('words that stand for several agents', () => {
  test('are every agent, those that ask a model, and those that do not', async () => {
    const [all, prompted, baselines] = await Promise.all(['all', 'prompted', 'baselines'].map((word) => meant([word])));
    expect(prompted!.names).toEqual(expect.arrayContaining(['io', 'tog', 'fiske', 'self-veqa', 'structgpt']));
    expect(baselines!.names).toEqual(['template-lookup', 'embedding-walk', 'random-chain']);
    expect(all!.names).toEqual([...prompted!.names, ...baselines!.names]);
  });

  test('hand their switches on to those that have them, and say who was left out', async () => {
    const { names, notes } = await meant(['prompted:prefilter=bm25,keep=2']);
    expect(names).toContain('tog:prefilter=bm25,keep=2');
    expect(names.join(' ')).not.toMatch(/\b(io|cot):/);
    expect(notes).toEqual(['prompted:prefilter=bm25,keep=2: without io, cot, reader: no such switch']);
    expect((await meant(['prompted'], { set: ['keep=2'] })).names).not.toContain('io');
    await expect(meant(['prompted:colour=red'])).rejects.toThrow(
      'expected switches of agents of prompted, got colour, which none has, at prompted:colour=red',
    );
    await expect(meant(['prompted:keep=2,maxStarts=3,chosen=1'])).rejects.toThrow('got chosen, which none has');
  });

  test('leave out agents that the model does not suit, and those named separately', async () => {
    const { names, notes } = await meant(['prompted', 'tog', 'all'], { model: 'oracle:0.1' });
    expect(names).not.toContain('io');
    expect(names.filter((name) => name === 'tog')).toEqual(['tog']);
    expect(new Set(names).size).toBe(names.length);
    expect(notes[0]).toBe('prompted: without io, cot: not with oracle:0.1');
  });

  test('leave out who cannot be opened without a switch, unless it is set', async () => {
    const { names, notes } = await meant(['prompted', 'reader:walker=runs/metaqa']);
    expect(names.filter((name) => name.startsWith('reader'))).toEqual(['reader:walker=runs/metaqa']);
    expect(notes).toEqual(['prompted: without reader: name it with walker']);
    expect((await meant(['prompted:walker=runs/metaqa'])).names).toEqual(['reader:walker=runs/metaqa']);
  });

  test('are suggested where they were meant, and belong to compare', async () => {
    const task = await loadTask('questions');
    const flags = { checkpoint: 'best', set: [] };
    const hintOf = (name: string, isRun?: boolean) => {
      try {
        return resolve(task, { name, ...(isRun !== undefined && { isRun }) }, flags);
      } catch (error) {
        return `${(error as Error).message} ${(error as WorkbenchError).hint}`;
      }
    };
    expect(hintOf('promted')).toContain('Did you mean "prompted"?');
    expect(hintOf('prompted:keep=2', false)).toContain('which stands for several Groups belong to `kgwalk compare`.');
  });

  test('an agent is asked in every way, one that asks no model once', async () => {
    const task = await loadTask('questions');
    expect(inEveryWay(task, 'tog:keep=1', ['written', 'likelihood'])).toEqual([
      { name: 'tog:keep=1', choices: 'written' },
      { name: 'tog:keep=1', choices: 'likelihood' },
    ]);
    for (const name of ['template-lookup', 'runs/metaqa']) {
      expect(inEveryWay(task, name, ['written', 'likelihood'])).toEqual([{ name }]);
    }
    expect(inEveryWay(task, 'tog', ['likelihood'])).toEqual([{ name: 'tog' }]);
  });
});
