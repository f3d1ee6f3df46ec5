import { describe, expect, test } from '@jest/globals';
import { walkSvg, type Hop } from '../../../reports/plots/walks.js';

const hop = (head: string, relation: string, tail: string): Hop => [head, relation, tail];
const starred = hop('Ninthe', '~starring', 'Voska');
const born = hop('Ninthe', 'born_in', 'Hysfell');
const set = hop('Hysfell', '~set_in', 'Bridge');

/** `class, width, title` of each edge. */
const edgesOf = (svg: string) =>
  [...svg.matchAll(/<path class="([\w ]+)" d="[^"]+" stroke-width="([\d.]+)"><title>([^<]*)<\/title>/g)].map(
    ([, kind, width, title]) => ({ kind, width: Number(width), title }),
  );

/** Heights of the names, and how far right their letters reach. */
const namesOf = (svg: string) =>
  [...svg.matchAll(/<text class="([\w ]+)" x="(\d+)" y="(\d+)"[^>]*>(?:<title>[^<]*<\/title>)?(.*?)<\/text>/g)]
    .filter(([, kind]) => kind !== 'share')
    .map(([, , x, y, inside]) => ({ y: Number(y), right: Number(x) + 6.3 * inside!.replace(/<[^>]*>/g, '').length }));

describe('walks drawn on the graph', () => {
  const ranked = [
    { walk: [starred], share: 0.6 },
    { walk: [born, set], share: 0.3 },
    { walk: [born], share: 0.05 },
  ];

  test('share their beginnings; strokes are as wide as what passes them; the walk that is right is green', () => {
    expect(edgesOf(walkSvg({ walks: ranked, gold: [starred] }))).toEqual([
      { kind: 'left', width: 3.9, title: '—born_in→ Hysfell: 35 %' },
      { kind: 'left', width: 3.5, title: '←set_in— Bridge: 30 %' },
      { kind: 'taken gold', width: 6, title: '←starring— Voska: 60 %' },
    ]);
  });

  test('are red where they were taken and the gold is another, which is green all the same', () => {
    const kinds = edgesOf(walkSvg({ walks: ranked, gold: [born, hop('Hysfell', 'in', 'Marn')] })).map((edge) => edge);
    expect(kinds.find(({ title }) => title!.includes('Voska'))).toMatchObject({ kind: 'taken wrong' });
    expect(kinds.filter(({ kind }) => kind === 'gold').map(({ title }) => title)).toEqual([
      '—born_in→ Hysfell: 35 %',
      '—in→ Marn',
    ]);
  });

  test('have no probability if none is recorded, and are judged by their answer without a gold walk', () => {
    const [edge] = edgesOf(walkSvg({ walks: [{ walk: [starred], right: true }] }));
    expect(edge).toEqual({ kind: 'taken gold', width: 2, title: '←starring— Voska' });
    expect(walkSvg({ walks: [{ walk: [] }], start: 'Ninthe' })).toBe('');
  });

  test('have a row for each name, and none reaches beyond the drawing', () => {
    const long = 'The Honourable Society of Cartographers and Lamplighters of Upper Vomis'.repeat(3);
    const walks = [
      { walk: [hop(long, long, long), hop(long, long, 'b'), hop('b', long, long)], share: 0.9 },
      { walk: [hop(long, 'r', `${long}2`)], share: 0.1 },
    ];
    const names = namesOf(walkSvg({ walks, gold: [hop(long, 'r', 'c')] }));
    expect(names).toHaveLength(6);
    expect(new Set(names.map(({ y }) => y)).size).toBe(6);
    expect(Math.max(...names.map(({ right }) => right))).toBeLessThanOrEqual(360);
  });

  test('are escaped as text with any names', () => {
    const evil = '</svg><script>alert(1)</script>"\u202e\u0007';
    const svg = walkSvg({ walks: [{ walk: [hop(evil, evil, evil)], share: 1 }], gold: [hop(evil, 'x', evil)] });
    expect(svg).not.toMatch(/<script|\u202e|\u0007/);
    expect(svg.match(/<\/svg>/g)).toHaveLength(1);
    expect([...svg.matchAll(/<(\w+)/g)].map(([, name]) => name)).not.toContain('script');
  });
});
