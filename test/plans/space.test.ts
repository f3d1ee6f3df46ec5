import { describe, expect, test } from '@jest/globals';
import { checkSpace, dimensionText, overridesOf, parseSpace, valueAt } from '../../plans/space.js';

describe('what the command line says', () => {
  test('a grid lists values, each as YAML', () => {
    expect(
      parseSpace(['ppo.clipRange=0.1,0.2', 'data.subsets=[1-hop],[1-hop, 2-hop]', 'ppo.targetKl=null, 0.1'], []),
    ).toEqual([
      { key: 'ppo.clipRange', kind: 'grid', values: [0.1, 0.2] },
      { key: 'data.subsets', kind: 'grid', values: [['1-hop'], ['1-hop', '2-hop']] },
      { key: 'ppo.targetKl', kind: 'grid', values: [null, 0.1] },
    ]);
  });

  test('a sample names a range or a choice', () => {
    const texts = ['log:1e-4..1e-2', 'uniform:-1..1', 'int:1..8', 'logint:16..512', 'choice:linear,none'];
    const dimensions = parseSpace(
      [],
      texts.map((text, i) => `k.${i}=${text}`),
    );
    expect(dimensions.map(dimensionText)).toEqual([
      'log:0.0001..0.01',
      'uniform:-1..1',
      'int:1..8',
      'logint:16..512',
      'choice:linear,none',
    ]);
  });

  test.each<[string[], string[], string]>([
    [[], [], 'expected something to vary, got neither --grid nor --sample'],
    [['ppo.clipRange'], [], 'expected KEY=…, got ppo.clipRange, at --grid'],
    [['ppo.clipRange='], [], 'expected values with commas between, got none, at --grid ppo.clipRange'],
    [['ppo.clipRange=0.1,0.1'], [], 'expected every value once, got 0.1 twice, at --grid ppo.clipRange'],
    [['ppo.clipRange=[0.1'], [], 'at --grid ppo.clipRange'],
    [['seed=1,2'], [], 'expected a setting that may vary, got seed, at --grid'],
    [['a=1'], ['a=int:1..2'], 'expected every key once, got a twice'],
    [
      [],
      ['a=0.1'],
      'expected log:1e-4..1e-2, uniform:0..1, int:1..8, logint:16..512 or choice:a,b, got 0.1, at --sample a',
    ],
    [[], ['a=normal:0..1'], 'got normal:0..1, at --sample a'],
    [[], ['a=log:0..1'], 'expected a range above 0 with log, got 0..1, at --sample a'],
    [[], ['a=log:1..'], 'expected a range such as 0.1..0.9, got 1.., at --sample a'],
    [[], ['a=uniform:2..1'], 'expected a range whose first end is below its second, got 2..1, at --sample a'],
    [[], ['a=int:0.5..2'], 'expected a range of whole numbers, got 0.5..2, at --sample a'],
    [[], ['a=choice:'], 'expected values with commas between, got none, at --sample a'],
  ])('%j and %j are refused: %s', (grid, sample, message) => {
    expect(() => parseSpace(grid, sample)).toThrow(message);
  });
});

describe('against the settings of a preset', () => {
  const check =
    (grid: string[], sample: string[] = [], overrides: string[] = []) =>
    () =>
      checkSpace(parseSpace(grid, sample), 'demo', overrides);

  test('keys and values that the schema takes pass', () => {
    check(['ppo.clipRange=0.1,0.2'], ['ppo.learningRate=log:1e-4..1e-2', 'ppo.updates=int:5..9'])();
  });

  test.each<[() => void, string]>([
    [check(['ppo.clipRnge=0.1']), 'unknown key ppo.clipRnge; did you mean ppo.clipRange?, at --grid ppo.clipRnge'],
    [check(['ppo.clipRange=0.1,hm']), 'ppo.clipRange: expected a number'],
    [check([], ['ppo.clipRange=uniform:0.1..99']), 'got 99, at --sample ppo.clipRange'],
    [check([], ['ppo.updates=uniform:5..9']), 'ppo.updates: expected an integer in'],
    [check(['ppo.gama=0.9', 'ppo.updates=x']), '2 problems'],
  ])('%p is refused: %s', (act, message) => expect(act).toThrow(message));

  test('a preset that is not there is refused by its name', () => {
    expect(() => checkSpace(parseSpace(['ppo.updates=1'], []), 'nowhere', [])).toThrow(
      'expected a preset or a YAML file, got "nowhere"',
    );
  });
});

describe('a value between two ends', () => {
  const at = (sample: string, index: number) => valueAt(parseSpace([], [`k=${sample}`])[0] as never, index);

  test.each<[string, number, unknown]>([
    ['uniform:0..2', 0.25, 0.5],
    ['uniform:0..1', 1 / 3, 0.3333],
    ['log:0.0001..0.01', 0.5, 0.001],
    ['log:0.0001..0.01', 0, 0.0001],
    ['int:1..8', 0, 1],
    ['int:1..8', 0.999, 8],
    ['int:1..2', 0.5, 2],
    ['logint:1..7', 0.9999, 7],
    ['logint:1..7', 0.34, 2],
    ['choice:a,b,c', 0.34, 'b'],
  ])('%s at %d is %p', (sample, index, value) => expect(at(sample, index)).toEqual(value));
});

test('settings are printed as --set takes them, with quotes where YAML would read something else', () => {
  expect(overridesOf({ 'a.b': 0.1, c: 'hashed:32', d: 'null', e: [1, 'x'], f: null, g: 'a, b' })).toEqual([
    'a.b=0.1',
    'c=hashed:32',
    'd="null"',
    'e=[1,"x"]',
    'f=null',
    'g=a, b',
  ]);
});
