import { describe, expect, test } from '@jest/globals';
import { importLinks } from '../../../datasets/links/import-links.js';
import { loadLinkDataset } from '../../../datasets/links/link-dataset.js';
import { linkStatistics } from '../../../datasets/links/link-statistics.js';
import { tinyLinkFiles } from '../../fixtures/tiny-links.js';
import { folderWith } from '../../fixtures/tiny-release.js';

async function statisticsOf(files: Record<string, string>) {
  const home = folderWith({});
  await importLinks({ from: folderWith(files), name: 'tiny', home });
  return linkStatistics(await loadLinkDataset('tiny', { home }));
}

describe('statistics of links', () => {
  test('count hubs, answers and relations', async () => {
    const { degree, answers, relations, names, drawn } = await statisticsOf(tinyLinkFiles);
    expect(drawn).toBeNull();
    expect(names.shared).toBe(2);
    // 60 edges of 16 entities; t1 has three births, five residents and its country.
    expect(degree).toMatchObject({ mean: 60 / 16, max: 9 });
    // Every person has one country, and c0, queried twice, six citizens over all splits.
    expect(answers.test).toMatchObject({ tail: { mean: 1, max: 1 }, head: { mean: 6, max: 6 } });
    expect(relations.map(({ relation, train, valid, test, kind }) => [relation, train, valid, test, kind])).toEqual([
      ['born_in', 10, 0, 0, 'N-1'],
      ['lives_in', 10, 0, 0, 'N-1'],
      ['citizen_of', 6, 2, 2, 'N-1'],
      ['lies_in', 4, 0, 0, 'N-1'],
    ]);
  });

  test('classify relations by cardinality', async () => {
    const { relations } = await statisticsOf({
      'train.txt': [
        ...['a one b', 'c one d', 'a fan b', 'a fan c', 'e fan f', 'e fan g'],
        ...['a all b', 'a all c', 'd all b', 'd all c'],
      ]
        .map((line) => `${line.replaceAll(' ', '\t')}\n`)
        .join(''),
      'valid.txt': 'a\tnew\td\n',
      'test.txt': 'b\tone\tc\n',
    });
    const kinds = relations.map(({ relation, tailsPerHead, headsPerTail, kind }) => [
      relation,
      tailsPerHead,
      headsPerTail,
      kind,
    ]);
    expect(kinds).toEqual([
      ['all', 2, 2, 'N-N'],
      ['fan', 2, 1, '1-N'],
      ['one', 1, 1, '1-1'],
      ['new', 0, 0, null],
    ]);
  });
});
